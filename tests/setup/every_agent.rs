//! Tests that hold for every agent.

use super::{CASES, Case, at, comments, complaint, values};
use crate::support::Place;

/// Asserts that `after` has everything that `before` has.
fn assert_kept(case: &Case, before: &str, after: &str) {
    let (mut wanted, mut is) = (values(case, before), values(case, after));
    let (table, name) = (case.entry[0], case.entry[1]);
    is[table].as_object_mut().unwrap().shift_remove(name);
    if wanted.is_null() {
        wanted = serde_json::json!({});
    }
    if wanted.get(table).is_none() {
        is.as_object_mut().unwrap().shift_remove(table);
    }
    assert_eq!(is, wanted, "{}: {after}", case.name);
    assert_eq!(comments(after), comments(before), "{}: {after}", case.name);
}

/// Asserts that the entry starts the program under test as a server.
fn assert_entry(case: &Case, after: &str) {
    let entry = at(&values(case, after), case.entry).to_string();
    let program = crate::support::shellgate().canonicalize().unwrap();
    assert!(entry.contains(&format!("\"{}\"", program.display())), "{}: {entry}", case.name);
    assert!(entry.contains("\"mcp\""), "{}: {entry}", case.name);
}

#[test]
fn set_up_and_taken_back() {
    let no_file = "";
    for case in CASES {
        for before in [no_file, case.full] {
            let place = Place::new(None);
            if !before.is_empty() {
                case.write(&place, before);
            }
            let shown = case.done(&place, &["--yes"]);
            assert!(shown.contains("+++ ") && shown.contains("written: "), "{shown}");
            let after = case.read(&place);
            assert_entry(case, &after);
            assert_kept(case, before, &after);

            let again = case.done(&place, &["--yes"]);
            assert!(again.contains("nothing to do, it is already set up"), "{again}");
            assert_eq!(case.read(&place), after, "{}", case.name);

            case.done(&place, &["--undo", "--yes"]);
            if before.is_empty() {
                assert!(!case.path(&place).exists(), "{}: there was no file", case.name);
                let folder = place.home().join(case.file.split('/').next().unwrap());
                let own = !case.file.starts_with(".config");
                assert!(!own || !folder.exists(), "{}: nor this folder", case.name);
            } else {
                assert_eq!(case.read(&place), before, "{}: byte for byte", case.name);
            }
            let nothing = case.done(&place, &["--undo", "--yes"]);
            assert!(nothing.contains("nothing to do"), "{nothing}");
        }
    }
}

#[test]
fn an_empty_file_stays_one() {
    for case in CASES {
        for before in ["", "\n"] {
            let place = Place::new(None);
            case.write(&place, before);
            case.done(&place, &["--yes"]);
            assert_entry(case, &case.read(&place));
            case.done(&place, &["--undo", "--yes"]);
            assert_eq!(case.read(&place), before, "{}", case.name);
        }
    }
}

#[test]
fn later_changes_by_others_stay() {
    for case in CASES {
        let place = Place::new(None);
        case.write(&place, case.full);
        case.done(&place, &["--yes"]);
        let added = if case.file.ends_with("json") { "\n// later\n" } else { "\n# later\n" };
        case.write(&place, &format!("{}{added}", case.read(&place)));
        case.done(&place, &["--undo", "--yes"]);
        let after = case.read(&place);
        assert_eq!(values(case, &after), values(case, case.full), "{}: {after}", case.name);
        let wanted: Vec<&str> = comments(case.full).into_iter().chain([added.trim()]).collect();
        assert_eq!(comments(&after), wanted, "{}: {after}", case.name);
    }
}

#[test]
fn an_entry_is_removed_without_the_notes_of_its_setup() {
    for case in CASES {
        let place = Place::new(None);
        case.write(&place, case.full);
        case.done(&place, &["--yes"]);
        std::fs::remove_dir_all(place.state().join("setup")).unwrap();
        case.done(&place, &["--undo", "--yes"]);
        let after = case.read(&place);
        assert_eq!(values(case, &after), values(case, case.full), "{}: {after}", case.name);
        assert_eq!(comments(&after), comments(case.full), "{}: {after}", case.name);
    }
}

#[test]
fn a_broken_file_is_named_with_its_place_and_left_alone() {
    for case in CASES {
        let place = Place::new(None);
        let (broken, position) = case.broken;
        case.write(&place, broken);
        for flags in [["--yes"].as_slice(), &["--undo", "--yes"]] {
            let output = case.setup(&place, flags);
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            let wanted = format!("{}{position}", case.path(&place).display());
            assert!(complaint(&output).contains(&wanted), "{wanted}: {}", complaint(&output));
            assert_eq!(case.read(&place), broken);
        }
        let shown = case.done(&place, &["--print"]);
        assert!(shown.contains("To paste by hand"), "it can still be pasted: {shown}");
    }
}

#[test]
fn a_project_has_settings_of_its_own() {
    for case in CASES {
        let place = Place::new(None);
        let output = case.setup(&place, &["--yes", "--project"]);
        let Some(file) = case.project else {
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            assert!(complaint(&output).contains("has no settings for a project"), "{output:?}");
            continue;
        };
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_entry(case, &std::fs::read_to_string(place.root().join(file)).unwrap());
        assert!(!case.path(&place).exists(), "{}: not in the user's", case.name);
        case.done(&place, &["--undo", "--yes", "--project"]);
        assert_eq!(std::fs::read_dir(place.root()).unwrap().count(), 0, "{}: all of it is gone", case.name);
    }
}
