//! Addresses of `socat`: `EXEC:cmd`, `SYSTEM:text`, `OPEN:file`, `TCP:host:port`.

use super::super::What;
use super::super::sink::{Sink, after};
use shellgate_syntax::Word;

const RUNS: &[&str] = &["exec", "system", "shell", "e", "s"];

/// One address. What isn't plainly a connection or a stream is opaque.
pub(crate) fn socat_address(word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    let end = lead.find([':', ',']).unwrap_or(lead.len());
    let kind = lead.get(..end).unwrap_or(lead).to_ascii_lowercase();
    let rest = after(word, (end + 1).min(lead.len()));
    let network =
        ["tcp", "udp", "sctp", "openssl", "ssl", "socks", "proxy"].iter().any(|name| kind.starts_with(name));
    let stream = ["-", "stdio", "stdin", "stdout", "stderr", "fd", "pipe", "pty"].contains(&kind.as_str());
    match rest {
        Some(command) if RUNS.contains(&kind.as_str()) => sink.effect(word, What::Shell(command)),
        _ if network || stream => {}
        _ => sink.effect(word, What::Opaque(word.clone(), "an address of socat")),
    }
}
