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
        assert_eq!(said.lines().count(), 2, "{said}");
        assert!(said.ends_with("Look at it before you send it.\n"), "{said}");
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

fn settings(place: &Place, text: &str) {
    let file = place.home().join(".config/shellgate/config.toml");
    std::fs::write(&file, text).unwrap();
    chown(&file, place.user, place.user).unwrap();
}

#[test]
fn settings_that_can_not_be_read_do_not_end_up_in_it() {
    let place = Place::new(None);
    for (number, text) in [
        "[environment]\nset = \"DBPASS=hunter2\"\n",
        "[environment]\nset = { A = [\"hunter2\"], B = \"x\" }\n",
        "[environment]\nkeep = [\"DBPASS=hunter2\"]\n",
        "[environment.set]\n\"DBPASS=hunter2\" = \"\"\n",
        "[policy]\ncore = \"curl --user me:hunter2\"\n",
    ]
    .iter()
    .enumerate()
    {
        settings(&place, text);
        let name = format!("report{number}.tar");
        let output = place.output(["doctor", "--bundle", &name]);
        assert_eq!(output.status.code(), Some(1), "as `doctor` itself: {output:?}");
        for (file, content) in unpacked(&place.root().join(name)) {
            assert!(!content.contains("hunter2"), "{file} of {text}: {content}");
        }
    }
    for key in ["set", "keep", "remove"] {
        settings(&place, &format!("[environment]\n{key} = \"DBPASS=hunter2\"\n"));
        let output = place.output(["run", "true"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("found a string") && !said.contains("hunter2"), "{said}");
    }
}

#[test]
fn rules_are_listed_and_secrets_in_them_hidden() {
    let place = Place::new(None);
    let rule = |prefix: &str, decision: &str| {
        format!("[[policy.rule]]\nprefix = [{prefix}]\ndecision = \"{decision}\"\n")
    };
    let rules = [rule("\"git\", \"push\"", "ask"), rule("\"curl\", \"--password\", \"hunter2\"", "deny")];
    let list = "[policy]\nexclude = [\"mysql -phunter2\", \"login --api-key hunter2\"]\n";
    settings(&place, &format!("{list}{}", rules.concat()));
    let mut doctor = place.shellgate(["doctor", "--json", "--bundle", "report.tar"]);
    let output = doctor.env("MY_PASSWORD", "quo\"te\\d-value").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&said["ok"], &said["bundle"]["file"]), (&true.into(), &"report.tar".into()), "{said}");
    let files = unpacked(&place.root().join("report.tar"));
    let settings = &files["settings.txt"];
    assert!(settings.contains("policy.rule = 2 rules") && !settings.contains("hunter2"), "{settings}");
    assert!(settings.contains("    ask: git push  # ") && settings.contains("config.toml:"), "{settings}");
    assert!(settings.contains("    deny: curl --password (hidden)  # "), "{settings}");
    assert!(settings.contains("[\"mysql -p(hidden)\", \"login --api-key (hidden)\"]"), "{settings}");
}

#[test]
fn what_is_no_regular_file_blocks_neither_the_log_nor_the_bundle() {
    for_each_user(|place| {
        let log = place.state().join("log");
        assert!(place.program("mkdir").arg(&log).status().unwrap().success());
        for role in ["front-end", "keeper"] {
            let path = log.join(format!("{role}.log"));
            rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap();
            chown(&path, place.user, place.user).unwrap();
        }
        let output = place.shellgate(["run", "echo hi"]).env("SHELLGATE_LOG", "debug").output().unwrap();
        assert_eq!(output.stdout, b"hi\n");
        assert!(String::from_utf8_lossy(&output.stderr).contains("there is no log: "), "{output:?}");
        let output = place.output(["doctor", "--bundle", "report.tar"]);
        assert!(output.status.success(), "{output:?}");
        assert!(!unpacked(&place.root().join("report.tar")).keys().any(|name| name.starts_with("log/")));
        place.assert_nothing_is_left();
    });
}

#[test]
fn a_place_that_can_not_be_written_is_named() {
    let place = Place::new(None);
    for (file, hint) in [("-", "name a file"), ("no/such/folder.tar", "a folder where you can write")] {
        let output = place.output(["doctor", "--bundle", file]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(hint) && !said.contains("exist yet"), "{said}");
    }
    assert!(!place.root().join("-").exists());
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
