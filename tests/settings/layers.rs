//! Which layer wins.
//!
//! Without a sandbox, `sandbox.network = "deny"` is refused with its place in a file. These tests use that to see which
//! setting counts.

use serde_json::{Value, json};

use super::{assert_texts, call, project_file, shellgate, text, user_file, write_file};
use crate::support::{Place, for_each_user};

/// The rule of the refusal, without the folder of its file, or `ran`.
fn decided(place: &Place, flags: &[&str]) -> String {
    let flags: Vec<&str> = ["--sandbox", "off"].iter().chain(flags).copied().collect();
    let (answer, code) = call(place, &flags, &json!({"command": "touch ran"}));
    let ran = std::fs::remove_file(place.root().join("ran")).is_ok();
    match answer["error"]["rule"].as_str() {
        Some(rule) => {
            assert_eq!((&answer["error"]["code"], code), (&json!("sandbox_unavailable"), Some(3)));
            assert!(!ran, "{rule}");
            let folder = place.root().canonicalize().unwrap();
            rule.replace(folder.parent().unwrap().to_str().unwrap(), "")
        }
        None => {
            assert_eq!((&answer["status"], code, ran), (&json!("completed"), Some(0), true), "{answer}");
            "ran".to_owned()
        }
    }
}

#[test]
fn a_later_layer_wins_and_says_where_it_is() {
    const DENY: &str = "[sandbox]\nnetwork = \"deny\"\n";
    for_each_user(|place| {
        let (extra, more) = (place.home().join("extra.toml"), place.home().join("more.toml"));
        assert_eq!(decided(place, &[]), "ran", "built in");
        write_file(place, &user_file(place), DENY);
        let by_user = "sandbox.network = deny (/home/config/shellgate/config.toml:2:1)";
        assert_eq!(decided(place, &[]), by_user, "the user's over the built-in");
        write_file(place, &user_file(place), "[sandbox]\nnetwork = \"allow\"\n");
        assert_eq!(decided(place, &[]), "ran");
        write_file(place, &project_file(place), DENY);
        let by_project = "sandbox.network = deny (/root/.shellgate.toml:2:1)";
        assert_eq!(decided(place, &[]), by_project, "the project's over the user's");
        write_file(place, &extra, "[sandbox]\nnetwork = \"allow\"\n");
        write_file(place, &more, format!("# twice\n{DENY}"));
        let (extra, more) = (extra.to_str().unwrap(), more.to_str().unwrap());
        for (flags, wanted) in [
            (&["--config", extra][..], "ran"),
            (&["--config", extra, "--config", more], "sandbox.network = deny (/home/more.toml:3:1)"),
            (&["--config", more, "--config", extra], "ran"),
            (&["--config", extra, "--network", "deny"], "sandbox.network = deny (`--network`)"),
            (&["--network", "allow"], "ran"),
            (&["--config", more, "--network", "allow"], "ran"),
        ] {
            assert_eq!(decided(place, flags), wanted, "{flags:?}");
        }
    });
}

#[test]
fn the_user_s_file_is_where_xdg_says() {
    let content = "[sandbox]\nmode = \"off\"\nnetwork = \"deny\"\n";
    for_each_user(|place| {
        let standard = place.home().join(".config/shellgate/config.toml");
        write_file(place, &standard, content);
        let refused = |config: Option<&str>| {
            let mut command = place.shellgate(["run", "--approve", "allow", "true"]);
            if let Some(config) = config {
                command.env("XDG_CONFIG_HOME", config);
            }
            command.output().unwrap().status.code() == Some(125)
        };
        assert!(refused(None), "below HOME");
        assert!(refused(Some("")), "an empty variable is none");
        assert!(refused(Some("config")), "a relative path is ignored");
        assert!(!refused(Some("/no/such/folder")), "another folder has no such file");
        write_file(place, &user_file(place), content);
        assert!(refused(Some(place.home().join("config").to_str().unwrap())));
    });
}

#[test]
fn single_values_come_from_their_own_layers() {
    for_each_user(|place| {
        write_file(
            place,
            &user_file(place),
            "[environment]\nset = { ONE = \"user\", TWO = \"user\" }\n[limits]\ntimeout_ms = 400\n",
        );
        let extra = place.home().join("extra.toml");
        write_file(place, &extra, "[environment]\nset = { TWO = \"extra\", THREE = \"extra\" }\n");
        let flags = ["--config", extra.to_str().unwrap()];
        let (answer, _) = call(place, &flags, &json!({"command": "echo $ONE $TWO $THREE; sleep 1000"}));
        assert_eq!(answer["stdout"], "user extra extra\n", "a table's entries are set one by one");
        let message = |answer: &Value| answer["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(message(&answer), "the command ran longer than 400 ms and was stopped");
        for (flags, arguments, wanted) in [
            (&["--timeout", "300ms"][..], json!({"command": "sleep 1000"}), "300 ms"),
            (&["--timeout", "300ms"], json!({"command": "sleep 1000", "timeout_ms": 200}), "200 ms"),
            (&[], json!({"command": "sleep 1000", "timeout_ms": 500}), "500 ms"),
        ] {
            let (answer, _) = call(place, flags, &arguments);
            assert!(message(&answer).contains(wanted), "{flags:?} {arguments}: {answer}");
        }
    });
}

#[test]
fn the_root_can_be_set_above_the_project_only() {
    for_each_user(|place| {
        let chosen = place.home().join("chosen");
        std::fs::create_dir(&chosen).unwrap();
        let pwd = |flags: &[&str]| {
            let output = shellgate(place, ["run"].iter().chain(flags).chain(&["pwd"])).output().unwrap();
            text(&output.stdout).trim_end().to_owned()
        };
        let setting = format!("[workspace]\nworking_directory = \"{}\"\n", chosen.display());
        let (root, chosen) = (place.root().canonicalize().unwrap(), chosen.canonicalize().unwrap());
        let (root, chosen) = (root.to_str().unwrap(), chosen.to_str().unwrap());
        assert_eq!(pwd(&[]), root, "the current folder");
        write_file(place, &project_file(place), &setting);
        assert_eq!(pwd(&[]), root, "a project can't move itself");
        write_file(place, &user_file(place), &setting);
        assert_eq!(pwd(&[]), chosen);
        assert_eq!(pwd(&["--root", "."]), root, "the flag wins");
        write_file(place, &user_file(place), "[workspace]\nworking_directory = \"~/chosen\"\n");
        assert_eq!(pwd(&[]), chosen);
        // The project file is that of the root, not of the current directory.
        write_file(place, &place.home().join("chosen/.shellgate.toml"), "[policy]\nexclude = [\"pwd\"]\n");
        assert_eq!(pwd(&[]), "");
    });
}

/// Settings that an untrusted project file tries to loosen. The user's settings stay in force.
#[test]
fn an_untrusted_project_file_can_loosen_nothing() {
    let user = "[sandbox]\nnetwork = \"deny\"\n";
    for_each_user(|place| {
        write_file(place, &user_file(place), user);
        for project in [
            "sandbox.network = \"allow\"",
            "sandbox = { mode = \"off\", network = \"allow\" }",
            "sandbox.on_missing = \"warn\"",
            "approval.mode = \"allow\"",
        ] {
            write_file(place, &project_file(place), format!("{project}\n"));
            assert!(decided(place, &[]).starts_with("sandbox.network = deny (/home"), "{project}");
        }
        std::fs::remove_file(user_file(place)).unwrap();

        let loose = "\
            limits = { timeout_ms = 86400000, answer_chars = 1, capture_bytes = 1, max_running = 65536 }\n\
            [environment]\nhide_secrets = false\nquiet = false\nkeep = [\"*\"]\nset = { ADDED = \"1\" }\n\
            [workspace]\nworking_directory = \"/\"\n";
        write_file(place, &project_file(place), loose);
        write_file(place, &user_file(place), "limits.timeout_ms = 400\n");
        let script = "echo ${MY_TOKEN-hidden} ${ADDED-unset} $PAGER; sleep 1000";
        let mut run = shellgate(place, ["run", script]);
        let output = run.env("MY_TOKEN", "correct-horse").output().unwrap();
        assert_eq!(text(&output.stdout), "hidden unset cat\n");
        assert_eq!(output.status.code(), Some(124), "{output:?}");
        assert_texts("notices", &[text(&output.stderr).to_owned()]);
        // The same file counts if `--config` names it.
        let path = project_file(place);
        let words = ["run", "--root", "/", "--config", path.to_str().unwrap(), "--timeout", "60s"];
        let script = "echo ${MY_TOKEN-hidden} ${ADDED-unset} ${PAGER-unset}";
        let output = shellgate(place, words).arg(script).env("MY_TOKEN", "correct-horse").output().unwrap();
        assert_eq!(text(&output.stdout), "correct-horse 1 unset\n", "{output:?}");
    });
}

#[test]
fn an_untrusted_project_file_can_tighten() {
    for_each_user(|place| {
        write_file(place, &project_file(place), "[sandbox]\nnetwork = \"deny\"\n");
        assert_eq!(decided(place, &[]), "sandbox.network = deny (/root/.shellgate.toml:2:1)");
        write_file(place, &project_file(place), "[sandbox]\nmode = \"read-only\"\n");
        let (answer, _) = call(place, &[], &json!({"command": "touch ran"}));
        assert_eq!(
            (&answer["status"], place.root().join("ran").exists()),
            (&json!("failed"), false),
            "{answer}"
        );
        let strict = "limits.timeout_ms = 300\n\
            [environment]\ninherit = \"core\"\nremove = [\"LANG\"]\n";
        write_file(place, &project_file(place), strict);
        let script = "echo ${LANG-unset} ${OTHER-unset} ${HOME:+home}; sleep 1000";
        let output = shellgate(place, ["run", script]).env("OTHER", "x").output().unwrap();
        assert_eq!((text(&output.stdout), output.status.code()), ("unset unset home\n", Some(124)));
        assert!(text(&output.stderr).contains("ran longer than 300 ms"), "{output:?}");
        std::fs::remove_file(project_file(place)).unwrap();
        let output = shellgate(place, ["run", "echo $LANG $OTHER"]).env("OTHER", "x").output().unwrap();
        assert_eq!(text(&output.stdout), "C.UTF-8 x\n", "and without the file nothing is tightened");
    });
}
