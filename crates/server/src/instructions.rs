//! The server's instructions for the model: what may run here, by the settings in force.

use shellgate::jobs::tools::TOOLS;
use shellgate::judge::Preset;
use shellgate::request::Words;
use shellgate::settings::{ApprovalMode, Asker, Decision, Policy, Prefix, Settings, Sourced};

use crate::Offer;
use crate::limits::DEFAULT_WAIT;

/// The tool that takes no job id.
const LIST_TOOL: &str = "shell_jobs";
/// Prefixes that are named. The rest is counted.
const MAX_NAMED_PREFIXES: usize = 12;

pub(crate) fn of(offer: &Offer) -> String {
    let settings = offer.gate.settings();
    let root = offer.gate.root().display();
    let tool = offer.dialect.tool;
    let mut sentences =
        vec![format!("`{tool}` runs commands in `{root}` and below, within the user's rules.")];
    sentences.extend(policy(&settings.policy, settings, offer.gate.preset()));
    if settings.project_policy.is_some() {
        sentences.push("The project's own settings are stricter.".to_owned());
    }
    if offer.dialect.words == Words::InScope {
        sentences.push("A command is one program with its arguments, without a shell.".to_owned());
    }
    let job_tools: Vec<String> =
        TOOLS.iter().filter(|tool| tool.name != LIST_TOOL).map(|tool| format!("`{}`", tool.name)).collect();
    sentences.push(format!(
        "A command that takes longer than {} s continues as a job. The answer has the job's id, for {}.",
        DEFAULT_WAIT.as_secs(),
        job_tools.join(", ")
    ));
    sentences.join(" ")
}

fn policy(policy: &Policy, settings: &Settings, preset: Option<Preset>) -> Vec<String> {
    let mut sentences = Vec::new();
    let ruled = |decision: Decision| {
        policy.rules.iter().filter(move |rule| rule.decision == decision).map(|rule| &rule.prefix)
    };
    let allowed: Vec<&Prefix> = listed(policy.core.as_deref().unwrap_or_default())
        .chain(listed(&policy.allow))
        .chain(ruled(Decision::Allow))
        .collect();
    let denied: Vec<&Prefix> =
        listed(&policy.exclude).chain(listed(&policy.deny)).chain(ruled(Decision::Deny)).collect();
    let asked = on_ask(settings);
    if !allowed.is_empty() {
        sentences.push(format!("Allowed: {}.", named(&allowed)));
    }
    let about: Vec<&Prefix> = listed(&policy.ask).chain(ruled(Decision::Ask)).collect();
    if !about.is_empty() {
        sentences.push(format!("{}: {asked}.", named(&about)));
    }
    if !denied.is_empty() {
        sentences.push(format!("Refused in every spelling: {}.", named(&denied)));
    }
    let preset = match preset {
        Some(Preset::Cautious) => Some("Reading is allowed."),
        Some(Preset::Balanced) => Some("Reading and work inside that folder are allowed."),
        Some(Preset::Open) => Some("Everything is allowed that destroys nothing."),
        None => None,
    };
    sentences.extend(preset.map(str::to_owned));
    let rest = match (&policy.core, policy.default) {
        (Some(_), _) if !policy.default_is_set => "refused",
        (_, Decision::Deny) => "refused",
        (_, Decision::Ask) => asked,
        (_, Decision::Allow) => "allowed",
    };
    let is_first = allowed.is_empty() && denied.is_empty() && about.is_empty() && preset.is_none();
    let everything = if is_first { "Everything" } else { "Everything else" };
    sentences.push(format!("{everything}: {rest}."));
    sentences
}

/// What happens to a command that needs approval.
fn on_ask(settings: &Settings) -> &'static str {
    let from = |asker: Asker| settings.approval.from.iter().any(|one| one.value == asker);
    match settings.approval.mode {
        Some(ApprovalMode::Allow) => "allowed",
        Some(ApprovalMode::Deny) => "refused",
        _ if from(Asker::Elicitation) || from(Asker::Queue) => "the user is asked first",
        _ => "refused, because no person can be asked",
    }
}

fn listed(prefixes: &[Sourced<Prefix>]) -> impl Iterator<Item = &Prefix> {
    prefixes.iter().map(|prefix| &prefix.value)
}

fn named(prefixes: &[&Prefix]) -> String {
    if prefixes.iter().any(|prefix| **prefix == Prefix::Everything) {
        return "everything".to_owned();
    }
    let mut names: Vec<String> =
        prefixes.iter().take(MAX_NAMED_PREFIXES).map(|prefix| format!("`{prefix}`")).collect();
    if let Some(more) = prefixes.len().checked_sub(MAX_NAMED_PREFIXES).filter(|more| *more > 0) {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}
