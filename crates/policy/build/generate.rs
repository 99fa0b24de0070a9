//! Writes the programs of the tables: entries and options as bytes in the form that the judge reads, and as Rust where they
//! begin and which names they have.
//!
//! `let _ =` is on writes to a String, which can't fail.

use crate::form::{Entry, Operand, OptionEntry, Parsing, ProgramKind, ShellGrammar, Synonym};
use crate::notation::{OperandText, OptionText, Row, SynonymText, Tables};
use crate::text_table::text_table;
use serde::de::DeserializeOwned;
use serde::de::value::{Error as NoVariant, StrDeserializer};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The tables of programs, as code and as the files of bytes that it includes.
pub(crate) struct Generated {
    pub(crate) code: String,
    /// `entries.bin`
    pub(crate) entries: Vec<u8>,
    /// `options.bin`
    pub(crate) options: Vec<u8>,
}

/// Roles without an effect that a rule decides about. If all options of a program have such roles, it doesn't matter whether a
/// word that can't be known is an option.
const HARMLESS_ROLES: &[&str] = &[
    "data",
    "harmless",
    "path",
    "key",
    "paths",
    "list",
    "url",
    "at-file",
    "form",
    "key-path",
    "args",
    "directory",
    "name",
    "host-path",
    "curl-data",
    "curl-cookie",
    "curl-upload",
    "loose",
    "source",
    "server-options",
];

/// What a subcommand inherits from its parent, unless it says otherwise.
#[derive(Clone)]
struct Inherited {
    kind: String,
    parsing: String,
    abbreviate: Option<bool>,
    negatable: bool,
    open: bool,
    language: String,
    /// The parent's options, if they may come after a subcommand.
    options: Vec<OptionText>,
}

/// What entries name by a number. An option that many entries have (from a group, or from a parent) is written once: so the
/// tables stay small, and reading one entry loads little else.
#[derive(Default)]
struct Numbered {
    options: Vec<Vec<u8>>,
    numbers: BTreeMap<Vec<u8>, u16>,
    specials: Vec<String>,
}

impl Numbered {
    fn option(&mut self, option: &OptionText) -> Result<u16, String> {
        let bytes = bytes(&option_entry(option)?)?;
        if let Some(number) = self.numbers.get(&bytes) {
            return Ok(*number);
        }
        let number = u16::try_from(self.options.len())
            .map_err(|_| "there are more options than their numbers can hold".to_owned())?;
        self.options.push(bytes.clone());
        self.numbers.insert(bytes, number);
        Ok(number)
    }

    fn special(&mut self, name: &String) -> Result<u8, String> {
        let number = self.specials.iter().position(|known| known == name).unwrap_or_else(|| {
            self.specials.push(name.clone());
            self.specials.len() - 1
        });
        u8::try_from(number).map_err(|_| "there are more special functions than numbers".to_owned())
    }
}

/// The tables of programs.
pub(crate) fn tables(tables: &Tables) -> Result<Generated, String> {
    let mut numbered = Numbered::default();
    let mut entries = Vec::new();
    let mut names: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut patterns = String::new();
    for (index, row) in tables.programs.iter().enumerate() {
        let first = row.names.first().map(String::as_str).unwrap_or_default();
        let nothing = Inherited {
            kind: String::new(),
            parsing: "permuted".to_owned(),
            abbreviate: None,
            negatable: false,
            open: false,
            language: String::new(),
            options: Vec::new(),
        };
        let written = entry(&mut numbered, tables, row, &nothing).map_err(|e| format!("{first}: {e}"))?;
        entries.push(bytes(&written)?);
        for name in &row.names {
            if name.contains('*') {
                let _ = write!(patterns, "({name:?}, {index}), ");
            } else if names.insert(name, vec![index.to_string()]).is_some() {
                return Err(format!("{name} is in two places"));
            }
        }
    }
    let mut code = text_table("NAMES", &names)?;
    let _ = writeln!(code, "static PATTERNS: &[(&str, usize)] = &[{patterns}];");
    let specials: Vec<String> = numbered.specials.iter().map(|name| format!("special::{name}")).collect();
    let _ = writeln!(code, "static SPECIALS: &[Special] = &[{}];", specials.join(", "));
    code.push_str(&stored("pub(crate) static PROGRAMS", "Entry", "entries.bin", &entries));
    code.push_str(&stored("static OPTIONS", "OptionEntry", "options.bin", &numbered.options));
    Ok(Generated { code, entries: entries.concat(), options: numbered.options.concat() })
}

fn bytes(value: &impl serde::Serialize) -> Result<Vec<u8>, String> {
    postcard::to_stdvec(value).map_err(|e| format!("can't be written: {e}"))
}

/// The code that declares values in a file of bytes.
fn stored(declared: &str, of: &str, file: &str, values: &[Vec<u8>]) -> String {
    let mut start = 0;
    let mut starts = String::new();
    for value in values {
        let _ = write!(starts, "{start}, ");
        start += value.len();
    }
    let count = values.len();
    format!(
        "{declared}: Stored<{of}, {count}, {{ {count}_usize.div_ceil(GROUP) }}> =
            Stored::new(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\")), &[{starts}]);\n"
    )
}

fn entry(numbered: &mut Numbered, tables: &Tables, row: &Row, parent: &Inherited) -> Result<Entry, String> {
    let kind: ProgramKind = chosen(row.kind.as_ref().unwrap_or(&parent.kind), "kind")?;
    let grammar: Option<ShellGrammar> =
        row.grammar.as_deref().map(|grammar| chosen(grammar, "grammar")).transpose()?;
    if grammar.is_some() != (row.kind.as_deref() == Some("shell")) {
        return Err("shells, and no other programs, have a grammar".to_owned());
    }
    let parsing: Parsing = chosen(row.parsing.as_ref().unwrap_or(&parent.parsing), "parsing")?;
    let wanted = row.abbreviate.or(parent.abbreviate);
    let abbreviate = wanted.unwrap_or(matches!(parsing, Parsing::Permuted | Parsing::Leading));
    let negatable = row.negatable.unwrap_or(parent.negatable);
    let open = row.open.unwrap_or(parent.open);
    let language = row.language.as_ref().unwrap_or(&parent.language);
    let own = tables.options(&row.options)?;
    let mut options = own.clone();
    options.extend(parent.options.iter().cloned());
    known_once(&own)?;
    let operands = row.operands.as_deref().unwrap_or_default();
    let operands = operands.iter().map(|text| OperandText::read(text)).collect::<Result<Vec<_>, _>>()?;
    if open && let Some(role) = runs(row, &own, &operands) {
        return Err(format!(
            "it is open, but has {role}: a value of an unknown option would hide what it runs"
        ));
    }
    let input = row.input.as_deref().map(|input| chosen(input, "input")).transpose()?;
    let options_matter = !row.subcommand.is_empty()
        || options.iter().any(option_matters)
        || operands.iter().any(|o| o.unusual.is_some() || (matters(&o.role) && o.role != "write"));
    let synonyms = row.synonyms.iter().map(|text| {
        let SynonymText { option, pattern, meant, unless } = SynonymText::read(text, &options)?;
        Ok(Synonym {
            option: kept(&option),
            pattern: kept(&pattern),
            meant: all_kept(&meant),
            unless: all_kept(&unless),
        })
    });
    let synonyms = synonyms.collect::<Result<Vec<_>, String>>()?;
    let option_numbers = options.iter().map(|option| numbered.option(option)).collect::<Result<_, _>>()?;
    let written = operands.iter().map(|operand| operand_entry(operand, &options));
    let written = written.collect::<Result<Vec<_>, _>>()?;
    let below = Inherited {
        kind: row.kind.as_ref().unwrap_or(&parent.kind).clone(),
        parsing: row.parsing.as_ref().unwrap_or(&parent.parsing).clone(),
        abbreviate: wanted,
        negatable,
        open,
        language: language.clone(),
        options: if row.inherit { options } else { Vec::new() },
    };
    let subcommands = row.subcommand.iter().map(|sub| {
        let name = sub.names.first().map(String::as_str).unwrap_or_default();
        entry(numbered, tables, sub, &below).map_err(|e| format!("{name}: {e}"))
    });
    let subcommands = subcommands.collect::<Result<Vec<_>, _>>()?;
    Ok(Entry {
        names: all_kept(&row.names),
        versions: row.versions,
        kind,
        grammar,
        parsing,
        abbreviate,
        negatable,
        open,
        dashes: row.dashes.unwrap_or(true),
        option_numbers,
        operands: row.operands.is_some().then_some(written),
        language: kept(language),
        input,
        because: row.because.as_deref().map(kept),
        special: row.special.as_ref().map(|name| numbered.special(name)).transpose()?,
        synonyms,
        subcommands,
        options_matter,
    })
}

fn option_entry(option: &OptionText) -> Result<OptionEntry, String> {
    Ok(OptionEntry {
        names: all_kept(&option.names),
        values: option.values.iter().map(|role| chosen(role, "role")).collect::<Result<_, _>>()?,
        value_form: option.takes,
        prints: option.prints,
        ends: option.ends,
        unusual: option.unusual.as_deref().map(kept),
        matters: option_matters(option),
    })
}

fn operand_entry(operand: &OperandText, options: &[OptionText]) -> Result<Operand, String> {
    let first_names = |list: &[String]| {
        let first = |name: &String| {
            let option = options.iter().find(|o| o.names.contains(name));
            option
                .and_then(|o| o.names.first())
                .map(|name| kept(name))
                .ok_or_else(|| format!("there is no option {name} for a condition"))
        };
        list.iter().map(first).collect::<Result<Vec<_>, _>>()
    };
    Ok(Operand {
        role: chosen(&operand.role, "role")?,
        required: operand.required,
        repeated: operand.repeated,
        unless: first_names(&operand.unless)?,
        only_if: first_names(&operand.only_if)?,
        unusual: operand.unusual.as_deref().map(kept),
    })
}

/// The text for as long as the build runs.
fn kept(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn all_kept(texts: &[String]) -> Vec<&'static str> {
    texts.iter().map(|text| kept(text)).collect()
}

/// The role or subcommand by which a program runs commands, if it has one.
fn runs(row: &Row, options: &[OptionText], operands: &[OperandText]) -> Option<String> {
    let commands = |role: &&String| role.starts_with("command");
    let texts = |role: &&String| *role == "shell";
    let own = options.iter().flat_map(|option| &option.values).find(commands);
    let own = own
        .or_else(|| operands.iter().map(|operand| &operand.role).find(|role| commands(role) || texts(role)));
    let below = row.subcommand.iter().find(|sub| {
        let operands = sub.operands.as_deref().unwrap_or_default();
        operands
            .iter()
            .any(|text| text.contains("<command") || text.contains("[command") || text.contains("shell"))
    });
    own.or_else(|| below.and_then(|sub| sub.names.first())).cloned()
}

/// Checks that no name belongs to two options.
fn known_once(options: &[OptionText]) -> Result<(), String> {
    let mut seen = BTreeMap::new();
    for (index, option) in options.iter().enumerate() {
        for name in &option.names {
            if seen.insert(name, index).is_some() {
                return Err(format!("the option {name} is listed twice"));
            }
        }
    }
    Ok(())
}

/// Whether an option does more than show something.
fn option_matters(option: &OptionText) -> bool {
    option.unusual.is_some() || option.ends || option.values.iter().any(|role| matters(role))
}

fn matters(role: &str) -> bool {
    !HARMLESS_ROLES.contains(&role)
}

/// The variant with this name.
fn chosen<T: DeserializeOwned>(word: &str, what: &str) -> Result<T, String> {
    T::deserialize(StrDeserializer::<NoVariant>::new(word)).map_err(|e| format!("{what}: {e}"))
}
