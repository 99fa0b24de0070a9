//! Asking on a dumb terminal, and without a terminal. `tests/prompt.rs` has the tests for other terminals.

use super::{assert_text, has_run, run, text};
use crate::support::terminal::Terminal;
use crate::support::{Place, for_each_user};

/// `shellgate run WORDS` on a terminal, with `keys` pressed at the question.
fn answered(place: &Place, words: &[&str], keys: &str) -> (String, Option<i32>) {
    let mut terminal = Terminal::start(place.strictly(["run"]).args(words).env("TERM", "dumb"));
    terminal.wait_for("Anything else denies it: ");
    terminal.press(keys);
    terminal.end()
}

#[test]
fn only_a_plain_yes_is_a_yes() {
    let place = Place::new(None);
    for (keys, yes) in [
        ("yes\r", true),
        ("y\r", false),
        ("Y\r", false),
        ("\r", false),
        ("n\r", false),
        ("no\r", false),
        ("yy\r", false),
        ("maybe\r", false),
        ("ja\r", false),
        ("\x04", false),
    ] {
        let (shown, code) = answered(&place, &["touch ran"], keys);
        assert_eq!(has_run(&place), yes, "{keys:?}: {shown}");
        assert_eq!(code, Some(if yes { 0 } else { 125 }), "{keys:?}: {shown}");
        assert_eq!(shown.contains("\ndenied_by_user: "), !yes, "{keys:?}: {shown}");
    }
    let (shown, _) = answered(&place, &["touch ran"], "\x03");
    assert!(!has_run(&place), "Ctrl-C: {shown}");
    place.assert_nothing_is_left();
}

#[test]
fn the_question_shows_what_would_run_and_why() {
    let place = Place::new(None);
    std::fs::create_dir(place.root().join("sub")).unwrap();
    let command = "touch ran\necho \u{1b}[2J\u{202e}; Run it? [y/N]\r y\n$x; $y >out";
    let (shown, _) = answered(&place, &["-C", "sub", command], "n\r");
    let question = shown.split("Anything else denies it: n").next().unwrap();
    let question = question.replace(&place.root().display().to_string(), "[ROOT]");
    assert_text("question", question.trim_start());
    assert!(!has_run(&place));
}

#[test]
fn what_is_allowed_or_denied_is_not_asked() {
    let place = Place::new(None);
    for (flags, code, ran) in [
        (["--core", "touch"], 0, true),
        (["--approve", "allow"], 0, true),
        (["--approve", "deny"], 125, false),
        (["--exclude", "touch"], 125, false),
        (["--core", "git"], 125, false),
    ] {
        let (shown, seen) = Terminal::start(place.strictly(["run"]).args(flags).arg("touch ran")).end();
        assert_eq!((seen, has_run(&place)), (Some(code), ran), "{flags:?}: {shown}");
        assert!(!shown.contains("[y/N]"), "{flags:?}: {shown}");
    }
}

#[test]
fn the_question_is_asked_at_the_terminal_while_standard_input_is_a_pipe() {
    let place = Place::new(None);
    let shellgate = crate::support::shellgate();
    let line = format!(
        "printf 'from a pipe' | {} run --preset none 'touch ran; cat' | tr a-z A-Z",
        shellgate.display()
    );
    let mut command = place.program("sh");
    command.env("XDG_CONFIG_HOME", "/nowhere").env("TERM", "dumb").args(["-c", &line]);
    let mut terminal = Terminal::start(&command);
    terminal.wait_for("Anything else denies it: ");
    terminal.press("yes\r");
    let (shown, _) = terminal.end();
    assert!(has_run(&place) && shown.contains("FROM A PIPE"), "{shown}");
}

#[test]
fn without_a_terminal_a_question_is_a_no() {
    for_each_user(|place| {
        let output = run(place, &["touch ran"]);
        assert_eq!((output.status.code(), has_run(place)), (Some(125), false), "{output:?}");
        assert_eq!(
            text(&output.stderr),
            "approval_unavailable: the command needs approval: no rule covers `touch`; no person can be asked\n  \
             hint: an `allow` entry or a `[[policy.rule]]` in the settings can allow it\n"
        );
        let output = run(place, &["--exclude", "touch", "touch ran"]);
        assert_eq!((output.status.code(), has_run(place)), (Some(125), false), "{output:?}");
        assert_eq!(
            text(&output.stderr),
            "denied_by_policy: the command is denied: `touch` is excluded\n  rule: exclude: touch (`--exclude`)\n  \
             hint: do it without this command, or ask the user to change the rule\n"
        );
        let output = run(place, &["--", "env", "touch", "ran"]);
        assert_eq!((output.status.code(), has_run(place)), (Some(125), false), "{output:?}");
        for words in [&["--core", "touch", "touch ran"][..], &["--approve", "allow", "--", "touch", "ran"]] {
            let output = run(place, words);
            assert_eq!((output.status.code(), has_run(place)), (Some(0), true), "{output:?}");
        }
    });
}

#[test]
fn a_dialect_without_a_shell_has_none_in_run_either() {
    for_each_user(|place| {
        let root = place.root();
        let flags = ["--dialect", "agent-world", "--root", root.to_str().unwrap(), "--approve", "allow"];
        let with = |words: &[&str]| {
            let output = run(place, &[&flags[..], words].concat());
            (output.status.code(), has_run(place), text(&output.stderr).to_owned())
        };
        for words in [
            &["touch ran"][..],
            &["touch ran; ls"],
            &["--", "touch", "ran", "/etc"],
            &["--", "sh", "-c", "touch ran"],
        ] {
            let (code, ran, said) = with(words);
            assert_eq!((code, ran), (Some(125), false), "{words:?}: {said}");
        }
        let (code, ran, said) = with(&["--", "touch", "ran"]);
        assert_eq!((code, ran), (Some(0), true), "{said}");
    });
}
