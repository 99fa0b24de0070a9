//! Every flag: its values, its errors, its effect.

use std::io::Read as _;
use std::process::{Output, Stdio};

use serde_json::Value;

use super::{assert_texts, run, text};
use crate::support::{Place, for_each_user};

/// Flags that a command still runs with.
const GOOD: &[&[&str]] = &[
    &["--dialect", "shellgate"],
    &["--root", "."],
    &["--session", "work"],
    &["--session", "work/chat-1"],
    &["--core", "touch"],
    &["--core", "git status", "--core", "*", "--core=ls"],
    &["--exclude", "rm", "--exclude", "git push"],
    &["--default", "allow"],
    &["--default", "ask"],
    &["--approve", "allow"],
    &["--ask", "terminal"],
    &["--ask", "queue"],
    &["--sandbox", "off"],
    &["--network", "allow"],
    &["--on-missing", "refuse"],
    &["--on-missing", "warn"],
    &["--timeout", "60000ms"],
    &["--timeout", "60s"],
    &["--timeout", "5m"],
    &["--timeout", "24h"],
    &["-C", "."],
    &["-C."],
    &["--directory", "."],
    &["--directory=."],
    &["--json"],
    &["--color", "auto"],
    &["--color", "always"],
    &["--color", "never"],
];

/// Flags with which the rules refuse it.
const REFUSING: &[&[&str]] = &[
    &["--core", "git"],
    &["--exclude", "touch"],
    &["--core", "*", "--exclude", "touch ran"],
    &["--default", "deny"],
    &["--approve", "ask"],
    &["--approve", "on-need"],
    &["--approve", "deny"],
];

/// Flags that are a mistake.
const BAD: &[&[&str]] = &[
    &["--dialect", "klingon"],
    &["--default", "maybe"],
    &["--default", ""],
    &["--default", "Allow"],
    &["--approve", "never"],
    &["--ask", "page"],
    &["--sandbox", "on"],
    &["--sandbox", "readonly"],
    &["--network", "off"],
    &["--on-missing", "ignore"],
    &["--timeout", "0"],
    &["--timeout", "5"],
    &["--timeout", "-1"],
    &["--timeout", "1.5s"],
    &["--timeout", "5d"],
    &["--timeout", "25h"],
    &["--timeout", ""],
    &["--color", "sometimes"],
    &["--json=yes"],
    &["--timeout", "5s", "--timeout", "6s"],
    &["--root"],
];

#[test]
fn every_flag_is_read_and_its_values_are_checked() {
    for_each_user(|place| {
        let ran = place.root().join("ran");
        let call = r#"{"command": "touch ran"}"#;
        for flags in GOOD {
            for (words, tail) in [(["run"], "touch ran"), (["call"], call)] {
                let output = place.output(words.iter().chain(*flags).chain(&[tail]));
                assert_eq!(output.status.code(), Some(0), "{words:?} {flags:?}: {output:?}");
                std::fs::remove_file(&ran).unwrap_or_else(|error| panic!("{flags:?} {error}"));
            }
        }
        for flags in REFUSING {
            for (words, tail, code) in [(["run"], "touch ran", 125), (["call"], call, 3)] {
                let output = place.output(words.iter().chain(*flags).chain(&[tail]));
                assert_eq!(output.status.code(), Some(code), "{words:?} {flags:?}: {output:?}");
                assert!(!ran.exists(), "{flags:?}");
            }
        }
        let mut said = Vec::new();
        for flags in BAD {
            // A flag without its value would take the command for it.
            let tail: &[&str] = if *flags == ["--root"] { &[] } else { &["touch ran"] };
            let output = place.output(["run"].iter().chain(*flags).chain(tail));
            assert_eq!(output.status.code(), Some(125), "{flags:?}: {output:?}");
            said.push(format!("{}\n{}", flags.join(" "), text(&output.stderr)));
            let tail: &[&str] = if *flags == ["--root"] { &[] } else { &[call] };
            let output = place.output(["call"].iter().chain(*flags).chain(tail));
            assert_eq!(output.status.code(), Some(2), "{flags:?}: {output:?}");
            assert!(!ran.exists(), "{flags:?}");
        }
        assert_texts("bad_flags", &said);
    });
}

#[test]
fn a_timeout_can_be_spelled_in_ways() {
    for_each_user(|place| {
        for (spelled, said) in [("300ms", "300 ms"), ("1s", "1 s"), ("1250ms", "1.25 s")] {
            let output = run(place, ["--timeout", spelled, "sleep 1000"]);
            assert_eq!(output.status.code(), Some(124));
            let said = format!("timed_out: the command ran longer than {said} and was stopped\n");
            assert!(text(&output.stderr).contains(&said), "{spelled}: {output:?}");
        }
        // The call's own timeout takes precedence over the flag.
        let answer = place.call_with(
            &["--timeout", "24h"],
            &serde_json::json!({"command": "sleep 1000", "timeout_ms": 300}),
        );
        assert!(answer["error"]["message"].as_str().unwrap().contains("300 ms"), "{answer}");
    });
}

#[test]
fn a_command_starts_in_the_root_or_below() {
    for_each_user(|place| {
        let root = place.root().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("sub/deep")).unwrap();
        let pwd = |flags: &[&str]| {
            let output = run(place, flags.iter().chain(&["pwd; echo $PWD"]));
            assert_eq!(output.status.code(), Some(0), "{flags:?}: {output:?}");
            let (real, variable) = text(&output.stdout).trim_end().split_once('\n').unwrap();
            assert_eq!(real, variable, "{flags:?}");
            std::path::PathBuf::from(real)
        };
        let (absolute, inside) = (root.join("sub"), root.join("sub/deep"));
        let (absolute, inside) = (absolute.to_str().unwrap(), inside.to_str().unwrap());
        let cases: &[(&[&str], &str)] = &[
            (&[], ""),
            (&["-C", "sub"], "sub"),
            (&["-C", "sub/deep"], "sub/deep"),
            (&["-C", inside], "sub/deep"),
            (&["--root", "sub"], "sub"),
            (&["--root", absolute], "sub"),
            (&["--root", "sub", "-C", "deep"], "sub/deep"),
            (&["--root", absolute, "-C", inside], "sub/deep"),
        ];
        for (flags, wanted) in cases {
            assert_eq!(pwd(flags), root.join(wanted), "{flags:?}");
        }
        let refused = run(place, ["--root", "sub", "-C", "..", "touch ran"]);
        assert_eq!(refused.status.code(), Some(125));
        assert!(text(&refused.stderr).starts_with("out_of_scope: "), "{refused:?}");
    });
}

#[test]
fn a_session_is_named_by_flag_or_variable() {
    for_each_user(|place| {
        // A session that runs something has a socket.
        let names = |flags: &[&str], variable: &str| {
            let mut shellgate = place.shellgate(["run"].iter().chain(flags).chain(&["echo ready; cat"]));
            shellgate.env("SHELLGATE_SESSION", variable).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = shellgate.stderr(Stdio::null()).spawn().unwrap();
            let mut ready = [0; 6];
            child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
            let sockets = std::fs::read_dir(place.state().join("sessions")).unwrap();
            let sockets: Vec<_> = sockets.map(|socket| socket.unwrap().file_name()).collect();
            drop(child.stdin.take());
            assert_eq!(child.wait().unwrap().code(), Some(0));
            place.assert_nothing_is_left();
            assert_eq!(sockets.len(), 1, "{sockets:?}");
            sockets
        };
        let (by_root, work) = (names(&[], ""), names(&["--session", "work"], ""));
        assert_ne!(by_root, work);
        assert_eq!(names(&[], "work"), work, "the variable names it too");
        assert_eq!(names(&["--session", "work"], "play"), work, "the flag wins");
        assert_ne!(names(&["--session", "work/chat"], ""), work);
    });
}

/// Runs `run` with these flags and variables.
fn said(place: &Place, flags: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = place.shellgate(["run"].iter().chain(flags).chain(&["sleep 1 & printf out"]));
    command.envs(variables.iter().copied()).output().unwrap()
}

/// Flags, variables, and whether notes are coloured.
type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], bool);

#[test]
fn colour_is_for_terminals_or_on_request() {
    for_each_user(|place| {
        let cases: &[Case<'_>] = &[
            (&[], &[], false),
            (&["--color", "auto"], &[], false),
            (&["--color", "never"], &[], false),
            (&["--color", "always"], &[], true),
            (&[], &[("NO_COLOR", "1")], false),
            (&["--color", "always"], &[("NO_COLOR", "1")], true),
            (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
        ];
        for (flags, variables, is_coloured) in cases {
            let output = said(place, flags, variables);
            let (begin, end) = if *is_coloured { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
            let line = text(&output.stderr).lines().next().unwrap().to_owned();
            let is_as_wanted = line.starts_with(&format!("{begin}shellgate: still running: "))
                && line.ends_with(&format!(" sleep 1{end}"));
            assert!(is_as_wanted, "{flags:?} {variables:?}: {line:?}");
            assert_eq!(text(&output.stdout), "out", "{flags:?}: output is never coloured");
        }
    });
}

#[test]
fn help_is_printed_in_80_columns() {
    let place = Place::new(None);
    let help = |words: &[&str]| {
        let output = place.shellgate(words).env("COLUMNS", "80").output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{words:?}");
        text(&output.stdout).to_owned()
    };
    for words in [
        &["--help"][..],
        &["-h"],
        &["help"],
        &["run", "-h"],
        &["call", "--help"],
        &["call", "-h"],
        &["completions", "--help"],
        &["help", "call"],
    ] {
        let text = help(words);
        assert!(text.contains("Usage: shellgate"), "{words:?}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{words:?}: {text}");
    }
    let run = help(&["run", "--help"]);
    assert_eq!(help(&["help", "run"]), run);
    assert_texts("run_help", &[run]);
    assert!(help(&["--version"]).starts_with("shellgate "));
    // Without a subcommand, the help is printed as an error.
    assert_eq!(place.output([""; 0]).status.code(), Some(2));
}

#[test]
fn completions_are_scripts() {
    let place = Place::new(None);
    for shell in ["bash", "zsh", "fish"] {
        let output = place.output(["completions", shell]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{shell}");
        let script = text(&output.stdout);
        for word in ["shellgate", "run", "call", "sandbox", "workspace", "on-missing"] {
            assert!(script.contains(word), "{shell} completes {word}");
        }
        if shell == "bash" {
            let path = place.write("completions.bash", script);
            let query = format!(
                "source {}; COMP_WORDS=(shellgate run --sandbox st) COMP_CWORD=3; _shellgate shellgate st --sandbox; \
                 echo ${{COMPREPLY[@]}}",
                path.display()
            );
            let output = place.program("bash").args(["-c", &query]).output().unwrap();
            assert_eq!((text(&output.stdout), text(&output.stderr)), ("strict\n", ""));
        }
    }
    assert_eq!(place.output(["completions", "tcsh-or-so"]).status.code(), Some(2));
    let answer: Value = place.call(&serde_json::json!({"command": "true"}));
    assert_eq!(answer["status"], "completed");
    place.assert_nothing_is_left();
}

/// `keeper_hook` must not mistake a host program's own `keeper` subcommand for the start of a keeper.
#[test]
fn a_subcommand_called_keeper_is_the_host_s_own() {
    let place = Place::new(None);
    let output = place.output(["keeper", place.root().to_str().unwrap(), "session", "1"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("unrecognized subcommand 'keeper'"), "{output:?}");
}
