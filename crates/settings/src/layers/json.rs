//! Reads other agents' settings files: JSON with comments. Only their tool lists are used.
//!
//! Gemini CLI has the lists in `tools.core` and `tools.exclude`, Qwen Code and asimi at the top level in `coreTools` and
//! `excludeTools`. Everything else in such a file is ignored. But a tool list that can't be read is an error: ignoring it
//! would allow what it denies.

use std::path::Path;

use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{Object, ObjectProp, Value},
    common::Ranged as _,
    parse_to_ast,
};

use super::{
    change::{Change, Layer, NewValue},
    describe::describe_string,
    text::Text,
};
use crate::prefix;
use crate::{
    Prefix, Problem, SettingsError, Sourced,
    keys::{self, Kind},
};

/// Whether a file is JSON, by its name.
pub(super) fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json") || end.eq_ignore_ascii_case("jsonc"))
}

/// Parse options for other agents' settings: JSON with comments and trailing commas.
pub const PARSE_OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads the tool lists of another agent's file.
pub(super) fn read(text: &Text) -> Result<Layer, SettingsError> {
    let syntax = |offset, message: String| {
        text.error(offset, Problem::Syntax { language: "JSON", message, hint: None })
    };
    let parsed = parse_to_ast(text.as_str(), &CollectOptions::default(), &PARSE_OPTIONS)
        .map_err(|error| syntax(error.range().start, lower(&error.kind().to_string())))?;
    let root = match &parsed.value {
        Some(Value::Object(root)) => root,
        Some(other) => return Err(wanted(text, other, "the whole file", "an object")),
        None => return Err(syntax(0, "it is empty".to_owned())),
    };
    let mut lists = Lists { text, core: None, exclude: None };
    lists.add(root, "coreTools", "coreTools", Which::Core)?;
    lists.add(root, "excludeTools", "excludeTools", Which::Exclude)?;
    if let Some(tools) = only(text, root, "tools", "tools")? {
        let Value::Object(object) = &tools.value else {
            return Err(wanted(text, &tools.value, "tools", "an object"));
        };
        lists.add(object, "core", "tools.core", Which::Core)?;
        lists.add(object, "exclude", "tools.exclude", Which::Exclude)?;
    }
    Ok(lists.into_layer())
}

#[derive(Clone, Copy)]
enum Which {
    Core,
    Exclude,
}

/// A tool list: its offset in the file, the number of its entries, and the prefixes of the entries for the shell tool.
struct List {
    offset: usize,
    entries: usize,
    prefixes: Vec<Sourced<Prefix>>,
}

struct Lists<'a> {
    text: &'a Text,
    core: Option<List>,
    exclude: Option<List>,
}

impl Lists<'_> {
    fn add(
        &mut self,
        object: &Object<'_>,
        name: &str,
        path: &str,
        which: Which,
    ) -> Result<(), SettingsError> {
        const WANTED: &str = "a list of strings";
        let Some(property) = only(self.text, object, name, path)? else { return Ok(()) };
        let Value::Array(array) = &property.value else {
            return Err(wanted(self.text, &property.value, path, WANTED));
        };
        let list = match which {
            Which::Core => &mut self.core,
            Which::Exclude => &mut self.exclude,
        };
        let offset = property.range.start;
        let list = list.get_or_insert_with(|| List { offset, entries: 0, prefixes: Vec::new() });
        for element in &array.elements {
            let Value::StringLit(entry) = element else {
                let mut error = wanted(self.text, element, path, WANTED);
                if let Problem::Wanted { found, .. } = &mut *error.problem {
                    found.push_str(" in it");
                }
                return Err(error);
            };
            list.entries += 1;
            match prefix::of_tool(&entry.value) {
                Ok(Some(prefix)) => {
                    list.prefixes.push(Sourced::new(prefix, self.text.origin(entry.range.start)))
                }
                Ok(None) => {}
                Err(error) => return Err(self.text.error(entry.range.start, error.into())),
            }
        }
        Ok(())
    }

    fn into_layer(self) -> Layer {
        let mut layer = Layer::new();
        for key in keys::all() {
            let (list, core) = match key.kind {
                Kind::Core => (&self.core, true),
                Kind::Exclude => (&self.exclude, false),
                _ => continue,
            };
            let Some(list) = list else { continue };
            let prefixes = list.prefixes.clone();
            // A core list with entries for other tools alone still counts: it allows no command.
            let value = if core {
                NewValue::Core((list.entries > 0).then_some(prefixes))
            } else {
                NewValue::Exclude(prefixes)
            };
            layer.push(Change { key, origin: self.text.origin(list.offset), value });
        }
        layer
    }
}

/// The property with this name. Two of them are an error, because readers differ in which one they take.
fn only<'a, 'b>(
    text: &Text,
    object: &'b Object<'a>,
    name: &str,
    path: &str,
) -> Result<Option<&'b ObjectProp<'a>>, SettingsError> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == name);
    match (found.next(), found.next()) {
        (_, Some(second)) => Err(text.error(second.range.start, Problem::Twice { path: path.to_owned() })),
        (first, None) => Ok(first),
    }
}

fn wanted(text: &Text, value: &Value<'_>, path: &str, wanted: &str) -> SettingsError {
    let found = match value {
        Value::StringLit(string) => describe_string(&string.value),
        Value::NumberLit(number) => format!("the number {}", number.value),
        Value::BooleanLit(switch) => format!("`{}`", switch.value),
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::NullKeyword(_) => "`null`".to_owned(),
    };
    let (path, wanted) = (path.to_owned(), wanted.to_owned());
    text.error(value.range().start, Problem::Wanted { path, wanted, found, hint: None })
}

fn lower(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
