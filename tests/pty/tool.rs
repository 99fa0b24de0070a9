//! The tool with which models type.

use serde_json::{Value, json};
use shellgate::Scope;
use shellgate::jobs::tools::JobTool;

use crate::support::Place;

fn call(gate: &shellgate::Gate, arguments: &Value) -> Value {
    let tool = JobTool::named("shell_input").unwrap();
    let answer = gate.scoped(&Scope::Session).unwrap().job_tool(tool, &arguments.to_string(), None);
    let mut structured = answer.structured;
    structured["is_error"] = answer.is_error.into();
    structured
}

#[test]
fn a_model_types_and_sees_what_comes_of_it() {
    let place = Place::new(None);
    {
        let gate = place.gate();
        let start = |command: &str| {
            let arguments = json!({"command": command, "pty": true, "background": true}).to_string();
            let answer: Value =
                serde_json::from_str(&gate.call(shellgate::Dialect::SHELLGATE, &arguments)).unwrap();
            answer["id"].as_str().unwrap().to_owned()
        };
        let job = start("bash --norc");
        let answer = call(&gate, &json!({"job": job, "text": "echo $((6 * 7))", "wait_ms": 10_000}));
        assert_eq!(
            (&answer["status"], &answer["waiting_for_input"]),
            (&json!("running"), &json!(true)),
            "{answer}"
        );
        assert!(answer["stdout"].as_str().unwrap().contains("\n42\n"), "{answer}");
        let answer = call(&gate, &json!({"job": job, "text": "echo next", "wait_ms": 10_000}));
        assert!(!answer["stdout"].as_str().unwrap().contains("42"), "only what came since: {answer}");
        let answer = call(&gate, &json!({"job": job, "text": "exit 3", "wait_ms": 10_000}));
        assert_eq!((&answer["status"], &answer["exit_code"]), (&json!("failed"), &json!(3)), "{answer}");
        let job = start("vim --clean text");
        let answer = call(&gate, &json!({"job": job, "text": "ihello", "newline": false, "wait_ms": 10_000}));
        assert_eq!(answer["screen"], true, "{answer}");
        assert!(answer["stdout"].as_str().unwrap().starts_with("hello\n~\n"), "{answer}");
        let answer =
            call(&gate, &json!({"job": job, "keys": ["Esc", ":", "q", "!", "Enter"], "wait_ms": 10_000}));
        assert_eq!(answer["is_error"], false, "{answer}");
        // The program may query the terminal before it ends.
        let wait = JobTool::named("shell_wait").unwrap();
        let ended = gate
            .scoped(&Scope::Session)
            .unwrap()
            .job_tool(wait, &json!({"job": job}).to_string(), None)
            .structured;
        assert_eq!(ended["exit_code"], 0, "{ended}");
        let answer = call(&gate, &json!({"job": job, "text": "x"}));
        assert_eq!((&answer["error"]["code"], &answer["is_error"]), (&json!("unknown_job"), &json!(true)));
        let answer = call(&gate, &json!({"job": job}));
        assert_eq!(answer["error"]["code"], "invalid_input", "{answer}");
    }
    place.assert_nothing_is_left();
}
