//! How executions end: by themselves, by a timeout, by a cancel, and always with their whole process tree.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Child;

use serde_json::{Value, json};
use shellgate::{Event, Follow, Request, State, Urgency, request::Action};

use crate::support::{Place, for_each_user, is_alive, kill, mark, processes_with, wait_until};

fn shell(text: &str) -> Request {
    Request { action: Action::Shell(text.to_owned()), ..Request::default() }
}

#[test]
fn exit_codes_and_signals_are_told() {
    for_each_user(|place| {
        let answer = place.call(&json!({"command": "exit 7"}));
        assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("failed"), &json!(7)));
        assert_eq!(answer["error"], Value::Null);
        let answer = place.call(&json!({"command": "true"}));
        assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("completed"), &json!(0)));
        let answer = place.call(&json!({"command": "kill -TERM $$"}));
        assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("failed"), &Value::Null));
        assert_eq!(answer["signal"], json!({"number": 15, "name": "SIGTERM"}));
        let answer = place.call(&json!({"command": "no-such-program"}));
        assert_eq!((&answer["exit_code"], &answer["error"]), (&json!(127), &Value::Null));
        assert!(answer["stderr"].as_str().unwrap().contains("command not found"), "bash's own words");
    });
}

/// Commands whose processes try to escape. Each starts three processes with the mark in their command line.
fn fugitives(mark: &str) -> Vec<String> {
    vec![
        format!("sleep {mark} & sleep {mark} & sleep {mark}"),
        format!("setsid sleep {mark} & setsid sleep {mark} & setsid -w sleep {mark}"),
        format!(
            "(setsid sleep {mark} &) ; (setsid -f sleep {mark}); env -i setsid -f sleep {mark}; sleep 1000"
        ),
        format!("trap '' TERM; sleep {mark} & sleep {mark} & sleep {mark}; sleep {mark}; sleep {mark}"),
        format!(
            "nohup sleep {mark} >/dev/null 2>&1 & sleep {mark} & disown -a; (trap '' TERM HUP INT; exec sleep {mark})"
        ),
        format!("bash -c 'bash -c \"sleep {mark} & sleep {mark} & wait\" & wait' & exec sleep {mark}"),
        // Suspended processes don't handle SIGTERM until they get SIGCONT.
        format!(
            "for i in 1 2; do sleep {mark} & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; done; sleep {mark}"
        ),
    ]
}

fn wait_for_tree(mark: &str, text: &str) {
    wait_until(&format!("the tree stands: {text}"), || {
        processes_with(&format!("sleep {mark}")).iter().filter(|pid| is_sleep(**pid)).count() >= 3
    });
}

fn is_sleep(pid: u64) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "sleep")
}

fn assert_gone(mark: &str, text: &str) {
    assert_eq!(processes_with(&format!("sleep {mark}")), Vec::<u64>::new(), "left by: {text}");
}

/// This holds for processes in sessions of their own too, even if their parent has died of SIGTERM already. That happens in
/// about one of twelve rounds.
#[test]
fn every_process_gets_sigterm_before_sigkill() {
    for_each_user(|place| {
        let polite =
            "trap 'touch told.$ROUND.$1; exit' TERM; touch ready.$ROUND.$1; while :; do sleep 0.01; done";
        place.write("polite.sh", polite);
        for round in 0..12 {
            let text = format!(
                "export ROUND={round}; for i in 1 2 3 4; do setsid bash polite.sh $i & done; sleep 1000"
            );
            let mut child = place.start(["call", &json!({"command": text}).to_string()]);
            let all = |what: &str| (1..=4).all(|i| place.root().join(format!("{what}.{round}.{i}")).exists());
            wait_until("all four run", || all("ready"));
            assert_eq!(place.output(["stop", "--all"]).status.code(), Some(0));
            assert!(all("told"), "round {round}");
            let _ = child.wait();
        }
    });
}

/// A process that handles SIGTERM must not be killed by the hang-up of its terminal.
#[test]
fn in_a_terminal_too_there_is_time_to_clean_up() {
    for_each_user(|place| {
        let polite = "trap 'sleep 0.3; touch told; exit' TERM; touch ready; while :; do sleep 0.01; done";
        place.write("polite.sh", polite);
        let command = json!({"command": "exec bash polite.sh", "background": true, "pty": true});
        assert_eq!(place.call(&command)["status"], "running");
        wait_until("it runs", || place.root().join("ready").exists());
        assert_eq!(place.output(["stop", "--all"]).status.code(), Some(0));
        assert!(place.root().join("told").exists());
        // An interactive shell ignores SIGTERM, and is ended all the same.
        let command = json!({"command": "bash --norc", "background": true, "pty": true});
        assert_eq!(place.call(&command)["status"], "running");
        assert_eq!(place.output(["stop", "--all"]).status.code(), Some(0));
        place.assert_nothing_is_left();
    });
}

#[test]
fn a_timeout_ends_the_whole_tree() {
    for_each_user(|place| {
        let mark = mark();
        for text in fugitives(&mark) {
            let answer = place.call(&json!({"command": format!("echo before; {text}"), "timeout_ms": 700}));
            assert_eq!(answer["status"], json!("timed_out"), "{text}: {answer}");
            assert_eq!(answer["error"]["code"], json!("timed_out"));
            assert_eq!((&answer["timed_out"], &answer["exit_code"]), (&json!(true), &Value::Null));
            assert_eq!(answer["stdout"], json!("before\n"), "all output until then is there");
            assert_eq!(answer["background"], json!([]));
            assert_gone(&mark, &text);
        }
    });
}

#[test]
fn a_cancel_by_handle_ends_the_whole_tree_and_keeps_the_output() {
    let place = Place::new(None);
    let gate = place.gate();
    for urgency in [Urgency::Politely, Urgency::Now] {
        let mark = mark();
        for text in fugitives(&mark) {
            let mut execution = gate.submit(shell(&format!("echo before; {text}")), Follow::Quietly).unwrap();
            wait_for_tree(&mark, &text);
            let stopper = execution.stopper().unwrap();
            std::thread::spawn(move || stopper.stop(urgency));
            let report = execution.wait().unwrap();
            assert_eq!((report.status, report.canceled), (State::Canceled, true), "{text}");
            assert_eq!(report.stdout, "before\n");
            assert_gone(&mark, &text);
        }
    }
    drop(gate);
    place.assert_nothing_is_left();
}

#[test]
fn a_cancel_by_session_ends_all_of_it_and_nothing_else() {
    let place = Place::new(None);
    let (ours, other) = (place.gate(), Place::new(None));
    let bystander = other.gate();
    let (mark, foreign) = (mark(), mark());
    let mut executions: Vec<_> =
        fugitives(&mark).iter().map(|text| ours.submit(shell(text), Follow::Quietly).unwrap()).collect();
    let mut untouched = bystander.submit(shell(&format!("sleep {foreign}")), Follow::Quietly).unwrap();
    wait_until("the other one runs", || !processes_with(&format!("sleep {foreign}")).is_empty());
    wait_for_tree(&mark, "any");
    assert_eq!(ours.stop_session(Urgency::Politely).unwrap() as usize, executions.len());
    assert_gone(&mark, "any");
    for execution in &mut executions {
        assert_eq!(execution.wait().unwrap().status, State::Canceled);
    }
    assert!(
        !processes_with(&format!("sleep {foreign}")).is_empty(),
        "another session is none of our business"
    );
    untouched.stop(Urgency::Now).unwrap();
    assert_eq!(untouched.wait().unwrap().status, State::Canceled);
    drop((ours, bystander));
    place.assert_nothing_is_left();
    other.assert_nothing_is_left();
}

/// `A/b` is a chat of `A`: by the session's name, and by the `session` field of a call.
#[test]
fn a_cancel_by_session_ends_its_chats_too() {
    let place = Place::new(None);
    let named = |name: &str| {
        let builder = shellgate::Gate::builder().root(place.root()).state_folder(place.state());
        builder
            .keeper_program(crate::support::shellgate())
            .flags(crate::support::unasked())
            .session(name)
            .build()
            .unwrap()
    };
    let (session, chat, other) = (named("A"), named("A/b"), named("AB/b"));
    let mark = mark();
    let sleep = || shell(&format!("sleep {mark}"));
    let below = shellgate::Request { chat: Some("b/c".to_owned()), ..sleep() };
    let start = |gate: &shellgate::Gate, request| gate.submit(request, Follow::Quietly).unwrap();
    let mut ours = [start(&session, sleep()), start(&chat, sleep()), start(&session, below)];
    let mut untouched = start(&other, sleep());
    wait_until("all run", || processes_with(&mark).len() == 4);
    assert_eq!(named("A/b/c").stop_session(Urgency::Politely).unwrap(), 1, "the field names a chat of `A`");
    assert_eq!(ours[2].wait().unwrap().status, State::Canceled);
    assert_eq!(other.stop_other_session("A", Urgency::Politely).unwrap(), 2);
    for execution in &mut ours[..2] {
        assert_eq!(execution.wait().unwrap().status, State::Canceled);
    }
    assert_eq!(processes_with(&mark).len(), 1, "`AB/b` is no chat of `A`");
    untouched.stop(Urgency::Now).unwrap();
    assert_eq!(untouched.wait().unwrap().status, State::Canceled);
    drop((session, chat, other));
    place.assert_nothing_is_left();
}

#[test]
fn leftover_processes_end_with_their_session() {
    let place = Place::new(None);
    let gate = place.gate();
    let mark = mark();
    let report = gate.run(shell(&format!("env -i setsid -f sleep {mark}; sleep {mark} & (sleep {mark} &)")));
    assert_eq!((report.status, report.background.len()), (State::Completed, 3));
    gate.stop_session(Urgency::Politely).unwrap();
    assert_gone(&mark, "a finished command");
}

#[test]
fn silence_ends_a_command_and_output_keeps_it_alive() {
    for_each_user(|place| {
        let answer = place.call(&json!({"command": "echo x; sleep 1000", "idle_timeout_ms": 300}));
        assert_eq!((&answer["status"], &answer["stdout"]), (&json!("timed_out"), &json!("x\n")));
        assert!(answer["error"]["message"].as_str().unwrap().contains("printed nothing for 300 ms"));
        let talkative = "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done";
        let answer = place.call(&json!({"command": talkative, "idle_timeout_ms": 5000}));
        assert_eq!(answer["status"], json!("completed"));
    });
}

/// A `shellgate run` that has started its command.
fn started(place: &Place, text: &str) -> Child {
    let mut child = place.start(["run", text]);
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn one_ctrl_c_sends_sigterm_and_a_second_kills() {
    for_each_user(|place| {
        let mark = mark();
        let polite = format!("trap 'echo cleaned; exit 3' TERM; echo ready; sleep {mark} & wait");
        let mut child = started(place, &polite);
        signal(&child, rustix::process::Signal::INT);
        let mut rest = String::new();
        child.stdout.as_mut().unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "cleaned\n", "the command had its time to clean up");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_gone(&mark, &polite);

        let stubborn = format!("trap '' TERM INT; echo ready; sleep {mark} & while :; do sleep {mark}; done");
        let mut child = started(place, &stubborn);
        signal(&child, rustix::process::Signal::INT);
        signal(&child, rustix::process::Signal::INT);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_gone(&mark, &stubborn);
    });
}

#[test]
fn a_front_end_that_is_killed_takes_its_foreground_command_along() {
    for_each_user(|place| {
        let mark = mark();
        let mut child = started(place, &format!("echo ready; setsid -f sleep {mark}; sleep {mark}"));
        wait_until("both sleep", || processes_with(&format!("sleep {mark}")).len() >= 2);
        kill(child.id().into());
        child.wait().unwrap();
        wait_until("the tree is gone", || processes_with(&format!("sleep {mark}")).is_empty());
    });
}

#[test]
fn a_keeper_that_is_killed_is_told_and_its_shell_dies_with_it() {
    let place = Place::new(None);
    let gate = place.gate();
    let mark = mark();
    let mut execution = gate
        .submit(shell(&format!("echo before; sleep {mark} & sleep {mark}; echo after")), Follow::Closely)
        .unwrap();
    // Output that the keeper has not read when it is killed is lost with the pipe.
    while !matches!(execution.next().unwrap(), Event::Output { .. }) {}
    wait_until("it sleeps", || processes_with(&format!("sleep {mark}")).len() >= 2);
    let shell_pid = processes_with(&format!("echo before; sleep {mark}"))[0];
    let stat = std::fs::read_to_string(format!("/proc/{shell_pid}/stat")).unwrap();
    let keeper: u64 = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap();
    kill(keeper);
    let report = execution.wait().unwrap();
    assert_eq!(report.status, State::Failed);
    assert_eq!(report.error.unwrap().code, shellgate::Code::KeeperLost);
    assert_eq!(report.stdout, "before\n", "what was printed is kept");
    wait_until("the shell is dead", || !is_alive(shell_pid));
    processes_with(&format!("sleep {mark}")).into_iter().for_each(kill);
    let report = gate.run(shell("echo again"));
    assert_eq!(
        (report.status, report.stdout.as_str()),
        (State::Completed, "again\n"),
        "the next call finds a new one"
    );
}

#[test]
fn the_embedding_program_is_no_subreaper_and_keeps_its_own_children() {
    let place = Place::new(None);
    let gate = place.gate();
    let mark = mark();
    let mut own = std::process::Command::new("sleep").arg(&mark).spawn().unwrap();
    assert_eq!(gate.run(shell("true")).status, State::Completed);
    gate.stop_session(Urgency::Now).unwrap();
    assert!(is_alive(own.id().into()), "the host's child is not ours");
    let subreaper = rustix::process::child_subreaper().unwrap();
    assert_eq!(subreaper, None);
    own.kill().unwrap();
    own.wait().unwrap();
}
