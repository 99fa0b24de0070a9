//! Compares patterns of words with calls: `npm run *`, `git * main`, `* --version`.
//!
//! A pattern is read from left to right, and each of its words moves a set of places in the call: the places where the
//! words so far may end. So the work is the number of words times the length of the pattern, however many `*` it has.

use shellgate_syntax::{Value, Word};

use super::{Candidate, LooseMatch, StrictMatch, is_program, known_word, meaning_of, rest, short_forms};
use crate::machine::Found;
use crate::programs::{Canonical, ProgramKind, Property, base_name, fits_pattern, has, understand};

/// What stands for one or more words.
const ANY_WORDS: &str = "*";

/// Whether a word of a pattern stands for more than itself.
fn is_open(word: &str) -> bool {
    word.contains('*')
}

/// Whether a text is what a word of a pattern describes. In a path, `*` doesn't stand for a way up, and `x/*` isn't `x/` itself.
fn fits(wanted: &str, text: &str) -> bool {
    let leads_up = || text.split('/').any(|name| name == "..");
    let is_folder_itself =
        || wanted.strip_suffix('*').is_some_and(|folder| folder.ends_with('/') && text == folder);
    fits_pattern(wanted, text) && !(is_open(wanted) && (leads_up() || is_folder_itself()))
}

/// How much of a call a pattern that allows must describe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The first words.
    Beginning,
    /// All words. The last word of the pattern, if it has a `*` in it, may describe several.
    Whole,
}

impl Candidate<'_> {
    /// Whether a rule with this pattern that allows is about the call.
    pub(super) fn strict_pattern_match(&self, pattern: &[String]) -> StrictMatch {
        let (Some(program), Some(wanted)) = (self.program(), pattern.first()) else { return StrictMatch::No };
        let any_program = is_open(wanted);
        let extent = if any_program { Extent::Whole } else { Extent::Beginning };
        let fits_words = |words: &[Word]| {
            fits_strictly(pattern.get(1..).unwrap_or_default(), words.get(1..).unwrap_or_default(), extent)
        };
        let is_whole = !(extent == Extent::Whole && self.more_words);
        let is_described = is_whole && fits_words(self.words) || self.fits_behind_options(fits_words);
        if !is_described {
            return match self.loose_pattern_match(pattern) {
                LooseMatch::Yes if !any_program => {
                    StrictMatch::Nearly("options or unknown words stand between its words".to_owned())
                }
                _ => StrictMatch::No,
            };
        }
        if !any_program {
            return self.strict_program(program, wanted);
        }
        let is_plain = self.meaning.kind == Some(ProgramKind::Builtin)
            || !program.contains('/') && matches!(self.machine.find(program), Found::Trusted(_));
        if is_plain && fits(wanted, program) { StrictMatch::Yes } else { StrictMatch::No }
    }

    /// Whether an exception of a rule that denies or asks is this very call: all its words, strictly.
    pub(crate) fn is_described_by(&self, words: &[String]) -> bool {
        let (Some(program), Some(wanted)) = (self.program(), words.first()) else { return false };
        !self.more_words
            && !is_open(wanted)
            && self.strict_program(program, wanted) == StrictMatch::Yes
            && fits_strictly(
                words.get(1..).unwrap_or_default(),
                self.words.get(1..).unwrap_or_default(),
                Extent::Whole,
            )
    }

    /// Whether a rule with this pattern that denies or asks is about the call, or about one that does the same.
    pub(crate) fn loose_pattern_match(&self, pattern: &[String]) -> LooseMatch {
        let head = pattern.iter().take_while(|word| !is_open(word)).count();
        let (head, tail) = pattern.split_at(head);
        if !head.is_empty() && tail == [ANY_WORDS] {
            let has_more = self.more_words || self.words.len() > head.len();
            return if has_more { self.loose_match(head) } else { LooseMatch::No };
        }
        let found = self.loose_as_written(pattern);
        if found != LooseMatch::No {
            return found;
        }
        let other_forms = short_forms(self.words, &self.meaning.subcommands).chain(self.with_subcommand());
        let mut found = other_forms.map(|words| {
            let meaning = understand(&words);
            Candidate { words: &words, meaning: &meaning, ..*self }.loose_as_written(pattern)
        });
        found.find(|found| *found != LooseMatch::No).unwrap_or(LooseMatch::No)
    }

    /// `git push` for `git-push`.
    fn with_subcommand(&self) -> Option<Vec<Word>> {
        let (first, others) = self.words.split_first()?;
        let (program, subcommand) = base_name(first.value.known()?).split_once('-')?;
        has(program, Property::DashedSubcommands).then(|| {
            let split = [program, subcommand].map(|text| Word { span: first.span, ..known_word(text) });
            split.into_iter().chain(others.iter().cloned()).collect()
        })
    }

    fn loose_as_written(&self, pattern: &[String]) -> LooseMatch {
        let (Some(program), Some(wanted)) = (self.program(), pattern.first()) else { return LooseMatch::No };
        let is_it = match is_open(wanted) {
            true => fits_pattern(wanted, base_name(program)) || fits_pattern(wanted, program),
            false => {
                self.machine.remember_match(program, wanted, || is_program(program, wanted, self.machine))
            }
        };
        if !is_it {
            return LooseMatch::No;
        }
        let is_listed = self.meaning.kind.is_some();
        let is_option = |word: &&String| is_listed && word.starts_with('-');
        let wanted_words: Vec<&str> =
            pattern.iter().skip(1).filter(|word| !is_option(word)).map(String::as_str).collect();
        let our_words: Vec<&Value> = rest(&self.meaning.canonical)
            .iter()
            .filter_map(|part| match part {
                Canonical::Word(value) => Some(value),
                Canonical::Option(..) => None,
            })
            .collect();
        let has_options = pattern.iter().skip(1).filter(is_option).all(|option| self.has_option(option));
        let by_words = |unknown: UnknownWords| {
            let more = unknown == UnknownWords::Fit && self.more_words;
            fits_loosely(&wanted_words, &our_words, unknown, !is_listed, more)
        };
        let is_unsure = self.more_words
            || self.words.iter().any(|word| matches!(&word.value, Value::Unknown(one) if one.splits));
        match (by_words(UnknownWords::DontFit), by_words(UnknownWords::Fit), has_options) {
            (true, _, true) => LooseMatch::Yes,
            (_, true, true) => LooseMatch::Maybe,
            (_, true, false) if is_unsure => LooseMatch::Maybe,
            _ => LooseMatch::No,
        }
    }

    /// Whether the call has an option that a pattern names, by any spelling.
    fn has_option(&self, wanted: &str) -> bool {
        if self.words.iter().filter_map(|word| word.value.known()).any(|word| fits_pattern(wanted, word)) {
            return true;
        }
        let program = self.program().unwrap_or_default().to_owned();
        let subcommands = self.meaning.subcommands.iter().map(|name| (*name).to_owned());
        let words: Vec<String> =
            [program].into_iter().chain(subcommands).chain([wanted.to_owned()]).collect();
        let meaning = meaning_of(&words);
        let mut wanted = meaning.canonical.iter().filter_map(|part| match part {
            Canonical::Option(name, value) => Some((name, value)),
            Canonical::Word(_) => None,
        });
        let has = |name: &String, value: &Option<Value>| {
            self.meaning.implied.contains(&name.as_str())
                || self.meaning.canonical.iter().any(|part| match part {
                    Canonical::Option(other, given) => other == name && (value.is_none() || given == value),
                    Canonical::Word(_) => false,
                })
        };
        let first = wanted.next();
        first.is_some_and(|(name, value)| has(name, value)) && wanted.all(|(name, value)| has(name, value))
    }

    /// Whether the words fit if the options between the program and its subcommand are left out, and those do nothing but show,
    /// choose or read: `git --no-pager log`, `kubectl -n x get`.
    pub(super) fn fits_behind_options(&self, fits: impl Fn(&[Word]) -> bool) -> bool {
        /// More options than this don't stand there.
        const MAX_WORDS: usize = 12;
        let begins_option = |word: &Word| word.value.lead().starts_with(['-', '+']);
        let Some((program, others)) = self.words.split_first() else { return false };
        if self.meaning.kind.is_none() || !others.first().is_some_and(begins_option) {
            return false;
        }
        (1..others.len().min(MAX_WORDS)).any(|options| {
            let behind = others.get(options..).unwrap_or_default();
            let words: Vec<Word> = [program].into_iter().chain(behind).cloned().collect();
            let written = others.get(..options).unwrap_or_default();
            fits(&words)
                && written.iter().all(|word| word.value.known().is_some())
                && self.adds_only_harmless(&words)
        })
    }

    /// Whether this call differs from the one with these words in nothing but options that are listed, and do no more than
    /// choose something or name a path inside the root.
    fn adds_only_harmless(&self, words: &[Word]) -> bool {
        let plain = crate::programs::understand_as(words, None, self.more_words);
        let plain_words = |canonical: &[Canonical]| -> Vec<Value> {
            let words = canonical.iter().filter_map(|part| match part {
                Canonical::Word(value) => Some(value.clone()),
                Canonical::Option(..) => None,
            });
            words.collect()
        };
        let is_same = plain.subcommands == self.meaning.subcommands
            && plain.unexplained.len() == self.meaning.unexplained.len()
            && plain.is_loose == self.meaning.is_loose
            && plain_words(&plain.canonical) == plain_words(&self.meaning.canonical);
        let mut added = self.meaning.effects.iter().filter(|effect| {
            let known = plain.effects.iter();
            !known.map(|other| &other.kind).any(|kind| *kind == effect.kind)
        });
        is_same && added.all(|effect| self.is_harmless(&effect.kind))
    }
}

/// Whether the words of a pattern describe these words as they are written.
fn fits_strictly(pattern: &[String], words: &[Word], extent: Extent) -> bool {
    let known = |at: usize| words.get(at).and_then(|word| word.value.known());
    let mut reached = vec![false; words.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for (number, wanted) in pattern.iter().enumerate() {
        let is_last = number + 1 == pattern.len();
        let repeats = wanted == ANY_WORDS || is_last && extent == Extent::Whole && is_open(wanted);
        let mut next = vec![false; reached.len()];
        for at in 0..words.len() {
            let from = is_set(&reached, at) || repeats && is_set(&next, at);
            let is_one_word = || {
                let last_words = is_last && extent == Extent::Beginning;
                wanted == ANY_WORDS && last_words && words.get(at).is_some_and(|word| !may_be_none(word))
            };
            let is_it = match known(at) {
                Some(_) if wanted == ANY_WORDS => true,
                Some(text) => fits(wanted, text),
                None => is_one_word(),
            };
            if let Some(place) = next.get_mut(at + 1).filter(|_| from && is_it) {
                *place = true;
            }
        }
        reached = next;
    }
    match extent {
        Extent::Beginning => reached.contains(&true),
        Extent::Whole => reached.last() == Some(&true),
    }
}

fn may_be_none(word: &Word) -> bool {
    matches!(&word.value, Value::Unknown(unknown) if unknown.splits)
}

fn is_set(places: &[bool], at: usize) -> bool {
    places.get(at) == Some(&true)
}

/// Whether a word that can't be known is the one that is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnknownWords {
    DontFit,
    Fit,
}

/// Whether the words of a pattern may describe these words. `*` stands for any number of words here: options that stand among
/// them are left out already. `skips`: words with a dash, and one behind each, may be options.
fn fits_loosely(
    pattern: &[&str],
    words: &[&Value],
    unknown: UnknownWords,
    skips: bool,
    more_words: bool,
) -> bool {
    let mut reached = vec![false; words.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for wanted in pattern {
        if skips {
            skip_options(&mut reached, words);
        }
        if more_words && is_set(&reached, words.len()) {
            return true;
        }
        let mut next = vec![false; reached.len()];
        let mut passed = false;
        for at in 0..=words.len() {
            passed |= is_set(&reached, at);
            let value = at.checked_sub(1).and_then(|before| words.get(before));
            let is_next = at > 0 && is_set(&reached, at - 1);
            let is_it = match (*wanted, value) {
                (ANY_WORDS, _) => passed,
                (_, None) => false,
                (wanted, Some(Value::Known(text))) => is_next && is_word(wanted, text),
                (wanted, Some(Value::Unknown(one))) if unknown == UnknownWords::Fit => {
                    let begin = wanted.split('*').next().unwrap_or_default();
                    let may_begin = begin.starts_with(&one.lead) || one.lead.starts_with(begin);
                    is_next && (one.splits || may_begin)
                }
                (_, Some(Value::Unknown(_))) => false,
            };
            // A word that may become several may be this one and the next.
            let stays = unknown == UnknownWords::Fit
                && is_set(&reached, at)
                && matches!(words.get(at), Some(Value::Unknown(one)) if one.splits);
            if let Some(place) = next.get_mut(at).filter(|_| is_it || stays) {
                *place = true;
            }
        }
        reached = next;
    }
    reached.contains(&true)
}

fn is_word(wanted: &str, text: &str) -> bool {
    fits_pattern(wanted, text) || fits_pattern(wanted, &super::normal(text))
}

/// Adds the places behind words that may be options.
fn skip_options(reached: &mut [bool], words: &[&Value]) {
    for (at, word) in words.iter().enumerate() {
        if is_set(reached, at) && word.lead().starts_with('-') {
            for place in reached.iter_mut().skip(at + 1).take(2) {
                *place = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strictly(pattern: &str, words: &str, extent: Extent) -> bool {
        let pattern: Vec<String> = pattern.split(' ').map(str::to_owned).collect();
        let words: Vec<Word> = words.split_ascii_whitespace().map(known_word).collect();
        fits_strictly(&pattern, &words, extent)
    }

    #[test]
    fn a_star_stands_for_one_or_more_words() {
        for (pattern, words, expected) in [
            ("run *", "run test", true),
            ("run *", "run test -- x", true),
            ("run *", "run", false),
            ("* main", "push origin main", true),
            ("* main", "push main extra", true),
            ("* main", "main", false),
            ("run test:*", "run test:unit", true),
            ("run test:*", "run tests", false),
            ("rm /tmp/*", "rm /tmp/../etc", false),
        ] {
            assert_eq!(strictly(pattern, words, Extent::Beginning), expected, "{pattern}: {words}");
        }
        for (pattern, words, expected) in [
            ("-rf /tmp/*", "-rf /tmp/a", true),
            ("-rf /tmp/*", "-rf /tmp/a /tmp/b", true),
            ("-rf /tmp/*", "-rf /tmp/a /home", false),
            ("-rf /tmp/*", "-rf", false),
            ("--version", "--version x", false),
        ] {
            assert_eq!(strictly(pattern, words, Extent::Whole), expected, "{pattern}: {words}");
        }
    }

    #[test]
    fn many_stars_take_no_time_by_their_powers() {
        let pattern = ["*"; 60].join(" ") + " end";
        assert!(!strictly(&pattern, &"x ".repeat(1500), Extent::Beginning));
    }

    #[test]
    fn loosely_options_and_unknown_words_may_stand_between() {
        let known = |text: &str| Value::Known(text.to_owned());
        let loosely = |pattern: &[&str], words: &[Value]| {
            let words: Vec<&Value> = words.iter().collect();
            fits_loosely(pattern, &words, UnknownWords::Fit, true, false)
        };
        assert!(loosely(&["push", "*", "main"], &[known("-x"), known("y"), known("push"), known("main")]));
        assert!(loosely(&["*", "main"], &[known("push"), crate::calls::unknown_value()]));
        assert!(!loosely(&["*", "main"], &[known("push"), known("origin")]));
    }
}
