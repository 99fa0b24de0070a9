//! Commands that a call runs and that can't be followed. Rules may name them besides the call: `bash` and `./build.sh`, `docker
//! exec` and `ls`.

use shellgate_syntax::Word;

use super::{Basis, Judge};
use crate::calls::{Call, UNREAD_COMMANDS};
use crate::matching::{Candidate, LooseMatch, StrictMatch, normal};
use crate::programs::{EffectKind, ProgramKind, understand};
use crate::rules::Prefix;

/// What the tables call a command that runs in a container, or on another machine.
const ELSEWHERE: &str = "a command that runs in another place";

impl Judge<'_> {
    /// Whether a problem of a call is the script that its shell reads, and rules name that script: behind the shell, or as a
    /// program. A script that the text may write is none that a rule knows.
    pub(super) fn is_named_script(&self, call: &Call, basis: Basis, problem: &str) -> bool {
        let Basis::Named(named) = basis else { return false };
        let scripts = call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
            EffectKind::ShellInput(Some(word)) => Some(word),
            _ => None,
        });
        let is_named = |word: &Word| {
            let Some(script) = word.value.known().filter(|path| self.is_inside(path)) else { return false };
            let is_program = |prefix: &Prefix| match prefix {
                Prefix::Words(words) | Prefix::Exactly(words) => {
                    matches!(words.as_slice(), [one] if normal(one) == normal(script))
                }
                Prefix::Everything | Prefix::Pattern(_) => false,
            };
            call.words.iter().take(named).any(|one| one == word)
                || self.allowing().any(|(entry, except)| except.is_empty() && is_program(&entry.prefix))
        };
        let writes_nothing = self.writing_calls <= usize::from(self.may_write(call));
        let mut scripts = scripts.peekable();
        problem == UNREAD_COMMANDS && writes_nothing && scripts.peek().is_some() && scripts.all(is_named)
    }

    /// Whether rules name the command that a call runs in another place, and that command only shows something.
    pub(super) fn is_named_elsewhere(&self, call: &Call, basis: Basis, word: &Word, what: &str) -> bool {
        let is_it = |words: &&[Word]| {
            let texts: Option<Vec<&str>> = words.iter().map(|word| word.value.known()).collect();
            texts.is_some_and(|texts| Some(texts.join(" ").as_str()) == word.value.known())
        };
        let mut ends = (1..call.words.len()).filter_map(|start| call.words.get(start..));
        let Some(words) = ends.find(is_it).filter(|_| what == ELSEWHERE) else { return false };
        let meaning = understand(words);
        let candidate =
            Candidate { words, meaning: &meaning, machine: self.machine, more_words: call.more_words };
        let only_reads = meaning.kind == Some(ProgramKind::Reader)
            && meaning.effects.iter().all(|effect| matches!(effect.kind, EffectKind::Reads(_)));
        let is_named =
            |prefix: &Prefix| *prefix != Prefix::Everything && candidate.strictly(prefix) == StrictMatch::Yes;
        let restricting =
            self.rules.rules.iter().filter(|rule| rule.decision != crate::rules::Decision::Allow);
        let mut forbidding = self.rules.exclude.iter().chain(restricting.map(|rule| &rule.entry));
        matches!(basis, Basis::Named(_))
            && only_reads
            && self.allowing().any(|(entry, except)| except.is_empty() && is_named(&entry.prefix))
            && forbidding.all(|entry| candidate.loosely(&entry.prefix) == LooseMatch::No)
    }
}
