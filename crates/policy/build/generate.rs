//! Writes the tables as Rust: one array of programs, and their names in order.
//!
//! `let _ =` is on writes to a String, which can't fail.

use crate::notation::{OperandText, OptionText, Row, SynonymText, Tables};
use std::collections::BTreeMap;
use std::fmt::Write;

const KINDS: &[&str] =
    &["reader", "writer", "wrapper", "shell", "interpreter", "builder", "network", "workbench", "builtin"];
const GRAMMARS: &[&str] = &["bash", "posix", "korn", "other"];
const PARSINGS: &[&str] = &["permuted", "leading", "dashed", "words", "assignments"];

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

/// The generated code. An option that many entries have (from a group, or from a parent) is written once, and entries name
/// it by its number: so the tables stay small, and reading one entry loads little else.
#[derive(Default)]
struct Output {
    code: String,
    options: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Output {
    fn option(&mut self, option: &OptionText) -> usize {
        let code = option_code(option);
        let next = self.options.len();
        let number = *self.numbers.entry(code.clone()).or_insert(next);
        if number == next {
            self.options.push(code);
        }
        number
    }
}

/// The tables as Rust.
pub(crate) fn tables(tables: &Tables) -> Result<String, String> {
    let mut output = Output::default();
    output.code.push_str("pub(crate) static PROGRAMS: &[Entry] = &[\n");
    let mut names = BTreeMap::new();
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
        entry(&mut output, tables, row, &nothing).map_err(|e| format!("{first}: {e}"))?;
        for name in &row.names {
            if name.contains('*') {
                let _ = write!(patterns, "({name:?}, {index}), ");
            } else if names.insert(name, index).is_some() {
                return Err(format!("{name} is in two places"));
            }
        }
    }
    let Output { mut code, options, .. } = output;
    code.push_str("];\n");
    if options.len() > usize::from(u16::MAX) {
        return Err("there are more options than their numbers can hold".to_owned());
    }
    let _ = writeln!(code, "static OPTIONS: &[OptionEntry] = &[{}];", options.join(", "));
    let _ = writeln!(code, "static PATTERNS: &[(&str, usize)] = &[{patterns}];");
    code.push_str("static NAMES: &[(&str, usize)] = &[");
    for (name, index) in names {
        let _ = write!(code, "({name:?}, {index}), ");
    }
    code.push_str("];\n");
    Ok(code)
}

fn entry(output: &mut Output, tables: &Tables, row: &Row, parent: &Inherited) -> Result<(), String> {
    let kind = chosen(row.kind.as_ref().unwrap_or(&parent.kind), KINDS, "kind")?;
    let grammar = row.grammar.as_deref().map(|grammar| chosen(grammar, GRAMMARS, "grammar")).transpose()?;
    if grammar.is_some() != (row.kind.as_deref() == Some("shell")) {
        return Err("shells, and no other programs, have a grammar".to_owned());
    }
    let parsing = chosen(row.parsing.as_ref().unwrap_or(&parent.parsing), PARSINGS, "parsing")?;
    let wanted = row.abbreviate.or(parent.abbreviate);
    let abbreviate = wanted.unwrap_or(matches!(parsing.as_str(), "Permuted" | "Leading"));
    let negatable = row.negatable.unwrap_or(parent.negatable);
    let open = row.open.unwrap_or(parent.open);
    let dashes = row.dashes.unwrap_or(true);
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
    let input =
        row.input.as_deref().map(|input| chosen(input, &["shell", "code", "keys"], "input")).transpose()?;
    let matters = !row.subcommand.is_empty()
        || options.iter().any(option_matters)
        || operands.iter().any(|o| o.unusual.is_some() || (matters(&o.role) && o.role != "write"));

    let synonyms = row.synonyms.iter().map(|text| {
        let SynonymText { option, pattern, meant, unless } = SynonymText::read(text, &options)?;
        Ok(format!(
            "Synonym {{ option: {option:?}, pattern: {pattern:?}, meant: &{meant:?}, unless: &{unless:?} }}"
        ))
    });
    let synonyms = synonyms.collect::<Result<Vec<String>, String>>()?.join(", ");
    let numbers: Vec<usize> = options.iter().map(|option| output.option(option)).collect();
    let code = &mut output.code;
    let _ = write!(
        code,
        "Entry {{ names: &{:?}, versions: {}, kind: ProgramKind::{kind}, grammar: {}, parsing: Parsing::{parsing}, \
         abbreviate: {abbreviate}, negatable: {negatable}, open: {open}, dashes: {dashes}, language: {language:?}, \
         because: {:?}, options_matter: {matters}, input: {}, special: {}, synonyms: &[{synonyms}], option_numbers: &{numbers:?}, \
         operands: ",
        row.names,
        row.versions,
        grammar.map_or("None".to_owned(), |grammar| format!("Some(ShellGrammar::{grammar})")),
        row.because,
        input.map_or("None".to_owned(), |input| format!("Some(Input::{input})")),
        row.special.as_ref().map_or("None".to_owned(), |name| format!("Some(special::{name})")),
    );
    if row.operands.is_some() {
        code.push_str("Some(&[");
        for operand in &operands {
            write_operand(code, operand, &options)?;
        }
        code.push_str("])");
    } else {
        code.push_str("None");
    }
    code.push_str(", subcommands: &[\n");
    let below = Inherited {
        kind: row.kind.as_ref().unwrap_or(&parent.kind).clone(),
        parsing: row.parsing.as_ref().unwrap_or(&parent.parsing).clone(),
        abbreviate: wanted,
        negatable,
        open,
        language: language.clone(),
        options: if row.inherit { options } else { Vec::new() },
    };
    for sub in &row.subcommand {
        let name = sub.names.first().map(String::as_str).unwrap_or_default();
        entry(output, tables, sub, &below).map_err(|e| format!("{name}: {e}"))?;
    }
    output.code.push_str("] },\n");
    Ok(())
}

fn option_code(option: &OptionText) -> String {
    let values: Vec<String> = option.values.iter().map(|role| format!("Role::{}", camel(role))).collect();
    format!(
        "OptionEntry {{ names: &{:?}, values: &[{}], value_form: ValueForm::{}, prints: {}, ends: {}, unusual: {:?}, matters: {} }}",
        option.names,
        values.join(", "),
        option.takes,
        option.prints,
        option.ends,
        option.unusual,
        option_matters(option),
    )
}

fn write_operand(code: &mut String, operand: &OperandText, options: &[OptionText]) -> Result<(), String> {
    let first_names = |list: &[String]| {
        let first = |name: &String| {
            let option = options.iter().find(|o| o.names.contains(name));
            option
                .and_then(|o| o.names.first())
                .ok_or_else(|| format!("there is no option {name} for a condition"))
        };
        list.iter().map(first).collect::<Result<Vec<_>, _>>()
    };
    let _ = write!(
        code,
        "Operand {{ role: Role::{}, required: {}, repeated: {}, unless: &{:?}, only_if: &{:?}, unusual: {:?} }}, ",
        camel(&operand.role),
        operand.required,
        operand.repeated,
        first_names(&operand.unless)?,
        first_names(&operand.only_if)?,
        operand.unusual,
    );
    Ok(())
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

/// The variant of one of the allowed words.
fn chosen(word: &str, allowed: &[&str], what: &str) -> Result<String, String> {
    if allowed.contains(&word) {
        Ok(camel(word))
    } else {
        Err(format!("{what} = `{word}` should be one of {}", allowed.join(", ")))
    }
}

fn camel(name: &str) -> String {
    name.split('-')
        .flat_map(|part| {
            let mut letters = part.chars();
            letters.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(letters)
        })
        .collect()
}
