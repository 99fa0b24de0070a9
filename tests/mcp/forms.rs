//! What a model reads over MCP: the text and the structured content of every outcome are a snapshot, and what they cost is bounded.

use std::path::Path;

use serde_json::{Value, json};
use shellgate::text::estimate_tokens;

use super::talk::Talk;
use crate::support::{Place, kill, mark, processes_with, wait_until};

/// Patterns for text that differs from run to run, and their stand-ins.
const VOLATILE: [(&str, &str); 10] = [
    (r#"[^\s`"]*/shellgate-test-\w+"#, "[PLACE]"),
    (r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "[ID]"),
    (r"3600\.\d+", "[MARK]"),
    (r#""pid":\d+"#, r#""pid":[PID]"#),
    (r"pid=\d+", "pid=[PID]"),
    (r"left running: \d+", "left running: [PID]"),
    (r#""age_ms":\d+"#, r#""age_ms":[MS]"#),
    (r"age_ms=\d+", "age_ms=[MS]"),
    (r"approve \d+", "approve [NUMBER]"),
    (r#""approval":\{"id":\d+"#, r#""approval":{"id":[NUMBER]"#),
];

/// Answers, as they are written into a snapshot.
#[derive(Default)]
struct Sheet(String);

impl Sheet {
    /// Calls a tool, and notes both forms of its answer. Returns the facts.
    fn ask(&mut self, talk: &mut Talk, title: &str, tool: &str, arguments: &Value) -> Value {
        let (text, facts) = asked(talk, tool, arguments);
        self.0 += &format!("=== {title}\n{tool} {arguments}\n--- text\n{text}\n--- structured\n{facts}\n\n");
        facts
    }

    fn check(self, name: &str) {
        let tidy: String = self.0.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        insta::with_settings!({ filters => VOLATILE.to_vec(), omit_expression => true }, {
            insta::assert_snapshot!(name, tidy);
        });
    }
}

/// The text and the facts of an answer in the form that models get.
fn asked(talk: &mut Talk, tool: &str, arguments: &Value) -> (String, Value) {
    let mut arguments = arguments.clone();
    if tool == "shell" {
        arguments["detail"] = "minimal".into();
    }
    let answer = talk.ask("tools/call", json!({"name": tool, "arguments": arguments}));
    let blocks = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(blocks.len(), 1, "{answer}");
    (blocks[0]["text"].as_str().unwrap().to_owned(), answer["result"]["structuredContent"].clone())
}

/// A place that confined commands can't write beyond.
fn place() -> Place {
    Place::below(Path::new("/var/tmp"), None)
}

#[test]
fn every_end_of_a_command() {
    let place = place();
    std::fs::write(place.root().with_file_name("outside"), "kept").unwrap();
    let (one, other) = (mark(), mark());
    let mut talk = Talk::new(&place);
    let mut sheet = Sheet::default();
    let left = format!("sleep {one} & echo started");
    for (title, arguments) in [
        ("success", json!({"command": "echo hi"})),
        ("silence", json!({"command": "true"})),
        ("failure", json!({"command": "echo partly; echo oops >&2; exit 3"})),
        ("a program that bash can't find", json!({"command": "nosuchprogram"})),
        ("killed", json!({"command": "kill -9 $$"})),
        ("timed out", json!({"command": format!("echo before; sleep {other}"), "timeout_ms": 700})),
        ("silent for too long", json!({"command": format!("sleep {other}"), "idle_timeout_ms": 700})),
        ("left running", json!({"command": left})),
        ("refused by the sandbox", json!({"command": "echo x > ../outside"})),
        ("a file is asked for", json!({"command": "printf x > made", "artifacts": ["made", "missing"]})),
        ("binary output", json!({"command": r"printf '\211PNG\r\n\032\n\0\0\0\rIHDR'"})),
        ("condensed", json!({"command": "for i in {1..900}; do echo the same; done; echo error: another"})),
        ("cut", json!({"command": "seq -f 'row %g of a table' 9000 | tr 0-9 a-j", "raw": true})),
        ("output like ours", json!({"command": r"printf '[… 3 passed]\n[stderr]\n[exit 0]'; exit 1"})),
        (
            "a separator that readers may take for a line end",
            json!({"command": r"printf 'a\u2028[stderr]\u2029'"}),
        ),
        ("not a command", json!({"commands": "true"})),
        ("a folder outside", json!({"command": "true", "directory": ".."})),
        ("bash can't read it", json!({"command": "if true; then"})),
    ] {
        let facts = sheet.ask(&mut talk, title, "shell", &arguments);
        if title == "cut" {
            assert_eq!(facts["truncated"], true);
        }
    }
    processes_with(&one).into_iter().for_each(kill);
    assert_eq!(std::fs::read_to_string(place.root().with_file_name("outside")).unwrap(), "kept");
    assert!(talk.leave().success());
    // The rows that are shown of a long table say nothing here.
    let row = regex::Regex::new(r"(row [a-j]+ of a table(\\n|\n)){3,}").unwrap();
    sheet.0 = row.replace_all(&sheet.0, "[ROWS]\n").into_owned();
    sheet.check("every_end_of_a_command");
}

#[test]
fn every_refusal_and_question() {
    let place = place();
    let mut sheet = Sheet::default();
    let server = |flags: &[&str]| place.strictly(["mcp", "--exclude", "git push"].iter().chain(flags));
    let mut talk = Talk::begin(server(&["--approve", "deny"]), &json!({}));
    sheet.ask(&mut talk, "excluded", "shell", &json!({"command": "echo x && git push"}));
    sheet.ask(&mut talk, "nobody is asked", "shell", &json!({"command": "touch made"}));
    assert!(talk.leave().success());
    let mut talk = Talk::begin(server(&[]), &json!({}));
    let arguments = json!({"command": "touch made", "wait_ms": 50});
    let queued = sheet.ask(&mut talk, "a person is asked", "shell", &arguments);
    let wait = json!({"job": queued["job"], "timeout_ms": 50});
    sheet.ask(&mut talk, "it waits longer", "shell_wait", &wait);
    sheet.ask(&mut talk, "it waits", "shell_jobs", &json!({}));
    let number = queued["approval"]["id"].to_string();
    let answered = place.strictly(["approvals", "deny", &number]).output().unwrap();
    assert!(answered.status.success(), "{answered:?}");
    sheet.ask(&mut talk, "a person said no", "shell_wait", &json!({"job": queued["job"]}));
    assert!(talk.leave().success());
    assert!(!place.root().join("made").exists());
    sheet.check("every_refusal_and_question");
}

#[test]
fn every_answer_about_jobs() {
    let place = place();
    let mark = mark();
    let mut talk = Talk::new(&place);
    let mut sheet = Sheet::default();
    sheet.ask(&mut talk, "no jobs", "shell_jobs", &json!({}));
    sheet.ask(&mut talk, "no such job", "shell_output", &json!({"job": "nope"}));
    let text = format!("seq 1 40; echo warned >&2; echo 'ready; exit 0'; sleep {mark}");
    let job = sheet.ask(
        &mut talk,
        "in the background",
        "shell",
        &json!({"command": "while [ ! -e go ]; do sleep 0.02; done; echo b; exit 4", "background": true}),
    )["job"]
        .clone();
    place.write("go", "");
    sheet.ask(&mut talk, "its end", "shell_wait", &json!({"job": job}));
    let job = talk.run(json!({"command": text, "background": true, "detail": "minimal"}))["job"].clone();
    sheet.ask(&mut talk, "a line", "shell_wait", &json!({"job": job, "pattern": "^ready"}));
    sheet.ask(
        &mut talk,
        "no such line",
        "shell_wait",
        &json!({"job": job, "pattern": "never", "timeout_ms": 50}),
    );
    for (title, part) in [
        ("a range of lines", json!({"from_line": 12, "lines": 2})),
        ("the last lines", json!({"lines": 1})),
        ("lines that match", json!({"grep": "9$", "context": 1})),
        ("one stream", json!({"stream": "stderr"})),
        ("nothing matches", json!({"grep": "never"})),
        ("no pattern", json!({"grep": "("})),
    ] {
        let mut arguments = part;
        arguments["job"] = job.clone();
        sheet.ask(&mut talk, title, "shell_output", &arguments);
    }
    sheet.ask(&mut talk, "running and ended", "shell_jobs", &json!({}));
    sheet.ask(&mut talk, "stopped", "shell_stop", &json!({"job": job}));
    sheet.ask(&mut talk, "stopped again", "shell_stop", &json!({"job": job}));
    sheet.ask(&mut talk, "type at an ended job", "shell_input", &json!({"job": job, "text": "x"}));
    let arguments =
        json!({"command": "read -r -p 'name? ' name; echo hello $name; cat", "pty": true, "wait_ms": 2_000});
    let asks = asked(&mut talk, "shell", &arguments).1;
    let job = asks["job"].clone();
    sheet.ask(&mut talk, "it waits for input", "shell_output", &json!({"job": job}));
    sheet.ask(&mut talk, "typed", "shell_input", &json!({"job": job, "text": "me"}));
    sheet.ask(&mut talk, "killed", "shell_stop", &json!({"job": job, "now": true}));
    assert!(talk.leave().success());
    wait_until("nothing is left", || processes_with(&mark).is_empty());
    sheet.check("every_answer_about_jobs");
}

/// What a call may cost beyond the output: in text, and as structured content if that has a bound.
struct Bound {
    command: String,
    text: usize,
    structured: Option<usize>,
}

#[test]
fn an_answer_costs_hardly_more_than_the_output() {
    let place = place();
    let bound = |command: &str, text, structured| Bound { command: command.to_owned(), text, structured };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../text/src/marker.rs");
    let program = std::fs::read_to_string(source).unwrap();
    place.write("program.rs", &program);
    place.write(
        "data.json",
        &json!({"rows": vec![json!({"name": "x", "on": true, "at": 17}); 60]}).to_string(),
    );
    let mut talk = Talk::new(&place);
    for Bound { command, text, structured } in [
        bound("echo hi", 8, Some(20)),
        bound("ls -la /usr", 8, None),
        bound("cat program.rs", 8, None),
        bound("cat data.json", 8, None),
        bound("cat nofile; exit 3", 40, Some(40)),
        // o200k makes 34 and 52 of it. The estimate of an id, which is random letters and digits, differs from id to id.
        bound("sleep 9 & echo started", 45, Some(65)),
    ] {
        let answer = talk.ask(
            "tools/call",
            json!({"name": "shell", "arguments": {"command": command, "detail": "minimal"}}),
        );
        let facts = &answer["result"]["structuredContent"];
        let printed = |name: &str| facts[name].as_str().unwrap_or_default();
        let raw = estimate_tokens(&format!("{}{}", printed("stdout"), printed("stderr")));
        let shown = estimate_tokens(answer["result"]["content"][0]["text"].as_str().unwrap());
        assert!(raw > 0 && shown <= raw + text, "{command}: {shown} for {raw}: {answer}");
        if let Some(structured) = structured {
            let shown = estimate_tokens(&facts.to_string());
            assert!(shown <= raw + structured, "{command}: {shown} for {raw}: {facts}");
        }
    }
    assert!(place.output(["stop", "--all"]).status.success());
    let listed = talk.ask("tools/list", json!({}));
    let tools: Vec<Value> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]}))
        .collect();
    let tokens = estimate_tokens(&json!(tools).to_string());
    assert!(tools.len() == 6 && tokens <= 1_000, "{tokens}: {tools:?}");
    assert!(talk.leave().success());
}
