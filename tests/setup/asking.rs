//! Confirming a set-up: on a terminal or with `--yes`, and never from a command that shellgate runs.

use serde_json::{Value, json};

use super::{at, case, complaint, text, values};
use crate::support::terminal::Terminal;
use crate::support::{Place, shellgate, wait_until};

#[test]
fn without_a_terminal_nothing_is_written() {
    let place = Place::new(None);
    let gemini = case("gemini");
    let output = gemini.setup(&place, &[]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(complaint(&output).contains("`--print` shows the change, and `--yes` makes it"), "{output:?}");
    assert!(!gemini.path(&place).exists());
}

#[test]
fn print_changes_nothing() {
    let place = Place::new(None);
    let codex = case("codex");
    codex.write(&place, codex.full);
    let shown = codex.done(&place, &["--print", "--shell-off"]);
    assert!(shown.contains("+[mcp_servers.shellgate]"), "{shown}");
    assert!(
        shown.contains("\n[mcp_servers.shellgate]\n"),
        "the entry is shown without marks, to paste: {shown}"
    );
    assert_eq!(codex.read(&place), codex.full);
    codex.done(&place, &["--yes"]);
    let shown = codex.done(&place, &["--undo", "--print"]);
    assert!(shown.contains("-[mcp_servers.shellgate]"), "{shown}");
    assert_ne!(codex.read(&place), codex.full);
}

#[test]
fn print_is_json_for_programs() {
    let place = Place::new(None);
    for case in super::CASES {
        case.write(&place, case.full);
        let shown = case.done(&place, &["--print", "--json", "--color", "always"]);
        let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{error}: {shown}"));
        let path = case.path(&place).display().to_string();
        assert_eq!(shown["agent"], case.name);
        assert_eq!(shown["changes"][0]["path"], path.as_str());
        let difference = shown["changes"][0]["diff"].as_str().unwrap();
        assert!(difference.contains("\n+") && difference.contains("shellgate"), "{difference}");
        assert!(!difference.contains('\x1b'), "{difference:?}");
        assert_eq!(shown["paste"][0]["path"], path.as_str());
        let pasted = shown["paste"][0]["text"].as_str().unwrap();
        assert!(at(&values(case, pasted), case.entry).is_object(), "{pasted}");
        assert_eq!(case.read(&place), case.full, "nothing is written");
        case.done(&place, &["--yes"]);
        let shown: Value = serde_json::from_str(&case.done(&place, &["--print", "--json"])).unwrap();
        assert_eq!(shown["changes"], json!([]), "nothing is to be changed any more");
        let shown: Value =
            serde_json::from_str(&case.done(&place, &["--undo", "--print", "--json"])).unwrap();
        assert!(shown["changes"][0]["diff"].as_str().unwrap().contains("\n-"), "{shown}");
        assert_eq!(shown["paste"], json!([]));
    }
}

#[test]
fn a_person_is_asked_on_the_terminal() {
    for (answer, code, is_written) in [("y", 0, true), ("n", 3, false), ("", 3, false)] {
        let place = Place::new(None);
        let gemini = case("gemini");
        gemini.write(&place, gemini.full);
        let mut terminal = Terminal::start(&place.shellgate(["setup", "gemini"]));
        terminal.wait_for("Write this? [y/N]");
        assert_eq!(gemini.read(&place), gemini.full, "nothing is written before the answer");
        terminal.press(&format!("{answer}\n"));
        let (shown, exit) = terminal.end();
        assert!(shown.contains("\"shellgate\""), "the change is shown first: {shown}");
        assert_eq!(exit, Some(code), "{answer:?}: {shown}");
        assert_eq!(gemini.read(&place).contains("shellgate"), is_written, "{answer:?}");
    }
}

#[test]
fn a_command_that_shellgate_runs_may_not_set_up_agents() {
    let place = Place::new(None);
    let gemini = case("gemini");
    for words in ["setup gemini --yes", "setup gemini --undo --yes"] {
        let line = format!("{} {words}; echo code $?", shellgate().display());
        // A sandbox hides the state folder from a `shellgate` inside, which then does nothing at all.
        let output = place.output(["run", "--sandbox", "off", &line]);
        assert!(text(&output).contains("code 3"), "{output:?}");
        assert!(complaint(&output).contains("may not change an agent's settings"), "{output:?}");
        assert!(!gemini.path(&place).exists());
    }
    let line = format!("{} setup gemini --print", shellgate().display());
    let shown = place.output(["run", "--sandbox", "off", &line]);
    assert!(text(&shown).contains("To paste by hand"), "looking is fine: {shown:?}");
    gemini.done(&place, &["--yes"]);
    wait_until("it is there", || gemini.path(&place).exists());
    place.assert_nothing_is_left();
}
