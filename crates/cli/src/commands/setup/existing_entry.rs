//! The entry of shellgate that an agent's settings already have.
//!
//! Its arguments after `mcp` are the user's policy. They stay unless the command line gives other flags: an entry without
//! them could allow more than before.

use serde_json::{Map, Value};

use super::agent::{ENTRY_NAME, Shape};

/// Keys that say how to start a server, in the entries of all agents.
const START_KEYS: [&str; 3] = ["command", "cmd", "args"];

/// How an entry starts shellgate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExistingEntry {
    /// There is no entry, or it starts another program.
    Absent,
    /// In the form that `setup` writes, with these arguments.
    Standard(Vec<String>),
    /// Through another program or in another form; these are its keys.
    Custom(Map<String, Value>),
}

impl ExistingEntry {
    pub(crate) fn of(entry: Option<&Value>, shape: Shape) -> Self {
        let Some(entry) = entry.and_then(Value::as_object) else { return Self::Absent };
        if let Some(args) = standard_arguments(entry, shape) {
            return Self::Standard(args);
        }
        let starts = entry.iter().filter(|(name, _)| START_KEYS.contains(&name.as_str()));
        let own: Map<String, Value> = starts.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut all = Vec::new();
        own.values().for_each(|value| collect_texts(value, &mut all));
        // A command line for a shell is one string with several words.
        let words =
            || all.iter().flat_map(|text| text.split(|c: char| c.is_whitespace() || "'\"".contains(c)));
        let is_own =
            words().any(|word| file_name(word).starts_with(ENTRY_NAME)) && words().any(|word| word == "mcp");
        if is_own { Self::Custom(own) } else { Self::Absent }
    }
}

/// The arguments, if the entry has the form that `setup` writes.
fn standard_arguments(entry: &Map<String, Value>, shape: Shape) -> Option<Vec<String>> {
    let words = |name: &str| -> Option<Vec<String>> {
        entry.get(name)?.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect()
    };
    let (program, args) = match shape {
        Shape::Joined => {
            let mut words = words("command")?.into_iter();
            (words.next()?, words.collect())
        }
        Shape::Goose => (entry.get("cmd")?.as_str()?.to_owned(), words("args")?),
        Shape::Plain | Shape::Typed => (entry.get("command")?.as_str()?.to_owned(), words("args")?),
    };
    let is_ours =
        file_name(&program).trim_end_matches(".exe") == ENTRY_NAME && args.iter().any(|word| word == "mcp");
    is_ours.then_some(args)
}

/// The last component of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Collects all strings in a value.
fn collect_texts<'a>(value: &'a Value, all: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => all.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, all)),
        Value::Object(table) => table.values().for_each(|value| collect_texts(value, all)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_of_an_entry() {
        let args =
            |words: &[&str]| ExistingEntry::Standard(words.iter().map(|&word| word.to_owned()).collect());
        for (shape, entry, wanted) in [
            (Shape::Plain, json!({"command": "/a b/shellgate", "args": ["mcp", "-x"]}), args(&["mcp", "-x"])),
            (Shape::Plain, json!({"command": "C:\\b\\shellgate.exe", "args": ["mcp"]}), args(&["mcp"])),
            (Shape::Joined, json!({"command": ["shellgate", "mcp"]}), args(&["mcp"])),
            (Shape::Goose, json!({"cmd": "shellgate", "args": ["mcp"]}), args(&["mcp"])),
            (Shape::Plain, json!({"command": "shellgate", "args": ["serve"]}), ExistingEntry::Absent),
            (Shape::Plain, json!({"command": "shellgate"}), ExistingEntry::Absent),
            (Shape::Plain, json!({"command": "other", "args": ["mcp"]}), ExistingEntry::Absent),
            (Shape::Plain, json!({"description": "shellgate mcp"}), ExistingEntry::Absent),
            (Shape::Plain, json!([]), ExistingEntry::Absent),
        ] {
            assert_eq!(ExistingEntry::of(Some(&entry), shape), wanted, "{entry}");
        }
        for entry in [
            json!({"args": ["shellgate", "mcp"], "command": "nice"}),
            json!({"command": "docker", "args": ["run", "-i", "example.org/shellgate:1.2", "mcp"]}),
            json!({"command": "sh", "args": ["-c", "'shellgate' mcp"]}),
            json!({"command": "shellgate", "args": ["mcp", 5]}),
            json!({"command": ["shellgate", "mcp"]}),
        ] {
            let own = entry.as_object().cloned().unwrap();
            assert_eq!(ExistingEntry::of(Some(&entry), Shape::Plain), ExistingEntry::Custom(own), "{entry}");
        }
    }
}
