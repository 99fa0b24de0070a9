//! The entry that is there already: how it starts shellgate.
//!
//! What stands behind `mcp` there is somebody's policy, whoever wrote it. It stays unless other flags are asked for: an
//! entry without its flags would let more pass than the one before.

use serde_json::{Map, Value};

use super::agent::{ENTRY_NAME, Shape};

/// The names of what starts a server, in the entries of all agents.
const START_KEYS: [&str; 3] = ["command", "cmd", "args"];

/// How the entry of that name starts shellgate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExistingEntry {
    /// Not at all: there is none, or it starts something else.
    Absent,
    /// As we write it, with these arguments.
    Standard(Vec<String>),
    /// Through something else, or in another form: what says so.
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
        // A line for a shell is one text with many words.
        let words =
            || all.iter().flat_map(|text| text.split(|c: char| c.is_whitespace() || "'\"".contains(c)));
        let is_own =
            words().any(|word| file_name(word).starts_with(ENTRY_NAME)) && words().any(|word| word == "mcp");
        if is_own { Self::Custom(own) } else { Self::Absent }
    }
}

/// The arguments, if the entry is in the form that we write.
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

/// The last name of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// All collect_texts in a value.
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
