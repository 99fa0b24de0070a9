//! `shellgate trust`.

use super::{complaint, json, text};
use crate::support::{Place, for_each_user};

const LOOSE: &str = "[policy]\ncore = [\"touch\"]\n";

fn runs(place: &Place) -> bool {
    let _ = std::fs::remove_file(place.root().join("made"));
    place.strictly(["run", "touch made"]).output().unwrap();
    place.root().join("made").exists()
}

#[test]
fn a_project_file_loosens_nothing_until_a_person_trusts_it() {
    for_each_user(|place| {
        place.write(".shellgate.toml", LOOSE);
        assert!(!runs(place));
        let unasked = place.strictly(["trust"]).output().unwrap();
        assert_eq!(unasked.status.code(), Some(3), "there is no terminal to ask on: {unasked:?}");
        assert!(!runs(place));
        let trusted = place.strictly(["trust", "--yes"]).output().unwrap();
        assert_eq!(trusted.status.code(), Some(0), "{trusted:?}");
        assert!(text(&trusted).contains("  | core = [\"touch\"]"), "the file is shown: {trusted:?}");
        assert!(runs(place));
        let root = place.root().display().to_string();
        let checked = place.strictly(["check", "--root", &root, "touch made"]).output().unwrap();
        assert_eq!(checked.status.code(), Some(0), "{checked:?}");

        place.write(".shellgate.toml", &format!("{LOOSE}\n"));
        assert!(!runs(place), "with one more byte the file is untrusted");
        place.write(".shellgate.toml", LOOSE);
        assert!(runs(place), "this content was trusted before");
        assert_eq!(json(place, &["audit", "verify"])["intact"], true);
    });
}

#[test]
fn another_project_with_the_same_file_is_not_trusted() {
    let place = Place::new(None);
    place.write(".shellgate.toml", LOOSE);
    let other = place.root().join("other");
    std::fs::create_dir(&other).unwrap();
    place.write("other/.shellgate.toml", LOOSE);
    let root = other.display().to_string();
    assert!(place.strictly(["trust", "--yes", "--root", &root]).status().unwrap().success());
    assert!(!runs(&place));
    let made = place.strictly(["run", "--root", &root, "touch made"]).status().unwrap();
    assert!(made.success() && other.join("made").exists());
    place.assert_nothing_is_left();
}

#[test]
fn a_missing_or_broken_file_is_not_trusted() {
    let place = Place::new(None);
    let none = place.output(["trust", "--yes"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(complaint(&none).contains("has no `.shellgate.toml`"), "{none:?}");
    place.write(".shellgate.toml", "[policy\n");
    let broken = place.output(["trust", "--yes"]);
    assert_eq!(broken.status.code(), Some(2));
    assert!(complaint(&broken).contains(".shellgate.toml:1"), "{broken:?}");
}

#[test]
fn no_journal_is_opened_for_a_project_without_a_file() {
    let place = Place::new(None);
    assert_eq!(place.strictly(["check", "touch made"]).status().unwrap().code(), Some(10));
    assert!(!place.state().join("journal.db").exists());
    place.write(".shellgate.toml", LOOSE);
    assert_eq!(place.strictly(["check", "touch made"]).status().unwrap().code(), Some(10));
    assert!(!place.state().join("journal.db").exists(), "nor made, when there is one");
}

/// Runs `trust` on a terminal, and types `answer` when asked.
fn typed(place: &Place, answer: &str) -> String {
    let program = crate::support::shellgate().display().to_string();
    let mut script = place.program("script");
    script.env("XDG_CONFIG_HOME", place.home().join("nothing"));
    script.args(["-qec", &format!("{program} trust; echo code $?"), "/dev/null"]);
    let mut child =
        script.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, answer.as_bytes()).unwrap();
    drop(stdin);
    text(&child.wait_with_output().unwrap())
}

#[test]
fn a_person_is_asked_and_enter_alone_is_a_no() {
    let place = Place::new(None);
    place.write(".shellgate.toml", &format!("{LOOSE}# \u{202e}\n"));
    let shown = typed(&place, "\n");
    assert!(shown.contains("‹U+202E›") && !shown.contains('\u{202e}'), "{shown:?}");
    assert!(shown.contains("code 3"), "{shown:?}");
    assert!(!runs(&place));
    assert!(typed(&place, "y\n").contains("code 0"));
    assert!(runs(&place));
    place.assert_nothing_is_left();
}
