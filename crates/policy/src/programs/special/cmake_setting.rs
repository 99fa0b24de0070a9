//! `cmake -D NAME[:TYPE]=VALUE`: most variables are the project's own data; some name programs, scripts or options of compilers.

use super::super::collector::{Collector, after, with_text};
use super::super::entry::{self, matches};
use super::super::form::Role;
use super::super::{EffectKind, read, words as lists};
use shellgate_syntax::Word;

/// Reads one setting.
pub(crate) fn cmake_setting(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    let Some((left, _)) = lead.split_once('=') else {
        if word.value.known().is_none() {
            let why = "a setting whose name isn't known";
            collector.effect(word, EffectKind::Opaque(word.clone(), why));
        }
        return;
    };
    let Some(value) = after(word, left.len() + 1) else { return };
    let name = left.split(':').next().unwrap_or(left);
    let is_in = |list: &[&str]| list.iter().any(|pattern| matches(pattern, name));
    let is_switch = value.value.known().is_some_and(|text| lists::CMAKE_SWITCHES.contains(&text));
    if is_switch {
        return;
    }
    // The judge compares it with the names of excluded programs: a project may look for its tools by variables of its own.
    collector.meaning.is_loose = true;
    if is_in(lists::CMAKE_RULE_SETTINGS) {
        collector.effect(word, EffectKind::Unusual("says how a compiler is called"));
    } else if is_in(lists::CMAKE_SCRIPT_SETTINGS) {
        script(&value, collector);
    } else if is_in(lists::CMAKE_FLAG_SETTINGS) {
        flags(&value, collector);
    } else if is_in(lists::CMAKE_PROGRAM_SETTINGS) {
        program(&value, collector);
    } else if value.value.lead().contains('`') || value.value.lead().contains("$(") {
        collector.effect(word, EffectKind::Unusual("has a text that make may expand"));
    }
}

/// Reads a file of cmake's code. One below the folder is the project's own, as its `CMakeLists.txt` is.
fn script(value: &Word, collector: &mut Collector) {
    let is_below = |path: &str| {
        let parts = path.split(['/', ';']);
        !path.is_empty() && parts.into_iter().all(|part| !part.is_empty() && part != ".." && part != "-")
    };
    if !value.value.known().is_some_and(is_below) {
        collector.role(Role::Config, value, "cmake");
    }
}

/// Reads a program, perhaps with words behind `;`. Compilers and their like are what a build runs anyway.
fn program(value: &Word, collector: &mut Collector) {
    let is_usual = |name: &str| {
        let own =
            entry::find(name).and_then(|entry| entry.names.first()).is_some_and(|first| *first == "gcc");
        own || lists::CMAKE_USUAL_TOOLS.contains(&name)
    };
    match value.value.known() {
        Some(name) if is_usual(name) => {}
        Some(text) if !text.contains(['$', '`', '"', '\'', '\\', '|', '&', '<', '>', '\n']) => {
            let words: Vec<Word> = text.split([';', ' ']).map(|part| with_text(value, part)).collect();
            collector.runs(&words, true);
        }
        _ => collector.effect(value, EffectKind::Opaque(value.clone(), "a command that can't be known")),
    }
}

/// Reads options for a compiler or linker, which stand in a line of a shell.
fn flags(value: &Word, collector: &mut Collector) {
    let text =
        value.value.known().filter(|text| !text.contains(['$', '`', ';', '|', '&', '<', '>', '\n', '\\']));
    let is_harmless = text.zip(entry::find("gcc")).is_some_and(|(text, gcc)| {
        let parts = text
            .split([' ', '\t'])
            .filter(|part| !part.is_empty() && !lists::CMAKE_LINKER_CHOICES.contains(part));
        let words: Vec<Word> = parts.map(|part| with_text(value, part.trim_matches(['"', '\'']))).collect();
        let mut inner = Collector { span: value.span, ..Collector::default() };
        read::by_table(gcc, &words, &mut inner);
        inner.meaning.effects.iter().all(|effect| matches!(effect.kind, EffectKind::Reads(_)))
    });
    if !is_harmless {
        let why = "gives compilers options that aren't known to be harmless";
        collector.effect(value, EffectKind::Unusual(why));
    }
}
