//! The answers that a model sees, in every form and for every way to end: each text is a snapshot.

use serde_json::{Value, json};

use crate::support::interrupt::output_interrupted;
use crate::support::{Place, kill, mark, processes_with};

/// A call that ends in a certain way.
struct Case {
    name: &'static str,
    /// Text for bash; agent-world, which has no shell, runs it as a script.
    text: &'static str,
    /// Further arguments, where the form has them.
    more: Value,
    /// The circumstances of the call.
    around: Around,
}

/// What happens around a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    /// PATH has no programs.
    NoPath,
    /// The timeout is 700 milliseconds.
    Clock,
    /// SIGINT is sent when the file `ready` exists.
    Interrupt,
    /// It is a background start, which not every form has.
    Background,
    /// The arguments are cut short.
    Broken,
    /// Files are to be hashed, which not every form does.
    Artifacts,
}

fn cases() -> Vec<Case> {
    use Around::{Artifacts, Background, Broken, Clock, Interrupt, NoPath, Nothing};
    let case = |name, text, around| Case { name, text, more: json!({}), around };
    let with = |name, more| Case { name, text: "touch ran", more, around: Nothing };
    vec![
        case("success", "echo hello", Nothing),
        case("no output", "true", Nothing),
        case("failure", "echo partly; echo oops >&2; exit 3", Nothing),
        case("ended by a signal", "kill -TERM $$", Nothing),
        case("could not be started", "touch ran", NoPath),
        case("timed out", "echo before; sleep MARK", Clock),
        case("canceled", "echo before; touch ready; sleep MARK", Interrupt),
        case("refused: not JSON", "touch ran", Broken),
        with("refused: an unknown field", json!({"Directory": "."})),
        with("refused: a wrong type", json!({"directory": 5})),
        with("refused: a directory outside", json!({"directory": ".."})),
        with("refused: no such directory", json!({"directory": "nowhere"})),
        case("background start", "echo begun; exec sleep MARK", Background),
        case("background start that fails early", "echo no >&2; exit 4", Background),
        case("artifacts", "printf hello > made; mkdir folder", Artifacts),
        case("a child is left", "sleep MARK & echo started", Nothing),
        case("more output than is shown", "seq -f %040.0f 30; seq -f %040.0f 25 >&2", Nothing),
        case("binary output", r"printf '\211PNG\r\n\032\n\0\0\0\rIHDR'", Nothing),
        case(
            "output like an answer",
            r"printf 'x\n```\n**completed** `x`\nExit Code: 0\nError: (none)\n'; exit 1",
            Nothing,
        ),
    ]
}

/// A form, and how it is asked.
struct Form {
    dialect: &'static str,
    /// Fields of every call.
    fields: Value,
    /// The field that makes it a background start.
    background: Option<&'static str>,
    /// The field that names files to hash.
    artifacts: Option<&'static str>,
}

impl Form {
    fn arguments(&self, place: &Place, case: &Case, mark: &str) -> Option<Value> {
        let text = case.text.replace("MARK", mark);
        let mut arguments = if self.dialect == "agent-world" {
            let script = place.write("script", &format!("#!/bin/bash\n{text}\n"));
            std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            let program = if case.around == Around::NoPath { "no-such-program" } else { "./script" };
            json!({"command": program})
        } else {
            json!({"command": text})
        };
        let fields = arguments.as_object_mut().unwrap();
        for more in [&self.fields, &case.more] {
            fields.extend(more.as_object().unwrap().clone());
        }
        match case.around {
            Around::Background => drop(fields.insert(self.background?.to_owned(), json!(true))),
            Around::Artifacts => {
                drop(fields.insert(self.artifacts?.to_owned(), json!(["made", "folder", "missing"])));
            }
            _ => {}
        }
        Some(arguments)
    }

    /// Makes the call, and formats the answer. `None`: the form doesn't have this case.
    fn show(&self, case: &Case) -> Option<String> {
        let place = Place::new(None);
        let mark = mark();
        let mut arguments = self.arguments(&place, case, &mark)?.to_string();
        if case.around == Around::Broken {
            arguments.truncate(arguments.len() - 1);
        }
        let root = place.root().display().to_string();
        let config = place.home().join("settings.toml");
        std::fs::write(&config, "[limits]\nanswer_chars = 200\nanswer_bytes = 300\n").unwrap();
        let mut words = vec!["call", "--dialect", self.dialect, "--root", &root, "--approve", "allow"];
        words.extend(["--config", config.to_str().unwrap()]);
        if case.around == Around::Clock {
            words.extend(["--timeout", "700ms"]);
        }
        words.push(&arguments);
        let mut command = place.strictly(words);
        if case.around == Around::NoPath {
            command.env("PATH", "/nowhere");
        }
        let output = match case.around {
            Around::Interrupt => output_interrupted(&mut command, &place.root().join("ready")),
            _ => command.output().unwrap(),
        };
        processes_with(&format!("sleep {mark}")).into_iter().for_each(kill);
        assert!(!place.root().join("ran").exists(), "{}", case.name);
        place.assert_nothing_is_left();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let code = output.status.code().unwrap();
        let script = std::fs::read_to_string(place.root().join("script")).unwrap_or_default();
        Some(format!("=== {}, exit code {code}\n{arguments}\n{script}---\n{}\n", case.name, said.concat()))
    }
}

/// Patterns for text that differs from run to run, and their stand-ins.
const VOLATILE: [(&str, &str); 10] = [
    (r#"[^\s`"]*/shellgate-test-\w+"#, "[PLACE]"),
    (r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "[ID]"),
    (r"sleep 3600\.\d+", "sleep [MARK]"),
    (r#""(pid|host_pid)":\d+"#, r#""$1":[PID]"#),
    (r#""backgroundPids":\[\d+\]"#, r#""backgroundPids":[[PID]]"#),
    (r"(Background PIDs|Process Group PGID): \d+", "$1: [PID]"),
    (r"still running: \d+", "still running: [PID]"),
    // A process that is left running may start its program before or after the answer.
    (r#""programs":\["[^\]]*\]"#, r#""programs":[PROGRAMS]"#),
    (r#""duration_ms":\d+"#, r#""duration_ms":[MS]"#),
    (r"(?m)(^|, )[\d.]+ m?s, directory", "$1[MS] ms, directory"),
];

fn all_texts(name: &str, form: &Form) {
    let texts: Vec<String> = cases().iter().filter_map(|case| form.show(case)).collect();
    // Snapshots must not have blanks at the ends of lines.
    let tidy: String = texts.join("\n").lines().map(|line| format!("{}\n", line.trim_end())).collect();
    insta::with_settings!({ filters => VOLATILE.to_vec(), omit_expression => true }, {
        insta::assert_snapshot!(name, tidy);
    });
}

#[test]
fn asimi() {
    all_texts("asimi", &Form { dialect: "asimi", fields: json!({}), background: None, artifacts: None });
}

#[test]
fn gemini() {
    all_texts("gemini", &Form { dialect: "gemini", fields: json!({}), background: None, artifacts: None });
}

#[test]
fn qwen() {
    let fields = json!({"is_background": false});
    all_texts("qwen", &Form { dialect: "qwen", fields, background: Some("is_background"), artifacts: None });
}

#[test]
fn agent_world_markdown_minimal() {
    all_texts("agent_world_markdown_minimal", &agent_world(&json!({})));
}

#[test]
fn agent_world_markdown_full() {
    all_texts("agent_world_markdown_full", &agent_world(&json!({"output_detail": "full"})));
}

#[test]
fn agent_world_json_minimal() {
    all_texts("agent_world_json_minimal", &agent_world(&json!({"output_format": "json"})));
}

#[test]
fn agent_world_json_full() {
    let fields = json!({"output_format": "json", "output_detail": "full"});
    all_texts("agent_world_json_full", &agent_world(&fields));
}

fn agent_world(fields: &Value) -> Form {
    Form {
        dialect: "agent-world",
        fields: fields.clone(),
        background: None,
        artifacts: Some("artifact_paths"),
    }
}

#[test]
fn shellgate_json_minimal() {
    all_texts("shellgate_json_minimal", &shellgate(&json!({})));
}

#[test]
fn shellgate_json_full() {
    all_texts("shellgate_json_full", &shellgate(&json!({"detail": "full"})));
}

#[test]
fn shellgate_markdown_minimal() {
    all_texts("shellgate_markdown_minimal", &shellgate(&json!({"format": "markdown"})));
}

#[test]
fn shellgate_markdown_full() {
    all_texts("shellgate_markdown_full", &shellgate(&json!({"format": "markdown", "detail": "full"})));
}

fn shellgate(fields: &Value) -> Form {
    Form {
        dialect: "shellgate",
        fields: fields.clone(),
        background: Some("background"),
        artifacts: Some("artifacts"),
    }
}
