//! Addresses of `socat`: `EXEC:cmd`, `SYSTEM:text`, `OPEN:file`, `TCP:host:port`.

use super::super::EffectKind;
use super::super::collector::{Collector, after};
use super::super::words;
use shellgate_syntax::Word;

/// Reads one address. One that is neither a connection nor a stream is opaque.
pub(crate) fn socat_address(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    let end = lead.find([':', ',']).unwrap_or(lead.len());
    let kind = lead.get(..end).unwrap_or(lead).to_ascii_lowercase();
    let rest = after(word, (end + 1).min(lead.len()));
    let network = words::SOCAT_NETWORK_ADDRESSES.iter().any(|name| kind.starts_with(name));
    let stream = words::SOCAT_STREAM_ADDRESSES.contains(&kind.as_str());
    // Quotes, escapes and brackets are socat's own, and `!!` joins two addresses.
    let is_plain = !lead.contains("!!") && !lead.contains(['"', '\'', '\\', '(', ')', '[', ']', '{', '}']);
    match rest {
        _ if !is_plain => collector.effect(word, EffectKind::Opaque(word.clone(), "an address of socat")),
        Some(command) if words::SOCAT_RUNNING_ADDRESSES.contains(&kind.as_str()) => {
            collector.effect(word, EffectKind::Shell(command))
        }
        _ if network || stream => {}
        _ => collector.effect(word, EffectKind::Opaque(word.clone(), "an address of socat")),
    }
}
