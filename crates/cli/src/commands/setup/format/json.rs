//! JSON as agents read it: with comments and trailing commas.

use std::ops::Range;

use jsonc_parser::ast::{self, Object};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, parse_to_ast, parse_to_serde_value};
use serde_json::{Map, Value};
use shellgate::settings::AGENTS_JSON as OPTIONS;

use super::{Broken, place};
use crate::commands::setup::step::{Act, Step};

pub(super) fn read(text: &str) -> Result<Value, Broken> {
    let value: Option<Value> = parse_to_serde_value(text, &OPTIONS).map_err(|error| {
        let (line, column) = place(text, error.range().start);
        Broken { line, column, message: error.kind().to_string() }
    })?;
    Ok(value.unwrap_or_else(|| Value::Object(Map::new())))
}

pub(super) fn apply(text: &str, step: &Step) -> Option<String> {
    let root = CstRootNode::parse(text, &OPTIONS).ok()?;
    let empty = root.value().is_none();
    let (last, tables) = step.path.split_last()?;
    match &step.act {
        Act::Set(value) => {
            let table = table(&root, tables)?;
            match table.get(last) {
                Some(property) => property.set_value(input(value)),
                None => drop(table.append(last, input(value))),
            }
        }
        Act::Add(item) => {
            let list = table(&root, tables)?.array_value_or_create(last)?;
            list.append(input(item));
        }
        Act::Unset | Act::Prune => {
            return cut(text, tables, |table| Some(table.get(last)?.range()));
        }
        Act::Drop(item) => {
            return cut(text, tables, |table| {
                let is_it = |element: &&ast::Value<'_>| {
                    text.get(range(element.range())).and_then(|text| read(text).ok()).as_ref() == Some(item)
                };
                Some(table.get_array(last)?.elements.iter().find(is_it)?.range())
            });
        }
    }
    let text = root.to_string();
    Some(if empty && !text.ends_with('\n') { format!("{text}\n") } else { text })
}

/// The table at a path. Missing tables are made.
fn table(root: &CstRootNode, path: &[String]) -> Option<CstObject> {
    path.iter().try_fold(root.object_value_or_create()?, |table, name| {
        let null = |node: CstNode| node.as_null_keyword().is_some();
        if table.get(name).and_then(|property| property.value()).is_some_and(null) {
            return Some(table.object_value_or_set(name));
        }
        table.object_value_or_create(name)
    })
}

fn range(range: jsonc_parser::common::Range) -> Range<usize> {
    range.start..range.end
}

/// Removes what `find` returns in the table at a path: the node, one comma, and lines that are empty then. The crate's own
/// removal would also remove comments beside it.
fn cut(
    text: &str,
    path: &[String],
    find: impl Fn(&Object<'_>) -> Option<jsonc_parser::common::Range>,
) -> Option<String> {
    let options = CollectOptions { tokens: true, ..CollectOptions::default() };
    let parsed = parse_to_ast(text, &options, &OPTIONS).ok()?;
    let root = parsed.value.as_ref()?.as_object()?;
    let table = path.iter().try_fold(root, |table, name| table.get_object(name))?;
    let thing = range(find(table)?);
    let commas = || parsed.tokens.iter().flatten().enumerate();
    // The comma after it, else the one before it.
    let next = commas().find(|(_, token)| token.range.start >= thing.end)?;
    let comma = match next {
        (_, token) if token.token == Token::Comma => Some(range(token.range)),
        _ => commas()
            .take_while(|(_, token)| token.range.end <= thing.start)
            .last()
            .filter(|(_, token)| token.token == Token::Comma)
            .map(|(_, token)| range(token.range)),
    };
    let mut cuts = vec![thing];
    cuts.extend(comma);
    // From the end, so that earlier offsets stay valid.
    cuts.sort_by_key(|cut| std::cmp::Reverse(cut.start));
    let mut text = text.to_owned();
    for cut in cuts {
        text.replace_range(whole_lines(&text, cut), "");
    }
    Some(text)
}

/// A range, extended to the whole line if the line would be empty without it.
fn whole_lines(text: &str, cut: Range<usize>) -> Range<usize> {
    let before = text.get(..cut.start).unwrap_or_default();
    let after = text.get(cut.end..).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let rest = after.find('\n').map_or(after.len(), |end| end + 1);
    let blank = |text: Option<&str>| text.unwrap_or_default().trim().is_empty();
    match blank(before.get(line..)) && blank(after.get(..rest)) && rest > 0 {
        true => line..cut.end + rest,
        false => cut,
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(bool) => CstInputValue::Bool(*bool),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(table) => {
            CstInputValue::Object(table.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
