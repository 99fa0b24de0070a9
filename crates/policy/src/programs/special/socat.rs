//! Addresses of `socat`: `EXEC:cmd`, `SYSTEM:text`, `OPEN:file`, `TCP:host:port`.

use super::super::What;
use super::super::sink::{Sink, after};
use super::super::words;
use shellgate_syntax::Word;

/// One address. What isn't plainly a connection or a stream is opaque.
pub(crate) fn socat_address(word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    let end = lead.find([':', ',']).unwrap_or(lead.len());
    let kind = lead.get(..end).unwrap_or(lead).to_ascii_lowercase();
    let rest = after(word, (end + 1).min(lead.len()));
    let network = words::SOCAT_NETWORK_ADDRESSES.iter().any(|name| kind.starts_with(name));
    let stream = words::SOCAT_STREAM_ADDRESSES.contains(&kind.as_str());
    match rest {
        Some(command) if words::SOCAT_RUNNING_ADDRESSES.contains(&kind.as_str()) => {
            sink.effect(word, What::Shell(command))
        }
        _ if network || stream => {}
        _ => sink.effect(word, What::Opaque(word.clone(), "an address of socat")),
    }
}
