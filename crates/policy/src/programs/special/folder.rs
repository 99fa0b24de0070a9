//! Where git works: `-C DIR` and `--git-dir DIR`. Another repository's settings can name programs, unless it is the one
//! that git would take anyway.

use super::super::What;
use super::super::role::Role;
use super::super::sink::Sink;
use shellgate_syntax::Word;

const OTHER: &str = "another repository's settings can name programs";

/// The folder that git is in, and the repository that it finds there first.
const HERE: &[&str] = &[".", "./"];
const REPOSITORY: &[&str] = &[".git", "./.git", ".git/", "./.git/"];

/// A folder or a repository that git is told to use.
pub(crate) fn git_place(role: Role, word: &Word, sink: &mut Sink) {
    let (own, what) = match role {
        Role::GitRepository => (REPOSITORY, What::Writes(word.clone())),
        _ => (HERE, What::Directory(Some(word.clone()))),
    };
    if !word.value.known().is_some_and(|text| own.contains(&text)) {
        sink.effect(word, what);
        sink.effect(word, What::Unusual(OTHER));
    }
}
