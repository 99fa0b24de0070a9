//! Approvals for a session: listing them, ending them, and what `check` says of them.

use std::process::Output;

use serde_json::{Value, json as value};

use super::approvals::{asking, number};
use super::{complaint, json, text};
use crate::support::{Place, for_each_user};

/// Approves `command` with this flag of `approvals approve`, in the session that `words` name.
fn approve(place: &Place, words: &[&str], command: &str, flag: &str) {
    let run: Vec<&str> = ["run", "--ask", "queue"].iter().chain(words).copied().chain([command]).collect();
    let (child, question) = asking(place, &run);
    let answered = place.output(["approvals", "approve", &number(&question), flag]);
    assert_eq!(answered.status.code(), Some(0), "{answered:?}");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

fn grants(place: &Place, words: &[&str]) -> Vec<Value> {
    let words: Vec<&str> = ["approvals", "grants"].iter().chain(words).copied().collect();
    json(place, &words).as_array().unwrap().clone()
}

fn check(place: &Place, words: &[&str]) -> Output {
    place.strictly(["check"].iter().chain(words).copied()).output().unwrap()
}

fn runs(place: &Place, words: &[&str]) -> bool {
    place.strictly(["run"].iter().chain(words).copied()).output().unwrap().status.success()
}

#[test]
fn an_approval_for_the_session_is_listed_counted_and_taken_back() {
    for_each_user(|place| {
        assert_eq!(grants(place, &[]), Vec::<Value>::new());
        assert_eq!(check(place, &["touch a"]).status.code(), Some(10));
        approve(place, &[], "touch a", "--session");
        approve(place, &[], "mkdir -p b", "--prefix");
        let [exact, prefix] = grants(place, &[]).try_into().unwrap();
        assert_eq!((&exact["command"], &exact["directory"]), (&value!("touch a"), &value!(".")), "{exact}");
        assert_eq!(prefix["scope"], value!({"prefix": ["mkdir"]}), "{prefix}");
        let (id, other) = (exact["id"].to_string(), prefix["id"].to_string());
        let page = text(&place.output(["approvals", "grants"]));
        assert!(page.contains("exactly `touch a`") && page.contains("`mkdir …`"), "{page}");

        // `check` says what `run` would do, and why.
        for (command, id) in [("touch a", &id), ("mkdir -p c", &other)] {
            let checked = check(place, &["--json", command]);
            assert_eq!(checked.status.code(), Some(0), "{checked:?}");
            let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
            assert_eq!(checked["verdict"], "allow");
            let by = checked["by"].as_str().unwrap();
            assert!(by.starts_with(&format!("an approval for this session: grant {id}, until ")), "{by}");
            assert!(runs(place, &[command]));
        }
        assert_eq!(check(place, &["touch b"]).status.code(), Some(10));
        assert_eq!(check(place, &["--session", "other", "touch a"]).status.code(), Some(10));

        let revoked = place.output(["approvals", "revoke", &id]);
        let ended = format!("grant {id} has ended: exactly `touch a`");
        assert!(text(&revoked).starts_with(&ended), "{revoked:?}");
        assert_eq!(check(place, &["touch a"]).status.code(), Some(10));
        assert!(!runs(place, &["touch a"]) && runs(place, &["mkdir -p c"]));
        assert_eq!(grants(place, &[]).len(), 1);
        let again = place.output(["approvals", "revoke", &id]);
        assert_eq!(again.status.code(), Some(4), "{again:?}");
        assert!(complaint(&again).contains(&format!("grant {id} was taken back at ")), "{again:?}");
        let unknown = place.output(["approvals", "revoke", "4711"]);
        assert_eq!(unknown.status.code(), Some(4), "{unknown:?}");
        assert!(complaint(&unknown).contains("no grant 4711 is in the record"), "{unknown:?}");

        // The record has the grant and its end.
        let story = text(&place.output(["history", "show", exact["exec_id"].as_str().unwrap()]));
        assert!(
            story.contains("for this session: exactly this, until ") && story.contains("took it back"),
            "{story}"
        );
        assert_eq!(place.output(["audit", "verify"]).status.code(), Some(0));
    });
}

#[test]
fn stopping_a_session_ends_its_approvals_and_no_others() {
    let place = Place::new(None);
    for session in ["one", "one/chat", "two"] {
        approve(&place, &["--session", session], "touch a", "--session");
    }
    let held = |words: &[&str]| -> Vec<String> {
        let grants = grants(&place, words);
        grants.iter().map(|grant| grant["session"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(held(&["--session", "one"]), ["one", "one/chat"]);
    assert!(runs(&place, &["--session", "one", "touch a"]));
    let stopped = text(&place.output(["stop", "--session", "one"]));
    assert!(stopped.ends_with("ended 2 approvals for the session\n"), "{stopped}");
    assert_eq!(held(&[]), ["two"]);
    assert!(
        !runs(&place, &["--session", "one", "touch a"]) && runs(&place, &["--session", "two", "touch a"])
    );
    assert_eq!(json(&place, &["stop", "--all"])["grants_ended"], 1);
    assert_eq!(held(&[]), Vec::<String>::new());
    assert!(!runs(&place, &["--session", "two", "touch a"]));
    place.assert_nothing_is_left();
}

#[test]
fn always_is_the_narrowest_that_is_safe_and_says_where_it_is_and_how_to_take_it_back() {
    let place = Place::new(None);
    let file = place.home().join("nothing/shellgate/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "# mine\npolicy = { preset = \"none\", redirects = \"ask\" }\n").unwrap();
    std::fs::write(place.root().join("gone"), "").unwrap();
    let (child, question) = asking(&place, &["run", "--ask", "queue", "rm -f gone"]);
    assert_eq!(question["choices"], value!(["once", "session", "always_exact"]), "{question}");
    assert_eq!(question["always"], Value::Null);
    let refused = place.output(["approvals", "approve", &number(&question), "--always"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let answered = place.output(["approvals", "approve", &number(&question), "--always-exact"]);
    assert_eq!(answered.status.code(), Some(0), "{answered:?}");
    let told = text(&answered);
    assert!(told.contains(&format!("to take it back, remove the rule at {}:2\n", file.display())), "{told}");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("# mine\npolicy = { preset = \"none\", redirects = \"ask\""), "{written}");
    assert!(runs(&place, &["rm -f gone"]), "{written}");
    assert!(!runs(&place, &["rm -f gone other"]) && !runs(&place, &["rm -f other"]));
    place.assert_nothing_is_left();
}

#[test]
fn an_always_that_cannot_be_written_is_never_called_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new(None);
    let file = place.home().join("nothing/shellgate/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "policy.preset = \"none\"\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    let (child, question) = asking(&place, &["run", "--ask", "queue", "touch a"]);
    let answered = place.output(["approvals", "approve", &number(&question), "--always"]);
    assert_eq!(answered.status.code(), Some(2), "{answered:?}");
    assert!(complaint(&answered).contains("it is read-only") && text(&answered).is_empty(), "{answered:?}");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0), "it is a yes for this time");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "policy.preset = \"none\"\n");
    place.assert_nothing_is_left();
}

#[test]
fn after_a_no_the_model_is_not_sent_to_the_settings() {
    let place = Place::new(None);
    let calls = [
        ("shellgate", r#"{"command": "touch a"}"#),
        ("gemini", r#"{"command": "touch a"}"#),
        ("qwen", r#"{"command": "touch a", "is_background": false}"#),
        ("asimi", r#"{"command": "touch a"}"#),
        ("agent-world", r#"{"command": "touch", "parameters": ["a"]}"#),
    ];
    for (dialect, call) in calls {
        let root = place.root().to_str().unwrap().to_owned();
        let words =
            ["call", "--dialect", dialect, "--root", &root, "--ask", "queue", "--default", "ask", call];
        let (child, question) = asking(&place, &words);
        place.output(["approvals", "deny", &number(&question)]);
        let output = child.wait_with_output().unwrap();
        let answer = text(&output);
        assert!(
            answer.contains("denied_by_user") && answer.contains("the user said no"),
            "{dialect}: {answer}"
        );
        for word in ["settings", "policy.rule", "`core`", "change the rule", "plainer"] {
            assert!(!answer.contains(word), "{dialect}: {word}: {answer}");
        }
    }
    place.assert_nothing_is_left();
}

#[test]
fn a_question_is_an_event_of_a_call() {
    let place = Place::new(None);
    let call = r#"{"command": "touch made", "description": "Make it"}"#;
    let (child, question) = asking(&place, &["call", "--events", "--ask", "queue", call]);
    place.output(["approvals", "approve", &number(&question)]);
    let output = child.wait_with_output().unwrap();
    let events: Vec<Value> = text(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let event = events.first().unwrap();
    for (field, expected) in [
        ("type", value!("question")),
        ("id", question["exec_id"].clone()),
        ("question", question["id"].clone()),
        ("command", value!("touch made")),
        ("description", value!("Make it")),
        ("directory", value!(".")),
        ("session", question["session"].clone()),
        ("reasons", value!(["no rule covers `touch`"])),
        ("choices", value!(["once", "session", "prefix", "always", "always_exact"])),
    ] {
        assert_eq!(event[field], expected, "{field}: {event}");
    }
    assert!(event["expires_at"].as_str().unwrap() < event["grant_until"].as_str().unwrap(), "{event}");
    assert_eq!(events.last().unwrap()["json"]["status"], "completed");
    // A command that needs no approval asks nothing.
    let free = place.strictly(["call", "--events", "--core", "*", call]).output().unwrap();
    assert!(!text(&free).contains("\"question\""), "{free:?}");
    place.assert_nothing_is_left();
}

#[test]
fn watching_without_a_terminal_prints_questions_and_answers_none() {
    use std::io::{BufRead as _, BufReader};
    let place = Place::new(None);
    let mut watch = place.strictly(["approvals", "watch"]);
    let mut watch = watch.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    for command in ["touch a", "touch b"] {
        let (child, question) = asking(&place, &["run", "--ask", "queue", command]);
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!((&line["id"], &line["command"]), (&question["id"], &value!(command)));
        assert_eq!(json(&place, &["approvals", "list"]).as_array().unwrap().len(), 1, "it still waits");
        place.output(["approvals", "deny", &number(&question)]);
        child.wait_with_output().unwrap();
    }
    // It ends when its reader is gone.
    drop(lines);
    assert_eq!(watch.wait().unwrap().code(), Some(141));
    place.assert_nothing_is_left();
}
