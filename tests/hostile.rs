//! Attacks and accidents that once broke something.

use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{
    Place, for_each_user, is_alive, kill, mark, processes_with, wait_until, wait_until_full,
};

fn pids(answer: &Value) -> Vec<u64> {
    answer["background"].as_array().unwrap().iter().map(|entry| entry["host_pid"].as_u64().unwrap()).collect()
}

/// Compiles a small C program into the root, for system calls that no shell offers.
fn compile(place: &Place, name: &str, source: &str) {
    let file = place.write(&format!("{name}.c"), source);
    let status =
        Command::new("cc").arg("-O1").arg("-o").arg(place.root().join(name)).arg(file).status().unwrap();
    assert!(status.success());
}

#[test]
fn processes_that_fork_and_exit_are_caught() {
    // Each generation lives for a moment. If the test fails, all end by themselves after some seconds.
    const HOPPERS: &str = r"
        #include <signal.h>
        #include <time.h>
        #include <unistd.h>
        int main() {
            signal(SIGCHLD, SIG_IGN); signal(SIGTERM, SIG_IGN);
            time_t end = time(0) + 20;
            for (int i = 1; i < 8; i++) if (!fork()) break;
            for (;;) { if (time(0) >= end) _exit(0); if (fork() > 0) _exit(0); setsid(); }
        }";
    for_each_user(|place| {
        let name = format!("hop{}", std::process::id());
        compile(place, &name, HOPPERS);
        let answer = place.call(&json!({"command": format!("./{name} & sleep 1000"), "timeout_ms": 500}));
        assert_eq!((&answer["status"], &answer["background"]), (&json!("timed_out"), &json!([])));
        assert_eq!(processes_with(&format!("./{name}")), Vec::<u64>::new());
    });
}

#[test]
fn a_process_whose_first_thread_has_ended_is_seen_and_ended() {
    const HEADLESS: &str = r#"
        #include <pthread.h>
        #include <unistd.h>
        #include <sys/syscall.h>
        static void *body(void *mark) { execl("/bin/sh", "sh", "-c", "exec sleep $0 & wait", mark, (char *)0); return 0; }
        static void *rest(void *mark) { if (!fork()) body(mark); for (;;) pause(); }
        int main(int argc, char **argv) {
            pthread_t thread;
            pthread_create(&thread, 0, rest, argv[1]);
            usleep(100000);
            syscall(SYS_exit, 0);
        }"#;
    for_each_user(|place| {
        compile(place, "headless", HEADLESS);
        let mark = mark();
        let answer = place.call(&json!({"command": format!("./headless {mark}"), "timeout_ms": 700}));
        assert_eq!((&answer["status"], &answer["background"]), (&json!("timed_out"), &json!([])));
        assert_eq!(processes_with(&mark), Vec::<u64>::new());
        let answer = place.call(&json!({"command": format!("./headless {mark} & sleep 0.4")}));
        assert!(pids(&answer).len() >= 2, "the headless one and its child are listed: {answer}");
        pids(&answer).into_iter().for_each(kill);
    });
}

#[test]
fn a_list_of_huge_command_lines_is_still_an_answer() {
    for_each_user(|place| {
        let mark = mark();
        let text = format!(
            r#"a=$(head -c 64000 /dev/zero | tr '\0' '\377'); for i in $(seq 100); do sh -c "exec sleep {mark} #$0" "$a" & done"#
        );
        let text = text.replace("exec sleep", "sleep") + "; exit 5";
        let answer = place.call(&json!({"command": text}));
        assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("failed"), &json!(5)));
        assert!(pids(&answer).len() >= 100, "{}", pids(&answer).len());
        assert!(answer.to_string().len() < 2_000_000);
        // Some may just be about to start their `sleep`.
        wait_until("all are gone", || {
            processes_with(&mark).into_iter().for_each(kill);
            processes_with(&mark).is_empty()
        });
    });
}

#[test]
fn an_orphan_of_unknown_origin_survives_the_timeout_of_another_execution() {
    for_each_user(|place| {
        let mark = mark();
        // In a sandbox no process loses its tag.
        let off = ["call", "--sandbox", "off"];
        let mut first = place
            .start([&off[..], &[r#"{"command": "echo > up; sleep 1000", "timeout_ms": 1500}"#]].concat());
        wait_until("the first runs", || place.root().join("up").exists());
        // The orphan has no tag, no name and no pipe of its execution.
        let evasive = format!("prlimit --locks=7 env -i setsid -f sleep {mark} </dev/null >/dev/null 2>&1");
        let second = place.call_with(&off[1..], &json!({"command": evasive}));
        assert_eq!(second["status"], json!("completed"));
        assert!(first.wait().unwrap().success());
        let left = processes_with(&format!("sleep {mark}"));
        assert_eq!(left.len(), 1, "the timeout of the first execution doesn't end the orphan of the second");
        left.into_iter().for_each(kill);
        // An orphan that holds its execution's pipe can be attributed.
        let mut other = place
            .start([&off[..], &[r#"{"command": "echo > up2; sleep 1000", "timeout_ms": 1500}"#]].concat());
        wait_until("the other runs", || place.root().join("up2").exists());
        let evasive = format!("prlimit --locks=7 env -i setsid -f sleep {mark}");
        let piped = place.call_with(&off[1..], &json!({"command": evasive}));
        assert_eq!(pids(&piped).len(), 1, "{piped}");
        pids(&piped).into_iter().for_each(kill);
        other.wait().unwrap();
    });
}

#[test]
fn the_output_of_an_orphan_s_child_is_kept() {
    for_each_user(|place| {
        let answer = place.call(&json!({"command": "(sleep 0.2; (sleep 0.2; echo late; touch done) & ) &"}));
        assert_eq!(answer["status"], json!("completed"));
        wait_until("the grandchild has printed", || place.root().join("done").exists());
        let file = answer["stdout_file"].as_str().unwrap();
        wait_until("its output is kept", || std::fs::read_to_string(file).unwrap() == "late\n");
    });
}

#[test]
fn a_slow_reader_gets_the_last_bytes_though_a_child_holds_the_pipe() {
    for_each_user(|place| {
        let config = place.write("small.toml", "[limits]\ncapture_bytes = 1000\n");
        let text = "(sleep 2) & head -c 1900000 /dev/zero";
        let mut child = place.start(["run", "--config", config.to_str().unwrap(), text]);
        let mut out = child.stdout.take().unwrap();
        wait_until_full(&out);
        let mut all = Vec::new();
        out.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), 1_900_000);
        child.wait().unwrap();
    });
}

#[test]
fn a_command_that_waits_for_its_reader_is_not_silent() {
    let place = Place::new(None);
    let config = place.write("small.toml", "[limits]\ncapture_bytes = 1000\n");
    let call = r#"{"command": "head -c 30000000 /dev/zero | tr '\\0' x; echo", "idle_timeout_ms": 500}"#;
    let mut child = place.start(["call", "--events", "--config", config.to_str().unwrap(), call]);
    let mut out = child.stdout.take().unwrap();
    wait_until_full(&out);
    // Its output is stuck for much longer than it may be silent.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let mut all = String::new();
    out.read_to_string(&mut all).unwrap();
    let last: Value = serde_json::from_str(all.lines().last().unwrap()).unwrap();
    assert_eq!(last["json"]["status"], json!("completed"));
    child.wait().unwrap();
}

#[test]
fn every_caller_has_its_own_limits_niceness_and_mask() {
    for_each_user(|place| {
        let with = |prefix: &str, text: &str| {
            let script = format!("{prefix}; exec \"$0\" run \"$1\"");
            place
                .program("bash")
                .args(["-c", &script])
                .arg(crate::support::shellgate())
                .arg(text)
                .output()
                .unwrap()
        };
        let mut first = place.program("bash");
        first.args(["-c", "ulimit -Sn 64; ulimit -Sf 100; umask 077; exec nice -n 7 \"$0\" run \"$1\""]);
        first
            .arg(crate::support::shellgate())
            .arg("echo > up; sleep 1000")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut first = first.spawn().unwrap();
        wait_until("the first runs", || place.root().join("up").exists());
        let show = "ulimit -Sn; ulimit -Sf; umask; nice";
        let bare = place.program("bash").args(["-c", show]).output().unwrap();
        assert_eq!(with(":", show).stdout, bare.stdout, "nothing of the first caller's");
        let other = with("ulimit -Sn 77; ulimit -f 200; umask 027", "ulimit -Sn; ulimit -Hf; umask");
        assert_eq!(String::from_utf8(other.stdout).unwrap(), "77\n200\n0027\n");
        kill(first.id().into());
        first.wait().unwrap();
    });
}

#[test]
fn commands_run_under_a_umask_of_777() {
    for_each_user(|place| {
        let state = place.home().join("fresh");
        for text in ["echo one", "echo two"] {
            let script = "umask 777; exec \"$0\" run \"$1\"";
            let mut command = place.program("bash");
            command
                .args(["-c", script])
                .arg(crate::support::shellgate())
                .arg(text)
                .env("SHELLGATE_HOME", &state);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    });
}

#[test]
fn ctrl_c_works_while_the_output_pipe_is_full() {
    for_each_user(|place| {
        let mark = mark();
        let mut child = place.start(["run", &format!(": {mark}; yes")]);
        let out = child.stdout.take().unwrap();
        wait_until_full(&out);
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(processes_with(&mark), Vec::<u64>::new());
        // It also works when the signal comes before the pipe is full.
        let mut child =
            place.start(["run", &format!("trap '' TERM; : {mark}; echo ready; sleep 0.3; exec yes")]);
        let mut out = child.stdout.take().unwrap();
        let mut ready = [0; 6];
        out.read_exact(&mut ready).unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(processes_with(&mark), Vec::<u64>::new());
    });
}

#[test]
fn a_pipe_that_does_not_block_gets_everything() {
    for_each_user(|place| {
        let (ours, theirs) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
        let mut command = place.shellgate(["run", "seq 100000; echo finished > fin"]);
        let mut child = command.stdout(theirs).stderr(Stdio::null()).spawn().unwrap();
        drop(command);
        wait_until_full(&ours);
        rustix::fs::fcntl_setfl(&ours, rustix::fs::OFlags::empty()).unwrap();
        let mut all = String::new();
        std::fs::File::from(ours).read_to_string(&mut all).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(all.ends_with("99999\n100000\n") && all.len() == 588_895);
        assert!(place.root().join("fin").exists());
    });
}

#[test]
fn a_keeper_whose_socket_was_taken_away_leaves_its_successor_alone() {
    for_each_user(|place| {
        let wait = |name: &str| format!("echo > up-{name}; until [ -e go-{name} ]; do sleep 0.02; done");
        let mut first = place.start(["run", &wait("a")]);
        wait_until("the first runs", || place.root().join("up-a").exists());
        for entry in std::fs::read_dir(place.state().join("sessions")).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        let mut second = place.start(["run", &wait("b")]);
        wait_until("the second runs", || place.root().join("up-b").exists());
        std::fs::write(place.root().join("go-a"), "").unwrap();
        assert!(first.wait().unwrap().success());
        assert_eq!(
            std::fs::read_dir(place.state().join("sessions")).unwrap().count(),
            1,
            "the second's socket stays"
        );
        std::fs::write(place.root().join("go-b"), "").unwrap();
        assert!(second.wait().unwrap().success());
    });
}

#[test]
fn a_keeper_that_cannot_start_says_why() {
    for_each_user(|place| {
        // A folder has the name of the keeper's socket.
        let mut child = place.start(["run", "echo > up; sleep 1000"]);
        wait_until("it runs", || place.root().join("up").exists());
        let sessions = place.state().join("sessions");
        let name = std::fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().path();
        kill(child.id().into());
        child.wait().unwrap();
        place.assert_nothing_is_left();
        std::fs::create_dir(&name).unwrap();
        std::os::unix::fs::chown(&name, place.user, place.user).unwrap();
        let output = place.output(["run", "touch ran"]);
        std::fs::remove_dir(&name).unwrap();
        assert_eq!(output.status.code(), Some(125));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("the keeper can't be started: Address already in use"), "{said}");
        assert!(!place.root().join("ran").exists());
    });
}

#[test]
fn a_command_that_kills_its_keeper_does_not_get_away() {
    for_each_user(|place| {
        let mark = mark();
        // The command kills the keeper after the keeper has read its output; unread output is lost with the pipe.
        let kept = r#"until [ -s "$SPOOL/$SHELLGATE_EXEC_ID.stdout" ]; do sleep 0.02; done"#;
        let text = format!("echo before; setsid sleep {mark} & {kept}; kill -9 $PPID; sleep {mark}");
        // In a sandbox a command can't signal its keeper.
        let call = |arguments: &Value| place.call_with(&["--sandbox", "off"], arguments);
        let answer = call(&json!({"command": text, "env": {"SPOOL": place.state().join("spool")}}));
        assert_eq!(
            (&answer["error"]["code"], &answer["stdout"]),
            (&json!("keeper_lost"), &json!("before\n"))
        );
        assert_eq!(processes_with(&format!("sleep {mark}")), Vec::<u64>::new());
        // The command kills the keeper at once, before the keeper has answered.
        let answer = call(&json!({"command": "kill -9 $PPID; sleep 1; echo x"}));
        assert_eq!(answer["error"]["code"], json!("keeper_lost"), "it ran, so it is no refusal: {answer}");
        let answer = place.call(&json!({"command": "echo again"}));
        assert_eq!(answer["stdout"], json!("again\n"));
    });
}

#[test]
fn a_call_leaves_no_entry_in_the_process_table() {
    let place = Place::new(None);
    // This process becomes the subreaper of orphans, and reaps none of them.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    for _ in 0..20 {
        assert_eq!(place.call(&json!({"command": "true"}))["status"], json!("completed"));
        assert!(place.output(["run", "true"]).status.success());
    }
    let dead = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with(&format!("Z {} ", std::process::id())))
    });
    assert_eq!(dead.count(), 0);
}

/// Bash takes itself for a shell that `sshd` or `rshd` has just started.
#[test]
fn no_start_up_file_of_bash_is_read() {
    for_each_user(|place| {
        std::fs::write(place.home().join(".bashrc"), "echo read\n").unwrap();
        let output = |mut command: Command| {
            let (theirs, _ours) = UnixStream::pair().unwrap();
            String::from_utf8(command.stdin(OwnedFd::from(theirs)).output().unwrap().stdout).unwrap()
        };
        let mut bare = place.program("bash");
        bare.args(["-c", "echo ran"]);
        assert_eq!(output(bare), "read\nran\n", "bash reads it where nothing keeps it from doing so");
        for (name, value) in [("SSH_CLIENT", "x"), ("SSH2_CLIENT", "x"), ("SHLVL", "0"), ("SHLVL", "5000")] {
            for mode in ["workspace", "off"] {
                let mut run = place.shellgate(["run", "--sandbox", mode, "echo ran"]);
                run.env(name, value);
                assert_eq!(output(run), "ran\n", "{name}={value} {mode}");
            }
            let mut call = place.shellgate(["call", r#"{"command": "echo ran", "env": {"SHLVL": "0"}}"#]);
            let answer = call.env(name, value).output().unwrap();
            let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
            assert_eq!(answer["stdout"], "ran\n", "{name}={value}: {answer}");
        }
    });
}

#[test]
fn text_that_looks_like_an_option_is_text() {
    for_each_user(|place| {
        for text in ["-x", "--version", "+e", "-c true"] {
            let answer = place.call(&json!({"command": text}));
            assert_eq!(answer["exit_code"], json!(127), "{answer}");
        }
    });
}

#[test]
fn a_lack_of_descriptors_is_reported() {
    for_each_user(|place| {
        // The first caller starts the keeper, which inherits its hard limit of few descriptors.
        let script = "ulimit -n 24; for i in 1 2 3 4 5 6; do \"$0\" call \"$1\" & done; wait";
        let call = json!({"command": "sleep 0.3; cat", "stdin": "hello"}).to_string();
        let output = place
            .program("bash")
            .args(["-c", script])
            .arg(crate::support::shellgate())
            .arg(call)
            .output()
            .unwrap();
        let answers = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
        let mut count = 0;
        for answer in answers.map(Result::unwrap) {
            count += 1;
            let honest = answer["stdout"] == "hello" || answer["error"] != Value::Null;
            assert!(honest, "{answer}");
        }
        assert_eq!(count, 6, "{output:?}");
    });
}

/// Whether a process has pending signals.
fn has_pending_signals(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mut masks = status.lines().filter_map(|line| line.split_once(":\t"));
    masks.any(|(name, mask)| matches!(name, "SigPnd" | "ShdPnd") && mask.chars().any(|digit| digit != '0'))
}

/// The keeper above a process.
fn keeper_of(pid: u64) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (name, rest) = stat.rsplit_once(") ").unwrap();
    match name.ends_with("(shellgate-keep") {
        true => pid,
        false => keeper_of(rest.split(' ').nth(1).unwrap().parse().unwrap()),
    }
}

#[test]
fn three_ctrl_cs_end_a_command_whose_keeper_is_suspended() {
    let place = Place::new(None);
    let mark = mark();
    // In a sandbox a command can't signal its keeper.
    let text = format!("echo > up; kill -STOP $PPID; sleep {mark}");
    let mut child = place.start(["run", "--sandbox", "off", &text]);
    wait_until("it runs", || {
        place.root().join("up").exists() && !processes_with(&format!("sleep {mark}")).is_empty()
    });
    let sleeper = processes_with(&format!("sleep {mark}"))[0];
    let keeper = rustix::process::Pid::from_raw(i32::try_from(keeper_of(sleeper)).unwrap()).unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    for _ in 0..3 {
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        // A signal that is sent while the same signal is pending is lost.
        wait_until("the signal is delivered", || !has_pending_signals(child.id()));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!is_alive(sleeper), "the command is ended without its keeper");
    rustix::process::kill_process(keeper, rustix::process::Signal::CONT).unwrap();
    place.assert_nothing_is_left();
}
