//! Where the variables, parameters and files of a text get their values.

use shellgate_syntax::{Invocation, RedirectOperator, RedirectTarget, Word};

use super::values::{KnownText, MAX_VALUES, function_of, plain_path};
use crate::programs::base_name;

/// Where a variable gets a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given {
    /// By an assignment of an invocation.
    Assigned(usize, usize),
    /// By a word of a builtin, behind so many bytes: `export x=…`.
    Declared(usize, usize, usize),
    /// By a line that an invocation reads: which word of it, counted from zero. `None`: all of it.
    Line(usize, Option<usize>),
    /// By what an invocation prints: `printf -v`.
    Output(usize),
    /// By the word of an invocation at this place.
    Argument(usize, usize),
    /// By all of its words from this place on.
    Arguments(usize, usize),
}

impl Given {
    /// The invocation that gives the value.
    pub(super) const fn place(self) -> usize {
        match self {
            Self::Assigned(at, _)
            | Self::Declared(at, ..)
            | Self::Line(at, _)
            | Self::Output(at)
            | Self::Argument(at, _)
            | Self::Arguments(at, _) => at,
        }
    }
}

impl<'a> KnownText<'a> {
    pub(super) fn note(&mut self, at: usize, invocation: &'a Invocation) {
        for (index, assignment) in invocation.assignments.iter().enumerate() {
            self.give(&assignment.name, Given::Assigned(at, index));
        }
        for redirect in &invocation.redirects {
            let RedirectTarget::Word(word) = &redirect.target else { continue };
            let writes = matches!(
                redirect.operator,
                RedirectOperator::Write
                    | RedirectOperator::Append
                    | RedirectOperator::Clobber
                    | RedirectOperator::WriteBoth
            );
            if let Some(path) = word.value.known().filter(|_| writes) {
                self.files.entry(plain_path(path)).or_default().push(at);
            }
        }
        let words = invocation.words.as_slice();
        let Some(name) = words.first().and_then(|word| word.value.known()) else { return };
        let known = |word: &'a Word| word.value.known();
        match base_name(name) {
            "read" => self.note_reader(at, words, "pdnNtuia"),
            "mapfile" | "readarray" => self.note_reader(at, words, "dnOsucC"),
            "printf" => {
                if let [_, option, variable, ..] = words
                    && option.value.known() == Some("-v")
                    && let Some(variable) = variable.value.known()
                {
                    self.give(variable, Given::Output(at));
                }
            }
            "declare" | "typeset" | "local" | "export" | "readonly" => {
                for (index, word) in words.iter().enumerate().skip(1) {
                    if let Some((variable, _)) = word.span.of(self.source).split_once('=') {
                        self.give(variable, Given::Declared(at, index, variable.len() + 1));
                    }
                }
            }
            "shift" => {
                self.shifting.insert(function_of(invocation));
            }
            "set" => {
                let from = words.iter().position(|word| known(word) == Some("--")).map_or(1, |at| at + 1);
                let is_plain = words.get(from).is_some_and(|word| !word.value.lead().starts_with(['-', '+']));
                if from > 1 || is_plain {
                    self.give_parameters(function_of(invocation), at, from);
                }
            }
            "tee" => {
                for path in words.iter().skip(1).filter_map(known).filter(|path| !path.starts_with('-')) {
                    self.files.entry(plain_path(path)).or_default().push(at);
                }
            }
            "ln" | "mv" => {
                let is_link = base_name(name) == "ln";
                let options: Vec<&str> =
                    words.iter().filter_map(known).filter(|word| word.starts_with('-')).collect();
                let is_symbolic = options.iter().any(|option| option.contains('s'));
                let operands: Vec<&Word> =
                    words.iter().skip(1).filter(|word| !word.value.lead().starts_with('-')).collect();
                if let [target, other] = operands.as_slice()
                    && let Some(other) = other.value.known()
                    && (!is_link || is_symbolic)
                {
                    self.other_names.push((plain_path(other), target, is_link));
                }
            }
            _ => {}
        }
        if self.functions.contains(name) {
            self.give_parameters(name, at, 1);
        }
    }

    /// `with_value`: the letters of options that a value follows.
    fn note_reader(&mut self, at: usize, words: &'a [Word], with_value: &str) {
        let mut names: Vec<&str> = Vec::new();
        let mut words = words.iter().skip(1).filter_map(|word| word.value.known());
        while let Some(word) = words.next() {
            match word.strip_prefix('-') {
                Some(letters) if letters.ends_with('a') => names.extend(words.next()),
                Some(letters) if letters.ends_with(|c| with_value.contains(c)) => {
                    words.next();
                }
                Some(_) => {}
                None => names.push(word),
            }
        }
        match names.as_slice() {
            [] => self.give("REPLY", Given::Line(at, None)),
            [name] => self.give(name, Given::Line(at, None)),
            several => {
                several
                    .iter()
                    .enumerate()
                    .for_each(|(index, name)| self.give(name, Given::Line(at, Some(index))));
            }
        }
    }

    fn give(&mut self, name: &str, given: Given) {
        self.given.entry(name.to_owned()).or_default().push(given);
    }

    /// Notes what `$1`, `$2` … are in a function, or outside all of them.
    fn give_parameters(&mut self, function: &str, at: usize, from: usize) {
        let count = self.invocations.get(at).map_or(0, |one| one.words.len());
        for (number, place) in (from..count.min(from + MAX_VALUES)).enumerate() {
            self.give(&parameter(function, &(number + 1).to_string()), Given::Argument(at, place));
        }
        for all in ["@", "*"] {
            self.give(&parameter(function, all), Given::Arguments(at, from));
        }
    }
}

/// The name under which a parameter of a function is kept.
pub(super) fn parameter(function: &str, number: &str) -> String {
    format!("{function}\n{number}")
}
