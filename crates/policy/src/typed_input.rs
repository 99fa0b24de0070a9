//! What a running program does with a line that is typed at it.
//!
//! The tables say it, from the program's argument list: whether it runs the line as a command, as code, passes it on, or
//! takes it as data. Programs are ordered by how much a line can do, so that of several readers the greatest counts.

use shellgate_syntax::{Span, Value, Word};

use crate::programs::{
    CallMeaning, CommandKeys, EffectKind, ProgramKind, ShellGrammar, shell_grammar, understand,
};

/// How a program uses a line that is typed at it. The later variants can do more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputUse {
    /// As data: an answer, a password, a key.
    Data,
    /// As data, but some keys have it run commands: [`keys_run_command`] knows them.
    DataOrCommandKeys,
    /// It passes the line on to a program that isn't known: `ssh`, `script`, `tmux`.
    Forwarded,
    /// As code, or as a command in a language that we don't read.
    Code,
    /// As a command of a shell whose language we read.
    ShellCommand,
}

/// Beginnings of the paths by which a shell may be told to read the terminal as its script.
const TERMINAL_PATHS: [&str; 3] = ["/dev/", "/proc/", "-"];

/// How a program with this argument list uses a line that is typed at it.
#[must_use]
pub fn input_use(argv: &[String]) -> InputUse {
    let words: Vec<Word> =
        argv.iter().map(|word| Word { span: Span::default(), value: Value::Known(word.clone()) }).collect();
    let call = understand(&words);
    let reads_commands = call.effects.iter().any(|effect| match &effect.kind {
        EffectKind::ShellInput(None) => true,
        EffectKind::ShellInput(Some(file)) => {
            file.value.known().is_none_or(|file| TERMINAL_PATHS.iter().any(|start| file.starts_with(start)))
        }
        _ => false,
    });
    let reads_code = call.effects.iter().any(|effect| matches!(effect.kind, EffectKind::OpaqueInput(_)));
    let interactive = argv.iter().skip(1).any(|word| word == "-i" || word == "--interactive");
    match call.kind {
        _ if reads_commands && speaks_our_language(argv) => InputUse::ShellCommand,
        _ if reads_code && keys(argv).is_none() => InputUse::Code,
        Some(ProgramKind::Wrapper | ProgramKind::Network) => InputUse::Forwarded,
        _ if reads_commands => InputUse::Code,
        Some(ProgramKind::Interpreter) if interactive || !has_code(&call) => InputUse::Code,
        _ if keys(argv).is_some() => InputUse::DataOrCommandKeys,
        Some(ProgramKind::Workbench) => InputUse::Code,
        _ => InputUse::Data,
    }
}

/// Whether a program is a shell whose language we read.
fn speaks_our_language(argv: &[String]) -> bool {
    let grammar = argv.first().and_then(|program| shell_grammar(program));
    matches!(grammar, Some(ShellGrammar::Bash | ShellGrammar::Posix | ShellGrammar::Korn))
}

/// Whether an interpreter was given the code that it runs.
fn has_code(call: &CallMeaning) -> bool {
    call.effects.iter().any(|effect| {
        matches!(effect.kind, EffectKind::Inline(..))
            || matches!(effect.kind, EffectKind::Opaque(_, "a script"))
    })
}

/// Whether keys that are typed have this program run a command, as far as its keys are known.
#[must_use]
pub fn keys_run_command(argv: &[String], typed: &str) -> bool {
    keys(argv).is_some_and(|keys| keys.run_command(typed))
}

fn keys(argv: &[String]) -> Option<&'static CommandKeys> {
    CommandKeys::of(argv.first()?)
}

/// A command that stands for the next line. No program has this name.
const NEXT_LINE: &str = "shellgate-next-line";

/// Whether `text` is complete: a shell that has read it runs it and needs no further line.
#[must_use]
pub fn is_complete_command(text: &str) -> bool {
    // If the next line is read as a command of its own, no quote, here-document or backslash is open at the end.
    let text = text.strip_suffix('\n').unwrap_or(text);
    let followed = format!("{text}\n{NEXT_LINE}\n");
    let is_next_line = |words: &[Word]| matches!(words, [word] if word.value.known() == Some(NEXT_LINE));
    shellgate_syntax::read(text).is_ok()
        && shellgate_syntax::read(&followed).is_ok_and(|found| {
            found.invocations.iter().any(|call| is_next_line(&call.words) && call.constructs.is_empty())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(call: &str) -> InputUse {
        input_use(&call.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn programs_are_told_apart_by_how_they_use_input() {
        for call in [
            "bash",
            "sh",
            "/bin/dash",
            "bash --norc -i",
            "bash -s a",
            "bash /dev/stdin",
            "bash --rcfile f -i",
        ] {
            assert_eq!(uses(call), InputUse::ShellCommand, "{call}");
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
            assert_eq!(uses(call), InputUse::Code, "{call}");
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
            assert_eq!(uses(call), InputUse::Data, "{call}");
        }
        for call in ["vim x", "/usr/bin/vim.basic x", "less", "nano x"] {
            assert_eq!(uses(call), InputUse::DataOrCommandKeys, "{call}");
        }
        for call in ["ssh host", "script", "sudo -u x bash"] {
            assert_eq!(uses(call), InputUse::Forwarded, "{call}");
        }
    }

    #[test]
    fn a_command_is_complete_when_the_next_line_is_another() {
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
            assert!(is_complete_command(text), "{text}");
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
            assert!(!is_complete_command(text), "{text}");
        }
    }
}
