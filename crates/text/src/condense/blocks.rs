//! Blocks: places in the output that rules can be limited to. A hunk of a diff is one, with as many lines as its header says.

use regex::bytes::Regex;

use super::rules::{BlockRule, group, pattern};

/// Recognises where a block begins and ends.
#[derive(Debug)]
pub(super) struct BlockReader {
    start: Regex,
    end: Option<Regex>,
}

/// A block that lines are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenBlock {
    /// The number of the block in its reducer.
    pub(super) number: usize,
    /// Of a hunk: how many lines of each side are left.
    hunk: Option<Sides>,
}

/// Lines of the two sides of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sides {
    old: usize,
    new: usize,
}

impl BlockReader {
    pub(super) fn new(rule: &BlockRule) -> Option<Self> {
        let end = if rule.end.is_empty() { None } else { Some(pattern(rule.end)?) };
        Some(Self { start: pattern(rule.start)?, end })
    }

    /// The block that begins behind this line.
    pub(super) fn start(&self, number: usize, line: &str) -> Option<OpenBlock> {
        let captures = self.start.captures(line.as_bytes())?;
        let is_hunk = self.start.capture_names().flatten().any(|name| name == "old");
        // A side without a number has one line.
        let side = |name: &str| group(&captures, name).parse().unwrap_or(1);
        let hunk = is_hunk.then(|| Sides { old: side("old"), new: side("new") });
        Some(OpenBlock { number, hunk })
    }

    /// The block with this line taken. `None`: the line is not in it.
    pub(super) fn with_line(&self, open: OpenBlock, line: &str) -> Option<OpenBlock> {
        if let Some(sides) = open.hunk {
            return Some(OpenBlock { hunk: Some(sides.with_line(line)?), ..open });
        }
        let is_end = self.end.as_ref().is_some_and(|end| end.is_match(line.as_bytes()));
        (!is_end && !line.trim().is_empty()).then_some(open)
    }
}

impl Sides {
    /// The hunk with this line taken. `None`: the line is not in it.
    fn with_line(self, line: &str) -> Option<Self> {
        let Self { old, new } = self;
        if (old, new) == (0, 0) {
            return None;
        }
        let (old, new) = match line.bytes().next() {
            // Some programs take the blank from a context line that has nothing else.
            Some(b' ') | None => (old.checked_sub(1)?, new.checked_sub(1)?),
            Some(b'-') => (old.checked_sub(1)?, new),
            Some(b'+') => (old, new.checked_sub(1)?),
            // There is no line end at the end of the file.
            Some(b'\\') => (old, new),
            _ => return None,
        };
        Some(Self { old, new })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(start: &'static str, end: &'static str) -> BlockReader {
        BlockReader::new(&BlockRule { name: "x", start, end }).unwrap()
    }

    /// How many of the lines are in the block that the first opens.
    fn length(reader: &BlockReader, text: &str) -> usize {
        let mut lines = text.lines();
        let mut open = reader.start(0, lines.next().unwrap());
        let mut length = 0;
        for line in lines {
            open = open.and_then(|open| reader.with_line(open, line));
            length += usize::from(open.is_some());
        }
        length
    }

    #[test]
    fn a_hunk_has_as_many_lines_as_its_header_says() {
        let hunk = reader(r"^@@ -[0-9]+(,(?<old>[0-9]+))? \+[0-9]+(,(?<new>[0-9]+))? @@", "");
        for (text, expected) in [
            ("@@ -1,2 +1,3 @@\n a\n-b\n+b\n+c\n- no line of the hunk\n", 4),
            ("@@ -1 +1 @@ fn main()\n-b\n+b\n+c\n", 2),
            ("@@ -1,3 +1 @@\n-b\n\n\\ No newline\n-c\n+c\n", 4),
            ("@@ -0,0 +1,9 @@\n+b\ndiff --git a/x b/x\n+c\n", 1),
            ("@@@ -1,2 -1,2 +1,3 @@@\n", 0),
        ] {
            let is_hunk = hunk.start(0, text.lines().next().unwrap()).is_some();
            assert_eq!((is_hunk, length(&hunk, text)), (!text.starts_with("@@@"), expected), "{text}");
        }
    }

    #[test]
    fn a_block_ends_at_a_blank_line_or_at_its_end() {
        let block = reader("^failures:$", "^test ");
        assert_eq!(length(&block, "failures:\n    a\n    b\n\n    c\n"), 2);
        assert_eq!(length(&block, "failures:\n    a\ntest result: ok\n    b\n"), 1);
        assert_eq!(length(&block, "failures:\n\n    a\n"), 0);
    }
}
