//! A verdict that isn't allow, as the caller's error: what, why, which rule, what would pass.

use shellgate_policy::{Decision, Reason, ReasonCode, Verdict};

use crate::{Code, ErrorObject, Hint};

/// The error of a request that the rules deny.
pub(crate) fn denied(verdict: &Verdict) -> ErrorObject {
    let reason = verdict.reasons().iter().find(|reason| reason.decision == Decision::Deny);
    let code = match reason.map(|reason| reason.code) {
        Some(ReasonCode::ParseError) => Code::ParseError,
        Some(ReasonCode::Substitution) => Code::Substitution,
        _ => Code::DeniedByPolicy,
    };
    let more = verdict.reasons().iter().filter(|other| other.decision == Decision::Deny).count();
    told(code, "the command is denied", reason, more)
}

/// The error of a request that needs approval and doesn't get it. `why`: the reason.
pub(crate) fn not_approved(code: Code, verdict: &Verdict, why: &str) -> ErrorObject {
    let reason = verdict.reasons().first();
    let error = told(code, "the command needs approval", reason, verdict.reasons().len());
    ErrorObject { message: format!("{}; {why}", error.message), ..error }
}

fn told(code: Code, what: &str, reason: Option<&Reason>, reasons: usize) -> ErrorObject {
    let Some(reason) = reason else { return ErrorObject::new(code, what) };
    let more = match reasons {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let error = ErrorObject::new(code, format!("{what}: {}{more}", reason.message));
    let hint = reason.hint.clone().map_or(Hint::PlainerCommand, Hint::from);
    ErrorObject { token: reason.token.clone(), rule: reason.rule.clone(), ..error }.hint(hint)
}
