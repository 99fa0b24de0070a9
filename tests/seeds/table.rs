//! The tables: one row for every sentence and example of a document, as data.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use toml_edit::Item;

/// The table of one document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) dialect: String,
    /// The document's lines that carry text: the number of each, and the first four bytes of its SHA-256 as a number, so that
    /// a copy of the document can be compared.
    pub(crate) lines: String,
    pub(crate) row: Vec<Row>,
}

/// One sentence or example.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// Its lines in the document: `14`, `14b`, `14-20`, `14-16,20`.
    pub(crate) line: String,
    /// What it claims, in our words.
    pub(crate) says: String,
    /// The issue without which it can't hold.
    #[serde(default)]
    waits: Option<u32>,
    /// It contradicts another row or was given up on purpose: what holds instead.
    #[serde(default)]
    settled: Option<String>,
    /// It is true on another system, and was not run.
    #[serde(default)]
    elsewhere: Option<String>,
    /// It claims nothing: what it is.
    #[serde(default)]
    prose: Option<String>,
    /// Why it waits.
    #[serde(default)]
    why: Option<String>,
    #[serde(default)]
    pub(crate) check: Vec<Check>,
}

/// A call, and its expected effects. The checks of a row run one after the other, in one place.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Check {
    /// Look at the schema, not at the answer to a call.
    pub(crate) schema: bool,
    /// Text for bash, run in the root before the call.
    pub(crate) setup: Option<String>,
    /// The content of a settings file that is named with `--config`: JSON if it begins with a brace, else TOML.
    pub(crate) config: Option<String>,
    pub(crate) flags: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    /// The arguments of the call.
    pub(crate) call: String,
    /// Interrupt the call when this file is there.
    pub(crate) interrupt_when: Option<String>,
    /// Text for bash, run while the call is under way, in which `sg` is `shellgate`. It must succeed.
    pub(crate) meanwhile: Option<String>,
    /// Text for bash, run after the call, in which `sg` is `shellgate`. It must succeed.
    pub(crate) after: Option<String>,
    /// How `shellgate` exits.
    pub(crate) exit: i32,
    /// Parts of the answer, by JSON pointer: equal to this.
    pub(crate) is: BTreeMap<String, Value>,
    /// Matched by this regular expression.
    pub(crate) like: BTreeMap<String, String>,
    /// This many bytes long.
    pub(crate) bytes: BTreeMap<String, usize>,
    /// Equal to each other, but for blanks around them.
    pub(crate) same: Vec<String>,
    pub(crate) null: Vec<String>,
    pub(crate) absent: Vec<String>,
    /// The answer's keys, in order.
    pub(crate) keys: Option<String>,
    /// Regular expressions that match somewhere in the answer.
    pub(crate) text: Vec<String>,
    /// Files that exist afterwards.
    pub(crate) exists: Vec<String>,
    /// Files that don't exist afterwards.
    pub(crate) missing: Vec<String>,
    /// How many background processes are listed, and alive.
    pub(crate) background: Option<usize>,
    /// The background processes are left running for the next check.
    pub(crate) leave: bool,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Holds,
    Waits(u32),
    Settled,
    Elsewhere,
    Prose,
}

impl Table {
    pub(crate) fn read(text: &str) -> Self {
        let document: toml_edit::DocumentMut = text.parse().unwrap();
        serde_json::from_value(json(document.as_item())).unwrap()
    }

    /// The numbers of the lines that carry text.
    pub(crate) fn numbers(&self) -> BTreeSet<u32> {
        let line = |line: &str| {
            let (number, digest) = line.split_once(' ').unwrap();
            assert!(digest.parse::<u32>().is_ok(), "{line}");
            number.parse().unwrap()
        };
        self.lines.trim().lines().map(line).collect()
    }
}

impl Row {
    /// The numbers of the lines it speaks for.
    pub(crate) fn numbers(&self) -> BTreeSet<u32> {
        let whole = self.line.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let part = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            first.parse::<u32>().unwrap()..=last.parse().unwrap()
        };
        whole.split(',').flat_map(part).collect()
    }

    pub(crate) fn kind(&self) -> Kind {
        let kinds = [
            self.waits.map(Kind::Waits),
            self.settled.as_ref().map(|_| Kind::Settled),
            self.elsewhere.as_ref().map(|_| Kind::Elsewhere),
            self.prose.as_ref().map(|_| Kind::Prose),
        ];
        let said: Vec<Kind> = kinds.into_iter().flatten().collect();
        match said.as_slice() {
            [] => Kind::Holds,
            [kind] => *kind,
            several => panic!("{}: a row is one of {several:?}", self.line),
        }
    }

    /// The reason for its kind.
    pub(crate) fn reason(&self) -> Option<&str> {
        [&self.why, &self.settled, &self.elsewhere, &self.prose]
            .into_iter()
            .flatten()
            .next()
            .map(String::as_str)
    }
}

/// TOML as JSON: one kind of value for all that is compared.
fn json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => {
            table.iter().map(|(key, item)| (key.to_owned(), json(item))).collect::<Map<_, _>>().into()
        }
        Item::ArrayOfTables(tables) => tables.iter().map(|table| json(&Item::Table(table.clone()))).collect(),
    }
}

fn json_value(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => Value::from(text.value().as_str()),
        Toml::Integer(number) => Value::from(*number.value()),
        Toml::Float(number) => Value::from(*number.value()),
        Toml::Boolean(flag) => Value::from(*flag.value()),
        Toml::Datetime(time) => Value::from(time.value().to_string()),
        Toml::Array(list) => list.iter().map(json_value).collect(),
        Toml::InlineTable(table) => {
            table.iter().map(|(key, value)| (key.to_owned(), json_value(value))).collect::<Map<_, _>>().into()
        }
    }
}
