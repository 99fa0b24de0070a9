//! No command touches shellgate's own settings, record or sockets, whatever the rules say.

use super::complaint;
use crate::support::{Place, for_each_user};

/// Whether `shellgate run COMMAND` is denied although the rules allow everything.
fn is_denied(place: &Place, command: &str) -> bool {
    let output = place.output(["run", "--core", "*", "--approve", "allow", command]);
    let denied =
        complaint(&output).contains("denied_by_policy: the command is denied: it touches the settings");
    assert_eq!(denied, output.status.code() == Some(125), "{command}: {output:?}");
    denied
}

#[test]
fn settings_record_and_sockets_are_denied_in_any_spelling() {
    for_each_user(|place| {
        place.output(["run", "true"]);
        let state = place.state();
        let (state, home) = (state.display(), place.home());
        let home = home.display();
        std::os::unix::fs::symlink(place.state().join("journal.db"), place.root().join("innocent")).unwrap();
        std::os::unix::fs::symlink(place.state(), place.root().join("folder")).unwrap();
        for command in [
            format!("cat {state}/journal.db"),
            "cat ../state/journal.db".to_owned(),
            "cd ..; cat state/journal.db".to_owned(),
            "cd ../state && cat journal.db".to_owned(),
            "cat \"$SHELLGATE_HOME/journal.db\"".to_owned(),
            "cat ${SHELLGATE_HOME}/journal.db".to_owned(),
            "cat innocent".to_owned(),
            "cat folder/journal.db".to_owned(),
            "cat < innocent".to_owned(),
            format!("ls {state}"),
            format!("rm -rf {state}"),
            format!("echo x >> {state}/journal.db"),
            format!("dd if=/dev/null of={state}/journal.db"),
            format!("env x=1 timeout 5 cat {state}/journal.db"),
            format!("bash -c 'cat {state}/journal.db'"),
            format!("python3 -c 'open(\"{state}/journal.db\", \"a\")'"),
            format!("socat - UNIX-CONNECT:{state}/sessions/x"),
            format!("find {state} -type f"),
            format!("true && (echo '[policy]' > {home}/.config/shellgate/config.toml)"),
            "echo x > ~/.config/shellgate/config.toml".to_owned(),
            "tee ~/.config/shellgate/config.toml".to_owned(),
            "cat /etc/shellgate/config.toml".to_owned(),
            format!("rm {state}/spool/x"),
            format!("cat {state}/spool/../journal.db"),
            format!("x={state}; cat $x/journal.db"),
            format!("x={state}/spool/..; cat $x/journal.db"),
            format!("for x in {state}; do cat $x/journal.db; done"),
            format!("echo > {state}/spool/x"),
        ] {
            assert!(is_denied(place, &command), "{command}");
        }
        for command in ["cat /etc/hostname", "ls ..", "echo state journal.db", "touch made"] {
            assert!(!is_denied(place, command), "{command}");
        }
        assert!(place.root().join("made").exists());
    });
}

#[test]
fn kept_output_may_be_read() {
    let place = Place::new(None);
    let answer = place.call(&serde_json::json!({"command": "echo long output"}));
    let file = answer["stdout_file"].as_str().unwrap();
    let output = place.output(["run", &format!("tail -c 7 {file}")]);
    assert_eq!(output.stdout, b"output\n", "{output:?}");
    assert!(is_denied(&place, &format!("truncate -s 0 {file}")));
    let call = |folder: std::path::PathBuf| {
        place.call(&serde_json::json!({"command": "ls $FOLDER", "env": {"FOLDER": folder}}))["error"]["code"]
            .clone()
    };
    assert_eq!(call(place.state()), "denied_by_policy", "by a variable that the caller sets");
    assert_eq!(call(place.home()), serde_json::Value::Null);
    place.assert_nothing_is_left();
}
