//! Long output over MCP: condensed by the program that wrote it, and all of it within reach.

use serde_json::{Value, json};
use shellgate::text::estimate_tokens;

use super::talk::Talk;
use crate::support::Place;

/// The text of an answer and its facts.
fn asked(talk: &mut Talk, tool: &str, mut arguments: Value) -> (String, Value) {
    if tool == "shell" {
        arguments["detail"] = "minimal".into();
    }
    let answer = talk.ask("tools/call", json!({"name": tool, "arguments": arguments}));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    (text, answer["result"]["structuredContent"].clone())
}

/// Files with many lines that grep finds, and a folder that can't be searched.
fn site() -> Place {
    let place = Place::new(None);
    for number in 0..40 {
        let lines: String = (0..12).map(|line| format!("    let wanted_{line} = value;\n")).collect();
        place.write(&format!("file_{number}.txt"), &lines);
    }
    place
}

#[test]
fn the_closing_line_says_how_to_read_all() {
    let place = site();
    let mut talk = Talk::new(&place);
    for command in [
        "grep -rn wanted . nosuch",
        "cd . && timeout 20 grep -rn wanted . nosuch | cat",
        "(grep -rn wanted . nosuch) 2>&1",
    ] {
        let (text, facts) = asked(&mut talk, "shell", json!({"command": command}));
        let closing = text.lines().last().unwrap();
        let (_, call) = closing.split_once("lines, all: shell_output ").unwrap_or_else(|| panic!("{text}"));
        assert!(closing.contains("; condensed 48"), "{closing}");
        assert!(text.contains("[… 11 more, from line "), "{text}");
        assert!(text.contains("grep: nosuch: No such file or directory"), "{text}");
        for number in 0..40 {
            let forms = [format!(" file_{number}.txt:1:let wanted_0"), format!(" file_{number}.txt 12,")];
            assert!(forms.iter().any(|form| text.contains(form)), "{number}: {text}");
        }
        assert_eq!(facts["condensed"]["from_lines"].as_u64().unwrap() / 10, 48, "{facts}");
        let mut arguments: Value = serde_json::from_str(call.trim_end_matches(']')).unwrap();
        arguments["grep"] = "file_7.txt:12:".into();
        let (read, _) = asked(&mut talk, "shell_output", arguments);
        assert!(read.contains("file_7.txt:12:    let wanted_11 = value;"), "{read}");
        assert!(!read.contains("condensed"), "what is read is as it was printed: {read}");
    }
    assert!(talk.leave().success());
}

#[test]
fn it_can_be_switched_off() {
    let place = site();
    let command = json!({"command": "grep -rn wanted ."});
    let whole =
        |text: &str| !text.contains("condensed") && text.contains("file_7.txt:12:    let wanted_11 = value;");
    let mut talk = Talk::new(&place);
    let (condensed, _) = asked(&mut talk, "shell", command.clone());
    assert!(!whole(&condensed), "{condensed}");
    let mut raw = command.clone();
    raw["raw"] = true.into();
    let (text, facts) = asked(&mut talk, "shell", raw);
    // It is longer than an answer may be, and cut.
    assert!(!text.contains("condensed") && facts["condensed"].is_null(), "{text}");
    assert!(text.contains(":12:    let wanted_11 = value;"), "{text}");
    assert!(talk.leave().success());
    let settings = place.home().join("off.toml");
    std::fs::write(&settings, "[output]\ncondense = \"off\"\n[limits]\nanswer_tokens = 100000\n").unwrap();
    let command_line = place.shellgate(["mcp", "--config", settings.to_str().unwrap()]);
    let mut talk = Talk::begin(command_line, &json!({}));
    let (text, _) = asked(&mut talk, "shell", command);
    assert!(whole(&text), "{text}");
    assert!(talk.leave().success());
}

#[test]
fn what_is_short_or_not_one_programs_is_as_it_was() {
    let place = site();
    let mut talk = Talk::new(&place);
    let (text, _) = asked(&mut talk, "shell", json!({"command": "grep -n wanted file_3.txt"}));
    assert!(text.ends_with("12:    let wanted_11 = value;\n[exit 0]"), "{text}");
    // `awk` changes lines: whose they are is not known.
    let (text, _) =
        asked(&mut talk, "shell", json!({"command": "grep -rn wanted . | awk '{ print $0 \"!\" }'"}));
    assert!(!text.contains("more of this file"), "{text}");
    let (text, _) =
        asked(&mut talk, "shell", json!({"command": "for i in 1 2 3; do grep -rn wanted .; done"}));
    assert!(!text.contains("more of this file"), "{text}");
    assert!(talk.leave().success());
}

#[test]
fn equal_lines_of_any_program_are_counted_whatever_their_number() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let command = "for i in {1..5000}; do echo waiting for it to start; done; echo ERROR it died; exit 9";
    let (text, _) = asked(&mut talk, "shell", json!({"command": command}));
    assert_eq!(
        text.lines().take(3).collect::<Vec<_>>(),
        ["waiting for it to start", "[… 4,999 lines like the one above]", "ERROR it died"]
    );
    assert!(text.lines().last().unwrap().starts_with("[exit 9; condensed 5001 → 3 lines, "), "{text}");
    // Beyond what is rendered whole: head and tail, each condensed.
    let (text, facts) = asked(&mut talk, "shell", json!({"command": "yes the same | head -c 40000000"}));
    assert!(text.len() < 2_000, "{} bytes", text.len());
    assert!(text.starts_with("the same\n[… "), "{text}");
    assert!(facts["condensed"]["from_lines"].as_u64().unwrap() > 4_000_000, "{facts}");
    assert!(talk.leave().success());
}

#[test]
fn the_record_says_what_was_shown_and_gain_counts_it() {
    let place = site();
    let mut talk = Talk::new(&place);
    let (text, facts) = asked(&mut talk, "shell", json!({"command": "grep -rn wanted ."}));
    asked(&mut talk, "shell", json!({"command": "echo hi"}));
    // A call is recorded after its answer, and before the next one of its session is judged.
    asked(&mut talk, "shell", json!({"command": "true"}));
    let output = |words: &[&str]| {
        let output = place.shellgate(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let id = facts["id"].as_str().unwrap();
    assert!(talk.leave().success());
    let shown = output(&["history", "show", id]);
    assert!(shown.contains("shown to the model: ") && shown.contains(", condensed 480 → "), "{shown}");
    assert!(shown.contains("file_7.txt:12:    let wanted_11 = value;"), "all of it is kept: {shown}");
    assert_eq!(output(&["history", "show", "--answer", id]).trim_end(), text);
    let root = place.root().display().to_string();
    let gain: Value = serde_json::from_str(&output(&["gain", "--json", "--session", &root])).unwrap();
    let session = &gain["session"]["gain"];
    assert_eq!(session["condensed"], 1, "{gain}");
    assert!(session["answers"].as_u64().unwrap() >= 2, "{gain}");
    assert_eq!(session["programs"][0]["program"], "grep", "{gain}");
    assert!(session["programs"][0]["saved"].as_u64().unwrap() > 1_000, "{gain}");
    assert_eq!(gain["week"]["condensed"], 1, "{gain}");
    let table = output(&["gain", "--session", &root]);
    assert!(
        table.contains("grep") && table.contains('░') && table.contains("all sessions, last 7 days"),
        "{table}"
    );
    assert!(output(&["gain", "--session", "another"]).contains("no answers yet"));
}

#[test]
fn gain_is_what_counting_a_session_by_hand_gives() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let (short, _) = asked(&mut talk, "shell", json!({"command": "echo hi"}));
    let (long, facts) = asked(&mut talk, "shell", json!({"command": "seq -f 'row %g' 3000; exit 3"}));
    assert!(talk.leave().success());
    assert_eq!(short, "hi\n[exit 0]");
    let printed: String = (1..=3_000).map(|number| format!("row {number}\n")).collect();
    let paid = estimate_tokens(&short) + estimate_tokens(&long);
    let saved = estimate_tokens(&printed) - estimate_tokens(facts["stdout"].as_str().unwrap());
    let root = place.root().display().to_string();
    let output = place.shellgate(["gain", "--json", "--session", &root]).output().unwrap();
    let gain: Value = serde_json::from_slice(&output.stdout).unwrap();
    let session = &gain["session"]["gain"];
    let counted = ["answers", "condensed", "tokens", "saved"].map(|field| session[field].as_u64().unwrap());
    assert_eq!(counted, [2, 1, paid as u64, saved as u64], "{gain}");
    let programs: Vec<&str> =
        session["programs"].as_array().unwrap().iter().map(|row| row["program"].as_str().unwrap()).collect();
    assert_eq!(programs, ["seq", "echo"], "{gain}");
}

#[test]
fn gain_counts_what_later_calls_read_of_a_job() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let root = place.root().display().to_string();
    let gain = || -> Value {
        let output = place.shellgate(["gain", "--json", "--session", &root]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let count = |gain: &Value, field: &str| gain["session"]["gain"][field].as_u64().unwrap();
    let (_, facts) =
        asked(&mut talk, "shell", json!({"command": "sleep 1; seq 1000 1400", "background": true}));
    let id = facts["job"].as_str().unwrap();
    asked(&mut talk, "shell_wait", json!({"job": id}));
    let waited = gain();
    assert_eq!(count(&waited, "answers"), 1, "{waited}");
    let (text, _) = asked(&mut talk, "shell_output", json!({"job": id, "from_line": 1, "lines": 100}));
    assert!(text.starts_with("1000\n1001\n"), "{text}");
    let read = gain();
    assert_eq!(count(&read, "answers"), 2, "{read}");
    assert!(count(&read, "tokens") >= count(&waited, "tokens") + 150, "{waited} and then {read}");
    assert_eq!(read["session"]["gain"]["programs"][0]["program"], "seq", "{read}");
    assert!(talk.leave().success());
}

/// About how many tokens a text of short lines costs: a line has a word of three letters, a number of four digits and its end.
const TOKENS_OF_A_ROW: usize = 5;

#[test]
fn what_is_read_later_has_the_tokens_of_one_answer_and_says_what_is_left_out() {
    let place = Place::new(None);
    let settings = place.home().join("small.toml");
    std::fs::write(&settings, "[limits]\nanswer_tokens = 1000\n").unwrap();
    let mut talk = Talk::begin(place.shellgate(["mcp", "--config", settings.to_str().unwrap()]), &json!({}));
    let command = "for i in {1000..3999}; do echo row $i; echo err $i >&2; done";
    let (text, facts) = asked(&mut talk, "shell", json!({"command": command, "raw": true}));
    assert!(text.lines().count() * TOKENS_OF_A_ROW < 1_200, "{text}");
    let id = facts["id"].clone();
    for part in [
        json!({}),
        json!({"from_line": 1}),
        json!({"lines": 3_000}),
        json!({"grep": "[0-9]"}),
        json!({"grep": "0$", "context": 2}),
        json!({"raw": true}),
    ] {
        let mut arguments = part.clone();
        arguments["id"] = id.clone();
        let (read, facts) = asked(&mut talk, "shell_output", arguments);
        let rows = read.lines().filter(|line| line.starts_with("row ") || line.starts_with("err ")).count();
        assert!((150..240).contains(&rows), "{part}: {rows} lines of both streams: {read}");
        assert_eq!(facts["truncated"], true, "{part}");
        let marks: Vec<&str> = read.lines().filter(|line| line.starts_with("[… ")).collect();
        assert_eq!(marks.len(), 2, "each stream says what is left out: {part}: {marks:?}");
    }
    // What a mark says reads the next line, of its stream.
    let (read, _) = asked(&mut talk, "shell_output", json!({"id": id, "grep": "7$"}));
    let mark = read.lines().rfind(|line| line.starts_with("[… ")).unwrap();
    let before = read.lines().take_while(|line| *line != mark).last().unwrap();
    let call = mark.split_once("left out: shell_output ").unwrap().1.strip_suffix(']').unwrap();
    let (next, _) = asked(&mut talk, "shell_output", serde_json::from_str(call).unwrap());
    let number = |row: &str| row.strip_prefix("err ").unwrap().parse::<u64>().unwrap();
    let first = next.lines().find(|line| line.starts_with("err ")).unwrap();
    assert_eq!(number(first), number(before) + 10, "{mark}: {next}");
    assert!(!next.contains("row "), "{next}");
    assert!(talk.leave().success());
}
