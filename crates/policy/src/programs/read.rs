//! Reads a call by an entry of the tables: options, values, operands, subcommands.

use super::entry::{Entry, Input, Parsing, Takes};
use super::operand;
use super::option::{self, Found, Hit};
use super::role::Role;
use super::sink::{Sink, after, with_text};
use super::{What, special};
use shellgate_syntax::{Unknown, Value, Why, Word};

const UNKNOWN_OPTION: &str = "has an option that isn't known for this program";
const UNKNOWN_SUBCOMMAND: &str =
    "has a subcommand that isn't known for this program; it may be an alias or an extension";

/// Where reading is.
struct Reader {
    entry: &'static Entry,
    words: Vec<Word>,
    /// The next word.
    at: usize,
    /// No options from here on.
    done: bool,
    /// Options seen, by their first names.
    given: Vec<&'static str>,
    operands: Vec<Word>,
    /// Where the canonical form of this entry's own words begins.
    canonical: usize,
}

/// Reads `words`, which follow the program's or subcommand's name.
pub(crate) fn call(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    sink.understood.kind = Some(entry.kind);
    if let Some(why) = entry.because {
        sink.whole(What::Unusual(why));
    }
    match entry.special {
        Some(special) => special(entry, words, sink),
        None => plainly(entry, words, sink),
    }
}

/// Reads the words by the table alone. Special functions come here when they have done their part.
pub(crate) fn plainly(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    let canonical = sink.understood.canonical.len();
    let mut reader = Reader {
        entry,
        words: words.to_vec(),
        at: 0,
        done: false,
        given: Vec::new(),
        operands: Vec::new(),
        canonical,
    };
    reader.done = entry.parsing == Parsing::Words;
    while let Some(word) = reader.next() {
        if reader.is_option(&word) {
            reader.option(&word, sink);
        } else if reader.operand(&word, sink) {
            return;
        }
    }
    operand::assign(entry, &reader.operands, &reader.given, sink);
    if let Some(input) = entry.input
        && !sink.names_code
        && !sink.prints
    {
        sink.whole(match input {
            Input::Shell => What::ShellInput(None),
            Input::Code => What::OpaqueInput(entry.language),
        });
    }
}

impl Reader {
    fn next(&mut self) -> Option<Word> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word.clone())
    }

    fn rest(&self) -> Vec<Word> {
        self.words.get(self.at..).unwrap_or_default().to_vec()
    }

    /// Reads what this word holds as words of the call, next.
    fn splice(&mut self, word: &Word, sink: &mut Sink) {
        match special::env_split(word) {
            Some(words) => {
                let at = self.at.min(self.words.len());
                self.words.splice(at..at, words);
            }
            None => sink.effect(
                word,
                What::Opaque(word.clone(), "a command line that can't be split with certainty"),
            ),
        }
    }

    /// Whether a word stands where options are read, and looks like one.
    fn is_option(&self, word: &Word) -> bool {
        if self.done {
            return false;
        }
        let lead = word.value.lead();
        let known = word.value.known().is_some();
        match self.entry.parsing {
            Parsing::Assignments => true,
            _ if lead.starts_with('+') => option::has_plus(self.entry),
            _ if lead == "--" && known => self.entry.dashes,
            _ if lead == "-" && known => option::has(self.entry, "-"),
            _ => lead.starts_with('-'),
        }
    }

    fn option(&mut self, word: &Word, sink: &mut Sink) {
        if word.value.known() == Some("--") {
            self.done = true;
            return;
        }
        let mut from = 0;
        loop {
            let found = option::find(self.entry, word, from);
            match found {
                Found::Option(hit, next) => {
                    self.apply(word, hit, sink);
                    match next {
                        Some(next) => from = next,
                        None => return,
                    }
                }
                Found::Cut => {
                    // What follows the known letters may be any option.
                    if self.entry.matters {
                        sink.effect(word, What::MaybeOption(word.clone()));
                    }
                    sink.word(word.value.clone());
                    return;
                }
                Found::Nothing => {
                    if !self.entry.open {
                        sink.effect(word, What::Unusual(UNKNOWN_OPTION));
                    }
                    sink.word(word.value.clone());
                    return;
                }
            }
        }
    }

    /// An option with what is glued to it. Takes the words that are its values.
    fn apply(&mut self, word: &Word, hit: Hit, sink: &mut Sink) {
        let Hit { option, negated, value: glued } = hit;
        let name = option.names.first().copied().unwrap_or_default();
        if let Some(negated) = negated {
            sink.option(&negated, glued.map(|word| word.value));
            return;
        }
        self.given.push(name);
        sink.prints |= option.prints;
        if let Some(why) = option.unusual {
            sink.effect(word, What::Unusual(why));
        }
        let mut values = Vec::new();
        let mut missing = option.values;
        match (option.takes, glued) {
            (Takes::Nothing | Takes::Digits, None) => {}
            (Takes::Nothing | Takes::Digits, Some(_)) => sink.effect(word, What::Unusual(UNKNOWN_OPTION)),
            (Takes::Optional, None) => missing = &[],
            (Takes::Glued, None) if name_is_long(word) => missing = &[],
            (_, None) => {}
            (_, Some(glued)) => {
                self.may_split(&glued, sink);
                if let Some((role, others)) = missing.split_first() {
                    if *role == Role::EnvSplit {
                        self.splice(&glued, sink);
                    }
                    sink.role(*role, &glued, self.entry.language);
                    values.push(glued.value.clone());
                    missing = others;
                }
            }
        }
        for role in missing {
            if let Some(value) = self.value(*role, sink) {
                values.push(value);
            }
        }
        let mut values = values.into_iter();
        sink.option(name, values.next());
        values.for_each(|value| sink.word(value));
        if option.ends {
            self.rest().iter().for_each(|word| sink.word(word.value.clone()));
            self.at = self.words.len();
        }
    }

    /// The next word as an option's value.
    fn value(&mut self, role: Role, sink: &mut Sink) -> Option<Value> {
        let rest = self.rest();
        match role {
            Role::Command | Role::CommandMore | Role::Remote => {
                self.at = self.words.len();
                sink.rest(role, &rest);
                return None;
            }
            Role::CommandUntil => {
                let end = rest.iter().position(|word| word.value.known() == Some(";"));
                self.at += end.map_or(rest.len(), |end| end + 1);
                sink.runs(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default(), true);
                return None;
            }
            _ => {}
        }
        let word = self.next()?;
        self.may_split(&word, sink);
        if role == Role::EnvSplit {
            self.splice(&word, sink);
        }
        sink.role(role, &word, self.entry.language);
        Some(word.value)
    }

    /// A value that may become several words shifts those behind it.
    fn may_split(&self, word: &Word, sink: &mut Sink) {
        if self.entry.matters && matches!(&word.value, Value::Unknown(unknown) if unknown.splits) {
            sink.effect(word, What::MaybeOption(word.clone()));
        }
    }

    /// An operand or subcommand. True if all words have been read.
    fn operand(&mut self, word: &Word, sink: &mut Sink) -> bool {
        let entry = self.entry;
        let first = self.operands.is_empty();
        let known = word.value.known();
        if first && !entry.subcommands.is_empty() {
            if let Some(sub) =
                known.and_then(|name| entry.subcommands.iter().find(|sub| sub.names.contains(&name)))
            {
                // Options before a subcommand are no part of the canonical form.
                sink.understood.canonical.truncate(self.canonical);
                let name = sub.names.first().copied().unwrap_or_default();
                sink.understood.subcommands.push(name);
                sink.word(with_text(word, name).value);
                call(sub, &self.rest(), sink);
                return true;
            }
            if entry.operands.is_none() && known.is_some() && !entry.open {
                sink.effect(word, What::Unusual(UNKNOWN_SUBCOMMAND));
                sink.word(word.value.clone());
                self.rest().iter().for_each(|word| sink.word(word.value.clone()));
                return true;
            }
        }
        let may_be_option = !self.done || (first && !entry.subcommands.is_empty());
        if entry.parsing == Parsing::Leading {
            self.done = true;
        }
        let rest = operand::rest_role(entry, &self.operands, &self.given, word);
        // The first word of a command or text that isn't known says enough by itself.
        let says = matches!(rest, Some(Role::Command | Role::CommandMore | Role::Shell));
        if may_be_option && entry.matters && !says && may_be(word) {
            sink.effect(word, What::MaybeOption(word.clone()));
        }
        if let Some(role) = rest {
            let words = self.words.get(self.at.saturating_sub(1)..).unwrap_or_default();
            words.iter().for_each(|word| sink.word(word.value.clone()));
            operand::assign(entry, &self.operands, &self.given, sink);
            sink.rest(role, words);
            return true;
        }
        sink.word(word.value.clone());
        self.operands.push(word.clone());
        // Behind a script everything is for the script.
        if operand::rest_role(entry, &self.operands, &self.given, word) == Some(Role::Args) {
            self.done = true;
        }
        false
    }
}

/// Whether a word that isn't known may be an option, or become words of which one is.
fn may_be(word: &Word) -> bool {
    let Value::Unknown(unknown) = &word.value else {
        return false;
    };
    match &unknown.why {
        why if special::is_number(why) && is_plain(unknown) => false,
        // Folders that the shell itself keeps begin with a slash.
        Why::Parameter(name)
            if ["HOME", "PWD"].contains(&name.as_str()) && !unknown.splits && is_plain(unknown) =>
        {
            false
        }
        // Names of files that exist begin as the pattern does.
        Why::Tilde { .. } | Why::Process => false,
        Why::Glob | Why::Brace => unknown.lead.is_empty(),
        _ => unknown.lead.is_empty() || unknown.splits,
    }
}

/// Whether it begins with the value of a variable, which isn't changed on the way. `$!` may be empty.
fn is_plain(unknown: &Unknown) -> bool {
    let may_be_empty = matches!(&unknown.why, Why::Parameter(name) if name == "!");
    unknown.tail.as_ref().is_some_and(|tail| tail.is_empty() || !may_be_empty)
}

/// Whether the option was written with a long name.
fn name_is_long(word: &Word) -> bool {
    after(word, 2).is_some() && word.value.lead().starts_with("--")
}
