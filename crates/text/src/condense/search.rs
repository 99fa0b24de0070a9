//! Matches of a search, as `grep -n` and `rg` print them: they stand below their file, and files below their folder.
//!
//! Of many matches each file shows fewer. Where even the first match of each file would be too much, the files behind are named,
//! with how many matches each has and where they begin.

use super::line::{Kind, Line};
use crate::foreign::foreign;
use crate::marker::with_commas;

/// A longer text is cut to `CUT_CHARACTERS`.
const MAX_CHARACTERS: usize = 140;
const CUT_CHARACTERS: usize = 110;

/// How many matches are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SearchLimits {
    /// Of one file.
    pub(super) file: usize,
    /// Of all files of a run.
    pub(super) all: usize,
}

/// A line of a file.
#[derive(Debug)]
pub(super) struct Match<'t> {
    pub(super) line: Line<'t>,
    /// As it is shown below the name of its file.
    pub(super) row: String,
    /// It is near a match, not one itself.
    pub(super) is_context: bool,
}

/// Matches that follow each other.
#[derive(Debug)]
pub(super) struct SearchRun<'t> {
    limits: SearchLimits,
    files: Vec<File<'t>>,
}

#[derive(Debug)]
struct File<'t> {
    /// With the slash at its end. Empty: the current folder.
    folder: String,
    name: String,
    rows: Vec<Match<'t>>,
}

impl<'t> SearchRun<'t> {
    pub(super) fn new(limits: SearchLimits) -> Self {
        Self { limits, files: Vec::new() }
    }

    pub(super) fn add(&mut self, path: &str, found: Match<'t>) {
        let at = path.rfind('/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at_checked(at).unwrap_or(("", path));
        match self.files.last_mut() {
            Some(file) if file.folder == folder && file.name == name => file.rows.push(found),
            _ => {
                self.files.push(File { folder: folder.to_owned(), name: name.to_owned(), rows: vec![found] })
            }
        }
    }

    pub(super) fn close(mut self) -> Vec<Line<'t>> {
        let mut lines: Vec<Line<'t>> = self.without_context().into_iter().collect();
        let of_file = self.shown_of_each_file();
        let shown = if of_file == 0 { self.limits.all } else { self.files.len() };
        let named = self.files.split_off(shown.min(self.files.len()));
        for files in self.files.chunk_by(in_one_folder) {
            lines.extend(folder_heading(files));
            for file in files {
                lines.extend(file.shown(of_file.max(1), files.len() > 1));
            }
        }
        lines.extend(by_folder(named).iter().filter_map(|files| counted(files)));
        lines
    }

    /// Leaves out lines around matches if there are too many. Says how many.
    fn without_context(&mut self) -> Option<Line<'t>> {
        if self.files.iter().map(|file| file.rows.len()).sum::<usize>() <= self.limits.all {
            return None;
        }
        let context = self.files.iter().flat_map(|file| &file.rows).filter(|row| row.is_context);
        let (first, count) = (context.clone().next()?.line.clone(), context.count());
        for file in &mut self.files {
            file.rows.retain(|row| !row.is_context);
        }
        self.files.retain(|file| !file.rows.is_empty());
        Some(first.mark(count, "lines around matches", false))
    }

    /// How many matches each file may show. `0`: there are too many files to show one of each.
    fn shown_of_each_file(&self) -> usize {
        let total =
            |of_file: usize| self.files.iter().map(|file| file.rows.len().min(of_file)).sum::<usize>();
        (1..=self.limits.file).rev().find(|of_file| total(*of_file) <= self.limits.all).unwrap_or(0)
    }
}

fn in_one_folder(one: &File<'_>, other: &File<'_>) -> bool {
    one.folder == other.folder
}

/// The files of each folder, also if others are between them.
fn by_folder(files: Vec<File<'_>>) -> Vec<Vec<File<'_>>> {
    let mut folders: Vec<Vec<File<'_>>> = Vec::new();
    for file in files {
        match folders.iter_mut().find(|of| of.first().is_some_and(|first| in_one_folder(first, &file))) {
            Some(folder) => folder.push(file),
            None => folders.push(vec![file]),
        }
    }
    folders
}

/// The line that several files of one folder stand below.
fn folder_heading<'t>(files: &[File<'t>]) -> Option<Line<'t>> {
    let file = files.first().filter(|file| files.len() > 1 && !file.folder.is_empty())?;
    Some(Line { kind: Kind::Verbatim, ..file.rows.first()?.line.saying(file.folder.clone()) })
}

/// The mark for files of one folder that are only named.
fn counted<'t>(files: &[File<'t>]) -> Option<Line<'t>> {
    let first = files.first()?;
    let names: Vec<String> = files
        .iter()
        .map(|file| match file.rows.len() {
            1 => foreign(&file.name).into_owned(),
            count => format!("{} {}", foreign(&file.name), with_commas(count)),
        })
        .collect();
    let folder = if first.folder.is_empty() { "./" } else { &first.folder };
    let label = format!("in {}: {}", foreign(folder), names.join(", "));
    let count = files.iter().map(|file| file.rows.len()).sum();
    Some(first.rows.first()?.line.mark(count, &label, true))
}

impl<'t> File<'t> {
    /// The name and the first `max` lines; a single line stands behind the name.
    fn shown(&self, max: usize, below_folder: bool) -> Vec<Line<'t>> {
        let Some(first) = self.rows.first() else { return Vec::new() };
        let folder = if self.folder.is_empty() { "" } else { " " };
        let name = if below_folder { format!("{folder}{}", self.name) } else { self.path() };
        let row = |text: String, of: &Line<'t>| Line { kind: Kind::Verbatim, ..of.saying(text) };
        let mut lines = Vec::new();
        if self.rows.len() == 1 || max == 1 {
            lines.push(row(format!("{name}:{}", cut(&first.row)), &first.line));
        } else {
            lines.push(row(name, &first.line));
            lines.extend(self.rows.iter().take(max).map(|found| row(cut(&found.row), &found.line)));
        }
        lines.extend(self.rows.get(max).map(|next| next.line.mark(self.rows.len() - max, "more", true)));
        lines
    }

    fn path(&self) -> String {
        format!("{}{}", self.folder, self.name)
    }
}

/// The beginning of a long text, and how much more there is.
fn cut(text: &str) -> String {
    let length = text.chars().count();
    if length <= MAX_CHARACTERS {
        return text.to_owned();
    }
    let start: String = text.chars().take(CUT_CHARACTERS).collect();
    format!("{start}… [+{} characters]", with_commas(length - CUT_CHARACTERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(file: usize, all: usize, found: &[(&str, &str)]) -> String {
        let mut run = SearchRun::new(SearchLimits { file, all });
        for (at, (path, row)) in found.iter().enumerate() {
            let is_context = row.contains('-');
            let row = (*row).to_owned();
            run.add(path, Match { line: Line::new("", 0, at + 1), row, is_context });
        }
        run.close().into_iter().map(|line| line.text.into_owned() + "\n").collect()
    }

    const FOUND: &[(&str, &str)] = &[
        ("a/b/x", "1:one"),
        ("a/b/y", "2:two"),
        ("a/b/y", "3:three"),
        ("a/b/y", "4:four"),
        ("c/z", "5:five"),
        ("w", "6:six"),
    ];

    #[test]
    fn matches_stand_below_their_file_and_files_below_their_folder() {
        assert_eq!(close(5, 9, FOUND), "a/b/\n x:1:one\n y\n2:two\n3:three\n4:four\nc/z:5:five\nw:6:six\n");
        assert_eq!(
            close(2, 9, FOUND),
            "a/b/\n x:1:one\n y\n2:two\n3:three\n[… 1 more, from line 4]\nc/z:5:five\nw:6:six\n"
        );
    }

    #[test]
    fn of_many_matches_each_file_shows_fewer_and_then_files_are_only_named() {
        assert_eq!(
            close(5, 4, FOUND),
            "a/b/\n x:1:one\n y:2:two\n[… 2 more, from line 3]\nc/z:5:five\nw:6:six\n"
        );
        assert_eq!(
            close(5, 1, FOUND),
            "a/b/x:1:one\n[… 3 in a/b/: y 3, from line 2]\n[… 1 in c/: z, from line 5]\n[… 1 in ./: w, from line 6]\n"
        );
    }

    #[test]
    fn lines_around_matches_go_first() {
        let found = [("x", "1-a"), ("x", "2:b"), ("x", "3-c"), ("y", "9:d")];
        assert_eq!(close(5, 4, &found), "x\n1-a\n2:b\n3-c\ny:9:d\n");
        assert_eq!(close(5, 3, &found), "[… 2 lines around matches]\nx:2:b\ny:9:d\n");
    }

    #[test]
    fn long_texts_are_cut() {
        let long = format!("1:{}", "é".repeat(300));
        let shown = close(5, 3, &[("x", &long)]);
        assert_eq!(shown, format!("x:1:{}… [+192 characters]\n", "é".repeat(108)));
    }
}
