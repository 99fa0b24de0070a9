//! Any text is read or refused, without a panic, an overflow or a hang: `scripts/fuzz SECONDS`, or `cargo +nightly fuzz run read`.
//!
//! A good start: `mkdir -p corpus/read` and put scripts in it.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // Read or refused, both are right; only that it returns counts.
    let _ = shellgate_syntax::read_arithmetic(text);
    if let Ok(findings) = shellgate_syntax::read(text) {
        for invocation in &findings.invocations {
            assert!(text.get(invocation.span.start..invocation.span.end).is_some());
        }
        if let Ok(script) = shellgate_syntax::read_script(text) {
            let _ = script.render(text);
        }
    }
});
