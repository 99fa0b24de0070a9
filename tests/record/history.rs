//! `shellgate history`.

use super::{commands, complaint, json, newest, text};
use crate::support::{Place, for_each_user, wait_until};

#[test]
fn executions_are_found_by_what_they_were_and_printed() {
    for_each_user(|place| {
        for (session, command) in [("a", "echo one"), ("a/b", "echo t''wo; exit 3"), ("ab", "echo three >&2")]
        {
            place.output(["run", "--session", session, command]);
        }
        let refused = place.output(["run", "--session", "c", "--exclude", "rm", "rm one"]);
        assert_eq!(refused.status.code(), Some(125));
        let all = ["rm one", "echo three >&2", "echo t''wo; exit 3", "echo one"];
        assert_eq!(commands(place, &[]), all);
        assert_eq!(commands(place, &["--session", "a"]), all[2..]);
        assert_eq!(commands(place, &["--session", "a/b"]), all[2..3]);
        assert_eq!(commands(place, &["--status", "failed"]), all[2..3]);
        assert_eq!(commands(place, &["--status", "failed", "--status", "refused"]), [all[0], all[2]]);
        assert_eq!(commands(place, &["--limit", "2"]), all[..2]);
        assert_eq!(commands(place, &["--search", "one"]), [all[0], all[3]], "in commands");
        assert_eq!(
            commands(place, &["--search", "two"]),
            all[2..3],
            "in what was printed, not in the command"
        );
        assert_eq!(commands(place, &["--search", "three", "--session", "a"]), [""; 0], "all of it counts");
        assert_eq!(commands(place, &["--search", "nowhere"]), [""; 0]);
        assert_eq!(commands(place, &["--since", "1h"]), all);
        assert_eq!(commands(place, &["--until", "1h"]), [""; 0]);
        assert_eq!(commands(place, &["--since", "2020-01-01", "--until", "2020-01-02T00:00Z"]), [""; 0]);
        let wrong = place.output(["history", "--since", "yesterday"]);
        assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    });
}

#[test]
fn one_execution_tells_its_whole_story() {
    let place = Place::new(None);
    place.output(["run", "printf 'a\\033[31mb\\n'; echo oops >&2; exit 4"]);
    let id = newest(&place);
    let story = json(&place, &["history", "show", &id]);
    assert_eq!(story["status"], "failed");
    assert_eq!(story["exit_code"], 4);
    assert_eq!(story["stdout"]["bytes"], 8);
    assert_eq!(story["stdout_text"], "a\u{1b}[31mb\n");
    assert_eq!(story["verdict"]["decision"], "ask");
    let kinds: Vec<&str> =
        story["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["asked", "started", "ended"]);
    let hash = place.program("bash").args(["-c", "printf 'a\\033[31mb\\n' | sha256sum"]).output().unwrap();
    assert!(text(&hash).starts_with(story["stdout"]["sha256"].as_str().unwrap()));

    let page = place.output(["history", "show", &id]);
    for words in ["failed 4", "why: no rule covers `printf`", "exit code 4", "a\u{1b}[31mb\n", "oops"] {
        assert!(text(&page).contains(words), "{words}: {page:?}");
    }
    let prefix: String = id.chars().take(25).collect();
    assert_eq!(
        place.output(["history", "show", &prefix.to_lowercase()]).stdout,
        page.stdout,
        "by its beginning"
    );

    place.output(["run", "true"]);
    let ambiguous = place.output(["history", "show", "0"]);
    assert_eq!(ambiguous.status.code(), Some(2), "{ambiguous:?}");
    for unknown in ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "nobody", "../x"] {
        let output = place.output(["history", "show", unknown]);
        assert_eq!(output.status.code(), Some(4));
        assert!(complaint(&output).starts_with("unknown_job: "), "{output:?}");
    }
    place.assert_nothing_is_left();
}

#[test]
fn a_program_that_could_not_be_executed_is_recorded_with_the_sentence_of_the_answer() {
    let place = Place::new(None);
    let program = place.write("garbage", "\0not a program");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let answer = complaint(&place.output(["run", "--", "./garbage", "word"]));
    let sentence = answer.lines().find_map(|line| line.strip_prefix("spawn_failed: ")).unwrap();
    assert_eq!(sentence, "`./garbage` could not be executed: Exec format error");

    let id = newest(&place);
    let story = json(&place, &["history", "show", &id]);
    assert_eq!(story["entries"][2]["body"]["error"]["message"], sentence, "{story}");
    let page = text(&place.output(["history", "show", &id]));
    assert!(page.contains(sentence) && !page.contains("NotExecuted"), "{page}");
}

#[test]
fn the_start_is_recorded_with_the_process_that_asked_for_it() {
    let place = Place::new(None);
    let caller = place.start(["run", "true"]);
    let pid = caller.id();
    assert!(caller.wait_with_output().unwrap().status.success());
    let story = json(&place, &["history", "show", &newest(&place)]);
    let started = &story["entries"][1]["body"];
    let of = started["caller"].as_str().and_then(|identity| identity.split(' ').next());
    assert_eq!(of, Some(pid.to_string().as_str()), "{started}");
    assert!(started.get("keeper").is_none(), "no keeper is known yet: {started}");
}

/// Runs it on a terminal, which `script` provides.
fn on_a_terminal(place: &Place, words: &[&str]) -> String {
    let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let line = format!("{} {}", crate::support::shellgate().display(), line.join(" "));
    let output = place.program("script").args(["-qec", &line, "/dev/null"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    text(&output)
}

#[test]
fn stored_output_does_not_act_on_a_terminal() {
    let place = Place::new(None);
    place.output(["run", "printf 'x\\033]0;title\\007y\\n'"]);
    let id = newest(&place);
    let shown = on_a_terminal(&place, &["history", "show", &id]);
    assert!(shown.contains("x‹ESC›]0;title‹BEL›y"), "{shown:?}");
    assert!(!shown.contains("\u{1b}]0;"), "{shown:?}");
    let raw = on_a_terminal(&place, &["history", "show", &id, "--raw"]);
    assert!(raw.contains("x\u{1b}]0;title\u{7}y"), "{raw:?}");
    place.output(["run", "printf '\\033[31m' # \u{202e} \u{1b}[2J"]);
    let list = on_a_terminal(&place, &["history"]);
    assert!(!list.contains("\u{1b}[2J") && !list.contains('\u{202e}'), "{list:?}");
    place.assert_nothing_is_left();
}

#[test]
fn forgetting_removes_an_execution_and_the_record_stays_intact() {
    for_each_user(|place| {
        place.output(["run", "echo very-secret"]);
        place.output(["run", "echo kept"]);
        let list = json(place, &["history", "--search", "very-secret"]);
        let id = list[0]["id"].as_str().unwrap();
        let file = list[0]["stdout"]["file"].as_str().unwrap();
        assert!(std::path::Path::new(file).exists());
        let forgotten = place.output(["history", "forget", id]);
        assert_eq!(forgotten.status.code(), Some(0), "{forgotten:?}");
        assert!(!std::path::Path::new(file).exists(), "its output went with it");
        assert_eq!(commands(place, &["--search", "very-secret"]), [""; 0]);
        assert_eq!(commands(place, &[]), ["echo kept", "?"], "that there was one stays");
        assert_eq!(json(place, &["history", "show", id])["status"], "forgotten");
        assert_eq!(json(place, &["audit", "verify"])["forgotten"], 3);
        assert_eq!(place.output(["history", "forget", id]).status.code(), Some(4), "once");
    });
}

#[test]
fn a_running_execution_can_not_be_forgotten() {
    let place = Place::new(None);
    let job = place.call(&serde_json::json!({"command": "sleep 3600", "background": true}));
    let id = job["id"].as_str().unwrap();
    let refused = place.output(["history", "forget", id]);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert_eq!(commands(&place, &["--status", "running"]), ["sleep 3600"]);
    assert_eq!(place.output(["stop", id]).status.code(), Some(0));
    wait_until("its end is recorded", || commands(&place, &["--status", "running"]).is_empty());
    assert_eq!(place.output(["history", "forget", id]).status.code(), Some(0));
    place.assert_nothing_is_left();
}

/// The answer has an id, and the id is in the record.
#[test]
fn a_call_that_can_not_be_read_is_recorded() {
    for_each_user(|place| {
        let mut talk = crate::mcp::talk::Talk::new(place);
        let bad = serde_json::json!({"command": "echo hi", "wrong_field": 1});
        let of_server = talk.run(bad.clone());
        assert!(talk.leave().success());
        for answer in [of_server, place.call(&bad), place.call(&serde_json::json!({"command": 5}))] {
            assert_eq!(answer["error"]["code"], "invalid_input", "{answer}");
            let id = answer["id"].as_str().unwrap();
            let story = String::from_utf8(place.output(["history", "show", id]).stdout).unwrap();
            assert!(story.contains("invalid_input"), "{story}");
        }
        let list: serde_json::Value =
            serde_json::from_slice(&place.output(["history", "--json"]).stdout).unwrap();
        assert_eq!(
            (&list[0]["status"], &list[1]["command"]),
            (&serde_json::json!("refused"), &serde_json::json!("echo hi")),
            "{list}"
        );
        assert!(place.output(["audit", "verify"]).status.success());
    });
}
