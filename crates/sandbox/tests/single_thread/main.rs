//! Tests that fork, in a process with one thread.
//!
//! A harness of our own, because the usual one has threads. It understands what `cargo test` and `cargo nextest` say:
//! `--list` and names of tests.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "clippy knows tests by their harness, and this has another one"
)]

mod broker;
mod confining;
mod filter;
mod forking;
mod place;
mod ready;
mod signals;
mod spawning;
mod title;
mod users;
mod walls;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

type Test = (&'static str, fn());

fn main() -> ExitCode {
    let tests: Vec<Test> =
        [confining::TESTS, forking::TESTS, ready::TESTS, signals::TESTS, spawning::TESTS, title::TESTS]
            .iter()
            .chain(broker::TESTS)
            .chain(walls::TESTS)
            .copied()
            .flatten()
            .copied()
            .collect();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| words.iter().any(|word| word == flag);
    if has("--list") {
        // None is ignored, and nextest asks for those apart.
        for (name, _) in tests.iter().filter(|_| !has("--ignored")) {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let names: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| match has("--exact") {
        true => names.iter().any(|wanted| *wanted == name),
        false => names.is_empty() || names.iter().any(|wanted| name.contains(wanted.as_str())),
    };
    let mut failed = 0;
    for (name, test) in tests.iter().filter(|(name, _)| wanted(name)) {
        let passed = catch_unwind(AssertUnwindSafe(test)).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u32::from(!passed);
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs `body` in a process of its own, which may change its signals, limits and descriptors.
fn in_child(body: impl FnOnce()) {
    let code = shellgate_sandbox::fork::run_in_child(|| {
        body();
        0
    });
    assert_eq!(code.unwrap(), Some(0), "the child failed");
}

/// A set of signals, a bit each, that `/proc/self/status` has in the line `field`.
fn signal_set(field: &str) -> u64 {
    signal_set_in(&std::fs::read_to_string("/proc/self/status").unwrap(), field)
}

fn signal_set_in(status: &str, field: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let set = u64::from_str_radix(line.unwrap().trim(), 16).unwrap();
    // Numbers 32 to 34 belong to the C library, which lets programs change nothing about them.
    set & !(0b111 << 31)
}
