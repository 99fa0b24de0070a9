//! Substitutions whose output is certainly a number: `$(nproc)`, `$(ls | wc -l)`.
//!
//! A text is accepted if all of it lies inside a small grammar: stages of plain words, the last of which is a listed command.
//! Nothing but the last stage writes to the output of a substitution.

use shellgate_syntax::{Findings, Invocation};

use crate::programs::words;

/// The program that prints with `-c` how many lines of a file have a word.
const LINE_COUNTER: &str = "grep";

/// Which substitutions of a text print numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Whether the names of programs mean those programs in the whole text.
    names_are_programs: bool,
}

impl Numbers {
    /// Looks through a text. `is_plain`: it has only plain builtins.
    pub(super) fn find(findings: &Findings, is_plain: bool) -> Self {
        let is_listed = |name: &str| {
            let mut commands = words::COMMANDS_THAT_PRINT_NUMBERS.iter();
            name == LINE_COUNTER || commands.any(|command| command.split(' ').next() == Some(name))
        };
        let is_unknown = |invocation: &Invocation| {
            invocation.words.first().is_some_and(|word| word.value.known().is_none())
        };
        let is_hidden = findings.functions.iter().any(|function| is_listed(&function.name));
        Self { names_are_programs: is_plain && !is_hidden && !findings.invocations.iter().any(is_unknown) }
    }

    /// Whether what is written is one substitution that prints a number, or nothing if its command fails.
    pub(super) fn is_number(&self, written: &str) -> bool {
        let unquoted = written.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(written);
        let inside = unquoted.strip_prefix("$(").and_then(|text| text.strip_suffix(')'));
        self.names_are_programs && inside.is_some_and(prints_number)
    }

    /// Whether what is written is a substitution that prints a number and doesn't fail, since it reads nothing.
    pub(super) fn is_certain_number(&self, written: &str) -> bool {
        self.is_number(written) && ["$(nproc)", "$(nproc --all)"].contains(&written.trim_matches('"'))
    }
}

/// Whether the output of a pipeline is a number.
fn prints_number(pipeline: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_./|*?,:=+@%^".contains(c);
    let mut stages = pipeline.rsplit('|').map(str::trim);
    let Some(last) = stages.next() else { return false };
    let (command, file) =
        last.split_once('<').map_or((last, "x"), |(command, file)| (command.trim(), file.trim()));
    pipeline.replacen('<', "", 1).chars().all(is_plain)
        && !file.is_empty()
        && !file.contains(' ')
        && stages.all(|stage| {
            let program = stage.split(' ').next().unwrap_or_default();
            words::PROGRAMS_THAT_WRITE_NO_FILE.contains(&program) && !stage.contains('<')
        })
        && (words::COMMANDS_THAT_PRINT_NUMBERS.contains(&command) || counts_lines(command))
}

/// Whether a command counts the lines of one file that have a word: of several files it prints their names too.
fn counts_lines(command: &str) -> bool {
    let is_plain = |word: &str| !word.is_empty() && !word.starts_with('-') && !word.contains(['*', '?']);
    match command.split(' ').collect::<Vec<_>>().as_slice() {
        [LINE_COUNTER, "-c", word, file] => is_plain(word) && is_plain(file),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    #[test]
    fn only_listed_commands_print_numbers() {
        let numbers = Numbers { names_are_programs: true };
        for text in [
            "$(nproc)",
            "\"$(nproc)\"",
            "$(ls|wc -l)",
            "$(ls -a src/*.c | grep x | wc -l)",
            "$(wc -l < a.txt)",
            "$(grep -c foo a.txt)",
        ] {
            assert!(numbers.is_number(text), "{text}");
        }
        for text in [
            "$(echo 1)",
            "$(grep -c foo a b)",
            "$(grep -c foo *.txt)",
            "$(grep -c -r foo)",
            "$(grep -cH foo a.txt)",
            "$(wc -l a)",
            "$(wc -l < a b)",
            "$(wc -l < a < b)",
            "$(echo x; wc -l)",
            "$(echo x & wc -l)",
            "$(echo x\nwc -l)",
            "$(ls || wc -l)",
            "$(ls |& wc -l)",
            "$(ls > /dev/stdout | wc -l)",
            "$(wc -l | cat)",
            "$(nproc)$(nproc)",
            "$(nproc) $(x)",
            "$(cat < a | wc -l)",
            "x$(nproc)",
            "$($x | wc -l)",
        ] {
            assert!(!numbers.is_number(text), "{text}");
        }
        assert!(!Numbers::default().is_number("$(nproc)"));
    }
}
