//! `shellgate check`: prints the verdict for people and programs, and runs nothing.

mod input;
mod json;
mod pictures;
mod rules;

use std::process::Output;

use crate::support::{Place, for_each_user};

/// Runs `shellgate check WORDS`.
fn check(place: &Place, words: &[&str]) -> Output {
    place.strictly(["check"]).args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The command line, its output and its exit code, as a person sees them.
fn shown(place: &Place, words: &[&str]) -> String {
    let output = check(place, words);
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    format!("check {words:?}\n{said}exit code {}\n", output.status.code().unwrap())
}

/// Compares texts with the snapshot called `name`; places differ from run to run.
fn assert_texts(name: &str, texts: &[String]) {
    insta::with_settings!({ filters => vec![(r#"[^\s`"(]*/shellgate-test-\w+"#, "[PLACE]")], omit_expression => true }, {
        insta::assert_snapshot!(name, texts.join("\n----\n"));
    });
}

#[test]
fn the_exit_code_is_the_verdict() {
    for_each_user(|place| {
        let cases: &[(&[&str], i32)] = &[
            (&["--core", "git", "git status"], 0),
            (&["--core", "git", "git status && git log | git cat-file --batch"], 0),
            (&["--default", "allow", "ls"], 0),
            (&["# a comment"], 0),
            (&["git status"], 10),
            (&["--core", "git", "$x status"], 10),
            (&["--core", "git", "git status > out"], 10),
            (&["--core", "git", "ls"], 20),
            (&["--exclude", "rm", "--default", "allow", "ls; sudo rm x"], 20),
            (&["if true"], 20),
            (&[""], 20),
            // The approval mode decides a question.
            (&["--approve", "allow", "git status"], 0),
            (&["--approve", "deny", "git status"], 20),
            (&["--approve", "allow", "--exclude", "git", "git status"], 20),
            (&["--approve", "on-need", "git status"], 10),
            // A program and its arguments.
            (&["--core", "git", "--", "git", "status"], 0),
            (&["--core", "git", "--", "git status"], 0),
            (&["--core", "echo", "--", "echo", "$(ls)", "&&", "ls", ">x"], 0),
            (&["--exclude", "rm", "--", "sudo", "rm", "x"], 20),
            // Nothing was judged.
            (&[], 2),
            (&["ls", "-la"], 2),
            (&["ls", "--", "x"], 2),
            (&["--bogus", "ls"], 2),
            (&["--default", "perhaps", "ls"], 2),
            (&["--root", "/no/such/folder", "ls"], 2),
            (&["-C", "no/such/folder", "ls"], 2),
            (&["-C", "..", "ls"], 2),
        ];
        for (words, code) in cases {
            let output = check(place, words);
            assert_eq!(output.status.code(), Some(*code), "{words:?}: {output:?}");
            assert_eq!(output.stdout.is_empty(), *code == 2, "{words:?}: {output:?}");
            assert_eq!(output.stderr.is_empty(), *code != 2, "{words:?}: {output:?}");
        }
    });
}

#[test]
fn nothing_is_run_and_nothing_is_created() {
    for_each_user(|place| {
        let state = place.state().join("new");
        let listed = || {
            let output = place.program("find").args([place.root(), place.home(), place.state()]).output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        let before = listed();
        for words in [
            &["--default", "allow", "touch ran; echo x > out; echo $(touch ran)"][..],
            &["--dialect", "agent-world", "--", "touch", "ran"],
            &["--explain", "ls"],
            &["--json", "ls"],
        ] {
            let output =
                place.strictly(["check"]).args(words).env("SHELLGATE_HOME", &state).output().unwrap();
            assert!(matches!(output.status.code(), Some(0 | 10)), "{output:?}");
        }
        assert_eq!(before, listed());
        // It works even with an unusable state folder, and without HOME.
        let unusable = place.write("file", "");
        let output = place.strictly(["check", "ls"]).env("SHELLGATE_HOME", unusable).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(10), ""));
        let output = place.strictly(["check", "ls"]).env_remove("SHELLGATE_HOME").env_remove("HOME").output();
        assert_eq!(output.unwrap().status.code(), Some(10));
        // The same command changes something when it runs.
        assert_eq!(place.output(["run", "touch ran"]).status.code(), Some(0));
        assert_ne!(before, listed());
    });
}

#[test]
fn broken_settings_are_a_sentence_and_exit_2() {
    for_each_user(|place| {
        let files = [
            ("[policy\n", "toml"),
            ("[policy]\ncore = \"git\"\n", "toml"),
            ("[policy]\nexcludes = []\n", "toml"),
            ("[[policy.rule]]\nprefix = [\"git\"]\n", "toml"),
            ("[policy]\nsubstitution = \"perhaps\"\n", "toml"),
            ("{\"tools\": {\"core\": 1}}", "json"),
        ];
        let mut said = Vec::new();
        for (content, kind) in files {
            let file = place.write(&format!("settings.{kind}"), content);
            let words = ["--config", file.to_str().unwrap(), "ls"];
            let output = check(place, &words);
            assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{content}");
            said.push(format!("{content}\n{}", text(&output.stderr)));
        }
        let words = ["--config", "/no/such/file", "ls"];
        said.push(text(&check(place, &words).stderr).to_owned());
        assert_texts("broken_settings", &said);
    });
}

#[test]
fn a_closed_output_pipe_is_no_error() {
    let place = Place::new(None);
    let mut command = place.program("bash");
    let script = "set -o pipefail; \"$0\" check --default allow \"$(printf 'ls; %.0s' {1..7000})\" | head -1";
    let output = command.args(["-c", script]).arg(crate::support::shellgate()).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = place.strictly(["check", "ls"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("No space left on device"), "{output:?}");
}
