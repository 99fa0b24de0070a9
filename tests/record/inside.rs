//! `shellgate` from inside a command that it runs.

use serde_json::Value;

use crate::support::{Place, for_each_user, mark, processes_with, shellgate, wait_until};
use crate::{complaint, json, newest, text};

/// `bash` text in which `sg` is shellgate, run by shellgate.
fn inside(place: &Place, script: &str) -> std::process::Output {
    let script = format!("sg() {{ {} \"$@\"; }}; {script}", shellgate().display());
    place.output(["run", &script])
}

/// Ways to call: plainly, without a trace in the environment, and as an orphan in a session of its own.
const WAYS: [&str; 3] = [
    "CALL; echo $? > code",
    "env -i PATH=$PATH CALL; echo $? > code",
    "(sleep 0.05; setsid -w CALL; echo $? > code) >/dev/null 2>&1 & disown",
];

#[test]
fn what_would_loosen_the_rules_is_refused() {
    for_each_user(|place| {
        place.write(".shellgate.toml", "[limits]\ntimeout_ms = 60000\n");
        place.write("loose.toml", "[approval]\nmode = \"allow\"\n");
        for (words, code) in [
            ("trust --yes", 3),
            ("stop --all", 3),
            ("stop --session other", 3),
            ("approvals approve 1", 3),
            ("approvals deny 1", 3),
            ("history forget 01", 3),
            ("run --approve allow 'touch made'", 125),
            ("run --config loose.toml 'touch made'", 125),
            ("run --core touch 'touch made'", 125),
            ("run --default allow 'touch made'", 125),
            ("call --core touch '{\"command\": \"touch made\"}'", 3),
            ("check --core touch 'touch made'", 2),
        ] {
            for way in WAYS {
                let call = format!("{} {words}", shellgate().display());
                let script = way.replace("CALL", &call);
                let _ = std::fs::remove_file(place.root().join("code"));
                let output = inside(place, &script);
                wait_until("its code is there", || read(place, "code").ends_with('\n'));
                assert_eq!(read(place, "code").trim(), code.to_string(), "{script}: {output:?}");
                assert!(!place.root().join("made").exists(), "{script}");
            }
        }
        let said = inside(place, "sg trust --yes");
        assert!(
            complaint(&said).contains("denied_by_policy: a command that shellgate runs may not trust"),
            "{said:?}"
        );
        // And the same from outside, where it is a person's business.
        for words in
            [vec!["trust", "--yes"], vec!["stop", "--all"], vec!["history", "forget", &newest(place)]]
        {
            assert_eq!(place.output(&words).status.code(), Some(0), "{words:?}");
        }
        assert_eq!(
            place.strictly(["run", "--approve", "allow", "touch made"]).status().unwrap().code(),
            Some(0)
        );
    });
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.root().join(name)).unwrap_or_default()
}

#[test]
fn settings_named_by_the_environment_do_not_count() {
    let place = Place::new(None);
    let config = place.root().join("evil/shellgate");
    std::fs::create_dir_all(&config).unwrap();
    place.write("evil/shellgate/config.toml", "[approval]\nmode = \"allow\"\n");
    let evil = place.root().join("evil");
    let evil = evil.display();
    std::fs::create_dir_all(place.root().join("evil/.config")).unwrap();
    std::os::unix::fs::symlink(&config, place.root().join("evil/.config/shellgate")).unwrap();
    for variables in
        [format!("XDG_CONFIG_HOME={evil}"), format!("HOME={evil}"), format!("SHELLGATE_HOME={evil}")]
    {
        let script = format!("{variables} {} run 'touch made'; echo code $?", shellgate().display());
        let output = inside(&place, &script);
        assert!(text(&output).contains("code 125"), "{variables}: {output:?}");
        assert!(!place.root().join("made").exists());
        assert!(!place.root().join("evil/journal.db").exists(), "nor did the state go there");
    }
    // From outside they do.
    let outside =
        place.shellgate(["run", "touch made"]).env("XDG_CONFIG_HOME", evil.to_string()).status().unwrap();
    assert!(outside.success() && place.root().join("made").exists());
    place.assert_nothing_is_left();
}

#[test]
fn commands_may_still_use_shellgate_as_the_settings_say() {
    let place = Place::new(None);
    place.write(".shellgate.toml", "[policy]\ncore = [\"touch\"]\n");
    assert!(place.output(["trust", "--yes"]).status.success());
    let output = place.output([
        "run",
        "--core",
        "*",
        &format!("{} run 'touch made'; echo code $?", shellgate().display()),
    ]);
    assert!(text(&output).contains("code 0"), "{output:?}");
    assert!(place.root().join("made").exists());
    let list = json(&place, &["history", "--search", "touch made"]);
    let ran = list.as_array().unwrap().iter().filter(|one| one["command"] == "touch made");
    assert_eq!(
        ran.map(|one| &one["status"]).collect::<Vec<_>>(),
        [&Value::from("completed")],
        "recorded where all is"
    );
    place.assert_nothing_is_left();
}

#[test]
fn a_command_does_not_stop_another() {
    let place = Place::new(None);
    let mark = mark();
    let other = place.start(["run", "--session", "other", &format!("sleep {mark}; true")]);
    wait_until("it runs", || processes_with(&format!("sleep {mark}")).len() > 1);
    let id = newest(&place);
    let output = inside(&place, &format!("sg stop {id}; echo code $?"));
    assert!(text(&output).contains("code 3"), "{output:?}");
    assert!(!processes_with(&mark).is_empty());
    assert_eq!(place.output(["stop", &id]).status.code(), Some(0));
    assert_eq!(other.wait_with_output().unwrap().status.code(), Some(130));
    place.assert_nothing_is_left();
}
