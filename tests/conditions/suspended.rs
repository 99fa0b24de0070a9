//! Processes that are suspended and go on later, as when a laptop is closed.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{assert_it_works_again, said};
use crate::mcp::talk::Talk;
use crate::support::{Place, for_each_user, wait_until};

fn signal(pid: u64, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

/// Suspends a process and waits until it is.
fn suspend(pid: u64) {
    signal(pid, Signal::STOP);
    let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    wait_until("it is suspended", || stat().rsplit_once(") ").unwrap().1.starts_with('T'));
}

/// A command that runs until the file `go` is there.
const UNTIL_GO: &str = "touch begun; until [ -e go ]; do sleep 0.01; done; echo out; exit 7";

fn let_go(place: &Place) {
    place.write("go", "");
}

fn wait_until_begun(place: &Place) {
    wait_until("it runs", || place.root().join("begun").exists());
}

#[test]
fn a_suspended_front_end_has_the_whole_result_afterwards() {
    for_each_user(|place| {
        let front = place.start(["run", UNTIL_GO]);
        wait_until_begun(place);
        suspend(u64::from(front.id()));
        let_go(place);
        wait_until("the command has ended", || {
            !crate::support::processes_with("until [ -e go ]").iter().any(|pid| {
                std::fs::read_link(format!("/proc/{pid}/cwd"))
                    .is_ok_and(|directory| directory == place.root())
            })
        });
        // Others can look meanwhile. They don't take it for lost.
        let (code, text) = said(&place.output(["history"]));
        assert!(code == Some(0) && !text.contains("lost"), "{text}");
        signal(u64::from(front.id()), Signal::CONT);
        let output = front.wait_with_output().unwrap();
        assert_eq!(said(&output), (Some(7), "out\n".to_owned()));
        assert_it_works_again(place);
    });
}

#[test]
fn a_keeper_that_is_suspended_for_a_while_loses_nothing() {
    for_each_user(|place| {
        let front = place.start(["run", UNTIL_GO]);
        wait_until_begun(place);
        let keeper = place.keepers()[0];
        suspend(keeper);
        let_go(place);
        signal(keeper, Signal::CONT);
        assert_eq!(said(&front.wait_with_output().unwrap()), (Some(7), "out\n".to_owned()));
        assert_it_works_again(place);
    });
}

/// The command ends while its keeper is suspended, before its time is over. The keeper goes on after that time.
#[test]
fn a_command_that_ended_in_time_has_not_timed_out() {
    for_each_user(|place| {
        let front = place.start([
            "run",
            "--timeout",
            "3s",
            "touch begun; until [ -e go ]; do sleep 0.01; done; exit 7",
        ]);
        wait_until_begun(place);
        let (front_pid, keeper) = (u64::from(front.id()), place.keepers()[0]);
        // A caller that waits would continue the keeper.
        suspend(front_pid);
        suspend(keeper);
        let_go(place);
        std::thread::sleep(std::time::Duration::from_secs(4));
        signal(keeper, Signal::CONT);
        signal(front_pid, Signal::CONT);
        assert_eq!(said(&front.wait_with_output().unwrap()), (Some(7), String::new()));
        assert_it_works_again(place);
    });
}

/// A caller continues a suspended keeper, because no command could run otherwise.
#[test]
fn a_suspended_keeper_goes_on_for_the_next_call() {
    for_each_user(|place| {
        let front = place.start(["run", UNTIL_GO]);
        wait_until_begun(place);
        for words in [vec!["run", "echo hi"], vec!["call", r#"{"command": "echo hi"}"#], vec!["jobs"]] {
            suspend(place.keepers()[0]);
            let (code, text) = said(&place.output(&words));
            assert!(code == Some(0) && (text.contains("hi") || text.contains("until")), "{words:?}: {text}");
        }
        let_go(place);
        assert_eq!(said(&front.wait_with_output().unwrap()), (Some(7), "out\n".to_owned()));
        assert_it_works_again(place);
    });
}

/// Without a sandbox, a command can suspend its own keeper.
#[test]
fn a_command_that_suspends_its_keeper_is_answered() {
    for_each_user(|place| {
        let command = "kill -STOP $PPID; echo printed; exit 7";
        let output = place.output(["run", "--sandbox", "off", command]);
        assert_eq!(said(&output), (Some(7), "printed\n".to_owned()));
        let call = json!({"command": command}).to_string();
        let output = place.output(["call", "--sandbox", "off", call.as_str()]);
        assert!(said(&output).1.contains(r#""exit_code":7"#), "{output:?}");
        assert_it_works_again(place);
    });
}

/// A server has connections to its keeper already.
#[test]
fn a_suspended_keeper_goes_on_for_the_next_call_of_a_server() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        for _ in 0..3 {
            assert_eq!(talk.run(json!({"command": "echo hi"}))["stdout"], "hi\n");
            suspend(place.keepers()[0]);
        }
        assert_eq!(talk.run(json!({"command": "echo hi"}))["stdout"], "hi\n");
        talk.leave();
        assert_it_works_again(place);
    });
}

#[test]
fn a_suspended_server_answers_afterwards() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        let id = talk.call(json!({"command": UNTIL_GO}));
        wait_until_begun(place);
        let server = u64::from(talk.server.id());
        suspend(server);
        let_go(place);
        // Another front end of the session works meanwhile.
        assert_eq!(said(&place.output(["run", "echo other"])), (Some(0), "other\n".to_owned()));
        signal(server, Signal::CONT);
        let report = talk.answer(id)["result"]["structuredContent"].clone();
        assert_eq!((&report["stdout"], &report["exit_code"]), (&json!("out\n"), &json!(7)), "{report}");
        talk.leave();
        assert_it_works_again(place);
    });
}

/// The broker decides for confined commands, and the launcher starts them: the next call continues them.
#[test]
fn suspended_processes_of_the_sandbox_go_on_for_the_next_call() {
    for_each_user(|place| {
        let job = place.call(&json!({"command": "exec sleep 1000", "background": true}));
        let keeper = place.keepers()[0];
        let children = std::fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children")).unwrap();
        let name = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
        let mut suspended = 0;
        for pid in children.split_whitespace().filter(|pid| name(pid).starts_with("shellgate-")) {
            suspend(pid.parse().unwrap());
            suspended += 1;
            let answer = place.call(&json!({"command": "echo out > made; cat made"}));
            assert_eq!(answer["stdout"], "out\n", "{} suspended: {answer}", name(pid).trim());
        }
        // Launcher, pod, broker, standby.
        assert_eq!(suspended, 4, "{children}");
        assert!(place.output(["stop", job["id"].as_str().unwrap()]).status.success());
        assert_it_works_again(place);
    });
}
