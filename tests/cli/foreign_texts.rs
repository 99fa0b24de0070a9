//! Foreign text in every place of a message: a terminal never gets codes from it.

use std::os::unix::ffi::OsStrExt as _;

use serde_json::json;

use crate::support::{Place, give};

/// Codes that set the clipboard, clear the screen, turn the writing direction and overwrite the line.
const HOSTILE: &str = "x\u{1b}]52;c;QUFB\u{7}\u{1b}[2J\u{9b}3J\u{202e}\r\u{8}y";

/// Every command, with `@` for the hostile text.
const LINES: &[&[&str]] = &[
    &["@"],
    &["--@"],
    &["run"],
    &["run", "@", "@"],
    &["run", "--@", "ls"],
    &["run", "--timeout", "@", "ls"],
    &["run", "--sandbox", "@", "ls"],
    &["run", "--approve", "@", "ls"],
    &["run", "--default", "@", "ls"],
    &["run", "--network", "@", "ls"],
    &["run", "--dialect", "@", "ls"],
    &["run", "--config", "@", "ls"],
    &["run", "--root", "@", "ls"],
    &["run", "--session", "@", "ls"],
    &["run", "-C", "@", "ls"],
    &["run", "--exclude", "@", "@"],
    &["run", "--core", "@", "@ x"],
    &["run", "--", "@"],
    &["run", "--", "./@"],
    &["run", "--", "/bin/ls", "@"],
    &["run", "$(@"],
    &["call", "@"],
    &["call", "--dialect", "@", "{}"],
    &["call", "{\"command\": 5, \"@\": 1}"],
    &["check", "@"],
    &["check", "--explain", "ls @"],
    &["check", "--root", "@", "ls"],
    &["mcp", "--http", "@"],
    &["mcp", "--root", "@"],
    &["schema", "@"],
    &["schema", "--dialect", "@"],
    &["history", "show", "@"],
    &["history", "forget", "@"],
    &["history", "--since", "@"],
    &["history", "--search", "@"],
    &["history", "--session", "@"],
    &["history", "--status", "@"],
    &["audit", "@"],
    &["audit", "verify", "@"],
    &["approvals", "approve", "@"],
    &["approvals", "deny", "@"],
    &["jobs", "@"],
    &["jobs", "--session", "@"],
    &["logs", "@"],
    &["wait", "@"],
    &["wait", "--pattern", "(@", "x"],
    &["background", "@"],
    &["stop", "@"],
    &["stop", "--session", "@"],
    &["send", "@", "text"],
    &["attach", "@"],
    &["resize", "@", "80x24"],
    &["trust", "@"],
    &["setup", "@"],
    &["doctor", "--@"],
    &["completions", "@"],
    &["help", "@"],
    &["trust"],
    &["doctor"],
    &["setup"],
    &["history"],
    &["jobs"],
];

/// The first character that a terminal would obey, besides colors, line ends and tabs.
fn obeyed(text: &str) -> Option<char> {
    let mut rest = text.to_owned();
    while let Some(at) = rest.find("\u{1b}[") {
        let Some(end) = rest[at + 2..].find(|c: char| !c.is_ascii_digit() && c != ';') else { break };
        if rest[at + 2 + end..].starts_with('m') {
            rest.replace_range(at..=at + 2 + end, "");
        } else {
            return Some('\u{1b}');
        }
    }
    rest.chars().find(|c| (c.is_control() && !"\n\t".contains(*c)) || *c == '\u{202e}')
}

fn assert_harmless(place: &Place, words: &[&str]) {
    let mut command = place.strictly(words);
    let output = command.env("CLICOLOR_FORCE", "1").env("TERM", "xterm").output().unwrap();
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(obeyed(&text), None, "{words:?}: {name}: {text:?}");
    }
}

#[test]
fn arguments_reach_no_terminal_as_codes() {
    let place = Place::new(None);
    for line in LINES {
        let words: Vec<String> = line.iter().map(|word| word.replace('@', HOSTILE)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_harmless(&place, &words);
    }
}

#[test]
fn names_of_folders_and_texts_of_files_reach_no_terminal_as_codes() {
    let place = Place::new(None);
    let folder = place.root().join(HOSTILE);
    std::fs::create_dir(&folder).unwrap();
    give(&folder, place.user);
    let name = std::str::from_utf8(folder.as_os_str().as_bytes()).unwrap().to_owned();
    place.call(&json!({"command": format!("echo '{HOSTILE}' # {HOSTILE}")}));
    for content in [
        "[policy]\ncore = [\"@\"]\n".to_owned(),
        "[policy]\n\"@\" = 1\n".to_owned(),
        "[limits]\ntimeout_ms = \"@\"\n".to_owned(),
        "[[policy.rule]]\nprefix = [\"@\"]\ndecision = \"deny\"\nreason = \"@\"\n".to_owned(),
        "@ = [".to_owned(),
    ] {
        let escaped: String = HOSTILE.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        for value in [HOSTILE.to_owned(), escaped] {
            std::fs::write(folder.join(".shellgate.toml"), content.replace('@', &value)).unwrap();
            for words in [
                &["run", "--root", &name, "ls"][..],
                &["run", "--root", &name, &format!("{HOSTILE} x")],
                &["check", "--root", &name, "ls"],
                &["trust", &name],
                &["trust", "--yes", &name],
                &["doctor", "--root", &name],
                &["run", "--config", &format!("{name}/.shellgate.toml"), "ls"],
                &["history"],
                &["jobs"],
                &["stop", "--session", &name],
            ] {
                assert_harmless(&place, words);
            }
        }
    }
}
