//! Says whether a call is one that a rule is about. Rules that deny or ask match loosely, rules that allow match strictly.
//!
//! For a loose match, the rule and the call are brought into one canonical form by the program's own grammar, so that
//! `rm -rf` is also `rm -f -r`, and `git push` is also `git -C d --no-pager push`. A word that can't be known may be the
//! one that the rule names. For a strict match, the call must begin with the rule's words as they are written, and the
//! program must be the one that PATH has in a trusted folder.

mod modes;
mod patterns;
mod short_forms;
mod started;
mod word_lists;

use std::os::unix::fs::MetadataExt as _;

use shellgate_syntax::{Span, Value, Word};

use self::short_forms::{has_short_forms, short_forms};
pub(crate) use self::started::started;
pub(crate) use self::word_lists::normal;
use self::word_lists::{by_position, by_skipping};
use crate::machine::{Found, Machine};
use crate::programs::words::WORD_SYNONYMS;
use crate::programs::{
    CallMeaning, Canonical, EffectKind, ProgramKind, Property, base_name, has, listed_name, understand,
};
use crate::redirects;
use crate::rules::Prefix;

/// Whether a rule that denies or asks is about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LooseMatch {
    Yes,
    /// Words that can't be known decide.
    Maybe,
    No,
}

/// Whether a rule that allows is about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StrictMatch {
    Yes,
    /// Almost: this keeps it from being one.
    Nearly(String),
    No,
}

/// A call, as rules are compared with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) words: &'a [Word],
    pub(crate) meaning: &'a CallMeaning,
    pub(crate) machine: &'a Machine,
    /// Whether words are added when it runs.
    pub(crate) more_words: bool,
}

impl Candidate<'_> {
    fn program(&self) -> Option<&str> {
        self.words.first()?.value.known()
    }

    /// Whether a rule that denies or asks is about the call, or about one that does the same.
    pub(crate) fn loosely(&self, prefix: &Prefix) -> LooseMatch {
        match prefix {
            Prefix::Everything => LooseMatch::Yes,
            Prefix::Words(words) | Prefix::Exactly(words) => self.loose_match(words),
            Prefix::Pattern(words) => self.loose_pattern_match(words),
        }
    }

    /// Whether a rule that allows is about the call.
    pub(crate) fn strictly(&self, prefix: &Prefix) -> StrictMatch {
        match prefix {
            Prefix::Everything => StrictMatch::Yes,
            Prefix::Words(words) => self.strict_match(words),
            Prefix::Exactly(words) if self.is_exactly(words) => StrictMatch::Yes,
            Prefix::Exactly(_) => StrictMatch::No,
            Prefix::Pattern(words) => self.strict_pattern_match(words),
        }
    }

    /// Whether a rule with this prefix that denies or asks is about the call, or about one that does the same.
    pub(crate) fn loose_match(&self, prefix: &[String]) -> LooseMatch {
        let found = self.match_as_written(prefix);
        let (program, wanted) = (self.program().and_then(listed_name), prefix.first().map(String::as_str));
        if found != LooseMatch::No
            || self.meaning.subcommands.is_empty()
            || prefix.len() < 2
            || program != wanted.and_then(listed_name)
            || !program.is_some_and(has_short_forms)
        {
            return found;
        }
        let rule: Vec<Word> = prefix.iter().map(|text| known_word(text)).collect();
        let text = |words: Vec<Word>| -> Vec<String> {
            words.iter().filter_map(|word| word.value.known()).map(str::to_owned).collect()
        };
        let rules: Vec<Vec<String>> = short_forms(&rule, &understand(&rule).subcommands).map(text).collect();
        let mut by_rule = rules.iter().map(|rule| self.match_as_written(rule));
        let mut by_call = short_forms(self.words, &self.meaning.subcommands).flat_map(|words| {
            let meaning = understand(&words);
            let call = Candidate { words: &words, meaning: &meaning, ..*self };
            let found =
                rules.iter().map(Vec::as_slice).chain([prefix]).map(|rule| call.match_as_written(rule));
            found.collect::<Vec<_>>()
        });
        let is_match = |found: &LooseMatch| *found != LooseMatch::No;
        by_rule.find(is_match).or_else(|| by_call.find(is_match)).unwrap_or(LooseMatch::No)
    }

    fn match_as_written(&self, prefix: &[String]) -> LooseMatch {
        let (Some(program), Some(wanted)) = (self.program(), prefix.first()) else { return LooseMatch::No };
        // `git-push` is what `git push` starts.
        if let [program_of_rule, subcommand, ..] = prefix
            && has(program_of_rule, Property::DashedSubcommands)
            && base_name(program)
                .strip_prefix(program_of_rule.as_str())
                .and_then(|rest| rest.strip_prefix('-'))
                == Some(subcommand)
        {
            return LooseMatch::Yes;
        }
        // `uv pip install` is `pip install`.
        let subcommands = &self.meaning.subcommands;
        if has(program, Property::StandsForPrograms) && subcommands.first() == Some(&wanted.as_str()) {
            let is_same = subcommands.iter().zip(prefix).all(|(own, wanted)| own == wanted);
            return match (is_same, prefix.len() <= subcommands.len()) {
                (true, true) => LooseMatch::Yes,
                (true, false) => LooseMatch::Maybe,
                (false, _) => LooseMatch::No,
            };
        }
        if !self.machine.remember_match(program, wanted, || is_program(program, wanted, self.machine)) {
            return LooseMatch::No;
        }
        let rule = meaning_of(prefix);
        let wanted = &rule.canonical;
        let ours = rest(&self.meaning.canonical);
        let synonyms = word_synonyms(program);
        let words = |all: &[Canonical]| -> Vec<Value> {
            let words = all.iter().filter_map(|one| match one {
                Canonical::Word(value) => Some(meant(&synonyms, value)),
                Canonical::Option(..) => None,
            });
            words.collect()
        };
        let (wanted_words, mut our_words) = (words(rest(wanted)), words(ours));
        if let (Some(mode), Some(our_mode)) =
            (wanted_words.first().and_then(Value::known), our_words.first_mut())
            && has(base_name(program), Property::TakesMode)
            && our_mode.known().is_some_and(|ours| modes::gives(ours, mode))
        {
            *our_mode = Value::Known(mode.to_owned());
        }
        let by_words = if self.meaning.kind.is_some() {
            let subcommands = self.meaning.subcommands.len();
            let unordered_from = self.meaning.unordered_from.map(|at| at + subcommands);
            by_position(&wanted_words, &our_words, unordered_from, self.more_words)
        } else {
            by_skipping(&wanted_words, &our_words, self.more_words)
        };
        let unsure = || {
            let effects = &self.meaning.effects;
            self.more_words
                || effects.iter().any(|effect| matches!(effect.kind, EffectKind::MaybeOption(_)))
                || self
                    .words
                    .iter()
                    .any(|word| matches!(&word.value, Value::Unknown(unknown) if unknown.splits))
        };
        let has_option = |name: &str| {
            self.meaning.implied.contains(&name)
                || ours.iter().any(|ours| matches!(ours, Canonical::Option(other, _) if other == name))
        };
        // `-D` is also there if all that it stands for is.
        let has_meaning = |name: &str| {
            let mut synonyms = rule.synonyms.iter().filter(|synonym| synonym.is_option(name));
            synonyms.any(|synonym| synonym.meant.iter().all(|meant| has_option(meant)))
        };
        let has_options = rest(wanted).iter().all(|one| match one {
            Canonical::Word(_) => true,
            Canonical::Option(name, None) => has_option(name) || has_meaning(name),
            Canonical::Option(name, Some(value)) => {
                ours.iter().any(|ours| is_same_option(&synonyms, ours, name, value))
            }
        });
        match (by_words, has_options) {
            (LooseMatch::No, _) => LooseMatch::No,
            (found, true) => found,
            (_, false) if unsure() => LooseMatch::Maybe,
            (_, false) => LooseMatch::No,
        }
    }

    /// Whether the call has these words and no others.
    pub(crate) fn is_exactly(&self, words: &[String]) -> bool {
        self.words.len() == words.len() && !self.more_words && self.strict_match(words) == StrictMatch::Yes
    }

    /// Whether a rule with this prefix that allows is about the call.
    pub(crate) fn strict_match(&self, prefix: &[String]) -> StrictMatch {
        let (Some(program), Some(wanted)) = (self.program(), prefix.first()) else { return StrictMatch::No };
        let is_written_so = |words: &[Word]| {
            words.len() >= prefix.len()
                && words.iter().zip(prefix).skip(1).all(|(word, wanted)| word.value.known() == Some(wanted))
        };
        let names_subcommand = prefix.len() > 1;
        let is_there =
            is_written_so(self.words) || names_subcommand && self.fits_behind_options(is_written_so);
        if !is_there {
            return match self.match_as_written(prefix) {
                LooseMatch::Yes => {
                    StrictMatch::Nearly("options or unknown words stand between its words".to_owned())
                }
                _ => StrictMatch::No,
            };
        }
        self.strict_program(program, wanted)
    }

    /// Whether a program is the one that a rule that allows names.
    fn strict_program(&self, program: &str, wanted: &str) -> StrictMatch {
        if program == wanted && wanted.contains('/') {
            return StrictMatch::Yes;
        }
        // Bash doesn't search for its own commands.
        if program == wanted && self.meaning.kind == Some(ProgramKind::Builtin) {
            return StrictMatch::Yes;
        }
        match (program == wanted, self.machine.find(wanted)) {
            (true, Found::Trusted(_) | Found::Nowhere) => StrictMatch::Yes,
            (true, Found::Untrusted(file)) => StrictMatch::Nearly(format!(
                "`{program}` is `{}`, and that folder or one before it on PATH is inside the root or can be \
                 written by others",
                file.display()
            )),
            (false, Found::Trusted(file)) if !wanted.contains('/') && file.to_str() == Some(program) => {
                StrictMatch::Yes
            }
            (false, _) if base_name(program) == wanted => {
                StrictMatch::Nearly(format!("`{program}` is not the `{wanted}` that is found on PATH"))
            }
            (false, _) => StrictMatch::No,
        }
    }
}

impl Candidate<'_> {
    /// Whether an option with this effect only chooses or reads something.
    fn is_harmless(&self, effect: &EffectKind) -> bool {
        match effect {
            EffectKind::Reads(word) | EffectKind::Directory(Some(word)) => {
                let path = redirects::known_path(&word.value, self.machine);
                let start = [self.machine.directory().to_owned()];
                path.is_some_and(|path| self.machine.is_inside(&path, Some(&start)))
            }
            _ => false,
        }
    }
}

fn known_word(text: &str) -> Word {
    Word { span: Span::default(), value: Value::Known(text.to_owned()) }
}

/// Words that mean the same to a program: `9` and `KILL`, each with the one that stands for both.
fn word_synonyms(program: &str) -> Vec<(&'static str, &'static str)> {
    let rows = WORD_SYNONYMS.iter().filter_map(|row| row.strip_prefix(base_name(program))?.strip_prefix(' '));
    rows.filter_map(|row| row.split_once(" is ")).collect()
}

/// A word by the one that stands for it.
fn meant(synonyms: &[(&str, &str)], value: &Value) -> Value {
    let found =
        value.known().and_then(|text| synonyms.iter().find(|(other, _)| other.eq_ignore_ascii_case(text)));
    found.map_or_else(|| value.clone(), |(_, first)| Value::Known((*first).to_owned()))
}

/// The meaning of a rule's words.
fn meaning_of(prefix: &[String]) -> CallMeaning {
    understand(&prefix.iter().map(|text| known_word(text)).collect::<Vec<_>>())
}

/// Whether a part of a call is an option with this value, by any spelling of a path in it.
fn is_same_option(synonyms: &[(&str, &str)], part: &Canonical, name: &str, value: &Value) -> bool {
    let Canonical::Option(other, Some(given)) = part else { return false };
    let (given, value) = (&meant(synonyms, given), &meant(synonyms, value));
    let is_same = || match (given.known(), value.known()) {
        (Some(given), Some(value)) => normal(given) == normal(value),
        _ => given == value,
    };
    other == name && is_same()
}

/// A canonical form without the program.
fn rest(canonical: &[Canonical]) -> &[Canonical] {
    canonical.get(1..).unwrap_or_default()
}

/// Whether a program is the one that a rule names: by its name, by the name that its links lead to, or because it is the same
/// file. A file that has many names (busybox) is not each of the programs.
pub(crate) fn is_program(program: &str, wanted: &str, machine: &Machine) -> bool {
    let name = base_name(wanted);
    if base_name(program) == name {
        return true;
    }
    // `pip3.11` is `pip`.
    if has(name, Property::ManyNames)
        && listed_name(program).is_some_and(|own| Some(own) == listed_name(name))
    {
        return true;
    }
    let file = if program.contains('/') {
        machine.program_file(program)
    } else {
        match machine.find(program) {
            Found::Trusted(file) | Found::Untrusted(file) => file.canonicalize().ok(),
            Found::Nowhere => None,
        }
    };
    let Some(file) = file else { return false };
    if file.file_name().is_some_and(|end| end == name) {
        return true;
    }
    let (Found::Trusted(forbidden) | Found::Untrusted(forbidden)) = machine.find(name) else { return false };
    let Ok(forbidden) = forbidden.canonicalize() else { return false };
    let same = |one: &std::fs::Metadata, other: &std::fs::Metadata| {
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    };
    // Files with many names are different programs, unless all are names of one: `cc` and `gcc-12` are `gcc`.
    let family = |program: &str| listed_name(program);
    let is_family = family(name).is_some() && family(program) == family(name);
    (is_family || forbidden.file_name().is_some_and(|end| end == name))
        && matches!((file.metadata(), forbidden.metadata()), (Ok(one), Ok(other)) if same(&one, &other))
}
