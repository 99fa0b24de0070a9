//! Processes: a session's commands see each other, and no other process.

use serde_json::json;

use super::{for_each_user, run, succeeds};
use crate::support::{is_alive, kill, mark, processes_with, wait_until};

#[test]
fn commands_of_a_session_see_each_other() {
    for_each_user(|place| {
        let mark = mark();
        let started = run(place, "workspace", &format!("sleep {mark} & echo $!"));
        let inner = started["stdout"].as_str().unwrap().trim().to_owned();
        let background = &started["background"][0];
        assert_eq!(background["pid"].to_string(), inner, "{started}");
        assert_ne!(background["host_pid"], background["pid"], "{started}");
        assert!(is_alive(background["host_pid"].as_u64().unwrap()));
        assert!(succeeds(place, "workspace", "ps -e -o args=").contains(&mark));
        assert!(
            !succeeds(place, "workspace", "ps -e -o args=").contains("nextest"),
            "the machine's are hidden"
        );
        succeeds(place, "workspace", &format!("kill {inner}"));
        wait_until("it is gone", || processes_with(&mark).is_empty());
    });
}

#[test]
fn other_sessions_are_out_of_reach() {
    for_each_user(|place| {
        let mark = mark();
        let command = json!({"command": format!("sleep {mark} & echo $!"), "session": "other"});
        let started = place.call_with(&["--sandbox", "workspace"], &command);
        let host = started["background"][0]["host_pid"].clone();
        assert!(!succeeds(place, "workspace", "ps -e -o args=").contains(&mark));
        assert_eq!(run(place, "workspace", &format!("kill {host}"))["status"], "failed");
        assert!(!processes_with(&mark).is_empty());
        assert_eq!(run(place, "off", &format!("kill {host}"))["status"], "completed", "without a sandbox");
        wait_until("it is gone", || processes_with(&mark).is_empty());
    });
}

#[test]
fn stopping_a_session_leaves_nothing() {
    for_each_user(|place| {
        let mark = mark();
        let evasive = format!(
            "(setsid sleep {mark} &) ; (env -i setsid -f sleep {mark} </dev/null >/dev/null 2>&1) ; nohup sleep {mark} & disown; echo up"
        );
        assert_eq!(run(place, "workspace", &evasive)["stdout"], "up\n");
        assert!(processes_with(&format!("sleep {mark}")).len() >= 3);
        assert!(place.output(["stop", "--all"]).status.success());
        assert_eq!(processes_with(&format!("sleep {mark}")), Vec::<u64>::new());
    });
}

/// The processes of this place: its keeper's children by name.
fn helpers(place: &crate::support::Place, name: &str) -> Vec<u64> {
    let keepers = place.keepers();
    let children = keepers.iter().flat_map(|keeper| {
        let list =
            std::fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children")).unwrap_or_default();
        list.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u64>>()
    });
    let named = |pid: &u64| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|found| found.trim() == name)
    };
    children.filter(named).collect()
}

#[test]
fn a_killed_keeper_takes_its_pod_along() {
    for_each_user(|place| {
        let mark = mark();
        run(place, "workspace", &format!("(setsid sleep {mark} &) ; echo up"));
        let pods = [helpers(place, "shellgate-pod"), helpers(place, "shellgate-launc")].concat();
        assert_eq!(pods.len(), 2);
        place.keepers().into_iter().for_each(kill);
        wait_until("all are gone", || {
            processes_with(&mark).is_empty() && !pods.iter().any(|pid| is_alive(*pid))
        });
        assert_eq!(succeeds(place, "workspace", "echo on"), "on\n", "the next keeper");
    });
}

#[test]
fn a_killed_launcher_or_first_process_is_replaced() {
    for_each_user(|place| {
        let mark = mark();
        let started = run(place, "workspace", &format!("sleep {mark} & echo $!"));
        helpers(place, "shellgate-launc").into_iter().for_each(kill);
        assert_eq!(succeeds(place, "workspace", "echo on"), "on\n", "another launcher");
        let inner = started["stdout"].as_str().unwrap().trim();
        assert_eq!(
            succeeds(place, "workspace", &format!("kill -0 {inner} && echo there")),
            "there\n",
            "the same pod"
        );
        helpers(place, "shellgate-pod").into_iter().for_each(kill);
        wait_until("its processes are gone", || processes_with(&mark).is_empty());
        assert_eq!(succeeds(place, "workspace", "echo on"), "on\n", "another pod");
    });
}

#[test]
fn nothing_inside_can_end_the_pod() {
    for_each_user(|place| {
        let answer = run(place, "workspace", "kill -9 1; kill -9 -1; echo on");
        assert_eq!(answer["stdout"], "on\n", "{answer}");
        // The first process belongs to the same user. With no processor time left, the kernel would end it.
        let limit = |pid: &str| {
            format!(
                "sleep 60 & python3 -c 'import resource; resource.prlimit({pid}, resource.RLIMIT_CPU, (0, 0))'; code=$?; kill $!; exit $code"
            )
        };
        let answer = run(place, "workspace", &limit("1"));
        assert_eq!(answer["exit_code"], 1, "{answer}");
        assert_eq!(run(place, "workspace", &limit("'$!'"))["exit_code"], 0, "another process of the session");
        assert_eq!(run(place, "workspace", "cat /proc/1/environ")["status"], "failed");
        assert_eq!(run(place, "workspace", "ls /proc/1/root/")["status"], "failed");
    });
}

#[test]
fn a_network_that_is_denied_has_the_sessions_own_servers() {
    for_each_user(|place| {
        let flags = ["--sandbox", "workspace", "--network", "deny"];
        let port = 20_000 + std::process::id() % 20_000;
        let serve = format!(
            "python3 -u -c 'import socket; s = socket.create_server((\"127.0.0.1\", {port})); print(1); s.accept()[0].send(b\"hi\")' & sleep 0.5"
        );
        let call = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && head -c 2 <&3");
        place.call_with(&flags, &json!({"command": serve}));
        assert_eq!(run(place, "workspace", &call)["status"], "failed", "the machine has no such server");
        wait_until("the session's server answers", || {
            let found = place.call_with(&flags, &json!({"command": call}));
            found["stdout"] == "hi"
        });
        let devices = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '";
        assert_eq!(place.call_with(&flags, &json!({"command": devices}))["stdout"], "lo\n");
    });
}

#[test]
fn a_terminal_of_a_confined_command_is_one() {
    for_each_user(|place| {
        let command = json!({"command": "tty; stty size; echo typed > /dev/tty", "pty": true});
        let answer = place.call_with(&["--sandbox", "workspace"], &command);
        assert_eq!(answer["stdout"], "/dev/pts/0\n24 80\ntyped\n", "{answer}");
    });
}

#[test]
fn a_terminal_that_was_closed_can_be_opened_again() {
    for_each_user(|place| {
        let command = json!({"command": "exec 0<&- 1>&- 2>&-; echo late > /dev/tty", "pty": true});
        let answer = place.call_with(&["--sandbox", "workspace"], &command);
        assert_eq!((&answer["stdout"], &answer["exit_code"]), (&json!("late\n"), &json!(0)), "{answer}");
    });
}

#[test]
fn many_at_once_are_confined() {
    for_each_user(|place| {
        let command = r#"{"command": "sleep 0.2; echo $$; touch ../home/escaped"}"#;
        let calls: Vec<_> =
            (0..20).map(|_| place.start(["call", "--sandbox", "workspace", command])).collect();
        for call in calls {
            let answer: serde_json::Value =
                serde_json::from_slice(&call.wait_with_output().unwrap().stdout).unwrap();
            assert_eq!(answer["status"], "failed", "{answer}");
            assert!(answer["stderr"].as_str().unwrap().contains("Read-only"), "{answer}");
        }
        assert!(!place.home().join("escaped").exists());
    });
}

#[test]
fn limits_hold_in_a_pod() {
    for_each_user(|place| {
        let file = place.home().join(".config/shellgate/config.toml");
        std::fs::write(&file, "[approval]\nmode = \"allow\"\n[limits]\nprocesses = 20\nmemory_mb = 64\n")
            .unwrap();
        let bomb = "for i in $(seq 60); do sleep 5 & done 2>/dev/null; wait";
        let answer = run(place, "workspace", bomb);
        assert!(answer["error"]["code"] == "limit_exceeded" || answer["exit_code"] != 0, "{answer}");
        let memory = "python3 -c 'x = bytearray(200 << 20); import time; time.sleep(3)'";
        assert_eq!(run(place, "workspace", memory)["status"], "failed");
        assert_eq!(succeeds(place, "workspace", "echo on"), "on\n");
    });
}

#[test]
fn a_kill_leaves_other_commands_of_the_session_as_they_were() {
    for_each_user(|place| {
        let mark = mark();
        let other = format!(
            "sleep {mark} & kill -STOP $!; echo $! > stopped; n=0; while :; do n=$((n + 1)); echo $n > new; mv new tick; sleep 0.02; done"
        );
        let job =
            place.call_with(&["--sandbox", "workspace"], &json!({"command": other, "background": true}));
        assert_eq!(job["status"], "running", "{job}");
        // It has to be killed: it ignores the polite signal.
        let stubborn = json!({"command": "trap '' TERM; while :; do :; done", "timeout_ms": 200});
        let killed = place.call_with(&["--sandbox", "workspace"], &stubborn);
        assert_eq!(killed["status"], "timed_out", "{killed}");
        let tick = || std::fs::read_to_string(place.root().join("tick")).unwrap_or_default();
        let before = tick();
        wait_until("the other command goes on", || tick() != before);
        let stopped = std::fs::read_to_string(place.root().join("stopped")).unwrap();
        let stopped = place.process(stopped.trim().parse().unwrap()).unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{stopped}/stat")).unwrap();
        assert!(stat.contains(") T "), "what was suspended stays so: {stat}");
        place.output(["stop", "--all"]);
        assert_eq!(processes_with(&mark), Vec::<u64>::new());
    });
}

/// Reads which files each new process has in its memory. Of a process that is being started, those would be shellgate's.
const LOOKS_AT_NEW_PROCESSES: &str = r#"
import os
others = launchers = 0
open("looking", "w").close()
while not os.path.exists("enough"):
    with open("/proc/loadavg") as load:
        # The last process id that was given away here.
        newest = int(load.read().split()[-1])
    for _ in range(50):
        for pid in range(newest, newest + 3):
            try:
                with open(f"/proc/{pid}/maps") as maps:
                    names = maps.read()
            except OSError:
                continue
            if "/shellgate\n" in names:
                launchers += 1
            elif names and pid != os.getpid():
                others += 1
                open("caught", "w").close()
with open("seen.new", "w") as seen:
    print(others, launchers, file=seen)
os.rename("seen.new", "seen")
"#;

/// A process that is being started shares its launcher's memory. In it are variables of other commands, and the number that lets an `exec`
/// pass the filter.
#[test]
fn a_command_cannot_read_the_memory_of_one_that_is_started() {
    for_each_user(|place| {
        place.write("look.py", LOOKS_AT_NEW_PROCESSES);
        for rules in [&[][..], &["--exclude", "rm"]] {
            let flags = [&["--sandbox", "workspace"], rules].concat();
            for file in ["looking", "caught", "enough", "seen"] {
                let _ = std::fs::remove_file(place.root().join(file));
            }
            let looks = json!({"command": "python3 look.py", "background": true});
            assert_eq!(place.call_with(&flags, &looks)["status"], "running");
            wait_until("it looks", || place.root().join("looking").exists());
            for _ in 0..30 {
                assert_eq!(place.call_with(&flags, &json!({"command": "true"}))["status"], "completed");
            }
            let control = json!({"command": "until [ -e caught ]; do sleep 0.02; done"});
            assert_eq!(place.call_with(&flags, &control)["status"], "completed");
            place.write("enough", "");
            wait_until("it has told", || place.root().join("seen").exists());
            let seen = std::fs::read_to_string(place.root().join("seen")).unwrap();
            let (others, launchers) = seen.trim().split_once(' ').unwrap();
            assert_ne!(others, "0", "the control: it reads what other commands have in memory");
            assert_eq!(launchers, "0", "{rules:?}");
        }
    });
}
