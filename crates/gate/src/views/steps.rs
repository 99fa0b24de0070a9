//! Which step of the order decided about each part, for `check --explain`.

use crate::admit::judge::{Decision, Part, ReasonCode, Verdict};

/// The order in one sentence.
const ORDER: &str = "Ruin asks unless a rule names the very command; then deny goes before ask, and ask before allow; \
                     then comes the preset, then the default.";

/// The step that decided about a part.
fn step(verdict: &Verdict, part: &Part) -> &'static str {
    if part.decision == Decision::Allow {
        let rule = part.rule.as_deref().unwrap_or_default();
        return match rule {
            "" if part.reason.contains("default is allow") => "default",
            "" => "no rule is needed",
            rule if rule.starts_with("preset: ") => "preset",
            _ => "allow",
        };
    }
    let reasons = verdict.reasons().iter();
    let mut own = reasons.filter(|reason| reason.message == part.reason && reason.decision == part.decision);
    match own.next().map(|reason| reason.code) {
        Some(ReasonCode::Excluded) => "deny",
        Some(ReasonCode::AskRule) => "ask",
        Some(ReasonCode::NotInCore | ReasonCode::Uncovered) => "default",
        _ => "what it does",
    }
}

/// The order, and a line for each part: its number and the step that decided.
pub(super) fn text(verdict: &Verdict) -> String {
    let digits = verdict.parts().len().to_string().len();
    let lines = (1..).zip(verdict.parts()).map(|(number, part): (usize, &Part)| {
        format!("{number:digits$} {:<5}  by: {}\n", part.decision.name(), step(verdict, part))
    });
    let order = shellgate_text::layout::wrap(ORDER, 78).join("\n");
    format!("{order}\n{}", lines.collect::<String>())
}
