//! A text that is refused is refused as a whole: nothing of it was typed, or the error says what was.

use serde_json::Value;

use super::job::Job;
use super::judged::{is_refused, passes, send};
use crate::support::{for_each_user, wait_until};

/// Texts that are refused as a whole, and the beginning of the error.
const REFUSED: &[(&[&str], &str)] = &[
    (&["echo one\ttwo"], "denied_by_policy: keys that edit"),
    (&["--no-newline", "echo ab", "--key", "Tab"], "denied_by_policy: keys that edit"),
    (&["--no-newline", "echo ab", "--key", "Up", "--key", "Enter"], "denied_by_policy: keys that edit"),
    (&["touch y\nrm x"], "denied_by_policy: the command is denied: `rm` is excluded"),
    (&["touch y\ntouch y\necho 'a"], "denied_by_policy: the line is not a whole command"),
    (&["touch y\nsource f"], "approval_unavailable"),
    (&["touch y", "--key", "Tab"], "denied_by_policy: keys that edit"),
    (&["--no-newline", "touch y", "--eof"], "denied_by_policy: a line was begun"),
    (&["touch y\n\u{15}rm x"], "denied_by_policy"),
    (&["touch y\n\u{3}rm x"], "denied_by_policy"),
];

#[test]
fn a_refused_text_types_nothing() {
    for_each_user(|place| {
        place.write("x", "");
        for shell in ["bash --norc", "bash --norc -s", "dash", ". /dev/stdin"] {
            let job = Job::start(place, shell);
            for (args, code) in REFUSED {
                let before = job.printed();
                let output = send(place, &job, args);
                let said = String::from_utf8(output.stderr).unwrap();
                assert_eq!(output.status.code(), Some(3), "{shell}: {args:?}: {said}");
                assert!(said.starts_with(code) || shell == "dash", "{shell}: {args:?}: {said}");
                assert!(!said.contains("was typed"), "{shell}: {args:?}: {said}");
                assert_eq!(
                    job.printed().matches("touch").count(),
                    before.matches("touch").count(),
                    "{args:?}"
                );
            }
            passes(place, &job, &["touch z"]);
            passes(place, &job, &["--eof"]);
            wait_until("the line arrived", || place.root().join("z").exists());
            job.ends();
            assert!(!place.root().join("y").exists() && place.root().join("x").exists(), "{shell}");
            assert!(!job.printed().contains("not found"), "{shell}: {}", job.printed());
            std::fs::remove_file(place.root().join("z")).unwrap();
        }
    });
}

/// The key for the signal comes before the line in the same text.
#[test]
fn a_signal_before_a_refused_line_is_not_sent() {
    for_each_user(|place| {
        let job = Job::start(place, "bash --norc");
        passes(place, &job, &["--no-newline", "echo kept"]);
        is_refused(place, &job, &["--no-newline", "\u{3}rm x\n"], "denied_by_policy");
        passes(place, &job, &[" whole"]);
        wait_until("it ran", || job.printed().contains("\rkept whole"));
    });
}

#[test]
fn lines_that_may_run_are_typed_one_after_the_other() {
    for_each_user(|place| {
        let job = Job::start(place, "bash --norc");
        passes(place, &job, &["mkdir sub\ncd sub\ntouch one\ntouch two"]);
        wait_until("the first ran", || place.root().join("sub/two").exists());
        assert!(place.root().join("sub/one").exists());
        // Several lines are one question, and one entry in the record.
        job.types(&["--approve", "allow", "--default", "ask", "touch three\nset -o noclobber\ntouch four"]);
        wait_until("all ran", || place.root().join("sub/four").exists());
        let output = place.output(["history", "--json"]);
        let history: Value = serde_json::from_slice(&output.stdout).unwrap();
        let all = history["executions"].as_array().or(history.as_array()).unwrap();
        let texts: Vec<&str> =
            all.iter().filter_map(|one| one["command"].as_str().or(one["text"].as_str())).collect();
        assert!(texts.contains(&"touch one"), "{texts:?}");
        let whole = "touch three\nset -o noclobber\ntouch four";
        assert_eq!(
            texts.iter().filter(|text| text.contains("three") || text.contains("four")).collect::<Vec<_>>(),
            [&whole],
            "{texts:?}"
        );
    });
}

/// Which program reads the later lines can't be known in advance.
#[test]
fn the_error_names_the_text_that_was_typed_before_a_refusal() {
    for_each_user(|place| {
        place.write("x", "");
        let job = Job::start(place, "read a; bash --norc");
        let output = send(place, &job, &["my answer\nrm x"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(r#""my answer\n" was typed before that"#), "{said}");
        assert!(place.root().join("x").exists());
    });
}
