//! Reading arguments by a table of fields.
//!
//! The rules are the same for every dialect:
//! - An unknown field is an error that names the nearest known field.
//! - A field that is given twice is an error, also if the second has another of its names.
//! - `null` counts as absent.
//! - The error for a wrong type names the field, the wanted type and the type found.

use std::collections::BTreeMap;

use super::field::{Field, Kind};
use super::json::Json;
use crate::ErrorObject;
use crate::settings::MAX_DURATION_MS;
use crate::settings::keys::{distance, nearest};

/// Fields that clients add to every call, and that we ignore.
const IGNORED_FIELDS: &[&str] = &[
    // Gemini CLI, to every tool.
    "wait_for_previous",
];

/// The arguments of a call, by the names of their fields.
#[derive(Debug)]
pub(crate) struct Arguments {
    fields: &'static [Field],
    values: BTreeMap<&'static str, Json>,
}

impl Arguments {
    /// Reads `text`, a JSON object with these fields.
    pub(crate) fn read(text: &str, fields: &'static [Field]) -> Result<Self, ErrorObject> {
        let json: Json = serde_json::from_str(text).map_err(|error| {
            ErrorObject::invalid(format!("the arguments are not JSON: {error}")).hint("send one JSON object")
        })?;
        let Json::Object(entries) = json else {
            let message = format!("the arguments are {}, not an object", json.kind());
            return Err(ErrorObject::invalid(message).hint("send one JSON object"));
        };
        let mut values: BTreeMap<&'static str, Json> = BTreeMap::new();
        let mut seen: BTreeMap<&'static str, String> = BTreeMap::new();
        for (key, value) in entries {
            if IGNORED_FIELDS.contains(&key.as_str()) {
                continue;
            }
            let field =
                fields.iter().find(|field| field.name == key || field.aliases.contains(&key.as_str()));
            let field = field.ok_or_else(|| unknown(&key, fields))?;
            if let Some(before) = seen.insert(field.name, key.clone()) {
                return Err(repeated(&key, &before));
            }
            if value != Json::Null {
                values.insert(field.name, value);
            }
        }
        let missing = fields.iter().find(|field| field.required && !values.contains_key(field.name));
        if let Some(field) = missing {
            return Err(ErrorObject::invalid(format!("`{}` is missing", field.name)).token(field.name));
        }
        Ok(Self { fields, values })
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, ErrorObject> {
        self.take(name, "a string", |value| match value {
            Json::Text(text) => Ok(text),
            other => Err(other),
        })
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, ErrorObject> {
        self.take(name, "a boolean", |value| match value {
            Json::Bool(flag) => Ok(flag),
            other => Err(other),
        })
    }

    /// A time in milliseconds, from 1 to the longest that a call may ask for.
    pub(crate) fn milliseconds(&mut self, name: &'static str) -> Result<Option<u64>, ErrorObject> {
        let number = self.take(name, "a whole number", |value| match value {
            Json::Whole(number) => Ok(number),
            other => Err(other),
        })?;
        let Some(number) = number else { return Ok(None) };
        match u64::try_from(number) {
            Ok(ms @ 1..=MAX_DURATION_MS) => Ok(Some(ms)),
            _ => Err(ErrorObject::invalid(format!("`{name}` is {number}, out of range"))
                .token(name)
                .hint(format!("use 1 to {MAX_DURATION_MS} milliseconds"))),
        }
    }

    pub(crate) fn number(&mut self, name: &'static str) -> Result<Option<u64>, ErrorObject> {
        let number = self.take(name, "a whole number", |value| match value {
            Json::Whole(number) => Ok(number),
            other => Err(other),
        })?;
        let Some(number) = number else { return Ok(None) };
        // Offsets in files are at most this large.
        let fits = |number: &u64| i64::try_from(*number).is_ok();
        u64::try_from(number).ok().filter(fits).map(Some).ok_or_else(|| {
            ErrorObject::invalid(format!("`{name}` is {number}, out of range"))
                .token(name)
                .hint("use 0 or more")
        })
    }

    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Option<Vec<String>>, ErrorObject> {
        let list = self.take(name, "a list of strings", |value| match value {
            Json::List(list) => Ok(list),
            other => Err(other),
        })?;
        let Some(list) = list else { return Ok(None) };
        let texts = list.into_iter().enumerate().map(|(at, value)| match value {
            Json::Text(text) => Ok(text),
            other => Err(wrong_type(&format!("{name}[{at}]"), "a string", &other)),
        });
        texts.collect::<Result<_, _>>().map(Some)
    }

    /// Variables: an object, or a list of `{"name", "value"}`. Some APIs can't declare an object with arbitrary keys.
    pub(crate) fn variables(&mut self, name: &'static str) -> Result<BTreeMap<String, String>, ErrorObject> {
        let given = self.take(name, "an object of strings", |value| match value {
            Json::Object(_) | Json::List(_) => Ok(value),
            other => Err(other),
        })?;
        let entries = match given {
            Some(Json::Object(entries)) => entries,
            Some(Json::List(pairs)) => {
                let pairs = pairs.into_iter().enumerate();
                pairs.map(|(at, pair)| variable(&format!("{name}[{at}]"), pair)).collect::<Result<_, _>>()?
            }
            _ => Vec::new(),
        };
        let mut variables = BTreeMap::new();
        for (key, value) in entries {
            let Json::Text(value) = value else {
                return Err(wrong_type(&format!("{name}.{key}"), "a string", &value));
            };
            if variables.insert(key.clone(), value).is_some() {
                return Err(repeated(&format!("{name}.{key}"), &format!("{name}.{key}")));
            }
        }
        Ok(variables)
    }

    /// One of the words that the table lists for this field.
    pub(crate) fn word(&mut self, name: &'static str) -> Result<Option<&'static str>, ErrorObject> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let words = self.fields.iter().find(|field| field.name == name).map(|field| field.kind);
        let Some(Kind::OneOf(words)) = words else { return Ok(None) };
        let known = words.iter().copied().find(|word| *word == text);
        known.map(Some).ok_or_else(|| {
            let list = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
            ErrorObject::invalid(format!("`{name}` is {text:?}")).token(text).hint(format!("use {list}"))
        })
    }

    fn take<T>(
        &mut self,
        name: &'static str,
        wanted: &str,
        convert: impl FnOnce(Json) -> Result<T, Json>,
    ) -> Result<Option<T>, ErrorObject> {
        let Some(value) = self.values.remove(name) else { return Ok(None) };
        convert(value).map(Some).map_err(|seen| wrong_type(name, wanted, &seen))
    }
}

/// A name and its value, from an object with exactly these two keys.
fn variable(at: &str, pair: Json) -> Result<(String, Json), ErrorObject> {
    const WANTED: &str = "an object with `name` and `value`";
    let Json::Object(mut entries) = pair else { return Err(wrong_type(at, WANTED, &pair)) };
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    match <[_; 2]>::try_from(entries) {
        Ok([(first, Json::Text(name)), (second, value)]) if first == "name" && second == "value" => {
            Ok((name, value))
        }
        _ => Err(ErrorObject::invalid(format!("`{at}` must be {WANTED}")).token(at)),
    }
}

fn wrong_type(field: &str, wanted: &str, seen: &Json) -> ErrorObject {
    let seen = match seen {
        Json::Fraction(_) => "a fraction",
        other => other.kind(),
    };
    ErrorObject::invalid(format!("`{field}` must be {wanted}, not {seen}")).token(field)
}

fn unknown(key: &str, fields: &[Field]) -> ErrorObject {
    let error = ErrorObject::invalid(format!("there is no field `{key}`")).token(key);
    let known = || fields.iter().map(|field| field.name);
    if let Some(name) = nearest(key, known()) {
        return error.hint(format!("did you mean `{name}`?"));
    }
    // Computing the distance takes longer for long keys, and a key may have any length.
    let start: String = key.chars().take(64).collect();
    match known().min_by_key(|name| distance(&start, name)) {
        Some(name) => error.hint(format!("the nearest is `{name}`; the fields are {}", names(fields))),
        None => error,
    }
}

fn names(fields: &[Field]) -> String {
    fields.iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ")
}

fn repeated(key: &str, before: &str) -> ErrorObject {
    let message = if key == before {
        format!("`{key}` is given twice")
    } else {
        format!("`{key}` and `{before}` are the same field")
    };
    ErrorObject::invalid(message).token(key).hint("give it once")
}
