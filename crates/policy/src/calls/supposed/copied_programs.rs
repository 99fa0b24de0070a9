//! Programs that a text gives another name and then runs by it: `cp /bin/rm ./r; ./r -rf .git`.

use std::collections::HashMap;

use shellgate_syntax::{Invocation, RedirectOperator, RedirectTarget, Word};

use super::respelled::{MAX_WORDS_BEFORE_PROGRAM, Supposition};
use super::values::{KnownText, MAX_VALUES, plain_path};
use crate::programs::{ProgramKind, base_name, has_ruin_rows, kind_of, words};

/// How many copies of copies are followed.
const MAX_COPIES: usize = 4;

/// How many words of a call that copies are looked at.
const MAX_WORDS: usize = 16;

/// What a text copies or links: the new name, and what it is a copy of.
#[derive(Debug)]
pub(super) struct Copied<'a> {
    name: &'a Word,
    /// What stands before the name in its word: `of=`.
    skipped: usize,
    source: &'a Word,
    source_skipped: usize,
}

/// All that a text copies or links, by the last parts of the names and of what they are copies of.
#[derive(Debug, Default)]
pub(super) struct Copies<'a> {
    all: Vec<(usize, Copied<'a>)>,
    by_name: HashMap<&'a str, Vec<usize>>,
    /// Those with names that aren't known by themselves.
    unnamed: Vec<usize>,
}

impl<'a> Copies<'a> {
    pub(super) fn note(&mut self, at: usize, invocation: &'a Invocation) {
        for copied in copies(invocation) {
            let index = self.all.len();
            for (word, skipped) in [(copied.name, copied.skipped), (copied.source, copied.source_skipped)] {
                match word.value.known() {
                    Some(text) => {
                        let text = text.get(skipped..).unwrap_or_default();
                        let name = if program_is_alias(invocation) {
                            text.split('=').next().unwrap_or(text)
                        } else {
                            text
                        };
                        self.by_name.entry(base_name(name.trim_end_matches('/'))).or_default().push(index);
                    }
                    None if self.unnamed.len() < MAX_VALUES => self.unnamed.push(index),
                    None => {}
                }
            }
            self.all.push((at, copied));
        }
    }

    /// The last ones that may have made this name.
    fn of(&self, name: &str) -> impl Iterator<Item = &(usize, Copied<'a>)> {
        let by_name = self.by_name.get(base_name(name)).map(Vec::as_slice).unwrap_or_default();
        let found = by_name.iter().rev().take(MAX_VALUES).chain(&self.unnamed);
        found.filter_map(|index| self.all.get(*index))
    }
}

fn program_is_alias(invocation: &Invocation) -> bool {
    invocation.words.first().and_then(|word| word.value.known()) == Some("alias")
}

/// What an invocation gives another name.
fn copies(invocation: &Invocation) -> Vec<Copied<'_>> {
    let words = invocation.words.get(..invocation.words.len().min(MAX_WORDS)).unwrap_or_default();
    let Some(program) = words.first().and_then(|word| word.value.known()).map(base_name) else {
        return Vec::new();
    };
    let whole = |name, source| Copied { name, skipped: 0, source, source_skipped: 0 };
    let operands: Vec<&Word> =
        words.iter().skip(1).filter(|word| !word.value.lead().starts_with(['-', '+'])).collect();
    if program == "dd" {
        let of = |begin: &str| words.iter().find(|word| word.value.lead().starts_with(begin));
        let pair = of("of=").zip(of("if="));
        let copied = |(name, source)| Copied { name, skipped: 3, source, source_skipped: 3 };
        return pair.map(copied).into_iter().collect();
    }
    if program == "hash" {
        return match operands.as_slice() {
            [source, name] => vec![whole(name, source)],
            _ => Vec::new(),
        };
    }
    if program == "alias" {
        let named = operands.iter().filter(|word| word.value.lead().contains('='));
        return named
            .map(|word| {
                let skipped = word.value.lead().find('=').map_or(0, |at| at + 1);
                Copied { name: word, skipped: 0, source: word, source_skipped: skipped }
            })
            .collect();
    }
    if words::RUIN_COPYING_PROGRAMS.contains(&program) {
        let folder =
            words.iter().position(|word| matches!(word.value.known(), Some("-t" | "--target-directory")));
        let folder = folder.and_then(|at| words.get(at + 1));
        return match (folder, operands.split_last()) {
            (Some(folder), _) => {
                operands.iter().filter(|word| **word != folder).map(|source| whole(folder, source)).collect()
            }
            (None, Some((name, sources))) => sources.iter().map(|source| whole(*name, source)).collect(),
            (None, None) => Vec::new(),
        };
    }
    if !words::RUIN_PASSING_PROGRAMS.contains(&program) {
        return Vec::new();
    }
    // `cat /bin/rm > r`, `tee r < /bin/rm`
    let redirected = |is_read: bool| {
        invocation.redirects.iter().filter_map(move |redirect| match &redirect.target {
            RedirectTarget::Word(word) if (redirect.operator == RedirectOperator::Read) == is_read => {
                Some(word)
            }
            _ => None,
        })
    };
    let is_tee = matches!(program, "tee" | "sponge");
    let sources = redirected(true).chain(operands.iter().copied().filter(|_| !is_tee));
    let sources: Vec<&Word> = sources.take(MAX_VALUES).collect();
    let names = redirected(false).chain(operands.iter().copied().filter(|_| is_tee));
    names.flat_map(|name| sources.iter().map(move |source| whole(name, source))).take(MAX_VALUES).collect()
}

impl KnownText<'_> {
    /// A call of a program by a name that the text gave it, as if it were called by its own.
    pub(super) fn by_copied_program(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        if self.copied.all.is_empty() {
            return Vec::new();
        }
        let is_wrapped = |name: Option<&str>| {
            name.and_then(kind_of) == Some(ProgramKind::Wrapper)
                || matches!(name, Some("command" | "builtin" | "exec"))
        };
        let first = invocation.words.first().and_then(|word| word.value.known());
        let count = if is_wrapped(first) { MAX_WORDS_BEFORE_PROGRAM } else { 1 };
        let mut all = Vec::new();
        for word in invocation.words.iter().take(count) {
            let is_copied = |name: &str| {
                !self.copied.unnamed.is_empty() || self.copied.by_name.contains_key(base_name(name))
            };
            if !word.value.known().is_none_or(is_copied) {
                continue;
            }
            for name in self.texts_of_word(word, 0, at) {
                let Some(program) = self.program_of(&name) else { continue };
                let given = [(word.span, program.clone())];
                all.push(Supposition::respelled(self.with_words(invocation, &given)));
                let reads = kind_of(&program) == Some(ProgramKind::Shell)
                    || kind_of(&program) == Some(ProgramKind::Interpreter)
                    || words::RUIN_INPUT_READERS.contains(&program.as_str());
                if reads {
                    let inputs = self.inputs(at, 0);
                    all.extend(inputs.iter().flat_map(|input| self.with_input(invocation, &given, input)));
                }
            }
        }
        all.truncate(MAX_VALUES);
        all
    }

    /// The program that a name of this text stands for, if it matters.
    fn program_of(&self, called: &str) -> Option<String> {
        let mut name = called.to_owned();
        for _ in 0..MAX_COPIES {
            let source = self.copied.of(&name).find_map(|(at, copied)| self.source_of(&name, *at, copied))?;
            let program = base_name(&source).to_owned();
            let matters = has_ruin_rows(&program)
                || matches!(
                    kind_of(&program),
                    Some(ProgramKind::Shell | ProgramKind::Interpreter | ProgramKind::Wrapper)
                );
            if matters && program != base_name(called) {
                return Some(program);
            }
            if source == name {
                return None;
            }
            name = source;
        }
        None
    }

    /// What a name is a copy of, if this copy made it.
    fn source_of(&self, name: &str, at: usize, copied: &Copied<'_>) -> Option<String> {
        if !self.spend(0) {
            return None;
        }
        let is_searched = !name.contains('/');
        let alias = copied.name == copied.source;
        let sources = self.texts_of_word(copied.source, copied.source_skipped, at);
        let names = self.texts_of_word(copied.name, copied.skipped, at);
        let own = plain_path(name);
        sources.into_iter().find(|source| {
            names.iter().any(|made| {
                let made = match made.split_once('=') {
                    Some((made, _)) if alias => made,
                    _ => plain_path(made),
                };
                let folder = made.trim_end_matches('/');
                let in_folder =
                    own.strip_suffix(base_name(source)).map(|folder| folder.trim_end_matches('/'));
                made == own
                    || is_searched && base_name(made) == own
                    || in_folder.is_some_and(|own| own == folder || own.is_empty() && folder == ".")
            })
        })
    }

    /// What a word may be, without what stands before.
    fn texts_of_word(&self, word: &Word, skipped: usize, at: usize) -> Vec<String> {
        let found = match word.value.known() {
            Some(text) => vec![text.to_owned()],
            None => self.word(word, at, 1).all.iter().filter_map(super::spelling::Spelling::known).collect(),
        };
        found.into_iter().filter_map(|text| text.get(skipped..).map(str::to_owned)).take(MAX_VALUES).collect()
    }
}
