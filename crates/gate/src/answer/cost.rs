//! What an answer costs a model, for the record.

use shellgate_journal::RecordedView;

use super::report::Report;
use crate::intake::dialect::ClosedText;
use crate::intake::request::Format;
use crate::text::estimate_tokens;

/// What the answer with this report shows of the output, in tokens. Which program wrote it is added when it is recorded.
pub(crate) fn recorded(report: &Report) -> RecordedView {
    let shown = estimate_tokens(&report.stdout) + estimate_tokens(&report.stderr);
    let tokens = match report.format {
        Format::Text => estimate_tokens(&ClosedText::of(report).to_string()),
        Format::Json | Format::Markdown => shown,
    } as u64;
    // All of it would have the same closing line.
    let around = tokens.saturating_sub(shown as u64);
    let whole = report.whole_tokens.saturating_add(around);
    RecordedView {
        tokens,
        of_tokens: Some(whole).filter(|whole| *whole > tokens && !is_whole(report)),
        condensed: report.condensed.map(|condensed| (condensed.from_lines, condensed.to_lines)),
        program: None,
    }
}

/// Whether all output is shown as it is: then the two estimates differ by chance.
fn is_whole(report: &Report) -> bool {
    report.condensed.is_none() && !report.stdout_truncated && !report.stderr_truncated
}
