//! A yes for always holds at once, as long as the rule is in the settings.

use serde_json::json;

use super::asking::{answer_form, form, pending, strict};
use super::talk::Talk;
use crate::support::{Place, for_each_user, wait_until};

/// The settings that "always" writes to.
fn settings_of(place: &Place) -> std::path::PathBuf {
    place.home().join("nothing/shellgate/config.toml")
}

#[test]
fn a_yes_for_always_holds_at_once() {
    for_each_user(|place| {
        std::fs::create_dir(place.root().join("below")).unwrap();
        let mut talk = strict(place, &[], &form());
        let id = talk.call(json!({"command": "echo again"}));
        answer_form(&mut talk, &json!({"action": "accept", "content": {"answer": "always"}}));
        assert_eq!(talk.answer(id)["result"]["structuredContent"]["stdout"], "again\n");
        let written = std::fs::read_to_string(settings_of(place)).unwrap();
        assert!(written.contains("prefix = [\"echo\"]"), "{written}");
        // Commands that the rule covers run without asking, in other directories and sessions too.
        for arguments in [
            json!({"command": "echo again"}),
            json!({"command": "echo again", "directory": "below"}),
            json!({"command": "echo again", "session": "new"}),
        ] {
            let report = talk.run(arguments);
            assert_eq!(report["stdout"], "again\n", "{report}");
        }
        assert!(talk.heard.iter().all(|heard| heard["method"] != "elicitation/create"), "{:?}", talk.heard);
        // Other commands still need approval.
        for command in ["touch other", "echo again; touch other", "echo again > other"] {
            let id = talk.call(json!({"command": command}));
            answer_form(&mut talk, &json!({"action": "decline"}));
            assert_eq!(
                talk.answer(id)["result"]["structuredContent"]["error"]["code"],
                "denied_by_user",
                "{command}"
            );
        }
        // After the rule is removed from the settings, it doesn't count any more.
        std::fs::write(settings_of(place), "").unwrap();
        let id = talk.call(json!({"command": "echo again"}));
        answer_form(&mut talk, &json!({"action": "decline"}));
        assert_eq!(talk.answer(id)["result"]["structuredContent"]["error"]["code"], "denied_by_user");
        assert!(!place.root().join("other").exists());
        talk.leave();
    });
}

#[test]
fn a_yes_for_always_from_the_queue_holds_for_the_server_that_asked() {
    for_each_user(|place| {
        let mut talk = strict(place, &[], &json!({}));
        let approve =
            |number: &str| place.strictly(["approvals", "approve", number, "--always"]).output().unwrap();
        let ask = |talk: &mut Talk, command: &str| {
            let id = talk.call(json!({"command": command}));
            wait_until("the question waits in the queue", || pending(place).len() == 1);
            id
        };
        // A rule that can't be written doesn't count.
        let file = settings_of(place);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(place.program("mkdir").arg("-p").arg(&file).status().unwrap().success());
        let id = ask(&mut talk, "printf once");
        assert!(!approve(&pending(place)[0]).status.success());
        assert_eq!(talk.answer(id)["result"]["structuredContent"]["stdout"], "once");
        assert_eq!(last_answer(place).matches("yes, once: ").count(), 1);
        let id = ask(&mut talk, "printf once");
        assert!(place.strictly(["approvals", "deny", &pending(place)[0]]).status().unwrap().success());
        assert_eq!(talk.answer(id)["result"]["structuredContent"]["error"]["code"], "denied_by_user");
        std::fs::remove_dir(&file).unwrap();
        std::fs::write(&file, text).unwrap();
        crate::support::give(&file, place.user);

        let id = ask(&mut talk, "echo again");
        let approved = approve(&pending(place)[0]);
        assert!(approved.status.success(), "{approved:?}");
        assert_eq!(talk.answer(id)["result"]["structuredContent"]["stdout"], "again\n");
        assert_eq!(talk.run(json!({"command": "echo again"}))["stdout"], "again\n", "it runs without asking");
        let id = ask(&mut talk, "touch other");
        assert!(place.strictly(["approvals", "deny", &pending(place)[0]]).status().unwrap().success());
        assert_eq!(talk.answer(id)["result"]["structuredContent"]["error"]["code"], "denied_by_user");
        assert!(!place.root().join("other").exists());
        talk.leave();
    });
}

/// How the newest question was answered, in the words of the record.
fn last_answer(place: &Place) -> String {
    let list = place.output(["history", "--json"]).stdout;
    let list: serde_json::Value = serde_json::from_slice(&list).unwrap();
    let id = list[0]["id"].as_str().unwrap();
    String::from_utf8(place.output(["history", "show", id]).stdout).unwrap()
}

/// In every channel the command runs, no rule is learned, and caller and record are told.
#[test]
fn an_always_that_cannot_be_written_is_a_yes_for_this_time() {
    for_each_user(|place| {
        let file = settings_of(place);
        assert!(place.program("mkdir").arg("-p").arg(file.parent().unwrap()).status().unwrap().success());
        let always = json!({"action": "accept", "content": {"answer": "always"}});
        let mut talk = strict(place, &[], &form());
        for broken in ["[policy\n", "[policy]\nrule = 5\n"] {
            std::fs::write(&file, broken).unwrap();
            crate::support::give(&file, place.user);
            for _ in 0..2 {
                let id = talk.call(json!({"command": "echo ran"}));
                answer_form(&mut talk, &always);
                let report = talk.answer(id)["result"]["structuredContent"].clone();
                assert_eq!(report["stdout"], "ran\n", "{report}");
                let by = report["verdict"]["approved_by"].as_str().unwrap();
                assert!(by.contains("could not be written to `") && by.contains("config.toml"), "{by}");
                let answered = last_answer(place);
                assert!(answered.contains("yes, once: ") && !answered.contains(": written to"), "{answered}");
                assert_eq!(std::fs::read_to_string(&file).unwrap(), broken);
            }
        }
        // Rules in one line are rules too.
        std::fs::write(&file, "policy = { preset = \"none\", rule = [] }\n").unwrap();
        crate::support::give(&file, place.user);
        let id = talk.call(json!({"command": "echo ran"}));
        answer_form(&mut talk, &always);
        let report = talk.answer(id)["result"]["structuredContent"].clone();
        assert!(!report["verdict"]["approved_by"].as_str().unwrap().contains("could not"), "{report}");
        assert!(last_answer(place).contains("yes, always: written to"), "{}", last_answer(place));
        assert_eq!(talk.run(json!({"command": "echo ran"}))["stdout"], "ran\n", "it runs without asking");
        talk.leave();
    });
}

/// Two people may answer: one in the agent's program, one at another terminal. The first answer counts.
#[test]
fn an_always_after_another_persons_no_changes_no_settings() {
    let place = Place::new(None);
    let always = json!({"action": "accept", "content": {"answer": "always"}});
    let mut talk = strict(&place, &[], &form());
    // The server may see the no before it gets the form's answer. Most of the time it doesn't.
    for round in 0..6 {
        let id = talk.call(json!({"command": format!("echo {round}")}));
        let question = talk.hear(|message| message["method"] == "elicitation/create");
        let number = pending(&place).remove(0);
        assert!(place.strictly(["approvals", "deny", &number]).status().unwrap().success());
        talk.line(json!({"jsonrpc": "2.0", "id": question["id"], "result": always}).to_string().as_bytes());
        let report = talk.answer(id)["result"]["structuredContent"].clone();
        assert_eq!(report["error"]["code"], "denied_by_user", "{report}");
        let written = std::fs::read_to_string(settings_of(&place)).unwrap_or_default();
        assert!(!written.contains("echo"), "round {round}: {written}");
    }
    let id = talk.call(json!({"command": "echo again"}));
    answer_form(&mut talk, &always);
    assert_eq!(talk.answer(id)["result"]["structuredContent"]["stdout"], "again\n");
    let written = std::fs::read_to_string(settings_of(&place)).unwrap();
    assert!(written.contains("prefix = [\"echo\"]"), "{written}");
    talk.leave();
}
