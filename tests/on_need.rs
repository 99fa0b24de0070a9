//! `approval.mode = "on-need"`: a command is tried where nothing can be lost, and a person is asked only about what it needs.

mod everyday;

use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::{Place, for_each_user_below, is_alive, mark, processes_with, wait_until};

/// Not the folder for temporary files: a trial has another one.
const OUTSIDE: &str = "/var/tmp";

/// Rules of a person.
const RULES: &str = r#"
[policy]
preset = "none"
ask = ["cat"]
deny = ["head"]
[[policy.rule]]
effect = "read"
path = ["/srv/private/**"]
decision = "deny"
"#;

/// The flags of all calls: no preset, so that everything is asked about that a trial doesn't settle.
const FLAGS: [&str; 4] = ["--approve", "on-need", "--ask", "queue"];

fn for_each_user(test: impl Fn(&Place)) {
    for_each_user_below(Path::new(OUTSIDE), test);
}

fn call(place: &Place, flags: &[&str], arguments: &Value) -> Child {
    let arguments = arguments.to_string();
    let words = ["call"].iter().chain(&FLAGS).chain(flags).copied().chain([arguments.as_str()]);
    place.strictly(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn answer(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn json_of(place: &Place, words: &[&str]) -> Value {
    let output = place.output(words.iter().copied().chain(["--json"]));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}: {output:?}"))
}

fn questions(place: &Place) -> Vec<Value> {
    json_of(place, &["approvals", "list"]).as_array().unwrap().clone()
}

/// Waits until a question is there, or the call has ended without one.
fn question(place: &Place, child: &mut Child) -> Option<Value> {
    let found = std::cell::RefCell::new(None);
    let child = std::cell::RefCell::new(child);
    wait_until("a question is asked or the call ends", || {
        let is_ended = child.borrow_mut().try_wait().unwrap().is_some();
        *found.borrow_mut() = questions(place).into_iter().next();
        is_ended || found.borrow().is_some()
    });
    found.into_inner()
}

/// The answer to a command that runs unasked.
fn unasked(place: &Place, command: &str) -> Value {
    let mut child = call(place, &[], &json!({ "command": command }));
    let asked = question(place, &mut child);
    assert_eq!(asked, None, "{command}");
    answer(child)
}

/// The reasons of the question about a command, and the answer after a yes or a no to it.
fn asked(place: &Place, command: &str, verb: &str) -> (Vec<String>, Value) {
    let mut child = call(place, &[], &json!({ "command": command }));
    let Some(question) = question(place, &mut child) else {
        panic!("no question about `{command}`: {:?}", child.wait_with_output());
    };
    let reasons = question["reasons"].as_array().unwrap().iter();
    let reasons = reasons.map(|one| one["message"].as_str().unwrap().to_owned()).collect();
    let answered = place.output(["approvals", verb, &question["id"].to_string()]);
    assert_eq!(answered.status.code(), Some(0), "{answered:?}");
    (reasons, answer(child))
}

/// The commands in the record, newest first, with the mode of their sandbox.
fn executions(place: &Place) -> Vec<Value> {
    json_of(place, &["history"]).as_array().unwrap().clone()
}

#[test]
fn a_command_that_needs_nothing_runs_without_a_question() {
    for_each_user(|place| {
        place.write("file", "content\n");
        let answer = unasked(place, "cat file; echo both >&2; exit 3");
        assert_eq!(
            (&answer["stdout"], &answer["stderr"], &answer["exit_code"]),
            (&json!("content\n"), &json!("both\n"), &json!(3)),
            "an exit status is no refusal: {answer}"
        );
        assert_eq!((&answer["status"], &answer["denials"]), (&json!("failed"), &json!([])), "{answer}");
        let by = answer["verdict"]["approved_by"].as_str().unwrap();
        assert!(by.contains("on-need") && by.contains("trial"), "{by}");
        assert_eq!(answer["verdict"]["decision"], "ask");
        let [recorded]: [Value; 1] = executions(place).try_into().unwrap();
        assert_eq!(recorded["id"], answer["id"]);
        let shown = json_of(place, &["history", "show", answer["id"].as_str().unwrap()]);
        assert!(shown.to_string().contains("a trial"), "{shown}");
        // Words that look like a refusal are none.
        let answer = unasked(place, "echo 'Permission denied' >&2; echo 'Read-only file system' >&2; false");
        assert_eq!(answer["exit_code"], 1, "{answer}");
    });
}

#[test]
fn events_of_a_trial_are_those_of_a_run() {
    for_each_user(|place| {
        let child = call(place, &["--events"], &json!({"command": "echo out; echo err >&2"}));
        let output = child.wait_with_output().unwrap();
        let lines: Vec<Value> = output
            .stdout
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).cloned().collect::<Vec<_>>();
        let states: Vec<String> = of("state").iter().map(|one| one["status"].to_string()).collect();
        assert_eq!(states, [r#""queued""#, r#""starting""#, r#""running""#, r#""completed""#], "{lines:?}");
        let streams: Vec<(Value, Value)> =
            of("tool-stream").into_iter().map(|one| (one["stream"].clone(), one["text"].clone())).collect();
        assert_eq!(
            streams,
            [(json!("stdout"), json!("out\n")), (json!("stderr"), json!("err\n"))],
            "{lines:?}"
        );
        assert_eq!(lines.last().unwrap()["type"], "result");
    });
}

#[test]
fn a_command_that_writes_is_asked_about_and_runs_once() {
    for_each_user(|place| {
        std::fs::create_dir(place.root().join("out")).unwrap();
        crate::support::give(&place.root().join("out"), place.user);
        let command = "echo ran >> out/made; echo said";
        let (reasons, answer) = asked(place, command, "approve");
        assert_eq!(reasons[0], "it needs to write `out/made`", "{reasons:?}");
        assert!(reasons[1].starts_with("it was tried first, as 01"), "{reasons:?}");
        assert_eq!((&answer["exit_code"], &answer["stdout"]), (&json!(0), &json!("said\n")), "{answer}");
        let made = std::fs::read_to_string(place.root().join("out/made")).unwrap();
        assert_eq!(made, "ran\n", "the trial has written nothing");
        // Both are in the record, and the question names the trial.
        let [run, trial]: [Value; 2] = executions(place).try_into().unwrap();
        assert_eq!(run["id"], answer["id"]);
        assert!(reasons[1].contains(trial["id"].as_str().unwrap()), "{reasons:?}");
        let trial = json_of(place, &["history", "show", trial["id"].as_str().unwrap()]).to_string();
        assert!(trial.contains("out/made") && trial.contains("a trial"), "{trial}");
        // It gets what it needed, and nothing else.
        let command = "echo x > out/first && echo y > second";
        let (reasons, answer) = asked(place, command, "approve");
        assert_eq!(reasons[0], "it needs to write `out/first`", "{reasons:?}");
        assert_eq!(answer["exit_code"], 1, "{answer}");
        assert_eq!(answer["denials"][0]["target"], json!(place.root().join("second")), "{answer}");
        assert!(place.root().join("out/first").exists() && !place.root().join("second").exists());
    });
}

#[test]
fn after_a_no_nothing_more_runs() {
    for_each_user(|place| {
        let (_, answer) = asked(place, "touch made", "deny");
        assert_eq!(answer["error"]["code"], "denied_by_user", "{answer}");
        assert!(!place.root().join("made").exists());
        assert_eq!(executions(place).len(), 2, "the trial and the refusal");
        // Without anybody to ask, what it needs is told.
        let words = ["call", "--approve", "on-need", r#"{"command": "touch made"}"#];
        let output = place.strictly(words).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (output.status.code(), &answer["error"]["code"]),
            (Some(3), &json!("approval_unavailable"))
        );
        assert!(answer["error"]["message"].as_str().unwrap().contains("write `made`"), "{answer}");
        assert!(!place.root().join("made").exists());
    });
}

/// Every kind of change of a file, by a program that the judge can't see into. Each is refused, and each is named.
#[test]
fn every_kind_of_change_is_seen() {
    for_each_user(|place| {
        place.write("kept", "content");
        let before = std::fs::metadata(place.root().join("kept")).unwrap();
        for change in [
            "os.chmod('kept', 0o700)",
            "os.utime('kept', (1, 1))",
            "os.truncate('kept', 1)",
            "os.chown('kept', os.getuid(), os.getgid())",
            "os.setxattr('kept', 'user.x', b'y')",
            "os.fchmod(os.open('kept', os.O_RDONLY), 0o700)",
            "os.utime(os.open('kept', os.O_RDONLY), (1, 1))",
            "os.rename('kept', 'other')",
            "os.link('kept', 'other')",
            "os.symlink('kept', 'other')",
            "os.remove('kept')",
            "os.mkdir('other')",
            "open('kept', 'r+')",
            "open('other', 'w')",
            "os.access('kept', os.W_OK)",
        ] {
            let code = format!("python3 -c \"import os\ntry: {change}\nexcept OSError: pass\"");
            let (reasons, _) = asked(place, &code, "deny");
            let named = |name: &str| reasons[0] == format!("it needs to write `{name}`");
            assert!(named("kept") || named("other"), "{change}: {reasons:?}");
        }
        let after = std::fs::metadata(place.root().join("kept")).unwrap();
        assert_eq!(after.modified().unwrap(), before.modified().unwrap());
        assert!(!place.root().join("other").exists());
    });
}

#[test]
fn a_command_that_needs_the_network_is_asked_about_with_the_address() {
    for_each_user(|place| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let port = address.port();
        let code = format!(
            "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port})).sendall(b\"x\")'"
        );
        let (reasons, answer) = asked(place, &code, "deny");
        assert_eq!(reasons[0], format!("it needs to connect to {address}"), "{reasons:?}");
        assert_eq!(answer["error"]["code"], "denied_by_user");
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "nothing has reached it");
        let (_, answer) = asked(place, &code, "approve");
        assert_eq!(answer["exit_code"], 0, "{answer}");
        assert!(listener.accept().is_ok());
        // A connection that the program doesn't wait for, and one to a server of the command's own.
        let code = format!(
            "python3 -c 'import socket\ns = socket.socket()\ns.setblocking(False)\nprint(s.connect_ex((\"127.0.0.1\", {port})))'"
        );
        let (reasons, _) = asked(place, &code, "deny");
        assert_eq!(reasons[0], format!("it needs to connect to {address}"), "{reasons:?}");
        let own = "python3 -c 'import socket\ns = socket.create_server((\"127.0.0.1\", 0))\nsocket.create_connection(s.getsockname())\nc = socket.socket()\nc.setblocking(False)\nc.connect_ex(s.getsockname())'";
        assert_eq!(unasked(place, own)["exit_code"], 0);
        // A datagram has no connection that could fail.
        for send in ["s.sendto(b\"x\", (\"192.0.2.7\", 99))", "s.connect((\"192.0.2.7\", 99))"] {
            let code = format!(
                "python3 -c 'import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ntry: {send}\nexcept OSError: pass'"
            );
            let (reasons, _) = asked(place, &code, "deny");
            assert_eq!(reasons[0], "it needs to connect to 192.0.2.7:99", "{reasons:?}");
        }
    });
}

#[test]
fn a_trial_sees_no_secrets_and_no_other_processes() {
    for_each_user(|place| {
        let folder = place.home().join(".ssh");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("id_ed25519"), "the key").unwrap();
        crate::support::give(&folder, place.user);
        crate::support::give(&folder.join("id_ed25519"), place.user);
        // The judge doesn't see which folder that is.
        let code = "python3 -c \"import os\nhome = os.path.expanduser('~')\nfor name in os.listdir(home):\n  try:\n    for key in os.listdir(os.path.join(home, name)) if name.startswith('.s') else []: print(open(os.path.join(home, name, key)).read())\n  except OSError: pass\nprint(len([p for p in os.listdir('/proc') if p.isdigit()]))\"";
        let answer = unasked(place, code);
        assert!(!answer.to_string().contains("the key"), "{answer}");
        let processes: u32 = answer["stdout"].as_str().unwrap().trim().parse().unwrap();
        assert!(processes <= 3, "{answer}");
        // A process that it wants to signal isn't there, and is asked about.
        let own = std::process::id();
        let code = format!("python3 -c 'import os\ntry: os.kill({own}, 0)\nexcept OSError: pass'");
        let (reasons, _) = asked(place, &code, "deny");
        assert_eq!(reasons[0], format!("it needs to signal process {own}"), "{reasons:?}");
    });
}

#[test]
fn a_trial_leaves_nothing_behind() {
    for_each_user(|place| {
        let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
        let before = mounts();
        let mark = mark();
        let command = format!("sleep {mark} & echo started");
        let (reasons, _) = asked(place, &command, "deny");
        let is_left = |one: &String| one.contains("leaves a process running") && one.contains(&mark);
        assert!(reasons.iter().any(is_left), "{reasons:?}");
        wait_until("its processes are gone", || !processes_with(&mark).into_iter().any(is_alive));
        // Temporary files work, and one that stays is asked about.
        let answer = unasked(
            place,
            "python3 -c \"import tempfile\nwith tempfile.NamedTemporaryFile('w+') as f: f.write('x'); f.seek(0); print(f.read())\"",
        );
        assert_eq!(answer["stdout"], "x\n", "{answer}");
        let (reasons, answer) =
            asked(place, "f=$(mktemp) && echo x > \"$f\" && cat \"$f\" && echo \"$f\"", "approve");
        assert_eq!(reasons[0], "it keeps temporary files", "{reasons:?}");
        let file = answer["stdout"].as_str().unwrap().lines().nth(1).unwrap().to_owned();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "x\n", "{answer}");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(mounts(), before);
        let root = std::fs::read_dir(place.root()).unwrap().count();
        assert_eq!(root, 0, "the root is as it was");
    });
}

#[test]
fn what_a_person_has_decided_is_never_tried() {
    for_each_user(|place| {
        let rules = place.home().join("rules.toml");
        std::fs::write(&rules, RULES).unwrap();
        std::os::unix::fs::chown(&rules, place.user, place.user).unwrap();
        let config = ["--config", rules.to_str().unwrap()];
        place.write("file", "x");
        let first = |arguments: Value| {
            let mut child = call(place, &config, &arguments);
            let question = question(place, &mut child).unwrap_or_else(|| panic!("{arguments}"));
            let reasons = question["reasons"].to_string();
            assert!(!reasons.contains("tried"), "{arguments}: {reasons}");
            place.output(["approvals", "deny", &question["id"].to_string()]);
            answer(child);
        };
        first(json!({"command": "cat file"}));
        // The home folder is the place's own.
        first(json!({"command": "true; rm -rf ~"}));
        // A rule may be about what a script does, and no kernel holds it.
        first(json!({"command": "python3 file"}));
        first(json!({"command": "true", "background": true}));
        first(json!({"command": "true", "pty": true}));
        first(json!({"command": "true", "stdin": "text"}));
        let denied = answer(call(place, &config, &json!({"command": "head file"})));
        assert_eq!(denied["error"]["code"], "denied_by_policy", "{denied}");
        assert!(executions(place).iter().all(|one| !one.to_string().contains("a trial")));
    });
}

#[test]
fn where_there_is_no_trial_a_person_is_asked_as_ever() {
    for_each_user(|place| {
        for mode in ["off", "read-only", "strict"] {
            let mut child = call(place, &["--sandbox", mode], &json!({"command": "true"}));
            let question = question(place, &mut child).unwrap_or_else(|| panic!("{mode}"));
            let reasons = question["reasons"].as_array().unwrap();
            assert_eq!((reasons.len(), &reasons[0]["code"]), (1, &json!("uncovered")), "{mode}: {question}");
            place.output(["approvals", "approve", &question["id"].to_string()]);
            assert_eq!(answer(child)["exit_code"], 0, "{mode}");
        }
    });
}

#[test]
fn a_long_trial_ends_and_a_person_is_told() {
    for_each_user(|place| {
        let mark = mark();
        let mut child = call(place, &[], &json!({"command": format!("sleep {mark}"), "timeout_ms": 1000}));
        let question = question(place, &mut child).unwrap();
        let reasons = question["reasons"].to_string();
        assert!(reasons.contains("it was tried for 0.5 s and had not ended"), "{reasons}");
        assert!(processes_with(&mark).is_empty());
        place.output(["approvals", "approve", &question["id"].to_string()]);
        let answer = answer(child);
        assert_eq!(answer["timed_out"], true, "{answer}");
        assert!(answer["duration_ms"].as_u64().unwrap() < 1000, "the trial counts: {answer}");
        // Much output is all there.
        let answer = unasked(place, "yes | head -c 3000000");
        assert_eq!(answer["stdout_bytes"], 3_000_000, "{}", answer["stdout_bytes"]);
        let file = std::fs::metadata(answer["stdout_file"].as_str().unwrap()).unwrap();
        assert_eq!(file.len(), 3_000_000);
    });
}

#[test]
fn a_test_runner_that_writes_only_its_cache_is_asked_about_once() {
    for_each_user(|place| {
        place.write("test_one.py", "def test_one():\n    assert 1 + 1 == 2\n");
        let (reasons, answer) = asked(place, "python3 -m pytest -q test_one.py", "approve");
        assert!(reasons[0].contains(".pytest_cache"), "{reasons:?}");
        let needs: Vec<&String> = reasons.iter().filter(|one| one.contains("it needs to")).collect();
        assert!(needs.iter().all(|one| one.contains("pytest")), "{reasons:?}");
        assert_eq!(answer["exit_code"], 0, "{answer}");
        assert!(place.root().join(".pytest_cache").is_dir());
    });
}

#[test]
fn it_is_the_default_of_our_own_dialect_alone() {
    for_each_user(|place| {
        let file = place.home().join("plain.toml");
        std::fs::write(&file, "[policy]\npreset = \"none\"\n").unwrap();
        std::os::unix::fs::chown(&file, place.user, place.user).unwrap();
        let config = ["--config", file.to_str().unwrap()];
        let called = |dialect: &str, flags: &[&str]| {
            let words =
                [&["call", "--dialect", dialect], &config[..], flags, &[r#"{"command": "true"}"#]].concat();
            place.unconfigured(words).output().unwrap().status.code()
        };
        assert_eq!(called("shellgate", &[]), Some(0));
        assert_eq!(called("shellgate", &["--approve", "ask"]), Some(3));
        assert_eq!(called("shellgate", &["--sandbox", "off"]), Some(3));
        assert_eq!(called("gemini", &[]), Some(3));
        assert_eq!(called("gemini", &["--approve", "on-need"]), Some(0));
    });
}
