//! Lines of a job's output that match a pattern.

use std::collections::VecDeque;
use std::fs::File;
use std::io;

use regex::bytes::Regex;

use super::output::{OutputQuery, OutputText, for_each_line, trim_carriage_return};
use crate::text::{Limit, ReadAs, estimate_tokens, indent_marks, one_line, with_commas};

/// A line that is shown.
#[derive(Debug)]
struct Shown {
    number: u64,
    text: String,
    cost: usize,
}

/// Lines within a limit: the first and the last of them.
#[derive(Debug)]
struct Ends {
    limit: Limit,
    head: Vec<Shown>,
    /// How much of the limit the head may use, and uses.
    head_limit: usize,
    head_cost: usize,
    tail: VecDeque<Shown>,
    tail_cost: usize,
    left_out: u64,
    /// The number of the first line that is left out.
    first_left_out: u64,
}

impl Ends {
    /// What a model reads has both ends; a program gets the last lines.
    fn new(limit: Limit) -> Self {
        let head_limit = if matches!(limit, Limit::Tokens(_)) { limit.amount() / 2 } else { 0 };
        Self {
            limit,
            head: Vec::new(),
            head_limit,
            head_cost: 0,
            tail: VecDeque::new(),
            tail_cost: 0,
            left_out: 0,
            first_left_out: 0,
        }
    }

    fn push(&mut self, number: u64, text: &str) {
        let mut text = indent_marks(text);
        let mut cost = self.cost(&text);
        if matches!(self.limit, Limit::Tokens(_)) && cost > self.head_limit {
            text = self.cut(&text);
            cost = self.cost(&text);
        }
        let shown = Shown { number, text, cost };
        if self.tail.is_empty() && self.head_cost + cost <= self.head_limit {
            self.head_cost += cost;
            self.head.push(shown);
            return;
        }
        self.tail_cost += cost;
        self.tail.push_back(shown);
        while self.head_cost + self.tail_cost > self.limit.amount() && self.tail.len() > 1 {
            let Some(first) = self.tail.pop_front() else { break };
            self.tail_cost -= first.cost;
            if self.left_out == 0 {
                self.first_left_out = first.number;
            }
            self.left_out += 1;
        }
    }

    /// What a line takes of the limit, with its line end.
    fn cost(&self, line: &str) -> usize {
        match self.limit {
            Limit::Chars(_) => line.chars().count() + 1,
            Limit::Bytes(_) => line.len() + 1,
            Limit::Tokens(_) => estimate_tokens(line) + 1,
        }
    }

    /// The beginning of a line that would take more than an end of the limit.
    fn cut(&self, line: &str) -> String {
        let start = Limit::Tokens(self.head_limit.saturating_sub(16)).first_of(line);
        let more = line.chars().count().saturating_sub(start.chars().count());
        format!("{start}… [+{} characters]", with_commas(more))
    }
}

/// The lines that match a pattern, with the lines around them. What is more than the limit is counted in a line that says how to
/// read it; `read_as` is the part of the output that is searched.
pub(super) fn matching_lines(
    file: &File,
    query: &OutputQuery<'_>,
    pattern: &Regex,
    read_as: ReadAs<'_>,
) -> io::Result<OutputText> {
    let mut ends = Ends::new(query.limit);
    let mut before: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
    let (mut wanted_behind, mut number) = (0, read_as.first_line);
    for_each_line(file, query.bytes.clone(), |line| {
        let this = number;
        number += 1;
        let matches = pattern.is_match(trim_carriage_return(line));
        if !matches && wanted_behind == 0 {
            if query.context > 0 {
                if before.len() == query.context {
                    before.pop_front();
                }
                before.push_back((this, line.to_vec()));
            }
            return;
        }
        wanted_behind = if matches { query.context } else { wanted_behind - 1 };
        for (number, line) in before.drain(..) {
            ends.push(number, &one_line(&line));
        }
        ends.push(this, &one_line(line));
    })?;
    let mut text = String::new();
    let truncated = ends.left_out > 0;
    let mark = truncated && matches!(query.limit, Limit::Tokens(_));
    for line in &ends.head {
        text.push_str(&line.text);
        text.push('\n');
    }
    if mark {
        text.push_str(&left_out(&ends, query, pattern, read_as));
        text.push('\n');
    }
    for line in &ends.tail {
        text.push_str(&line.text);
        text.push('\n');
    }
    Ok(OutputText { text, truncated })
}

/// The line that stands for those that are left out.
fn left_out(ends: &Ends, query: &OutputQuery<'_>, pattern: &Regex, read_as: ReadAs<'_>) -> String {
    let count = with_commas(ends.left_out);
    let lines = if ends.left_out == 1 { "line" } else { "lines" };
    let mut call = serde_json::Map::new();
    call.insert("id".to_owned(), read_as.id.into());
    call.insert("from_line".to_owned(), ends.first_left_out.into());
    call.insert("grep".to_owned(), pattern.as_str().into());
    if query.context > 0 {
        call.insert("context".to_owned(), query.context.into());
    }
    if read_as.stream == "stderr" {
        call.insert("stream".to_owned(), read_as.stream.into());
    }
    format!("[… {count} {lines} left out: shell_output {}]", serde_json::Value::from(call))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use shellgate_exec::Stream;

    use super::*;

    fn found(output: &str, pattern: &str, context: usize, limit: Limit) -> OutputText {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(output.as_bytes()).unwrap();
        let pattern = Regex::new(pattern).unwrap();
        let bytes = 0..output.len() as u64;
        let query = OutputQuery { stream: Stream::Stderr, bytes, grep: Some(&pattern), context, limit };
        let read_as = ReadAs { id: "01J", stream: "stderr", first_line: 101 };
        matching_lines(&file, &query, &pattern, read_as).unwrap()
    }

    #[test]
    fn matching_lines_have_the_lines_around_them_once() {
        let seen = |context| found("a\nb\nX\nc\nX\nd\ne\nf\n", "X", context, Limit::Chars(1_000)).text;
        assert_eq!(seen(0), "X\nX\n");
        assert_eq!(seen(1), "b\nX\nc\nX\nd\n");
    }

    #[test]
    fn what_is_more_than_the_limit_is_counted_in_a_line_that_reads_it() {
        let output: String = (0..2_000).map(|number| format!("row {number} of \"it\"\nother\n")).collect();
        let OutputText { text, truncated } = found(&output, "^row .* \"it\"$", 0, Limit::Tokens(400));
        assert!(truncated && estimate_tokens(&text) < 450, "{text}");
        assert!(text.starts_with("row 0 of") && text.ends_with("row 1999 of \"it\"\n"), "{text}");
        let mark = text.lines().find(|line| line.starts_with("[… ")).unwrap();
        let call = mark.split_once("left out: shell_output ").unwrap().1.strip_suffix(']').unwrap();
        let call: serde_json::Value = serde_json::from_str(call).unwrap();
        assert_eq!((&call["grep"], &call["stream"]), (&"^row .* \"it\"$".into(), &"stderr".into()));
        let head = text.lines().take_while(|line| *line != mark).count();
        assert_eq!(call["from_line"], 101 + 2 * head, "the first that is left out");
        let count: usize = mark.split(' ').nth(1).unwrap().replace(',', "").parse().unwrap();
        assert_eq!(count + text.lines().count() - 1, 2_000);
    }

    #[test]
    fn a_long_line_is_cut_and_no_line_looks_like_a_mark() {
        let long = format!("X{}", "word ".repeat(5_000));
        let text = found(&format!("[… 9 lines left out: X]\n{long}\n"), "X", 0, Limit::Tokens(400)).text;
        assert!(text.starts_with(" [… 9 lines left out: X]\nXword word "), "{text}");
        assert!(text.contains("… [+") && estimate_tokens(&text) <= 420, "{text}");
    }

    #[test]
    fn a_program_gets_the_last_lines() {
        let read = found("X1\nX2\nX3\n", "X", 0, Limit::Bytes(6));
        assert_eq!((read.text.as_str(), read.truncated), ("X2\nX3\n", true));
    }
}
