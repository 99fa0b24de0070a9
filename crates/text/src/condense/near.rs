//! Lines that resemble each other: they differ only in times, sizes, hashes, percents that grow, and in numbers that count on.

use std::sync::OnceLock;

use regex::bytes::Regex;

use super::rules::pattern;

/// What may differ without meaning anything.
const NOISE: &str = concat!(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2})?([.,][0-9]+)?Z?)?",
    r"|\b[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2})?([.,][0-9]+)?\b",
    r"|\b[0-9]+([.,][0-9]+)? ?(ms|us|ns|s|sec|secs|seconds|min)\b",
    r"|\b(?<percent>[0-9]+)(\.[0-9]+)? ?%",
    r"|\b[0-9]+(\.[0-9]+)? ?([kKMGT]i?B|B|bytes)(/s)?\b",
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    // All digits are a number, see below.
    r"|\b[0-9a-f]{7,64}\b|\b0x[0-9a-f]+\b",
    r"|[0-9]+",
);

/// A line without what may differ, and its numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    letters: Vec<u8>,
    numbers: Vec<i128>,
    /// How far something is: what goes back is no progress but a value.
    percents: Vec<i128>,
}

impl Shape {
    /// The shape of a line. `None`: it has nothing that may differ, or is longer than any line that is folded.
    pub(super) fn of(line: &str) -> Option<Self> {
        static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
        const MAX_BYTES: usize = 500;
        let noise = PATTERN.get_or_init(|| pattern(NOISE)).as_ref()?;
        let bytes = line.as_bytes();
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let mut shape =
            Self { letters: Vec::with_capacity(bytes.len()), numbers: Vec::new(), percents: Vec::new() };
        let (mut end, mut found_any) = (0, false);
        for captures in noise.captures_iter(bytes) {
            let found = captures.get(0)?;
            found_any = true;
            shape.letters.extend_from_slice(bytes.get(end..found.start())?);
            let number = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse::<i128>().ok();
            // A number that is part of no known form counts on, or is the same.
            if found.as_bytes().iter().all(u8::is_ascii_digit) {
                shape.numbers.push(number(found.as_bytes())?);
                shape.letters.push(1);
            } else {
                if let Some(percent) = captures.name("percent") {
                    shape.percents.push(number(percent.as_bytes())?);
                }
                shape.letters.push(0);
            }
            end = found.end();
        }
        shape.letters.extend_from_slice(bytes.get(end..)?);
        found_any.then_some(shape)
    }

    /// How much each number grows to the next line. `None`: the lines don't resemble each other.
    pub(super) fn steps_to(&self, next: &Self) -> Option<Vec<i128>> {
        let same = self.letters == next.letters && self.numbers.len() == next.numbers.len();
        let goes_on = self.percents.iter().zip(&next.percents).all(|(one, other)| one <= other);
        (same && goes_on)
            .then(|| self.numbers.iter().zip(&next.numbers).map(|(one, other)| other - one).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(one: &str, other: &str) -> Option<Vec<i128>> {
        Shape::of(one)?.steps_to(&Shape::of(other)?)
    }

    #[test]
    fn times_and_hashes_don_t_count_and_numbers_have_steps() {
        assert_eq!(steps("12:30:01 served in 12ms", "12:30:07 served in 9ms"), Some(vec![]));
        assert_eq!(steps("item 4 of 9", "item 5 of 9"), Some(vec![1, 0]));
        assert_eq!(steps("layer 4f5e6d7c8b9a: done", "layer 0123456789ab: done"), Some(vec![]));
        assert_eq!(steps("status 200", "status 500"), Some(vec![300]));
        assert_eq!(steps("suite: 5/5 passed", "suite: 3/5 passed"), Some(vec![-2, 0]));
        assert_eq!(steps("copied 17%", "copied 40%"), Some(vec![]));
        assert_eq!(steps("0% lost", "100% lost"), Some(vec![]));
        assert_eq!(steps("100% passed", "93% passed"), None);
        assert_eq!(steps("item a1", "item b1"), None);
        assert_eq!(steps("no number", "no number"), None);
    }
}
