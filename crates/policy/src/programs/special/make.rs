//! Words of make: goals, variables and makefiles. make expands a variable's value and has a shell read it in recipes.

use super::super::EffectKind;
use super::super::collector::{Collector, after, with_text};
use super::super::form::Role;
use super::super::words::{COMPILER_CODE_OPTIONS, MAKE_FOLDER_VARIABLES};
use super::path_or_name;
use shellgate_syntax::{Unknown, Value, Why, Word};

/// Signs besides letters and digits that are no more than parts of words, to make and to the shell of a recipe.
const WORD_SIGNS: &str = "_-+=.,/:@%^~";

/// Whether a goal, the name of a variable or a part of a value is one plain word.
fn is_plain_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || WORD_SIGNS.contains(c))
}

/// Whether a value is plain words, so that no recipe that uses it runs more commands than without. Quotes come in pairs and
/// stand at the ends of words, so that every name can be read.
fn is_plain_value(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || WORD_SIGNS.contains(c) || c == ' ';
    let is_quoting = |c: char| ['"', '\'', '\\'].contains(&c);
    let is_name = |c: char| c.is_alphanumeric() || "._-/+".contains(c);
    let mut quote = None;
    // The last sign that isn't a quote, and whether a quote follows it.
    let (mut last, mut is_quoted) = (' ', false);
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if signs.peek().is_some_and(|next| is_quoting(*next)) => {}
            '"' | '\'' if quote.is_none() => quote = Some(sign),
            '"' | '\'' if quote == Some(sign) => quote = None,
            c if is_plain(c) && !(is_quoted && is_name(last) && is_name(c)) => last = c,
            _ => return false,
        }
        is_quoted = is_quoting(sign);
    }
    quote.is_none()
}

/// Whether a value has an option by which a compiler loads code or starts another program.
fn has_code_option(text: &str) -> bool {
    let is_code = |part: &str| COMPILER_CODE_OPTIONS.iter().any(|option| part.starts_with(option));
    text.split([' ', '"', '\'', '\\']).any(is_code)
}

/// Whether make itself has no variable of this name: those with a dot are words of every recipe (`.SHELLFLAGS`, `COMPILE.c`).
fn is_plain_name(name: &str) -> bool {
    let mut signs = name.chars();
    signs.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && signs.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Reads an operand: `goal`, `NAME=VALUE`, `NAME:=VALUE`, `NAME!=COMMAND`.
pub(crate) fn make_word(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    let is_known = word.value.known().is_some();
    let Some((left, _)) = lead.split_once('=') else {
        // A word that isn't known may be an assignment. One whose every value is known to be a plain word isn't.
        match &word.value {
            Value::Known(text) if is_plain_word(text) => writes_above(word, text, true, collector),
            Value::Unknown(unknown) if lead.is_empty() && matches!(unknown.why, Why::Parameter(_)) => {
                collector.effect(word, EffectKind::MaybeOption(word.clone()));
            }
            _ => collector.effect(word, EffectKind::Inline(word.clone(), "make")),
        }
        path_or_name::place(Role::Name, word, collector);
        return;
    };
    let value = after(word, left.len() + 1);
    let name = left.trim_end_matches([':', '+', '?', '!', ' ']);
    if let (true, Some(value)) = (left.ends_with('!'), &value) {
        collector.effect(word, EffectKind::Shell(value.clone()));
    } else if !is_known && !begins_at_home(word)
        || !is_plain_name(name)
        || !value.as_ref().is_some_and(|value| is_plain_value(value.value.lead()))
        || value.as_ref().is_some_and(|value| has_code_option(value.value.lead()))
    {
        collector.effect(word, EffectKind::Inline(word.clone(), "make"));
    }
    // `CPPFLAGS='-MF ../x'`: make's own rules hand values to compilers.
    let is_place = MAKE_FOLDER_VARIABLES.contains(&name);
    value.iter().for_each(|value| writes_above(word, value.value.lead(), is_place, collector));
    // `CFLAGS="-MF $HOME/x"`
    if let Some(value) = value.as_ref().filter(|value| begins_at_home(word) && !value.value.lead().is_empty())
    {
        collector.effect(word, EffectKind::Writes(value.clone()));
    }
    let name = with_text(word, name).value;
    collector
        .effect(word, EffectKind::Assigns { name, value: value.map(|word: Word| -> Value { word.value }) });
}

/// Notes the paths in a text that lead out of the folder: make may make them. A path that is the whole value is a place that
/// the project's own rules know (`PREFIX=/usr`), unless make itself writes there (`is_place`: a goal, a folder of goals).
fn writes_above(word: &Word, text: &str, is_place: bool, collector: &mut Collector) {
    for part in text.split([' ', '=', ',', ':', '"', '\'', '\\']) {
        // Folders that compilers only read.
        let is_read = part.starts_with("-I") || part.starts_with("-L");
        let leads_up = part.split('/').any(|part| part == "..");
        // `-o/tmp/x`, `~/x`
        let start = part
            .find(['/', '~'])
            .filter(|at| *at == 0 && (is_place || part != text) || part.starts_with('-'));
        let path = start.and_then(|start| part.get(start..)).or(leads_up.then_some(part));
        if let Some(path) = path.filter(|path| leads_up || !is_read && path.len() > 1) {
            collector.effect(word, EffectKind::Writes(with_home(word, path)));
        }
    }
}

/// A word with a path of a value, in which the shell of a recipe takes `~` for the home folder.
fn with_home(word: &Word, path: &str) -> Word {
    let Some(rest) = path.strip_prefix('~') else { return with_text(word, path) };
    let (user, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let why = Why::Tilde { user: user.to_owned(), rest: Some(rest.to_owned()) };
    let value = Value::Unknown(Unknown { lead: String::new(), splits: false, why, tail: None });
    Word { value, ..word.clone() }
}

/// Whether all that isn't known of a value is the home folder: `PREFIX=~/x`, `PREFIX=$HOME/x`.
fn begins_at_home(word: &Word) -> bool {
    let Value::Unknown(unknown) = &word.value else { return false };
    let is_plain = |rest: &Option<String>| rest.as_ref().is_some_and(|rest| is_plain_value(rest));
    match &unknown.why {
        Why::Parameter(name) => name == "HOME" && is_plain(&unknown.tail),
        Why::Tilde { user, rest } => user.is_empty() && is_plain(rest),
        _ => false,
    }
}

/// Reads the name of a makefile. Standard input and what isn't known are code of the call itself.
pub(crate) fn makefile(word: &Word, collector: &mut Collector) {
    // A path that leaves the folder may be standard input under another name: `../../dev/stdin`.
    let may_be_input = |path: &str| path.starts_with('/') || path.split('/').any(|part| part == "..");
    match word.value.known() {
        Some(path) if may_be_input(path) => collector.effect(word, EffectKind::OpaqueInput("make")),
        Some(_) => {}
        None => collector.effect(word, EffectKind::Inline(word.clone(), "make")),
    }
    collector.role(Role::Config, word, "make");
}

#[cfg(test)]
mod tests {
    use super::is_plain_value;

    #[test]
    fn a_plain_value_shows_its_names() {
        for text in
            ["", "1", "-O2 -Wall", "~/x", "a=b,c:d", "-DX=\"a b\"", "-DX=\\\"a\\\"", "'a b' c", "v1.2@x%y"]
        {
            assert!(is_plain_value(text), "{text}");
        }
        for text in [
            "$(x)",
            "a;b",
            "a|b",
            "a&b",
            "`a`",
            "a>b",
            "a\nb",
            "#",
            "to''uch",
            "to\\uch",
            "to\"\"uch",
            "t?uch",
            "t*",
            "{a,b}",
            "'a",
            "\"a'",
            "a\\",
        ] {
            assert!(!is_plain_value(text), "{text}");
        }
    }
}
