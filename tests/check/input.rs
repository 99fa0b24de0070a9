//! The sources of a command, and commands that can't run.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use super::{assert_texts, check, shown, text};
use crate::support::{Place, for_each_user};

/// The longest text that the system takes as one word.
const LONGEST: usize = 131_071;

/// `check WORDS` with `input` in a pipe.
fn piped(place: &Place, words: &[&str], input: &[u8]) -> Output {
    let mut command = place.strictly(["check"]);
    let command = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Input that is too long is not read to its end.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn a_text_is_the_same_from_wherever_it_comes() {
    for_each_user(|place| {
        let command = "git status &&\n  ls 'é' # x\n";
        let file = place.write("a file", command);
        let direct = check(place, &["--core", "git", "--json", command]);
        assert_eq!(direct.status.code(), Some(20));
        let outputs = [
            piped(place, &["--core", "git", "--json", "-"], command.as_bytes()),
            check(place, &["--core", "git", "--json", "--file", file.to_str().unwrap()]),
            check(place, &["--core", "git", "--json", "--file", "a file"]),
            check(place, &["--core", "git", "--json", "--", command]),
        ];
        for output in outputs {
            assert_eq!(output, direct);
        }
        // After `--` a dash is an argument.
        let dash: Value = serde_json::from_slice(&check(place, &["--json", "--", "-"]).stdout).unwrap();
        assert_eq!(dash["commands"][0]["argv"], json!(["-"]));
        let output = check(place, &["--file", "a file", "ls"]);
        assert_eq!(output.status.code(), Some(2), "one or the other: {output:?}");
    });
}

#[test]
fn files_that_cannot_be_read_are_no_verdict() {
    for_each_user(|place| {
        std::fs::create_dir(place.root().join("folder")).unwrap();
        let mut said = vec![
            shown(place, &["--file", "no/such/file"]),
            shown(place, &["--file", "folder"]),
            shown(place, &["--file", ""]),
        ];
        let closed = place.write("closed", "ls");
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
        if place.user.is_some() {
            assert_eq!(check(place, &["--file", "closed"]).status.code(), Some(2));
        }
        let mut command = place.program("sh");
        command.args(["-c", "exec \"$0\" check - <&-"]).arg(crate::support::shellgate());
        let output = command.output().unwrap();
        said.push(format!("closed standard input\n{}", text(&output.stdout)));
        assert_texts("unreadable", &said);
    });
}

#[test]
fn commands_that_can_not_run_are_denied() {
    for_each_user(|place| {
        let longest = format!("ls {}", "x".repeat(LONGEST - 3));
        let longer = format!("{longest}x");
        std::fs::write(place.root().join("longest"), &longest).unwrap();
        std::fs::write(place.root().join("longer"), &longer).unwrap();
        std::fs::write(place.root().join("cut"), format!("ls {}é", "x".repeat(LONGEST - 3))).unwrap();
        std::fs::write(place.root().join("latin"), b"ls caf\xe9\n").unwrap();
        std::fs::write(place.root().join("nul"), b"ls\0rm x\n").unwrap();
        let words = |file| ["--default", "allow", "--file", file];
        assert_eq!(check(place, &words("longest")).status.code(), Some(0), "as long as it may be");
        let mut said: Vec<String> =
            ["longer", "cut", "latin", "nul", "/dev/null"].map(|file| shown(place, &words(file))).into();
        said.extend(["", " \n\t"].map(|text| shown(place, &[text])));
        said.push(shown(place, &["--", "", "x"]));
        assert!(said.iter().all(|text| text.ends_with("exit code 20\n")), "{said:?}");
        assert_texts("unrunnable", &said);
        let long = place.root().join("longer");
        let output = piped(place, &["--json", "-"], &std::fs::read(long).unwrap());
        assert_eq!(output.status.code(), Some(20));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&answer["verdict"], &answer["commands"]), (&json!("deny"), &json!([])));
        assert_eq!(answer["reasons"][0]["code"], "invalid_input");
        // An argument need not be UTF-8.
        let word = OsString::from_vec(b"ls caf\xe9".to_vec());
        let output = place.strictly(["check"]).arg(&word).output().unwrap();
        assert_eq!(output.status.code(), Some(20), "{output:?}");
        assert!(text(&output.stdout).contains("not UTF-8"), "{output:?}");
    });
}
