//! TOML, edited with `toml_edit`.

use serde_json::{Map, Value, json};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use super::{Broken, place};
use crate::commands::setup::step::{Act, Step};

/// Key of a placeholder for a TOML value that JSON lacks, with its text. No setting has such a key.
const FOREIGN: &str = "\0toml";

pub(super) fn read(text: &str) -> Result<Value, Broken> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let (line, column) = place(text, error.span().map_or(0, |span| span.start));
        Broken { line, column, message: error.message().lines().collect::<Vec<_>>().join(", ") }
    })?;
    Ok(table_values(document.as_table()))
}

fn table_values(table: &dyn TableLike) -> Value {
    let mut values = Map::new();
    for (name, item) in table.iter() {
        let value = match item {
            Item::None => continue,
            Item::Value(value) => value_values(value),
            Item::Table(table) => table_values(table),
            Item::ArrayOfTables(tables) => {
                Value::Array(tables.iter().map(|table| table_values(table)).collect())
            }
        };
        values.insert(name.to_owned(), value);
    }
    Value::Object(values)
}

fn value_values(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(bool) => Value::from(*bool.value()),
        toml_edit::Value::Array(items) => Value::Array(items.iter().map(value_values).collect()),
        toml_edit::Value::InlineTable(table) => table_values(table),
        toml_edit::Value::Float(float) => json!({FOREIGN: float.value().to_string()}),
        toml_edit::Value::Datetime(time) => json!({FOREIGN: time.value().to_string()}),
    }
}

/// The values without empty tables.
pub(super) fn without_empty(values: &Value) -> Value {
    let Value::Object(table) = values else { return values.clone() };
    let inner = table.iter().map(|(name, value)| (name.clone(), without_empty(value)));
    Value::Object(inner.filter(|(_, value)| !value.as_object().is_some_and(Map::is_empty)).collect())
}

pub(super) fn apply(text: &str, step: &Step) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let (last, tables) = step.path.split_last()?;
    let making = matches!(step.act, Act::Set(_) | Act::Add(_));
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let mut inline = false;
    for name in tables {
        if !table.contains_key(name) {
            if !making {
                return None;
            }
            table.insert(name, if inline { inline_table() } else { implicit_table() });
        }
        let item = table.get_mut(name)?;
        inline |= !item.is_table();
        table = item.as_table_like_mut()?;
    }
    match &step.act {
        Act::Set(value) => match table.get_mut(last).and_then(Item::as_value_mut) {
            // The comment after the value stays.
            Some(there) => {
                let decor = there.decor().clone();
                *there = written(value)?;
                *there.decor_mut() = decor;
            }
            None => drop(table.insert(last, item(value, inline)?)),
        },
        Act::Add(item) => {
            if !table.contains_key(last) {
                table.insert(last, Item::Value(toml_edit::Value::Array(Array::new())));
            }
            table.get_mut(last)?.as_array_mut()?.push(written(item)?);
        }
        // An implicit table vanishes with the last table in it.
        Act::Unset | Act::Prune => drop(table.remove(last)),
        Act::Drop(item) => {
            let list = table.get_mut(last)?.as_array_mut()?;
            let at = list.iter().position(|other| value_values(other) == *item)?;
            list.remove(at);
        }
    }
    Some(document.to_string())
}

/// A table without a line of its own, for the tables in it.
fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn inline_table() -> Item {
    Item::Value(toml_edit::Value::InlineTable(InlineTable::new()))
}

/// A value as an item of a table. A table gets lines of its own, unless its parent is written in one line.
fn item(value: &Value, inline: bool) -> Option<Item> {
    match value {
        Value::Object(values) if !inline && !values.contains_key(FOREIGN) => {
            let mut table = Table::new();
            for (name, value) in values {
                table.insert(name, item(value, true)?);
            }
            Some(Item::Table(table))
        }
        _ => Some(Item::Value(written(value)?)),
    }
}

fn written(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(bool) => (*bool).into(),
        Value::Number(number) => number.as_i64()?.into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(written).collect::<Option<Array>>()?.into(),
        Value::Object(values) if values.contains_key(FOREIGN) => {
            values.get(FOREIGN)?.as_str()?.parse().ok()?
        }
        Value::Object(values) => {
            let mut table = InlineTable::new();
            for (name, value) in values {
                table.insert(name, written(value)?);
            }
            table.into()
        }
    })
}
