//! What a model is told about the server as a whole: what may be run here, in few words, by the settings in force.

use shellgate::jobs::tools::TOOLS;
use shellgate::request::Words;
use shellgate::settings::{ApprovalMode, Asker, Decision, Policy, Prefix, Settings, Sourced};

use crate::Offer;
use crate::limits::WAIT;

/// The tool that takes no job.
const LIST: &str = "shell_jobs";
/// So many prefixes are named; the rest is counted.
const NAMED: usize = 12;

pub(crate) fn of(offer: &Offer) -> String {
    let settings = offer.gate.settings();
    let root = offer.gate.root().display();
    let tool = offer.dialect.tool;
    let mut sentences =
        vec![format!("`{tool}` runs commands in `{root}` and below, as far as the user's rules let it.")];
    sentences.extend(policy(&settings.policy, settings));
    if settings.project_policy.is_some() {
        sentences.push("The project's own settings forbid more.".to_owned());
    }
    if offer.dialect.words == Words::InScope {
        sentences.push("A command is one program with its arguments; no shell reads them.".to_owned());
    }
    let takers: Vec<String> =
        TOOLS.iter().filter(|tool| tool.name != LIST).map(|tool| format!("`{}`", tool.name)).collect();
    sentences.push(format!(
        "A command that takes longer than {} s goes on as a job: its answer has the id, which {} take.",
        WAIT.as_secs(),
        takers.join(", ")
    ));
    sentences.join(" ")
}

fn policy(policy: &Policy, settings: &Settings) -> Vec<String> {
    let mut sentences = Vec::new();
    let ruled = |decision: Decision| {
        policy.rules.iter().filter(move |rule| rule.decision == decision).map(|rule| &rule.prefix)
    };
    let allowed: Vec<&Prefix> =
        listed(policy.core.as_deref().unwrap_or_default()).chain(ruled(Decision::Allow)).collect();
    let denied: Vec<&Prefix> = listed(&policy.exclude).chain(ruled(Decision::Deny)).collect();
    let asked = asking(settings);
    if !allowed.is_empty() {
        sentences.push(format!("Allowed: {}.", named(&allowed)));
    }
    let about: Vec<&Prefix> = ruled(Decision::Ask).collect();
    if !about.is_empty() {
        sentences.push(format!("{}: {asked}.", named(&about)));
    }
    if !denied.is_empty() {
        sentences.push(format!("Refused, however it is written: {}.", named(&denied)));
    }
    let rest = match (&policy.core, policy.default) {
        (Some(_), _) | (None, Decision::Deny) => "refused",
        (None, Decision::Ask) => asked,
        (None, Decision::Allow) => "allowed",
    };
    let everything =
        if allowed.is_empty() && denied.is_empty() && about.is_empty() { "Everything" } else { "All else" };
    sentences.push(format!("{everything}: {rest}."));
    sentences
}

/// What becomes of what must be asked.
fn asking(settings: &Settings) -> &'static str {
    let from = |asker: Asker| settings.approval.from.iter().any(|one| one.value == asker);
    match settings.approval.mode {
        Some(ApprovalMode::Allow) => "allowed",
        Some(ApprovalMode::Deny) => "refused",
        _ if from(Asker::Elicitation) || from(Asker::Queue) => "the user is asked first",
        _ => "refused, as nobody can be asked",
    }
}

fn listed(prefixes: &[Sourced<Prefix>]) -> impl Iterator<Item = &Prefix> {
    prefixes.iter().map(|prefix| &prefix.value)
}

fn named(prefixes: &[&Prefix]) -> String {
    if prefixes.iter().any(|prefix| **prefix == Prefix::Everything) {
        return "everything".to_owned();
    }
    let mut names: Vec<String> = prefixes.iter().take(NAMED).map(|prefix| format!("`{prefix}`")).collect();
    if let Some(more) = prefixes.len().checked_sub(NAMED).filter(|more| *more > 0) {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}
