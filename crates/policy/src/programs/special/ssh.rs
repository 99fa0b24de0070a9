//! Settings of `ssh -o KEY=VALUE`. Some run programs, so only those that are known to be data are data.

use super::super::What;
use super::super::sink::{Sink, after};
use super::super::words;
use shellgate_syntax::Word;

/// `KEY=VALUE` or `KEY VALUE`.
pub(crate) fn ssh_option(word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    let end = lead.find(|c: char| c == '=' || c.is_whitespace());
    let key = lead.get(..end.unwrap_or(lead.len())).unwrap_or(lead).to_ascii_lowercase();
    if end.is_none() && word.value.known().is_none() {
        sink.effect(word, What::Opaque(word.clone(), "a setting of ssh that isn't known"));
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
            sink.effect(word, What::Shell(value))
        }
        Some(value) if words::SSH_FILE_SETTINGS.contains(&key.as_str()) => {
            sink.effect(word, What::Reads(value))
        }
        Some(value) if key == "userknownhostsfile" => sink.effect(word, What::Writes(value)),
        Some(value) if key == "remotecommand" => {
            sink.effect(word, What::Opaque(value, "a command that runs in another place"));
        }
        _ => sink.effect(word, What::Unusual("sets something in ssh that isn't known to be harmless")),
    }
}
