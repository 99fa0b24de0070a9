//! What shellgate costs, as ratios to a bare spawn measured in the same run, round by round, in shuffled order.
//!
//! `cargo run --release -p shellgate-benches` (after `cargo build --release`, which makes the binary it measures).
//! `-- soak --minutes 60` measures nothing of this; it is the [`soak`].

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints, and stops when it can't go on"
)]

mod floor;
mod mcp;
mod soak;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use shellgate::request::{Action, Request};
use shellgate::{Gate, GateBuilder, State};

const ROUNDS: usize = 600;

fn main() -> ExitCode {
    // This program is its own keeper too, so that the row measures the library as an embedder has it.
    shellgate::keeper_hook();
    if std::env::args().nth(1).is_some_and(|word| word == "soak") {
        return soak::run(&binary(), std::env::args().skip(2));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place { binary: binary(), folder: folder.path().to_owned() };
    let which = std::env::args().nth(1);
    let wanted = |name: &str| which.as_deref().is_none_or(|which| which == name);
    if wanted("latency") {
        latency(&place);
    }
    if wanted("gigabyte") {
        gigabyte(&place);
    }
    if wanted("parallel") {
        parallel(&place);
    }
    ExitCode::SUCCESS
}

/// The binary beside this one.
fn binary() -> PathBuf {
    let own = std::env::current_exe().expect("our own path");
    let binary = own.with_file_name("shellgate");
    assert!(binary.exists(), "build it first: cargo build --release");
    binary
}

struct Place {
    binary: PathBuf,
    folder: PathBuf,
}

impl Place {
    fn gate(&self) -> Gate {
        self.builder("state").build().expect("a gate")
    }

    fn builder(&self, state: &str) -> GateBuilder {
        let builder = Gate::builder().root(&self.folder).state_folder(self.folder.join(state));
        let flags = shellgate::settings::Flags { core: vec!["*".to_owned()], ..Default::default() };
        builder.keeper_program(&self.binary).flags(flags)
    }

    fn run(&self, text: &str) -> std::process::Command {
        let mut command = self.shellgate("run");
        command.arg(text).stdin(std::process::Stdio::null());
        command
    }

    fn server(&self) -> mcp::Server {
        mcp::Server::start(self.shellgate("mcp"))
    }

    fn shellgate(&self, what: &str) -> std::process::Command {
        let mut command = std::process::Command::new(&self.binary);
        command
            .args([what, "--core", "*"])
            .current_dir(&self.folder)
            .env("SHELLGATE_HOME", self.folder.join(format!("{what}-state")));
        command
    }
}

fn call(gate: &Gate, text: &str) -> shellgate::Report {
    let report = gate.run(Request { action: Action::Shell(text.to_owned()), ..Request::default() });
    assert_eq!(report.status, State::Completed, "{report:?}");
    report
}

/// One way to do the same thing.
type Way<'a> = (&'a str, Box<dyn FnMut() + 'a>);

fn latency(place: &Place) {
    let gate = place.gate();
    let unrecorded = place.builder("no-record").without_record().build().expect("a gate");
    let mut server = place.server();
    let ways: Vec<Way<'_>> = vec![
        ("bare spawn", Box::new(|| floor::spawn("true"))),
        ("bare spawn again (control)", Box::new(|| floor::spawn("true"))),
        ("library call", Box::new(|| drop(call(&gate, "true")))),
        ("library call, no journal", Box::new(|| drop(call(&unrecorded, "true")))),
        ("MCP call over stdio", Box::new(|| server.call("true"))),
        ("shellgate run", Box::new(|| floor::wait(place.run("true")))),
    ];
    println!("`bash -c true`, median of {ROUNDS} rounds");
    compare(ways, ROUNDS);
}

/// Measures each way once a round, in an order that changes, and prints medians and ratios to the first.
fn compare(mut ways: Vec<Way<'_>>, rounds: usize) {
    let count = ways.len();
    let mut times: Vec<Vec<Duration>> = vec![Vec::with_capacity(rounds); count];
    for round in 0..rounds {
        for step in 0..count {
            let index = (round * 7 + step * (1 + round % 3) + step) % count;
            let index = if count.is_multiple_of(2 + round % 3) { (round + step) % count } else { index };
            let (Some((_, way)), Some(times)) = (ways.get_mut(index), times.get_mut(index)) else { continue };
            let start = Instant::now();
            way();
            times.push(start.elapsed());
        }
    }
    let percentile = |times: &[Duration], percent: usize| {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
    };
    let base = times.first().map(|times| percentile(times, 50)).unwrap_or_default();
    for ((name, _), times) in ways.iter().zip(&times) {
        let (median, late) = (percentile(times, 50), percentile(times, 95));
        let ratio = median.as_secs_f64() / base.as_secs_f64();
        println!("  {name:<28} {:>8} us   p95 {:>8} us   {ratio:.2} x", median.as_micros(), late.as_micros());
    }
}

fn gigabyte(place: &Place) {
    const PRINT: &str = "head -c 1000000000 /dev/zero";
    println!("1 GB of output, best of 5");
    let gate = place.gate();
    let keeper: u32 = call(&gate, "echo $PPID").stdout.trim().parse().expect("a number");
    let file = place.folder.join("floor");
    let mut ways: Vec<Way<'_>> = vec![
        ("into cat, into a file", Box::new(|| floor::spawn(&format!("{PRINT} | cat > {}", file.display())))),
        ("library call", Box::new(|| drop(call(&gate, PRINT)))),
        (
            "shellgate run > file",
            Box::new(|| {
                let mut command = place.run(PRINT);
                command.stdout(std::fs::File::create(place.folder.join("out")).expect("a file"));
                floor::wait_with(command);
            }),
        ),
    ];
    let mut best = vec![Duration::MAX; ways.len()];
    for _ in 0..5 {
        for ((_, way), best) in ways.iter_mut().zip(&mut best) {
            let start = Instant::now();
            way();
            *best = start.elapsed().min(*best);
            clear(&place.folder);
        }
    }
    let base = best.first().copied().unwrap_or_default().as_secs_f64();
    for ((name, _), best) in ways.iter().zip(&best) {
        println!("  {name:<28} {:>8} ms   {:.2} of the first", best.as_millis(), base / best.as_secs_f64());
    }
    println!("  keeper's peak: {} kB", floor::peak_kb(keeper));
}

/// Takes output away, so that the next round has the same disk.
fn clear(folder: &Path) {
    for state in ["state", "cli-state"] {
        for entry in std::fs::read_dir(folder.join(state).join("spool")).into_iter().flatten().flatten() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn parallel(place: &Place) {
    const CALLS: usize = 500;
    println!("{CALLS} x `sleep 0.2` at once, best of 3");
    let gate = place.gate();
    let at_once = |one: &(dyn Fn() + Sync)| {
        let start = Instant::now();
        std::thread::scope(|scope| (0..CALLS).for_each(|_| drop(scope.spawn(one))));
        start.elapsed()
    };
    let (mut bare, mut ours, mut single) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        single = floor::at_once("sleep 0.2", CALLS).min(single);
        bare = at_once(&|| floor::spawn("sleep 0.2")).min(bare);
        ours = at_once(&|| drop(call(&gate, "sleep 0.2"))).min(ours);
    }
    println!("  bare spawns, one thread      {:>8} ms   1.00 x", single.as_millis());
    println!(
        "  bare spawns, 500 threads     {:>8} ms   {:.2} x",
        bare.as_millis(),
        bare.as_secs_f64() / single.as_secs_f64()
    );
    println!(
        "  library calls, 500 threads   {:>8} ms   {:.2} x",
        ours.as_millis(),
        ours.as_secs_f64() / single.as_secs_f64()
    );
}
