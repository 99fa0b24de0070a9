//! What answers say about operations that the sandbox refused.

mod told;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{for_each_user, run, write};
use crate::support::interrupt::output_interrupted;
use crate::support::{Place, mark, wait_until};

/// Operation, target and rule of each refusal. Every one has a grant, and no other field.
fn denials(answer: &Value) -> Vec<(String, String, String)> {
    let text = |denial: &Value, name: &str| denial[name].as_str().unwrap().to_owned();
    let denials = answer["denials"].as_array().unwrap_or_else(|| panic!("{answer}"));
    for denial in denials {
        let fields: Vec<&String> = denial.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["operation", "target", "rule", "grant"]);
        assert!(denial["grant"].is_string(), "{denial}");
    }
    denials
        .iter()
        .map(|denial| (text(denial, "operation"), text(denial, "target"), text(denial, "rule")))
        .collect()
}

fn outside(place: &Place, path: &str) -> String {
    place.root().with_file_name("outside").join(path).display().to_string()
}

fn write_outside(place: &Place) {
    write(place, "outside/file", "kept");
    write(place, "outside/other", "kept");
}

fn written(target: String) -> (String, String, String) {
    ("write".to_owned(), target, "sandbox.workspace".to_owned())
}

#[test]
fn a_refused_write_is_in_the_answer() {
    for_each_user(|place| {
        write_outside(place);
        for (command, target) in [
            ("echo x > ../outside/file", "file"),
            ("echo x >> ../outside/new", "new"),
            ("touch ../outside/new", "new"),
            ("mkdir ../outside/folder", "folder"),
            ("ln -s file ../outside/link", "link"),
            ("mv ../outside/file ../outside/moved", "moved"),
            ("echo x > inside && mv inside ../outside/inside", "inside"),
            ("mv ../outside/other inside", "other"),
            ("cp ../outside/file ../outside/copy", "copy"),
            ("python3 -c 'open(\"../outside/file\", \"w\")'", "file"),
            // The command doesn't care, and its end doesn't tell.
            ("touch ../outside/new 2>/dev/null; exit 0", "new"),
            ("(sleep 0.1; touch ../outside/new) & wait; true", "new"),
            ("(setsid env -i touch ../outside/new &) 2>&1 | cat", "new"),
        ] {
            let answer = run(place, "workspace", command);
            assert_eq!(denials(&answer), [written(outside(place, target))], "{command}");
            assert!(!Path::new(&outside(place, "new")).exists());
            let control = run(place, "off", command);
            assert_eq!((&control["status"], &control["denials"]), (&json!("completed"), &Value::Null));
            std::fs::remove_dir_all(place.root().with_file_name("outside")).unwrap();
            write_outside(place);
        }
    });
}

#[test]
fn without_a_refusal_the_list_is_empty() {
    for_each_user(|place| {
        assert!(place.program("git").args(["init", "-q"]).status().unwrap().success());
        for command in [
            "true",
            "mkdir -p a/b && echo x > a/b/c && mv a/b/c d && cat d && echo x > /dev/null",
            "exit 3",
            "cat missing",
            "mkdir -p locked && chmod 500 locked && touch locked/new",
            "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git log && git branch other",
        ] {
            let answer = run(place, "workspace", command);
            assert_eq!(answer["denials"], json!([]), "{command}: {answer}");
        }
        assert_eq!(run(place, "off", "true")["denials"], Value::Null);
        // Nothing was run, so nothing could be observed.
        let refused =
            place.call_with(&["--sandbox", "workspace", "--exclude", "rm"], &json!({"command": "rm x"}));
        assert_eq!(refused["denials"], Value::Null, "{refused}");
        assert!(place.program("chmod").args(["700", "locked"]).status().unwrap().success());
    });
}

#[test]
fn a_refusal_names_its_rule() {
    for_each_user(|place| {
        write(place, "root/.git/config", "");
        let root = place.root();
        for (command, target, granted) in [
            ("x=.git; mkdir -p $x/hooks; echo x > $x/hooks/x", ".git/hooks", ".git/hooks"),
            ("x=.git; echo x > $x/config.lock", ".git/config.lock", ".git/config"),
            ("mkdir .vscode", ".vscode", ".vscode"),
        ] {
            let answer = run(place, "workspace", command);
            let target = root.join(target).display().to_string();
            let expected = ("write".to_owned(), target.clone(), "sandbox.protected".to_owned());
            assert_eq!(denials(&answer).first(), Some(&expected), "{command}: {answer}");
            let grant = answer["denials"][0]["grant"].as_str().unwrap();
            assert!(grant.contains(&format!("[\"{}\"]", root.join(granted).display())), "{grant}");
        }
        let socket = root.with_file_name("docker.sock");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::chown(&socket, place.user, place.user).unwrap();
        let call = format!(
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{}\")'",
            socket.display()
        );
        let answer = run(place, "workspace", &call);
        let expected = ("connect".to_owned(), socket.display().to_string(), "sandbox.sockets".to_owned());
        assert_eq!(denials(&answer), [expected], "{answer}");
        assert_eq!(run(place, "off", &call)["status"], "completed");
        let answer = run(place, "read-only", "touch new");
        let expected =
            ("write".to_owned(), root.join("new").display().to_string(), "sandbox.read-only".to_owned());
        assert_eq!(denials(&answer), [expected], "{answer}");
    });
}

#[test]
fn many_refusals_are_bounded() {
    for_each_user(|place| {
        write_outside(place);
        // Each takes the broker some 50 µs.
        let times = if place.user.is_none() { 100_000 } else { 5_000 };
        let attempts = "python3 -c '
import os
for number in range(TIMES):
    try: os.mkdir(\"../outside/folder\")
    except OSError: pass
'";
        let same = attempts.replace("TIMES", &times.to_string());
        assert_eq!(denials(&run(place, "workspace", &same)), [written(outside(place, "folder"))]);
        let before = Instant::now();
        let different =
            attempts.replace("TIMES", "5000").replace("\"../outside/folder\"", "f\"../outside/{number}\"");
        let answer = run(place, "workspace", &different);
        let expected: Vec<_> = (0..32).map(|number| written(outside(place, &number.to_string()))).collect();
        assert_eq!(denials(&answer), expected);
        assert!(answer.to_string().len() < 64 << 10);
        // What happened before the flood of another command is not lost, and neither is what comes after.
        let flood = place.start(["run", "--sandbox", "workspace", "--timeout", "60s", &different]);
        let answer = run(place, "workspace", "touch ../outside/one; sleep 0.1; touch ../outside/two; true");
        let found = denials(&answer);
        assert_eq!(found, [written(outside(place, "one")), written(outside(place, "two"))]);
        let output = flood.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(" more"), "{told}");
        assert!(before.elapsed() < Duration::from_secs(120), "it is slow: {:?}", before.elapsed());
    });
}

#[test]
fn commands_at_the_same_time_have_their_own_refusals() {
    for_each_user(|place| {
        write_outside(place);
        std::thread::scope(|scope| {
            let runs: Vec<_> = (0..8)
                .map(|number| {
                    scope.spawn(move || {
                        let command =
                            format!("touch ../outside/{number}; sleep 0.2; mkdir ../outside/m{number}; true");
                        (number, run(place, "workspace", &command))
                    })
                })
                .collect();
            for run in runs {
                let (number, answer) = run.join().unwrap();
                let expected =
                    [number.to_string(), format!("m{number}")].map(|name| written(outside(place, &name)));
                assert_eq!(denials(&answer), expected);
            }
        });
    });
}

#[test]
fn timeouts_jobs_and_terminals_have_their_refusals() {
    for_each_user(|place| {
        write_outside(place);
        let expected = [written(outside(place, "new"))];
        let sleep = format!("touch ../outside/new; sleep {}", mark());
        let timed_out =
            place.call_with(&["--sandbox", "workspace"], &json!({"command": sleep, "timeout_ms": 1500}));
        assert_eq!(timed_out["status"], "timed_out");
        assert_eq!(denials(&timed_out), expected);
        let terminal = place.call_with(
            &["--sandbox", "workspace"],
            &json!({"command": "touch ../outside/new; true", "pty": true}),
        );
        assert_eq!(denials(&terminal), expected, "{terminal}");
        let canceled = format!("touch ../outside/new; echo > ready; sleep {}", mark());
        let canceled = output_interrupted(
            &mut place.shellgate(["run", "--json", "--sandbox", "workspace", &canceled]),
            &place.root().join("ready"),
        );
        let canceled: Value = serde_json::from_slice(&canceled.stdout).unwrap();
        assert_eq!((&canceled["status"], denials(&canceled)), (&json!("canceled"), expected.to_vec()));
        // A job: while it runs, and from the record after its end.
        let started = place.call_with(
            &["--sandbox", "workspace"],
            &json!({"command": "touch ../outside/new; until [ -e down ]; do sleep 0.05; done; mkdir ../outside/last; true", "background": true}),
        );
        let id = started["id"].as_str().unwrap();
        let wait = |flags: &[&str]| -> Value {
            let output = place.output(["wait", "--json", id].iter().chain(flags));
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
        };
        wait_until("its refusal is known", || wait(&["--timeout", "1ms"])["denials"] != json!([]));
        let running = wait(&["--timeout", "1ms"]);
        assert_eq!(running["status"], "running");
        assert_eq!(denials(&running), expected);
        place.write("down", "");
        let ended = wait(&[]);
        let both = [written(outside(place, "new")), written(outside(place, "last"))];
        assert_eq!((&ended["status"], denials(&ended)), (&json!("completed"), both.to_vec()));
        assert!(ended["denials"][0]["grant"].as_str().unwrap().contains("prefix = [\"touch\"]"), "{ended}");
        let shown = String::from_utf8(place.output(["history", "show", id]).stdout).unwrap();
        let line = format!("refused by the sandbox: write {}, write {}", both[0].1, both[1].1);
        assert!(shown.contains(&line), "{shown}");
        let shown: Value =
            serde_json::from_slice(&place.output(["history", "show", "--json", id]).stdout).unwrap();
        assert_eq!(denials(&shown), both, "{shown}");
    });
}

#[test]
fn a_grant_that_is_pasted_into_the_settings_makes_the_command_work() {
    for_each_user(|place| {
        write_outside(place);
        write(place, "outside/folder/file", "kept");
        let git = |words: &[&str]| assert!(place.program("git").args(words).status().unwrap().success());
        git(&["init", "-q"]);
        let socket = place.root().with_file_name("docker.sock");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::chown(&socket, place.user, place.user).unwrap();
        let file = place.home().join(".config/shellgate/config.toml");
        let settings = std::fs::read_to_string(&file).unwrap();
        for command in [
            "touch ../outside/new",
            "echo x > ../outside/file",
            "cd . && cat ../outside/file | tee ../outside/copy",
            "mkdir -p ../outside/a/b",
            "echo x > inside; mv inside ../outside/inside",
            "mv ../outside/folder/file ../outside/moved",
            "sed -i s/kept/changed/ ../outside/other",
            "git remote add origin ../elsewhere",
            "mkdir .vscode",
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"../docker.sock\")'",
        ] {
            let refused = run(place, "workspace", command);
            assert_eq!(refused["status"], "failed", "{command}: {refused}");
            // A person pastes what is shown until the command works: a command may stop at its first refusal.
            let mut pasted = settings.clone();
            let mut answer = refused;
            for _ in 0..3 {
                for denial in answer["denials"].as_array().unwrap() {
                    pasted.push_str(denial["grant"].as_str().unwrap());
                }
                std::fs::write(&file, &pasted).unwrap();
                answer = run(place, "workspace", command);
                if answer["status"] == "completed" {
                    break;
                }
            }
            assert_eq!(
                (&answer["status"], &answer["denials"]),
                (&json!("completed"), &json!([])),
                "{command}: {pasted}\n{answer}"
            );
            // The next command doesn't have it.
            let other = run(place, "workspace", "touch ../outside/by-another-command");
            assert!(command.starts_with("touch") || other["status"] == "failed", "{command}: {other}");
            std::fs::write(&file, &settings).unwrap();
        }
    });
}
