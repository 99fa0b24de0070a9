//! The texts that are supposed for an invocation.

use shellgate_syntax::{Invocation, RedirectOperator, RedirectTarget, Span, Value, Word};

use super::Origin;
use super::found_files;
use super::spelling::Spelling;
use super::values::{KnownText, MAX_VALUES};
use crate::programs::{ProgramKind, base_name, has_ruin_rows, kind_of, words};
use crate::spelled::alternatives;

/// The program is among the first words, behind wrappers and their options.
pub(super) const MAX_WORDS_BEFORE_PROGRAM: usize = 8;

/// How many words of one invocation are looked at.
pub(super) const MAX_WORDS: usize = 64;

/// A text that may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::calls) struct Supposition {
    pub(super) text: String,
    pub(super) origin: Origin,
}

impl Supposition {
    /// A call of the text with what its words may be.
    pub(super) fn respelled(text: String) -> Self {
        Self { text, origin: Origin::Respelled }
    }

    /// Commands that a shell may come to read.
    pub(super) fn commands(text: String) -> Self {
        Self { text, origin: Origin::Supposed }
    }
}

impl KnownText<'_> {
    /// What may be run because of the invocation at `at`, besides what it says.
    pub(super) fn suppositions(&self, at: usize) -> Vec<Supposition> {
        let Some(invocation) = self.invocations.get(at) else { return Vec::new() };
        let Some(first) = invocation.words.first() else { return self.by_variables(at, invocation) };
        let names = || {
            let first = invocation.words.iter().take(MAX_WORDS_BEFORE_PROGRAM);
            first.filter_map(|word| word.value.known()).map(base_name)
        };
        let reads_commands = |name: &str| {
            kind_of(name) == Some(ProgramKind::Shell) || words::RUIN_INPUT_READERS.contains(&name)
        };
        let mut all = Vec::new();
        let is_reader = names().any(reads_commands);
        if is_reader {
            all.extend(self.by_input(at, invocation));
            all.extend(self.by_file(at, invocation));
            all.extend(self.by_parameters(at, invocation));
        }
        let may_matter = |name: &str| {
            has_ruin_rows(name)
                || matches!(
                    kind_of(name),
                    Some(ProgramKind::Shell | ProgramKind::Interpreter | ProgramKind::Wrapper)
                )
        };
        let writes_unknown = invocation.redirects.iter().any(|redirect| match &redirect.target {
            RedirectTarget::Word(word) => word.value.known().is_none(),
            RedirectTarget::Body(_) => false,
        });
        if first.value.known().is_none() || is_reader || writes_unknown || names().any(may_matter) {
            all.extend(self.by_words(at, invocation));
        }
        if let Some(words) = self.inner_words(invocation, "xargs") {
            all.extend(self.by_xargs(at, words));
        }
        if let Some(words) = self.inner_words(invocation, "parallel") {
            all.extend(self.by_parallel(at, words));
        }
        if let Some(words) = self.inner_words(invocation, "find") {
            let commands = found_files::commands(self, words, at);
            all.extend(commands.into_iter().map(Supposition::respelled));
        }
        let fd = words::RUIN_FD_NAMES.iter().find_map(|name| self.inner_words(invocation, name));
        if let Some(words) = fd {
            let commands = found_files::fd_commands(self, words);
            all.extend(commands.into_iter().map(Supposition::respelled));
        }
        if let Some(words) = self.inner_words(invocation, "git") {
            all.extend(self.by_alias(words));
        }
        all.extend(self.by_shell_text(at, invocation));
        all.extend(self.by_variables(at, invocation));
        all.extend(self.by_code(at, invocation));
        all.extend(self.by_runner(at, invocation));
        all.extend(self.by_set_script(at, invocation));
        all.extend(self.by_made_program(at, invocation));
        all.extend(self.by_copied_program(at, invocation));
        all.extend(self.by_git_content(at, invocation));
        all.dedup();
        all
    }

    /// The words from the name of this program on, if it is called, also by wrappers.
    fn inner_words<'i>(&self, invocation: &'i Invocation, program: &str) -> Option<&'i [Word]> {
        let first = invocation.words.iter().take(MAX_WORDS_BEFORE_PROGRAM);
        let is_it = |word: &Word| word.value.known().map(base_name) == Some(program);
        let at = first.into_iter().position(is_it)?;
        let is_wrapped = at == 0 || {
            let name = invocation.words.first().and_then(|word| word.value.known());
            name.and_then(kind_of) == Some(ProgramKind::Wrapper)
                || matches!(name, Some("command" | "builtin" | "exec"))
        };
        invocation.words.get(at..).filter(|_| is_wrapped)
    }

    pub(super) fn as_written(&self, words: &[Word]) -> String {
        let mut last = Span::default();
        let mut all: Vec<&str> = Vec::new();
        for word in words.iter().filter(|word| std::mem::replace(&mut last, word.span) != word.span) {
            all.push(word.span.of(self.source));
        }
        all.join(" ")
    }

    /// The invocation as it is written, with what is given in place of some words.
    pub(super) fn with_words(&self, invocation: &Invocation, given: &[(Span, String)]) -> String {
        let written = |span: Span| match given.iter().find(|(place, _)| *place == span) {
            Some((_, text)) => text.as_str(),
            None => span.of(self.source),
        };
        let mut last = Span::default();
        let mut all: Vec<String> = Vec::new();
        for word in
            invocation.words.iter().filter(|word| std::mem::replace(&mut last, word.span) != word.span)
        {
            all.push(written(word.span).to_owned());
        }
        for redirect in &invocation.redirects {
            if let RedirectTarget::Word(word) = &redirect.target
                && let Some(sign) = redirect.span.of(self.source).strip_suffix(word.span.of(self.source))
            {
                all.push(format!("{sign}{}", written(word.span)));
            }
        }
        all.join(" ")
    }

    /// A call whose words the text says more about than that they aren't known.
    fn by_words(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let may_be_known = |word: &Word| match &word.value {
            Value::Known(_) => true,
            Value::Unknown(_) => word.span.of(self.source).contains(['$', '`', '*', '?', '{']),
        };
        // The words that one with braces becomes, all at once.
        let expanded = |word: &Word| {
            let words = alternatives(word.span.of(self.source));
            let spelled = |word: &String| self.written(word, at, 0).all.first().map(Spelling::as_word);
            (words.len() > 1).then(|| words.iter().filter_map(spelled).collect::<Vec<_>>().join(" "))
        };
        let targets = invocation.redirects.iter().filter_map(|redirect| match &redirect.target {
            RedirectTarget::Word(word) if redirect.operator != RedirectOperator::HereString => Some(word),
            _ => None,
        });
        let mut variants: Vec<Vec<(Span, String)>> = vec![Vec::new()];
        let mut last = Span::default();
        for word in invocation.words.iter().take(MAX_WORDS).chain(targets).filter(|word| may_be_known(word)) {
            if std::mem::replace(&mut last, word.span) == word.span {
                continue;
            }
            let is_unknown = word.value.known().is_none();
            let spelled: Vec<String> = match expanded(word).filter(|_| is_unknown) {
                Some(words) => vec![words],
                None => {
                    let guess = self.word(word, at, 0);
                    if !guess.is_better {
                        continue;
                    }
                    let is_quoted = word.span.of(self.source).starts_with('"');
                    let spelled = guess.all.iter().map(|value| match is_quoted {
                        true => value.as_word(),
                        false => value.as_expanded().join(" "),
                    });
                    spelled.collect()
                }
            };
            let pairs = variants.iter().flat_map(|before| {
                spelled.iter().map(move |text| {
                    let mut all = before.clone();
                    all.push((word.span, text.clone()));
                    all
                })
            });
            variants = pairs.take(MAX_VALUES).collect();
        }
        variants.retain(|given| !given.is_empty());
        let respelled =
            variants.iter().map(|given| Supposition::respelled(self.with_words(invocation, given)));
        respelled.collect()
    }
}
