//! The clock jumps by a day, forward or back. `libfaketime` shows shellgate another time of day; the clock that measures
//! durations goes on as it does on a machine whose time is set.

use std::process::{Command, Stdio};

use serde_json::json;

use super::{assert_it_works_again, said};
use crate::support::{Place, wait_until};

const JUMPS: [&str; 2] = ["+1d", "-1d"];

/// The library that `faketime` loads into programs.
fn library() -> String {
    let output = Command::new("faketime").args(["-f", "+0", "env"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("LD_PRELOAD=")).unwrap().to_owned()
}

/// A place whose processes take the difference to the true time from a file.
struct Clock<'a> {
    place: &'a Place,
    library: String,
}

impl<'a> Clock<'a> {
    fn of(place: &'a Place) -> Self {
        let clock = Self { place, library: library() };
        clock.set("+0");
        clock
    }

    fn set(&self, difference: &str) {
        let file = self.place.home().join("clock");
        let draft = self.place.home().join("clock.draft");
        std::fs::write(&draft, format!("{difference}\n")).unwrap();
        std::fs::rename(draft, file).unwrap();
    }

    /// `shellgate WORDS` by this clock.
    fn shellgate(&self, words: &[&str]) -> Command {
        let mut command = self.place.shellgate(words);
        command.env("LD_PRELOAD", &self.library).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.env("DONT_FAKE_MONOTONIC", "1").env("FAKETIME_NO_CACHE", "1");
        command.env("FAKETIME_TIMESTAMP_FILE", self.place.home().join("clock"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// The days between the first and the last entry of the history. A positive control: the clock did jump.
fn days_in_history(place: &Place) -> usize {
    let list: serde_json::Value =
        serde_json::from_slice(&place.output(["history", "--json"]).stdout).unwrap();
    let days = list.as_array().unwrap().iter().map(|entry| entry["at"].as_str().unwrap()[..10].to_owned());
    days.collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn calls_before_and_after_a_jump_are_recorded() {
    let place = Place::new(None);
    let clock = Clock::of(&place);
    for (count, jump) in JUMPS.into_iter().enumerate() {
        for (number, difference) in ["+0", jump, "+0"].into_iter().enumerate() {
            clock.set(difference);
            let output =
                clock.shellgate(&["run", &format!("echo {count}{number}; exit 7")]).output().unwrap();
            assert_eq!(said(&output), (Some(7), format!("{count}{number}\n")), "{difference}");
        }
    }
    // Midnight may pass meanwhile.
    assert!(days_in_history(&place) >= 3);
    let history = said(&place.output(["history", "--json"])).1;
    assert_eq!(history.matches(r#""exit_code":7"#).count(), 6, "{history}");
    assert_it_works_again(&place);
}

/// Timeouts are durations: a jump neither ends a job nor keeps it from ending.
#[test]
fn a_job_goes_on_through_a_jump() {
    for jump in JUMPS {
        let place = Place::new(None);
        let clock = Clock::of(&place);
        let command = "until [ -e go ]; do sleep 0.01; done; echo out; exit 7";
        let call = json!({"command": command, "background": true, "timeout_ms": 600_000}).to_string();
        let answer = clock.shellgate(&["call", &call]).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
        assert_eq!(answer["status"], "running", "{answer}");
        let id = answer["id"].as_str().unwrap();
        clock.set(jump);
        let (code, text) = said(&clock.shellgate(&["jobs"]).output().unwrap());
        assert!(code == Some(0) && text.contains("running"), "{jump}: {text}");
        let waiting = clock.shellgate(&["wait", id]).spawn().unwrap();
        place.write("go", "");
        let (code, text) = said(&waiting.wait_with_output().unwrap());
        assert_eq!(code, Some(7), "{jump}: {text}");
        let story = said(&place.output(["history", "show", id, "--json"])).1;
        let story: serde_json::Value = serde_json::from_str(&story).unwrap();
        assert!(story["duration_ms"].as_u64() < Some(3_600_000), "{jump}: {story}");
        assert_it_works_again(&place);
    }
}

/// A question without a time limit waits, whatever the clock says.
#[test]
fn a_question_is_answered_after_a_jump() {
    for jump in JUMPS {
        let place = Place::new(None);
        let clock = Clock::of(&place);
        let words = ["run", "--approve", "ask", "--ask", "queue", "touch made; exit 7"];
        let asker = clock.shellgate(&words).spawn().unwrap();
        let pending = || {
            let list = clock.shellgate(&["approvals", "list", "--json"]).output().unwrap().stdout;
            let list: serde_json::Value = serde_json::from_slice(&list).unwrap_or_default();
            list[0]["id"].as_u64()
        };
        wait_until("it asks", || pending().is_some());
        clock.set(jump);
        let number = pending().unwrap().to_string();
        let (code, text) = said(&clock.shellgate(&["approvals", "approve", &number]).output().unwrap());
        assert_eq!(code, Some(0), "{jump}: {text}");
        let (code, text) = said(&asker.wait_with_output().unwrap());
        assert!(code == Some(7) && place.root().join("made").exists(), "{jump}: {text}");
        assert_it_works_again(&place);
    }
}

/// A yes for the session holds for twelve hours. `check`, `approvals grants` and `run` agree on it at any time, and the session's
/// end ends it, too.
#[test]
fn a_yes_for_the_session_ends_after_twelve_hours() {
    let place = Place::new(None);
    let clock = Clock::of(&place);
    let asks = ["--approve", "ask"];
    let approve = |session: &str| {
        let words = ["run", "--ask", "queue", "--session", session];
        let asker = clock.shellgate(&[&words[..], &asks, &["touch made"]].concat()).spawn().unwrap();
        let pending = || {
            let list = clock.shellgate(&["approvals", "list", "--json"]).output().unwrap().stdout;
            let list: serde_json::Value = serde_json::from_slice(&list).unwrap_or_default();
            list[0]["id"].as_u64()
        };
        wait_until("it asks", || pending().is_some());
        let number = pending().unwrap().to_string();
        let answer = clock.shellgate(&["approvals", "approve", &number, "--session"]).output().unwrap();
        assert_eq!(answer.status.code(), Some(0), "{answer:?}");
        assert_eq!(said(&asker.wait_with_output().unwrap()).0, Some(0));
    };
    // Whether the approval holds, by all three that say so.
    let holds = |session: &str| {
        let code = |words: &[&str]| clock.shellgate(words).output().unwrap().status.code();
        let checked = code(&[&["check", "--session", session][..], &asks, &["touch made"]].concat());
        let list =
            clock.shellgate(&["approvals", "grants", "--session", session, "--json"]).output().unwrap();
        let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
        let listed = list.as_array().unwrap().len();
        std::fs::remove_file(place.root().join("made")).ok();
        // No person answers, so without the approval the command is refused.
        let words = ["run", "--ask", "terminal", "--session", session];
        let ran = code(&[&words[..], &asks, &["touch made"]].concat());
        let made = place.root().join("made").exists();
        let all = (checked == Some(0), listed == 1, ran == Some(0), made);
        assert!(all == (true, true, true, true) || all == (false, false, false, false), "{session}: {all:?}");
        made
    };
    approve("long");
    approve("stopped");
    assert!(holds("long") && holds("stopped") && !holds("other"));
    let (code, text) = said(&clock.shellgate(&["stop", "--session", "stopped"]).output().unwrap());
    assert_eq!(code, Some(0), "{text}");
    assert!(holds("long") && !holds("stopped"), "the session that was stopped has none");
    for (later, expected) in [("+11h", true), ("+43190s", true), ("+43260s", false), ("+2d", false)] {
        clock.set(later);
        assert_eq!(holds("long"), expected, "{later}");
    }
    clock.set("+0");
    assert_it_works_again(&place);
}
