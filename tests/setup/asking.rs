//! Who says yes: a person on a terminal, beforehand with `--yes`, and never a command that shellgate runs.

use crate::support::{Place, shellgate, wait_until};
use crate::{case, complaint, text};

#[test]
fn nobody_to_ask_is_a_no() {
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
    assert!(shown.contains("\n[mcp_servers.shellgate]\n"), "and plain, to paste: {shown}");
    assert_eq!(codex.read(&place), codex.full);
    codex.done(&place, &["--yes"]);
    let shown = codex.done(&place, &["--undo", "--print"]);
    assert!(shown.contains("-[mcp_servers.shellgate]"), "{shown}");
    assert_ne!(codex.read(&place), codex.full);
}

#[test]
fn a_person_is_asked_on_the_terminal() {
    for (answer, code, is_written) in [("y", 0, true), ("n", 3, false), ("", 3, false)] {
        let place = Place::new(None);
        let gemini = case("gemini");
        gemini.write(&place, gemini.full);
        let line = format!("{} setup gemini; echo code $?; sync", shellgate().display());
        let mut script = place.program("script");
        script.args(["-qec", &line, "/dev/null"]);
        script.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = script.spawn().unwrap();
        use std::io::Write as _;
        child.stdin.as_mut().unwrap().write_all(format!("{answer}\n").as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let shown = text(&output);
        assert!(shown.contains("Write this? [y/N]"), "{shown}");
        assert!(shown.contains("\"shellgate\""), "the change is shown first: {shown}");
        assert!(shown.contains(&format!("code {code}")), "{answer:?}: {shown}");
        assert_eq!(gemini.read(&place).contains("shellgate"), is_written, "{answer:?}");
    }
}

#[test]
fn a_command_that_shellgate_runs_may_not() {
    let place = Place::new(None);
    let gemini = case("gemini");
    for words in ["setup gemini --yes", "setup gemini --undo --yes"] {
        let line = format!("{} {words}; echo code $?", shellgate().display());
        let output = place.output(["run", &line]);
        assert!(text(&output).contains("code 3"), "{output:?}");
        assert!(complaint(&output).contains("may not change an agent's settings"), "{output:?}");
        assert!(!gemini.path(&place).exists());
    }
    let shown = place.output(["run", &format!("{} setup gemini --print", shellgate().display())]);
    assert!(text(&shown).contains("To paste it"), "looking is fine: {shown:?}");
    gemini.done(&place, &["--yes"]);
    wait_until("it is there", || gemini.path(&place).exists());
    place.assert_nothing_is_left();
}
