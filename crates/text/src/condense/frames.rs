//! Backtraces: frames of other people's code, and frames that say again where the error happened, are counted.

use regex::bytes::Regex;

use super::line::{Kind, Line};
use super::rules::{FramesRule, group, pattern};

/// The place of an error stands in one of so many lines before its backtrace.
const LINES_BEFORE: usize = 12;

/// Recognises the lines of a backtrace.
#[derive(Debug)]
pub(super) struct FramesReader {
    start: Regex,
    frame: Regex,
    place: Regex,
    foreign: Regex,
}

/// A backtrace that is being read.
#[derive(Debug)]
pub(super) struct Backtrace<'t> {
    heading: Line<'t>,
    frames: Vec<Frame<'t>>,
}

#[derive(Debug)]
struct Frame<'t> {
    line: Line<'t>,
    name: String,
    place: String,
    lines: usize,
    is_foreign: bool,
}

impl FramesReader {
    pub(super) fn new(rule: &FramesRule) -> Option<Self> {
        Some(Self {
            start: pattern(rule.start)?,
            frame: pattern(rule.frame)?,
            place: pattern(rule.place)?,
            foreign: pattern(rule.foreign)?,
        })
    }

    /// The backtrace that begins with this line.
    pub(super) fn start<'t>(&self, line: &Line<'t>) -> Option<Backtrace<'t>> {
        let starts = self.start.is_match(line.text.as_bytes());
        starts.then(|| Backtrace { heading: line.clone(), frames: Vec::new() })
    }

    /// Adds a line to a backtrace. `false`: it isn't part of it.
    pub(super) fn add<'t>(&self, backtrace: &mut Backtrace<'t>, line: &Line<'t>) -> bool {
        let text = line.text.as_bytes();
        if let (Some(place), Some(frame)) = (self.place.captures(text), backtrace.frames.last_mut()) {
            frame.place = group(&place, "place");
            frame.lines += 1;
            return true;
        }
        let Some(frame) = self.frame.captures(text) else { return false };
        let name = group(&frame, "name");
        let is_foreign = self.foreign.is_match(name.as_bytes());
        backtrace.frames.push(Frame { line: line.clone(), name, place: String::new(), lines: 1, is_foreign });
        true
    }
}

impl<'t> Backtrace<'t> {
    /// Its lines: each frame with its place, and how many lines are not shown. `before`: what stands above it.
    pub(super) fn close(self, before: &[Line<'t>]) -> Vec<Line<'t>> {
        let is_said = |place: &str| {
            let said = before.iter().rev().take(LINES_BEFORE);
            !place.is_empty() && said.into_iter().any(|line| line.text.contains(place))
        };
        let mut shown = Vec::new();
        let mut hidden = 0;
        let mut inner_name: Option<&str> = None;
        for frame in &self.frames {
            // A test is called by a closure of the same name, as is the body of an async function.
            let is_wrapper = inner_name.is_some_and(|name| frame.name == format!("{name}::{{{{closure}}}}"));
            if frame.is_foreign || is_wrapper || is_said(&frame.place) {
                hidden += frame.lines;
            } else {
                let place =
                    if frame.place.is_empty() { String::new() } else { format!(" at {}", frame.place) };
                let text = format!("{}{place}", frame.line.text.trim_start());
                shown.push(Line { kind: Kind::Verbatim, ..frame.line.saying(text) });
            }
            inner_name = Some(&frame.name);
        }
        let mark = self.heading.mark(hidden, "lines of backtrace", false);
        let heading = Line { kind: Kind::Verbatim, ..self.heading };
        let has_shown = !shown.is_empty();
        let mut lines: Vec<Line<'t>> = (has_shown || hidden == 0).then_some(heading).into_iter().collect();
        lines.extend(shown);
        lines.extend((hidden > 0).then_some(mark));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(before: &str, text: &str) -> String {
        let rule = FramesRule {
            start: "^stack backtrace:$",
            frame: r"^ +[0-9]+: (?<name>\S.*)$",
            place: r"^ +at (\./)?(?<place>\S+)$",
            foreign: "^(core|std)::",
        };
        let reader = FramesReader::new(&rule).unwrap();
        let mut lines = text.lines().enumerate().map(|(at, line)| Line::new(line, 0, at + 1));
        let mut backtrace = reader.start(&lines.next().unwrap()).unwrap();
        assert!(lines.all(|line| reader.add(&mut backtrace, &line)));
        let before = [Line::new(before, 0, 1)];
        backtrace.close(&before).into_iter().map(|line| line.text.into_owned() + "\n").collect()
    }

    const TEXT: &str = "stack backtrace:\n   0: core::panicking::panic_fmt\n             at /rustc/0/library/core/src/panicking.rs:80:14\n   1: calc::halve\n             at ./src/lib.rs:3:5\n   2: calc::tests::halves\n             at ./src/lib.rs:9:20\n   3: calc::tests::halves::{{closure}}\n             at ./src/lib.rs:8:10\n   4: core::ops::function::FnOnce::call_once\n";

    #[test]
    fn frames_that_say_something_new_are_shown() {
        assert_eq!(
            closed("thread 'x' panicked at src/lib.rs:3:5:", TEXT),
            "stack backtrace:\n2: calc::tests::halves at src/lib.rs:9:20\n[… 7 lines of backtrace]\n"
        );
        assert_eq!(
            closed("panicked at /deps/other.rs:1:1", TEXT),
            "stack backtrace:\n1: calc::halve at src/lib.rs:3:5\n2: calc::tests::halves at src/lib.rs:9:20\n[… 5 lines of backtrace]\n"
        );
    }

    #[test]
    fn a_backtrace_that_says_nothing_new_is_one_line() {
        let text = "stack backtrace:\n   0: std::x\n   1: calc::tests::x\n             at ./src/lib.rs:3:5\n";
        assert_eq!(closed("panicked at src/lib.rs:3:5:", text), "[… 3 lines of backtrace]\n");
    }
}
