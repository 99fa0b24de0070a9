//! Drawn trees, as `tree` and `npm ls` print them: depth is shown by blanks, and names without anything below them share lines.

use super::line::{Kind, Line};
use super::lists::joined;

/// The entries of a tree.
#[derive(Debug, Default)]
pub(super) struct DrawnTree<'t> {
    entries: Vec<Entry<'t>>,
    /// The columns of the drawing before the last entry and before each that it is in.
    columns: Vec<usize>,
}

#[derive(Debug)]
struct Entry<'t> {
    line: Line<'t>,
    depth: usize,
    name: String,
}

impl<'t> DrawnTree<'t> {
    pub(super) fn add(&mut self, line: Line<'t>, branch: &str, name: String) {
        let columns = branch.chars().count();
        self.columns.retain(|outer| *outer < columns);
        self.columns.push(columns);
        self.entries.push(Entry { line, depth: self.columns.len(), name });
    }

    pub(super) fn close(self) -> Vec<Line<'t>> {
        let mut lines = Vec::new();
        let mut at = 0;
        while let Some(first) = self.entries.get(at) {
            let indent = " ".repeat(first.depth);
            let rest = self.entries.get(at..).unwrap_or_default();
            let leaves = leaves(rest);
            if leaves < 2 {
                let text = format!("{indent}{}", first.name);
                lines.push(Line { kind: Kind::Verbatim, ..first.line.saying(text) });
                at += 1;
                continue;
            }
            let names: Vec<String> = rest.iter().take(leaves).map(|entry| entry.name.clone()).collect();
            lines.extend(joined(&first.line, &indent, &indent, &names));
            at += leaves;
        }
        lines
    }
}

/// How many entries of one depth, at the start, have nothing below them and no blank in their name.
fn leaves(entries: &[Entry<'_>]) -> usize {
    let Some(depth) = entries.first().map(|entry| entry.depth) else { return 0 };
    let mut leaves = 0;
    for (at, entry) in entries.iter().enumerate() {
        let has_more = entries.get(at + 1).is_some_and(|next| next.depth > entry.depth);
        if entry.depth != depth || has_more || entry.name.contains(' ') {
            break;
        }
        leaves += 1;
    }
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_shows_the_depth_of_its_names() {
        let mut tree = DrawnTree::default();
        let mut entries = vec![("├──", "a".to_owned())];
        entries.extend((0..60).map(|number| ("│   ├──", format!("leaf{number}"))));
        entries.extend(["one", "two"].map(|name| ("├──", name.to_owned())));
        for (branch, name) in entries {
            tree.add(Line::new("", 0, 1), branch, name);
        }
        let shown: Vec<String> = tree.close().into_iter().map(|line| line.text.into_owned()).collect();
        let (last, leaves) = shown.split_last().unwrap();
        assert_eq!((shown[0].as_str(), last.as_str()), (" a", " one two"));
        assert!(leaves.len() > 2);
        assert!(leaves[1..].iter().all(|line| line.starts_with("  leaf") && line.len() <= 160), "{shown:?}");
    }
}
