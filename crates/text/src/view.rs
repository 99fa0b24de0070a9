//! The text of a stream that a model sees.

use std::ops::Range;

use super::{
    binary::{self, Binary},
    condense::{self, CondensedText, Reducer, condense},
    cut, marker,
    render::{Rendered, render},
    source::{Source, Stream},
    tokens::estimate_tokens,
};

/// Streams up to this size are rendered whole.
const WHOLE_MAX_BYTES: u64 = 8 << 20;

/// Of larger streams, this much is rendered at each end, or more if the limit is larger.
const WINDOW_BYTES: u64 = 1 << 20;

/// A tail begins with a whole line if a line begins within this many bytes.
const LINE_START_MAX_BYTES: usize = 64 << 10;

/// How long a text may be. The marker line doesn't count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// This many characters.
    Chars(usize),
    /// This many bytes of UTF-8.
    Bytes(usize),
    /// This many tokens of a model, by [`estimate_tokens`](crate::estimate_tokens).
    Tokens(usize),
}

/// How the two ends of a cut text share the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shares {
    /// Half and half.
    #[default]
    Even,
    /// The end gets more: it says why a command failed.
    MostlyEnd,
}

impl Shares {
    /// The part of the limit that the end gets.
    pub(super) fn of_tail(self, amount: usize) -> usize {
        match self {
            Self::Even => amount / 2,
            Self::MostlyEnd => amount - amount / 4,
        }
    }
}

impl Limit {
    /// The longest start of `text` within the limit.
    #[must_use]
    pub fn first_of(self, text: &str) -> &str {
        let end = match self {
            Self::Chars(count) => text.char_indices().nth(count).map_or(text.len(), |(at, _)| at),
            Self::Bytes(count) => text.floor_char_boundary(count),
            Self::Tokens(count) => crate::tokens::prefix(text, count),
        };
        text.get(..end).unwrap_or(text)
    }

    /// The longest end of `text` within the limit.
    #[must_use]
    pub fn last_of(self, text: &str) -> &str {
        text.get(self.suffix(text, self.amount())..).unwrap_or(text)
    }
}

/// Clean text of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The text. It contains no control characters except newline and tab.
    pub text: String,
    /// Whether some of the output isn't in the text. The text says so in a marker line then.
    pub truncated: bool,
    /// Set if the output is binary. The text describes it then.
    pub binary: Option<Binary>,
    /// How many lines there were, if lines that say nothing new are left out.
    pub condensed_from: Option<u64>,
    /// About how many tokens the whole stream would cost. Only with [`Limit::Tokens`].
    pub whole_tokens: u64,
}

/// How a stream is shown.
#[derive(Debug, Clone, Copy)]
pub struct ViewOptions<'a> {
    /// How long the text may be.
    pub limit: Limit,
    /// How the ends of a longer text share that.
    pub shares: Shares,
    /// What shortens long output before it is cut. `None`: nothing does.
    pub reducer: Option<&'a Reducer>,
}

/// The rendered parts of a stream.
enum Parts {
    Whole(Rendered),
    Ends { head: Rendered, tail: Rendered },
}

/// A rendered part, condensed or as it is.
struct Shown {
    rendered: Rendered,
    condensed: Option<CondensedText>,
}

impl Shown {
    fn new(rendered: Rendered, reducer: Option<&Reducer>) -> Self {
        let condensed = reducer.and_then(|reducer| condense(&rendered.text, reducer));
        Self { rendered, condensed }
    }

    fn text(&self) -> &str {
        self.condensed.as_ref().map_or(&self.rendered.text, |condensed| &condensed.text)
    }

    /// The offset in the stream of this place in the text.
    fn raw_at(&self, place: usize) -> u64 {
        self.rendered.raw_at(self.condensed.as_ref().map_or(place, |condensed| condensed.original(place)))
    }

    fn into_text(self) -> String {
        self.condensed.map_or(self.rendered.text, |condensed| condensed.text)
    }
}

/// The clean text of a stream, within a limit.
///
/// Only reading the file can fail. The text says what is missing then.
#[must_use]
pub fn view(source: &Source<'_>, limit: Limit) -> View {
    view_with(source, ViewOptions { limit, shares: Shares::Even, reducer: None })
}

/// The same, with a choice of how it is shown.
#[must_use]
pub fn view_with(source: &Source<'_>, options: ViewOptions<'_>) -> View {
    let ViewOptions { limit, shares, reducer } = options;
    let mut stream = Stream::new(source);
    if let Some(binary) = binary::examine(&mut stream) {
        let text = marker::binary(&binary, &stream);
        let whole_tokens = tokens_of(&text, limit);
        return View { text, truncated: true, binary: Some(binary), condensed_from: None, whole_tokens };
    }
    match parts(&mut stream, limit) {
        Parts::Whole(whole) => {
            let whole_tokens = tokens_of(&whole.text, limit);
            let is_long = limit.measure(&whole.text) > limit.amount();
            let is_condensable = whole_tokens > condense::MIN_TOKENS as u64;
            let lines = whole.text.lines().count() as u64;
            let shown = Shown::new(whole, reducer.filter(|_| is_condensable));
            let condensed_from = shown.condensed.is_some().then_some(lines);
            let fits = !is_long || limit.measure(shown.text()) <= limit.amount();
            if fits {
                let text = shown.into_text();
                return View { text, truncated: false, binary: None, condensed_from, whole_tokens };
            }
            let mut cut = cut::within(shown.text(), limit, shares);
            cut.tail = past_marker(shown.text(), cut.tail);
            let left_out = shown.raw_at(cut.head)..shown.raw_at(cut.tail);
            let (head, tail) = (shown.text().get(..cut.head), shown.text().get(cut.tail..));
            let text = join(head, &left_out, tail, &mut stream, limit);
            View { text, truncated: true, binary: None, condensed_from, whole_tokens }
        }
        Parts::Ends { head, tail } => {
            let rendered = (head.text.len() + tail.text.len()).max(1) as u64;
            let tokens = tokens_of(&head.text, limit) + tokens_of(&tail.text, limit);
            let whole_tokens = tokens.saturating_mul(stream.total / rendered).max(tokens);
            let (head, tail) = (Shown::new(head, reducer), Shown::new(tail, reducer));
            let is_condensed = head.condensed.is_some() || tail.condensed.is_some();
            let condensed_from = is_condensed.then(|| marker::count_lines(&mut stream));
            let mut cut = cut::between(head.text(), tail.text(), limit, shares);
            cut.tail = past_marker(tail.text(), cut.tail);
            let left_out = head.raw_at(cut.head)..tail.raw_at(cut.tail);
            let (head, tail) = (head.text().get(..cut.head), tail.text().get(cut.tail..));
            let text = join(head, &left_out, tail, &mut stream, limit);
            View { text, truncated: true, binary: None, condensed_from, whole_tokens }
        }
    }
}

/// About how many tokens a text costs, where that is of interest.
fn tokens_of(text: &str, limit: Limit) -> u64 {
    match limit {
        Limit::Tokens(_) => estimate_tokens(text) as u64,
        Limit::Chars(_) | Limit::Bytes(_) => 0,
    }
}

/// How much of a file's end is searched for its last line.
const LAST_LINE_WINDOW_BYTES: u64 = 8 << 10;

/// The last line of a file that isn't blank, rendered. Empty if there is none.
#[must_use]
pub fn last_line(file: &std::fs::File) -> String {
    let source = Source::whole(file, std::path::Path::new(""));
    let total = source.total;
    let mut stream = Stream::new(&source);
    last_line_in(&stream.read(total.saturating_sub(LAST_LINE_WINDOW_BYTES)..total))
}

/// The last line of `bytes` that isn't blank, rendered. Empty if there is none.
#[must_use]
pub fn last_line_in(bytes: &[u8]) -> String {
    let text = render(bytes.to_vec(), 0).text;
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}

/// One line of output, rendered.
#[must_use]
pub fn one_line(bytes: &[u8]) -> String {
    render(bytes.to_vec(), 0).text.trim_end_matches('\n').to_owned()
}

fn parts(stream: &mut Stream<'_>, limit: Limit) -> Parts {
    let window = WINDOW_BYTES.max(limit.max_bytes() as u64);
    if stream.missing().is_empty() && stream.total <= WHOLE_MAX_BYTES.max(window.saturating_mul(2)) {
        let bytes = stream.read(0..stream.total);
        if bytes.len() as u64 == stream.total {
            return Parts::Whole(rendered(bytes, 0));
        }
    }
    let mut head = stream.read(0..window.min(stream.kept));
    if head.len() as u64 == window {
        // The last line continues in bytes that aren't read.
        head.truncate(memchr::memrchr(b'\n', &head).map_or(head.len(), |at| at + 1));
    }
    // If no bytes are missing, the tail is read from the file. Else it is what was kept in memory.
    let earliest = if stream.missing().is_empty() { head.len() as u64 } else { stream.missing().end };
    let start = stream.total.saturating_sub(window).max(earliest);
    let tail = stream.read(start..stream.total);
    let skipped = text_start(&tail);
    let tail = tail.get(skipped..).unwrap_or_default().to_vec();
    Parts::Ends { head: rendered(head, 0), tail: rendered(tail, start + skipped as u64) }
}

/// Where the text of a cut stream begins: after the first line end, or else at a whole character.
fn text_start(bytes: &[u8]) -> usize {
    let near = bytes.get(..LINE_START_MAX_BYTES.min(bytes.len() / 4)).unwrap_or_default();
    let inside = bytes.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    memchr::memchr(b'\n', near).map_or(inside, |at| at + 1)
}

fn rendered(bytes: Vec<u8>, base: u64) -> Rendered {
    let mut rendered = render(bytes, base);
    rendered.indent_marks();
    rendered
}

/// The start of a tail that doesn't look like a marker. Whole lines that look like one are indented already, but a
/// cut within a line can make another. A marker that begins a line is ours.
fn past_marker(text: &str, tail: usize) -> usize {
    if text.get(..tail).is_none_or(|head| head.is_empty() || head.ends_with('\n')) {
        return tail;
    }
    tail + usize::from(text.get(tail..).is_some_and(marker::looks_like_one))
}

/// Joins head and tail, with the marker on a line of its own between them.
fn join(
    head: Option<&str>,
    left_out: &Range<u64>,
    tail: Option<&str>,
    stream: &mut Stream<'_>,
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
