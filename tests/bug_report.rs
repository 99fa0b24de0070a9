//! `shellgate doctor --bundle`: what a bug report has, and what it must not have.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

use crate::support::{Place, for_each_user, shellgate};

/// A secret by its form, wherever it is.
const TOKEN: &str = "ghp_a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5a1B2c3";

/// A secret by the name of its variable only.
const PASSWORD: &str = "plain-words-hunter2";

fn unpacked(archive: &Path) -> BTreeMap<String, String> {
    let mut archive = tar::Archive::new(std::fs::File::open(archive).unwrap());
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        (name.strip_prefix("shellgate-report/").unwrap().to_owned(), text)
    });
    entries.collect()
}

#[test]
fn a_bug_report_has_everything_but_secrets_and_commands() {
    for_each_user(|place| {
        let file = place.home().join(".config/shellgate/config.toml");
        let settings = format!(
            "[approval]\nmode = \"allow\"\n[policy]\nexclude = [\"curl -H {TOKEN}\"]\n\
             [environment]\nset = {{ SOME_VALUE = \"{PASSWORD}\" }}\n[limits]\ncpu_s = 77\n"
        );
        std::fs::write(&file, settings).unwrap();
        chown(&file, place.user, place.user).unwrap();
        let output = place
            .shellgate(["run", &format!("echo {TOKEN} {PASSWORD}")])
            .env("SHELLGATE_LOG", "trace")
            .output();
        assert!(output.unwrap().status.success());
        place.assert_nothing_is_left();
        let log = std::fs::read_to_string(place.state().join("log/front-end.log")).unwrap();
        assert!(log.contains(TOKEN) && log.contains(PASSWORD), "the log of level trace has them: {log}");

        let archive = place.root().join("report.tar");
        let mut doctor = place.shellgate(["doctor", "--bundle", "report.tar"]);
        let output = doctor.env("GH_TOKEN", TOKEN).env("DB_PASSWORD", PASSWORD).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with("report.tar: versions, settings, ") && said.contains(" 2 logs "), "{said}");
        assert_eq!(archive.metadata().unwrap().permissions().mode() & 0o777, 0o600);

        let files = unpacked(&archive);
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["doctor.json", "log/front-end.log", "log/keeper.log", "settings.txt", "versions.txt"]
        );
        for (name, text) in &files {
            for secret in [TOKEN, "ghp_", PASSWORD, "hunter2", "TRACE"] {
                assert!(!text.contains(secret), "{secret} in {name}: {text}");
            }
        }
        let whole = std::fs::read(&archive).unwrap();
        assert!(!String::from_utf8_lossy(&whole).contains("hunter2"));
        // The useful information is in it.
        assert!(
            files["settings.txt"].contains("limits.cpu_s = 77  # ")
                && files["settings.txt"].contains("config.toml:")
        );
        assert!(files["settings.txt"].contains("environment.set = variables: SOME_VALUE"));
        assert!(
            files["settings.txt"].contains("policy.exclude = [\"curl -H (hidden)\"]"),
            "{}",
            files["settings.txt"]
        );
        assert!(files["log/keeper.log"].contains("execution ended id="));
        let doctor: serde_json::Value = serde_json::from_str(&files["doctor.json"]).unwrap();
        assert_eq!(doctor["ok"], true);
        assert!(files["versions.txt"].starts_with("shellgate "));
    });
}

#[test]
fn a_file_that_is_there_is_not_overwritten() {
    let place = Place::new(None);
    let file = place.write("report.tar", "precious");
    let output = place.output(["doctor", "--bundle", "report.tar"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("doesn't exist yet"), "{output:?}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "precious");
}

#[test]
fn a_command_can_not_make_one() {
    let place = Place::new(None);
    let output = place.output(["run", &format!("{} doctor --bundle report.tar", shellgate().display())]);
    assert!(!output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("may not collect settings and logs"),
        "{output:?}"
    );
    assert!(!place.root().join("report.tar").exists());
}
