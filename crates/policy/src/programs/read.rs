//! Reads a call by its entry in the tables: options, values, operands, subcommands.

use super::collector::{Collector, after, with_text};
use super::form::Role;
use super::form::{Entry, Input, OptionEntry, Parsing, ValueForm};
use super::operand;
use super::option::{self, MatchedOption, OptionMatch};
use super::{EffectKind, special};
use shellgate_syntax::{Unknown, Value, Why, Word};

const UNKNOWN_OPTION: &str = "has an option that isn't known for this program";
const HIDDEN_OPTION: &str = "has an option that may be the value of the option before it";
const UNKNOWN_SUBCOMMAND: &str =
    "has a subcommand that isn't known for this program; it may be an alias or an extension";

/// Words with which alone programs print something and end.
const PRINTING: [&str; 2] = ["--version", "--help"];

/// A call that is being read.
struct CallReader {
    entry: &'static Entry,
    words: Vec<Word>,
    /// The index of the next word.
    next_index: usize,
    /// Whether all further words are operands.
    options_ended: bool,
    /// The options so far, by their first names.
    given: Vec<&'static str>,
    operands: Vec<Word>,
    /// Whether the word before may be an option that takes the next word as its value. The entry doesn't list it.
    behind_loose: bool,
    /// Where the canonical form of this entry's own words begins.
    canonical_start: usize,
}

/// Reads a call. `words` follow the name of the program or subcommand.
pub(crate) fn call(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    collector.meaning.kind = Some(entry.kind);
    collector.meaning.is_incomplete = !entry.subcommands.is_empty();
    if !entry.synonyms.is_empty() {
        collector.meaning.synonyms = &entry.synonyms;
    }
    collector.meaning.unordered_from = operand::unordered_from(entry);
    collector.meaning.is_loose = entry.open || entry.options().any(OptionEntry::is_loose);
    let only_prints =
        matches!(words, [word] if word.value.known().is_some_and(|text| PRINTING.contains(&text)));
    if let Some(why) = entry.because.filter(|_| !only_prints) {
        collector.call_effect(EffectKind::Unusual(why));
    }
    match entry.special() {
        Some(special) => special(entry, words, collector),
        None => by_table(entry, words, collector),
    }
}

/// Reads the words by the table alone. Special functions call this for the part of a call that the table knows.
pub(crate) fn by_table(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let canonical_start = collector.meaning.canonical.len();
    let mut reader = CallReader {
        entry,
        words: words.to_vec(),
        next_index: 0,
        options_ended: entry.parsing == Parsing::Words,
        given: Vec::new(),
        operands: Vec::new(),
        behind_loose: false,
        canonical_start,
    };
    while let Some(word) = reader.next() {
        if reader.is_option(&word) {
            reader.option(&word, collector);
        } else if reader.operand(&word, collector) {
            return;
        }
    }
    operand::assign(entry, &reader.operands, &reader.given, collector);
    if let Some(input) = entry.input
        && (!collector.names_code || input == Input::Keys)
        && !collector.prints
    {
        collector.call_effect(match input {
            Input::Shell => EffectKind::ShellInput(None),
            Input::Code | Input::Keys => EffectKind::OpaqueInput(entry.language),
        });
    }
}

impl CallReader {
    fn next(&mut self) -> Option<Word> {
        let word = self.words.get(self.next_index)?;
        self.next_index += 1;
        Some(word.clone())
    }

    fn rest(&self) -> Vec<Word> {
        self.words.get(self.next_index..).unwrap_or_default().to_vec()
    }

    /// Puts the words that are written in this one into the call, so that they are read next (`env -S`).
    fn splice(&mut self, word: &Word, collector: &mut Collector) {
        match special::env_split(word) {
            Some(words) => {
                let at = self.next_index.min(self.words.len());
                self.words.splice(at..at, words);
            }
            None => collector.effect(
                word,
                EffectKind::Opaque(word.clone(), "a command line that can't be split with certainty"),
            ),
        }
    }

    /// Whether a word is read as an option.
    fn is_option(&self, word: &Word) -> bool {
        if self.options_ended {
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

    fn option(&mut self, word: &Word, collector: &mut Collector) {
        if word.value.known() == Some("--") {
            self.options_ended = true;
            return;
        }
        self.behind_loose = false;
        let mut from = 0;
        loop {
            let found = option::find(self.entry, word, from);
            match found {
                OptionMatch::Found(matched, next) => {
                    self.apply(word, matched, collector);
                    match next {
                        Some(next) => from = next,
                        None => return,
                    }
                }
                OptionMatch::Incomplete => {
                    // What follows the known letters may be any option.
                    if self.entry.options_matter {
                        collector.effect(word, EffectKind::MaybeOption(word.clone()));
                    }
                    collector.word(word.value.clone());
                    return;
                }
                OptionMatch::None => {
                    if self.entry.open {
                        self.note_loose(word, collector);
                    } else {
                        collector.effect(word, EffectKind::Unusual(UNKNOWN_OPTION));
                    }
                    collector.word(word.value.clone());
                    return;
                }
            }
        }
    }

    /// Applies an option and reads its values.
    fn apply(&mut self, word: &Word, matched: MatchedOption, collector: &mut Collector) {
        let MatchedOption { option, negated, value: glued } = matched;
        let name = option.names.first().copied().unwrap_or_default();
        if let Some(negated) = negated {
            collector.option(&negated, glued.map(|word| word.value));
            return;
        }
        self.given.push(name);
        if option.is_loose() {
            self.note_loose(word, collector);
        }
        collector.prints |= option.prints;
        if let Some(why) = option.unusual {
            collector.effect(word, EffectKind::Unusual(why));
        }
        let effects_before = collector.meaning.effects.len();
        let mut values = Vec::new();
        let mut missing = option.values.as_slice();
        match (option.value_form, glued) {
            (ValueForm::None | ValueForm::Any | ValueForm::Digits, None) => {}
            (ValueForm::None | ValueForm::Any | ValueForm::Digits, Some(_)) => {
                collector.effect(word, EffectKind::Unusual(UNKNOWN_OPTION))
            }
            (ValueForm::Optional | ValueForm::LongOptional, None) => missing = &[],
            (ValueForm::Glued, None) if name_is_long(word) => missing = &[],
            (_, None) => {}
            (form, Some(glued)) => {
                self.note_split(&glued, collector);
                let takes_next = form == ValueForm::Required && !name_is_long(word) && may_be_empty(&glued);
                if takes_next && self.options_matter() {
                    // Then the option takes the next word: `env -u"$x" ls`.
                    collector.effect(word, EffectKind::MaybeOption(word.clone()));
                }
                if let Some((role, others)) = missing.split_first() {
                    if *role == Role::EnvSplit {
                        self.splice(&glued, collector);
                    }
                    collector.role(*role, &glued, self.entry.language);
                    values.push(glued.value.clone());
                    missing = others;
                }
            }
        }
        for role in missing {
            if let Some(value) = self.value(*role, collector) {
                values.push(value);
            }
        }
        if !option.values.iter().any(|role| matches!(role, Role::Output | Role::HostWrite)) {
            collector.note_side_files(effects_before);
        }
        let mut values = values.into_iter();
        collector.option(name, values.next());
        values.for_each(|value| collector.word(value));
        if option.ends {
            special::python_arguments(&self.rest(), collector);
            self.rest().iter().for_each(|word| collector.word(word.value.clone()));
            self.next_index = self.words.len();
        }
    }

    /// Reads the next word as an option's value.
    fn value(&mut self, role: Role, collector: &mut Collector) -> Option<Value> {
        let rest = self.rest();
        match role {
            Role::Command | Role::CommandMore | Role::Remote => {
                self.next_index = self.words.len();
                collector.rest(role, &rest);
                return None;
            }
            Role::CommandUntil => {
                let end = rest.iter().position(|word| word.value.known() == Some(";"));
                self.next_index += end.map_or(rest.len(), |end| end + 1);
                collector.runs(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default(), true);
                return None;
            }
            _ => {}
        }
        let word = self.next()?;
        self.note_split(&word, collector);
        if self.is_option(&word) && option::any_matters(self.entry, &word) {
            // Versions of a program differ in which options take the next word: `rg --engine --pre=./p`.
            collector.effect(&word, EffectKind::Unusual(HIDDEN_OPTION));
        }
        if role == Role::EnvSplit {
            self.splice(&word, collector);
        }
        collector.role(role, &word, self.entry.language);
        Some(word.value)
    }

    /// Notes an option that the entry doesn't list. Without a value of its own, the next word may be that.
    fn note_loose(&mut self, word: &Word, collector: &mut Collector) {
        collector.meaning.unexplained.push(word.clone());
        self.behind_loose = !word.value.lead().contains('=');
    }

    /// Notes a value that may become several words: one of them may be an option.
    fn note_split(&self, word: &Word, collector: &mut Collector) {
        if self.options_matter() && matches!(&word.value, Value::Unknown(unknown) if unknown.splits) {
            collector.effect(word, EffectKind::MaybeOption(word.clone()));
        }
    }

    /// Whether it matters which words are options.
    fn options_matter(&self) -> bool {
        self.entry.options_matter || operand::has_command(self.entry, &self.given)
    }

    /// Reads an operand or a subcommand. True if that was the last of the call.
    fn operand(&mut self, word: &Word, collector: &mut Collector) -> bool {
        let entry = self.entry;
        if std::mem::take(&mut self.behind_loose) || entry.open && entry.operands.is_none() {
            collector.meaning.unexplained.push(word.clone());
        }
        let first = self.operands.is_empty();
        let known = word.value.known();
        if first && !entry.subcommands.is_empty() {
            if let Some(sub) =
                known.and_then(|name| entry.subcommands.iter().find(|sub| sub.names.contains(&name)))
            {
                // Options before a subcommand are no part of the canonical form.
                let before = collector.meaning.canonical.split_off(self.canonical_start);
                collector.globals.extend(before);
                // `npm -g install` is `npm install -g`.
                let is_same = |one: &OptionEntry, other: &OptionEntry| one.names == other.names;
                let is_shared = |name: &&str| {
                    Option::zip(entry.option(name), sub.option(name))
                        .is_some_and(|(one, other)| is_same(one, other))
                };
                collector.meaning.implied.extend(self.given.iter().copied().filter(is_shared));
                let name = sub.names.first().copied().unwrap_or_default();
                collector.meaning.subcommands.push(name);
                collector.meaning.written_subcommands.extend(known.map(str::to_owned));
                collector.word(with_text(word, name).value);
                call(sub, &self.rest(), collector);
                return true;
            }
            if entry.operands.is_none() && known.is_some() && !entry.open {
                collector.effect(word, EffectKind::Unusual(UNKNOWN_SUBCOMMAND));
                collector.word(word.value.clone());
                self.rest().iter().for_each(|word| collector.word(word.value.clone()));
                return true;
            }
        }
        let may_be_option = !self.options_ended || (first && !entry.subcommands.is_empty());
        if entry.parsing == Parsing::Leading {
            self.options_ended = true;
        }
        let rest = operand::rest_role(entry, &self.operands, &self.given, word);
        // If the first word of a command or text isn't known, its own effect says so.
        let says_so_itself = matches!(rest, Some(Role::Command | Role::CommandMore | Role::Shell));
        // If it becomes no word or several, what follows it is another operand than it seems to be.
        let moves_command = operand::splits(word)
            && (operand::has_command(entry, &self.given) || first && !entry.subcommands.is_empty());
        let may_be_option = may_be_option && entry.options_matter && may_be_an_option(word);
        if (may_be_option || moves_command && rest.is_none()) && !says_so_itself {
            collector.effect(word, EffectKind::MaybeOption(word.clone()));
        }
        if let Some(role) = rest {
            let words = self.words.get(self.next_index.saturating_sub(1)..).unwrap_or_default();
            words.iter().for_each(|word| collector.word(word.value.clone()));
            operand::assign(entry, &self.operands, &self.given, collector);
            collector.rest(role, words);
            return true;
        }
        collector.word(word.value.clone());
        self.operands.push(word.clone());
        // Words behind a script are arguments of the script.
        if operand::rest_role(entry, &self.operands, &self.given, word) == Some(Role::Args) {
            self.options_ended = true;
        }
        false
    }
}

/// Whether a word that isn't known may be an option, or become words of which one is.
pub(super) fn may_be_an_option(word: &Word) -> bool {
    let Value::Unknown(unknown) = &word.value else {
        return false;
    };
    match &unknown.why {
        why if special::is_number(why) && is_value_of_variable(unknown) => false,
        // Folders that the shell itself keeps begin with a slash.
        Why::Parameter(name)
            if ["HOME", "PWD"].contains(&name.as_str())
                && !unknown.splits
                && is_value_of_variable(unknown) =>
        {
            false
        }
        // Names of files that exist begin as the pattern does.
        Why::Tilde { .. } | Why::Process => false,
        Why::Glob | Why::Brace => unknown.lead.is_empty(),
        _ => unknown.lead.is_empty() || unknown.splits,
    }
}

/// Whether a word is the value of a variable, unchanged, and what follows it is known. `$!` may be empty: then what follows
/// would begin the word.
fn is_value_of_variable(unknown: &Unknown) -> bool {
    let may_be_empty = matches!(&unknown.why, Why::Parameter(name) if name == "!");
    unknown.tail.as_ref().is_some_and(|tail| tail.is_empty() || !may_be_empty)
}

/// Whether an option is written with a long name.
/// Whether a value that is glued to an option may turn out to be empty.
fn may_be_empty(value: &Word) -> bool {
    let Value::Unknown(unknown) = &value.value else { return false };
    let may_vanish = !matches!(unknown.why, Why::Arithmetic | Why::Tilde { .. } | Why::Glob | Why::Process);
    may_vanish && unknown.lead.is_empty() && unknown.tail.as_deref().is_none_or(str::is_empty)
}

fn name_is_long(word: &Word) -> bool {
    after(word, 2).is_some() && word.value.lead().starts_with("--")
}
