//! Functions that run their arguments: `run() { "$@"; }`. What they run is followed where they are called.

use std::collections::HashSet;

use shellgate_syntax::{Construct, Findings, Input, Invocation};

use super::PendingCall;
use super::context::TextContext;
use crate::programs::{EffectKind, is_builtin, words};

/// The functions of a text that run their arguments: `run() { "$@"; }`. None if their parameters may change, or if they may
/// be called from elsewhere than this text.
pub(super) fn forwarders(findings: &Findings, source: &str) -> HashSet<String> {
    let functions: HashSet<&str> = findings.functions.iter().map(|function| function.name.as_str()).collect();
    let is_plain_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric()) && !is_builtin(name);
    let mut found: HashSet<&str> =
        findings.invocations.iter().filter_map(|one| forwarding_function(one, source)).collect();
    found.retain(|name| is_plain_name(name));
    if found.is_empty() {
        return HashSet::new();
    }
    for invocation in &findings.invocations {
        match invocation.words.as_slice() {
            [] => {}
            [name, words @ ..] => match (name.value.known(), words.first().map(|word| word.value.known())) {
                // A name that isn't known may be a function's.
                (None, _) if forwarding_function(invocation, source).is_none() => return HashSet::new(),
                // It may change the parameters or the functions.
                (Some(name), _)
                    if is_builtin(name) && !words::BUILTINS_THAT_KEEP_PARAMETERS.contains(&name) =>
                {
                    return HashSet::new();
                }
                // A builtin acts on this shell, and would be run where it isn't written.
                (Some(name), Some(command))
                    if command.is_none_or(|command| is_builtin(command) || functions.contains(command)) =>
                {
                    found.remove(name);
                }
                _ => {}
            },
        }
    }
    found.into_iter().map(str::to_owned).collect()
}

/// The function whose arguments an invocation runs, if it is `"$@"` in a function and nothing else.
pub(super) fn forwarding_function<'i>(invocation: &'i Invocation, source: &str) -> Option<&'i str> {
    let [word] = invocation.words.as_slice() else { return None };
    // Without quotes, an argument would be split into words.
    let is_all = word.value.known().is_none() && word.span.of(source) == "\"$@\"";
    // In its function and nothing else: what is around it there would also be around the command.
    let is_alone = invocation.assignments.is_empty()
        && invocation.redirects.is_empty()
        && invocation.constructs.iter().all(is_plain_construct)
        && !matches!(invocation.input, Input::Pipe(_) | Input::Redirect(_));
    let functions = invocation.constructs.iter().rev();
    let mut functions = functions.filter_map(|construct| match construct {
        Construct::Function(name) => Some(name.as_str()),
        _ => None,
    });
    functions.next().filter(|_| is_all && is_alone)
}

fn is_plain_construct(construct: &Construct) -> bool {
    matches!(construct, Construct::Function(_) | Construct::Group | Construct::Conditional)
}

/// What a call of a function that runs its arguments runs.
pub(super) fn forwarded_words(pending: &PendingCall, context: &TextContext) -> Option<EffectKind> {
    let (name, words) = pending.invocation.words.split_first()?;
    let is_forwarder = name.value.known().is_some_and(|name| context.forwarders.contains(name));
    (is_forwarder && !words.is_empty())
        .then(|| EffectKind::Argv { words: words.to_vec(), more_words: pending.more_words })
}
