//! What there is to know about an agent, as data. The agents themselves are in `agents`.

use serde_json::{Map, Value, json};

use super::format::Format;
use super::location::FileLocation;
use super::server::Server;
use super::step::{Act, Step};

/// The name under which shellgate stands in every agent's settings.
pub(crate) const ENTRY_NAME: &str = "shellgate";

/// An agent, and how shellgate is made known to it.
#[derive(Debug)]
pub(crate) struct Agent {
    /// What is typed.
    pub(crate) name: &'static str,
    /// What else may be typed.
    pub(crate) aliases: &'static [&'static str],
    /// What it is called.
    pub(crate) title: &'static str,
    /// Its programs, to see whether it is installed.
    pub(crate) programs: &'static [&'static str],
    /// How it is started.
    pub(crate) start: Start,
    /// Where its servers are started.
    pub(crate) root: Root,
    /// The file that has its servers.
    pub(crate) file: File,
    /// The table of servers in it.
    pub(crate) servers: &'static [&'static str],
    /// The form of an entry.
    pub(crate) shape: Shape,
    /// What an entry needs beside that, unless somebody wrote something else there.
    pub(crate) extra: &'static [(&'static str, Literal)],
    /// How it calls shellgate without asking first.
    pub(crate) trust: Switch,
    /// How its own shell tool is switched off.
    pub(crate) shell_off: Switch,
    /// What a person should know afterwards.
    pub(crate) note: &'static str,
}

/// A settings file: the user's, and the project's relative to it.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) user: FileLocation,
    pub(crate) project: Option<&'static str>,
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// From a shell, whose PATH it has.
    Terminal,
    /// By a click: PATH may lack what shells add to it.
    Desktop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// In the project.
    Workspace,
    /// Anywhere; it puts the project in place of this text.
    Variable(&'static str),
    /// Anywhere, and it knows no project.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// `command` and `args`.
    Plain,
    /// The same with `type = "stdio"` before.
    Typed,
    /// `command` is a list that has the arguments, too.
    Joined,
    /// `cmd` and `args`, with all that goose wants to know.
    Goose,
}

impl Shape {
    /// What stands in an entry before and after that which starts the server.
    fn around(self) -> (Value, Value) {
        match self {
            Self::Plain => (json!({}), json!({})),
            Self::Typed => (json!({"type": "stdio"}), json!({})),
            Self::Joined => (json!({"type": "local"}), json!({"enabled": true})),
            Self::Goose => {
                let before = json!({
                    "enabled": true, "type": "stdio", "name": ENTRY_NAME, "description": "Runs shell commands",
                });
                (before, json!({}))
            }
        }
    }
}

/// A value that the table of agents can hold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Literal {
    Bool(bool),
    Number(i64),
    Text(&'static str),
    Words(&'static [&'static str]),
    /// One without anything in it.
    Table,
}

impl Literal {
    fn value(self) -> Value {
        match self {
            Self::Bool(bool) => bool.into(),
            Self::Number(number) => number.into(),
            Self::Text(text) => text.into(),
            Self::Words(words) => json!(words),
            Self::Table => json!({}),
        }
    }
}

/// How something is switched in an agent.
#[derive(Debug)]
pub(crate) enum Switch {
    /// In the entry of shellgate.
    Entry(&'static [(&'static str, Literal)]),
    /// In the file that has the servers.
    Here(&'static [Setting]),
    /// In another file.
    Elsewhere(File, &'static [Setting]),
    /// It is so anyway, or can't be done in a file: why, and what to do.
    No(&'static str),
}

/// A setting that a switch needs.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) path: &'static [&'static str],
    pub(crate) wanted: Wanted,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// This value.
    Is(Literal),
    /// A list with this in it.
    Has(&'static str),
}

impl Wanted {
    /// The same as the end of a sentence.
    pub(crate) fn description(self) -> String {
        match self {
            Self::Is(value) => format!("is `{}`", value.value()),
            Self::Has(item) => format!("has `{item}`"),
        }
    }
}

impl Setting {
    pub(crate) fn step(&self) -> Step {
        let act = match self.wanted {
            Wanted::Is(value) => Act::Set(value.value()),
            Wanted::Has(item) => Act::Add(item.into()),
        };
        Step::new(self.path, act)
    }
}

impl Agent {
    /// The entry of shellgate. `more`: what switches add to it.
    pub(crate) fn entry(&self, server: &Server, more: &[(&str, Literal)]) -> Step {
        let (before, after) = self.shape.around();
        let parts = [before, server.start(self.shape), after];
        let mut entry: Map<String, Value> = parts
            .iter()
            .filter_map(Value::as_object)
            .flatten()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        entry.extend(self.extra.iter().chain(more).map(|(name, value)| ((*name).to_owned(), value.value())));
        Step::new(self.entry_path(), Act::Set(Value::Object(entry)))
    }

    /// Where the entry of shellgate stands.
    pub(crate) fn entry_path(&self) -> Vec<String> {
        self.servers.iter().copied().chain([ENTRY_NAME]).map(str::to_owned).collect()
    }
}
