//! What a report shows of a command's output: text for a model, cut to the limit of the request's detail.

use std::path::Path;
use std::sync::Arc;

use shellgate_exec::{Exit, Outcome, PerStream, Spool, State, Stream};

use crate::answer::condensed::Condensed;
use crate::answer::settings::AnswerSettings;
use crate::answer::summary::RequestSummary;
use crate::intake::request::{Detail, Format};
use crate::settings::Condense;
use crate::text::condense::Reducer;
use crate::text::{Limit, ReadAs, Shares, Source, ViewOptions, estimate_tokens, view_with};

/// Characters of a stream that a preview shows.
const PREVIEW_CHARS: usize = 400;

/// Fewer bytes are never so many tokens that they are condensed.
const MIN_CONDENSABLE_BYTES: u64 = 1_500;

/// The text of both streams.
#[derive(Debug)]
pub(crate) struct StreamTexts {
    /// Cut as the request's detail says.
    pub(crate) shown: PerStream<StreamText>,
    /// Up to `limits.answer_bytes`, of a command that speaks for itself.
    pub(crate) words: Option<PerStream<String>>,
    /// Whether standard output is the screen of a terminal.
    pub(crate) is_screen: bool,
    /// That lines which say nothing new are left out.
    pub(crate) condensed: Option<Condensed>,
    /// About how many tokens all output would cost, if that is known.
    pub(crate) whole_tokens: u64,
}

/// The text of one stream.
#[derive(Debug, Default)]
pub(crate) struct StreamText {
    pub(crate) text: String,
    /// Whether something was left out.
    pub(crate) truncated: bool,
    is_screen: bool,
    /// How many lines there were, if lines are left out that say nothing new.
    condensed_from: Option<u64>,
    whole_tokens: u64,
}

/// What is the same for both streams.
struct Shown<'a> {
    summary: &'a RequestSummary,
    outcome: &'a Outcome,
    spool: &'a Spool,
    /// What shortens long output.
    reducer: Option<Arc<Reducer>>,
}

impl StreamTexts {
    /// Reads what the report of this outcome shows.
    pub(crate) fn read(
        summary: &RequestSummary,
        answers: &AnswerSettings,
        outcome: &Outcome,
        spool: &Spool,
    ) -> Self {
        let limits = &answers.limits;
        let number = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        let complete = Limit::Bytes(number(limits.answer_bytes));
        let limit = match summary.detail {
            Detail::Minimal => Limit::Chars(number(limits.answer_chars)),
            Detail::Preview => Limit::Chars(PREVIEW_CHARS),
            Detail::Full => complete,
        };
        let is_condensable = summary.format == Format::Text
            && summary.detail == Detail::Minimal
            && answers.condense == Condense::Auto
            && !summary.raw
            && Stream::BOTH.iter().any(|stream| outcome.output.get(*stream).total > MIN_CONDENSABLE_BYTES);
        let reducer = is_condensable.then(|| summary.writer.reducer());
        let shown = Shown { summary, outcome, spool, reducer };
        let text = |stream, limit| StreamText::read(&shown, stream, limit);
        let both =
            |limit| PerStream { stdout: text(Stream::Stdout, limit), stderr: text(Stream::Stderr, limit) };
        let shown = match (summary.detail, summary.format) {
            (Detail::Minimal, Format::Text) => within_tokens(number(limits.answer_tokens), text),
            _ => both(limit),
        };
        let words = summary.speaks.then(|| {
            let complete = both(complete);
            PerStream { stdout: complete.stdout.text, stderr: complete.stderr.text }
        });
        Self {
            is_screen: shown.stdout.is_screen,
            condensed: condensed(&shown),
            whole_tokens: shown.stdout.whole_tokens + shown.stderr.whole_tokens,
            shown,
            words,
        }
    }
}

/// How many lines both streams had and show, if one of them is condensed.
fn condensed(shown: &PerStream<StreamText>) -> Option<Condensed> {
    let both = [&shown.stdout, &shown.stderr];
    if both.iter().all(|text| text.condensed_from.is_none()) {
        return None;
    }
    let shown = |text: &StreamText| text.text.lines().count() as u64;
    Some(Condensed {
        from_lines: both.iter().map(|text| text.condensed_from.unwrap_or_else(|| shown(text))).sum(),
        to_lines: both.iter().map(|text| shown(text)).sum(),
    })
}

/// Both streams within a number of tokens.
fn within_tokens(tokens: usize, text: impl Fn(Stream, Limit) -> StreamText) -> PerStream<StreamText> {
    let all = Limit::Tokens(tokens);
    let (stdout, stderr) = (text(Stream::Stdout, all), text(Stream::Stderr, all));
    let wanted = |text: &StreamText| if text.truncated { tokens } else { estimate_tokens(&text.text) };
    let (for_stdout, for_stderr) = (wanted(&stdout), wanted(&stderr));
    if for_stdout.saturating_add(for_stderr) <= tokens {
        return PerStream { stdout, stderr };
    }
    let shares = shares(tokens, &PerStream { stdout: for_stdout, stderr: for_stderr });
    let cut = |stream, whole: StreamText, wanted: usize, share: usize| {
        if wanted <= share && !whole.truncated { whole } else { text(stream, Limit::Tokens(share)) }
    };
    PerStream {
        stdout: cut(Stream::Stdout, stdout, for_stdout, shares.stdout),
        stderr: cut(Stream::Stderr, stderr, for_stderr, shares.stderr),
    }
}

/// How much of the tokens each stream may have, if it wants so many. One that needs less than its half leaves the rest to the
/// other.
pub(crate) fn shares(tokens: usize, wanted: &PerStream<usize>) -> PerStream<usize> {
    let share = |own: usize, other: usize| own.min((tokens / 2).max(tokens.saturating_sub(other)));
    PerStream { stdout: share(wanted.stdout, wanted.stderr), stderr: share(wanted.stderr, wanted.stdout) }
}

impl StreamText {
    fn read(shown: &Shown<'_>, stream: Stream, limit: Limit) -> Self {
        let Shown { summary, outcome, spool, reducer } = shown;
        let output = outcome.output.get(stream);
        if output.total == 0 {
            return Self::default();
        }
        let source = Source {
            file: spool.files.get(stream),
            path: spool.paths.as_ref().map_or(Path::new(""), |paths| paths.get(stream)),
            begins: 0,
            spooled: output.spooled,
            total: output.total,
            tail: &output.tail,
            lost: output.lost.clone(),
            read_as: matches!(limit, Limit::Tokens(_)).then_some(ReadAs {
                id: &summary.id,
                stream: stream.name(),
                first_line: 1,
            }),
        };
        // Of a full-screen program that runs, only what is on its screen now is of use.
        let size = summary.terminal.filter(|_| outcome.state == State::Running);
        let screen = size.and_then(|size| crate::screen(&source, size.rows, size.cols));
        match screen.filter(|screen| screen.drawn) {
            Some(screen) => {
                let text = limit.first_of(&screen.text).to_owned();
                Self { text, truncated: true, is_screen: true, ..Self::default() }
            }
            None => {
                // The end says why a command failed.
                let failed = !matches!(outcome.exit, None | Some(Exit::Code(0)));
                let shares = match limit {
                    Limit::Tokens(_) if failed => Shares::MostlyEnd,
                    _ => Shares::Even,
                };
                // Only what a model reads within its budget is condensed.
                let reducer = reducer.as_deref().filter(|_| matches!(limit, Limit::Tokens(_)));
                let view = view_with(&source, ViewOptions { limit, shares, reducer });
                Self {
                    text: view.text,
                    truncated: view.truncated,
                    is_screen: false,
                    condensed_from: view.condensed_from,
                    whole_tokens: view.whole_tokens,
                }
            }
        }
    }
}
