//! Reads `[[policy.rule]]`.

use toml_edit::{Item, Key as TomlKey, TableLike, Value};

use super::{
    describe::describe_value,
    toml::{Reader, entries, start_of},
};
use crate::prefix;
use crate::{
    Decision, Grants, Prefix, Problem, Rule, SettingsError,
    keys::{self, Key},
    words::Choices,
};

const RULE_PATH: &str = "policy.rule";
const RULE_KEYS: &[&str] = &["prefix", "exact", "decision", "reason", "grants"];
const GRANTS_PATH: &str = "policy.rule.grants";
const GRANTS_KEYS: &[&str] = &["network", "read", "write", "env", "sockets"];

/// Reads the rules of a file, written as `[[policy.rule]]` or as a list of inline tables.
pub(super) fn read(
    reader: &Reader<'_>,
    key: &Key,
    at: &TomlKey,
    item: &Item,
) -> Result<Vec<Rule>, SettingsError> {
    if let Some(tables) = item.as_array_of_tables() {
        let offset =
            |table: &toml_edit::Table| table.span().map_or_else(|| start_of(item, at), |span| span.start);
        return tables.iter().map(|table| rule(reader, table, offset(table))).collect();
    }
    let Some(array) = item.as_array() else {
        return Err(reader.not_wanted(key, at, item));
    };
    let read = |value: &Value| {
        let offset = value.span().map_or_else(|| start_of(item, at), |span| span.start);
        match value.as_inline_table() {
            Some(table) => rule(reader, table, offset),
            None => Err(reader.wanted_at(
                offset,
                RULE_PATH,
                &key.wanted(),
                format!("{} in it", describe_value(value)),
            )),
        }
    };
    array.iter().map(read).collect()
}

fn rule(reader: &Reader<'_>, table: &dyn TableLike, offset: usize) -> Result<Rule, SettingsError> {
    let origin = reader.text.origin(offset);
    let (mut prefix, mut decision, mut reason, mut grants) = (None, None, None, Grants::default());
    let mut exact = None;
    for (key, item) in entries(table) {
        let path = format!("{RULE_PATH}.{}", key.get());
        match key.get() {
            "prefix" => prefix = Some(read_prefix(reader, &path, key, item)?),
            "exact" => {
                let wanted = || reader.wanted(item, key, &path, "`true` or `false`");
                exact = item.as_bool().ok_or_else(wanted)?.then_some((key, item));
            }
            "decision" => {
                let found = item.as_str().and_then(Decision::from_name);
                let wanted =
                    || reader.wanted(item, key, &path, &format!("one of {}", Choices(Decision::NAMES)));
                decision = Some(found.ok_or_else(wanted)?);
            }
            "reason" => {
                let found = item.as_str().ok_or_else(|| reader.wanted(item, key, &path, "a string"))?;
                reason = Some(found.to_owned());
            }
            "grants" => grants = read_grants(reader, key, item)?,
            _ => return Err(unknown(reader, RULE_PATH, RULE_KEYS, key)),
        }
    }
    let missing = |name: &str, example: &str| {
        let problem = Problem::MissingKey {
            path: format!("{RULE_PATH}.{name}"),
            hint: format!("a rule needs a prefix and a decision: add `{name} = {example}`"),
        };
        reader.text.error(offset, problem)
    };
    let prefix = prefix.ok_or_else(|| missing("prefix", r#"["git", "push"]"#))?;
    let decision = decision.ok_or_else(|| missing("decision", r#""ask""#))?;
    Ok(Rule {
        prefix: match (exact, prefix) {
            // A rule that asks or denies must cover longer commands too: one more word would get around it.
            (Some((key, item)), _) if decision != Decision::Allow => {
                let path = format!("{RULE_PATH}.exact");
                return Err(reader.wanted(item, key, &path, "`false` where the decision isn't `allow`"));
            }
            (Some((key, item)), Prefix::Everything) => {
                let path = format!("{RULE_PATH}.exact");
                return Err(reader.wanted(item, key, &path, "`false` where the prefix is every command"));
            }
            (Some(_), Prefix::Words(words)) => Prefix::Exactly(words),
            (_, prefix) => prefix,
        },
        decision,
        reason,
        grants,
        origin,
    })
}

/// Reads a prefix: a list of words, or a string whose spaces separate words, as in `core`.
fn read_prefix(reader: &Reader<'_>, path: &str, key: &TomlKey, item: &Item) -> Result<Prefix, SettingsError> {
    let prefix = match item.as_str() {
        Some(text) => prefix::parse(text),
        None => prefix::from_words(strings(reader, path, key, item)?),
    };
    prefix.map_err(|error| reader.text.error(start_of(item, key), error.into()))
}

fn read_grants(reader: &Reader<'_>, at: &TomlKey, item: &Item) -> Result<Grants, SettingsError> {
    let Some(table) = item.as_table_like() else {
        return Err(reader.wanted(item, at, GRANTS_PATH, "a table"));
    };
    let mut grants = Grants::default();
    for (key, item) in entries(table) {
        let path = format!("{GRANTS_PATH}.{}", key.get());
        let list = || strings(reader, &path, key, item);
        match key.get() {
            "network" => {
                let wanted = || reader.wanted(item, key, &path, "`true` or `false`");
                grants.network = item.as_bool().ok_or_else(wanted)?;
            }
            "read" => grants.read = list()?,
            "write" => grants.write = list()?,
            "env" => grants.env = list()?,
            "sockets" => grants.sockets = list()?,
            _ => return Err(unknown(reader, GRANTS_PATH, GRANTS_KEYS, key)),
        }
    }
    Ok(grants)
}

fn strings(
    reader: &Reader<'_>,
    path: &str,
    key: &TomlKey,
    item: &Item,
) -> Result<Vec<String>, SettingsError> {
    const WANTED: &str = "a list of non-empty strings";
    let array = item.as_array().ok_or_else(|| reader.wanted(item, key, path, WANTED))?;
    let read = |value: &Value| match value.as_str() {
        Some(text) if !text.is_empty() && !text.contains('\0') => Ok(text.to_owned()),
        _ => {
            let offset = value.span().map_or_else(|| start_of(item, key), |span| span.start);
            Err(reader.wanted_at(offset, path, WANTED, format!("{} in it", describe_value(value))))
        }
    };
    array.iter().map(read).collect()
}

fn unknown(reader: &Reader<'_>, table: &str, names: &[&str], key: &TomlKey) -> SettingsError {
    let hint = match keys::nearest(key.get(), names.iter().copied()) {
        Some(name) => keys::did_you_mean(&format!("{table}.{name}")),
        None => format!("{table} has {}", Choices(names)),
    };
    let path = format!("{table}.{}", key.get());
    let offset = key.span().map_or(0, |span| span.start);
    reader.text.error(offset, Problem::UnknownKey { path, hint })
}
