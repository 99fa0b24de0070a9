//! People at real terminals: `run` and `attach` in tmux.

use std::time::Duration;

use rustix::process::Signal;

use super::job::Job;
use crate::support::pane::Pane;
use crate::support::{Place, for_each_user, shellgate, wait_until};

const ALLOWED: [&str; 2] = ["--approve", "allow"];

fn run<'a>(args: &[&'a str]) -> Vec<&'a str> {
    ALLOWED.iter().copied().chain(args.iter().copied()).collect()
}

/// Waits until the pane's terminal has the modes that shells use.
fn is_restored(pane: &Pane<'_>) {
    pane.type_line(
        "clear; stty -a | tr ' ;' '\\n' | grep -x -e icanon -e echo -e isig -e opost | sort | tr '\\n' ' '",
    );
    pane.shows("echo icanon isig opost");
}

#[test]
fn run_gives_its_terminal_to_the_command() {
    for_each_user(|place| {
        let pane = Pane::new(place, 70, 20);
        pane.start(&run(&["tty; stty size; echo err >&2; read -p 'name: ' n; echo \"hi $n\""]));
        let screen = pane.shows("name:");
        assert!(
            screen.contains("/dev/pts/") && screen.contains("20 70") && screen.contains("err"),
            "{screen}"
        );
        pane.resize(60, 18);
        pane.type_line("bob");
        pane.shows("hi bob");
        pane.ends(0);
        is_restored(&pane);
        pane.start(&run(&["exit 5"]));
        pane.ends(5);
        pane.start(&run(&[
            "trap 'stty size' WINCH; trap 'exit 130' INT; echo ready; while :; do sleep 0.1; done",
        ]));
        pane.shows_that("ready", |screen| screen.lines().any(|line| line == "ready"));
        pane.resize(66, 19);
        pane.shows("19 66");
        pane.press(&["C-c"]);
        pane.shows(": 130\n");
        is_restored(&pane);
    });
}

#[test]
fn a_pipe_is_still_a_pipe() {
    for_each_user(|place| {
        let pane = Pane::new(place, 70, 20);
        let program = shellgate();
        pane.type_line(&format!(
            "clear; {} run --approve allow 'test -t 1 || echo plain' | cat",
            program.display()
        ));
        pane.shows_that("plain", |screen| screen.lines().any(|line| line == "plain"));
        pane.type_line(&format!(
            "clear; echo in | {} run --approve allow 'cat; test -t 0 || echo plain'",
            program.display()
        ));
        pane.shows_that("plain", |screen| screen.lines().any(|line| line == "plain"));
    });
}

#[test]
fn ctrl_z_suspends_and_fg_goes_on() {
    for_each_user(|place| {
        let pane = Pane::new(place, 70, 20);
        let program = shellgate();
        let loops = "until [ -e go ]; do echo tick; sleep 0.1; done; echo over";
        pane.type_line(&format!("clear; {} run --approve allow '{loops}'", program.display()));
        pane.shows_that("a tick", |screen| screen.lines().any(|line| line == "tick"));
        pane.press(&["C-z"]);
        pane.shows("Stopped");
        is_restored(&pane);
        let ticks = || {
            std::fs::read_dir(place.state().join("spool"))
                .unwrap()
                .flatten()
                .map(|file| file.metadata().unwrap().len())
                .sum::<u64>()
        };
        wait_until("it prints no more", || {
            let before = ticks();
            std::thread::sleep(Duration::from_millis(700));
            ticks() == before
        });
        place.write("go", "");
        pane.type_line("fg");
        pane.shows_that("its end", |screen| screen.lines().any(|line| line == "over"));
        is_restored(&pane);
    });
}

#[test]
fn full_screens_come_and_go() {
    for_each_user(|place| {
        let pane = Pane::new(place, 70, 20);
        pane.start(&run(&["vim --clean text"]));
        pane.shows("[New]");
        pane.press(&["i"]);
        pane.shows("-- INSERT --");
        pane.send("hello");
        pane.press(&["Escape"]);
        pane.type_line(":wq");
        pane.ends(0);
        assert_eq!(std::fs::read_to_string(place.root().join("text")).unwrap(), "hello\n");
        is_restored(&pane);
        // The screen is restored even if the command is killed while it draws.
        pane.start(&run(&["printf '\\033[?1049h\\033[2J\\033[?25ldrawn'; kill -9 $$"]));
        let screen = pane.ends(137);
        assert!(!screen.contains("drawn"), "{screen}");
        is_restored(&pane);
    });
}

#[test]
fn a_signal_to_us_ends_the_command_and_restores_the_terminal() {
    for_each_user(|place| {
        let pane = Pane::new(place, 70, 20);
        let mark = crate::support::mark();
        let (script, program) = (format!("sleep {mark}"), shellgate());
        pane.type_line(&format!("clear; {} run --approve allow '{script}' & wait", program.display()));
        wait_until("it runs", || sleeps(&mark));
        pane.press(&["C-c"]);
        pane.type_line("kill %1; wait; echo ended");
        pane.shows_that("ended", |screen| screen.lines().any(|line| line == "ended"));
        wait_until("it is gone", || !sleeps(&mark));
        for signal in [Signal::TERM, Signal::QUIT, Signal::USR1, Signal::ALARM] {
            pane.start(&run(&[&format!("sleep {mark}")]));
            wait_until("it runs", || sleeps(&mark));
            signal_front_end(place, signal);
            pane.ends(130);
            is_restored(&pane);
            assert!(!sleeps(&mark));
        }
    });
}

/// Whether `sleep MARK` itself runs, not only a process that has it in its command line.
fn sleeps(mark: &str) -> bool {
    let is_it = |pid: &u64| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line == format!("sleep\0{mark}\0").into_bytes()
    };
    crate::support::processes_with(mark).iter().any(is_it)
}

/// Sends a signal to the one `shellgate` of this place that isn't a keeper.
fn signal_front_end(place: &Place, signal: Signal) {
    let own: Vec<u64> = front_ends(place);
    let [pid] = own.as_slice() else { panic!("{own:?}") };
    let pid = rustix::process::Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// The `shellgate` processes of this place that are not keepers.
fn front_ends(place: &Place) -> Vec<u64> {
    let home = place.home();
    let of_place = |pid: &u64| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        String::from_utf8_lossy(&environ).contains(home.to_str().unwrap()) && name.trim() == "shellgate"
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(of_place).collect()
}

#[test]
fn attach_sits_at_a_jobs_terminal_and_leaves_it() {
    for_each_user(|place| {
        let job = Job::start(place, "bash --norc");
        job.types(&["echo before"]);
        job.prints("before\r\n");
        let pane = Pane::new(place, 70, 20);
        let attach = format!("clear; {} attach {}", shellgate().display(), job.id);
        pane.type_line(&attach);
        pane.shows_that("what was there", |screen| screen.lines().any(|line| line == "before"));
        pane.shows("Ctrl-] detaches");
        pane.type_line("stty size; echo typed");
        pane.shows_that("its output", |screen| screen.contains("20 70\ntyped\n"));
        pane.resize(66, 19);
        pane.type_line("stty size");
        pane.shows("19 66");
        pane.type_line("vim --clean text");
        pane.shows("[New]");
        pane.press(&["C-]"]);
        pane.shows("detached");
        is_restored(&pane);
        assert_eq!(job.listed()["status"], "running");
        pane.type_line(&attach);
        pane.shows_that("its screen", |screen| screen.contains("\n~\n~\n"));
        pane.type_line(":q");
        pane.shows_that("the shell", |screen| !screen.contains('~') && screen.contains("bash-"));
        pane.type_line("exit 3");
        pane.shows("the job has ended");
        is_restored(&pane);
        assert_eq!(job.ends(), Some(3));
    });
}

#[test]
fn a_signal_to_attach_restores_the_terminal_and_the_job_keeps_running() {
    for_each_user(|place| {
        let job = Job::start(place, "printf '\\033[?1049h\\033[?25ldrawn'; read x");
        job.prints("drawn");
        let pane = Pane::new(place, 70, 20);
        for signal in [Signal::TERM, Signal::QUIT, Signal::HUP, Signal::USR1, Signal::USR2, Signal::SEGV] {
            pane.type_line(&format!("clear; {} attach {}", shellgate().display(), job.id));
            pane.shows_that("its screen", |screen| screen.trim() == "drawn");
            signal_front_end(place, signal);
            pane.shows("detached");
            is_restored(&pane);
            assert_eq!(job.listed()["status"], "running", "{signal:?}");
        }
    });
}

#[test]
fn attach_watches_what_has_no_terminal() {
    for_each_user(|place| {
        let command =
            "while ! test -e go; do sleep 0.05; done; echo printed; while test -e go; do sleep 0.05; done";
        let report = place.call(&serde_json::json!({"command": command, "background": true}));
        let id = report["id"].as_str().unwrap();
        let pane = Pane::new(place, 70, 20);
        pane.type_line(&format!("clear; {} attach {id}", shellgate().display()));
        pane.shows("following the output");
        place.write("go", "");
        pane.shows_that("its output", |screen| screen.lines().any(|line| line == "printed"));
        pane.press(&["C-c"]);
        pane.type_line("echo back");
        pane.shows_that("the shell", |screen| screen.lines().any(|line| line == "back"));
        std::fs::remove_file(place.root().join("go")).unwrap();
        assert_eq!(place.output(["wait", id]).status.code(), Some(0), "it went on to its end");
    });
}
