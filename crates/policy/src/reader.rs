//! What a running program does with what is typed at it: by the tables, from its argument list.

use shellgate_syntax::{Span, Value, Word};

use crate::program::{Kind, Understood, What, understand};

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
        _ if reads_commands && call.entry == Some("bash") => Typed::Command,
        _ if reads_code => Typed::Code,
        Some(Kind::Wrapper | Kind::Network) => Typed::Forwarded,
        _ if reads_commands => Typed::Code,
        Some(Kind::Interpreter) if interactive || !runs_file(&call) => Typed::Code,
        _ if row(argv).is_some() => Typed::Escapes,
        Some(Kind::Workbench) => Typed::Code,
        _ => Typed::Passes,
    }
}

/// Whether an interpreter was given what it runs.
fn runs_file(call: &Understood) -> bool {
    call.effects.iter().any(|effect| {
        matches!(effect.what, What::Inline(..)) || matches!(effect.what, What::Opaque(_, "a script"))
    })
}

/// Keys by which a program runs commands.
struct Row {
    names: &'static [&'static str],
    /// At the start of what was typed, or behind Enter or Escape.
    leading: &'static [&'static str],
    /// Anywhere.
    anywhere: &'static [&'static str],
    /// Behind a colon, or behind a range that follows one.
    commands: &'static [&'static str],
}

/// Editors and pagers. Not all of their ways to run something are here: what is, is what people use.
static ROWS: &[Row] = &[
    Row {
        names: &["vim", "vi", "nvim", "ex", "view", "vimdiff", "rvim", "rview"],
        leading: &["!"],
        anywhere: &["\x12=", "system("],
        commands: &[
            "!", "sh", "ter", "mak", "lmak", "gr", "lgr", "vim", "so", "ru", "lua", "py", "pe", "rub", "tcl",
            "mz", "cal", "exe", "norm", "ec", "let", "au", "com", "fu", "map", "nm", "nn", "ino", "im", "se",
            "cs", "diffp", "arg", "bufd", "wind", "tabd", "cdo", "ldo", "g", "v/", "star", "packa", "debug",
            "sil", "cex", "lex", "@",
        ],
    },
    Row {
        names: &["less", "more", "most", "pg", "man", "zless", "bat"],
        leading: &["!", "#", "|", "v", "s", "o"],
        anywhere: &[],
        commands: &["!", "e", "x"],
    },
    Row { names: &["nano", "pico", "rnano"], leading: &[], anywhere: &["\x14", "\x12"], commands: &[] },
];

fn row(argv: &[String]) -> Option<&'static Row> {
    let name = argv.first().map(|path| path.rsplit('/').next().unwrap_or(path))?;
    // Debian has `vim.basic` and `vim.tiny`.
    let name = name.split('.').next().unwrap_or(name);
    ROWS.iter().find(|row| row.names.contains(&name))
}

/// Whether `typed` has this program run a command, as far as we know its keys.
#[must_use]
pub fn escapes(argv: &[String], typed: &str) -> bool {
    let Some(row) = row(argv) else { return false };
    let leads =
        typed.split(['\r', '\n', '\x1b']).any(|line| row.leading.iter().any(|key| line.starts_with(key)));
    let commands = typed.match_indices(':').any(|(at, _)| {
        let rest = typed.get(at + 1..).unwrap_or_default();
        let line = rest.split(['\r', '\n', '\x1b']).next().unwrap_or_default();
        let command = line.trim_start_matches(|c: char| c.is_ascii_digit() || ",.$%'<>;+-".contains(c));
        // `:r !ls`, `:w !sh`
        let filter = line.contains(" !");
        filter || row.commands.iter().any(|name| command.starts_with(name))
    });
    leads || commands || row.anywhere.iter().any(|key| typed.contains(key))
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
    fn keys_that_run_commands_are_known() {
        let vim = ["vim".to_owned()];
        for keys in [
            ":!rm x\r",
            "\x1b:!ls\r",
            "!!date\r",
            ":r !ls\r",
            ":%!sort\r",
            ":sh\r",
            ":1,5!x\r",
            ":so f\r",
            ":w !sh\r",
        ] {
            assert!(escapes(&vim, keys), "{keys:?}");
        }
        for keys in [":wq\r", "ihello: world! it's\x1b", ":q!\r", ":5\r", "dd", ":%s/a/b/\r", ":x\r"] {
            assert!(!escapes(&vim, keys), "{keys:?}");
        }
        let less = ["less".to_owned()];
        assert!(escapes(&less, "!ls\r") && !escapes(&less, "q") && !escapes(&less, "/word\r"));
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
