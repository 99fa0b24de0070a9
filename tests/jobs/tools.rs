//! The tools about jobs, as a library offers them to models.

use serde_json::{Value, json};
use shellgate::jobs::tools::{JobTool, TOOLS};
use shellgate::{Follow, Gate, Request, Scope};

use crate::support::{Place, mark, processes_with};

fn call(gate: &Gate, tool: &str, arguments: &Value) -> Value {
    let tool = JobTool::named(tool).unwrap();
    let answer = gate.scoped(&Scope::Session).unwrap().job_tool(tool, &arguments.to_string(), None);
    let closing = answer.text.lines().last().unwrap();
    assert!(closing.starts_with('[') && closing.ends_with(']'), "{}", answer.text);
    assert_eq!(
        answer.is_error,
        answer.structured.get("error").is_some_and(|error| !error.is_null())
            && answer.structured.get("id").is_none()
    );
    answer.structured
}

fn start(gate: &Gate, command: &str) -> String {
    let action = shellgate::request::Action::Shell(command.to_owned());
    let request = Request { action, background: true, ..Request::default() };
    gate.submit(request, Follow::Quietly).unwrap().wait().unwrap().job.unwrap()
}

#[test]
fn a_job_is_handled_by_tools_alone() {
    let place = Place::new(None);
    let gate = place.gate();
    let mark = mark();
    let id = start(&gate, &format!("echo one; echo two; exec sleep {mark}"));
    let jobs = call(&gate, "shell_jobs", &json!({}));
    assert_eq!((&jobs["jobs"][0]["id"], &jobs["jobs"][0]["status"]), (&json!(id), &json!("running")));
    let read = call(&gate, "shell_output", &json!({"job": id, "stream": "stdout"}));
    assert_eq!((&read["stdout"], &read["stdout_next"]), (&json!("one\ntwo\n"), &json!(8)));
    let read = call(&gate, "shell_output", &json!({"job": id, "from": 4, "wait_for_previous": true}));
    assert_eq!(read["stdout"], "two\n");
    let read = call(&gate, "shell_output", &json!({"job": id, "grep": "^o"}));
    assert_eq!(read["stdout"], "one\n");
    let waited = call(&gate, "shell_wait", &json!({"job": id, "pattern": "two"}));
    assert_eq!(
        (&waited["reason"], &waited["line"], &waited["status"]),
        (&json!("matched"), &json!("two"), &json!("running"))
    );
    let waited = call(&gate, "shell_wait", &json!({"job": id, "timeout_ms": 50}));
    assert_eq!(waited["reason"], "timed_out");
    let stopped = call(&gate, "shell_stop", &json!({"job": id}));
    assert_eq!(stopped["status"], "canceled");
    assert!(processes_with(&mark).is_empty());
    let waited = call(&gate, "shell_wait", &json!({"job": id}));
    assert_eq!(
        (&waited["reason"], &waited["status"], &waited["stdout"]),
        (&json!("ended"), &json!("canceled"), &json!("one\ntwo\n"))
    );
}

/// The numbers in the line that replaces omitted output: how many bytes are left out, and the position of the first.
fn left_out(text: &str) -> (u64, u64) {
    let marker = text.lines().find(|line| line.starts_with("[… ")).unwrap();
    let numbers: Vec<u64> = marker.split(' ').filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

/// Checks the line that replaces omitted lines of a part with these first and last lines. Returns the first omitted line.
fn check_lines(text: &str, first: usize, last: usize) -> usize {
    let (head, rest) = text.split_once("[… ").unwrap();
    let (marker, tail) = rest.split_once('\n').unwrap();
    let (count, call) = marker.split_once(" lines left out: shell_output ").unwrap();
    let left_out: usize = count.replace(',', "").parse().unwrap();
    let call: Value = serde_json::from_str(call.trim_end_matches(']')).unwrap();
    let (head, tail) = (head.lines().count(), tail.lines().count());
    assert_eq!(head + left_out + tail, last - first + 1, "{marker}");
    assert_eq!(call["from_line"], first + head, "{marker}");
    first + head
}

/// The output is larger than the part that is held in memory.
#[test]
fn the_count_of_bytes_left_out_is_right() {
    let place = Place::new(None);
    let gate = place.gate();
    let action = shellgate::request::Action::Shell("seq 1 8000000; echo END".to_owned());
    let report = gate.run(Request { action, ..Request::default() });
    let (all, id) = (62_888_900_u64, report.id);
    let check = |text: &str, from: u64, to: u64| {
        let marker = text.lines().find(|line| line.starts_with("[… ")).unwrap();
        let shown = u64::try_from(text.len() - marker.len() - 1).unwrap();
        let head = u64::try_from(text.find(marker).unwrap()).unwrap();
        assert_eq!(left_out(text), (to - from - shown, from + head + 1), "{marker}");
    };
    check(&report.stdout, 0, all);
    let read = call(&gate, "shell_output", &json!({"job": id, "stream": "stdout"}));
    assert_eq!((&read["stdout_next"], &read["truncated"]), (&json!(all), &json!(true)));
    let text = read["stdout"].as_str().unwrap();
    assert!(text.starts_with("1\n2\n") && text.ends_with("8000000\nEND\n"));
    check_lines(text, 1, 8_000_001);
    // Lines of a part count from the beginning of the stream, so that they can be used in the next call.
    let part = json!({"job": id, "stream": "stdout", "from": 3_888_898, "to": all - 4});
    let text = call(&gate, "shell_output", &part)["stdout"].as_str().unwrap().to_owned();
    assert!(text.starts_with("571430\n") && text.ends_with("\n8000000\n"));
    let next = check_lines(&text, 571_430, 8_000_000);
    let part = json!({"job": id, "stream": "stdout", "from_line": next, "lines": 2});
    assert_eq!(call(&gate, "shell_output", &part)["stdout"], format!("{next}\n{}\n", next + 1));
}

#[test]
fn a_wait_is_canceled() {
    let place = Place::new(None);
    let gate = place.gate();
    let id = start(&gate, "exec sleep 600");
    let cancel = shellgate::jobs::WaitControl::new().unwrap();
    let tool = JobTool::named("shell_wait").unwrap();
    let answer = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            gate.scoped(&Scope::Session).unwrap().job_tool(
                tool,
                &json!({"job": id}).to_string(),
                Some(&cancel),
            )
        });
        cancel.cancel();
        waiting.join().unwrap()
    });
    assert_eq!(answer.structured["reason"], "canceled");
    gate.stop_session(shellgate::Urgency::Now).unwrap();
}

#[test]
fn jobs_of_another_session_are_unknown() {
    let place = Place::new(None);
    let (ours, theirs) = (place.gate(), {
        let builder = Gate::builder().root(place.root()).state_folder(place.state()).session("theirs");
        builder.keeper_program(crate::support::shellgate()).flags(crate::support::unasked()).build().unwrap()
    });
    let id = start(&theirs, "exec sleep 600");
    for tool in ["shell_output", "shell_wait", "shell_stop"] {
        let answer = call(&ours, tool, &json!({"job": id}));
        assert_eq!(answer["error"]["code"], "unknown_job", "{tool}");
    }
    assert_eq!(call(&ours, "shell_jobs", &json!({}))["jobs"], json!([]));
    assert_eq!(call(&theirs, "shell_stop", &json!({"job": id}))["status"], "canceled");
}

#[test]
fn raw_output_keeps_escape_codes() {
    let place = Place::new(None);
    let gate = place.gate();
    let command = r"printf '\033[31mred\033[0m\n50%%\r100%%\n'";
    let action = shellgate::request::Action::Shell(command.to_owned());
    let pty = Some(shellgate::request::Pty::default());
    let request = Request { action, background: true, pty, ..Request::default() };
    let id = gate.submit(request, Follow::Quietly).unwrap().wait().unwrap().id;
    call(&gate, "shell_wait", &json!({"job": id}));
    assert_eq!(call(&gate, "shell_output", &json!({"job": id}))["stdout"], "red\n100%\n");
    let raw = call(&gate, "shell_output", &json!({"job": id, "raw": true, "from": 0}));
    assert_eq!(raw["stdout"], "\u{1b}[31mred\u{1b}[0m\r\n50%\r100%\r\n", "{raw}");
    let both = call(&gate, "shell_output", &json!({"job": id, "raw": true, "grep": "x"}));
    assert_eq!(both["error"]["code"], "invalid_input");
}

/// An unnamed session is named by its root, so a project in a subfolder has another session.
#[test]
fn a_root_below_ours_has_another_session() {
    let place = Place::new(None);
    let below = place.root().join("below");
    std::fs::create_dir(&below).unwrap();
    let builder = Gate::builder().root(&below).state_folder(place.state());
    let builder = builder.keeper_program(crate::support::shellgate()).flags(crate::support::unasked());
    let (outer, inner) = (place.gate(), builder.build().unwrap());
    let id = start(&inner, "exec sleep 600");
    assert_eq!(call(&outer, "shell_jobs", &json!({}))["jobs"], json!([]));
    assert_eq!(call(&outer, "shell_stop", &json!({"job": id}))["error"]["code"], "unknown_job");
    assert_eq!(call(&inner, "shell_stop", &json!({"job": id}))["status"], "canceled");
}

#[test]
fn every_tool_says_what_it_takes() {
    for tool in TOOLS {
        let schema = tool.input_schema(shellgate::Advertised::All);
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{}",
            tool.name
        );
        assert_eq!(tool.output_schema()["type"], "object");
    }
    let size: usize = TOOLS
        .iter()
        .map(|tool| tool.about.len() + tool.input_schema(shellgate::Advertised::All).to_string().len())
        .sum();
    assert!(size < 6_000, "models read it with every call: {size}");
}
