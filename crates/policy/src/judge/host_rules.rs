//! Rules about the network: which hosts the words of a call name, and whether a rule is about them.
//!
//! A rule that denies or asks counts if one host may be meant; a rule that allows, if all of them are. What can't be read may be any host.

use shellgate_syntax::Value;

use super::foretold::host_of;
use crate::calls::Call;
use crate::effect::{CallEffect, EffectName};
use crate::hosts::{self, Fit};
use crate::matching::LooseMatch;
use crate::programs::words::{
    HTTP_CLIENTS, HTTP_METHODS, NAME_LOOKERS, OTHER_HOST_OPTIONS, PROXY_OPTIONS, RECORD_TYPES,
};
use crate::programs::{Canonical, ProgramKind, fits_pattern};
use crate::rules::EffectRule;

/// The hosts that a call reaches, as far as its words say it.
struct ReachedHosts {
    all: Vec<String>,
    /// Whether these are all.
    complete: bool,
}

/// Whether a rule that denies or asks is about what a call does on the network.
pub(super) fn concerns(rule: &EffectRule, call: &Call, effect: &CallEffect) -> LooseMatch {
    if rule.targets.is_empty() && rule.except.is_empty() {
        return LooseMatch::Yes;
    }
    let own = effect.target.as_deref().filter(|_| effect.known);
    // What is published has the name of a remote, not of a host.
    if effect.effect != EffectName::Network {
        return concerns_text(rule, call, effect.effect, own);
    }
    let reached = reached(call, own);
    if rule.targets.is_empty() && reached.all.is_empty() {
        return LooseMatch::Yes;
    }
    let concerned = |host: &String| {
        let wanted = if rule.targets.is_empty() { Fit::Yes } else { hosts::any_fits(&rule.targets, host) };
        match (wanted, hosts::any_fits(&rule.except, host)) {
            (Fit::No, _) => Fit::No,
            (_, Fit::Yes) => Fit::No,
            (wanted, Fit::No) => wanted,
            (_, Fit::Unknown) => Fit::Unknown,
        }
    };
    let all: Vec<Fit> = reached.all.iter().map(concerned).collect();
    if all.contains(&Fit::Yes) {
        LooseMatch::Yes
    } else if all.contains(&Fit::Unknown) || !reached.complete {
        LooseMatch::Maybe
    } else {
        LooseMatch::No
    }
}

/// Whether a rule that allows is about all hosts that a call reaches.
pub(super) fn allows(rule: &EffectRule, call: &Call, target: &str) -> bool {
    if rule.effect != EffectName::Network {
        let is_one = |pattern: &String| fits_text(pattern, target);
        return (rule.targets.is_empty() || rule.targets.iter().any(is_one))
            && !rule.except.iter().any(is_one)
            && is_plain(call);
    }
    let fits = |host: &String| {
        (rule.targets.is_empty() || hosts::any_fits(&rule.targets, host) == Fit::Yes)
            && hosts::any_fits(&rule.except, host) == Fit::No
    };
    let reached = reached(call, Some(target));
    reached.complete && !reached.all.is_empty() && reached.all.iter().all(fits)
}

/// The same of what isn't a host: a remote, a package. Its name is compared as it is written.
fn concerns_text(rule: &EffectRule, call: &Call, effect: EffectName, target: Option<&str>) -> LooseMatch {
    let is_one = |patterns: &[String]| target.map(|own| patterns.iter().any(|one| fits_text(one, own)));
    match (rule.targets.is_empty(), is_one(&rule.targets), is_one(&rule.except)) {
        (_, _, Some(true)) if effect == rule.effect => LooseMatch::No,
        (true, _, _) | (_, Some(true), _) => LooseMatch::Yes,
        (_, Some(false), _) if effect == rule.effect && is_plain(call) => LooseMatch::No,
        _ => LooseMatch::Maybe,
    }
}

fn fits_text(pattern: &str, text: &str) -> bool {
    let plain = |text: &str| text.trim_end_matches('.').to_ascii_lowercase();
    fits_pattern(&plain(pattern), &plain(text))
}

/// Whether no operand of a call can be an address.
fn is_plain(call: &Call) -> bool {
    let words = call.meaning.canonical.iter().skip(1).filter_map(|part| match part {
        Canonical::Word(value) => Some(value),
        Canonical::Option(..) => None,
    });
    let mut words = words.skip(call.meaning.subcommands.len());
    let is_client = call.meaning.kind == Some(ProgramKind::Network);
    words.all(|value| !is_client && value.known().is_some_and(|text| !text.contains(['.', ':', '/', '@'])))
}

/// The hosts that a call reaches. `target`: the one that was foretold.
fn reached(call: &Call, target: Option<&str>) -> ReachedHosts {
    let name = call.name().unwrap_or_default();
    let takes_bare = HTTP_CLIENTS.contains(&name) || NAME_LOOKERS.contains(&name);
    let takes_fields = HTTP_CLIENTS.contains(&name) && name != "curl" && name != "wget";
    let mut found = match takes_bare {
        // Its words say it.
        true => ReachedHosts { all: Vec::new(), complete: true },
        false => ReachedHosts { all: target.into_iter().map(str::to_owned).collect(), complete: true },
    };
    let mut words = 0;
    for part in call.meaning.canonical.iter().skip(1) {
        match part {
            Canonical::Word(value) => {
                words += 1;
                let is_subcommand = words <= call.meaning.subcommands.len();
                let is_method = takes_fields && HTTP_METHODS.contains(&value.lead());
                let is_field = takes_fields && !found.all.is_empty() && !value.lead().contains("://");
                if !is_subcommand && !is_method && !is_field {
                    found.add(call, value, takes_bare);
                }
            }
            Canonical::Option(option, value) if leads_elsewhere(call, option) => {
                let known = value.as_ref().and_then(Value::known);
                match known.and_then(|text| host_of(text).or_else(|| hosts::bare(text))) {
                    Some(host) => found.all.push(host),
                    None => found.complete = false,
                }
            }
            Canonical::Option(..) => {}
        }
    }
    found.complete &= !found.all.is_empty() && !call.more_words && !has_unread_leading_option(call);
    found
}

impl ReachedHosts {
    /// Adds the host that a word names, if it names one.
    fn add(&mut self, call: &Call, value: &Value, takes_bare: bool) {
        let text = value.lead();
        let known = match value {
            Value::Known(text) => host_of(text),
            // The host is known if a path behind it has begun, and the word can't become several.
            Value::Unknown(unknown) => {
                let is_begun = text.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
                host_of(text).filter(|_| is_begun && !unknown.splits)
            }
        };
        let is_known = value.known().is_some();
        match known {
            Some(host) => self.all.push(host),
            None if takes_bare && is_known => {
                let is_type = RECORD_TYPES.iter().any(|one| one.eq_ignore_ascii_case(text));
                match hosts::bare(text).filter(|_| !is_type) {
                    Some(host) => self.all.push(host),
                    None => self.complete &= is_type || text.starts_with('+'),
                }
            }
            None => self.complete &= is_known && !may_be_host(call, text),
        }
    }
}

/// Whether a word without a scheme may be a host to the program: an operand of a client is an address, whatever it looks like; one of git may
/// be a branch.
fn may_be_host(call: &Call, text: &str) -> bool {
    let is_client = call.meaning.kind == Some(ProgramKind::Network);
    match (call.meaning.subcommands.is_empty(), is_client) {
        (true, true) => true,
        (true, false) => text.contains(['.', ':', '/', '@']),
        (false, _) if call.name() == Some("git") => text.contains([':', '@']),
        (false, _) => text.contains(['.', ':', '@']),
    }
}

/// Whether a word is such an option which the grammar of the program doesn't list: `aria2c --all-proxy=x`.
fn has_unread_leading_option(call: &Call) -> bool {
    let is_read = |option: &str| {
        let mut parts = call.meaning.canonical.iter();
        parts.any(|part| matches!(part, Canonical::Option(name, _) if name == option))
    };
    let is_written = |option: &str| {
        let mut words = call.words.iter().skip(1).map(|word| word.value.lead());
        words.any(|text| {
            text.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    let own = OTHER_HOST_OPTIONS.iter().filter_map(|row| row.split_once(' '));
    let mut own = own.filter(|(name, option)| call.meaning.entry == Some(name) && option.starts_with("--"));
    own.any(|(_, option)| is_written(option) && !is_read(option))
}

/// Whether an option leads a client to other hosts than its operands name.
fn leads_elsewhere(call: &Call, option: &str) -> bool {
    let of_call = |row: &&str| -> bool {
        row.split_once(' ').is_some_and(|(name, other)| call.meaning.entry == Some(name) && other == option)
    };
    OTHER_HOST_OPTIONS.iter().any(of_call)
        || call.meaning.entry == Some("curl") && PROXY_OPTIONS.contains(&option)
}
