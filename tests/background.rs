//! Leftover processes of foreground commands, and background starts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Place, for_each_user, is_alive, kill, mark, wait_until};

/// The processes that an answer lists.
fn listed(answer: &Value) -> Vec<(u64, String)> {
    let entry =
        |entry: &Value| (entry["host_pid"].as_u64().unwrap(), entry["command"].as_str().unwrap().to_owned());
    answer["background"].as_array().unwrap().iter().map(entry).collect()
}

fn end(answer: &Value) {
    for (pid, _) in listed(answer) {
        kill(pid);
    }
}

#[test]
fn every_way_to_leave_a_child_behind_is_found() {
    let ways = [
        "sleep MARK &",
        "nohup sleep MARK &",
        "nohup sleep MARK >/dev/null 2>&1 &",
        "setsid sleep MARK &",
        "setsid -f sleep MARK",
        "(sleep MARK &)",
        "((sleep MARK &) &)",
        "sleep MARK & disown",
        "sleep MARK </dev/null >/dev/null 2>&1 & disown -h",
        "bash -c 'sleep MARK &'",
        "bash -c 'sleep MARK & disown; exit 0' && exit 0",
        "trap 'sleep MARK &' EXIT",
        "trap 'echo bye' EXIT; sleep MARK &",
        "env -i setsid -f sleep MARK",
        "env -i /bin/bash -c '(setsid sleep MARK >/dev/null 2>&1 &)'",
        "ulimit -x unlimited; sleep MARK &",
        "python3 -c 'import os\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nos.closerange(0, 64)\nos.chdir(\"/\")\nos.execve(\"/bin/sleep\", [\"sleep\", \"MARK\"], {})'",
    ];
    for_each_user(|place| {
        for way in ways {
            let mark = mark();
            let answer = place.call(&json!({"command": way.replace("MARK", &mark)}));
            assert_eq!(
                (&answer["status"], &answer["exit_code"]),
                (&json!("completed"), &json!(0)),
                "{way}: {answer}"
            );
            let expected = (listed(&answer).first().map_or(0, |(pid, _)| *pid), format!("sleep {mark}"));
            assert_eq!(listed(&answer), [expected], "{way}");
            let entry = &answer["background"][0];
            assert!(entry["pid"].is_u64() && entry["host_pid"].is_u64(), "{entry}");
            assert!(
                is_alive(listed(&answer)[0].0),
                "{way}: alive after the answer and the end of its starter"
            );
            end(&answer);
        }
    });
}

#[test]
fn nothing_left_is_nothing_listed() {
    for_each_user(|place| {
        for text in ["true", "sleep 0.01 & wait", "(sleep 0.01)", "echo x | cat | cat", "true & true & wait"]
        {
            assert_eq!(place.call(&json!({"command": text}))["background"], json!([]), "{text}");
        }
    });
}

#[test]
fn parents_are_listed_before_their_children() {
    for_each_user(|place| {
        let mark = mark();
        let answer = place.call(&json!({"command": format!("bash -c 'sleep {mark}; :' &")}));
        let seen: Vec<String> = listed(&answer).into_iter().map(|(_, command)| command).collect();
        assert_eq!(seen, [format!("bash -c sleep {mark}; :"), format!("sleep {mark}")]);
        end(&answer);
    });
}

#[test]
fn a_child_goes_on_printing_after_the_answer() {
    for_each_user(|place| {
        let go = place.root().join("go");
        let text = "echo first; (until [ -e go ]; do sleep 0.05; done; echo second; echo third >&2) &";
        let answer = place.call(&json!({"command": text}));
        assert_eq!(answer["stdout"], json!("first\n"));
        assert!(!listed(&answer).is_empty());
        std::fs::write(&go, "").unwrap();
        let file = |name: &str| std::fs::read_to_string(answer[name].as_str().unwrap()).unwrap_or_default();
        wait_until("it has printed", || {
            file("stdout_file") == "first\nsecond\n" && file("stderr_file") == "third\n"
        });
        wait_until("it is gone", || listed(&answer).iter().all(|(pid, _)| !is_alive(*pid)));
    });
}

#[test]
fn a_child_that_holds_the_pipe_does_not_hold_the_answer() {
    for_each_user(|place| {
        let mark = mark();
        // Waiting for the child would take an hour. The answer has all that the shell printed.
        let text =
            format!("(exec sleep {mark}) & for i in $(seq 20000); do echo line $i; done; echo last >&2");
        let answer = place.call_with(&[], &json!({"command": text, "detail": "full"}));
        let wanted: String = (1..=20000).map(|number| format!("line {number}\n")).collect();
        assert_eq!(answer["stdout"].as_str().unwrap(), wanted);
        assert_eq!(answer["stderr"], json!("last\n"));
        end(&answer);
        // A child that prints without end.
        let answer = place.call(&json!({"command": "yes & echo x >&2"}));
        assert_eq!((&answer["status"], &answer["stderr"]), (&json!("completed"), &json!("x\n")));
        end(&answer);
    });
}

#[test]
fn of_fifty_calls_at_once_each_lists_its_own_child() {
    for_each_user(|place| {
        let marks: Vec<String> = (0..50).map(|_| mark()).collect();
        let answers: BTreeMap<&String, Value> = std::thread::scope(|scope| {
            let call = |mark: &String| {
                let text =
                    format!("env -i /bin/bash -c '(setsid sleep {mark} &)'; env -i setsid -f sleep {mark}");
                place.call(&json!({"command": text}))
            };
            let calls: Vec<_> = marks.iter().map(|mark| (mark, scope.spawn(move || call(mark)))).collect();
            calls.into_iter().map(|(mark, call)| (mark, call.join().unwrap())).collect()
        });
        for (mark, answer) in &answers {
            let commands: Vec<String> = listed(answer).into_iter().map(|(_, command)| command).collect();
            // Processes that are about to exec `sleep` count too.
            let (two, sleep) = (commands.len() == 2, format!("sleep {mark}"));
            assert!(two && commands.iter().all(|command| command.ends_with(&sleep)), "{answer}");
            assert!(listed(answer).iter().all(|(pid, _)| is_alive(*pid)));
        }
        answers.values().for_each(end);
    });
}

#[test]
fn a_background_start_answers_while_it_runs() {
    for_each_user(|place| {
        let mark = mark();
        let answer =
            place.call(&json!({"command": format!("echo up; exec sleep {mark}"), "background": true}));
        assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("running"), &Value::Null));
        assert_eq!((&answer["stdout"], &answer["job"]), (&json!("up\n"), &answer["id"]));
        let pid = answer["host_pid"].as_u64().unwrap();
        assert_eq!(listed(&answer), [(pid, format!("sleep {mark}"))]);
        assert!(is_alive(pid), "alive after the exit of the process that started it");
        end(&answer);
        // With a trailing `&`, the background processes are still part of the job.
        let answer = place.call(&json!({"command": format!("sleep {mark} &"), "background": true}));
        assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("running"), &Value::Null));
        assert_eq!(listed(&answer).len(), 1);
        end(&answer);
    });
}

#[test]
fn a_background_start_that_fails_at_once_is_told_as_failed() {
    for_each_user(|place| {
        let answer = place.call(&json!({"command": "echo no >&2; exit 4", "background": true}));
        assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("failed"), &json!(4)));
        assert_eq!((&answer["stderr"], &answer["background"]), (&json!("no\n"), &json!([])));
        let answer = place.call(&json!({"command": "true", "background": true}));
        assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("completed"), &json!(0)));
        let answer = place.call(&json!({"command": "no-such-program", "args": [], "background": true}));
        assert_eq!((&answer["status"], &answer["error"]["code"]), (&json!("failed"), &json!("spawn_failed")));
    });
}

#[test]
fn a_job_has_the_timeout_that_the_call_gives_and_no_other() {
    for_each_user(|place| {
        let mark = mark();
        let flags = ["--timeout", "1s"];
        let call = json!({"command": format!("sleep {mark}"), "background": true});
        let unlimited = place.call_with(&flags, &call);
        let mut call = call;
        call["timeout_ms"] = json!(400);
        let limited = place.call_with(&flags, &call);
        assert_eq!(limited["status"], json!("running"));
        let (limited, unlimited_pid) =
            (limited["host_pid"].as_u64().unwrap(), unlimited["host_pid"].as_u64().unwrap());
        wait_until("its own clock has ended it", || !is_alive(limited));
        wait_until("the default's time has passed", || {
            let status = std::fs::metadata(format!("/proc/{unlimited_pid}")).unwrap();
            status.modified().unwrap().elapsed().is_ok_and(|age| age.as_millis() > 1500)
        });
        assert!(is_alive(unlimited_pid), "a default timeout is for the foreground");
        end(&unlimited);
    });
}

#[test]
fn a_job_survives_the_kill_of_a_later_front_end() {
    let place = Place::new(None);
    let mark = mark();
    let job = place.call(&json!({"command": format!("exec sleep {mark}"), "background": true}));
    let mut child = place.start(["run", "touch second; exec sleep 1000"]);
    wait_until("the second one runs", || place.root().join("second").exists());
    kill(child.id().into());
    child.wait().unwrap();
    let answer = place.call(&json!({"command": "echo still here"}));
    assert_eq!(answer["stdout"], json!("still here\n"));
    assert!(is_alive(job["host_pid"].as_u64().unwrap()));
    end(&job);
    place.assert_nothing_is_left();
}
