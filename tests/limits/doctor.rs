//! `shellgate doctor`.

use serde_json::{Value, json};

use super::limit;
use crate::support::{Place, for_each_user};

fn doctor(place: &Place, args: &[&str]) -> (Value, Option<i32>) {
    let output = place.output(["doctor", "--json"].iter().chain(args));
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

fn status<'a>(found: &'a Value, name: &str) -> &'a Value {
    let checks = found["checks"].as_array().unwrap();
    &checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {found}"))["status"]
}

#[test]
fn all_checks_pass_on_a_suitable_machine() {
    for_each_user(|place| {
        limit(place, "memory_mb = 77");
        let doctor = place.start(["doctor", "--json"]);
        let pid = doctor.id();
        let output = doctor.wait_with_output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&found["ok"], output.status.code()), (&json!(true), Some(0)), "{found}");
        let fit = ["bash", "settings", "state", "journal", "leftovers", "keeper"];
        let kernel =
            ["pidfd", "subreaper", "proc", "close_range", "user_namespaces", "landlock", "seccomp", "ptrace"];
        let sandbox = ["sandbox_read_only", "sandbox_workspace", "sandbox_strict"];
        for name in fit.into_iter().chain(kernel).chain(sandbox) {
            assert_eq!(status(&found, name), "ok", "{name}: {found}");
        }
        let keys: Vec<&Value> =
            found["limits"].as_array().unwrap().iter().map(|limit| &limit["limit"]).collect();
        assert_eq!(keys, ["memory_mb", "processes", "cpu_s", "disk_mb"]);
        assert_eq!(found["limits"][0]["value"], 77);
        // `doctor` leaves no output, no entry in the record and no group behind.
        assert_eq!(std::fs::read_dir(place.state().join("spool")).unwrap().count(), 0);
        assert_eq!(super::groups_called(&format!("probe-{pid}")), Vec::<std::path::PathBuf>::new());
        let history = place.output(["history", "--json"]);
        let history: Value = serde_json::from_slice(&history.stdout).unwrap_or_default();
        assert!(!history.to_string().contains("bash"), "{history}");
    });
}

#[test]
fn exposed_credentials_are_named() {
    for_each_user(|place| {
        std::fs::write(place.home().join(".netrc"), "secret").unwrap();
        std::os::unix::fs::chown(place.home().join(".netrc"), place.user, place.user).unwrap();
        let message = |found: &Value| {
            let checks = found["checks"].as_array().unwrap();
            checks.iter().find(|check| check["name"] == "exposed").unwrap()["message"].clone()
        };
        let found = doctor(place, &[]).0;
        assert_eq!(status(&found, "exposed"), "ok");
        assert!(message(&found).as_str().unwrap().starts_with("The sandbox `workspace` hides "), "{found}");
        limit(place, "[sandbox]\nmode = \"off\"");
        let found = doctor(place, &[]).0;
        assert_eq!(status(&found, "exposed"), "warning");
        assert!(message(&found).as_str().unwrap().contains("they can read "), "{found}");
        assert!(message(&found).as_str().unwrap().contains("~/.netrc"), "{found}");
        let rule =
            "[[policy.rule]]\nprefix = [\"curl\"]\ndecision = \"ask\"\ngrants = { read = [\"~/.netrc\"] }";
        limit(place, rule);
        let found = doctor(place, &[]).0;
        assert!(message(&found).as_str().unwrap().ends_with("Rules grant ~/.netrc (`curl`)."), "{found}");
    });
}

#[test]
fn people_read_sentences_and_pipes_get_no_colours() {
    for_each_user(|place| {
        let output = place.output(["doctor"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("Everything required is available.") && !text.contains('\x1b'), "{text}");
        let output = place.output(["doctor", "--color", "always"]);
        assert!(String::from_utf8(output.stdout).unwrap().contains("\x1b[32mok"));
    });
}

#[test]
fn missing_parts_are_named_with_a_hint() {
    for_each_user(|place| {
        // No bash.
        let mut command = place.shellgate(["doctor", "--json"]);
        let output = command.env("PATH", place.root()).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((status(&found, "bash"), output.status.code()), (&json!("missing"), Some(1)), "{found}");
        // Broken settings.
        limit(place, "memory_mb = -1");
        let (found, code) = doctor(place, &[]);
        assert_eq!((status(&found, "settings"), code), (&json!("missing"), Some(1)), "{found}");
        limit(place, "");
        // A state folder that is a file.
        let file = place.write("file", "");
        let mut command = place.shellgate(["doctor"]);
        let output = command.env("SHELLGATE_HOME", &file).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(text.contains("missing       state") && text.contains("SHELLGATE_HOME"), "{text}");
        assert_eq!(doctor(place, &[]).1, Some(0), "and all is well again");
    });
}
