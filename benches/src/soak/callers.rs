//! The callers: each makes one call after another, of a random kind.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::calls::{self, mcp};
use super::dice::Dice;
use super::judging::Verdict;
use super::marks::Mark;
use super::watchdog::{Ended, Running};
use super::{Soak, stdio};

/// Callers that use a server over standard input and output, each its own. The first one's is never killed.
const STDIO_CALLERS: std::ops::Range<usize> = 12..15;
/// Callers that use the servers over HTTP.
const HTTP_CALLERS: std::ops::Range<usize> = 15..20;
/// Sessions of the callers that use the command line. Every other one confines its commands.
const SESSIONS: usize = 6;
/// Milliseconds between two calls of a caller.
const PAUSE_MS: std::ops::Range<u64> = 100..1000;

/// One caller.
pub(super) struct Caller<'a> {
    pub(super) soak: &'a Soak,
    pub(super) number: usize,
    pub(super) dice: Dice,
    /// The file to which the caller's commands append their marks.
    effects: PathBuf,
    session: String,
    sandbox: &'static str,
}

/// One kind of call. Returns its verdict, and its time if that is a plain call's latency.
pub(super) type Call = fn(&mut Caller<'_>) -> (Verdict, Option<Duration>);

/// Makes calls until the load is over.
pub(super) fn call_on(soak: &Soak, number: usize, dice: Dice) {
    let session = number % SESSIONS;
    let mut caller = Caller {
        soak,
        number,
        dice,
        effects: soak.place.effects().join(format!("{number:02}")),
        session: format!("s{session}"),
        sandbox: if session.is_multiple_of(2) { "off" } else { "workspace" },
    };
    let mut server = stdio::Client::new(number, number == STDIO_CALLERS.start);
    while !soak.is_over() {
        let pause = caller.dice.millis(PAUSE_MS.start, PAUSE_MS.end);
        std::thread::sleep(pause);
        let start = Instant::now();
        let (kind, (verdict, latency)) = if STDIO_CALLERS.contains(&number) {
            ("mcp over stdio", mcp::over_stdio(&mut caller, &mut server))
        } else if HTTP_CALLERS.contains(&number) {
            ("mcp over http", mcp::over_http(&mut caller))
        } else {
            let Some((kind, call)) = caller.dice.weighted(calls::KINDS) else { continue };
            (kind, call(&mut caller))
        };
        if let (Verdict::Right, Some(latency)) = (&verdict, latency) {
            soak.tally.add_latency(latency, soak.disturbances.any_since(start));
        }
        soak.tally.add(kind, verdict);
    }
    server.leave(soak);
}

impl<'a> Caller<'a> {
    pub(super) fn mark(&self) -> Mark {
        self.soak.marks.make(&self.effects)
    }

    /// An exit code for a command.
    pub(super) fn code(&mut self) -> i32 {
        self.dice.pick(&[0, 0, 3, 7]).copied().unwrap_or(0)
    }

    /// `shellgate WHAT` with the flags that every call of this caller has.
    pub(super) fn words<'w>(&'w self, what: &'w str, rest: &[&'w str]) -> Vec<String> {
        let flags = [what, "--session", &self.session, "--sandbox", self.sandbox];
        flags.iter().chain(rest).map(|word| (*word).to_owned()).collect()
    }

    /// Starts a process.
    pub(super) fn start(&self, words: &[String]) -> Result<Running<'a>, Verdict> {
        let started = self.soak.watchdog.start(self.soak.place.shellgate(words));
        started.map_err(|error| Verdict::Wrong(format!("the soak can't start a process: {error}")))
    }

    /// Starts a process and waits for its end.
    pub(super) fn shellgate(&self, words: &[String]) -> Result<Ended, Verdict> {
        finish(self.start(words)?)
    }

    /// `shellgate WORDS` without the caller's flags, to its end.
    pub(super) fn plainly(&self, words: &[&str]) -> Result<Ended, Verdict> {
        self.shellgate(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }
}

/// Waits for the end of a process.
pub(super) fn finish(running: Running<'_>) -> Result<Ended, Verdict> {
    running.finish().map_err(|error| Verdict::Wrong(format!("the soak can't read a process: {error}")))
}
