//! Texts for a shell that aren't wholly known, and variables that hold commands: `bash -c "rm -rf $HOME"`,
//! `GIT_PAGER='rm -rf ~' git log`.

use shellgate_syntax::{Assigned, Invocation, Span, Value, Word};

use super::respelled::Supposition;
use super::spelling::Spelling;
use super::values::{KnownText, MAX_VALUES};
use crate::programs::{EffectKind, ProgramKind, base_name, kind_of, understand, words};

/// How many programs that run others may be around a text.
const MAX_WRAPPERS: usize = 6;

/// How many words of a text are put together.
const MAX_WORDS: usize = 64;

impl KnownText<'_> {
    /// A text for a shell with an expansion in it. It is judged as if it stood there: what is known of it counts, and what isn't
    /// is a word that isn't known.
    pub(super) fn by_shell_text(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let name = invocation.words.first().and_then(|word| word.value.known()).map(base_name);
        let runs_texts = name.is_some_and(|name| {
            matches!(
                kind_of(name),
                Some(
                    ProgramKind::Shell | ProgramKind::Wrapper | ProgramKind::Workbench | ProgramKind::Builder
                )
            ) || words::RUIN_TEXT_RUNNERS.contains(&name)
        });
        let is_known = |word: &Word| word.value.known().is_some();
        if !runs_texts || invocation.words.iter().all(is_known) || !self.spend(invocation.words.len()) {
            return Vec::new();
        }
        let mut all = Vec::new();
        let mut open = vec![invocation.words.clone()];
        for _ in 0..MAX_WRAPPERS {
            let Some(words) = open.pop() else { break };
            for effect in understand(&words).effects {
                match effect.kind {
                    EffectKind::Argv { words, .. } => open.push(words),
                    EffectKind::Shell(word) if !is_known(&word) => {
                        all.extend(self.texts_of(&word, at, invocation).map(Supposition::commands));
                    }
                    _ => {}
                }
            }
        }
        all
    }

    /// What a text may be that is put together of the words of an invocation.
    fn texts_of(&self, text: &Word, at: usize, invocation: &Invocation) -> impl Iterator<Item = String> {
        let is_part = |word: &&Word| text.span.start <= word.span.start && word.span.end <= text.span.end;
        let mut last = Span::default();
        let mut found = vec![Spelling::default()];
        let parts = invocation.words.iter().take(MAX_WORDS).filter(is_part);
        for word in parts.filter(|word| std::mem::replace(&mut last, word.span) != word.span) {
            let options = self.word(word, at, 0).all;
            let blank = if found.iter().all(|one| one.len() == 0) { "" } else { " " };
            let pairs = found.iter().flat_map(|before| {
                options.iter().map(move |option| before.with(&Spelling::text(blank)).with(option))
            });
            found = pairs.take(MAX_VALUES).collect();
            self.spend(found.iter().map(Spelling::len).sum());
        }
        // An option may stand before the text in its word: `--command="…"`.
        let lead = text.value.lead().to_owned();
        found.into_iter().filter(Spelling::has_text).map(move |one| {
            let text = one.as_commands();
            match text.split_once(lead.as_str()) {
                Some((before, behind)) if !before.is_empty() && !lead.is_empty() => format!("{lead}{behind}"),
                _ => text,
            }
        })
    }

    /// What variables have shells and other programs run. What they run isn't a call of the text, so only ruin counts.
    pub(super) fn by_variables(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let is_command = |name: &str| words::RUIN_COMMAND_VARIABLES.contains(&name);
        let mut all = Vec::new();
        for assignment in invocation.assignments.iter().filter(|one| is_command(&one.name)) {
            let Assigned::Scalar(value) = &assignment.value else { continue };
            let written = assignment.span.of(self.source).split_once('=').map(|(_, value)| value);
            match (value, written) {
                (Value::Known(text), _) => all.push(text.clone()),
                (Value::Unknown(_), Some(written)) => {
                    let made = written.strip_prefix("<(").and_then(|rest| rest.strip_suffix(')'));
                    let texts = match made {
                        Some(command) => self.output(command, at, 0),
                        None => self.written(written, at, 0).all,
                    };
                    all.extend(texts.iter().map(Spelling::as_commands));
                }
                (Value::Unknown(_), None) => {}
            }
        }
        // `export GIT_PAGER='rm -rf ~'`
        let declared = invocation.words.iter().skip(1).take(MAX_WORDS).filter_map(|word| {
            let (name, value) = word.value.known()?.split_once('=')?;
            is_command(name).then(|| value.to_owned())
        });
        all.extend(declared);
        all.into_iter().take(MAX_VALUES).map(Supposition::respelled).collect()
    }
}
