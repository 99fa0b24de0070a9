//! A refusal in every dialect: its code, rule and hint, in the dialect's own form, and nothing ran.

use serde_json::{Value, json};

use super::{has_run, settings, text};
use crate::support::{Place, for_each_user, program_file};

const DIALECTS: [&str; 5] = ["shellgate", "asimi", "gemini", "qwen", "agent-world"];

/// The arguments of a call that runs `command`, which has plain words only.
fn arguments(dialect: &str, command: &str) -> Value {
    match dialect {
        "qwen" => json!({"command": command, "is_background": false}),
        "agent-world" => {
            let (program, rest) = command.split_once(' ').unwrap();
            let parameters: Vec<&str> = rest.split(' ').collect();
            json!({"command": program, "parameters": parameters, "output_format": "json"})
        }
        _ => json!({"command": command}),
    }
}

/// What the model is told: the text, and the error in it.
struct Told {
    text: String,
    code: Option<i32>,
}

fn call(place: &Place, dialect: &str, flags: &[&str], arguments: &Value) -> Told {
    let root = place.root();
    let words = ["call", "--dialect", dialect, "--root", root.to_str().unwrap()];
    let output = place.strictly(words).args(flags).arg(arguments.to_string()).output().unwrap();
    assert_eq!(text(&output.stderr), "");
    Told { text: text(&output.stdout).to_owned(), code: output.status.code() }
}

impl Told {
    /// The error, as far as the dialect's form has it.
    fn error(&self, dialect: &str) -> Value {
        assert_eq!(self.code, Some(3), "{}", self.text);
        match dialect {
            "gemini" | "qwen" => {
                let line = self.text.lines().find_map(|line| line.strip_prefix("Error: ")).unwrap();
                let (code, rest) = line.split_once(": ").unwrap();
                let (message, hint) = rest.split_once(". Hint: ").unwrap();
                json!({"code": code, "message": message, "hint": hint})
            }
            "asimi" => {
                let answer: Value = serde_json::from_str(&self.text).unwrap();
                let info = &answer["errorInfo"];
                let told =
                    format!("{}: {}", info["code"].as_str().unwrap(), info["message"].as_str().unwrap());
                assert_eq!(answer["error"], json!(told));
                assert_eq!((&answer["exitCode"], answer.get("pid")), (&Value::Null, None));
                info.clone()
            }
            _ => {
                let answer: Value = serde_json::from_str(&self.text).unwrap();
                assert_eq!(answer["exit_code"], Value::Null);
                answer["error"].clone()
            }
        }
    }
}

/// Whether a dialect's form has the whole error object.
fn has_rules(dialect: &str) -> bool {
    !matches!(dialect, "gemini" | "qwen")
}

#[test]
fn an_excluded_command_is_denied_with_the_rule_and_its_place() {
    for_each_user(|place| {
        let file = settings(
            place,
            "denies.toml",
            "[policy]\ndefault = \"allow\"\nexclude = [\"git push\", \"touch\"]\n",
        );
        for dialect in DIALECTS {
            let by_path = format!("{} ran", program_file("touch"));
            for command in ["touch ran", "env touch ran", &by_path, "nice -n 5 touch ran"] {
                let told = call(place, dialect, &["--config", &file], &arguments(dialect, command));
                let error = told.error(dialect);
                assert!(!has_run(place), "{dialect}: {command}");
                assert_eq!(error["code"], "denied_by_policy", "{dialect}: {command}");
                assert_eq!(error["message"], "the command is denied: `touch` is excluded");
                assert_eq!(error["hint"], "do it without this command, or ask the user to change the rule");
                if has_rules(dialect) {
                    assert_eq!(error["rule"], json!(format!("exclude: touch ({file}:3:24)")), "{dialect}");
                }
            }
            let other =
                settings(place, "other.toml", "[policy]\ndefault = \"allow\"\nexclude = [\"git push\"]\n");
            let told = call(place, dialect, &["--config", &other], &arguments(dialect, "touch ran"));
            assert_eq!((told.code, has_run(place)), (Some(0), true), "{dialect}: {}", told.text);
        }
    });
}

#[test]
fn a_command_outside_core_is_denied_with_the_allowed_commands() {
    for_each_user(|place| {
        for dialect in DIALECTS {
            let flags = ["--core", "git", "--core", "cargo test"];
            let told = call(place, dialect, &flags, &arguments(dialect, "touch ran"));
            let error = told.error(dialect);
            assert!(!has_run(place), "{dialect}");
            assert_eq!(error["code"], "denied_by_policy");
            assert_eq!(error["message"], "the command is denied: `touch` is not among the allowed commands");
            assert_eq!(error["hint"], "allowed are `git`, `cargo test`");
            let told = call(place, dialect, &["--core", "touch"], &arguments(dialect, "touch ran"));
            assert_eq!((told.code, has_run(place)), (Some(0), true), "{dialect}: {}", told.text);
        }
    });
}

#[test]
fn a_command_that_needs_approval_is_refused_without_an_approver() {
    for_each_user(|place| {
        for dialect in DIALECTS {
            let arguments = arguments(dialect, "touch ran");
            // What `on-need` says instead is in `tests/on_need.rs`.
            for flags in [&["--approve", "ask"][..], &["--approve", "ask", "--default", "ask"]] {
                let error = call(place, dialect, flags, &arguments).error(dialect);
                assert!(!has_run(place), "{dialect} {flags:?}");
                assert_eq!(error["code"], "approval_unavailable", "{dialect} {flags:?}");
                let message = "the command needs approval: no rule covers `touch`; no person can be asked";
                assert_eq!(error["message"], message);
                assert!(error["hint"].is_string());
            }
            let error = call(place, dialect, &["--approve", "deny"], &arguments).error(dialect);
            assert_eq!(error["code"], "denied_by_policy", "{dialect}");
            assert!(!has_run(place));
            let error = call(place, dialect, &["--default", "deny"], &arguments).error(dialect);
            assert_eq!(error["code"], "denied_by_policy", "{dialect}");
            assert!(!has_run(place));
            for flags in [["--approve", "allow"], ["--default", "allow"]] {
                let told = call(place, dialect, &flags, &arguments);
                assert_eq!((told.code, has_run(place)), (Some(0), true), "{dialect}: {}", told.text);
            }
            let flags = ["--approve", "allow", "--exclude", "touch"];
            let error = call(place, dialect, &flags, &arguments).error(dialect);
            assert_eq!(error["code"], "denied_by_policy", "deny stays deny");
            assert!(!has_run(place), "{dialect}");
        }
    });
}

#[test]
fn what_bash_could_not_read_is_a_parse_error() {
    for_each_user(|place| {
        for dialect in DIALECTS.into_iter().filter(|dialect| *dialect != "agent-world") {
            for command in ["touch ran; if", "touch ran; echo 'x", "touch ran )", "touch ran; bash -c 'if'"] {
                let told = call(place, dialect, &["--default", "allow"], &arguments(dialect, command));
                let error = told.error(dialect);
                assert!(!has_run(place), "{dialect}: {command}");
                assert_eq!(error["code"], "parse_error", "{dialect}: {command}");
                assert!(error["message"].as_str().unwrap().contains("it can't be read"), "{error}");
                assert!(error["hint"].is_string());
            }
            let told = call(
                place,
                dialect,
                &["--default", "allow"],
                &arguments(dialect, "touch ran; if :; then :; fi"),
            );
            assert_eq!((told.code, has_run(place)), (Some(0), true), "{dialect}: {}", told.text);
        }
    });
}

#[test]
fn agent_world_keeps_paths_in_scope_and_code_out() {
    for_each_user(|place| {
        let dialect = "agent-world";
        let outside = place.home().join("ran");
        let outside = outside.to_str().unwrap();
        std::fs::create_dir(place.root().join("src")).unwrap();
        std::os::unix::fs::symlink(place.home(), place.root().join("out")).unwrap();
        place.write("args", "touch ran\n");
        let call = |command: &str, parameters: &[&str]| {
            let arguments = json!({"command": command, "parameters": parameters, "output_format": "json"});
            call(place, dialect, &["--default", "allow"], &arguments)
        };
        let sh = program_file("sh");
        let cases: &[(&str, &[&str], &str)] = &[
            ("touch", &["ran", outside], "out_of_scope"),
            ("touch", &["ran", "../home/ran"], "out_of_scope"),
            ("touch", &["ran", "src/../../home/ran"], "out_of_scope"),
            ("touch", &["ran", "out/ran"], "out_of_scope"),
            ("touch", &["ran", "--reference=/etc/passwd"], "out_of_scope"),
            ("touch", &["ran", "-r/etc/passwd"], "out_of_scope"),
            ("touch", &["ran", "~/ran"], "out_of_scope"),
            ("sh", &["-c", "touch ran"], "inline_eval"),
            ("bash", &["-lc", "touch ran"], "inline_eval"),
            ("env", &["-i", "/bin/bash", "-c", "touch ran"], "inline_eval"),
            ("timeout", &["3", "sh", "-c", "touch ran"], "inline_eval"),
            (&sh, &["-ec", "touch ran"], "inline_eval"),
            ("python3", &["-c", "open('ran', 'w')"], "inline_eval"),
            ("python3", &["-Ic", "open('ran', 'w')"], "inline_eval"),
            ("perl", &["-e", "open(F, '>ran')"], "inline_eval"),
            ("awk", &["BEGIN { system(\"touch ran\") }"], "inline_eval"),
            ("powershell", &["-EncodedCommand", "eA=="], "inline_eval"),
            ("touch", &["ran", "&&", "ls"], "shell_syntax"),
            ("touch", &["ran", ">x"], "shell_syntax"),
            ("touch", &["ran", "$(id)"], "shell_syntax"),
        ];
        for (command, parameters, code) in cases {
            let told = call(command, parameters);
            let error = told.error(dialect);
            assert!(!has_run(place) && !place.home().join("ran").exists(), "{command} {parameters:?}");
            assert_eq!(error["code"], **code, "{command} {parameters:?}");
            assert!(error["hint"].is_string(), "{error}");
            if *code == "out_of_scope" {
                let message = error["message"].as_str().unwrap();
                let dir = place.root().canonicalize().unwrap();
                let token = error["token"].as_str().unwrap();
                assert_eq!(
                    message,
                    format!(
                        "Working directory mismatch: \"{token}\" is outside the trusted working directory \"{}\"",
                        dir.display()
                    )
                );
            }
        }
        for (command, parameters) in [
            ("touch", &["ran", "src/a", "src/../b"][..]),
            ("touch", &["ran", "--reference=args", "-m"]),
            ("env", &["A=1", "touch", "ran"]),
            ("cp", &["/dev/null", "ran"]),
            ("touch", &["ran", "origin/main", "@scope", "s/a/b/", "a=1", "it's; fine", "a|b"]),
        ] {
            for folder in ["origin", "s", "s/a"] {
                let _ = std::fs::create_dir(place.root().join(folder));
                let _ = std::os::unix::fs::chown(place.root().join(folder), place.user, place.user);
            }
            std::os::unix::fs::chown(place.root().join("src"), place.user, place.user).unwrap();
            let told = call(command, parameters);
            assert_eq!(told.code, Some(0), "{command} {parameters:?}: {}", told.text);
            assert!(has_run(place), "{command} {parameters:?}: {}", told.text);
        }
    });
}
