//! `shellgate import`, through the command line.

use super::{text, write_file};
use crate::support::terminal::Terminal;
use crate::support::{Place, for_each_user};

const CLAUDE: &str = r#"{"permissions": {"allow": ["Bash(git diff:*)", "Read(x)"], "deny": ["Bash(rm:*)"]}}"#;

fn imported(place: &Place, flags: &[&str]) -> std::process::Output {
    let file = place.root().join("settings.json");
    write_file(place, &file, CLAUDE);
    let words = [&["import", file.to_str().unwrap()], flags].concat();
    place.output(words)
}

#[test]
fn the_user_s_settings_keep_what_they_have() {
    for_each_user(|place| {
        let user = place.home().join(".config/shellgate/config.toml");
        let before = std::fs::read_to_string(&user).unwrap();
        crate::support::give(user.parent().unwrap(), place.user);
        let shown = imported(place, &["--print"]);
        assert_eq!(shown.status.code(), Some(0), "{shown:?}");
        assert!(text(&shown.stdout).contains("deny = [\"rm\"]"), "{shown:?}");
        assert!(text(&shown.stdout).contains("allow: Read(x)"), "what has no equal is named: {shown:?}");
        let unasked = imported(place, &[]);
        assert_eq!(unasked.status.code(), Some(3), "there is no terminal to ask on: {unasked:?}");
        assert_eq!(std::fs::read_to_string(&user).unwrap(), before, "nothing was written");
        let written = imported(place, &["--yes"]);
        assert_eq!(written.status.code(), Some(0), "{written:?}");
        let after = std::fs::read_to_string(&user).unwrap();
        assert!(after.starts_with(&before), "{after}");
        assert!(after.contains("allow = [\"git diff\"]") && after.contains("deny = [\"rm\"]"), "{after}");
        assert!(imported(place, &["--yes"]).status.success());
        assert_eq!(std::fs::read_to_string(&user).unwrap(), after, "a second time changes nothing");
    });
}

#[test]
fn a_yes_at_the_terminal_writes_and_a_no_does_not() {
    for answer in ["n", "y"] {
        let place = Place::new(None);
        let user = place.home().join(".config/shellgate/config.toml");
        let file = place.root().join("settings.json");
        write_file(&place, &file, CLAUDE);
        let mut terminal = Terminal::start(&place.shellgate(["import", file.to_str().unwrap()]));
        terminal.wait_for("Write this? [y/N]");
        terminal.press(&format!("{answer}\n"));
        let (shown, code) = terminal.end();
        assert!(shown.contains("+deny = [\"rm\"]"), "the change is shown first: {shown}");
        assert_eq!(code, Some(if answer == "y" { 0 } else { 3 }), "{shown}");
        let after = std::fs::read_to_string(&user).unwrap();
        assert_eq!(after.contains("deny = [\"rm\"]"), answer == "y", "{after}");
    }
}

#[test]
fn a_file_that_is_no_settings_of_an_agent_is_an_error() {
    let place = Place::new(None);
    for (name, content, said) in [
        ("a.json", "{\"theme\": 1}", "has no rules of an agent"),
        ("b.json", "{\"permissions\": ", "line 1, column"),
    ] {
        write_file(&place, &place.root().join(name), content);
        let output = place.output(["import", name, "--yes"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains(said), "{output:?}");
    }
    let output = place.output(["import", "absent.json"]);
    assert!(text(&output.stderr).contains("does not exist"), "{output:?}");
}
