//! One step of a change: sets, adds or removes something at a path in a settings file.
//!
//! A step is applied to the text of a file (`format`) and to its values (here). If the results differ, nothing is written.
//! The steps that undo a step are computed before it is applied.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An action and the path it applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) path: Vec<String>,
    pub(crate) act: Act,
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Act {
    /// Sets this value. Missing tables on the path are made.
    Set(Value),
    /// Adds this item to a list. A missing list and missing tables on the path are made.
    Add(Value),
    /// Removes the value.
    Unset,
    /// Removes this item from a list.
    Drop(Value),
    /// Removes the value if it is empty.
    Prune,
}

/// The value at this path is not a table, so nothing can be put into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotATable(pub(crate) String);

impl Step {
    pub(crate) fn new<S: AsRef<str>>(path: impl IntoIterator<Item = S>, act: Act) -> Self {
        Self { path: path.into_iter().map(|name| name.as_ref().to_owned()).collect(), act }
    }

    /// Whether the step would change these values.
    pub(crate) fn would_change(&self, values: &Value) -> bool {
        let there = get(values, &self.path);
        match &self.act {
            Act::Set(value) => there != Some(value),
            Act::Add(item) => !there.and_then(Value::as_array).is_some_and(|list| list.contains(item)),
            Act::Unset => there.is_some(),
            Act::Drop(item) => there.and_then(Value::as_array).is_some_and(|list| list.contains(item)),
            Act::Prune => there.is_some_and(is_empty),
        }
    }

    /// Applies the step to values.
    pub(crate) fn apply_to(&self, values: &mut Value) -> Result<(), NotATable> {
        let Some((last, tables)) = self.path.split_last() else { return Ok(()) };
        let making = matches!(self.act, Act::Set(_) | Act::Add(_));
        let mut table = values;
        for (depth, name) in tables.iter().enumerate() {
            let inner = as_table(table, &self.path, depth)?;
            if !making && !inner.contains_key(name) {
                return Ok(());
            }
            table = inner.entry(name).or_insert(Value::Null);
            // In YAML, a key without a value is an empty table.
            if making && table.is_null() {
                *table = Value::Object(Map::new());
            }
        }
        let table = as_table(table, &self.path, tables.len())?;
        match &self.act {
            Act::Set(value) => drop(table.insert(last.clone(), value.clone())),
            Act::Unset | Act::Prune => drop(table.shift_remove(last)),
            Act::Add(item) => match table.entry(last).or_insert_with(|| Value::Array(Vec::new())) {
                Value::Array(list) => list.push(item.clone()),
                _ => return Err(NotATable(self.path.join("."))),
            },
            Act::Drop(item) => {
                if let Some(Value::Array(list)) = table.get_mut(last) {
                    list.retain(|other| other != item);
                }
            }
        }
        Ok(())
    }

    /// The steps that undo this one after it is applied to these values.
    pub(crate) fn inverse(&self, values: &Value) -> Vec<Self> {
        let there = get(values, &self.path);
        let first = match &self.act {
            Act::Set(_) => there.map_or(Act::Unset, |was| Act::Set(was.clone())),
            Act::Add(item) => Act::Drop(item.clone()),
            // Undoing is not undone.
            Act::Unset | Act::Drop(_) | Act::Prune => return Vec::new(),
        };
        let mut steps = vec![Self::new(&self.path, first)];
        let made = (1..=self.path.len()).filter_map(|depth| self.path.get(..depth));
        let mut made: Vec<&[String]> = made.filter(|path| get(values, path).is_none()).collect();
        if matches!(self.act, Act::Set(_)) {
            made.pop();
        }
        steps.extend(made.into_iter().rev().map(|path| Self::new(path, Act::Prune)));
        steps
    }
}

/// The value at a path.
pub(crate) fn get<'a>(values: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(values, |table, name| table.get(name.as_str()))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(table) => table.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn as_table<'a>(
    value: &'a mut Value,
    path: &[String],
    depth: usize,
) -> Result<&'a mut Map<String, Value>, NotATable> {
    match value {
        Value::Object(table) => Ok(table),
        _ => Err(NotATable(path.get(..depth).unwrap_or_default().join("."))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_back_lead_back() {
        for before in [
            json!({}),
            json!({"a": {}}),
            json!({"a": {"b": [1]}}),
            json!({"a": {"b": {"old": 1}, "c": 2}}),
            json!({"a": {"b": []}}),
        ] {
            for act in [Act::Set(json!({"new": true})), Act::Add(json!("x"))] {
                let step = Step::new(["a", "b"], act);
                let mut values = before.clone();
                let back = step.inverse(&values);
                if step.apply_to(&mut values).is_err() {
                    continue;
                }
                assert!(!step.would_change(&values), "{values}");
                for step in back {
                    if step.would_change(&values) {
                        step.apply_to(&mut values).unwrap();
                    }
                }
                assert_eq!(values, before, "{step:?}");
            }
        }
    }

    #[test]
    fn entries_beside_ours_stay() {
        let mut values = json!({});
        let step = Step::new(["servers", "ours"], Act::Set(json!(1)));
        let back = step.inverse(&values);
        step.apply_to(&mut values).unwrap();
        values["servers"]["theirs"] = json!(2);
        for step in &back {
            if step.would_change(&values) {
                step.apply_to(&mut values).unwrap();
            }
        }
        assert_eq!(values, json!({"servers": {"theirs": 2}}));
    }

    #[test]
    fn the_error_names_the_value_that_is_not_a_table() {
        let step = Step::new(["a", "b", "c"], Act::Set(json!(1)));
        assert_eq!(step.apply_to(&mut json!({"a": {"b": 5}})), Err(NotATable("a.b".to_owned())));
        assert_eq!(step.apply_to(&mut json!([])), Err(NotATable(String::new())));
    }
}
