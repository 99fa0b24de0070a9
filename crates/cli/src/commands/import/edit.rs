//! Adds imported rules to a settings file. What is there stays; a key that has a value keeps it.

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value, value};

use super::rules::{Ending, ListedRule, Lists};

/// A key that the file sets already, and that keeps its value.
pub(super) type Kept = &'static str;

/// The settings with the lists and values. `None` when the file has something else where they belong.
pub(super) fn with_rules(
    mut document: DocumentMut,
    lists: &Lists,
    values: &[(&'static str, Value)],
) -> Option<(DocumentMut, Vec<Kept>)> {
    let mut kept = Vec::new();
    let preset = lists.preset.map(|preset| ("policy.preset", Value::from(preset)));
    for (path, new) in preset.iter().chain(values) {
        let (section, key) = path.split_once('.')?;
        let table = table(&mut document, section)?;
        match table.get(key).and_then(Item::as_value) {
            Some(old) if same(old, new) => {}
            Some(_) => kept.push(*path),
            None => drop(table.insert(key, value(new.clone()))),
        }
    }
    let all = [
        ("core", &lists.core),
        ("exclude", &lists.exclude),
        ("allow", &lists.allow),
        ("ask", &lists.ask),
        ("deny", &lists.deny),
    ];
    for (key, entries) in all.into_iter().filter(|(_, entries)| !entries.is_empty()) {
        let policy = table(&mut document, "policy")?;
        let list = policy.entry(key).or_insert_with(|| value(Array::new())).as_array_mut()?;
        extend(list, entries);
    }
    if !lists.listed.is_empty() {
        let policy = document.entry("policy").or_insert_with(implicit);
        let in_one_line = policy.is_inline_table() || policy.as_table().is_some_and(Table::is_dotted);
        let rules = policy.as_table_like_mut()?.entry("rule").or_insert_with(|| match in_one_line {
            true => value(Array::new()),
            false => Item::ArrayOfTables(ArrayOfTables::new()),
        });
        for rule in &lists.listed {
            match rules {
                Item::ArrayOfTables(rules) if rules.iter().any(|known| same_rule(known, rule)) => {}
                Item::ArrayOfTables(rules) => rules.push(table_of(rule)),
                Item::Value(Value::Array(rules)) => {
                    let is_same =
                        |known: &Value| known.as_inline_table().is_some_and(|one| same_rule(one, rule));
                    let is_known = rules.iter().any(is_same);
                    if !is_known {
                        rules.push(table_of(rule).into_inline_table());
                    }
                }
                _ => return None,
            }
        }
    }
    Some((document, kept))
}

fn table<'a>(document: &'a mut DocumentMut, name: &str) -> Option<&'a mut dyn TableLike> {
    document.entry(name).or_insert_with(|| Item::Table(Table::new())).as_table_like_mut()
}

fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// Adds entries that the list doesn't have yet, each in a line of its own if the list is new or written so.
fn extend(list: &mut Array, entries: &[String]) {
    let has = |entry: &&String| list.iter().any(|known| known.as_str() == Some(entry));
    let new: Vec<&String> = entries.iter().filter(|entry| !has(entry)).collect();
    let end = list.trailing().as_str().unwrap_or_default().trim_end().to_owned();
    let is_in_lines = list.trailing().as_str().is_some_and(|end| end.contains('\n'));
    let in_lines = is_in_lines || list.is_empty() && new.len() > 1;
    for (entry, nth) in new.iter().zip(0..) {
        let mut value = Value::from(entry.as_str());
        if !in_lines {
            list.push(value);
            continue;
        }
        // A comment after the last entry is in front of the first new one.
        let comment = if nth == 0 { end.as_str() } else { "" };
        value.decor_mut().set_prefix(format!("{comment}\n  "));
        list.push_formatted(value);
    }
    if in_lines && !new.is_empty() {
        list.set_trailing_comma(true);
        list.set_trailing("\n");
    }
}

/// The lines of a rule with a list of words.
fn table_of(rule: &ListedRule) -> Table {
    let mut table = Table::new();
    table.insert("prefix", value(rule.words.iter().collect::<Array>()));
    if rule.ending == Ending::Exact {
        let longer = format!("{} *", rule.words.join(" "));
        table.insert("except", value(std::iter::once(longer).collect::<Array>()));
    }
    table.insert("decision", value(rule.decision.name()));
    table
}

/// Whether a rule of the file is this one, and nothing more is said in it.
fn same_rule(known: &dyn TableLike, rule: &ListedRule) -> bool {
    let new = table_of(rule);
    let is_same = |(key, item): (&str, &Item)| match (item.as_value(), new.get(key).and_then(Item::as_value))
    {
        (Some(old), Some(new)) => same(old, new),
        _ => false,
    };
    known.len() == new.len() && known.iter().all(is_same)
}

fn same(one: &Value, other: &Value) -> bool {
    let plain = |value: &Value| {
        let mut value = value.clone();
        value.decor_mut().clear();
        value.to_string()
    };
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::import::rules::Decision;

    fn lists() -> Lists {
        let words = |text: &[&str]| text.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        Lists {
            preset: Some("open"),
            allow: words(&["git log", "ls"]),
            deny: words(&["rm"]),
            listed: vec![ListedRule {
                words: words(&["npm", "test"]),
                decision: Decision::Allow,
                ending: Ending::Exact,
            }],
            ..Lists::default()
        }
    }

    fn edited(text: &str) -> (String, Vec<Kept>) {
        let (document, kept) =
            with_rules(text.parse().unwrap(), &lists(), &[("sandbox.mode", "strict".into())]).unwrap();
        (document.to_string(), kept)
    }

    #[test]
    fn an_empty_file() {
        insta::assert_snapshot!(edited("").0, @r#"
        [policy]
        preset = "open"
        allow = [
          "git log",
          "ls",
        ]
        deny = ["rm"]

        [[policy.rule]]
        prefix = ["npm", "test"]
        except = ["npm test *"]
        decision = "allow"

        [sandbox]
        mode = "strict"
        "#);
    }

    #[test]
    fn what_is_there_stays_and_a_second_time_changes_nothing() {
        let before = "# mine\n[policy]\npreset = \"cautious\"  # careful\nallow = [\n  \"ls\",  # always\n]\n\n[limits]\ntimeout_ms = 5\n";
        let (after, kept) = edited(before);
        assert_eq!(kept, ["policy.preset"]);
        for line in before.lines().filter(|line| !line.is_empty()) {
            assert!(after.contains(line), "{line}: {after}");
        }
        assert_eq!(after.matches("\"ls\"").count(), 1, "{after}");
        assert_eq!(edited(&after).0, after);
    }

    #[test]
    fn tables_in_one_line_are_edited_and_other_things_are_refused() {
        let (after, _) = edited("policy = { allow = [\"x\"] }\n");
        let document: DocumentMut = after.parse().unwrap();
        assert_eq!(document["policy"]["allow"].as_array().unwrap().len(), 3, "{after}");
        assert_eq!(edited(&after).0, after, "a second time changes nothing");
        assert!(with_rules("policy = 5\n".parse().unwrap(), &lists(), &[]).is_none());
        assert!(with_rules("[policy]\nallow = 5\n".parse().unwrap(), &lists(), &[]).is_none());
    }
}
