//! The notation as types: what a table holds, and how an option or operand in it is read.

use crate::effects::EffectRow;
use crate::form::ValueForm;
use crate::keys::Keys;
use crate::properties::Property;
use crate::ruin::RuinRow;
use crate::variables::Variable;
use crate::words::Words;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, mem};

/// All tables together.
#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) programs: Vec<Row>,
    pub(crate) groups: BTreeMap<String, Vec<String>>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) properties: Vec<Property>,
    pub(crate) keys: Vec<Keys>,
    pub(crate) effects: Vec<EffectRow>,
    pub(crate) ruin: Vec<RuinRow>,
    pub(crate) words: BTreeMap<String, Words>,
}

/// One file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    groups: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    program: Vec<Row>,
    #[serde(default)]
    variable: Vec<Variable>,
    #[serde(default)]
    property: Vec<Property>,
    #[serde(default)]
    keys: Vec<Keys>,
    #[serde(default)]
    effect: Vec<EffectRow>,
    #[serde(default)]
    ruin: Vec<RuinRow>,
    #[serde(default)]
    words: BTreeMap<String, Words>,
}

/// A program or subcommand as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Row {
    pub(crate) names: Vec<String>,
    #[serde(default)]
    pub(crate) versions: bool,
    pub(crate) kind: Option<String>,
    pub(crate) grammar: Option<String>,
    pub(crate) parsing: Option<String>,
    pub(crate) abbreviate: Option<bool>,
    pub(crate) negatable: Option<bool>,
    #[serde(default)]
    pub(crate) inherit: bool,
    pub(crate) open: Option<bool>,
    pub(crate) dashes: Option<bool>,
    #[serde(default)]
    pub(crate) options: Vec<String>,
    pub(crate) operands: Option<Vec<String>>,
    pub(crate) language: Option<String>,
    pub(crate) input: Option<String>,
    pub(crate) because: Option<String>,
    pub(crate) special: Option<String>,
    #[serde(default)]
    pub(crate) synonyms: Vec<String>,
    #[serde(default)]
    pub(crate) subcommand: Vec<Row>,
    /// Read by the tests, not by the build.
    #[expect(dead_code, reason = "here so that the key is known")]
    tests: Option<serde::de::IgnoredAny>,
}

/// An option as its string says.
#[derive(Clone)]
pub(crate) struct OptionText {
    pub(crate) names: Vec<String>,
    pub(crate) values: Vec<String>,
    pub(crate) takes: ValueForm,
    pub(crate) prints: bool,
    pub(crate) ends: bool,
    pub(crate) unusual: Option<String>,
}

/// An operand as its string says.
pub(crate) struct OperandText {
    pub(crate) role: String,
    pub(crate) required: bool,
    pub(crate) repeated: bool,
    pub(crate) unless: Vec<String>,
    pub(crate) only_if: Vec<String>,
    pub(crate) unusual: Option<String>,
}

impl Tables {
    /// Reads all files of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let mut tables = Self::default();
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
            files.push(entry.map_err(|e| format!("{}: {e}", folder.display()))?.path());
        }
        files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
        files.sort();
        for path in files {
            let name = path.display();
            let text = fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
            let mut file: File = toml_edit::de::from_str(&text).map_err(|e| format!("{name}: {e}"))?;
            for (group, list) in mem::take(&mut file.groups) {
                if tables.groups.insert(group.clone(), list).is_some() {
                    return Err(format!("{name}: the group {group} is in two places"));
                }
            }
            tables.programs.append(&mut file.program);
            for (list, words) in mem::take(&mut file.words) {
                if tables.words.insert(list.clone(), words).is_some() {
                    return Err(format!("{name}: the word list {list} is in two places"));
                }
            }
            tables.variables.append(&mut file.variable);
            tables.properties.append(&mut file.property);
            tables.keys.append(&mut file.keys);
            tables.effects.append(&mut file.effect);
            tables.ruin.append(&mut file.ruin);
        }
        Ok(tables)
    }

    /// The options of a row, with its groups put in.
    pub(crate) fn options(&self, list: &[String]) -> Result<Vec<OptionText>, String> {
        let mut all = Vec::new();
        for text in list {
            if let Some(group) = text.strip_prefix('@') {
                let list = self.groups.get(group).ok_or_else(|| format!("there is no group {group}"))?;
                all.append(&mut self.options(list)?);
            } else {
                all.push(OptionText::read(text)?);
            }
        }
        Ok(all)
    }
}

impl OptionText {
    fn read(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("option `{text}`: {why}");
        let (plain, unusual) = remark(text);
        let mut option = Self {
            names: Vec::new(),
            values: Vec::new(),
            takes: ValueForm::None,
            prints: false,
            ends: false,
            unusual,
        };
        for part in plain.split_whitespace() {
            if part == "[#]" {
                option.takes = ValueForm::Digits;
                continue;
            }
            let (inner, takes) = if let Some(role) = bracketed(part, '<', '>') {
                (role, ValueForm::Required)
            } else if let Some(role) = bracketed(part, '[', ']').and_then(|inner| inner.strip_prefix('=')) {
                (role, ValueForm::LongOptional)
            } else if let Some(role) = bracketed(part, '[', ']') {
                (role, ValueForm::Optional)
            } else if let Some(role) = part.strip_prefix('=') {
                (role, ValueForm::Glued)
            } else if part == "prints" {
                option.prints = true;
                continue;
            } else if part == "any" {
                option.takes = ValueForm::Any;
                continue;
            } else if part == "--" {
                option.ends = true;
                continue;
            } else if part.starts_with(['-', '+']) || part.ends_with('=') {
                option.names.push(part.to_owned());
                continue;
            } else {
                return Err(wrong(&format!("what is `{part}`?")));
            };
            option.takes = takes;
            option.values.push(inner.to_owned());
        }
        if option.names.is_empty() {
            return Err(wrong("it has no name"));
        }
        Ok(option)
    }
}

impl OperandText {
    /// Reads one operand.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("operand `{text}`: {why}");
        let (plain, unusual) = remark(text);
        let mut parts = plain.split_whitespace();
        let first = parts.next().ok_or_else(|| wrong("it is empty"))?;
        let (first, repeated) = first.strip_suffix("...").map_or((first, false), |first| (first, true));
        let (role, required) = bracketed(first, '<', '>')
            .map(|role| (role, true))
            .or_else(|| bracketed(first, '[', ']').map(|role| (role, false)))
            .ok_or_else(|| wrong("it should be `<role>` or `[role]`"))?;
        let mut operand = Self {
            role: role.to_owned(),
            required,
            repeated,
            unless: Vec::new(),
            only_if: Vec::new(),
            unusual,
        };
        let mut unless = None;
        for part in parts {
            match (part, unless) {
                ("unless", _) => unless = Some(true),
                ("if", _) => unless = Some(false),
                (name, Some(true)) => operand.unless.push(name.to_owned()),
                (name, Some(false)) => operand.only_if.push(name.to_owned()),
                (other, None) => return Err(wrong(&format!("what is `{other}`?"))),
            }
        }
        Ok(operand)
    }
}

/// A synonym as its string says: `-D is -d -f`, `+* is -f`, `-c key=* is -f`, `always is -f unless -n`.
pub(crate) struct SynonymText {
    /// The option, or empty if it is about operands.
    pub(crate) option: String,
    /// The pattern of the operand or of the option's value.
    pub(crate) pattern: String,
    /// The options that it stands for, by their first names.
    pub(crate) meant: Vec<String>,
    /// Options beside which it stands for nothing.
    pub(crate) unless: Vec<String>,
}

impl SynonymText {
    /// Reads one synonym. `options` are those of the entry.
    pub(crate) fn read(text: &str, options: &[OptionText]) -> Result<Self, String> {
        let wrong = |why: &str| format!("synonym `{text}`: {why}");
        let (left, right) = text.split_once(" is ").ok_or_else(|| wrong("it should be `… is …`"))?;
        let (right, unless) = right.split_once(" unless ").unwrap_or((right, ""));
        let names = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        let (meant, unless) = (names(right), names(unless));
        let is_first = |name: &String| {
            let positive = name.strip_prefix("--no-").map(|name| format!("--{name}"));
            options.iter().any(|option| {
                option.names.first() == Some(name)
                    || positive.as_ref().is_some_and(|name| option.names.first() == Some(name))
            })
        };
        if let Some(name) = meant.iter().chain(&unless).find(|name| !is_first(name)) {
            return Err(wrong(&format!("`{name}` is no option's first name")));
        }
        let (option, pattern) = match left.split_once(' ') {
            _ if !left.starts_with('-') => ("", left),
            Some((option, pattern)) => (option, pattern),
            None => (left, "*"),
        };
        Ok(Self { option: option.to_owned(), pattern: pattern.to_owned(), meant, unless })
    }
}

/// The text before ` ! `, and the remark behind it.
fn remark(text: &str) -> (&str, Option<String>) {
    text.split_once(" ! ").map_or((text, None), |(plain, why)| (plain, Some(why.trim().to_owned())))
}

fn bracketed(part: &str, open: char, close: char) -> Option<&str> {
    part.strip_prefix(open)?.strip_suffix(close)
}
