//! The command line as people and scripts use it: arguments, exit codes, streams.

mod call;
mod flags;
mod foreign_texts;
mod streams;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use crate::support::{Place, for_each_user};

/// `shellgate run WORDS`, to its end.
fn run<S: AsRef<OsStr>>(place: &Place, words: impl IntoIterator<Item = S>) -> Output {
    place.shellgate(["run"]).args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The text without blanks at the ends of lines, which snapshots must not have.
fn tidy(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Compares texts with the snapshot called `name`; places differ from run to run.
fn assert_texts(name: &str, texts: &[String]) {
    insta::with_settings!({ filters => vec![(r#"[^\s`"]*/shellgate-test-\w+"#, "[PLACE]")], omit_expression => true }, {
        insta::assert_snapshot!(name, tidy(&texts.join("\n----\n")));
    });
}

#[test]
fn run_exits_as_its_command_does() {
    for_each_user(|place| {
        place.write("plain", "text\n");
        let script = place.write("script", "no interpreter is named\n");
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(place.root().join("folder")).unwrap();
        let cases: &[(&[&str], i32)] = &[
            (&["true"], 0),
            (&["exit 7"], 7),
            (&["exit 255"], 255),
            (&["exit 256"], 0),
            (&["exit 125"], 125),
            (&["--", "sh", "-c", "exit 9"], 9),
            (&["kill -HUP $$"], 129),
            (&["kill -KILL $$"], 137),
            (&["kill -TERM $$"], 143),
            (&["kill -USR1 $$"], 138),
            (&["sh -c 'kill -TERM $$'; exit"], 143),
            (&["no-such-program"], 127),
            (&["./plain"], 126),
            (&["--", "no-such-program", "x"], 127),
            (&["--", "./no-such-program", "x"], 127),
            (&["--", "./plain", "x"], 126),
            (&["--", "./script", "x"], 126),
            (&["--", "./folder", "x"], 126),
            (&["--timeout", "100ms", "sleep 1000"], 124),
            (&["--timeout", "100ms", "--", "sleep", "1000"], 124),
        ];
        for (words, code) in cases {
            let output = run(place, *words);
            assert_eq!(output.status.code(), Some(*code), "{words:?}: {output:?}");
        }
    });
}

#[test]
fn a_refused_command_exits_125_and_runs_nothing() {
    for_each_user(|place| {
        let broken = place.write("broken.toml", "[limits\n");
        let broken = broken.to_str().unwrap();
        let cases: &[&[&str]] = &[
            &["--sandbox", "off", "--network", "deny", "touch ran"],
            &["--config", broken, "touch ran"],
            &["--config", "/no/such/file", "touch ran"],
            &["--root", "/no/such/folder", "touch ran"],
            &["-C", "no/such/folder", "touch ran"],
            &["-C", "..", "touch ran"],
            &["--session", "", "touch ran"],
            &["--session", "a\nb", "touch ran"],
            &["--core", "", "touch ran"],
            &["--exclude", " ", "touch ran"],
            &[""],
            &["  "],
            &["--", ""],
            &["--", "", "touch ran"],
        ];
        let mut said = Vec::new();
        for words in cases {
            let output = run(place, *words);
            assert_eq!(output.status.code(), Some(125), "{words:?}: {output:?}");
            assert_eq!(text(&output.stdout), "", "{words:?}");
            assert!(!place.root().join("ran").exists(), "{words:?}");
            said.push(format!("{words:?}\n{}", text(&output.stderr)));
        }
        assert_texts("refused", &said);
        assert_eq!(run(place, ["touch ran"]).status.code(), Some(0));
        assert!(place.root().join("ran").exists(), "without these it runs");
    });
}

#[test]
fn without_bash_nothing_runs() {
    for_each_user(|place| {
        let tools = place.root().join("tools");
        std::fs::create_dir(&tools).unwrap();
        let mut said = Vec::new();
        for (what, path) in [("nowhere", "/no/such/folder"), ("nothing", ""), ("relative", "bin:.")] {
            let output = place.shellgate(["run", "touch ran"]).env("PATH", path).output().unwrap();
            assert_eq!(output.status.code(), Some(125), "{what}: {output:?}");
            assert!(!place.root().join("ran").exists());
            said.push(format!("PATH is {what}\n{}", text(&output.stderr)));
        }
        assert_texts("no_bash", &said);
        // A file `bash` that isn't executable doesn't count.
        std::fs::write(tools.join("bash"), "").unwrap();
        let output = place.shellgate(["run", "touch ran"]).env("PATH", &tools).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{output:?}");
        // A program by its path needs no bash.
        let words = ["run", "--", &crate::support::program_file("touch"), "ran"];
        let output = place.shellgate(words).env("PATH", "/no/such/folder").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(place.root().join("ran").exists());
    });
}

#[test]
fn one_word_is_text_for_bash_and_several_behind_dashes_are_arguments() {
    for_each_user(|place| {
        place.write("a file", "");
        for words in [&["echo $((6 * 7)) *"][..], &["--", "echo $((6 * 7)) *"]] {
            assert_eq!(text(&run(place, words).stdout), "42 a file\n", "{words:?}");
        }
        let typed = [
            "$HOME",
            "*",
            "it's",
            "a b",
            "",
            "~",
            "|",
            "&&",
            ";",
            ">out",
            "2>&1",
            "`id`",
            "$(id)",
            "#x",
            "\"",
            "\\",
            "a\nb",
            "--",
            "-n",
            "--timeout",
            "é",
            "{a,b}",
            "!x",
        ];
        let output = run(place, ["--", "printf", "%s\\n"].into_iter().chain(typed));
        assert_eq!(text(&output.stdout), typed.map(|word| format!("{word}\n")).concat());
        assert!(!place.root().join("out").exists());
        // `argv[0]` is what was typed.
        let output = run(place, ["--", "bash", "-c", "echo $0 $1", "x"]);
        assert_eq!(text(&output.stdout), "x\n");
    });
}

#[test]
fn words_without_dashes_are_a_mistake_that_is_explained() {
    for_each_user(|place| {
        let mut said = Vec::new();
        let cases: [&[&str]; 6] = [
            &["touch", "ran"],
            &["touch ran", "-l"],
            &["touch ran", "--", "x"],
            &["--bogus", "touch ran"],
            &["--time-out", "5s", "touch ran"],
            &[],
        ];
        for words in cases {
            let output = run(place, words);
            assert_eq!(output.status.code(), Some(125), "{words:?}: 2 could be the command's own");
            assert_eq!(text(&output.stdout), "");
            assert!(!place.root().join("ran").exists(), "{words:?}");
            said.push(format!("{words:?}\n{}", text(&output.stderr)));
        }
        assert_texts("mistakes", &said);
        let output = place.output(["call", "a", "b"]);
        assert_eq!(output.status.code(), Some(2), "of anything but `run`, a usage error is 2");
    });
}

#[test]
fn words_that_are_no_text_are_refused() {
    for_each_user(|place| {
        let word = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let cases = [
            vec![word(b"touch ran; : \xff")],
            vec![word(b"--"), word(b"touch"), word(b"ran"), word(b"\xff")],
            vec![word(b"--"), word(b"\xfftouch"), word(b"ran")],
            vec![word(b"-C"), word(b"\xff"), word(b"touch ran")],
            vec![word(b"--session"), word(b"\xff"), word(b"touch ran")],
        ];
        for words in cases {
            let output = run(place, &words);
            assert_eq!(output.status.code(), Some(125), "{words:?}: {output:?}");
            assert!(text(&output.stderr).contains("UTF-8"), "{words:?}: {output:?}");
            assert!(!place.root().join("ran").exists(), "{words:?}");
        }
        // Paths are bytes: they need not be text.
        let root = place.root().join(word(b"root-\xff"));
        std::fs::create_dir(&root).unwrap();
        let output = run(place, [word(b"--root"), word(b"root-\xff"), word(b"pwd")]);
        assert!(output.stdout.ends_with(b"/root-\xff\n"), "{output:?}");
    });
}
