//! The environment as a command sees it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{call, shellgate, text, user_file, write_file};
use crate::support::{Place, for_each_user};

type Variables = BTreeMap<String, String>;

/// What `env` prints for a call with `extra` fields, inherited from `inherited`; and the answer.
fn seen(place: &Place, inherited: &[(&str, &str)], extra: &Value) -> (Variables, Value) {
    let mut arguments = json!({"command": "env", "args": []});
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let mut command = shellgate(place, ["call", &arguments.to_string()]);
    let output = command.envs(inherited.iter().copied()).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["status"], "completed", "{answer}");
    let lines = answer["stdout"].as_str().unwrap().lines();
    let pairs = lines.map(|line| line.split_once('=').unwrap());
    (pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(), answer)
}

fn set(place: &Place, settings: &str) {
    write_file(place, &user_file(place), format!("[environment]\n{settings}\n"));
}

/// Values that look like secrets. They are put together here, so that no secret scanner reports this file.
fn secrets() -> Vec<(&'static str, String)> {
    vec![
        ("GH_TOKEN", "some-word-or-other".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "some-word-or-other".to_owned()),
        ("PGPASSWORD", "some-word-or-other".to_owned()),
        ("npm_config__authToken", "some-word-or-other".to_owned()),
        ("MYSQL_PWD", "some-word-or-other".to_owned()),
        ("INNOCENT", format!("ghp_{}", "a1B2".repeat(9))),
        ("DATABASE", format!("postgres://me:{}@localhost/db", "hidden")),
        ("KEY_TEXT", format!("-----BEGIN {} KEY-----", "PRIVATE")),
    ]
}

const HARMLESS: [(&str, &str); 5] = [
    ("TOKENIZERS_PARALLELISM", "false"),
    ("MAX_TOKENS", "100"),
    ("REQUIRE_PASSWORD", "true"),
    ("EDITOR", "vi"),
    ("WEIRD", "a b=c \"d\" $e"),
];

#[test]
fn secrets_are_hidden_and_the_rest_is_there() {
    for_each_user(|place| {
        let secrets = secrets();
        let mut inherited = HARMLESS.to_vec();
        inherited.extend(secrets.iter().map(|(name, value)| (*name, value.as_str())));
        let names = |variables: &Variables| -> Vec<&str> {
            secrets.iter().map(|(name, _)| *name).filter(|name| variables.contains_key(*name)).collect()
        };
        let (variables, answer) = seen(place, &inherited, &json!({}));
        assert_eq!(names(&variables), Vec::<&str>::new());
        assert!(!answer.to_string().contains("some-word-or-other"));
        for (name, value) in HARMLESS {
            assert_eq!(variables.get(name).map(String::as_str), Some(value), "{name}");
        }
        let output = shellgate(place, ["run", "env"]).envs(inherited.iter().copied()).output().unwrap();
        assert!(!text(&output.stdout).contains("some-word-or-other"), "nor does `run` pass them on");
        set(place, "keep = [\"GH_*\", \"PGPASSWORD\", \"INNOCENT\"]");
        let (variables, _) = seen(place, &inherited, &json!({}));
        assert_eq!(names(&variables), ["GH_TOKEN", "PGPASSWORD", "INNOCENT"]);
        set(place, "hide_secrets = false");
        let (variables, _) = seen(place, &inherited, &json!({}));
        assert_eq!(names(&variables).len(), secrets.len());
        // A variable in the call's `env` is passed on, because the agent set it itself.
        set(place, "");
        let (variables, _) = seen(place, &inherited, &json!({"env": {"GH_TOKEN": "given"}}));
        assert_eq!(names(&variables), ["GH_TOKEN"]);
        assert_eq!(variables["GH_TOKEN"], "given");
    });
}

/// Settings, and variables as they are then.
type Case<'a> = (&'a str, &'a [(&'a str, Option<&'a str>)]);

#[test]
fn settings_set_remove_and_narrow() {
    for_each_user(|place| {
        let inherited = [("EDITOR", "vi"), ("LC_TIME", "C"), ("TERM", "dumb"), ("OTHER", "x")];
        let cases: &[Case<'_>] = &[
            ("", &[("EDITOR", Some("vi")), ("OTHER", Some("x")), ("ADDED", None)]),
            (
                "set = { ADDED = \"1\", EDITOR = \"ed\", A_TOKEN = \"mine\" }",
                &[
                    ("ADDED", Some("1")),
                    ("EDITOR", Some("ed")),
                    ("A_TOKEN", Some("mine")),
                    ("OTHER", Some("x")),
                ],
            ),
            (
                "remove = [\"EDITOR\", \"LC_*\"]",
                &[("EDITOR", None), ("LC_TIME", None), ("TERM", Some("dumb"))],
            ),
            ("set = { EDITOR = \"ed\" }\nremove = [\"EDITOR\"]", &[("EDITOR", None)]),
            (
                "inherit = \"core\"",
                &[("EDITOR", None), ("OTHER", None), ("LC_TIME", Some("C")), ("TERM", Some("dumb"))],
            ),
            ("inherit = \"core\"\nkeep = [\"OTHER\"]", &[("EDITOR", None), ("OTHER", Some("x"))]),
            (
                "inherit = \"core\"\nset = { ADDED = \"1\" }",
                &[("ADDED", Some("1")), ("OTHER", None), ("PAGER", Some("cat"))],
            ),
        ];
        for (settings, wanted) in cases {
            set(place, settings);
            let (variables, _) = seen(place, &inherited, &json!({}));
            for (name, value) in *wanted {
                assert_eq!(variables.get(*name).map(String::as_str), *value, "{settings}: {name}");
            }
            assert!(variables.contains_key("PATH") && variables.contains_key("HOME"), "{settings}");
        }
    });
}

#[test]
fn pagers_and_prompts_are_off_unless_told_otherwise() {
    const QUIET: [(&str, &str); 3] = [("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];
    for_each_user(|place| {
        let inherited = [("PAGER", "less"), ("GIT_TERMINAL_PROMPT", "1")];
        let (variables, _) = seen(place, &inherited, &json!({}));
        for (name, value) in QUIET {
            assert_eq!(variables[name], value, "{name}");
        }
        let (variables, _) = seen(place, &inherited, &json!({"env": {"PAGER": "more"}}));
        assert_eq!(variables["PAGER"], "more", "the call's own word wins");
        set(place, "quiet = false");
        let (variables, _) = seen(place, &inherited, &json!({}));
        assert_eq!((variables["PAGER"].as_str(), variables.get("GIT_PAGER")), ("less", None));
        assert_eq!(variables["GIT_TERMINAL_PROMPT"], "1");
        set(place, "set = { PAGER = \"more\" }");
        assert_eq!(seen(place, &inherited, &json!({})).0["PAGER"], "more");
    });
}

/// Each of these would make the file `trap`, if it reached bash or the loader.
#[test]
fn what_makes_bash_or_the_loader_run_code_is_never_inherited() {
    for_each_user(|place| {
        let script = place.write("script", "touch trap\n");
        let script = script.to_str().unwrap();
        let inherited = [
            ("BASH_ENV", script),
            ("ENV", script),
            ("SHELLOPTS", "xtrace"),
            ("BASHOPTS", "extglob"),
            ("PS4", "$(touch trap)"),
            ("BASH_FUNC_echo%%", "() { touch trap; }"),
            ("BASH_FUNC_touch%%", "() { :; }"),
            ("OLD_FUNCTION", "() { :; }; touch trap"),
            ("LD_PRELOAD", "/no/such/library.so"),
            ("LD_LIBRARY_PATH", "/no/such/folder"),
            ("LD_DEBUG_OUTPUT", "/no/such/file"),
        ];
        // With and without the settings that let everything else through.
        for settings in ["", "inherit = \"all\"\nhide_secrets = false\nquiet = false\nkeep = [\"*\"]"] {
            set(place, settings);
            let (variables, _) = seen(place, &inherited, &json!({}));
            for (name, _) in inherited {
                assert!(!variables.contains_key(name), "{settings}: {name}");
            }
            let mut command =
                shellgate(place, ["call", r#"{"command": "echo a; touch made; ls b*; sh -c :"}"#]);
            let output = command.envs(inherited).output().unwrap();
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(answer["stdout"], "a\n", "{answer}");
            let stderr = answer["stderr"].as_str().unwrap();
            assert!(
                stderr.starts_with("ls: ") && stderr.lines().count() == 1,
                "no trace, no loader: {stderr}"
            );
            assert!(place.root().join("made").exists() && !place.root().join("trap").exists());
            std::fs::remove_file(place.root().join("made")).unwrap();
        }
        // The control: bash without shellgate runs the code.
        let plain = place.program("bash").args(["-c", "echo a"]).env("BASH_ENV", script).status().unwrap();
        assert!(plain.success() && place.root().join("trap").exists());
        std::fs::remove_file(place.root().join("trap")).unwrap();
        // The user's settings may set these variables.
        set(place, &format!("set = {{ BASH_ENV = \"{script}\" }}"));
        let (answer, _) = call(place, &[], &json!({"command": "echo a"}));
        assert_eq!(answer["status"], "completed");
        assert!(place.root().join("trap").exists());
    });
}

#[test]
fn a_command_knows_that_it_runs_here_and_under_which_name() {
    for_each_user(|place| {
        let forged = [("SHELLGATE", "0"), ("SHELLGATE_EXEC_ID", "forged")];
        let forged_in_call = json!({"env": {"SHELLGATE": "0", "SHELLGATE_EXEC_ID": "forged", "PWD": "/"}});
        let settings = ["", "remove = [\"SHELLGATE*\"]", "set = { SHELLGATE = \"0\" }", "inherit = \"core\""];
        for settings in settings {
            set(place, settings);
            for extra in [json!({}), forged_in_call.clone()] {
                let (variables, answer) = seen(place, &forged, &extra);
                assert_eq!(variables["SHELLGATE"], "1", "{settings}");
                assert_eq!(json!(variables["SHELLGATE_EXEC_ID"]), answer["id"], "{settings}");
                let root = place.root().canonicalize().unwrap();
                assert_eq!(variables["PWD"], root.to_str().unwrap());
            }
        }
        let (first, second) = (seen(place, &[], &json!({})).0, seen(place, &[], &json!({})).0);
        assert_ne!(first["SHELLGATE_EXEC_ID"], second["SHELLGATE_EXEC_ID"]);
    });
}

#[test]
fn every_call_starts_fresh() {
    for_each_user(|place| {
        let look = || {
            let look = "echo ${LEFT-unset} $(type -t f) $-; umask; ulimit -n; alias; pwd";
            let answer = place.call(&json!({"command": look}));
            answer["stdout"].as_str().unwrap().to_owned()
        };
        let before = look();
        assert!(before.starts_with("unset ") && before.contains(place.root().to_str().unwrap()), "{before}");
        let change = "export LEFT=1; cd /; alias ls=false; f() { :; }; set -u; umask 0177; ulimit -n 100";
        assert_eq!(place.call(&json!({"command": change}))["status"], "completed");
        assert_eq!(look(), before);
    });
}
