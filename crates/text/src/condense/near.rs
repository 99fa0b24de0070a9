//! Lines that resemble each other: they differ only in times, sizes, hashes, percents that grow, and in numbers that count on. A
//! duration or a size that is far from those before it is a value that a reader may need.

use std::sync::OnceLock;

use regex::bytes::{Captures, Regex};

use super::rules::pattern;

/// What may differ without meaning anything.
const NOISE: &str = concat!(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2})?([.,][0-9]+)?Z?)?",
    r"|\b[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2})?([.,][0-9]+)?\b",
    r"|\b(?<time>[0-9]+([.,][0-9]+)?) ?(?<unit>ms|us|ns|s|sec|secs|seconds|min)\b",
    r"|\b(?<percent>[0-9]+)(\.[0-9]+)? ?%",
    r"|\b(?<size>[0-9]+(\.[0-9]+)?) ?((?<prefix>[kKMGT])i?B|B|bytes)(/s)?\b",
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    // All digits are a number, see below.
    r"|\b[0-9a-f]{7,64}\b|\b0x[0-9a-f]+\b",
    r"|[0-9]+",
);

/// Units of durations and prefixes of sizes, with what they are in nanoseconds and bytes.
const UNITS: &[(&[u8], f64)] = &[
    (b"ns", 1.0),
    (b"us", 1e3),
    (b"ms", 1e6),
    (b"min", 60e9),
    (b"", 1.0),
    (b"k", 1e3),
    (b"K", 1e3),
    (b"M", 1e6),
    (b"G", 1e9),
    (b"T", 1e12),
];

/// Seconds, which have several names.
const NANOSECONDS_OF_SECOND: f64 = 1e9;

/// An amount that is so many times more or less than all before it is told.
const FAR: u64 = 4;

/// Smaller amounts are alike: 100 milliseconds, and 100 bytes.
const SMALL_NANOSECONDS: u64 = 100_000_000;
const SMALL_BYTES: u64 = 100;

/// A duration or a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Amount {
    count: u64,
    small: u64,
}

/// The least and the most of each amount in a run of lines.
#[derive(Debug)]
pub(super) struct Amounts(Vec<(u64, u64)>);

impl Amounts {
    pub(super) fn of(line: &Shape) -> Self {
        Self(
            line.amounts
                .iter()
                .map(|amount| (amount.count.max(amount.small), amount.count.max(amount.small)))
                .collect(),
        )
    }

    /// Takes those of another line. `false`: one is far from all before it.
    pub(super) fn take(&mut self, line: &Shape) -> bool {
        for ((least, most), Amount { count, small }) in self.0.iter_mut().zip(&line.amounts) {
            let count = *count.max(small);
            if count > most.saturating_mul(FAR) || count.saturating_mul(FAR) < *least {
                return false;
            }
            (*least, *most) = (count.min(*least), count.max(*most));
        }
        true
    }
}

/// A line without what may differ, and its numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    letters: Vec<u8>,
    numbers: Vec<i128>,
    /// How far something is: what goes back is no progress but a value.
    percents: Vec<i128>,
    amounts: Vec<Amount>,
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
        let letters = Vec::with_capacity(bytes.len());
        let mut shape = Self { letters, numbers: Vec::new(), percents: Vec::new(), amounts: Vec::new() };
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
                shape.amounts.extend(amount(&captures));
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

/// The duration or the size that was found.
fn amount(found: &Captures<'_>) -> Option<Amount> {
    let (number, unit, small) = match (found.name("time"), found.name("size")) {
        (Some(time), _) => (time, found.name("unit"), SMALL_NANOSECONDS),
        (_, Some(size)) => (size, found.name("prefix"), SMALL_BYTES),
        (None, None) => return None,
    };
    let number: f64 = std::str::from_utf8(number.as_bytes()).ok()?.replace(',', ".").parse().ok()?;
    let unit = unit.map_or(&b""[..], |unit| unit.as_bytes());
    let of_unit = UNITS.iter().find(|(name, _)| *name == unit);
    let of_unit = of_unit.map_or(NANOSECONDS_OF_SECOND, |(_, of_unit)| *of_unit);
    // A number that is too large becomes the largest.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as above, and no sign is read"
    )]
    let count = (number * of_unit) as u64;
    Some(Amount { count, small })
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

    #[test]
    fn an_amount_that_is_far_from_those_before_it_is_told() {
        let takes = |lines: &[&str]| {
            let shapes: Vec<Shape> = lines.iter().map(|line| Shape::of(line).unwrap()).collect();
            let mut amounts = Amounts::of(&shapes[0]);
            shapes[1..].iter().all(|shape| amounts.take(shape))
        };
        assert!(takes(&["took 12ms", "took 9 ms", "took 95ms", "took 0.3 s"]));
        assert!(!takes(&["took 12ms", "took 9000ms"]));
        assert!(!takes(&["took 12ms", "took 2 min"]));
        assert!(takes(&["read 1.2 MB of 90 MB", "read 4 MB of 90 MB", "read 15 MB of 90 MB"]));
        assert!(!takes(&["free: 20 GB", "free: 900 MB"]));
        assert!(!takes(&["free: 1024 bytes", "free: 0 bytes"]));
    }
}
