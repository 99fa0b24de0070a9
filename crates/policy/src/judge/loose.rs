//! Judges the words that a program's entry in the tables doesn't explain.
//!
//! Some entries don't list all options (`open`, the role `loose`). Of such an option, and of the word behind it, no more is
//! known than of the words of a program that no table lists. So [`super::unlisted`] reads them.

use shellgate_syntax::{Value, Word};

use super::unlisted::Suspicion;
use super::word_shapes::{candidates, is_plainly_path, names_language, path_candidates};
use super::{Basis, Judge, perl_opens};
use crate::calls::{Call, Stdin};
use crate::programs::{ProgramKind, Property, has, kind_of};
use crate::verdict::ReasonCode;

const NOTHING_KNOWN: &str = "nothing is known of this program";
/// Options by which build tools are told where to write; the long ones are beginnings.
const OUTPUT_OPTIONS: [&str; 7] =
    ["-o", "--out", "--report", "--log", "--junit", "--cache-location", "--dest"];

const NOT_ALL_KNOWN: &str = "not all options of this program are known";

impl Judge<'_> {
    /// Judges the words and the standard input of a program whose options aren't all known: one may name a program to
    /// start.
    pub(super) fn judge_loose(&mut self, call: &Call, basis: Basis) {
        if !self.restricts(basis) {
            return;
        }
        if call.meaning.entry.is_some_and(|name| has(name, Property::ReadsResponseFiles))
            && call.words.iter().skip(1).any(names_response)
        {
            self.ask(ReasonCode::Unknown, call.span, "it takes further words from a file".to_owned());
        }
        let is_named = matches!(basis, Basis::Named(_));
        if let Some(Suspicion { message, rule }) = self.suspicion_of_output(call).filter(|_| is_named) {
            let message = message.replace(NOTHING_KNOWN, NOT_ALL_KNOWN);
            self.ask(ReasonCode::Outside, call.span, message).rule = rule;
        }
        if let Some(Suspicion { message, rule }) = self.suspicion_of_make(call).filter(|_| is_named) {
            let message = message.replace(NOTHING_KNOWN, "make may give it to a compiler");
            self.ask(ReasonCode::Outside, call.span, message).rule = rule;
        }
        if call.meaning.unexplained.iter().any(|word| self.names_descriptor(word)) {
            let message = format!("it may obey a text that the command gives it as a file: {NOT_ALL_KNOWN}");
            self.ask(ReasonCode::Unknown, call.span, message);
        }
        if let Some(Suspicion { message, rule }) = self.suspicion_of_given_text(call) {
            let message = message.replace(NOTHING_KNOWN, "it gives it to code of the project");
            self.ask(ReasonCode::Unknown, call.span, message).rule = rule;
        }
        if !call.meaning.is_loose {
            return;
        }
        let texts = || call.meaning.unexplained.iter().filter_map(|word| word.value.known());
        let outside = || texts().find_map(|text| self.suspicion_of_write(text)).filter(|_| is_named);
        let found = match call.meaning.kind {
            // What it runs is held, but not where it writes.
            Some(_) if self.rules.holds_any_code() => outside(),
            Some(ProgramKind::Builder) => self.suspicion_of_options(call).or_else(outside),
            // What clients of services and interpreters are given are names, queries and texts for others.
            Some(ProgramKind::Network | ProgramKind::Interpreter) => {
                texts().find_map(|text| self.suspicion_of_value(text)).or_else(outside)
            }
            _ => {
                let words = call.meaning.unexplained.iter();
                let mut found = words.filter_map(|word| self.suspicion_of_unexplained(call, word, is_named));
                let input = || match &call.stdin {
                    Stdin::Text(text) => self.excluded_in(text),
                    Stdin::Empty | Stdin::Unknown | Stdin::Fetched => None,
                };
                found.next().or_else(|| self.suspicion_of_any(call, is_named)).or_else(input)
            }
        };
        if let Some(Suspicion { message, rule }) = found {
            let message = message.replace(NOTHING_KNOWN, NOT_ALL_KNOWN);
            self.ask(ReasonCode::Unknown, call.span, message).rule = rule;
        }
    }

    /// Why make may write a file outside the root: a goal, or a part of a variable's value, leads there through a link.
    fn suspicion_of_make(&self, call: &Call) -> Option<Suspicion> {
        if call.meaning.entry != Some("make") {
            return None;
        }
        let texts = call.words.iter().skip(1).filter_map(|word| word.value.known());
        let mut parts = texts.flat_map(|text| text.split([' ', '=', ',', ':', '"', '\'', '\\']));
        parts.find_map(|part| {
            // Paths that are written out are judged as such.
            let is_plain = !part.is_empty() && !part.starts_with(['/', '~']) && !part.contains("..");
            let is_read = ["-I", "-L", "-C"].iter().any(|option| part.starts_with(option));
            (is_plain && !is_read && !part.contains("/~")).then(|| self.suspicion_of_write(part)).flatten()
        })
    }

    /// Why a program that a preset lets run code may write outside the root: an option that looks like one for output says so.
    fn suspicion_of_output(&self, call: &Call) -> Option<Suspicion> {
        let is_code = matches!(call.meaning.kind, Some(ProgramKind::Builder | ProgramKind::Interpreter));
        if !is_code || !self.rules.holds_any_code() {
            return None;
        }
        let texts: Vec<&str> = call.words.iter().skip(1).map(|word| word.value.lead()).collect();
        let is_output = |text: &str| {
            OUTPUT_OPTIONS.iter().any(|name| text == *name || name.len() > 2 && text.starts_with(name))
        };
        let values = texts.iter().enumerate().filter_map(|(at, text)| match text.split_once('=') {
            Some((name, value)) => is_output(name).then_some(value),
            None => is_output(texts.get(at.checked_sub(1)?)?).then_some(*text),
        });
        values.filter(|value| !value.is_empty()).find_map(|value| self.suspicion_of_write(value))
    }

    /// Why one of the options of a build tool, or a word behind one, may be a command.
    fn suspicion_of_options(&self, call: &Call) -> Option<Suspicion> {
        let texts: Vec<&str> = call.words.iter().skip(1).map(|word| word.value.lead()).collect();
        let is_option = |text: &str| text.starts_with('-');
        // An option, or the word behind one, which may be its value; or a text.
        let mut values = texts.iter().enumerate().filter(|(at, text)| {
            is_option(text)
                || text.contains([' ', ';', '|', '&', '{'])
                || at.checked_sub(1).and_then(|at| texts.get(at)).is_some_and(|text| is_option(text))
        });
        values.find_map(|(_, text)| self.suspicion_of_value(text))
    }

    /// Why a value may be a command: it names a program that is excluded, or a shell.
    pub(super) fn suspicion_of_value(&self, text: &str) -> Option<Suspicion> {
        let shell = || candidates(text).find(|name| kind_of(name) == Some(ProgramKind::Shell));
        let starts = |name| Suspicion::new(format!("it may start `{name}`: {NOTHING_KNOWN}"));
        self.excluded_in(text).or_else(|| shell().map(starts))
    }

    /// Why a word that the entry doesn't explain may be a command, or a file outside the root that is written.
    fn suspicion_of_unexplained(&self, call: &Call, word: &Word, is_named: bool) -> Option<Suspicion> {
        let before = call.words.iter().take_while(|other| *other != word).last();
        let before = before.map_or("", |word| word.value.lead());
        match &word.value {
            Value::Known(text) if names_language(text, before) => self.excluded_in(text),
            Value::Known(text) => self
                .suspicion_of_word(text, is_named)
                // A word of its own is more often a file to read or write.
                .or_else(|| self.suspicion_of_file(text, before).filter(|_| text.contains('=')))
                .or_else(|| self.suspicion_of_write(text).filter(|_| is_named)),
            Value::Unknown(unknown) if is_plainly_path(unknown) && !self.may_be_program(unknown) => None,
            Value::Unknown(_) => {
                Some(Suspicion::new(format!("it may run a word that can't be known: {NOTHING_KNOWN}")))
            }
        }
    }

    /// Why any word of the call, also one that the entry takes for a path, may be something else.
    fn suspicion_of_any(&self, call: &Call, is_named: bool) -> Option<Suspicion> {
        call.words.iter().skip(1).find_map(|word| {
            if perl_opens::may_be_command(word) {
                return Some(Suspicion::new(format!("{}: {NOTHING_KNOWN}", perl_opens::MESSAGE)));
            }
            if names_response(word) {
                return Some(Suspicion::new(format!(
                    "it may take further words from a file: {NOTHING_KNOWN}"
                )));
            }
            // `of=../x`, `file:../x`
            let text = word.value.known().filter(|_| is_named)?;
            let mut inner = path_candidates(text).filter(|path| *path != text);
            inner.find_map(|path| self.suspicion_of_write(path))
        })
    }
}

/// Whether a word is `@FILE`.
fn names_response(word: &Word) -> bool {
    let lead = word.value.lead();
    lead.starts_with('@') && (lead.len() > 1 || word.value.known().is_none())
}
