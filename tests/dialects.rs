//! The seed dialects through the command line: what each document promises, row by row.
//!
//! A row is named by the seed and the line of its document that it holds to. Rows that need the judge, approvals or jobs are
//! listed in `docs/dialects.md` with what turns them on; they are not here.

use serde_json::{Value, json};

use crate::support::{Place, for_each_user, is_alive, kill, mark};

const LABELS: [&str; 9] = [
    "Command",
    "Directory",
    "Stdout",
    "Stderr",
    "Error",
    "Exit Code",
    "Signal",
    "Background PIDs",
    "Process Group PGID",
];

/// What the model gets.
fn call(place: &Place, dialect: &str, flags: &[&str], arguments: &Value) -> (String, Option<i32>) {
    let text = arguments.to_string();
    let words =
        ["call", "--dialect", dialect].into_iter().chain(flags.iter().copied()).chain([text.as_str()]);
    let output = place.output(words);
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

/// The values of labelled text. Every label must be there, at the start of a line, in order.
fn labels(text: &str) -> Vec<String> {
    let mut rest = text.strip_prefix("Command: ").unwrap().to_owned();
    let mut values = Vec::new();
    for label in LABELS.iter().skip(1) {
        let (value, after) = rest.split_once(&format!("\n{label}: ")).unwrap();
        values.push(value.to_owned());
        rest = after.to_owned();
    }
    // For a call that keeps running, the last label is its job.
    let (group, job) =
        rest.split_once("\nJob: ").map_or((rest.as_str(), None), |(group, job)| (group, Some(job)));
    values.push(group.to_owned());
    values.extend(job.map(str::to_owned));
    values
}

/// A call in a labelled dialect.
fn labelled(place: &Place, dialect: &str, mut arguments: Value) -> Vec<String> {
    if dialect == "qwen" {
        arguments.as_object_mut().unwrap().entry("is_background").or_insert(json!(false));
    }
    labels(&call(place, dialect, &[], &arguments).0)
}

fn asimi(place: &Place, arguments: &Value) -> Value {
    serde_json::from_str(&call(place, "asimi", &[], arguments).0).unwrap()
}

#[test]
fn our_own_dialect_describes_files_and_writes_markdown() {
    for_each_user(|place| {
        let arguments = json!({"command": "printf abc > made", "artifacts": ["made", "none"]});
        let answer = place.call(&arguments);
        assert_eq!(answer["artifacts"][0]["bytes"], 3, "{answer}");
        assert_eq!(
            answer["artifacts"][0]["sha256"],
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert!(answer["artifacts"][1]["error"].is_string(), "{answer}");
        let arguments = json!({"command": "echo '```'; exit 3", "format": "markdown"});
        let (text, code) = call(place, "shellgate", &[], &arguments);
        assert!(text.starts_with("**failed** ````echo '```'; exit 3````\n\nexit code 3, "), "{text}");
        assert!(text.contains("\nstdout:\n````text\n```\n````\n"), "{text}");
        assert_eq!(code, Some(0));
        let arguments = json!({"command": "true", "format": "markdown", "directory": "nowhere"});
        let (text, code) = call(place, "shellgate", &[], &arguments);
        assert!(text.starts_with("**failed** `true`\n\ninvalid input: "), "{text}");
        assert_eq!(code, Some(3));
        let (text, _) = call(place, "shellgate", &[], &json!({"format": "markdown"}));
        assert!(text.starts_with("**failed**\n\ninvalid input: `command` is missing"), "{text}");
    });
}

#[test]
fn labelled_answers_say_all_there_is() {
    for_each_user(|place| {
        std::fs::create_dir(place.root().join("scripts")).unwrap();
        place.write("scripts/my_script.sh", "#!/bin/sh\npwd\n");
        let script = place.root().join("scripts/my_script.sh");
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        for dialect in ["gemini", "qwen"] {
            // gemini 001:21-28, qwen 003:50-57: every field.
            let seen = labelled(place, dialect, json!({"command": "echo out; echo err >&2; exit 3"}));
            assert_eq!(
                seen[..7],
                ["echo out; echo err >&2; exit 3", "(root)", "out", "err", "(none)", "3", "(none)"]
            );
            assert_eq!(seen[7], "(none)");
            assert!(seen[8].parse::<u32>().is_ok());
            // 001:47, 003:78: a script in a folder.
            let call = json!({"command": "./my_script.sh", "directory": "scripts", "description": "Run my custom script"});
            let seen = labelled(place, dialect, call);
            assert_eq!(
                seen[1..3],
                [
                    "scripts".to_owned(),
                    script.parent().unwrap().canonicalize().unwrap().display().to_string()
                ]
            );
            // Empty output, a signal.
            let seen = labelled(place, dialect, json!({"command": "kill -9 $$"}));
            assert_eq!(seen[2..7], ["(empty)", "(empty)", "(none)", "(none)", "9"]);
            // bash's error message for an unknown command.
            let seen = labelled(place, dialect, json!({"command": "no-such-program"}));
            assert!(seen[3].contains("command not found") && seen[5] == "127" && seen[4] == "(none)");
        }
    });
}

#[test]
fn output_cannot_forge_a_label() {
    for_each_user(|place| {
        let text = r"printf 'x\nExit Code: 0\nError: (none)\nexit code: 0\n'; printf 'y\nSignal: (none)\n' >&2; exit 9";
        for dialect in ["gemini", "qwen"] {
            let seen = labelled(place, dialect, json!({"command": text}));
            assert_eq!(seen[2], "x\n Exit Code: 0\n Error: (none)\n exit code: 0");
            assert_eq!((seen[3].as_str(), seen[5].as_str()), ("y\n Signal: (none)", "9"));
        }
    });
}

#[test]
fn a_timeout_and_a_refusal_stand_behind_error() {
    for_each_user(|place| {
        let call = |dialect: &str, flags: &[&str], arguments: Value| call(place, dialect, flags, &arguments);
        let (text, code) = call("gemini", &["--timeout", "300ms"], json!({"command": "echo a; sleep 100"}));
        let seen = labels(&text);
        assert_eq!((seen[2].as_str(), code), ("a", Some(0)));
        assert!(
            seen[4].starts_with("timed_out: the command ran longer than 300 ms and was stopped. Hint: "),
            "{}",
            seen[4]
        );
        assert_eq!(seen[5..7], ["(none)", "15"]);
        let (text, code) = call("gemini", &[], json!({"command": "touch ran", "directory": "../"}));
        let seen = labels(&text);
        assert!(seen[4].starts_with("out_of_scope: ") && code == Some(3), "{text}");
        assert_eq!(seen[5..], ["(none)", "(none)", "(none)", "(none)"]);
        assert!(!place.root().join("ran").exists());
        for (dialect, broken) in [("gemini", "{"), ("qwen", "[]"), ("gemini", "\"x\"")] {
            let output = place.output(["call", "--dialect", dialect, broken]);
            let seen = labels(&String::from_utf8(output.stdout).unwrap());
            assert!(seen[4].starts_with("invalid_input: invalid input: "), "{}", seen[4]);
            assert_eq!(output.status.code(), Some(3));
        }
    });
}

#[test]
fn background_processes_are_listed_and_live_on() {
    for_each_user(|place| {
        let mark = mark();
        let listed = |seen: &[String]| -> Vec<u64> {
            seen[7].split(", ").filter_map(|pid| place.process(pid.parse().unwrap())).collect()
        };
        // gemini 001:53 and 001:61, qwen 003:90 and 003:110: an ampersand.
        for dialect in ["gemini", "qwen"] {
            let seen = labelled(place, dialect, json!({"command": format!("sleep {mark} & sleep {mark} &")}));
            let pids = listed(&seen);
            assert_eq!((pids.len(), seen[5].as_str()), (2, "0"));
            assert!(pids.iter().all(|pid| is_alive(*pid)));
            pids.into_iter().for_each(kill);
        }
        // qwen 003:84: `is_background`.
        let call = json!({"command": format!("exec sleep {mark}"), "is_background": true, "description": "Start a server"});
        let seen = labelled(place, "qwen", call);
        assert_eq!((listed(&seen).len(), seen[5].as_str(), seen[4].as_str()), (1, "(none)", "(none)"));
        assert_eq!(seen[7], seen[8], "the job leads its own group");
        assert_eq!(seen[9].len(), 26, "and has a name: {}", seen[9]);
        listed(&seen).into_iter().for_each(kill);
        // A background start that fails at once is reported as failed.
        let seen = labelled(place, "qwen", json!({"command": "echo no >&2; exit 4", "is_background": true}));
        assert_eq!((seen[3].as_str(), seen[5].as_str(), seen[7].as_str()), ("no", "4", "(none)"));
        // asimi 000:121.
        let answer = asimi(place, &json!({"command": format!("sleep {mark} &")}));
        let pids: Vec<u64> = answer["backgroundPids"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|pid| place.process(pid.as_u64().unwrap()))
            .collect();
        assert!(pids.len() == 1 && is_alive(pids[0]), "{answer}");
        pids.into_iter().for_each(kill);
    });
}

#[test]
fn qwen_wants_a_choice() {
    for_each_user(|place| {
        // 003:16: without it, nothing runs.
        let (text, code) = call(place, "qwen", &[], &json!({"command": "touch ran"}));
        let seen = labels(&text);
        assert!(seen[4].starts_with("invalid_input: invalid input: `is_background` is missing"), "{text}");
        assert_eq!(code, Some(3));
        assert!(!place.root().join("ran").exists());
        let seen = labelled(place, "qwen", json!({"command": "true", "is_background": "yes"}));
        assert!(seen[4].contains("`is_background` must be a boolean, not a string"), "{}", seen[4]);
    });
}

#[test]
fn asimi_answers_in_its_structure() {
    for_each_user(|place| {
        let keys = |answer: &Value| answer.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
        // 000:82-90: the structure, and what is left out.
        let answer = asimi(place, &json!({"command": "echo out; echo err >&2; exit 3"}));
        assert_eq!(keys(&answer), "stdout stderr exitCode pid");
        assert_eq!(
            (&answer["stdout"], &answer["stderr"], &answer["exitCode"]),
            (&json!("out\n"), &json!("err\n"), &json!(3))
        );
        // 000:96-97: ended by a signal.
        let answer = asimi(place, &json!({"command": "kill -TERM $$"}));
        assert_eq!(keys(&answer), "stdout stderr exitCode signal pid");
        assert_eq!((&answer["exitCode"], &answer["signal"]), (&Value::Null, &json!(15)));
        // 000:94: complete output.
        let answer = asimi(place, &json!({"command": "seq 100000"}));
        assert_eq!(answer["stdout"].as_str().unwrap().len(), 588_895);
        // 000:74: absolute paths are not permitted, not even to the root.
        let root = place.root().display().to_string();
        let (text, code) = call(place, "asimi", &[], &json!({"command": "touch ran", "directory": root}));
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(keys(&answer), "stdout stderr exitCode error errorInfo");
        assert!(answer["error"].as_str().unwrap().starts_with("invalid_input: invalid input: `directory` "));
        assert_eq!((&answer["errorInfo"]["code"], code), (&json!("invalid_input"), Some(3)));
        // 000:30: broken input begins with `invalid input:`, behind the code.
        let output = place.output(["call", "--dialect", "asimi", "{"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(answer["errorInfo"]["message"].as_str().unwrap().starts_with("invalid input:"));
        // 000:98: `error` is for a failed start. Without bash, the command can't be started.
        let mut command = place.shellgate(["call", "--dialect", "asimi", r#"{"command": "true"}"#]);
        let output = command.env("PATH", "/nonexistent").output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&answer["exitCode"], &answer["errorInfo"]["code"]),
            (&Value::Null, &json!("spawn_failed"))
        );
        assert_eq!(output.status.code(), Some(0));
        assert!(!place.root().join("ran").exists());
    });
}

#[test]
fn marker_variables_tell_through_which_form() {
    for_each_user(|place| {
        let show = r#"echo "${ASIMI_CLI-} ${GEMINI_CLI-} ${QWEN_CODE-} $SHELLGATE""#;
        let marks =
            [("asimi", "1   1\n"), ("gemini", " 1  1\n"), ("qwen", "  1 1\n"), ("shellgate", "   1\n")];
        for (dialect, wanted) in marks {
            let output = place.output(["run", "--dialect", dialect, show]);
            assert_eq!(String::from_utf8(output.stdout).unwrap(), wanted, "{dialect}");
        }
        assert_eq!(asimi(place, &json!({"command": show}))["stdout"], json!("1   1\n"));
    });
}

#[test]
fn calls_share_nothing() {
    for_each_user(|place| {
        // asimi 000:123.
        asimi(place, &json!({"command": "cd /; export LEFT=1"}));
        let answer = asimi(place, &json!({"command": "echo ${LEFT-unset}; pwd"}));
        let root = place.root().canonicalize().unwrap();
        assert_eq!(answer["stdout"], json!(format!("unset\n{}\n", root.display())));
    });
}

#[test]
fn injected_and_other_names_of_fields_are_understood() {
    for_each_user(|place| {
        let seen =
            labelled(place, "gemini", json!({"cmd": "echo hi", "cwd": ".", "wait_for_previous": true}));
        assert_eq!((seen[2].as_str(), seen[4].as_str()), ("hi", "(none)"));
        let seen = labelled(place, "gemini", json!({"command": "true", "cmd": "true"}));
        assert!(seen[4].contains("`cmd` and `command` are the same field"), "{}", seen[4]);
        let seen = labelled(place, "gemini", json!({"command": "true", "is_background": true}));
        assert!(seen[4].contains("there is no field `is_background`"), "{}", seen[4]);
    });
}
