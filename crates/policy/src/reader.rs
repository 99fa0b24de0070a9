//! What a running program does with what is typed at it: by the tables, from its argument list.

use shellgate_syntax::{Span, Value, Word};

use crate::programs::{CommandKeys, Kind, ShellGrammar, Understood, What, shell_grammar, understand};

/// What becomes of a line that is typed at a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Typed {
    /// It is the program's own business: an answer, a password, a key.
    Passes,
    /// The same, but some keys have it run commands: [`escapes`] knows them.
    Escapes,
    /// It is passed on to who knows whom: `ssh`, `script`, `tmux`.
    Forwarded,
    /// It is code, or commands in a language that we don't read.
    Code,
    /// It is a command of a shell that we know to read.
    Command,
}

/// A call of `bash` and its kin by which it reads a file that is the terminal.
const TERMINALS: [&str; 3] = ["/dev/", "/proc/", "-"];

/// What a program with this argument list does with what is typed at it.
#[must_use]
pub fn typed_at(argv: &[String]) -> Typed {
    let words: Vec<Word> =
        argv.iter().map(|word| Word { span: Span::default(), value: Value::Known(word.clone()) }).collect();
    let call = understand(&words);
    let reads_commands = call.effects.iter().any(|effect| match &effect.what {
        What::ShellInput(None) => true,
        What::ShellInput(Some(file)) => {
            file.value.known().is_none_or(|file| TERMINALS.iter().any(|start| file.starts_with(start)))
        }
        _ => false,
    });
    let reads_code = call.effects.iter().any(|effect| matches!(effect.what, What::OpaqueInput(_)));
    let interactive = argv.iter().skip(1).any(|word| word == "-i" || word == "--interactive");
    match call.kind {
        _ if reads_commands && is_read_by_us(argv) => Typed::Command,
        _ if reads_code => Typed::Code,
        Some(Kind::Wrapper | Kind::Network) => Typed::Forwarded,
        _ if reads_commands => Typed::Code,
        Some(Kind::Interpreter) if interactive || !runs_file(&call) => Typed::Code,
        _ if keys(argv).is_some() => Typed::Escapes,
        Some(Kind::Workbench) => Typed::Code,
        _ => Typed::Passes,
    }
}

/// Whether a program is a shell whose commands we read.
fn is_read_by_us(argv: &[String]) -> bool {
    let grammar = argv.first().and_then(|program| shell_grammar(program));
    matches!(grammar, Some(ShellGrammar::Bash | ShellGrammar::Posix | ShellGrammar::Korn))
}

/// Whether an interpreter was given what it runs.
fn runs_file(call: &Understood) -> bool {
    call.effects.iter().any(|effect| {
        matches!(effect.what, What::Inline(..)) || matches!(effect.what, What::Opaque(_, "a script"))
    })
}

/// Whether `typed` has this program run a command, as far as we know its keys.
#[must_use]
pub fn escapes(argv: &[String], typed: &str) -> bool {
    keys(argv).is_some_and(|keys| keys.run_command(typed))
}

fn keys(argv: &[String]) -> Option<&'static CommandKeys> {
    CommandKeys::of(argv.first()?)
}

/// A name that no command has.
const MARK: &str = "shellgate-next-line";

/// Whether `text` is commands from start to end: a shell that has read it waits for no further line to go with it.
#[must_use]
pub fn is_whole(text: &str) -> bool {
    // What the next line would be says what a here-document or a backslash at the end makes of it.
    let text = text.strip_suffix('\n').unwrap_or(text);
    let followed = format!("{text}\n{MARK}\n");
    let is_mark = |words: &[Word]| matches!(words, [word] if word.value.known() == Some(MARK));
    shellgate_syntax::read(text).is_ok()
        && shellgate_syntax::read(&followed).is_ok_and(|found| {
            found.invocations.iter().any(|call| is_mark(&call.words) && call.places.is_empty())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(call: &str) -> Typed {
        typed_at(&call.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn programs_are_told_apart_by_what_they_read() {
        for call in [
            "bash",
            "sh",
            "/bin/dash",
            "bash --norc -i",
            "bash -s a",
            "bash /dev/stdin",
            "bash --rcfile f -i",
        ] {
            assert_eq!(typed(call), Typed::Command, "{call}");
        }
        for call in [
            "python3",
            "python3.11 -q",
            "node",
            "irb",
            "psql",
            "sqlite3 x.db",
            "zsh",
            "fish",
            "python3 -i x.py",
            "emacs",
            "gdb a",
        ] {
            assert_eq!(typed(call), Typed::Code, "{call}");
        }
        for call in [
            "bash -c read",
            "bash x.sh",
            "cat",
            "top",
            "sleep 5",
            "python3 app.py",
            "node -e 1",
            "git rebase",
        ] {
            assert_eq!(typed(call), Typed::Passes, "{call}");
        }
        for call in ["vim x", "/usr/bin/vim.basic x", "less", "nano x"] {
            assert_eq!(typed(call), Typed::Escapes, "{call}");
        }
        for call in ["ssh host", "script", "sudo -u x bash"] {
            assert_eq!(typed(call), Typed::Forwarded, "{call}");
        }
    }

    #[test]
    fn a_command_is_whole_when_the_next_line_is_another() {
        for text in [
            "ls",
            "ls; pwd",
            "for i in 1 2\ndo echo $i\ndone",
            "cat <<E\na\nE",
            "echo 'a\nb'",
            "# note",
            "",
            "ls &",
        ] {
            assert!(is_whole(text), "{text}");
        }
        for text in [
            "echo 'a",
            "ls |",
            "ls &&",
            "for i in 1",
            "cat <<E",
            "cat <<E\na",
            "echo a\\",
            "echo a\\\n",
            "f() {",
            "if true; then ls",
        ] {
            assert!(!is_whole(text), "{text}");
        }
    }
}
