//! Output that begins in memory is kept in the record or in files, even if the front end or the keeper dies.

use std::path::PathBuf;

use shellgate::request::{Action, Format};
use shellgate::{Event, Execution, Follow, Gate, Report, Request, State};

use crate::support::{Place, kill, wait_until};

fn shell(text: &str) -> Request {
    Request { action: Action::Shell(text.to_owned()), format: Format::Text, ..Request::default() }
}

fn start(gate: &Gate, text: &str) -> Execution {
    gate.submit(shell(text), Follow::Quietly).unwrap()
}

/// The end of an execution that is recorded after its answer.
fn answer_before_record(execution: &mut Execution) -> Report {
    execution.record_later();
    loop {
        if let Event::Ended(report) = execution.next().unwrap() {
            return *report;
        }
    }
}

/// The files for the output of an execution.
fn files(place: &Place, id: &str) -> [PathBuf; 2] {
    ["stdout", "stderr"].map(|stream| place.state().join("spool").join(format!("{id}.{stream}")))
}

fn content(place: &Place, id: &str) -> [Option<String>; 2] {
    files(place, id).map(|file| std::fs::read_to_string(file).ok())
}

fn some(texts: [&str; 2]) -> [Option<String>; 2] {
    texts.map(|text| Some(text.to_owned()))
}

/// Runs a command whose output is still in memory at its end, and records it.
fn recorded_from_memory(place: &Place, gate: &Gate, text: &str) -> Report {
    let last = std::cell::RefCell::new(None);
    // The keeper saves the output of a command that takes long, as all do on a busy machine.
    wait_until("an answer comes before the files", || {
        let mut execution = start(gate, text);
        let report = answer_before_record(&mut execution);
        let is_in_memory = content(place, &report.id) == [None, None];
        execution.record();
        last.replace(Some(report));
        is_in_memory
    });
    last.into_inner().unwrap()
}

#[test]
fn short_output_is_kept_in_the_record_itself() {
    let place = Place::new(None);
    let gate = place.gate();
    let report = recorded_from_memory(&place, &gate, "echo one-of-two; echo other >&2");
    assert_eq!((report.stdout.as_str(), report.stderr.as_str()), ("one-of-two\n", "other\n"));
    let id = report.id.as_str();
    assert_eq!(content(&place, id), [None, None]);

    let shown = place.output(["history", "show", id, "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown["stdout_text"], &shown["stderr_text"]), (&"one-of-two\n".into(), &"other\n".into()));
    let shown = String::from_utf8(place.output(["history", "show", id]).stdout).unwrap();
    assert!(shown.contains("\none-of-two\n") && shown.contains("\nother\n"), "{shown}");
    let answer = String::from_utf8(place.output(["history", "show", "--answer", id]).stdout).unwrap();
    assert!(answer.contains("one-of-two\n") && answer.contains("[exit 0"), "{answer}");
    let logs = place.output(["logs", id]);
    assert_eq!(String::from_utf8_lossy(&logs.stdout), "one-of-two\n", "{logs:?}");
    let finds = |text: &str| {
        let found = place.output(["history", "--search", text, "--json"]);
        String::from_utf8(found.stdout).unwrap().contains(id)
    };
    assert!(finds("two\n") && finds("other") && !finds("two\nother"));
    assert!(place.output(["audit", "verify"]).status.success());

    // Earlier tries printed the same.
    let all = place.output(["history", "--limit", "0", "--json"]);
    let all: serde_json::Value = serde_json::from_slice(&all.stdout).unwrap();
    for execution in all.as_array().unwrap() {
        assert!(place.output(["history", "forget", execution["id"].as_str().unwrap()]).status.success());
    }
    assert!(!finds("other"));
    for file in std::fs::read_dir(place.state()).unwrap().flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).unwrap();
        let name = file.file_name();
        assert!(!bytes.windows(10).any(|part| part == b"one-of-two"), "{}", name.display());
    }
}

#[test]
fn output_that_is_no_text_or_long_gets_files_when_its_end_is_recorded() {
    let place = Place::new(None);
    let gate = place.gate();
    let report = recorded_from_memory(&place, &gate, r"printf '\377'");
    assert_eq!(std::fs::read(&files(&place, &report.id)[0]).unwrap(), [0xff]);
    let mut execution = start(&gate, "printf %05000d 7");
    let report = answer_before_record(&mut execution);
    execution.record();
    assert_eq!(content(&place, &report.id).map(|text| text.map_or(0, |text| text.len())), [5000, 0]);
    // An answer that is recorded first finds them, too.
    let report = gate.run(shell("echo now"));
    assert_eq!(content(&place, &report.id), some(["now\n", ""]));
}

#[test]
fn an_answer_that_names_files_is_given_when_they_exist() {
    let place = Place::new(None);
    let gate = place.gate();
    for request in [
        Request { format: Format::Json, ..shell("echo out") },
        Request { detail: shellgate::request::Detail::Full, ..shell("echo out") },
        shell("seq 10000"),
    ] {
        let mut execution = gate.submit(request, Follow::Quietly).unwrap();
        let report = answer_before_record(&mut execution);
        let [stdout, _] = files(&place, &report.id);
        assert_eq!(std::fs::metadata(stdout).unwrap().len(), report.stdout_bytes);
    }
}

#[test]
fn output_is_saved_while_the_command_runs() {
    let place = Place::new(None);
    let gate = place.gate();
    let mut execution =
        start(&gate, "echo early; until [ -e go ]; do sleep 0.01; done; echo late; seq 50000");
    let id = execution.id();
    wait_until("the first line is saved", || content(&place, &id)[0].as_deref() == Some("early\n"));
    std::fs::write(place.root().join("go"), "").unwrap();
    let report = answer_before_record(&mut execution);
    let [stdout, _] = content(&place, &id).map(Option::unwrap);
    assert_eq!(stdout.len() as u64, report.stdout_bytes);
    assert!(stdout.starts_with("early\nlate\n1\n") && stdout.ends_with("\n50000\n"));
}

/// The keeper has a copy until the end is recorded.
#[test]
fn a_caller_that_dies_before_it_records_leaves_the_files_to_the_keeper() {
    let place = Place::new(None);
    let gate = place.gate();
    let mut execution = start(&gate, "echo out; echo err >&2");
    let report = answer_before_record(&mut execution);
    drop(execution);
    drop(gate);
    wait_until("the keeper saves it", || content(&place, &report.id) == some(["out\n", "err\n"]));
    let shown = place.output(["history", "show", &report.id, "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["status"], "completed", "{shown}");
}

#[test]
fn a_caller_keeps_the_output_when_the_keeper_is_killed() {
    let place = Place::new(None);
    let gate = place.gate();
    let mut execution = start(&gate, "echo out; sleep 0.3; touch printed; sleep 1000");
    wait_until("it has printed", || place.root().join("printed").exists());
    place.keepers().into_iter().for_each(kill);
    let report = answer_before_record(&mut execution);
    assert_eq!((report.status, report.stdout.as_str()), (State::Failed, "out\n"));
    execution.record();
    assert_eq!(content(&place, &report.id)[0].as_deref(), Some("out\n"));
}
