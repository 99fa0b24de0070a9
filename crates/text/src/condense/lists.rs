//! Lists of files: names stand behind their folder instead of each on its own line.

use super::line::{Kind, Line};
use crate::foreign::foreign;

/// A line with several names is not longer than this, unless one name is.
const MAX_ROW_BYTES: usize = 160;

/// What further lines with names begin with.
const INDENT: &str = "  ";

/// Folders whose content is hardly ever of interest in a list of files.
const BULKY_FOLDERS: &[&str] =
    &["node_modules", ".git", "target", "__pycache__", ".venv", "venv", "site-packages", ".cache", "vendor"];

/// Lines that name files.
#[derive(Debug, Default)]
pub(super) struct PathRun<'t> {
    rows: Vec<PathRow<'t>>,
}

#[derive(Debug)]
struct PathRow<'t> {
    line: Line<'t>,
    /// What is said of the file: `modified`.
    what: String,
    folder: String,
    name: String,
}

impl<'t> PathRun<'t> {
    pub(super) fn add(&mut self, line: Line<'t>, what: String, path: String) {
        // A folder that is written with a slash at its end is named with it.
        let bare = path.strip_suffix('/').unwrap_or(&path);
        let at = bare.rfind('/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at_checked(at).unwrap_or(("", &path));
        self.rows.push(PathRow { line, what, folder: folder.to_owned(), name: name.to_owned() });
    }

    /// The names of each folder, behind it.
    pub(super) fn close(mut self) -> Vec<Line<'t>> {
        self.name_bulky_folders();
        let mut lines = Vec::new();
        let mut rows = self.rows.into_iter().peekable();
        while let Some(first) = rows.next() {
            let is_like = |row: &PathRow<'_>| row.what == first.what && row.folder == first.folder;
            let mut same = vec![first.name.clone()];
            let mut all = vec![first.line.clone()];
            while let Some(row) = rows.next_if(is_like) {
                same.push(row.name);
                all.push(row.line);
            }
            let is_bulky = first.name.is_empty();
            if is_bulky {
                let what =
                    if first.what.is_empty() { String::new() } else { format!("{} ", first.what.trim()) };
                let mark =
                    first.line.mark(all.len(), &format!("{what}files in {}", foreign(&first.folder)), true);
                lines.extend(if all.len() > 1 { vec![mark] } else { all });
            } else if all.len() == 1 {
                lines.extend(all.into_iter().map(|line| Line { kind: Kind::Verbatim, ..line }));
            } else {
                let heading = match (first.what.as_str(), first.folder.as_str()) {
                    ("", "") => String::new(),
                    ("", place) | (place, "") => format!("{place}: "),
                    (what, folder) => format!("{what} {folder}: "),
                };
                lines.extend(joined(&first.line, &heading, INDENT, &same));
            }
        }
        lines
    }

    /// Files in folders of little interest get the folder for their place, and no name. If all files are in one, it was asked
    /// for.
    fn name_bulky_folders(&mut self) {
        let bulky_prefix = |folder: &str, skip: usize| {
            let parts: Vec<&str> = folder.split_inclusive('/').collect();
            let at = parts
                .iter()
                .skip(skip)
                .position(|part| BULKY_FOLDERS.contains(&part.trim_end_matches('/')))?;
            Some(parts.iter().take(skip + at + 1).copied().collect::<String>())
        };
        let common = self.common_folders();
        if self.rows.iter().all(|row| bulky_prefix(&row.folder, common).is_some()) {
            return;
        }
        for row in &mut self.rows {
            if let Some(folder) = bulky_prefix(&row.folder, common) {
                row.folder = folder;
                row.name.clear();
            }
        }
    }

    /// How many folders all paths begin with.
    fn common_folders(&self) -> usize {
        let parts =
            |row: &PathRow<'_>| row.folder.split_inclusive('/').map(str::to_owned).collect::<Vec<_>>();
        let Some(mut common) = self.rows.first().map(parts) else { return 0 };
        for row in &self.rows {
            let same = common.iter().zip(parts(row)).take_while(|(one, other)| **one == *other).count();
            common.truncate(same);
        }
        common.len()
    }
}

/// A folder and the names in it, up to a blank line.
#[derive(Debug)]
pub(super) struct Listing<'t> {
    heading: Line<'t>,
    names: Vec<Line<'t>>,
}

impl<'t> Listing<'t> {
    pub(super) fn new(heading: Line<'t>) -> Self {
        Self { heading, names: Vec::new() }
    }

    /// Takes a name. `false`: it has blanks, so that names could not be told apart.
    pub(super) fn add(&mut self, line: &Line<'t>) -> bool {
        let is_name = !line.text.contains([' ', '\t']);
        if is_name {
            self.names.push(line.clone());
        }
        is_name
    }

    pub(super) fn close(self) -> Vec<Line<'t>> {
        let names: Vec<String> = self.names.iter().map(|line| line.text.to_string()).collect();
        let heading = format!("{} ", self.heading.text);
        if names.is_empty() {
            return vec![Line { kind: Kind::Verbatim, ..self.heading }];
        }
        joined(&self.heading, &heading, INDENT, &names)
    }
}

/// Names behind a heading, in as many lines as they need. `indent`: what further lines begin with.
pub(super) fn joined<'t>(first: &Line<'t>, heading: &str, indent: &str, names: &[String]) -> Vec<Line<'t>> {
    let mut rows: Vec<String> = Vec::new();
    let mut row = heading.to_owned();
    let mut has_name = false;
    for name in names {
        if has_name && row.len() + name.len() >= MAX_ROW_BYTES {
            rows.push(std::mem::replace(&mut row, indent.to_owned()));
            has_name = false;
        }
        if std::mem::replace(&mut has_name, true) {
            row.push(' ');
        }
        row.push_str(name);
    }
    rows.push(row);
    rows.into_iter().map(|row| Line { kind: Kind::Verbatim, ..first.saying(row) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(paths: &[&str]) -> String {
        close_all(paths, "")
    }

    fn close_all(paths: &[&str], what: &str) -> String {
        let mut run = PathRun::default();
        for (at, path) in paths.iter().enumerate() {
            run.add(Line::new(path, 0, at + 1), what.to_owned(), (*path).to_owned());
        }
        run.close().into_iter().map(|line| line.text.into_owned() + "\n").collect()
    }

    #[test]
    fn names_stand_behind_their_folder() {
        assert_eq!(close(&["a/b/c", "a/b/d", "x", "a/e"]), "a/b/: c d\nx\na/e\n");
        assert_eq!(close(&["x", "y"]), "x y\n");
    }

    #[test]
    fn bulky_folders_are_counted_unless_they_are_all_there_is() {
        assert_eq!(
            close(&["./a", "./node_modules/x/1", "./node_modules/y/2", "./b"]),
            "./a\n[… 2 files in ./node_modules/, from line 2]\n./b\n"
        );
        assert_eq!(close(&["node_modules/x/1", "node_modules/x/2"]), "node_modules/x/: 1 2\n");
        assert_eq!(
            close_all(&["a", "vendor/1", "vendor/2"], " M"),
            "a\n[… 2 M files in vendor/, from line 2]\n"
        );
    }
}
