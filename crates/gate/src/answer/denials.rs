//! What the sandbox refused, in words for people and models, with the settings that would allow it.
//!
//! All calls of a command run in one sandbox, and a grant counts only if every call has it. So the settings have a rule for
//! each call of the command that reaches files or sockets by itself.

use std::sync::Arc;

use serde::Serialize;
use shellgate_exec::{Denials, RefusalRule};
use shellgate_journal::{PastExecution, RecordedDenial};
use shellgate_policy::{ReasonCode, Span, Verdict, is_builtin, suggest_prefix};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use crate::admit::judge::{Decision, recorded_parts};
use crate::record;

/// How many targets a line for people names.
const MAX_NAMED_TARGETS: usize = 3;

/// A call whose words together are longer gets no rule.
const MAX_PREFIX_BYTES: usize = 400;

/// One refusal of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are documented in docs/results.md, where their readers look")]
pub struct Denial {
    pub operation: String,
    pub target: String,
    pub rule: String,
    pub grant: Option<String>,
}

/// What is known about a confined command: the mode of its sandbox, and its calls.
#[derive(Clone, Debug)]
pub(crate) struct SandboxContext {
    mode: String,
    calls: Calls,
}

#[derive(Clone, Debug)]
enum Calls {
    Judged(Arc<Verdict>),
    /// From the journal, which has no calls: they are found in the text again.
    Recorded(Box<shellgate_journal::RecordedRequest>),
}

/// A call that needs a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    prefix: Vec<String>,
    decision: Decision,
}

impl SandboxContext {
    /// For a request that was judged in this process.
    pub(crate) fn judged(mode: &str, verdict: Verdict) -> Self {
        Self { mode: mode.to_owned(), calls: Calls::Judged(Arc::new(verdict)) }
    }

    /// For an execution in the journal. `None`: it is not known to have been confined.
    pub(crate) fn recorded(execution: &PastExecution) -> Option<Self> {
        let mode = record::sandbox_mode(execution.started.as_ref()?)?;
        let calls = Calls::Recorded(Box::new(execution.asked.clone()?));
        Some(Self { mode: mode.to_owned(), calls })
    }

    /// The refusals as an answer has them.
    pub(crate) fn explain(&self, denials: &Denials) -> Vec<Denial> {
        if denials.list.is_empty() {
            return Vec::new();
        }
        let calls = self.calls();
        let explain = |denial: &shellgate_exec::Denial| {
            let (operation, rule) = match denial.rule {
                RefusalRule::ReadOnly => ("write", format!("sandbox.{}", self.mode)),
                RefusalRule::Protected => ("write", "sandbox.protected".to_owned()),
                RefusalRule::ForeignSocket => ("connect", "sandbox.sockets".to_owned()),
            };
            Denial {
                operation: operation.to_owned(),
                target: denial.path.clone(),
                rule,
                grant: denial.grant.as_deref().and_then(|path| grant(denial.rule, path, &calls)),
            }
        };
        denials.list.iter().map(explain).collect()
    }

    /// The calls that need a rule. Empty: at least one of them can't be named by a rule.
    fn calls(&self) -> Vec<Call> {
        match &self.calls {
            Calls::Judged(verdict) => {
                let parts = verdict.parts().iter().map(|part| (&part.argv[..], &*part.text, part.span));
                let reasons = verdict.reasons().iter().filter(|reason| reason.decision != Decision::Allow);
                let asking = reasons.map(|reason| (reason.code.name(), reason.span)).collect::<Vec<_>>();
                calls(parts, &asking)
            }
            Calls::Recorded(request) => {
                let parts = recorded_parts(request);
                let parts = parts.iter().map(|part| (&part.argv[..], &*part.text, part.span));
                let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                let asking = request.verdict.reasons.iter().map(|reason| {
                    let (start, end) = reason.span.unwrap_or_default();
                    (reason.code.as_str(), Span { start: place(start), end: place(end) })
                });
                calls(parts, &asking.collect::<Vec<_>>())
            }
        }
    }
}

/// The calls among `parts` that need a rule. `asking`: the reasons for which a person was asked.
fn calls<'a>(
    parts: impl Iterator<Item = (&'a [Option<String>], &'a str, Span)>,
    asking: &[(&str, Span)],
) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for (argv, text, span) in parts {
        // A builtin reaches files by redirections alone.
        if is_builtin(argv) && !text.contains(['<', '>']) {
            continue;
        }
        let Some(prefix) = suggest_prefix(argv).or_else(|| whole(argv)) else { return Vec::new() };
        // Why the program is asked about. Files that it writes are asked about whatever its rule says.
        let effects = [ReasonCode::Write, ReasonCode::Outside].map(ReasonCode::name);
        let asks = asking.iter().any(|(code, place)| {
            span.start <= place.start && place.end <= span.end && !effects.contains(code)
        });
        let call = Call { prefix, decision: if asks { Decision::Ask } else { Decision::Allow } };
        match calls.iter_mut().find(|known| known.prefix == call.prefix) {
            Some(known) => known.decision = known.decision.max(call.decision),
            None => calls.push(call),
        }
    }
    calls
}

/// All words of a call, if they are known.
fn whole(argv: &[Option<String>]) -> Option<Vec<String>> {
    let words: Vec<String> = argv.iter().cloned().collect::<Option<_>>()?;
    let length: usize = words.iter().map(String::len).sum();
    (!words.is_empty() && !words.iter().any(String::is_empty) && length <= MAX_PREFIX_BYTES).then_some(words)
}

/// Settings that allow what was refused. `None`: no settings do.
fn grant(rule: RefusalRule, path: &str, calls: &[Call]) -> Option<String> {
    // No settings name abstract sockets.
    if path.starts_with('@') {
        return None;
    }
    let kind = if rule == RefusalRule::ForeignSocket { "sockets" } else { "write" };
    let paths = || Array::from_iter([path]);
    let mut document = DocumentMut::new();
    if calls.is_empty() {
        if rule != RefusalRule::ReadOnly {
            return None;
        }
        let mut sandbox = Table::new();
        sandbox.insert("writable", value(paths()));
        document.insert("sandbox", Item::Table(sandbox));
        return Some(document.to_string());
    }
    let rules = calls.iter().map(|call| {
        let mut rule = Table::new();
        rule.insert("prefix", value(call.prefix.iter().collect::<Array>()));
        rule.insert("decision", value(call.decision.name()));
        rule.insert("grants", value(InlineTable::from_iter([(kind, paths())])));
        rule
    });
    let mut policy = Table::new();
    policy.set_implicit(true);
    policy.insert("rule", Item::ArrayOfTables(rules.collect::<ArrayOfTables>()));
    document.insert("policy", Item::Table(policy));
    Some(document.to_string())
}

/// What was refused, on one line. `None`: nothing.
pub(crate) fn targets(denials: &[Denial], omitted: u64) -> Option<String> {
    let named: Vec<String> = denials
        .iter()
        .take(MAX_NAMED_TARGETS)
        .map(|denial| format!("{} {}", denial.operation, shellgate_text::escape::line(&denial.target)))
        .collect();
    if named.is_empty() {
        return None;
    }
    let more = (denials.len() - named.len()) as u64 + omitted;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{}{more}", named.join(", ")))
}

/// The settings that allow the refusals which [`targets`] names.
pub(crate) fn grants(denials: &[Denial]) -> Vec<&str> {
    let mut grants: Vec<&str> = Vec::new();
    for grant in denials.iter().take(MAX_NAMED_TARGETS).filter_map(|denial| denial.grant.as_deref()) {
        if !grants.contains(&grant) {
            grants.push(grant);
        }
    }
    grants
}

impl From<&RecordedDenial> for Denial {
    fn from(recorded: &RecordedDenial) -> Self {
        let RecordedDenial { operation, target, rule, grant } = recorded.clone();
        Self { operation, target, rule, grant }
    }
}

impl From<&Denial> for RecordedDenial {
    fn from(denial: &Denial) -> Self {
        let Denial { operation, target, rule, grant } = denial.clone();
        Self { operation, target, rule, grant }
    }
}
