//! Settings of `ssh -o KEY=VALUE`. Some of them run programs, so a setting counts as data only if a list has it.

use super::super::EffectKind;
use super::super::collector::{Collector, after};
use super::super::words;
use shellgate_syntax::Word;

/// Reads a setting: `KEY=VALUE` or `KEY VALUE`.
pub(crate) fn ssh_option(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    let end = lead.find(|c: char| c == '=' || c.is_whitespace());
    let key = lead.get(..end.unwrap_or(lead.len())).unwrap_or(lead).to_ascii_lowercase();
    if end.is_none() && word.value.known().is_none() {
        collector.effect(word, EffectKind::Opaque(word.clone(), "a setting of ssh that isn't known"));
        return;
    }
    if words::SSH_DATA_SETTINGS.contains(&key.as_str()) {
        return;
    }
    let value = end.and_then(|end| {
        let rest = lead.get(end..)?;
        let blanks = rest.len() - rest.trim_start_matches(|c: char| c == '=' || c.is_whitespace()).len();
        after(word, end + blanks)
    });
    match value {
        Some(value) if words::SSH_COMMAND_SETTINGS.contains(&key.as_str()) => {
            collector.effect(word, EffectKind::Shell(value))
        }
        Some(value) if words::SSH_FILE_SETTINGS.contains(&key.as_str()) => {
            collector.effect(word, EffectKind::Reads(value))
        }
        Some(value) if key == "userknownhostsfile" => collector.effect(word, EffectKind::Writes(value)),
        Some(value) if key == "remotecommand" => {
            collector.effect(word, EffectKind::Opaque(value, "a command that runs in another place"));
        }
        _ => collector
            .effect(word, EffectKind::Unusual("sets something in ssh that isn't known to be harmless")),
    }
}

/// Reads the hosts of `-J`. ssh puts them into a command line for a shell.
pub(crate) fn ssh_jump(word: &Word, collector: &mut Collector) {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-@:,[]%/".contains(c);
    if !word.value.known().is_some_and(|hosts| !hosts.starts_with('-') && hosts.chars().all(plain)) {
        collector.effect(
            word,
            EffectKind::Opaque(word.clone(), "a command line with hosts that aren't plain names"),
        );
    }
}
