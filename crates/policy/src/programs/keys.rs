//! Keys by which a running editor or pager runs commands, from `tables/keys.toml`.

use super::base_name;

include!(concat!(env!("OUT_DIR"), "/keys.rs"));

/// The keys of some programs.
#[derive(Debug)]
pub(crate) struct CommandKeys {
    names: &'static [&'static str],
    /// Keys that count at the start of what was typed, or behind Enter or Escape.
    at_line_start: &'static [&'static str],
    /// Keys that count anywhere.
    anywhere: &'static [&'static str],
    /// Commands that count behind a colon, or behind a range of lines that follows one.
    after_colon: &'static [&'static str],
}

/// What ends a line that is typed: Enter or Escape.
const LINE_ENDS: [char; 3] = ['\r', '\n', '\x1b'];

impl CommandKeys {
    /// The keys of the program of this name, if the table has it.
    pub(crate) fn of(program: &str) -> Option<&'static Self> {
        let name = base_name(program);
        // Debian has `vim.basic` and `vim.tiny`.
        let name = name.split('.').next().unwrap_or(name);
        KEYS.iter().find(|row| row.names.contains(&name))
    }

    /// Whether these keys have the program run a command.
    pub(crate) fn run_command(&self, typed: &str) -> bool {
        let starts_line =
            typed.split(LINE_ENDS).any(|line| self.at_line_start.iter().any(|key| line.starts_with(key)));
        let after_colon = typed.match_indices(':').any(|(at, _)| {
            let rest = typed.get(at + 1..).unwrap_or_default();
            let line = rest.split(LINE_ENDS).next().unwrap_or_default();
            let command = line.trim_start_matches(|c: char| c.is_ascii_digit() || ",.$%'<>;+-".contains(c));
            // `:r !ls`, `:w !sh`
            let filter = line.contains(" !");
            filter || self.after_colon.iter().any(|name| command.starts_with(name))
        });
        starts_line || after_colon || self.anywhere.iter().any(|key| typed.contains(key))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct File {
        keys: Vec<Row>,
    }

    #[derive(Deserialize)]
    struct Row {
        names: Vec<String>,
        tests: Tests,
    }

    #[derive(Deserialize)]
    struct Tests {
        runs: Vec<String>,
        harmless: Vec<String>,
    }

    #[test]
    fn the_tests_of_every_row_hold() {
        let file: File = toml_edit::de::from_str(include_str!("../../tables/keys.toml")).unwrap();
        assert!(!file.keys.is_empty());
        for row in file.keys {
            for name in &row.names {
                let keys = CommandKeys::of(name).unwrap();
                for typed in &row.tests.runs {
                    assert!(keys.run_command(typed), "{name}: {typed:?}");
                }
                for typed in &row.tests.harmless {
                    assert!(!keys.run_command(typed), "{name}: {typed:?}");
                }
            }
        }
    }
}
