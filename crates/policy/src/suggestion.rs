//! Suggests the prefix under which a call could be allowed from now on: the program and its subcommand.
//!
//! It is never a program that runs what it is given, and never a program alone whose subcommands differ as `git log` and
//! `git push` do.

use shellgate_syntax::{Span, Value, Word};

use crate::calls::unknown_value;
use crate::programs::{ProgramKind, understand};

/// The prefix for a call with these words; `None` is a word that can't be known. No prefix: it can only be allowed as it is.
#[must_use]
pub fn suggest_prefix(argv: &[Option<String>]) -> Option<Vec<String>> {
    let value = |word: &Option<String>| word.clone().map_or_else(unknown_value, Value::Known);
    let words: Vec<Word> =
        argv.iter().map(|word| Word { span: Span::default(), value: value(word) }).collect();
    let program = argv.first()?.as_deref().filter(|name| !name.contains('/'))?;
    let meaning = understand(&words);
    let with = |word: &str| Some(vec![program.to_owned(), word.to_owned()]);
    let second = argv.get(1).and_then(Option::as_deref).filter(|word| may_be_subcommand(word));
    match meaning.kind {
        Some(
            ProgramKind::Wrapper | ProgramKind::Shell | ProgramKind::Interpreter | ProgramKind::Workbench,
        ) => None,
        Some(_) if meaning.has_subcommands => {
            // A rule matches the words as they are written, so the subcommand must be the second one.
            let subcommand = *meaning.subcommands.first()?;
            with(second.filter(|second| *second == subcommand)?)
        }
        Some(ProgramKind::Builder) | None => second.map_or_else(|| Some(vec![program.to_owned()]), with),
        Some(ProgramKind::Reader | ProgramKind::Writer | ProgramKind::Network | ProgramKind::Builtin) => {
            Some(vec![program.to_owned()])
        }
    }
}

/// Whether a call with these words runs a builtin of bash: it reaches files by redirections alone.
#[must_use]
pub fn is_builtin(argv: &[Option<String>]) -> bool {
    let words = argv.iter().map(|word| {
        let value = word.clone().map_or_else(unknown_value, Value::Known);
        Word { span: Span::default(), value }
    });
    understand(&words.collect::<Vec<_>>()).kind == Some(ProgramKind::Builtin)
}

/// Whether a word can be a subcommand: it is no option, path or text.
fn may_be_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_program_with_its_subcommand_and_never_one_that_runs_anything() {
        let suggested = |text: &str| {
            let argv: Vec<Option<String>> = text.split(' ').map(|word| Some(word.to_owned())).collect();
            suggest_prefix(&argv).map(|prefix| prefix.join(" "))
        };
        let cases = [
            ("git log -p", Some("git log")),
            ("git -C d log", None),
            ("git", None),
            ("npm test", Some("npm test")),
            ("docker ps", Some("docker ps")),
            ("ls -la src", Some("ls")),
            ("make all", Some("make all")),
            ("frob deploy now", Some("frob deploy")),
            ("frob --x", Some("frob")),
            ("bash -c x", None),
            ("python3 x.py", None),
            ("sudo ls", None),
            ("env ls", None),
            ("xargs ls", None),
            ("./tool x", None),
            ("/usr/bin/git log", None),
        ];
        for (text, prefix) in cases {
            assert_eq!(suggested(text).as_deref(), prefix, "{text}");
        }
    }
}
