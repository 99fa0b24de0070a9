//! Disturbances of the prompt: pastes, keys that come too early, signals, stops, limited terminals.

use crate::support::pane::Pane;
use crate::support::{Place, for_each_user, is_alive, processes_with, wait_until};

#[test]
fn what_is_typed_ahead_answers_nothing() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        pane.start_after("touch ~/begun; while [ ! -e ~/go ]; do sleep 0.02; done", &["frob now"]);
        wait_until("the script waits", || place.home().join("begun").exists());
        pane.send("yyy");
        pane.press(&["Enter", "y"]);
        pane.shows("yyy\n");
        std::fs::write(place.home().join("go"), "").unwrap();
        pane.shows("your answer");
        pane.press_calmly("n");
        pane.ends(125);
        assert!(pane.ran().is_empty());
    });
}

#[test]
fn a_paste_answers_nothing() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        pane.asks(&["frob now"]);
        for text in ["y", "yes\ny", "s\ny\n"] {
            pane.paste(text);
            pane.shows("a paste is not an answer");
            pane.press(&["x"]);
            pane.shows("your answer");
        }
        // The same from a terminal without bracketed paste.
        pane.send("yyyy");
        pane.shows("too fast for an answer");
        assert!(pane.ran().is_empty());
        pane.press_calmly("y");
        pane.ends(0);
        assert_eq!(pane.ran(), ["frob now"]);
    });
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        for (signal, code) in [("INT", 125), ("TERM", 143), ("HUP", 129), ("USR1", 138), ("SEGV", 139)] {
            pane.asks(&["frob now"]);
            let asking = asking_in(place);
            send(place, asking, signal);
            let screen = pane.ends(code);
            assert!(!screen.contains("may this run"), "{signal}: {screen}");
            wait_until("it is gone", || !is_alive(asking));
            pane.type_line("stty -a | grep -o ' icanon' && echo echoed");
            pane.shows_that("typed and echoed", |screen| screen.matches("echoed").count() == 2);
        }
        assert!(pane.ran().is_empty());
    });
}

/// The `shellgate` that asks in this place.
fn asking_in(place: &Place) -> u64 {
    processes_with("run").into_iter().find(|pid| is_in(*pid, place)).unwrap()
}

fn send(place: &Place, pid: u64, signal: &str) {
    let status = place.program("kill").args(["-s", signal, &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

/// The kernel's letter for the state of a process.
fn state_of(pid: u64) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.chars().next().unwrap()
}

/// Whether a process is the `shellgate` that asks in this place.
fn is_in(pid: u64, place: &Place) -> bool {
    let here = std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder == place.root());
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    here && name.trim() == "shellgate"
}

#[test]
fn a_stop_gives_the_terminal_back_for_a_while() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        // By Ctrl-Z, by SIGTSTP, and by SIGSTOP, which can't be caught.
        for (number, signal) in [None, Some("TSTP"), Some("STOP")].into_iter().enumerate() {
            let command = format!("frob {number}");
            pane.asks(&[&command]);
            match signal {
                None => pane.press(&["C-z"]),
                Some(signal) => send(place, asking_in(place), signal),
            }
            if signal == Some("STOP") {
                wait_until("it is stopped", || state_of(asking_in(place)) == 'T');
            } else {
                let screen = pane.shows("Stopped");
                assert!(!screen.contains("may this run"), "{screen}");
            }
            // The terminal is back in the shell's mode, with echo and line editing.
            pane.type_line("clear; stty -a | tr ' ;' '\\n\\n' | grep -xE 'icanon|echo|isig|opost'; echo still $((40 + 2))");
            let screen = pane.shows("still 42");
            for mode in ["icanon", "echo", "isig", "opost"] {
                assert!(screen.lines().any(|line| line == mode), "{mode}: {screen}");
            }
            assert_eq!(pane.ran().len(), number, "nothing runs meanwhile");
            // The shell prints a line when it has its terminal back; input before that is lost.
            pane.type_line(&format!("fg; echo over {number}"));
            pane.shows("may this run?");
            pane.press_calmly("y");
            let over = format!("over {number}");
            let screen = pane.shows_that(&over, |screen| screen.lines().any(|line| line == over));
            assert!(screen.contains(&format!("ran: {command}")), "{screen}");
        }
        assert_eq!(pane.ran(), ["frob 0", "frob 1", "frob 2"]);
    });
}

#[test]
fn in_the_background_it_waits_for_the_foreground() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        pane.type_line("set -b");
        pane.start_after("kill -STOP $$", &["frob now"]);
        pane.shows("Stopped");
        pane.type_line("bg");
        pane.shows_that("a second stop", |screen| screen.matches("Stopped").count() == 2);
        pane.type_line("fg");
        pane.shows("may this run?");
        pane.press_calmly("y");
        pane.shows("ran: frob now");
        assert_eq!(pane.ran(), ["frob now"]);
    });
}

#[test]
fn a_dumb_terminal_needs_the_word_yes() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        for (number, typed, code) in [(1, "y", 125), (2, "", 125), (3, "no", 125), (4, "yes", 0)] {
            let command = format!("frob {number}");
            pane.start_after("export TERM=dumb", &[&command]);
            // The previous question is still on the screen, with another command.
            pane.shows_that("the question", |screen| {
                screen.contains("denies it:") && screen.contains(&command)
            });
            pane.type_line(typed);
            pane.ends(code);
        }
        assert_eq!(pane.ran(), ["frob 4"]);
    });
}

#[test]
fn standard_streams_are_not_the_terminal() {
    for_each_user(|place| {
        let pane = Pane::new(place, 80, 24);
        pane.start_after("exec </dev/null >~/out 2>~/err", &["frob now"]);
        pane.shows("may this run?");
        pane.press_calmly("y");
        pane.ends(0);
        assert_eq!(std::fs::read_to_string(place.home().join("out")).unwrap(), "ran: frob now\n");
    });
}

#[test]
fn without_a_terminal_approval_is_unavailable() {
    let place = Place::new(None);
    let asked = place.strictly(["run", "frob now"]);
    // A new session has no controlling terminal.
    let mut alone = place.program("setsid");
    alone.arg("--wait").arg(asked.get_program()).args(asked.get_args());
    alone.env("XDG_CONFIG_HOME", place.home().join("nothing"));
    let output = alone.output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("approval_unavailable"), "{said}");
}
