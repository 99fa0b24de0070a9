//! Counts of calls by kind and result, and the latencies since the last sample.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use super::judging::Verdict;
use super::lock;

#[derive(Default)]
pub(super) struct Tally(Mutex<State>);

#[derive(Default)]
struct State {
    kinds: BTreeMap<&'static str, Counts>,
    honest: BTreeMap<String, u64>,
    chaos: BTreeMap<String, u64>,
    wrong: Vec<String>,
    window: Window,
}

/// Calls by result.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) right: u64,
    pub(super) honest: u64,
    pub(super) wrong: u64,
}

/// What happened since the last sample.
#[derive(Default)]
pub(super) struct Window {
    pub(super) counts: Counts,
    /// Latencies of right plain calls during which nothing was disturbed.
    pub(super) calm: Vec<Duration>,
    /// Latencies of the other right plain calls.
    pub(super) disturbed: Vec<Duration>,
}

impl Tally {
    /// Counts one call.
    pub(super) fn add(&self, kind: &'static str, verdict: Verdict) {
        let state = &mut *lock(&self.0);
        let counts = [state.kinds.entry(kind).or_default(), &mut state.window.counts];
        match verdict {
            Verdict::Right => counts.into_iter().for_each(|counts| counts.right += 1),
            Verdict::Honest(error) => {
                counts.into_iter().for_each(|counts| counts.honest += 1);
                *state.honest.entry(error).or_default() += 1;
            }
            Verdict::Wrong(why) => {
                counts.into_iter().for_each(|counts| counts.wrong += 1);
                state.add_wrong(kind, &why);
            }
        }
    }

    /// The latency of a right plain call.
    pub(super) fn add_latency(&self, took: Duration, is_disturbed: bool) {
        let window = &mut lock(&self.0).window;
        if is_disturbed { &mut window.disturbed } else { &mut window.calm }.push(took);
    }

    /// Counts a disturbance.
    pub(super) fn add_chaos(&self, what: String) {
        *lock(&self.0).chaos.entry(what).or_default() += 1;
    }

    /// Notes something wrong that isn't a call's answer.
    pub(super) fn wrong(&self, kind: &'static str, why: String) {
        lock(&self.0).add_wrong(kind, &why);
    }

    pub(super) fn wrongs(&self) -> Vec<String> {
        lock(&self.0).wrong.clone()
    }

    /// Takes what happened since the last time.
    pub(super) fn take_window(&self) -> Window {
        std::mem::take(&mut lock(&self.0).window)
    }
}

impl State {
    fn add_wrong(&mut self, kind: &str, why: &str) {
        let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        println!("{}.{:03} wrong: {kind}: {why}", at.as_secs(), at.subsec_millis());
        self.wrong.push(format!("{kind}: {why}"));
    }
}

impl Counts {
    pub(super) const fn sum(self) -> u64 {
        self.right + self.honest + self.wrong
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.0);
        writeln!(
            f,
            "{:<24} {:>8} {:>8} {:>14} {:>6}",
            "kind of call", "calls", "right", "honest error", "wrong"
        )?;
        let mut all = Counts::default();
        for (kind, counts) in &state.kinds {
            row(f, kind, *counts)?;
            all.right += counts.right;
            all.honest += counts.honest;
            all.wrong += counts.wrong;
        }
        row(f, "all", all)?;
        for (title, map) in [("honest errors", &state.honest), ("disturbances", &state.chaos)] {
            writeln!(f, "\n{title}: {}", map.values().sum::<u64>())?;
            for (what, count) in map {
                writeln!(f, "{count:>8}  {what}")?;
            }
        }
        Ok(())
    }
}

fn row(f: &mut fmt::Formatter<'_>, kind: &str, counts: Counts) -> fmt::Result {
    writeln!(
        f,
        "{kind:<24} {:>8} {:>8} {:>14} {:>6}",
        counts.sum(),
        counts.right,
        counts.honest,
        counts.wrong
    )
}
