//! Every key of the table can be set, shown and read back.

use super::{Folder, is_file};
use crate::{Settings, keys};

/// A value that isn't the built-in one.
fn other(path: &str) -> &'static str {
    match path {
        "workspace.working_directory" => "\"/work\"",
        "policy.core" | "policy.exclude" => "[\"git\", \"cargo test\", \"*\"]",
        "policy.default" | "policy.substitution" | "approval.mode" | "sandbox.network" => "\"deny\"",
        "policy.redirects" => "\"scope\"",
        "approval.from" => "[\"queue\", \"terminal\"]",
        "sandbox.mode" => "\"read-only\"",
        "policy.preset" => "\"open\"",
        "policy.allow" | "policy.ask" | "policy.deny" => "[\"git fetch\", \"npm run *\"]",
        "sandbox.on_missing" => "\"warn\"",
        "output.condense" => "\"off\"",
        "log.level" => "\"debug\"",
        "environment.inherit" => "\"core\"",
        "sandbox.writable" | "sandbox.unreadable" => "[\"/a b\", \"~/c\"]",
        "environment.keep" | "environment.remove" => "[\"A\", \"B_*\"]",
        "environment.set" => "{ \"A\" = \"1\", \"B\" = \"say \\\"hi\\\"\" }",
        "sandbox.debug" => "true",
        "sandbox.observe" | "journal.required" | "environment.quiet" | "environment.hide_secrets" => "false",
        _ => "77",
    }
}

#[test]
fn every_key() {
    for key in keys::all().iter().filter(|key| key.path != "policy.rule") {
        let value = other(key.path);
        assert_ne!(Settings::default().shown(key.path).as_deref(), Some(value), "{}", key.path);
        for text in
            [format!("{} = {value}\n", key.path), format!("[{}]\n{} = {value}\n", key.section(), key.name())]
        {
            let folder = Folder::new().user(&text);
            let settings = folder.load().unwrap();
            let shown = settings.shown(key.path).unwrap();
            assert_eq!(
                shown.replace('\'', "\""),
                value.replace("\"say \\\"hi\\\"\"", "\"say \"hi\"\""),
                "{}",
                key.path
            );
            assert!(is_file(settings.origin(key.path), &folder.path("user.toml")), "{}", key.path);
            assert!(
                key.entries(&settings).iter().all(|origin| is_file(Some(origin), &folder.path("user.toml")))
            );
            // No other key changed.
            for other in keys::all().iter().filter(|other| other.path != key.path) {
                assert_eq!(settings.shown(other.path), Settings::default().shown(other.path), "{}", key.path);
            }
            // The shown value can be read again.
            let again = Folder::new().user(&format!("{} = {shown}\n", key.path)).load().unwrap();
            assert_eq!(again.shown(key.path), Some(shown));
        }
    }
}

#[test]
fn the_reference_is_a_file_that_changes_nothing() {
    let settings = Folder::new().user(&keys::reference()).load().unwrap();
    for key in keys::all() {
        assert_eq!(settings.shown(key.path), Settings::default().shown(key.path), "{}", key.path);
    }
    assert_eq!(settings.policy.core, None);
}

#[test]
fn every_number_keeps_to_its_range() {
    for key in keys::all() {
        let wanted = key.wanted();
        let Some((min, max)) =
            wanted.strip_prefix("a whole number from ").and_then(|range| range.split_once(" to "))
        else {
            continue;
        };
        let (min, max): (i64, i64) = (min.parse().unwrap(), max.parse().unwrap());
        for (number, accepted) in [(min, true), (max, true), (min - 1, false), (max + 1, false)] {
            let folder = Folder::new().user(&format!("{} = {number}\n", key.path));
            assert_eq!(folder.load().is_ok(), accepted, "{} = {number}", key.path);
        }
    }
}

#[test]
fn every_word_can_be_set() {
    for key in keys::all() {
        let wanted = key.wanted();
        let Some(names) = wanted.strip_prefix("one of ") else { continue };
        for name in names.split(", ").map(|name| name.trim_matches('`')) {
            let settings = Folder::new().user(&format!("{} = \"{name}\"\n", key.path)).load().unwrap();
            assert_eq!(settings.shown(key.path), Some(format!("\"{name}\"")));
        }
    }
}
