//! Names of files that a call gets from the stage before it: `grep -rl x . | xargs sed -i …`. If what lists them only lists names inside
//! the root, the call works inside the root.

use std::path::Path;

use shellgate_syntax::{Unknown, Value, Why, Word};

use super::Judge;
use crate::calls::Call;
use crate::programs::words::{LISTERS_OUTSIDE_GIT, NAME_FILTERS, NAME_LISTERS, NAMES_ELSEWHERE};
use crate::programs::{ADDED_WORDS, CallMeaning, Canonical, EffectKind, understand};
use crate::redirects::known_path;

impl Judge<'_> {
    /// The stages before a call in its pipeline.
    pub(super) fn pipe_of(&self, call: &Call) -> Option<&[Vec<Word>]> {
        self.pipes.before(call.span)
    }

    /// Whether a word is a name that the stage before the call lists, and all those are inside the root. A name may lead elsewhere by a link or by
    /// blanks in it; the sandbox holds that.
    pub(super) fn is_listed_inside(&self, call: &Call, word: &Word) -> bool {
        if !call.in_wrapper || !self.rules.holds_any_code() {
            return false;
        }
        let Value::Unknown(Unknown { why: Why::Parameter(mark), lead, .. }) = &word.value else {
            return false;
        };
        // An added word isn't written; another has the mark in it.
        let is_name = match mark.as_str() {
            ADDED_WORDS => call.more_words && lead.is_empty(),
            mark => {
                let written = call.written(word).map(|text| text.replace(['"', '\''], ""));
                written.is_some_and(|text| {
                    is_plain_around(&text, mark) && (lead.is_empty() || self.is_inside(lead))
                })
            }
        };
        is_name && self.adds_names_inside(call)
    }

    /// Whether what is added to a call are names that the stage before it lists, all of them inside the root.
    pub(super) fn adds_names_inside(&self, call: &Call) -> bool {
        call.in_wrapper
            && self.pipe_of(call).and_then(<[Vec<Word>]>::split_first).is_some_and(|(lister, filters)| {
                filters.iter().all(|stage| passes_names(stage)) && self.lists_inside(lister)
            })
    }

    /// Whether a word that is added to a call is a name that the stage before it lists, and no such name can be an option: none in the folder
    /// begins with a dash or has a blank in it, and no other call makes files.
    pub(super) fn is_plain_listed(&self, call: &Call, word: &Word) -> bool {
        let Value::Unknown(Unknown { why: Why::Parameter(mark), .. }) = &word.value else { return false };
        let stages = self.pipe_of(call).filter(|_| mark == ADDED_WORDS && call.in_wrapper);
        let Some((lister, filters)) = stages.and_then(<[Vec<Word>]>::split_first) else { return false };
        let meaning = understand(lister);
        // What lists folders in folders may find any name there.
        let is_lister =
            meaning.entry == Some("ls") && !is_call("ls -R", &meaning) && !is_call("ls -l", &meaning);
        let starts: Option<Vec<&str>> = meaning
            .effects
            .iter()
            .map(|effect| match &effect.kind {
                EffectKind::Reads(word) => word.value.known().filter(|path| !path.starts_with('-')),
                _ => None,
            })
            .collect();
        let (Some(starts), Some([directory])) = (starts, self.state.directories.as_deref()) else {
            return false;
        };
        // `xargs` splits names at blanks.
        let is_dashed = |entry: &std::fs::DirEntry| {
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            name.starts_with(b"-")
                || name.iter().any(|byte| byte.is_ascii_whitespace() || b"'\"\\".contains(byte))
        };
        let has_dashed = |folder: &Path| {
            std::fs::read_dir(folder).is_ok_and(|all| all.flatten().any(|one| is_dashed(&one)))
        };
        let folders = starts.iter().map(|start| directory.join(start)).chain([directory.clone()]);
        is_lister
            && filters.iter().all(|stage| passes_names(stage))
            && self.writing_calls == usize::from(self.may_write(call))
            && !folders.into_iter().any(|folder| has_dashed(&folder))
    }

    /// The same, of names among which git's own files never are.
    pub(super) fn is_listed_outside_git(&self, call: &Call, word: &Word) -> bool {
        let lister = self.pipe_of(call).and_then(|stages| stages.first()?.first()?.value.known());
        let leaves_out = lister.is_some_and(|name| LISTERS_OUTSIDE_GIT.contains(&name));
        leaves_out && self.is_listed_inside(call, word)
    }

    /// Whether a stage lists names of files inside the root, and nothing else.
    fn lists_inside(&self, words: &[Word]) -> bool {
        let meaning = understand(words);
        let is_lister = NAME_LISTERS.iter().any(|row| is_call(row, &meaning));
        let is_other = NAMES_ELSEWHERE.iter().any(|row| is_call(row, &meaning));
        let is_inside = |path: &Word| match &path.value {
            Value::Unknown(Unknown { why: Why::Glob, lead, .. }) => {
                let folder = lead.rsplit_once('/').map_or(".", |(folder, _)| folder);
                !lead.starts_with('/') && !lead.starts_with('~') && self.is_inside(folder)
            }
            value => known_path(value, self.machine).is_some_and(|path| self.is_inside(&path)),
        };
        let stays = meaning.effects.iter().all(|effect| match &effect.kind {
            EffectKind::Reads(word) => is_inside(word),
            _ => false,
        });
        is_lister && !is_other && self.is_inside(".") && stays
    }
}

/// Whether a word is a mark with plain text around it, in which nothing leads up: `{}.bak`, `build/{}`.
fn is_plain_around(written: &str, mark: &str) -> bool {
    written.split_once(mark).is_some_and(|(before, behind)| {
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        is_plain(before) && is_plain(behind) && !written.contains("..") && !before.starts_with(['/', '-'])
    })
}

/// Whether a stage passes on names as they are, or leaves some out.
fn passes_names(words: &[Word]) -> bool {
    let meaning = understand(words);
    let is_filter = NAME_FILTERS.iter().any(|row| is_call(row, &meaning));
    let changes = |part: &Canonical| matches!(part, Canonical::Option(name, _) if ["-o", "-c"].contains(&name.as_str()));
    is_filter && meaning.effects.is_empty() && !meaning.canonical.iter().any(changes)
}

/// Whether a call has the program, subcommands and options of a row: `git ls-files`, `grep -l`.
fn is_call(row: &str, meaning: &CallMeaning) -> bool {
    let mut parts = row.split(' ');
    parts.next() == meaning.entry
        && parts.all(|part| match part.starts_with('-') {
            true => {
                meaning.canonical.iter().any(|own| matches!(own, Canonical::Option(name, _) if name == part))
            }
            false => {
                let is_word =
                    |own: &Canonical| matches!(own, Canonical::Word(value) if value.known() == Some(part));
                meaning.subcommands.contains(&part) || meaning.canonical.iter().any(is_word)
            }
        })
}
