//! Debuggers: `gdb -batch -ex run PROGRAM`, `lldb -o run -- PROGRAM WORDS`.
//!
//! A debugger starts its program as soon as one of its commands says so. The program is found by its name, and has the debugger's
//! standard input.

use super::super::collector::{Collector, with_text};
use super::super::form::{Entry, Role};
use super::super::{Canonical, EffectKind, read, words as lists};
use shellgate_syntax::{Value, Word};

/// Reads one command. One that isn't known to be harmless is opaque; those that start the program are read with the whole call.
pub(crate) fn debugger_command(word: &Word, collector: &mut Collector) {
    collector.names_code = true;
    let text = word.value.known().map(str::trim);
    if text.is_some_and(|text| lists::DEBUGGER_HARMLESS_COMMANDS.contains(&text) || starts(text)) {
        return;
    }
    match text.and_then(|text| text.strip_prefix('!').or_else(|| text.strip_prefix("shell "))) {
        Some(command) => collector.effect(word, EffectKind::Shell(with_text(word, command.trim_start()))),
        None => collector.effect(word, EffectKind::Opaque(word.clone(), "a command of the debugger")),
    }
}

/// Whether a command starts the program.
fn starts(text: &str) -> bool {
    lists::DEBUGGER_STARTING_COMMANDS.contains(&text)
}

/// Reads a call of gdb. Its second operand is a dump or a process, no argument of the program.
pub(crate) fn gdb(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let (programs, operands) = read_call(entry, words, collector);
    let programs = programs.into_iter().chain(operands.into_iter().take(1));
    programs.for_each(|program| collector.runs(&[program], false));
}

/// Reads a call of lldb. Behind the program are its arguments.
pub(crate) fn lldb(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let (programs, operands) = read_call(entry, words, collector);
    let command: Vec<Word> = programs.into_iter().chain(operands).collect();
    collector.runs(&command, false);
}

/// Reads a call by its table. Says which programs its options name, and its operands, if it starts the program.
fn read_call(entry: &'static Entry, words: &[Word], collector: &mut Collector) -> (Vec<Word>, Vec<Word>) {
    let from = collector.meaning.canonical.len();
    read::by_table(entry, words, collector);
    let said = collector.meaning.canonical.get(from..).unwrap_or_default().to_vec();
    let is_given = |wanted: &[&str]| {
        said.iter().any(|part| matches!(part, Canonical::Option(name, _) if wanted.contains(&name.as_str())))
    };
    // Without such an option it goes on with commands from its input.
    if !is_given(lists::DEBUGGER_BATCH_OPTIONS) && !collector.prints {
        collector.call_effect(EffectKind::OpaqueInput(entry.language));
    }
    let is_command = |name: &str| {
        entry.option(name).is_some_and(|option| option.values.first() == Some(&Role::DebuggerCommand))
    };
    let starts_it = said.iter().any(|part| {
        matches!(part, Canonical::Option(name, Some(value)) if is_command(name) && value.known().map(str::trim).is_some_and(starts))
    });
    if !starts_it {
        return (Vec::new(), Vec::new());
    }
    let word = |value: &Value| Word { span: collector.span, value: value.clone() };
    let named = said.iter().filter_map(|part| match part {
        Canonical::Option(name, Some(value)) if lists::DEBUGGER_PROGRAM_OPTIONS.contains(&name.as_str()) => {
            Some(word(value))
        }
        _ => None,
    });
    let operands = said.iter().filter_map(|part| match part {
        Canonical::Word(value) => Some(word(value)),
        Canonical::Option(..) => None,
    });
    (named.collect(), operands.collect())
}
