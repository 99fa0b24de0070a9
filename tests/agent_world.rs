//! agent-world's `shell_cmd` through the command line.
//!
//! What needs the judge (inline eval, the scope of `parameters`) is not here: `docs/dialects.md` says so.

use serde_json::{Value, json};

use crate::support::{Place, for_each_user, wait_until};

/// What the model gets, and the exit code.
fn text(place: &Place, arguments: &Value) -> (String, Option<i32>) {
    let root = place.root();
    let words = ["call", "--dialect", "agent-world", "--root", root.to_str().unwrap()].map(str::to_owned);
    let output = place.output(words.into_iter().chain([arguments.to_string()]));
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

/// The answer as JSON.
fn call(place: &Place, mut arguments: Value) -> Value {
    arguments.as_object_mut().unwrap().insert("output_format".to_owned(), json!("json"));
    serde_json::from_str(&text(place, &arguments).0).unwrap()
}

fn code(answer: &Value) -> &str {
    answer.pointer("/error/code").and_then(Value::as_str).unwrap_or_default()
}

fn keys(answer: &Value) -> String {
    answer.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
}

#[test]
fn one_program_and_its_arguments_as_typed() {
    for_each_user(|place| {
        let words =
            ["it's", "a(b)", "$HOME", "*", "#x", "a|b", "?a=1&b=2", "fix; done", "two\nlines", "", "~"];
        let format = "%s\\0";
        let parameters: Vec<&str> = [format].into_iter().chain(words).collect();
        let answer =
            call(place, json!({"command": "printf", "parameters": parameters, "output_detail": "full"}));
        assert_eq!(answer["stdout"], json!(words.concat()), "NUL is dropped from text: {answer}");
        assert_eq!(keys(&answer), "exit_code stdout stderr timed_out duration_ms artifacts");
        // 004:85: a folder.
        std::fs::create_dir(place.root().join("sub")).unwrap();
        let answer = call(place, json!({"command": "pwd", "directory": "./sub"}));
        assert_eq!(
            answer["stdout"],
            json!(format!("{}\n", place.root().canonicalize().unwrap().join("sub").display()))
        );
    });
}

#[test]
fn shell_syntax_is_refused_and_nothing_runs() {
    for_each_user(|place| {
        for parameter in ["&&", "||", "|", ";", "&", ">f", "2>&1", "<f", "$(id)", "`id`"] {
            let answer = call(place, json!({"command": "touch", "parameters": ["ran", parameter]}));
            assert_eq!(code(&answer), "shell_syntax", "{parameter}: {answer}");
        }
        let answer = call(place, json!({"command": "touch ran"}));
        assert_eq!(code(&answer), "invalid_input");
        assert!(
            answer["error"]["hint"].as_str().unwrap().contains(r#"{"command":"touch","parameters":["ran"]}"#)
        );
        assert_eq!(code(&call(place, json!({"command": "touch ran && true"}))), "shell_syntax");
        let answer = call(place, json!({"command": "cd", "parameters": ["/"]}));
        assert_eq!((code(&answer), &answer["exit_code"]), ("spawn_failed", &Value::Null));
        assert!(!place.root().join("ran").exists());
        call(place, json!({"command": "touch", "parameters": ["ran"]}));
        assert!(place.root().join("ran").exists(), "and it runs when it may");
    });
}

#[test]
fn places_outside_are_refused_in_the_seed_s_words() {
    for_each_user(|place| {
        std::os::unix::fs::symlink("/", place.root().join("out")).unwrap();
        let root = place.root().canonicalize().unwrap();
        for directory in ["..", "/etc", "out/etc", "~", "/proc/self/root", "nope/../../x", "../root2"] {
            let answer =
                call(place, json!({"command": "touch", "parameters": ["ran"], "directory": directory}));
            let wanted = format!(
                "Working directory mismatch: \"{directory}\" is outside the trusted working directory \"{}\"",
                root.display()
            );
            assert_eq!(
                (code(&answer), answer["error"]["message"].as_str().unwrap()),
                ("out_of_scope", wanted.as_str())
            );
        }
        for path in ["../x", "/etc/passwd", "out/etc/passwd", "~/x", "nope/../../x"] {
            let answer =
                call(place, json!({"command": "touch", "parameters": ["ran"], "artifact_paths": [path]}));
            assert_eq!(code(&answer), "out_of_scope", "{path}");
        }
        // A program by its path: inside, on PATH, and elsewhere.
        let script = place.write("tool", "#!/bin/sh\necho inside\n");
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(call(place, json!({"command": "./tool"}))["stdout"], json!("inside\n"));
        assert_eq!(
            call(place, json!({"command": crate::support::program_file("printf"), "parameters": ["x"]}))["stdout"],
            json!("x")
        );
        let elsewhere = crate::support::shellgate();
        let answer = call(place, json!({"command": elsewhere, "parameters": ["--version"]}));
        assert_eq!(code(&answer), "out_of_scope", "{answer}");
        assert!(!place.root().join("ran").exists());
    });
}

#[test]
fn the_trusted_directory_is_home_unless_it_is_set() {
    for_each_user(|place| {
        let call = r#"{"command": "pwd", "output_format": "json"}"#;
        let pwd = |words: &[&str]| {
            let output =
                place.output(["call", "--dialect", "agent-world"].iter().chain(words).copied().chain([call]));
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            answer["stdout"].as_str().unwrap().trim().to_owned()
        };
        let shown = |path: std::path::PathBuf| path.canonicalize().unwrap().display().to_string();
        assert_eq!(pwd(&[]), shown(place.home()), "never the current folder");
        let config = place
            .write("c.toml", &format!("[workspace]\nworking_directory = \"{}\"\n", place.root().display()));
        assert_eq!(pwd(&["--config", config.to_str().unwrap()]), shown(place.root()));
        assert_eq!(pwd(&["--root", "/tmp"]), shown("/tmp".into()));
    });
}

#[test]
fn previews_are_short_and_full_is_complete() {
    for_each_user(|place| {
        let answer = call(place, json!({"command": "seq", "parameters": ["1000"]}));
        assert_eq!(keys(&answer), "exit_code stdout stderr timed_out duration_ms artifacts stdout_truncated");
        let shown = answer["stdout"].as_str().unwrap();
        assert!(
            shown.starts_with("1\n2\n") && shown.ends_with("999\n1000\n") && shown.chars().count() < 800,
            "{shown}"
        );
        let answer = call(place, json!({"command": "seq", "parameters": ["1000"], "output_detail": "full"}));
        assert_eq!(answer["stdout"].as_str().unwrap().len(), 3893);
        let answer = call(place, json!({"command": "sleep", "parameters": ["100"], "timeout": 200}));
        assert_eq!((&answer["timed_out"], code(&answer)), (&json!(true), "timed_out"));
        assert_eq!(answer["signal"], json!({"number": 15, "name": "SIGTERM"}));
    });
}

#[test]
fn artifacts_are_hashed_and_never_wait_or_escape() {
    for_each_user(|place| {
        std::fs::create_dir(place.root().join("dist")).unwrap();
        place.write(
            "build",
            "#!/bin/sh\nprintf hello > dist/app.js 2>/dev/null || printf hello > app.js\nmkfifo pipe\nln -s /etc/passwd late\nmkdir folder\ntruncate -s 300M sparse\n",
        );
        let set = |name: &str, mode| {
            std::fs::set_permissions(
                place.root().join(name),
                std::os::unix::fs::PermissionsExt::from_mode(mode),
            )
            .unwrap();
        };
        set("build", 0o755);
        set("dist", 0o777);
        let paths = ["dist/app.js", "./dist/../dist/app.js", "pipe", "late", "folder", "missing", "sparse"];
        let answer = call(place, json!({"command": "./build", "directory": ".", "artifact_paths": paths}));
        let artifacts = answer["artifacts"].as_array().unwrap();
        assert_eq!(answer["exit_code"], json!(0), "{answer}");
        let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        for index in [0, 1] {
            assert_eq!(artifacts[index], json!({"path": paths[index], "sha256": hello, "bytes": 5}));
        }
        for (index, path) in paths.iter().enumerate().skip(2).take(4) {
            assert_eq!(keys(&artifacts[index]), "path error", "{path}: {}", artifacts[index]);
        }
        assert!(artifacts[3]["error"].as_str().unwrap().contains("outside"), "a link that the command made");
        assert_eq!(artifacts[6]["bytes"], json!(300 << 20));
    });
}

#[test]
fn markdown_is_the_default_and_cannot_be_broken_out_of() {
    for_each_user(|place| {
        let fenced = "a\\n\\140\\140\\140\\nb\\n";
        let (answer, exit) = text(place, &json!({"command": "printf", "parameters": [fenced]}));
        assert_eq!(exit, Some(0));
        assert!(answer.starts_with("**completed** `printf "), "{answer}");
        assert!(
            answer.contains("\n````text\na\n```\nb\n````\n") && answer.contains("stderr: (empty)"),
            "{answer}"
        );
        let (answer, exit) = text(place, &json!({"command": "x", "directory": "/etc"}));
        assert_eq!(exit, Some(3));
        let json = answer.split_once("```json\n").unwrap().1.split_once("\n```").unwrap().0;
        assert_eq!(serde_json::from_str::<Value>(json).unwrap()["code"], json!("out_of_scope"));
        for broken in ["{", "[]", r#"{"command": 1}"#] {
            let output = place.output(["call", "--dialect", "agent-world", broken]);
            let answer = String::from_utf8(output.stdout).unwrap();
            assert!(answer.starts_with("**failed**") && answer.contains("\ninvalid input: "), "{answer}");
        }
        let output =
            place.output(["call", "--dialect", "agent-world", r#"{"command": 1, "output_format": "json"}"#]);
        assert!(
            serde_json::from_slice::<Value>(&output.stdout).is_ok(),
            "as far as it can be read, it is heard"
        );
    });
}

#[test]
fn states_and_output_are_events_and_an_assistant_speaks_for_itself() {
    for_each_user(|place| {
        let bin = place.root().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let fake = |name: &str, body: &str| {
            place.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{body}\n"));
            let path = bin.join(name);
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        };
        fake("codex", r"printf '\033[1m  The answer.\033[0m\n\n'");
        fake("gemini", "echo partly; echo out of tokens >&2; exit 3");
        fake("copilot", "true");
        let events = |command: &str| -> Vec<Value> {
            let call = json!({"command": format!("./bin/{command}")}).to_string();
            let root = place.root();
            let words =
                ["call", "--dialect", "agent-world", "--events", "--root", root.to_str().unwrap(), &call];
            let output = place.output(words);
            String::from_utf8(output.stdout)
                .unwrap()
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect()
        };
        let said = |events: &[Value]| {
            let event = events.iter().find(|event| event["type"] == "assistant");
            event.map(|event| event["text"].as_str().unwrap().to_owned())
        };
        let seen = events("codex");
        let states: Vec<&str> = seen.iter().filter_map(|event| event["status"].as_str()).collect();
        assert_eq!(states, ["queued", "starting", "running", "completed"]);
        assert!(seen.iter().any(|event| event["type"] == "tool-stream" && event["stream"] == "stdout"));
        assert_eq!(said(&seen).as_deref(), Some("The answer."));
        assert!(
            seen.last().unwrap()["text"].as_str().unwrap().starts_with("**completed** "),
            "the result is kept too"
        );
        assert_eq!(said(&events("gemini")).as_deref(), Some("`gemini` failed: exit code 3\nout of tokens"));
        assert_eq!(said(&events("copilot")).as_deref(), Some("(No output)"));
        fake("codex", "seq 2000");
        assert_eq!(said(&events("codex")).unwrap().lines().count(), 2000, "its own words are whole");
        fake("other", "echo hi");
        assert_eq!(said(&events("other")), None);
        wait_until("nothing is left", || {
            std::fs::read_dir(place.state().join("sessions")).unwrap().count() == 0
        });
    });
}
