//! What the judge foretold beside what was observed, in lines for people.

use shellgate_journal::{PastExecution, RecordedEffects, RecordedForecast};
use shellgate_policy::CallEffect;
use shellgate_text::escape::line as escape;
use shellgate_text::layout::{columns, cut};
use shellgate_text::{Style, StyledLine};

use super::effect_phrases;
use crate::answer::comparison::{ComparedEffect, Comparison, Foretold, call_effect};

/// How wide the observed effects are at most: the judge's words stand behind them.
const MAX_OBSERVED_COLUMNS: usize = 56;

/// How many programs the line of foretold ones names.
const MAX_PROGRAMS: usize = 8;

/// What the judge foretold, what was observed, and what it didn't foresee. Empty: nothing of it is known.
pub(super) fn lines(execution: &PastExecution) -> Vec<StyledLine> {
    let forecast = execution.started.as_ref().and_then(|started| started.foretold.as_deref());
    let effects = execution.ended.as_ref().and_then(|ended| ended.effects.as_deref());
    let mut lines = Vec::new();
    if let Some(text) = forecast.and_then(forecast_text) {
        lines.push(StyledLine::from(format!("  foretold: {text}")));
    }
    if let Some(effects) = effects {
        let comparison = Comparison::of(execution).unwrap_or_else(|| Comparison::unjudged(effects));
        lines.extend(observed_lines(&comparison, forecast.is_some(), effects));
    }
    lines
}

/// The programs and effects of a forecast, on one line.
fn forecast_text(forecast: &RecordedForecast) -> Option<String> {
    let mut programs: Vec<&str> = Vec::new();
    for call in &forecast.calls {
        let name = if call.program.is_empty() { "a program that can't be known" } else { &call.program };
        if !programs.contains(&name) {
            programs.push(name);
        }
    }
    if programs.is_empty() {
        return None;
    }
    let more = programs.len().saturating_sub(MAX_PROGRAMS) as u64 + forecast.omitted;
    programs.truncate(MAX_PROGRAMS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let effects = forecast.calls.iter().flat_map(|call| &call.effects).filter_map(call_effect);
    let phrases = effect_phrases(&effects.collect::<Vec<CallEffect>>());
    let phrases = std::iter::once(format!("runs {}{more}", programs.join(", "))).chain(phrases);
    Some(escape(&phrases.collect::<Vec<_>>().join("; ")))
}

/// The observed effects, with the judge's words behind them.
fn observed_lines(comparison: &Comparison, is_judged: bool, effects: &RecordedEffects) -> Vec<StyledLine> {
    let shown: Vec<String> = comparison.observed.iter().map(observed_text).collect();
    let widest = shown.iter().map(|text| columns(text)).max().unwrap_or(0);
    let mut lines = Vec::new();
    if !shown.is_empty() {
        lines.push(StyledLine::from("  observed:"));
    }
    for (row, text) in comparison.observed.iter().zip(shown) {
        let blanks = " ".repeat(widest - columns(&text));
        let line = match row.foretold {
            _ if !is_judged => StyledLine::from(format!("    {text}")),
            Foretold::No => StyledLine::from("  ")
                .with(Style::Caution, "! ")
                .with(Style::Plain, format!("{text}{blanks}  "))
                .with(Style::Caution, "not foretold"),
            Foretold::Named | Foretold::Unnamed => {
                let by = row.by.as_deref().map_or_else(String::new, escape);
                let by = if by.is_empty() { "among what isn't recorded".to_owned() } else { by };
                StyledLine::from(format!("    {text}{blanks}  "))
                    .with(Style::Faint, format!("foretold: {by}"))
            }
        };
        lines.push(line);
    }
    if effects.omitted > 0 {
        lines.push(StyledLine::from(format!("    and {} more", effects.omitted)));
    }
    if !comparison.unobserved.is_empty() {
        let text = escape(&comparison.unobserved.join("; "));
        lines.push(StyledLine::from(format!("  foretold, not observed: {text}")));
    }
    lines
}

/// An observed effect: a program stands below the one that started it.
fn observed_text(row: &ComparedEffect) -> String {
    let word = match row.effect {
        "run" => "runs",
        "write" => "writes",
        "delete" => "deletes",
        _ => "connects to",
    };
    cut(&format!("{word} {}{}", "  ".repeat(row.depth), escape(&row.target)), MAX_OBSERVED_COLUMNS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use shellgate_journal::Status;
    use shellgate_text::plain_text;

    use super::*;

    fn execution() -> PastExecution {
        let program = |command: &str, pid: u32, parent: u32| json!({"command": command, "program": "", "pid": pid, "parent": parent});
        let started = json!({"foretold": {"calls": [
            {"program": "make", "effects": [{"effect": "code"}]},
            {"program": "rm", "effects": [{"effect": "delete", "target": "out"}]},
            {"program": "tee", "effects": [{"effect": "write", "target": "log"}]},
        ]}});
        let ended = json!({"status": "completed", "ended_at": 0, "effects": {
            "programs": [
                program("bash -c make; rm out", 10, 1),
                program("make", 11, 10),
                program("cc -c a.c", 12, 11),
                program("rm out", 13, 10),
                program(&format!("odd {}", "x".repeat(100)), 14, 10),
            ],
            "writes": ["a.o"],
            "deletes": ["out"],
        }});
        let asked = json!({
            "dialect": "shellgate", "text": "make; rm out", "root": "/r", "directory": ".",
            "verdict": {"decision": "allow"},
        });
        PastExecution {
            id: "x".to_owned(),
            session: "s".to_owned(),
            at: 0,
            last_at: 0,
            status: Status::Completed,
            asked: serde_json::from_value(asked).unwrap(),
            refused: None,
            started: serde_json::from_value(started).unwrap(),
            ended: serde_json::from_value(ended).unwrap(),
            closed: None,
            reads: Vec::new(),
        }
    }

    #[test]
    fn observed_effects_stand_beside_what_was_foretold() {
        let code = "runs code that the command doesn't show";
        let row = |text: &str, by: &str| format!("    {text:<56}  foretold: {by}");
        let expected = [
            format!("  foretold: runs make, rm, tee; deletes `out`; {code}; writes `log`"),
            "  observed:".to_owned(),
            row("runs bash -c make; rm out", "the shell"),
            row("runs   make", "runs `make`"),
            row("runs     cc -c a.c", code),
            row("runs   rm out", "runs `rm`"),
            format!("  ! runs   odd {}…  not foretold", "x".repeat(44)),
            row("writes a.o", code),
            row("deletes out", "deletes `out`"),
            "  foretold, not observed: runs `tee`; writes `log`".to_owned(),
        ];
        assert_eq!(plain_text(&lines(&execution())).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn without_a_forecast_nothing_is_marked() {
        let mut old = execution();
        old.started.as_mut().unwrap().foretold = None;
        let text = plain_text(&lines(&old));
        assert!(text.contains("runs     cc -c a.c") && !text.contains("foretold"), "{text}");
    }
}
