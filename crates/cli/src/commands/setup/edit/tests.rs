//! Setting up and undoing it, in random texts: all other content stays.

use proptest::prelude::*;
use serde_json::json;

use super::super::step::Act;
use super::*;

/// The steps of the largest set-up: a table in a table that may be missing, a value, an item of a list.
fn steps(servers: &str) -> Vec<Step> {
    let entry =
        json!({"command": "/usr/bin/shellgate", "args": ["mcp", "--dialect", "gemini"], "timeout": 600_000});
    vec![
        Step::new([servers, "shellgate"], Act::Set(entry)),
        Step::new(["tools", "exclude"], Act::Add("run_shell_command".into())),
        Step::new(["features", "shell_tool"], Act::Set(false.into())),
    ]
}

/// What must hold of every text. `comments` are in it.
fn holds(format: Format, text: &str, steps: &[Step], comments: &[String]) -> Result<(), TestCaseError> {
    let before =
        format.read(text).map_err(|broken| TestCaseError::fail(format!("{broken:?} in:\n{text}")))?;
    let edited = match edit(format, text, steps) {
        // There is a value in place of a table, so `edit` returns an error and changes nothing.
        Err(Uneditable::NotATable(_)) => return Ok(()),
        Err(error) => return Err(TestCaseError::fail(format!("{error:?} in:\n{text}"))),
        Ok(edited) => edited,
    };
    let mut wanted = before.clone();
    for step in steps.iter().filter(|step| step.would_change(&before)) {
        step.apply_to(&mut wanted).unwrap();
    }
    prop_assert_eq!(format.read(&edited.text).unwrap(), wanted, "{}", edited.text);
    for comment in comments {
        prop_assert!(
            edited.text.contains(comment.as_str()),
            "{} is gone:\n{}\n{}",
            comment,
            edited.text,
            text
        );
    }
    let twice = edit(format, &edited.text, steps).unwrap();
    prop_assert_eq!(&twice.text, &edited.text, "a second time changes nothing");
    prop_assert_eq!(unpatch(&edited.text, &hunks(text, &edited.text)), text);
    // And when the bytes are others by then.
    let undone = edit(format, &edited.text, &edited.back);
    let undone = undone.map_err(|error| TestCaseError::fail(format!("{error:?} in:\n{}", edited.text)))?;
    let values = format.read(&undone.text).unwrap();
    prop_assert_eq!(without_null(&values), without_null(&before), "{}", undone.text);
    for comment in comments {
        prop_assert!(
            undone.text.contains(comment.as_str()),
            "{} is gone:\n{}\n{}",
            comment,
            undone.text,
            edited.text
        );
    }
    Ok(())
}

/// A table that was null is an empty one by then.
fn without_null(values: &Value) -> Value {
    let empty = |value: &Value| value.is_null() || *value == json!({});
    let table = values.as_object().unwrap().iter().filter(|(_, value)| !empty(value));
    table.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Writes a random text, chosen by `numbers`.
struct Writer {
    numbers: std::vec::IntoIter<u8>,
    comments: Vec<String>,
    text: String,
}

impl Writer {
    fn new(numbers: Vec<u8>) -> Self {
        Self { numbers: numbers.into_iter(), comments: Vec::new(), text: String::new() }
    }

    fn next(&mut self, below: u8) -> u8 {
        self.numbers.next().unwrap_or(0) % below
    }

    fn comment(&mut self) -> String {
        let comment = format!("note {} \"a\" }} ] ,", self.comments.len());
        self.comments.push(comment.clone());
        comment
    }

    fn json_space(&mut self) {
        let space = match self.next(8) {
            0 => " ".to_owned(),
            1 => "\n".to_owned(),
            2 => "\r\n\t".to_owned(),
            3 => format!("/* {} */", self.comment()),
            4 => format!(" // {}\n  ", self.comment()),
            5 => format!("\n    // {}\n    ", self.comment()),
            _ => String::new(),
        };
        self.text.push_str(&space);
    }

    fn json_value(&mut self, depth: u8) {
        self.json_space();
        match self.next(if depth > 3 { 4 } else { 6 }) {
            0 => self.text.push_str("12.50"),
            1 => self.text.push_str("\"a \\\" // ä\""),
            2 => self.text.push_str("null"),
            3 => self.text.push_str("true"),
            4 => {
                self.text.push('[');
                let count = self.next(4);
                for at in 0..count {
                    self.json_value(depth + 1);
                    self.json_comma(at + 1 == count);
                }
                self.json_space();
                self.text.push(']');
            }
            _ => self.json_table(depth, &["a", "b b", "servers", "x"]),
        }
        self.json_space();
    }

    fn json_comma(&mut self, last: bool) {
        if !last || self.next(3) == 0 {
            self.text.push(',');
        }
    }

    fn json_table(&mut self, depth: u8, names: &[&str]) {
        self.text.push('{');
        let first = usize::from(self.next(4));
        let names: Vec<&str> = names.iter().skip(first).copied().collect();
        for (at, name) in names.iter().enumerate() {
            self.json_space();
            self.text.push_str(&format!("\"{name}\""));
            self.json_space();
            self.text.push(':');
            if matches!(*name, "mcpServers" | "tools" | "features") && self.next(6) > 0 {
                let inner = ["other", "exclude", "more", "shell_tool"];
                self.json_space();
                self.json_table(depth + 1, &inner);
                self.json_space();
            } else if *name == "shell_tool" {
                // What stands within a value that is replaced goes with it.
                self.text.push_str(" true ");
            } else {
                self.json_value(depth + 1);
            }
            self.json_comma(at + 1 == names.len());
        }
        self.json_space();
        self.text.push('}');
    }

    /// Lines of TOML: keys, tables and lists of tables, with comments and blank lines.
    fn toml(&mut self) {
        self.toml_keys(&["model", "a.b", "list"]);
        for name in ["mcp_servers.other", "features", "\"x y\"", "mcp_servers.z.env", "tools"] {
            match self.next(4) {
                0 => continue,
                1 => {
                    let comment = self.comment();
                    self.text.push_str(&format!("\n# {comment}\n"));
                }
                _ => {}
            }
            self.text.push_str(&format!("[{name}]"));
            self.toml_end();
            self.toml_keys(&["k", "\"q.q\"", "c.d"]);
        }
        if self.next(2) == 0 {
            self.text.push_str("[[many]]\nn = 1\n[[many]]\nn = 2.5");
            self.toml_end();
        }
    }

    fn toml_keys(&mut self, names: &[&str]) {
        for name in names {
            let value = match self.next(7) {
                0 => continue,
                1 => "1.5",
                2 => "2020-01-02T03:04:05Z",
                3 => "[1, 2] ",
                4 => "{ in = \"line\", n = [ ] }",
                5 => "\"\"\"\nmany\n# lines\n\"\"\"",
                _ => "'text'",
            };
            self.text.push_str(&format!("{name} = {value}"));
            self.toml_end();
        }
    }

    fn toml_end(&mut self) {
        let end = match self.next(5) {
            0 => format!(" # {}\n", self.comment()),
            1 => "\n\n".to_owned(),
            2 => "\r\n".to_owned(),
            _ => "\n".to_owned(),
        };
        self.text.push_str(&end);
    }

    /// Tables of YAML in the block style.
    fn yaml(&mut self, depth: usize, names: &[&str]) {
        let blanks = " ".repeat(depth * 2);
        for name in names {
            match self.next(5) {
                0 => continue,
                1 => {
                    let comment = self.comment();
                    self.text.push_str(&format!("{blanks}# {comment}\n"));
                }
                2 => self.text.push('\n'),
                _ => {}
            }
            let value = match self.next(if depth < 3 { 9 } else { 6 }) {
                0 => " 5\n".to_owned(),
                1 => format!(" plain words # {}\n", self.comment()),
                2 => format!("\n{blanks}- a\n{blanks}- 'b: c'\n"),
                3 => format!(" |\n{blanks}  two\n\n{blanks}  # lines\n"),
                4 => " [1, {a: b}]\n".to_owned(),
                5 => format!(" \"in {}\" \n", "quotes: #"),
                _ => {
                    self.text.push_str(&format!("{blanks}{name}:\n"));
                    let length = self.text.len();
                    self.yaml(depth + 1, &["enabled", "type", "args"]);
                    if self.text.len() == length {
                        self.text.push_str(&format!("{blanks}  filled: true\n"));
                    }
                    continue;
                }
            };
            self.text.push_str(&format!("{blanks}{name}:{value}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_keeps_everything_else(numbers in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut writer = Writer::new(numbers);
        writer.json_space();
        writer.json_table(0, &["a", "mcpServers", "b", "tools", "features", "last"]);
        writer.json_space();
        holds(Format::Json, &writer.text, &steps("mcpServers"), &writer.comments)?;
    }

    #[test]
    fn toml_keeps_everything_else(numbers in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut writer = Writer::new(numbers);
        writer.toml();
        holds(Format::Toml, &writer.text, &steps("mcp_servers"), &writer.comments)?;
    }

    #[test]
    fn yaml_keeps_everything_else(numbers in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut writer = Writer::new(numbers);
        writer.yaml(0, &["GOOSE_MODE", "extensions", "features", "last"]);
        let steps: Vec<Step> =
            steps("extensions").into_iter().filter(|step| !matches!(step.act, Act::Add(_))).collect();
        holds(Format::Yaml, &writer.text, &steps, &writer.comments)?;
    }
}

fn set(format: Format, path: &[&str], text: &str) -> String {
    edit(format, text, &[Step::new(path, Act::Set(json!({"command": "x"})))]).unwrap().text
}

#[test]
fn ends_of_lines_and_a_mark_at_the_start_stay() {
    let path = ["mcpServers", "shellgate"];
    let windows = set(Format::Json, &path, "\u{feff}{\r\n  \"a\": 1\r\n}\r\n");
    assert_eq!(
        windows,
        "\u{feff}{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"shellgate\": {\r\n      \"command\": \"x\"\r\n    }\r\n  }\r\n}\r\n"
    );
    let mixed = set(Format::Toml, &path, "a = 1\r\nb = 2\n");
    assert!(mixed.starts_with("a = 1\r\nb = 2\n"), "{mixed:?}");
}

#[test]
fn tabs_stay_tabs() {
    let text =
        set(Format::Json, &["mcpServers", "shellgate"], "{\n\t\"mcpServers\": {\n\t\t\"o\": 1\n\t}\n}\n");
    assert!(text.contains("\n\t\t\"shellgate\": {\n\t\t\t\"command\": \"x\"\n\t\t}\n"), "{text}");
}

#[test]
fn empty_tables_of_yaml() {
    let path = ["extensions", "shellgate"];
    let wanted = "extensions:\n  shellgate:\n    command: x\n";
    for before in ["", "extensions:\n", "extensions: {}\n", "extensions: null\n", "extensions: {}"] {
        assert_eq!(set(Format::Yaml, &path, before), wanted, "{before:?}");
    }
    assert_eq!(
        set(Format::Yaml, &path, "extensions: {} # all\n"),
        "extensions: # all\n  shellgate:\n    command: x\n"
    );
    assert_eq!(set(Format::Yaml, &path, "# only\n"), format!("# only\n{wanted}"));
}

#[test]
fn what_cannot_be_changed_safely_is_left_alone() {
    let step = [Step::new(["extensions", "shellgate"], Act::Set(json!({"a": 1})))];
    for text in ["extensions: {a: b}\n", "{extensions: {a: {}}}\n", "a: 1\n---\nb: 2\n"] {
        assert_eq!(edit(Format::Yaml, text, &step), Err(Uneditable::Unsupported), "{text}");
    }
    let twice = "{\"extensions\": {}, \"extensions\": {\"a\": 1}}";
    assert_eq!(edit(Format::Json, twice, &step), Err(Uneditable::Unsupported), "two tables of one name");
    for (format, text) in [
        (Format::Json, "{\"extensions\": 5}"),
        (Format::Toml, "extensions = 5"),
        (Format::Yaml, "extensions: 5"),
    ] {
        assert_eq!(edit(format, text, &step), Err(Uneditable::NotATable("extensions".to_owned())), "{text}");
    }
}

#[test]
fn a_syntax_error_has_its_line_and_column() {
    for (format, text, line, column) in [
        (Format::Json, "{\n  \"ä\": 1 \"b\": 2\n}", 2, 9),
        (Format::Json, "{\n  \"a\": 'b'\n}", 2, 8),
        (Format::Toml, "a = 1\nb = = 2\n", 2, 5),
        (Format::Yaml, "a: 1\nb: [1\nc: 2\n", 3, 2),
    ] {
        let broken = format.read(text).unwrap_err();
        assert_eq!((broken.line, broken.column), (line, column), "{broken:?} in {text}");
    }
}
