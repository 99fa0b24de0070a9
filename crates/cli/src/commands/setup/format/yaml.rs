//! YAML, for goose.
//!
//! No YAML editor that keeps comments is mature enough for users' settings, and little is needed: a key is added at the end
//! of a table, replaced or removed. So a parser finds the keys, and we change whole lines. This works for tables in block
//! style with one key per line, which is how people and the agent write such files. Other texts are refused. As with every
//! format, the values of the result are checked afterwards.

use saphyr::{LoadableYamlNode as _, MarkedYaml, Scalar, YamlData};
use serde_json::{Map, Value};

use super::Broken;
use crate::commands::setup::step::{Act, Step};

pub(super) fn read(text: &str) -> Result<Value, Broken> {
    let documents = MarkedYaml::load_from_str(text).map_err(|error| {
        let at = error.marker();
        Broken { line: at.line(), column: at.col() + 1, message: error.info().to_owned() }
    })?;
    Ok(match documents.first().map(values) {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(values) => values,
    })
}

fn values(node: &MarkedYaml<'_>) -> Value {
    match &node.data {
        YamlData::Value(Scalar::Null) => Value::Null,
        YamlData::Value(Scalar::Boolean(bool)) => Value::from(*bool),
        YamlData::Value(Scalar::Integer(number)) => Value::from(*number),
        YamlData::Value(Scalar::String(text)) => Value::from(text.as_ref()),
        YamlData::Sequence(items) => Value::Array(items.iter().map(values).collect()),
        YamlData::Mapping(pairs) => {
            Value::Object(pairs.iter().map(|(name, value)| (key(name), values(value))).collect())
        }
        // These are only compared: equal texts must give equal values.
        other => Value::from(format!("{other:?}")),
    }
}

fn key(node: &MarkedYaml<'_>) -> String {
    match values(node) {
        Value::String(name) => name,
        other => other.to_string(),
    }
}

pub(super) fn apply(text: &str, step: &Step) -> Option<String> {
    let documents = MarkedYaml::load_from_str(text).ok()?;
    if documents.len() > 1 {
        return None;
    }
    let root = documents.first().filter(|node| !matches!(node.data, YamlData::Value(Scalar::Null)));
    let mut page = Page { lines: text.split_inclusive('\n').map(str::to_owned).collect() };
    match &step.act {
        Act::Set(value) => page.set(root, &step.path, value)?,
        Act::Unset | Act::Prune => page.unset(root?, &step.path)?,
        // No agent with YAML settings needs these.
        Act::Add(_) | Act::Drop(_) => return None,
    }
    Some(page.lines.concat())
}

/// A key in a table: its place and its value.
struct Entry<'a, 'b> {
    line: usize,
    column: usize,
    value: &'a MarkedYaml<'b>,
}

fn find<'a, 'b>(table: &'a MarkedYaml<'b>, name: &str) -> Option<Entry<'a, 'b>> {
    let YamlData::Mapping(pairs) = &table.data else { return None };
    let (at, value) = pairs.iter().find(|(at, _)| key(at) == name)?;
    Some(Entry { line: at.span.start.line() - 1, column: at.span.start.col(), value })
}

struct Page {
    lines: Vec<String>,
}

impl Page {
    fn set(&mut self, root: Option<&MarkedYaml<'_>>, path: &[String], value: &Value) -> Option<()> {
        let Some(root) = root else { return self.insert(self.lines.len(), &written(path, value, 0)?) };
        // The innermost existing table on the path, and its key.
        let (mut table, mut at, mut rest) = (root, None, path);
        while let Some((name, inner)) = rest.split_first()
            && let Some(entry) = find(table, name)
        {
            if inner.is_empty() {
                return self.replace(&entry, name, value);
            }
            (table, rest) = (entry.value, inner);
            at = Some(entry);
        }
        match &table.data {
            YamlData::Mapping(pairs) if !pairs.is_empty() => {
                let (last, _) = pairs.back()?;
                let (line, column) = (last.span.start.line() - 1, last.span.start.col());
                self.starts(line, column)?;
                self.insert(self.end(line, column), &written(rest, value, column)?)
            }
            YamlData::Mapping(_) | YamlData::Value(Scalar::Null) => {
                let entry = at?;
                self.starts(entry.line, entry.column)?;
                self.clear(entry.value)?;
                self.insert(entry.line + 1, &written(rest, value, entry.column + 2)?)
            }
            _ => None,
        }
    }

    fn replace(&mut self, entry: &Entry<'_, '_>, name: &str, value: &Value) -> Option<()> {
        let there = &entry.value.span;
        let one_line = there.start.line() == there.end.line() && there.start.line() == entry.line + 1;
        if one_line && !value.is_object() && !value.is_array() {
            let line = self.lines.get_mut(entry.line)?;
            let (from, to) = (byte(line, there.start.col())?, byte(line, there.end.col())?);
            line.replace_range(from..to, &scalar(value));
            return Some(());
        }
        self.starts(entry.line, entry.column)?;
        let end = self.end(entry.line, entry.column);
        self.lines.drain(entry.line..end);
        self.insert(entry.line, &written(&[name.to_owned()], value, entry.column)?)
    }

    fn unset(&mut self, root: &MarkedYaml<'_>, path: &[String]) -> Option<()> {
        let (last, tables) = path.split_last()?;
        let mut above = None;
        let mut table = root;
        for name in tables {
            let entry = find(table, name)?;
            table = entry.value;
            above = Some(entry);
        }
        let entry = find(table, last)?;
        self.starts(entry.line, entry.column)?;
        let alone = matches!(&table.data, YamlData::Mapping(pairs) if pairs.len() == 1);
        let end = self.end(entry.line, entry.column);
        self.lines.drain(entry.line..end);
        if let Some(above) = above.filter(|_| alone) {
            // A key without a value would be null.
            let line = self.lines.get_mut(above.line)?;
            let after = line.char_indices().skip(above.column).find(|(_, c)| *c == ':')?.0 + 1;
            line.insert_str(after, " {}");
        }
        Some(())
    }

    /// `Some` if the key is the first thing in its line.
    fn starts(&self, line: usize, column: usize) -> Option<()> {
        let text = self.lines.get(line)?;
        (indent(text) == column).then_some(())
    }

    /// The first line after a key and its value. A comment above the next key belongs to that key.
    fn end(&self, line: usize, column: usize) -> usize {
        let mut end = line + 1;
        for (at, text) in self.lines.iter().enumerate().skip(line + 1) {
            let text_of = text.trim();
            let deeper = indent(text) > column;
            let item = indent(text) == column && (text_of.starts_with("- ") || text_of == "-");
            if text_of.is_empty() || text_of.starts_with('#') && !deeper {
                continue;
            }
            if !deeper && !item {
                break;
            }
            end = at + 1;
        }
        end
    }

    /// Removes an empty value after its key.
    fn clear(&mut self, value: &MarkedYaml<'_>) -> Option<()> {
        let span = &value.span;
        if span.start.index() == span.end.index() {
            return Some(());
        }
        let line = self.lines.get_mut(span.start.line() - 1)?;
        let text = line.get(byte(line, span.start.col())?..)?;
        let empty = ["{}", "null", "~"].into_iter().find(|empty| text.starts_with(empty))?;
        let from = byte(line, span.start.col())?;
        let key = line.get(..from)?.trim_end().len();
        line.replace_range(key..from + empty.len(), "");
        let bare = line.trim_end();
        *line = format!("{bare}\n");
        Some(())
    }

    fn insert(&mut self, at: usize, text: &str) -> Option<()> {
        if let Some(line) = at.checked_sub(1).and_then(|before| self.lines.get_mut(before))
            && !line.ends_with('\n')
        {
            line.push('\n');
        }
        self.lines.insert(at.min(self.lines.len()), text.to_owned());
        Some(())
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Byte offset of a line's character with this number.
fn byte(line: &str, character: usize) -> Option<usize> {
    line.char_indices().map(|(at, _)| at).chain([line.len()]).nth(character)
}

/// The lines that write a value at a path.
fn written(path: &[String], value: &Value, column: usize) -> Option<String> {
    let (name, rest) = path.split_first()?;
    let (blanks, name) = (" ".repeat(column), plain(name));
    if !rest.is_empty() {
        return Some(format!("{blanks}{name}:\n{}", written(rest, value, column + 2)?));
    }
    Some(match value {
        Value::Object(table) if !table.is_empty() => {
            let mut text = format!("{blanks}{name}:\n");
            for (name, value) in table {
                text.push_str(&written(std::slice::from_ref(name), value, column + 2)?);
            }
            text
        }
        Value::Array(items) if !items.is_empty() => {
            let mut text = format!("{blanks}{name}:\n");
            for item in items {
                if item.is_object() || item.is_array() {
                    return None;
                }
                text.push_str(&format!("{blanks}- {}\n", scalar(item)));
            }
            text
        }
        _ => format!("{blanks}{name}: {}\n", scalar(value)),
    })
}

/// A value in one line. JSON is valid YAML.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => plain(text),
        _ => value.to_string(),
    }
}

/// A string, in quotes unless it can only be read as a string.
fn plain(text: &str) -> String {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '_');
    let harmless = text.chars().all(|c| c.is_ascii_alphanumeric() || "_/.-".contains(c));
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let word = words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if begins && harmless && !word { text.to_owned() } else { Value::from(text).to_string() }
}
