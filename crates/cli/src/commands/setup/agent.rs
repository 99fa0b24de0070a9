//! The description of an agent: how `setup` adds shellgate to it. The agents themselves are in `agents`.

use serde_json::{Map, Value, json};

use super::format::Format;
use super::location::FileLocation;
use super::server::Server;
use super::step::{Act, Step};

/// Name of shellgate's entry in every agent's settings.
pub(crate) const ENTRY_NAME: &str = "shellgate";

/// An agent, and how shellgate is added to its settings.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Other names that the command line accepts.
    pub(crate) aliases: &'static [&'static str],
    /// Its name in sentences.
    pub(crate) title: &'static str,
    /// Its programs. If PATH has one, it is installed.
    pub(crate) programs: &'static [&'static str],
    /// How it is started.
    pub(crate) start: Start,
    /// The folder in which it starts servers.
    pub(crate) root: Root,
    /// The settings file with its servers.
    pub(crate) file: File,
    /// Path of the table of servers in that file.
    pub(crate) servers: &'static [&'static str],
    /// The form of an entry.
    pub(crate) shape: Shape,
    /// More keys that an entry needs. Existing values stay.
    pub(crate) extra: &'static [(&'static str, Literal)],
    /// How to let it call shellgate without asking.
    pub(crate) trust: Switch,
    /// How to disable its own shell tool.
    pub(crate) shell_off: Switch,
    /// What to tell the person after the change.
    pub(crate) note: &'static str,
}

/// A settings file: the user's, and the path of the project's in its folder.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) user: FileLocation,
    pub(crate) project: Option<&'static str>,
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// From a shell, with its PATH.
    Terminal,
    /// From the desktop: PATH may lack what shells add to it.
    Desktop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// The project's folder.
    Workspace,
    /// Any folder; it replaces this text in arguments by the project's folder.
    Variable(&'static str),
    /// Any folder; it has no notion of a project.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// `command` and `args`.
    Plain,
    /// `type = "stdio"`, `command` and `args`.
    Typed,
    /// `command` is a list of the program and its arguments.
    Joined,
    /// `cmd` and `args`, and the other keys that goose requires.
    Goose,
}

impl Shape {
    /// The keys of an entry before and after those that start the server.
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
    /// An empty table.
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

/// How to change a behaviour of an agent.
#[derive(Debug)]
pub(crate) enum Switch {
    /// By keys in shellgate's entry.
    Entry(&'static [(&'static str, Literal)]),
    /// By settings in the file with the servers.
    Here(&'static [Setting]),
    /// By settings in another file.
    Elsewhere(File, &'static [Setting]),
    /// Not by a file. The text says why, and what to do instead.
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
    /// The setting has this value.
    Is(Literal),
    /// The setting is a list with this item.
    Has(&'static str),
}

impl Wanted {
    /// As the end of a sentence about the setting.
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
    /// The step that writes shellgate's entry. `more`: keys that switches add to it.
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

    /// Path of shellgate's entry in the file.
    pub(crate) fn entry_path(&self) -> Vec<String> {
        self.servers.iter().copied().chain([ENTRY_NAME]).map(str::to_owned).collect()
    }
}
