//! `shellgate setup`: agents' settings files, as people have them.

mod again;
mod asking;
mod every_agent;
mod files;
mod flags;
mod left;

use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;

use crate::support::Place;

/// An agent, described independently of the table under test.
struct Case {
    name: &'static str,
    /// Its file below home.
    file: &'static str,
    /// Its file below a project.
    project: Option<&'static str>,
    /// Where the entry is.
    entry: &'static [&'static str],
    /// A file with comments and other entries.
    full: &'static str,
    /// A broken settings file, and the position of the error.
    broken: (&'static str, &'static str),
    /// Whether `setup` needs `--root` for it.
    needs_root: bool,
}

const SERVERS: &str = "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"} // last\n  },\n  \"z\": [1, 2]\n}\n";
const BROKEN: (&str, &str) = ("{\n  \"a\": 1\n  \"b\": 2\n}\n", ":2:9: ");

const CASES: &[Case] = &[
    Case {
        name: "gemini",
        file: ".gemini/settings.json",
        project: Some(".gemini/settings.json"),
        entry: &["mcpServers", "shellgate"],
        full: SERVERS,
        broken: BROKEN,
        needs_root: false,
    },
    Case {
        name: "qwen",
        file: ".qwen/settings.json",
        project: Some(".qwen/settings.json"),
        entry: &["mcpServers", "shellgate"],
        full: SERVERS,
        broken: BROKEN,
        needs_root: false,
    },
    Case {
        name: "claude",
        file: ".claude.json",
        project: Some(".mcp.json"),
        entry: &["mcpServers", "shellgate"],
        full: "{\"numStartups\":3,\"mcpServers\":{\"other\":{\"type\":\"stdio\",\"command\":\"x\"}},\"projects\":{}}",
        broken: BROKEN,
        needs_root: false,
    },
    Case {
        name: "claude-desktop",
        file: ".config/Claude/claude_desktop_config.json",
        project: None,
        entry: &["mcpServers", "shellgate"],
        full: SERVERS,
        broken: BROKEN,
        needs_root: true,
    },
    Case {
        name: "codex",
        file: ".codex/config.toml",
        project: Some(".codex/config.toml"),
        entry: &["mcp_servers", "shellgate"],
        full: "# mine\nmodel = \"m\" # best\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[mcp_servers.other.env]\nA = \"b\"\n\n# tools\n[features]\nweb = true\n",
        broken: ("model = \"m\"\nx = = 1\n", ":2:5: "),
        needs_root: false,
    },
    Case {
        name: "cursor",
        file: ".cursor/mcp.json",
        project: Some(".cursor/mcp.json"),
        entry: &["mcpServers", "shellgate"],
        full: SERVERS,
        broken: BROKEN,
        needs_root: false,
    },
    Case {
        name: "vscode",
        file: ".config/Code/User/mcp.json",
        project: Some(".vscode/mcp.json"),
        entry: &["servers", "shellgate"],
        full: "{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"other\": {\"type\": \"stdio\", \"command\": \"x\",}, // last\n\t},\n}\n",
        broken: BROKEN,
        needs_root: false,
    },
    Case {
        name: "zed",
        file: ".config/zed/settings.json",
        project: Some(".zed/settings.json"),
        entry: &["context_servers", "shellgate"],
        full: "// Zed settings\n//\n// For all of them see the default settings\n{\n  \"theme\": \"One\", /* dark */\n  \"context_servers\": {\n  },\n}\n",
        broken: BROKEN,
        needs_root: false,
    },
    Case {
        name: "opencode",
        file: ".config/opencode/opencode.json",
        project: Some("opencode.json"),
        entry: &["mcp", "shellgate"],
        full: "{\n  \"$schema\": \"x\",\n  \"mcp\": {\"other\": {\"type\": \"local\", \"command\": [\"x\"]}}\n}",
        broken: BROKEN,
        needs_root: false,
    },
    Case {
        name: "goose",
        file: ".config/goose/config.yaml",
        project: None,
        entry: &["extensions", "shellgate"],
        full: "# mine\nGOOSE_MODE: auto\nextensions:\n  developer:\n    enabled: true # shell\n    type: builtin\n    args:\n    - x\n\n  # last\n  memory:\n    enabled: false\n\n# end\nGOOSE_MODEL: m\n",
        broken: ("a: 1\nb: [1\nc: 2\n", ":3:2: "),
        needs_root: false,
    },
];

impl Case {
    fn path(&self, place: &Place) -> PathBuf {
        place.home().join(self.file)
    }

    /// Writes its settings file in `place`.
    fn write(&self, place: &Place, text: &str) {
        let path = self.path(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, place: &Place) -> String {
        std::fs::read_to_string(self.path(place)).unwrap()
    }

    /// Runs `shellgate setup THIS FLAGS`.
    fn setup(&self, place: &Place, flags: &[&str]) -> Output {
        let root = place.root().display().to_string();
        let mut words = vec!["setup", self.name];
        if self.needs_root && !flags.contains(&"--undo") {
            words.extend(["--root", &root]);
        }
        words.extend(flags);
        place.output(words)
    }

    /// Runs `shellgate setup THIS FLAGS`, which must succeed. Returns its output.
    fn done(&self, place: &Place, flags: &[&str]) -> String {
        let output = self.setup(place, flags);
        assert_eq!(output.status.code(), Some(0), "{}: {output:?}", self.name);
        text(&output)
    }
}

fn case(name: &str) -> &'static Case {
    CASES.iter().find(|case| case.name == name).unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn complaint(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The values in a file, read by another parser than the one under test.
fn values(case: &Case, text: &str) -> Value {
    match case.file.rsplit('.').next().unwrap() {
        "toml" => {
            python("import sys, tomllib, json; print(json.dumps(tomllib.loads(sys.stdin.read())))", text)
        }
        "yaml" => yaml(text),
        _ if text.is_empty() => Value::Null,
        _ => serde_json::from_str(&without_comments(text)).unwrap_or_else(|error| panic!("{error}: {text}")),
    }
}

fn python(script: &str, text: &str) -> Value {
    use std::io::Write as _;
    let mut child = std::process::Command::new("python3")
        .args(["-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
}

fn yaml(text: &str) -> Value {
    use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
    fn plain(node: &Yaml<'_>) -> Value {
        match node {
            Yaml::Value(Scalar::Boolean(bool)) => (*bool).into(),
            Yaml::Value(Scalar::Integer(number)) => (*number).into(),
            Yaml::Value(Scalar::String(text)) => text.as_ref().into(),
            Yaml::Sequence(items) => items.iter().map(plain).collect(),
            Yaml::Mapping(pairs) => {
                pairs.iter().map(|(key, value)| (key.as_str().unwrap().to_owned(), plain(value))).collect()
            }
            _ => Value::Null,
        }
    }
    Yaml::load_from_str(text).unwrap().first().map_or(Value::Null, plain)
}

/// The JSON text without comments and trailing commas.
fn without_comments(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").unwrap() + 2
        } else if c == '"' {
            let end =
                rest.match_indices('"').map(|(at, _)| at).skip(1).find(|at| !rest[..*at].ends_with('\\'));
            let end = end.unwrap() + 1;
            plain.push_str(&rest[..end]);
            end
        } else {
            if matches!(c, '}' | ']') && plain.trim_end().ends_with(',') {
                plain.truncate(plain.trim_end().len() - 1);
            }
            plain.push(c);
            c.len_utf8()
        };
        rest = &rest[taken..];
    }
    plain
}

/// The value at a path.
fn at<'a>(values: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(values, |table, name| &table[name])
}

/// The texts of all comments.
fn comments(text: &str) -> Vec<&str> {
    let mark = |line: &str| ["// ", "/* ", "# "].iter().filter_map(|mark| line.find(mark)).min();
    text.lines().filter_map(|line| Some(line[mark(line)?..].split("*/").next().unwrap().trim())).collect()
}
