//! The prefix under which a call could be allowed from now on: the program and its subcommand.
//!
//! Never a program that runs what it is given, and never one alone whose subcommands differ as `git log` and `git push` do.

use shellgate_syntax::{Span, Value, Word};

use crate::programs::{Kind, understand};

/// The prefix for a call with these words. `None`: it can only be allowed as it is.
#[must_use]
pub fn offer(argv: &[Option<String>]) -> Option<Vec<String>> {
    let words: Vec<Word> =
        argv.iter().map(|word| Word { span: Span::default(), value: value(word.as_ref()) }).collect();
    let program = argv.first()?.as_deref().filter(|name| !name.contains('/'))?;
    let understood = understand(&words);
    let with = |word: &str| Some(vec![program.to_owned(), word.to_owned()]);
    let next = argv.get(1).and_then(Option::as_deref).filter(|word| is_name(word));
    match understood.kind {
        Some(Kind::Wrapper | Kind::Shell | Kind::Interpreter | Kind::Workbench) => None,
        Some(_) if understood.has_subcommands => {
            // The words as they are written, or the rule would not match them.
            let subcommand = *understood.subcommands.first()?;
            with(next.filter(|next| *next == subcommand)?)
        }
        Some(Kind::Builder) | None => next.map_or_else(|| Some(vec![program.to_owned()]), with),
        Some(Kind::Reader | Kind::Writer | Kind::Network | Kind::Builtin) => Some(vec![program.to_owned()]),
    }
}

fn value(word: Option<&String>) -> Value {
    match word {
        Some(text) => Value::Known(text.clone()),
        None => crate::reach::anything(),
    }
}

/// Whether a word can be a subcommand: not an option, a path or a text.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_its_subcommand_and_never_a_way_to_run_anything() {
        let offered = |text: &str| {
            let argv: Vec<Option<String>> = text.split(' ').map(|word| Some(word.to_owned())).collect();
            offer(&argv).map(|prefix| prefix.join(" "))
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
            assert_eq!(offered(text).as_deref(), prefix, "{text}");
        }
    }
}
