//! Reads shellgate's own settings files: TOML, checked against the table of keys.

use std::{collections::BTreeMap, path::Path};

use toml_edit::{Document, Item, Key as TomlKey, TableLike, Value};

use super::{
    change::{Change, Layer, NewValue},
    describe::{describe, describe_type, describe_value, hint_for},
    rules,
    text::Text,
};
use crate::pattern;
use crate::{
    Asker, PatternError, Prefix, Problem, SettingsError, Sourced, Word,
    keys::{self, Key, Kind, TextsOf},
};

/// The folders that paths in a file may begin with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folders<'a> {
    /// The folder that `~` stands for.
    pub(super) home: Option<&'a Path>,
    /// The folder of a project's file, from which relative paths start. Other files have no relative paths.
    pub(super) project: Option<&'a Path>,
}

/// Reads the changes of a file. Fails at the first mistake.
pub(super) fn read(text: &Text, folders: Folders<'_>) -> Result<Layer, SettingsError> {
    let document = Document::parse(text.as_str()).map_err(|error| {
        let offset = error.span().map_or(text.as_str().len(), |span| span.start);
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        let hint =
            text.as_str().trim_start().starts_with('{').then_some("another agent's file must end in `.json`");
        text.error(offset, Problem::Syntax { language: "TOML", message, hint })
    })?;
    let reader = Reader { text, folders };
    let mut layer = Layer::new();
    for (name, section) in entries(document.as_table()) {
        reader.section(name, section, &mut layer)?;
    }
    Ok(layer)
}

/// The keys and values of a table, in the order of the file.
pub(super) fn entries(table: &dyn TableLike) -> impl Iterator<Item = (&TomlKey, &Item)> {
    table.iter().filter_map(|(name, _)| table.get_key_value(name))
}

/// Reads the values of one file, and makes the errors.
pub(super) struct Reader<'a> {
    pub(super) text: &'a Text,
    folders: Folders<'a>,
}

impl Reader<'_> {
    fn section(&self, name: &TomlKey, section: &Item, layer: &mut Layer) -> Result<(), SettingsError> {
        let known = keys::sections();
        if !known.contains(&name.get()) {
            return Err(self.unknown_section(name, section));
        }
        let Some(table) = section.as_table_like() else {
            return Err(self.wanted(section, name, name.get(), "a section"));
        };
        for (key, item) in entries(table) {
            let path = format!("{}.{}", name.get(), key.get());
            let Some(known) = keys::find(&path) else {
                let hint = keys::key_hint(name.get(), key.get());
                return Err(self.text.error(start(key), Problem::UnknownKey { path, hint }));
            };
            let value = self.value(known, key, item)?;
            layer.push(Change { key: known, origin: self.text.origin(start(key)), value });
        }
        Ok(())
    }

    fn unknown_section(&self, name: &TomlKey, section: &Item) -> SettingsError {
        let problem = if section.is_table_like() || section.is_array_of_tables() {
            Problem::UnknownSection { name: name.get().to_owned(), hint: keys::section_hint(name.get()) }
        } else {
            Problem::UnknownKey { path: name.get().to_owned(), hint: keys::key_hint("", name.get()) }
        };
        self.text.error(start(name), problem)
    }

    fn value(&self, key: &'static Key, at: &TomlKey, item: &Item) -> Result<NewValue, SettingsError> {
        let fail = || self.not_wanted(key, at, item);
        match &key.kind {
            Kind::Switch(slot) => item.as_bool().map(|value| NewValue::Switch(slot, value)).ok_or_else(fail),
            Kind::Whole { slot, min, max } => {
                let number = item.as_integer().and_then(|number| u64::try_from(number).ok());
                let number = number.filter(|number| (*min..=*max).contains(number));
                number.map(|number| NewValue::Whole(slot, number)).ok_or_else(fail)
            }
            Kind::Word(slot) => {
                let found = item.as_str().and_then(|found| slot.names.iter().find(|name| **name == found));
                found.map(|name| NewValue::Word(slot, name)).ok_or_else(fail)
            }
            Kind::Folder(slot) => {
                let folder = item.as_str().filter(|folder| !folder.contains('\0')).ok_or_else(fail)?;
                let below_home = folder.strip_prefix("~/").or((folder == "~").then_some(""));
                let folder = match (folder, below_home) {
                    ("", _) => None,
                    (_, Some(rest)) => {
                        let no_home = || Problem::NoHome { path: key.path.to_owned() };
                        Some(
                            self.folders
                                .home
                                .ok_or_else(|| self.text.error(start_of(item, at), no_home()))?
                                .join(rest),
                        )
                    }
                    (absolute, None) if absolute.starts_with('/') => Some(absolute.into()),
                    (relative, None) => Some(self.folders.project.ok_or_else(fail)?.join(relative)),
                };
                Ok(NewValue::Folder(slot, folder))
            }
            Kind::Texts { slot, of } => {
                let check = |text: &str| is_text(text, *of).then(|| text.to_owned());
                Ok(NewValue::Texts(slot, self.list(key, at, item, check)?))
            }
            Kind::Askers(slot) => Ok(NewValue::Askers(slot, self.list(key, at, item, Asker::from_name)?)),
            Kind::Variables(slot) => Ok(NewValue::Variables(slot, self.variables(key, at, item)?)),
            Kind::Core => {
                let prefixes = self.prefixes(key, at, item)?;
                // An empty list counts as no list. A list that allows nothing can only come from another agent's file.
                Ok(NewValue::Core((!prefixes.is_empty()).then_some(prefixes)))
            }
            Kind::Exclude => Ok(NewValue::Exclude(self.prefixes(key, at, item)?)),
            Kind::Patterns(slot) => {
                Ok(NewValue::Patterns(slot, self.entries(key, at, item, pattern::parse)?))
            }
            Kind::Rules => {
                let (rules, by_effect) = rules::read(self, key, at, item)?;
                Ok(NewValue::Rules(rules, by_effect))
            }
        }
    }

    /// Reads a list of strings. `read` must accept each of them.
    fn list<T>(
        &self,
        key: &Key,
        at: &TomlKey,
        item: &Item,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<Sourced<T>>, SettingsError> {
        let array = item.as_array().ok_or_else(|| self.not_wanted(key, at, item))?;
        let read = |value: &Value| {
            let offset = value.span().map_or(0, |span| span.start);
            match value.as_str().and_then(&read) {
                Some(entry) => Ok(Sourced::new(entry, self.text.origin(offset))),
                None => Err(self.wanted_at(
                    offset,
                    key.path,
                    &key.wanted(),
                    format!("{} in it", Self::describe_entry(key, value)),
                )),
            }
        };
        array.iter().map(read).collect()
    }

    fn describe_entry(key: &Key, value: &Value) -> String {
        match has_variables(key.path) {
            true => describe_type(&Item::Value(value.clone())),
            false => describe_value(value),
        }
    }

    fn prefixes(&self, key: &Key, at: &TomlKey, item: &Item) -> Result<Vec<Sourced<Prefix>>, SettingsError> {
        self.entries(key, at, item, pattern::parse_prefix)
    }

    fn entries(
        &self,
        key: &Key,
        at: &TomlKey,
        item: &Item,
        parse: fn(&str) -> Result<Prefix, PatternError>,
    ) -> Result<Vec<Sourced<Prefix>>, SettingsError> {
        let texts = self.list(key, at, item, |text| Some(text.to_owned()))?;
        let array = item.as_array().into_iter().flatten();
        let read = |(text, value): (Sourced<String>, &Value)| match parse(&text.value) {
            Ok(prefix) => Ok(Sourced::new(prefix, text.origin)),
            Err(error) => Err(self.text.error(value.span().map_or(0, |span| span.start), error.into())),
        };
        texts.into_iter().zip(array).map(read).collect()
    }

    fn variables(
        &self,
        key: &Key,
        at: &TomlKey,
        item: &Item,
    ) -> Result<BTreeMap<String, Sourced<String>>, SettingsError> {
        let table = item.as_table_like().ok_or_else(|| self.not_wanted(key, at, item))?;
        let mut variables = BTreeMap::new();
        for (name, value) in entries(table) {
            let path = format!("{}.{}", key.path, name.get());
            if !is_text(name.get(), TextsOf::VariableNames) {
                // A name with `=` in it is probably a name and a value.
                let shown = name.get().split('=').next().unwrap_or_default();
                let found =
                    format!("the name {shown:?}{}", if shown == name.get() { "" } else { " with a `=`" });
                return Err(self.wanted_at(start(name), key.path, &key.wanted(), found));
            }
            let Some(text) = value.as_str().filter(|text| !text.contains('\0')) else {
                return Err(self.wanted(value, name, &path, "a string"));
            };
            let origin = self.text.origin(start(name));
            variables.insert(name.get().to_owned(), Sourced::new(text.to_owned(), origin));
        }
        Ok(variables)
    }

    pub(super) fn not_wanted(&self, key: &Key, at: &TomlKey, item: &Item) -> SettingsError {
        let mut error = self.wanted(item, at, key.path, &key.wanted());
        if let Problem::Wanted { hint, .. } = &mut *error.problem {
            *hint = hint_for(key, item);
        }
        error
    }

    pub(super) fn wanted(&self, item: &Item, at: &TomlKey, path: &str, wanted: &str) -> SettingsError {
        // The values of variables may be secrets, and this message reaches clients, logs and bug reports.
        let found = if has_variables(path) { describe_type(item) } else { describe(item) };
        self.wanted_at(start_of(item, at), path, wanted, found)
    }

    pub(super) fn wanted_at(&self, offset: usize, path: &str, wanted: &str, found: String) -> SettingsError {
        let (path, wanted) = (path.to_owned(), wanted.to_owned());
        self.text.error(offset, Problem::Wanted { path, wanted, found, hint: None })
    }
}

/// The keys that have names and values of variables.
const VARIABLES: [&str; 3] = ["environment.set", "environment.keep", "environment.remove"];

fn has_variables(path: &str) -> bool {
    VARIABLES.iter().any(|key| path.starts_with(key))
}

/// Whether a string can be an entry of a list. Paths and names can't be empty or contain a NUL byte.
fn is_text(text: &str, of: TextsOf) -> bool {
    !text.is_empty() && !text.contains('\0') && (of == TextsOf::Paths || !text.contains('='))
}

fn start(key: &TomlKey) -> usize {
    key.span().map_or(0, |span| span.start)
}

pub(super) fn start_of(item: &Item, at: &TomlKey) -> usize {
    item.span().map_or_else(|| start(at), |span| span.start)
}
