//! Addresses of `socat`: `EXEC:cmd`, `SYSTEM:text`, `OPEN:file`, `TCP:host:port`, each with options: `PTY,link=PATH`.

use super::super::EffectKind;
use super::super::collector::{Collector, with_text};
use super::super::words;
use shellgate_syntax::Word;

/// Reads one address. One that is neither a connection nor a stream is opaque.
pub(crate) fn socat_address(word: &Word, collector: &mut Collector) {
    // Quotes, escapes and brackets are socat's own, and `!!` joins two addresses.
    let is_plain =
        |text: &str| !text.contains("!!") && !text.contains(['"', '\'', '\\', '(', ')', '[', ']', '{', '}']);
    let Some(text) = word.value.known().filter(|text| is_plain(text)) else {
        return collector.effect(word, EffectKind::Opaque(word.clone(), "an address of socat"));
    };
    let mut parts = text.split(',');
    let head = parts.next().unwrap_or_default();
    let (kind, parameter) = head.split_once(':').map_or((head, None), |(kind, rest)| (kind, Some(rest)));
    let kind = kind.to_ascii_lowercase();
    let is_network = words::SOCAT_NETWORK_ADDRESSES.iter().any(|name| kind.starts_with(name));
    let is_stream = words::SOCAT_STREAM_ADDRESSES.contains(&kind.as_str());
    match parameter {
        Some(command) if words::SOCAT_RUNNING_ADDRESSES.contains(&kind.as_str()) => {
            collector.effect(word, EffectKind::Shell(with_text(word, command)));
        }
        Some(file) if words::SOCAT_NAMED_PIPES.contains(&kind.as_str()) => {
            collector.effect(word, EffectKind::Writes(with_text(word, file)));
        }
        _ if is_network || is_stream => {}
        _ => collector.effect(word, EffectKind::Opaque(word.clone(), "an address of socat")),
    }
    parts.for_each(|option| address_option(option, word, collector));
}

/// Reads `NAME=VALUE` or `NAME` behind an address.
fn address_option(option: &str, word: &Word, collector: &mut Collector) {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let name = name.trim().to_ascii_lowercase();
    if words::SOCAT_WRITING_OPTIONS.contains(&name.as_str()) {
        collector.effect(word, EffectKind::Writes(with_text(word, value)));
    } else if words::SOCAT_READING_OPTIONS.contains(&name.as_str()) {
        collector.effect(word, EffectKind::Uses(with_text(word, value)));
    } else if !words::SOCAT_HARMLESS_OPTIONS.contains(&name.as_str()) {
        collector
            .effect(word, EffectKind::Unusual("has an option of an address that isn't known to be harmless"));
    }
}
