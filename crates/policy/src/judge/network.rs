//! What a call that reaches another machine gives away: whether it only fetches, and from where.

use shellgate_syntax::Value;

use super::Judge;
use crate::calls::{Call, Stdin};
use crate::effect::{CallEffect, EffectName};
use crate::hosts;
use crate::programs::Canonical;
use crate::programs::words::{
    HTTP_CLIENTS, HTTP_METHODS, OTHER_HOST_OPTIONS, PROXY_OPTIONS, SENDS_ITS_INPUT,
};

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

    /// Whether a word of a call holds what another command reads: `curl "http://x/?$(cat y)"`, `xargs -I{} dig {}.x`.
    fn sends_output(&self, call: &Call) -> bool {
        self.outputs.are_in(call) || self.is_filled_with_data(call)
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
    // `:3000` of httpie.
    let is_port = host.is_empty() && authority.starts_with(':');
    // curl reads a backslash otherwise than others, and patterns as several addresses.
    !address.replace("[::1]", "").contains(['\\', '{', '['])
        && (is_port || hosts::normal(host).is_some_and(|host| hosts::is_own(&host)))
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
            ("http://127.1:3000", true),
            ("http://[0:0:0:0:0:0:0:1]/", false),
            ("http://128.1:3000", false),
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
}
