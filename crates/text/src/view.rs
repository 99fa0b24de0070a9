//! A stream as a model sees it.

use std::ops::Range;

use super::{
    binary::{self, Binary},
    cut, marker,
    render::{Rendered, render},
    source::{Source, Stream},
};

/// Streams up to this size are rendered whole.
const WHOLE: u64 = 8 << 20;

/// Of larger ones, this much at each end, or as much as the limit needs.
const WINDOW: u64 = 1 << 20;

/// A tail begins with a whole line if one begins this near.
const NEAR: usize = 64 << 10;

/// How long a text may be. The line that says what was left out comes on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// So many characters.
    Chars(usize),
    /// So many bytes of UTF-8.
    Bytes(usize),
}

impl Limit {
    /// As much of the start of `text` as there may be.
    #[must_use]
    pub fn first_of(self, text: &str) -> &str {
        let end = match self {
            Self::Chars(count) => text.char_indices().nth(count).map_or(text.len(), |(at, _)| at),
            Self::Bytes(count) => text.floor_char_boundary(count),
        };
        text.get(..end).unwrap_or(text)
    }
}

/// Clean text of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The text: no control characters but newline and tab.
    pub text: String,
    /// Whether something of the output isn't in the text, which then says so in a line of its own.
    pub truncated: bool,
    /// Set when the output is binary; the text describes it instead of showing it.
    pub binary: Option<Binary>,
}

/// What could be had of a stream.
enum Parts {
    Whole(Rendered),
    Ends { head: Rendered, tail: Rendered },
}

/// The clean text of a stream, within a limit.
///
/// Reading the file is the only thing that can fail, and then what is missing is said in the text.
#[must_use]
pub fn view(source: &Source<'_>, limit: Limit) -> View {
    let mut stream = Stream::new(source);
    if let Some(binary) = binary::examine(&mut stream) {
        let text = marker::binary(&binary, &stream);
        return View { text, truncated: true, binary: Some(binary) };
    }
    let (text, truncated) = match parts(&mut stream, limit) {
        Parts::Whole(whole) if limit.measure(&whole.text) <= limit.amount() => (whole.text, false),
        Parts::Whole(whole) => {
            let mut cut = cut::within(&whole.text, limit);
            cut.tail = past_marker(&whole.text, cut.tail);
            let left_out = whole.raw_at(cut.head)..whole.raw_at(cut.tail);
            let (head, tail) = (whole.text.get(..cut.head), whole.text.get(cut.tail..));
            (join(head, &left_out, tail, &stream, limit), true)
        }
        Parts::Ends { head, tail } => {
            let mut cut = cut::between(&head.text, &tail.text, limit);
            cut.tail = past_marker(&tail.text, cut.tail);
            let left_out = head.raw_at(cut.head)..tail.raw_at(cut.tail);
            let (head, tail) = (head.text.get(..cut.head), tail.text.get(cut.tail..));
            (join(head, &left_out, tail, &stream, limit), true)
        }
    };
    View { text, truncated, binary: None }
}

/// How much of a file is looked at for its last line.
const LAST: u64 = 8 << 10;

/// The last line of a file that has something in it, as a reader would see it. Empty when there is none.
#[must_use]
pub fn last_line(file: &std::fs::File) -> String {
    let total = file.metadata().map_or(0, |metadata| metadata.len());
    let source = Source {
        file,
        path: std::path::Path::new(""),
        begins: 0,
        spooled: total,
        total,
        tail: &[],
        lost: None,
    };
    let mut stream = Stream::new(&source);
    last_line_in(&stream.read(total.saturating_sub(LAST)..total))
}

/// The same of bytes.
pub fn last_line_in(bytes: &[u8]) -> String {
    let text = render(bytes.to_vec(), 0).text;
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}

/// One line of output, as a reader would see it.
pub fn one_line(bytes: &[u8]) -> String {
    render(bytes.to_vec(), 0).text.trim_end_matches('\n').to_owned()
}

fn parts(stream: &mut Stream<'_>, limit: Limit) -> Parts {
    let window = WINDOW.max(limit.bytes() as u64);
    if stream.missing().is_empty() && stream.total <= WHOLE.max(window.saturating_mul(2)) {
        let bytes = stream.read(0..stream.total);
        if bytes.len() as u64 == stream.total {
            return Parts::Whole(rendered(bytes, 0));
        }
    }
    let mut head = stream.read(0..window.min(stream.kept));
    if head.len() as u64 == window {
        // The last line goes on in what isn't read.
        head.truncate(memchr::memrchr(b'\n', &head).map_or(head.len(), |at| at + 1));
    }
    // Where nothing is missing the tail comes from the file, else it can only be what was kept in memory.
    let earliest = if stream.missing().is_empty() { head.len() as u64 } else { stream.missing().end };
    let start = stream.total.saturating_sub(window).max(earliest);
    let tail = stream.read(start..stream.total);
    let skipped = first_line(&tail);
    let tail = tail.get(skipped..).unwrap_or_default().to_vec();
    Parts::Ends { head: rendered(head, 0), tail: rendered(tail, start + skipped as u64) }
}

/// Where text begins that was cut out of a stream: after the first line end, or else with a whole character.
fn first_line(bytes: &[u8]) -> usize {
    let near = bytes.get(..NEAR.min(bytes.len() / 4)).unwrap_or_default();
    let inside = bytes.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    memchr::memchr(b'\n', near).map_or(inside, |at| at + 1)
}

fn rendered(bytes: Vec<u8>, base: u64) -> Rendered {
    let mut rendered = render(bytes, base);
    rendered.indent_lines(&marker::STARTS);
    rendered
}

/// Where a tail begins that doesn't look like a marker. Whole lines that do are indented by now, but a cut
/// within a line can make another.
fn past_marker(text: &str, tail: usize) -> usize {
    let looks_like_one =
        text.get(tail..).is_some_and(|text| marker::STARTS.iter().any(|start| text.starts_with(start)));
    tail + usize::from(looks_like_one)
}

/// Head, marker on a line of its own, tail.
fn join(
    head: Option<&str>,
    left_out: &Range<u64>,
    tail: Option<&str>,
    stream: &Stream<'_>,
    limit: Limit,
) -> String {
    let mut text = head.unwrap_or_default().to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&marker::left_out(left_out, stream, limit.amount() as u64));
    text.push('\n');
    text.push_str(tail.unwrap_or_default());
    text
}
