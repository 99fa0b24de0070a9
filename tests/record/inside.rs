//! `shellgate` from inside a command that it runs. The commands are not confined: a sandbox hides the state folder, so that a
//! `shellgate` inside can do nothing at all (`tests/sandbox/settings.rs`).

use serde_json::Value;

use shellgate::approval::{Answer, ApprovalChannel, Approver, Choice, Question, QueueWait};
use shellgate::journal::{GrantId, QuestionId};
use shellgate::request::Action;
use shellgate::settings::{self, ApprovalMode, Flags, Network, OnMissing, SandboxMode};
use shellgate::{ErrorObject, Gate, RecordStore, Request, Urgency};

use super::{complaint, json, newest, text};
use crate::support::{Place, for_all, for_each_user, mark, processes_with, shellgate, wait_until};

/// Runs `script` with `shellgate run`. In the script, `sg` is shellgate.
fn inside(place: &Place, script: &str) -> std::process::Output {
    let script = format!("sg() {{ {} \"$@\"; }}; {script}", shellgate().display());
    place.output(["run", "--sandbox", "off", &script])
}

/// Ways to call: plainly, with an empty environment, and as an orphan in another process session.
const WAYS: [&str; 3] = [
    "CALL; echo $? > code",
    "env -i PATH=$PATH CALL; echo $? > code",
    "(sleep 0.05; setsid -w CALL; echo $? > code) >/dev/null 2>&1 & disown",
];

/// Tries in this process, with the library, everything that a command may not do. Prints a line with the name and the
/// result of each.
fn probe() {
    let here = std::env::current_dir().unwrap();
    let keeper = std::env::var_os(PROBE).unwrap();
    let builder = || Gate::builder().root(&here).keeper_program(&keeper);
    let flags = |flags: Flags| builder().flags(flags).judge().map(drop);
    let allow = || Flags { core: vec!["ls".to_owned()], ..Flags::default() };
    let record = || RecordStore::open(None).unwrap();
    let project = || builder().project_file().unwrap().unwrap();
    let none = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let deeds: [(&str, Result<(), ErrorObject>); 21] = [
        ("answer", record().answer(QuestionId(4711), &Answer::Yes(Choice::Once)).map(drop)),
        ("revoke", record().revoke(GrantId(4711)).map(drop)),
        ("trust", record().trust(&project())),
        ("stop", record().stop(none, Urgency::Now)),
        ("stop a session", record().stop_session("other", Urgency::Now).map(drop)),
        ("stop all", record().stop_all(Urgency::Politely).map(drop)),
        ("stop another session", builder().build().unwrap().stop_other_session("x", Urgency::Now).map(drop)),
        ("stop the session", builder().build().unwrap().stop_session(Urgency::Politely).map(drop)),
        ("forget", record().forget(none).map(drop)),
        ("core", flags(allow())),
        ("default", flags(Flags { default: Some(settings::Decision::Allow), ..Flags::default() })),
        ("approve", flags(Flags { approve: Some(ApprovalMode::Allow), ..Flags::default() })),
        ("sandbox", flags(Flags { sandbox: Some(SandboxMode::Off), ..Flags::default() })),
        ("network", flags(Flags { network: Some(Network::Allow), ..Flags::default() })),
        ("on missing", flags(Flags { on_missing: Some(OnMissing::Warn), ..Flags::default() })),
        ("config", builder().config(here.join(".shellgate.toml")).judge().map(drop)),
        ("root", builder().root("/").judge().map(drop)),
        ("wider root", builder().root(here.parent().unwrap()).judge().map(drop)),
        ("session", builder().session("other").build().map(drop)),
        ("no record", builder().without_record().judge().map(drop)),
        ("state", builder().state_folder(here.join("elsewhere")).judge().map(drop)),
    ];
    for (name, done) in deeds {
        println!(
            "probe {name}: {}",
            done.map_or_else(|error| error.code.to_string(), |()| "done".to_owned())
        );
    }
    for (name, channel) in
        [("own terminal", ApprovalChannel::Terminal), ("own queue", ApprovalChannel::Queue)]
    {
        let gate = builder().approver(Yes(channel)).build().unwrap();
        let text = format!("touch 'by {name}'");
        let report = gate.run(Request { action: Action::Shell(text), ..Request::default() });
        println!("probe {name}: {}", report.error.map_or("done".to_owned(), |error| error.code.to_string()));
    }
}

/// The variable with the path of the keeper program, for the probe.
const PROBE: &str = "PROBE_KEEPER";

/// Says yes to everything.
#[derive(Debug)]
struct Yes(ApprovalChannel);

impl Approver for Yes {
    fn channel(&self) -> ApprovalChannel {
        self.0
    }

    fn ask(&self, _: &Question<'_>, _: &QueueWait) -> Answer {
        Answer::Yes(Choice::Once)
    }
}

#[test]
fn the_library_refuses_too() {
    if std::env::var_os(PROBE).is_some() {
        return probe();
    }
    let own = for_all(&std::env::current_exe().unwrap());
    let words = ["--exact", "record::inside::the_library_refuses_too", "--nocapture"];
    for_each_user(|place| {
        place.write(".shellgate.toml", "[limits]\ntimeout_ms = 60000\n");
        let lines = |output: &std::process::Output| -> Vec<(String, String)> {
            let text = text(output);
            let lines = text.lines().filter_map(|line| line.split_once("probe ")?.1.split_once(": "));
            lines.map(|(name, came)| (name.to_owned(), came.to_owned())).collect()
        };
        let script = format!("{PROBE}={} {} {}", shellgate().display(), own.display(), words.join(" "));
        let output = place.output(["run", "--sandbox", "off", &script]);
        let inside = lines(&output);
        assert_eq!(inside.len(), 23, "{output:?}");
        for (name, came) in &inside {
            let wanted = if name.starts_with("own ") { "approval_unavailable" } else { "denied_by_policy" };
            assert_eq!(came, wanted, "{name}");
        }
        assert!(
            !place.root().join("by own terminal").exists() && !place.root().join("by own queue").exists()
        );
        // From outside, none of these is denied.
        let mut outside = place.program(&own);
        outside.args(words).env(PROBE, shellgate()).env("XDG_CONFIG_HOME", place.home().join("nothing"));
        let output = outside.output().unwrap();
        let outside = lines(&output);
        assert_eq!(outside.len(), 23, "{output:?}");
        for (name, came) in &outside {
            assert_ne!(came, "denied_by_policy", "{name}");
        }
        assert!(place.root().join("by own terminal").exists());
        assert!(!place.root().join("by own queue").exists(), "no answer lies there");
    });
}

#[test]
fn a_command_can_not_approve_on_a_terminal_that_it_made() {
    for_each_user(|place| {
        let typing = format!(
            "for n in 1 2 3 4 5 6; do echo yes; sleep 0.3; done | \
             TERM=dumb script -qec '{} run \"touch made\"; echo code $?' /dev/null",
            shellgate().display()
        );
        let output = inside(place, &typing);
        assert!(text(&output).contains("code 125"), "{output:?}");
        assert!(text(&output).contains("approval_unavailable"), "{output:?}");
        assert!(!place.root().join("made").exists());
        // From outside, the same input counts as a person's.
        let mut outside = place.program("bash");
        outside.args(["-c", &typing]).env("XDG_CONFIG_HOME", place.home().join("nothing"));
        let output = outside.output().unwrap();
        assert!(text(&output).contains("code 0"), "{output:?}");
        assert!(place.root().join("made").exists());
    });
}

#[test]
fn the_root_and_the_session_are_those_of_the_command() {
    for_each_user(|place| {
        std::fs::create_dir_all(place.root().join("below")).unwrap();
        let sg = shellgate().display().to_string();
        let root = place.root().canonicalize().unwrap();
        for (words, outer, session) in [
            ("", vec![], root.to_str().unwrap().to_owned()),
            ("", vec!["--session", "A"], "A".to_owned()),
            ("--session A/b", vec!["--session", "A"], "A/b".to_owned()),
            ("--root below", vec!["--session", "A"], "A".to_owned()),
        ] {
            let script = format!("SHELLGATE_SESSION=other {sg} run {words} 'true 4711'; true");
            let args: Vec<&str> =
                ["run", "--sandbox", "off"].into_iter().chain(outer).chain([script.as_str()]).collect();
            let output = place.output(&args);
            let list = json(place, &["history", "--search", "true 4711"]);
            let list = list.as_array().unwrap();
            let inner = list.iter().find(|one| one["command"] == "true 4711").unwrap();
            assert_eq!(inner["session"], session, "{words}: {output:?}");
        }
        // A leftover process still belongs to the session of its command.
        let left = format!("(sleep 0.3; cd ..; {sg} check ls; echo $? > root/left) >/dev/null 2>&1 & true");
        place.output(["run", "--sandbox", "off", "--session", "A", &left]);
        wait_until("it has tried", || read(place, "left").ends_with('\n'));
        assert_eq!(read(place, "left"), "2\n");
        // The command can't choose a folder above as its root, nor one that it changed into.
        for script in
            [format!("cd /; {sg} check ls"), format!("{sg} check --session AB ls; cd ..; {sg} check ls")]
        {
            let output = place.output([
                "run",
                "--sandbox",
                "off",
                "--session",
                "A",
                &format!("{script}; echo code $?"),
            ]);
            assert!(text(&output).contains("code 2"), "{output:?}");
        }
    });
}

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
            ("approvals revoke 1", 3),
            ("history forget 01", 3),
            ("run --approve allow 'touch made'", 125),
            ("run --config loose.toml 'touch made'", 125),
            ("run --core touch 'touch made'", 125),
            ("run --default allow 'touch made'", 125),
            ("call --core touch '{\"command\": \"touch made\"}'", 3),
            ("check --core touch 'touch made'", 2),
            ("run --approve on-need 'touch made'", 125),
            ("run --sandbox off 'touch made'", 125),
            ("run --network allow 'touch made'", 125),
            ("run --on-missing warn 'touch made'", 125),
            ("check --root / 'ls'", 2),
            ("check --root .. 'ls'", 2),
            ("run --session other 'touch made'", 125),
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
        // From outside, none of these is denied.
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
    // From outside they count.
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
        "--sandbox",
        "off",
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
    let other =
        place.start(["run", "--sandbox", "off", "--session", "other", &format!("sleep {mark}; true")]);
    wait_until("it runs", || processes_with(&format!("sleep {mark}")).len() > 1);
    let id = newest(&place);
    let output = inside(&place, &format!("sg stop {id}; echo code $?"));
    assert!(text(&output).contains("code 3"), "{output:?}");
    assert!(!processes_with(&mark).is_empty());
    assert_eq!(place.output(["stop", &id]).status.code(), Some(0));
    assert_eq!(other.wait_with_output().unwrap().status.code(), Some(130));
    place.assert_nothing_is_left();
}
