//! The log: off by default, switched on by a variable or a setting. It has ids, but no text of commands below `trace`.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::PathBuf;

use serde_json::json;

use crate::mcp::talk::Talk;
use crate::support::{Place, for_each_user, kill, mark, shellgate, wait_until};

/// Part of every command's text, environment, input and output in these tests.
const SECRET: &str = "hunter2-is-the-password";

fn log(place: &Place, role: &str) -> String {
    std::fs::read_to_string(place.state().join("log").join(format!("{role}.log"))).unwrap_or_default()
}

fn settings(place: &Place, text: &str) {
    let file = place.home().join(".config/shellgate/config.toml");
    std::fs::write(&file, format!("[approval]\nmode = \"allow\"\n{text}\n")).unwrap();
    chown(&file, place.user, place.user).unwrap();
}

/// Runs a command that has the secret everywhere, with this level; its id.
fn run(place: &Place, level: Option<&str>) -> String {
    let mut command = place.shellgate(["call"]);
    command.env("SOME_VALUE", SECRET);
    if let Some(level) = level {
        command.env("SHELLGATE_LOG", level);
    }
    let request =
        json!({"command": format!("cat; echo {SECRET} $SOME_VALUE"), "stdin": SECRET, "env": {"X": SECRET}});
    let output = command.arg(request.to_string()).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer["stdout"].as_str().unwrap().contains(SECRET), "{answer}");
    answer["id"].as_str().unwrap().to_owned()
}

#[test]
fn there_is_no_log_unless_one_was_asked_for() {
    for_each_user(|place| {
        run(place, None);
        run(place, Some(""));
        run(place, Some("off"));
        assert!(!place.state().join("log").exists());
    });
}

#[test]
fn a_log_has_the_execution_in_front_end_and_keeper_and_nothing_that_it_says() {
    for_each_user(|place| {
        let id = run(place, Some("debug"));
        place.assert_nothing_is_left();
        let (front_end, keeper) = (log(place, "front-end"), log(place, "keeper"));
        for (log, message) in [
            (&front_end, "judged"),
            (&front_end, "handed to the keeper"),
            (&front_end, "outcome received"),
            (&keeper, "spawned"),
            (&keeper, "program exited"),
            (&keeper, "execution ended"),
        ] {
            let line =
                log.lines().find(|line| line.contains(message)).unwrap_or_else(|| panic!("{message}: {log}"));
            assert!(line.contains(&format!("id={id}")), "{line}");
        }
        assert!(!front_end.contains("hunter2") && !keeper.contains("hunter2"), "{front_end}{keeper}");
        // Each has its own file, although the keeper is a fork of the front end.
        assert!(front_end.lines().all(|line| line.contains(" front-end ")), "{front_end}");
        assert!(keeper.lines().all(|line| line.contains(" keeper ")), "{keeper}");
        let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(place.state().join("log")), 0o700);
        assert_eq!(mode(place.state().join("log/keeper.log")), 0o600);
    });
}

#[test]
fn only_trace_has_the_text_of_commands() {
    let place = Place::new(None);
    run(&place, Some("trace"));
    place.assert_nothing_is_left();
    for role in ["front-end", "keeper"] {
        let log = log(&place, role);
        let (secret, other): (Vec<&str>, Vec<&str>) = log.lines().partition(|line| line.contains(SECRET));
        assert!(!secret.is_empty() && !other.is_empty(), "{log}");
        assert!(secret.iter().all(|line| line.contains(" TRACE ")), "{secret:?}");
        // Even at the level `trace`, the log has no environment.
        assert!(secret.iter().all(|line| !line.contains("X=")), "{secret:?}");
    }
}

#[test]
fn a_refusal_is_logged_by_its_code() {
    let place = Place::new(None);
    let mut command = place.shellgate(["run", "--exclude", "echo", &format!("echo {SECRET}")]);
    assert_eq!(command.env("SHELLGATE_LOG", "info").output().unwrap().status.code(), Some(125));
    let log = log(&place, "front-end");
    assert!(
        log.contains("refused id=") && log.contains("code=DeniedByPolicy") && !log.contains("hunter2"),
        "{log}"
    );
}

#[test]
fn the_message_of_a_refusal_is_a_field() {
    let place = Place::new(None);
    let mut command = place.shellgate(["run", "--exclude", "echo", "echo hi"]);
    assert_eq!(command.env("SHELLGATE_LOG", "trace").output().unwrap().status.code(), Some(125));
    let log = log(&place, "front-end");
    let line = log.lines().find(|line| line.contains(" TRACE ") && line.contains(": refused")).unwrap();
    assert!(line.contains(": refused id=") && line.contains(" reason=\""), "{line}");
}

#[test]
fn a_setting_switches_it_on_for_a_server_and_the_keeper_that_it_runs() {
    for_each_user(|place| {
        settings(place, "[log]\nlevel = \"debug\"");
        let mut talk = Talk::new(place);
        let answer = talk.run(json!({"command": format!("echo {SECRET}")}));
        let id = answer["id"].as_str().unwrap().to_owned();
        assert!(talk.leave().success());
        place.assert_nothing_is_left();
        let (server, keeper) = (log(place, "server"), log(place, "keeper"));
        assert!(
            server.contains("call begins call=1 tool=shell")
                && server.contains(&format!("call is about an execution call=1 id={id}"))
                && server.contains(&format!("call ends call=1 id={id}")),
            "{server}"
        );
        assert!(!keeper.contains("id=unknown"), "{keeper}");
        assert!(
            server.contains(&id) && keeper.contains(&format!("execution ended id={id}")),
            "{server}{keeper}"
        );
        assert!(!server.contains("hunter2") && !keeper.contains("hunter2"), "{server}{keeper}");
    });
}

#[test]
fn the_variable_wins_over_the_setting() {
    let place = Place::new(None);
    settings(&place, "[log]\nlevel = \"trace\"");
    run(&place, Some("off"));
    assert!(!place.state().join("log").exists());
    run(&place, Some("error"));
    place.assert_nothing_is_left();
    assert_eq!(log(&place, "front-end"), "", "nothing failed");
    run(&place, None);
    assert!(log(&place, "front-end").contains(SECRET));
}

#[test]
fn a_project_can_not_switch_it_on() {
    let place = Place::new(None);
    place.write(".shellgate.toml", "[log]\nlevel = \"trace\"\n");
    let output = place.output(["run", "true"]);
    assert!(output.status.success(), "{output:?}");
    assert!(!place.state().join("log").exists());
}

#[test]
fn a_command_can_not_switch_it_on() {
    for_each_user(|place| {
        for way in ["", "env -i PATH=$PATH SHELLGATE_LOG=trace "] {
            let schema = format!("{way}{} schema >/dev/null", shellgate().display());
            let output = place.output(["run", &format!("export SHELLGATE_LOG=trace; {schema} && echo done")]);
            assert_eq!(output.stdout, b"done\n", "{output:?}");
            assert!(!place.state().join("log").exists(), "{way}");
        }
        let output = place.shellgate(["schema"]).env("SHELLGATE_LOG", "trace").output().unwrap();
        assert!(
            output.status.success() && log(place, "front-end").contains("log started"),
            "outside the command the log is on"
        );
    });
}

#[test]
fn a_word_that_is_no_level_is_named() {
    let place = Place::new(None);
    let output = place.shellgate(["run", "echo hi"]).env("SHELLGATE_LOG", "loud").output().unwrap();
    assert_eq!(output.stdout, b"hi\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("SHELLGATE_LOG is not one of off, error, warn, info, debug, trace"), "{said}");
    settings(&place, "[log]\nlevel = \"debug\"");
    let output = place.shellgate(["run", "echo hi"]).env("SHELLGATE_LOG", "loud").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.matches("SHELLGATE_LOG is not one of").count(), 1, "{said}");
}

#[test]
fn a_log_that_can_not_be_written_does_not_stop_the_command() {
    let place = Place::new(None);
    std::fs::write(place.state().join("log"), "a file, not a folder").unwrap();
    let output = place.shellgate(["run", "echo hi"]).env("SHELLGATE_LOG", "debug").output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"hi\n".as_slice()));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no log"), "{output:?}");
}

#[test]
fn the_standby_says_that_the_keeper_was_killed() {
    let place = Place::new(None);
    let sleeps = format!("sleep {}", mark());
    let mut command = place.shellgate(["run", "--background", &sleeps]);
    let output = command.env("SHELLGATE_LOG", "info").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let keepers = place.keepers();
    assert_eq!(keepers.len(), 1);
    kill(keepers[0]);
    wait_until("the standby has said it", || log(&place, "standby").contains("the keeper was killed"));
    let standby = log(&place, "standby");
    let line = standby.lines().find(|line| line.contains("the keeper was killed")).unwrap();
    let id = place.output(["history", "--json"]).stdout;
    let id: serde_json::Value = serde_json::from_slice(&id).unwrap();
    assert!(line.contains(&format!("id={}", id[0]["id"].as_str().unwrap())), "{standby}");
    // Settles the record, and removes the socket of the dead keeper.
    assert!(place.output(["stop", "--all"]).status.success());
}
