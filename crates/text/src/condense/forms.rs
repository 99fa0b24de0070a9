//! The forms that lines get: with single blanks, below a file, or counted in a mark.

use super::line::{Kind, Line};

/// Whether a line has this name in it, and not only as part of a longer one.
pub(super) fn names(line: &str, name: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    line.match_indices(name).any(|(at, found)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let behind = line.get(at + found.len()..).and_then(|behind| behind.chars().next());
        !before.is_some_and(goes_on) && !behind.is_some_and(goes_on)
    })
}

/// The text with one blank where there are several.
pub(super) fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    for c in text.chars().filter(|c| *c != '\r') {
        if c != ' ' || !squeezed.ends_with(' ') {
            squeezed.push(c);
        }
    }
    squeezed
}

/// What stands for the lines of a run that are not shown.
pub(super) fn run_mark<'t>(
    dropped: Vec<Line<'t>>,
    label: &str,
    shown: usize,
    says_where: bool,
) -> Vec<Line<'t>> {
    let Some(first) = dropped.first() else { return dropped };
    if label.is_empty() && shown == 0 {
        return Vec::new();
    }
    let mark = first.mark(dropped.len(), label, says_where);
    let length: usize = dropped.iter().map(|line| line.text.len()).sum();
    if length <= mark.text.len() { dropped } else { vec![mark] }
}

/// The lines of a file below its name. A single line stays as it is.
pub(super) fn grouped<'t>(file: &str, rows: Vec<(Line<'t>, String)>) -> Vec<Line<'t>> {
    let Some((first, _)) = rows.first() else { return Vec::new() };
    if rows.len() == 1 {
        return rows.into_iter().map(|(line, _)| line).collect();
    }
    let verbatim = |line: Line<'t>| Line { kind: Kind::Verbatim, ..line };
    let heading = verbatim(first.saying(file.to_owned()));
    std::iter::once(heading)
        .chain(rows.iter().map(|(line, row)| verbatim(line.saying(row.clone()))))
        .collect()
}
