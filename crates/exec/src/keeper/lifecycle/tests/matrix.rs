//! Every phase against every event: the action, and the phase after it.
//!
//! `matrix.txt` has a line for each: the event, the action, the phase that follows and when its deadline is.
//! `SHELLGATE_UPDATE=matrix` writes it anew; read what changed.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::world::{CALLER, EXCEEDED, ms, text};
use crate::Mode;
use crate::keeper::lifecycle::machine::Phase;
use crate::keeper::lifecycle::{Event, Lifecycle, Note, Remains, Timeouts};
use crate::outcome::Exit;
use crate::wire::Urgency;

/// When the event of a line happens.
const NOW: Duration = ms(10_000);

const EMPTY: Remains =
    Remains { is_empty: true, has_unclaimed: false, streams_closed: true, has_unborn: false };
const ALIVE: Remains =
    Remains { is_empty: false, has_unclaimed: false, streams_closed: false, has_unborn: false };

const EVENTS: [(&str, Event); 18] = [
    ("not started", Event::NotStarted),
    ("exited 0", Event::Exited(Exit::Code(0))),
    ("exited 1", Event::Exited(Exit::Code(1))),
    ("child reaped", Event::ChildReaped),
    ("stream closed", Event::StreamClosed),
    ("tick", Event::Tick),
    ("looked: empty", Event::Looked(EMPTY)),
    ("looked: empty, streams open", Event::Looked(Remains { streams_closed: false, ..EMPTY })),
    ("looked: empty, unclaimed", Event::Looked(Remains { has_unclaimed: true, ..EMPTY })),
    ("looked: alive", Event::Looked(ALIVE)),
    ("looked: alive, unborn", Event::Looked(Remains { has_unborn: true, ..ALIVE })),
    ("measured", Event::Measured { exceeded: None, took: ms(1) }),
    ("measured, exceeded", Event::Measured { exceeded: Some(EXCEEDED), took: ms(1) }),
    ("stop", Event::StopAsked(Urgency::Politely)),
    ("stop now", Event::StopAsked(Urgency::Now)),
    ("release", Event::ReleaseAsked),
    ("caller gone", Event::CallerGone),
    ("caller gone twice", Event::CallerGone),
];

/// A lifecycle in a phase, made by the events that lead there.
struct Made {
    lifecycle: Lifecycle,
    base: Instant,
}

impl Made {
    fn new(mode: Mode) -> Self {
        let timeouts = Timeouts { wall: Some(ms(60_000)), idle: None };
        let base = Instant::now();
        Self { lifecycle: Lifecycle::new(mode, timeouts, CALLER, base), base }
    }

    fn started(mode: Mode) -> Self {
        let mut made = Self::new(mode);
        made.lifecycle.note(Note::Starting { limited: false }, made.base);
        made.lifecycle.note(Note::Started, made.base);
        made
    }

    fn then(mut self, before: u64, event: Event) -> Self {
        let at = self.base + NOW - ms(before);
        // Only the phase that follows is of interest here.
        let _ = self.lifecycle.step(event, at);
        self
    }
}

fn phases() -> Vec<(&'static str, Made)> {
    let foreground = || Made::started(Mode::FOREGROUND);
    let background = || Made::started(Mode::Background { answer_after: ms(20_000) });
    let exited = Event::Exited(Exit::Code(0));
    let stop = |made: Made, before| made.then(before, Event::StopAsked(Urgency::Politely));
    let stop_now = |made: Made, before| made.then(before, Event::StopAsked(Urgency::Now));
    let alive = Event::Looked(ALIVE);
    vec![
        ("queued", Made::new(Mode::FOREGROUND)),
        ("queued job", Made::new(Mode::FOREGROUND).then(5, Event::ReleaseAsked)),
        ("running", foreground()),
        ("running background start", background()),
        ("running job", foreground().then(5, Event::ReleaseAsked)),
        ("running, caller due", Made::started(Mode::Foreground { answer_after: Some(ms(9_999)) })),
        ("settling", foreground().then(10, exited)),
        ("settling, grace over", foreground().then(30, exited)),
        ("settling, unborn grace over", foreground().then(300, exited)),
        ("settling background start", background().then(30, exited)),
        ("stopping", stop(foreground(), 100).then(100, alive)),
        ("stopping, kill due", stop(foreground(), 2_000).then(2_000, alive)),
        ("killing", stop_now(foreground(), 100).then(100, alive)),
        ("killing for 500 ms", stop_now(foreground(), 500).then(500, alive)),
        ("killing for 3 s", stop_now(foreground(), 3_000).then(3_000, alive)),
        ("given up", stop_now(foreground(), 3_100).then(50, alive)),
        ("job without program", foreground().then(5, Event::ReleaseAsked).then(5, exited)),
        ("leftovers", foreground().then(100, exited).then(50, alive)),
        ("stopping leftovers", stop(foreground().then(100, exited).then(50, alive), 40).then(40, alive)),
        ("gone", foreground().then(100, exited).then(100, Event::Looked(EMPTY))),
    ]
}

fn phase(lifecycle: &Lifecycle) -> &'static str {
    match lifecycle.phase {
        Phase::Queued => "queued",
        Phase::Running => "running",
        Phase::Settling { .. } => "settling",
        Phase::Stopping { .. } => "stopping",
        Phase::Left => "left",
        Phase::Gone => "gone",
    }
}

/// What is queued has no processes, and what was started isn't started again.
fn can_happen(phase: &str, event: &Event) -> bool {
    match event {
        Event::NotStarted => phase == "queued",
        Event::Tick | Event::StopAsked(_) | Event::ReleaseAsked | Event::CallerGone => true,
        Event::Exited(_)
        | Event::ChildReaped
        | Event::StreamClosed
        | Event::Looked(_)
        | Event::Measured { .. } => phase != "queued",
    }
}

#[test]
fn every_phase_handles_every_event_as_the_table_says() {
    let mut table = String::new();
    for at in 0..phases().len() {
        writeln!(table, "# {}", phases()[at].0).unwrap();
        for (event_name, event) in EVENTS {
            let (_, Made { mut lifecycle, base }) = phases().swap_remove(at);
            if !can_happen(phase(&lifecycle), &event) {
                continue;
            }
            let now = base + NOW;
            if event_name.ends_with("twice") {
                let _ = lifecycle.step(event, now);
            }
            let action = lifecycle.step(event, now);
            let deadline = lifecycle.deadline().map(|at| at.saturating_duration_since(now).as_millis());
            let next = deadline.map_or_else(String::new, |wait| format!(", {wait} ms"));
            writeln!(table, "{event_name}: {} -> {}{next}", text(&action), phase(&lifecycle)).unwrap();
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/keeper/lifecycle/tests/matrix.txt");
    if std::env::var("SHELLGATE_UPDATE").is_ok_and(|what| what == "matrix") {
        std::fs::write(path, &table).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    for (line, wanted) in table.lines().zip(expected.lines()) {
        assert_eq!(line, wanted);
    }
    assert_eq!(table.lines().count(), expected.lines().count());
}
