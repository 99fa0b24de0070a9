//! The folder and the repository that git works on: `-C DIR` and `--git-dir DIR`. Another repository's settings can name
//! programs that git runs.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::form::Role;
use shellgate_syntax::Word;

const OTHER: &str = "another repository's settings can name programs";

/// Spellings of the folder and the repository that git uses without these options.
const HERE: &[&str] = &[".", "./"];
const REPOSITORY: &[&str] = &[".git", "./.git", ".git/", "./.git/"];

/// Reads a folder or a repository that git is told to use.
pub(crate) fn git_place(role: Role, word: &Word, collector: &mut Collector) {
    let (own, what) = match role {
        Role::GitRepository => (REPOSITORY, EffectKind::Writes(word.clone())),
        _ => (HERE, EffectKind::Directory(Some(word.clone()))),
    };
    if !word.value.known().is_some_and(|text| own.contains(&text)) {
        collector.effect(word, what);
        // The judge looks at the repository in a folder that is known.
        if role == Role::GitRepository || word.value.known().is_none() {
            collector.effect(word, EffectKind::Unusual(OTHER));
        }
    }
}
