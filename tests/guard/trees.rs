//! Process trees that are traced behave as others do: signals, job control, threads, jobs, terminals, their end.

use serde_json::{Value, json};

use super::{for_each_user, refused};
use crate::support::{Place, is_alive, kill, mark, processes_with, wait_until};

const GUARDED: [&str; 4] = ["--sandbox", "workspace", "--exclude", "rm"];
const UNGUARDED: [&str; 2] = ["--sandbox", "workspace"];

/// Commands whose exit code and output must not depend on being traced.
const COMMANDS: [&str; 21] = [
    "exit 7",
    "kill -9 $$",
    "kill -TERM $$",
    "trap 'echo got' USR1; kill -USR1 $$; echo after",
    "sleep 30 & kill -STOP $!; while ! grep -q 'State:.[Tt]' /proc/$!/status; do :; done; echo stopped; kill -CONT $!; \
     while grep -q 'State:.[Tt]' /proc/$!/status; do :; done; echo goes on; kill $!; wait $!; echo $?",
    "timeout 0.2 sleep 10; echo $?",
    "timeout --preserve-status -s INT 0.2 sleep 10; echo $?",
    "(exit 3) | true; echo ${PIPESTATUS[@]}",
    "yes | head -1; echo ${PIPESTATUS[@]}",
    "nosuchprogram; echo $?",
    "/etc/passwd; echo $?",
    "echo a | xargs -P4 -I{} env echo {}",
    "seq 200 | xargs -P8 -n1 true; echo $?",
    "python3 -c 'import threading,os; threading.Thread(target=lambda: os.execvp(\"echo\", [\"echo\", \"from a thread\"])).start(); import time; time.sleep(20)'",
    "python3 -c 'import os\nfor i in range(50):\n  os.fork() or os._exit(i)\nprint(sum(os.waitstatus_to_exitcode(os.wait()[1]) for i in range(50)))'",
    "python3 -c 'import subprocess as s; print(s.run([\"sh\",\"-c\",\"kill -SEGV $$\"]).returncode)'",
    "python3 -c 'import os,signal,time\np=os.fork()\nif p==0: time.sleep(30)\nos.kill(p,19); print(os.WIFSTOPPED(os.waitpid(p,2)[1])); os.kill(p,18); print(os.WIFCONTINUED(os.waitpid(p,8)[1])); os.kill(p,9); print(os.wait()[1])'",
    "exec env -i /bin/sh -c 'echo $0'",
    "cat <(echo one) <(echo two)",
    "coproc cat; echo hi >&${COPROC[1]}; read -u ${COPROC[0]} line; echo $line; kill $!",
    "ulimit -n; umask; nice; ps -o comm= -p $$",
];

fn facts(place: &Place, flags: &[&str], command: &str) -> Value {
    let answer = place.call_with(flags, &json!({"command": command, "timeout_ms": 60_000}));
    json!([answer["status"], answer["exit_code"], answer["signal"], answer["stdout"], answer["stderr"]])
}

#[test]
fn a_traced_command_behaves_as_one_that_is_not() {
    for_each_user(|place| {
        for command in COMMANDS {
            let expected = facts(place, &UNGUARDED, command);
            assert_eq!(facts(place, &GUARDED, command), expected, "{:?}: {command}", place.user);
            assert_ne!(expected[0], "timed_out", "{command}");
        }
    });
}

/// A script that tries to remove `victim`, and leaves a trace when it has tried.
const TRIES: &str =
    "import subprocess\ntry: subprocess.run(['rm', 'victim'])\nexcept OSError: pass\nopen('tried', 'w')\n";

#[test]
fn rules_hold_in_jobs_and_on_terminals() {
    for_each_user(|place| {
        place.write("tries.py", TRIES);
        for extra in [json!({"background": true}), json!({"pty": true}), json!({"wait_ms": 1})] {
            place.write("victim", "x");
            let _ = std::fs::remove_file(place.root().join("tried"));
            let mut call = json!({"command": "sleep 0.2; python3 tries.py"});
            call.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            let answer = place.call_with(&GUARDED, &call);
            wait_until("it has tried", || place.root().join("tried").exists());
            let id = answer["id"].as_str().unwrap().to_owned();
            assert!(place.output(["wait", &id]).status.success(), "{answer}");
            assert!(place.root().join("victim").exists(), "{extra}");
            let shown = place.output(["history", "show", &id, "--json"]);
            let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
            assert_eq!(refused(&shown)[0].0, "rm victim", "{extra}: {shown}");
        }
    });
}

#[test]
fn the_guards_end_is_the_trees() {
    for_each_user(|place| {
        let mark = mark();
        let command =
            format!("(setsid sleep {mark} & setsid sh -c 'sleep {mark}; true' &); sleep {mark}; true");
        let started = place.call_with(&GUARDED, &json!({"command": command, "background": true}));
        let pid = started["host_pid"].as_u64().unwrap();
        wait_until("all run", || processes_with(&mark).len() >= 4);
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:")).unwrap().trim();
        let tracer: u64 = tracer.parse().unwrap();
        assert!(tracer > 0, "{status}");
        kill(tracer);
        wait_until("all are gone", || processes_with(&mark).is_empty() && !is_alive(pid));
        // The next keeper takes the socket that the killed one left, and removes it.
        assert_eq!(place.call_with(&GUARDED, &json!({"command": "true"}))["exit_code"], 0);
    });
}

#[test]
fn nobody_is_traced_without_a_rule() {
    for_each_user(|place| {
        let tracer = |flags: &[&str]| {
            let answer = place.call_with(flags, &json!({"command": "grep TracerPid /proc/self/status"}));
            answer["stdout"].as_str().unwrap().trim().to_owned()
        };
        // The tracer is outside the pod, and so has no number in it: the command sees 0 in both cases.
        assert_eq!(tracer(&UNGUARDED), "TracerPid:\t0");
        assert_eq!(tracer(&GUARDED), "TracerPid:\t0");
        let job = place.call_with(&UNGUARDED, &json!({"command": "sleep 100", "background": true}));
        let status = std::fs::read_to_string(format!("/proc/{}/status", job["host_pid"])).unwrap();
        assert!(status.contains("TracerPid:\t0"), "{status}");
        assert!(place.output(["stop", job["id"].as_str().unwrap()]).status.success());
    });
}
