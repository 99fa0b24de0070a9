//! The state folder: where it is, whose it is, and what happens when it can't be used.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{assert_texts, text};
use crate::support::{ORDINARY, Place, for_each_user, is_root, wait_until};

/// Makes a call with this state folder. Returns the answer, the exit code, and whether the command ran.
fn call(place: &Place, state: &Path) -> (Value, Option<i32>, bool) {
    let mut command = place.shellgate(["call", r#"{"command": "touch ran"}"#]);
    let output = command.env("SHELLGATE_HOME", state).output().unwrap();
    let ran = std::fs::remove_file(place.root().join("ran")).is_ok();
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code(), ran)
}

fn assert_works(place: &Place, state: &Path) {
    let (answer, code, ran) = call(place, state);
    assert_eq!((&answer["status"], code, ran), (&json!("completed"), Some(0), true), "{answer}");
    assert_ours(place, state);
    assert_no_keeper(state);
}

/// Asserts that only its owner can enter the folder.
fn assert_ours(place: &Place, state: &Path) {
    for path in [state.to_owned(), state.join("sessions"), state.join("spool")] {
        let metadata = std::fs::metadata(&path).unwrap();
        assert_eq!(metadata.mode() & 0o7777, 0o700, "{}", path.display());
        let owner = place.user.unwrap_or_else(|| rustix::process::geteuid().as_raw());
        assert_eq!(metadata.uid(), owner, "{}", path.display());
    }
    for file in std::fs::read_dir(state.join("spool")).unwrap() {
        assert_eq!(file.unwrap().metadata().unwrap().mode() & 0o7777, 0o600);
    }
}

fn assert_no_keeper(state: &Path) {
    wait_until("the keeper is gone", || {
        std::fs::read_dir(state.join("sessions")).is_ok_and(|mut entries| entries.next().is_none())
    });
}

/// Asserts that the call is refused with `config` and runs nothing. Returns the message.
fn refused(place: &Place, state: &Path) -> String {
    let (answer, code, ran) = call(place, state);
    assert_eq!((&answer["error"]["code"], code, ran), (&json!("config"), Some(3), false), "{answer}");
    let mut command = place.shellgate(["run", "touch ran"]);
    let output = command.env("SHELLGATE_HOME", state).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(!place.root().join("ran").exists());
    text(&output.stderr).to_owned()
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn make(place: &Place, path: &Path, mode: u32) {
    std::fs::create_dir(path).unwrap();
    chown(path, place.user, place.user).unwrap();
    set_mode(path, mode);
}

#[test]
fn it_is_where_the_variables_say() {
    for_each_user(|place| {
        let home = place.home();
        let cases: [(&[(&str, PathBuf)], PathBuf); 5] = [
            (&[("SHELLGATE_HOME", home.join("a"))], home.join("a")),
            (
                &[("SHELLGATE_HOME", home.join("b/c/d")), ("XDG_STATE_HOME", home.join("x"))],
                home.join("b/c/d"),
            ),
            (&[("XDG_STATE_HOME", home.join("e"))], home.join("e/shellgate")),
            (&[("SHELLGATE_HOME", PathBuf::new())], home.join(".local/state/shellgate")),
            (&[("XDG_STATE_HOME", "relative".into())], home.join(".local/state/shellgate")),
        ];
        for (variables, state) in cases {
            let mut command = place.shellgate(["call", r#"{"command": "touch ran"}"#]);
            command.env_remove("SHELLGATE_HOME").envs(variables.iter().map(|(name, path)| (name, path)));
            let output = command.output().unwrap();
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            let file = Path::new(answer["stdout_file"].as_str().unwrap());
            assert_eq!(file.parent().unwrap(), state.join("spool"), "{variables:?}");
            assert_ours(place, &state);
            assert_no_keeper(&state);
        }
        assert!(std::fs::read_dir(place.state()).unwrap().next().is_none(), "nothing is written elsewhere");
        // A relative path starts at the current directory.
        assert_works_relative(place);
    });
}

fn assert_works_relative(place: &Place) {
    let output = place.shellgate(["run", "true"]).env("SHELLGATE_HOME", "own/state").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let state = place.root().join("own/state");
    assert_ours(place, &state);
    assert_no_keeper(&state);
}

#[test]
fn a_long_path_works() {
    for_each_user(|place| {
        // A socket's address has at most 108 bytes.
        let mut state = place.state();
        for _ in 0..5 {
            state.push("long-".repeat(40));
        }
        assert!(state.as_os_str().len() > 1000);
        // The record's path must be shorter. With such a path, commands run only if the record isn't required.
        let (answer, code, ran) = call(place, &state);
        assert_eq!((&answer["error"]["code"], code, ran), (&json!("config"), Some(3), false));
        assert!(
            answer["error"]["message"].as_str().unwrap().contains("is longer than 440 bytes"),
            "{answer}"
        );
        let settings = place.home().join(".config/shellgate/config.toml");
        let before = std::fs::read_to_string(&settings).unwrap();
        std::fs::write(&settings, format!("{before}[journal]\nrequired = false\n")).unwrap();
        assert_works(place, &state);
        assert_works(place, &state);
        std::fs::write(&settings, before).unwrap();
        let exact = place.state().join("x".repeat(108 - place.state().as_os_str().len()));
        assert_works(place, &exact);
    });
}

#[test]
fn a_folder_that_was_open_to_others_is_closed() {
    for_each_user(|place| {
        for mode in [0o755, 0o777, 0o1777, 0o710] {
            let state = place.home().join(format!("{mode:o}"));
            make(place, &state, mode);
            let (answer, code, ran) = call(place, &state);
            assert_eq!((code, ran), (Some(0), true), "{answer}");
            assert_eq!(std::fs::metadata(&state).unwrap().mode() & 0o077, 0, "{mode:o}");
            assert_no_keeper(&state);
        }
    });
}

#[test]
fn a_folder_of_another_user_is_refused() {
    assert!(is_root(), "only root can give a folder away: run this test as root");
    for_each_user(|place| {
        let mut said = Vec::new();
        for mode in [0o700, 0o777] {
            let state = place.home().join(format!("{mode:o}"));
            make(place, &state, mode);
            chown(&state, Some(ORDINARY + 1), Some(ORDINARY + 1)).unwrap();
            said.push(refused(place, &state));
            assert_eq!(std::fs::metadata(&state).unwrap().mode() & 0o777, mode, "it is left as it was");
            chown(&state, Some(place.user.unwrap_or(0)), None).unwrap();
            assert_works(place, &state);
        }
        assert_texts("state_of_another_user", &said);
    });
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    for_each_user(|place| {
        let file = place.write("file", "");
        let paths = [file.clone(), file.join("below"), PathBuf::from("/proc/shellgate")];
        assert_texts("state_not_writable", &paths.map(|path| refused(place, &path)));
        let all_powerful = place.user.is_none() && is_root();
        if !all_powerful {
            let closed = place.home().join("closed");
            make(place, &closed, 0o500);
            refused(place, &closed);
            refused(place, &closed.join("below"));
            // This holds for a folder that was usable before, too.
            set_mode(&closed, 0o700);
            assert_works(place, &closed);
            set_mode(&closed.join("spool"), 0o500);
            refused(place, &closed);
            set_mode(&closed.join("spool"), 0o700);
            assert_works(place, &closed);
        }
    });
}

/// Closing a folder that others use would lock them out.
#[test]
fn a_folder_that_others_use_is_refused_and_stays_open() {
    for_each_user(|place| {
        let state = place.root().with_file_name("common");
        make(place, &state, 0o1777);
        std::fs::write(state.join("of another"), "x").unwrap();
        let message = refused(place, &state);
        assert!(message.contains("holds other files, and other users can open it"), "{message}");
        let output = place.shellgate(["history"]).env("SHELLGATE_HOME", &state).output().unwrap();
        assert!(!output.status.success());
        assert_eq!(std::fs::metadata(&state).unwrap().mode() & 0o7777, 0o1777);
        assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1);
    });
}

/// A sandbox has the folder where the link leads.
#[test]
fn a_folder_behind_a_link_works() {
    for_each_user(|place| {
        let state = place.root().with_file_name("real");
        make(place, &state, 0o700);
        let link = place.root().with_file_name("link");
        std::os::unix::fs::symlink(&state, &link).unwrap();
        assert_works(place, &link);
    });
}
