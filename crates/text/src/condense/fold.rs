//! Folds runs of lines that are equal, or that resemble each other.

use super::line::{Kind, Line};
use super::near::{Amounts, Shape};

/// A shorter run of equal lines stays.
const MIN_EQUAL: usize = 4;

/// A shorter run of lines that resemble each other stays.
const MIN_NEAR: usize = 6;

/// The lines with runs folded. `near`: also those of lines that only resemble each other.
pub(super) fn folded(lines: Vec<Line<'_>>, near: bool) -> Vec<Line<'_>> {
    let mut folded: Vec<Line<'_>> = Vec::with_capacity(lines.len());
    let mut at = 0;
    while let Some(first) = lines.get(at) {
        let rest = lines.get(at..).unwrap_or_default();
        let equal = equal_run(rest);
        if equal >= MIN_EQUAL {
            folded.push(first.clone());
            if let Some(second) = rest.get(1) {
                folded.push(second.mark(equal - 1, "lines like the one above", false));
            }
            at += equal;
            continue;
        }
        let run = if near { near_run(rest) } else { 0 };
        if run >= MIN_NEAR {
            // The first two show what differs, and the last where it ends.
            folded.extend(rest.iter().take(2).cloned());
            if let (Some(third), Some(last)) = (rest.get(2), rest.get(run - 1)) {
                folded.push(third.mark(run - 3, "lines that go on like this", true));
                folded.push(last.clone());
            }
            at += run;
            continue;
        }
        folded.push(first.clone());
        at += 1;
    }
    folded
}

/// How many lines equal the first.
fn equal_run(lines: &[Line<'_>]) -> usize {
    match lines.first() {
        Some(first) if first.kind != Kind::Mark && !first.text.trim().is_empty() => {
            lines.iter().take_while(|line| line.kind != Kind::Mark && line.text == first.text).count()
        }
        _ => 0,
    }
}

/// How many lines resemble each other, with numbers that grow by the same steps.
fn near_run(lines: &[Line<'_>]) -> usize {
    let shape = |line: &Line<'_>| (line.kind == Kind::Plain).then(|| Shape::of(&line.text)).flatten();
    let (Some(first), Some(second)) = (lines.first(), lines.get(1)) else { return 0 };
    // Most lines begin otherwise than the next, and need no closer look.
    let start = |line: &Line<'_>| line.text.bytes().find(|byte| !byte.is_ascii_digit());
    if start(first) != start(second) || first.text.len().abs_diff(second.text.len()) > 16 {
        return 0;
    }
    let (Some(mut before), Some(next)) = (shape(first), shape(second)) else { return 0 };
    let Some(steps) = before.steps_to(&next) else { return 0 };
    let mut amounts = Amounts::of(&before);
    if !amounts.take(&next) {
        return 0;
    }
    before = next;
    let mut run = 2;
    for line in lines.iter().skip(2) {
        match shape(line) {
            Some(next) if before.steps_to(&next).as_ref() == Some(&steps) && amounts.take(&next) => {
                before = next;
            }
            _ => break,
        }
        run += 1;
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(text: &str, near: bool) -> String {
        let lines = text.lines().enumerate().map(|(at, line)| Line::new(line, 0, at + 1)).collect();
        folded(lines, near).into_iter().map(|line| line.text.into_owned() + "\n").collect()
    }

    #[test]
    fn equal_lines_are_counted() {
        assert_eq!(fold("a\nb\nb\nb\nb\nb\nc\n", true), "a\nb\n[… 4 lines like the one above]\nc\n");
        assert_eq!(fold("a\nb\nb\nc\n\n\n\n\n\n", true), "a\nb\nb\nc\n\n\n\n\n\n");
    }

    #[test]
    fn numbers_that_count_on_are_folded_and_others_are_not() {
        let count: String = (1..=50).map(|number| format!("item {number}\n")).collect();
        assert_eq!(
            fold(&count, true),
            "item 1\nitem 2\n[… 47 lines that go on like this, from line 3]\nitem 50\n"
        );
        assert_eq!(fold(&count, false), count);
        let data: String =
            [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5].map(|number| format!("item {number}\n")).concat();
        assert_eq!(fold(&data, true), data, "a value that a reader may need");
        let jump = "item 1\nitem 2\nitem 3\nitem 4\nitem 5\nitem 6\nitem 99\n";
        assert!(fold(jump, true).ends_with("item 6\nitem 99\n"));
    }
}
