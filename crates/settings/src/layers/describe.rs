//! Describes a wrong value, and hints at the value that was probably meant.

use toml_edit::{Item, Value};

use crate::{
    DurationError,
    keys::{self, Key, Kind, TextsOf},
    parse_duration,
};

/// A value or table, for a sentence.
pub(super) fn describe(item: &Item) -> String {
    match item {
        Item::Value(value) => describe_value(value),
        Item::ArrayOfTables(_) => "a list of tables".to_owned(),
        Item::Table(_) | Item::None => "a table".to_owned(),
    }
}

/// The type of a value or table, for a sentence. For keys whose values may be secrets.
pub(super) fn describe_type(item: &Item) -> String {
    let name = match item {
        Item::Value(Value::String(_)) => "a string",
        Item::Value(Value::Integer(_) | Value::Float(_)) => "a number",
        Item::Value(Value::Boolean(_)) => "a switch",
        Item::Value(Value::Datetime(_)) => "a date",
        Item::Value(Value::Array(_)) => "a list",
        Item::ArrayOfTables(_) => "a list of tables",
        Item::Value(Value::InlineTable(_)) | Item::Table(_) | Item::None => "a table",
    };
    name.to_owned()
}

/// A value, for a sentence. Long strings are cut.
pub(super) fn describe_value(value: &Value) -> String {
    match value {
        Value::String(text) => describe_string(text.value()),
        Value::Integer(number) => format!("the whole number {}", number.value()),
        Value::Float(number) => format!("the number {}", number.value()),
        Value::Boolean(switch) => format!("`{}`", switch.value()),
        Value::Datetime(date) => format!("the date {}", date.value()),
        Value::Array(_) => "a list".to_owned(),
        Value::InlineTable(_) => "a table".to_owned(),
    }
}

pub(super) fn describe_string(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("the string {short:?}{more}")
}

/// How to correct a value that is not allowed.
pub(super) fn hint_for(key: &Key, item: &Item) -> Option<String> {
    match (&key.kind, item.as_str()) {
        (Kind::Word(slot), Some(found)) => {
            keys::nearest(found, slot.names.iter().copied()).map(keys::did_you_mean)
        }
        (Kind::Whole { .. }, Some(found)) => {
            let ms = match parse_duration(found) {
                Ok(ms) => ms,
                Err(DurationError::NoUnit { .. }) => return Some("write it without quotes".to_owned()),
                Err(DurationError::Shape { .. } | DurationError::Range { .. }) => return None,
            };
            if key.path.ends_with("_ms") {
                Some(format!("write it in milliseconds: {ms}"))
            } else {
                key.path.ends_with("_s").then(|| format!("write it in seconds: {}", ms.div_ceil(1000)))
            }
        }
        (Kind::Switch(_), Some("true" | "false")) => Some("write it without quotes".to_owned()),
        // The string may be a name and a secret.
        (Kind::Texts { of: TextsOf::VariableNames, .. }, Some(_)) => {
            Some("write it as a list: [\"NAME\"]".to_owned())
        }
        (
            Kind::Core | Kind::Exclude | Kind::Patterns(_) | Kind::Texts { .. } | Kind::Askers(_),
            Some(found),
        ) => Some(format!("write it as a list: [{found:?}]")),
        (Kind::Rules, None) if item.is_table_like() => {
            Some("write `[[policy.rule]]`, with two brackets".to_owned())
        }
        _ => None,
    }
}
