//! Variables that load code or change what programs do, from `tables/variables.toml`.
//!
//! Only names say what a variable does; a few values are known to be harmless (`GIT_PAGER=cat`).

include!(concat!(env!("OUT_DIR"), "/variables.rs"));

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct VariableRow {
    /// What it does, to be read behind its name.
    pub(crate) about: &'static str,
    /// Which kind of effect that is.
    pub(crate) effect: VariableEffect,
    names: &'static [&'static str],
    harmless: &'static [&'static str],
    only_with: &'static [&'static str],
    any_case: bool,
    /// Whether it matters only to programs: a shell that sets it without exporting it changes nothing.
    pub(crate) only_exported: bool,
}

/// What a variable can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableEffect {
    /// Code is loaded or run.
    Loads,
    /// It names a program that others start.
    Programs,
    /// It changes where programs and files are found.
    Finds,
    /// It holds options, or names a file of settings.
    Settings,
    /// It makes programs write a file.
    Writes,
    /// It changes where network traffic goes.
    Network,
    /// It changes how the shell reads a text.
    Shell,
    /// Nothing that matters: an exception from a pattern.
    Harmless,
}

impl VariableRow {
    /// Whether the variable does nothing with this value.
    #[must_use]
    pub(crate) fn is_harmless(&self, value: &str) -> bool {
        let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
        let listed = |known: &&str| match known.strip_suffix('*') {
            Some(begin) => value.strip_prefix(begin).is_some_and(plain),
            None => *known == value,
        };
        let without = !self.only_with.is_empty() && !self.only_with.iter().any(|part| value.contains(part));
        without || self.harmless.iter().any(listed)
    }

    /// How well `name` fits: the length of the pattern, longer than any pattern if it is exact.
    fn fits(&self, name: &str) -> Option<usize> {
        let best = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(begin) => {
                let same = name.get(..begin.len()).is_some_and(|own| self.same(own, begin));
                same.then_some(begin.len())
            }
            None => self.same(name, pattern).then_some(usize::MAX),
        };
        self.names.iter().filter_map(best).max()
    }

    fn same(&self, one: &str, other: &str) -> bool {
        one == other || (self.any_case && one.eq_ignore_ascii_case(other))
    }
}

/// What the variable of this name does, if that matters. `None`: harmless.
///
/// Of rows that fit equally well the last one counts, so that a later row can name exceptions.
#[must_use]
pub(crate) fn variable(name: &str) -> Option<&'static VariableRow> {
    let fitting = VARIABLES.iter().filter_map(|row| Some((row.fits(name)?, row)));
    let (_, row) = fitting.max_by_key(|(length, _)| *length)?;
    (row.effect != VariableEffect::Harmless).then_some(row)
}

/// Whether a row names the variable, also one that says that it is harmless.
#[must_use]
pub(crate) fn is_listed_variable(name: &str) -> bool {
    VARIABLES.iter().any(|row| row.fits(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(name: &str) -> Option<VariableEffect> {
        variable(name).map(|row| row.effect)
    }

    #[test]
    fn code_and_programs_are_known() {
        for name in
            ["LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "BASH_FUNC_echo%%", "PYTHONPATH", "RUBYOPT", "PERL5OPT"]
        {
            assert_eq!(effect(name), Some(VariableEffect::Loads), "{name}");
        }
        for name in
            ["GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_KEY_0", "GIT_DIR"]
        {
            assert_eq!(effect(name), Some(VariableEffect::Settings), "{name}");
        }
        assert_eq!(effect("PATH"), Some(VariableEffect::Finds));
        assert_eq!(effect("IFS"), Some(VariableEffect::Shell));
        assert_eq!(effect("EDITOR"), Some(VariableEffect::Programs));
        assert_eq!(effect("GIT_TRACE"), Some(VariableEffect::Writes));
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "Https_Proxy"] {
            assert_eq!(effect(name), Some(VariableEffect::Network), "{name}");
        }
        for name in ["npm_config_script_shell", "NPM_CONFIG_SCRIPT_SHELL", "Npm_Config_x", "TAR_OPTIONS"] {
            assert_eq!(effect(name), Some(VariableEffect::Settings), "{name}");
        }
    }

    #[test]
    fn everything_else_is_harmless() {
        for name in [
            "FOO",
            "NODE_ENV",
            "CI",
            "TZ",
            "LANG",
            "LC_ALL",
            "TERM",
            "COLUMNS",
            "DISPLAY",
            "DEBUG",
            "X",
            "PATHS",
            "path",
            "GIT",
            "A_PATH",
            "FORCE_COLOR",
            "NO_COLOR",
        ] {
            assert_eq!(effect(name), None, "{name}");
        }
    }

    #[test]
    fn exceptions_go_before_patterns() {
        for name in [
            "GIT_AUTHOR_NAME",
            "GIT_COMMITTER_DATE",
            "GIT_TERMINAL_PROMPT",
            "PYTHONUNBUFFERED",
            "PYTHONDONTWRITEBYTECODE",
            "CARGO_TERM_COLOR",
            "CARGO_TARGET_DIR",
            "RUST_LOG",
            "RUST_BACKTRACE",
            "CGO_ENABLED",
        ] {
            assert_eq!(effect(name), None, "{name}");
        }
        assert!(variable("GIT_PAGER").is_some_and(|row| row.is_harmless("cat") && !row.is_harmless("id")));
        assert!(variable("GIT_EDITOR").is_some_and(|row| row.is_harmless(":") && !row.is_harmless("id")));
        assert!(variable("RUSTFLAGS").is_some_and(|row| row.is_harmless("-D warnings")));
        assert!(variable("CFLAGS").is_some_and(|row| row.is_harmless("-O2 -DX=a/b")));
        assert!(variable("CFLAGS").is_some_and(|row| !row.is_harmless("-O2 -fplugin=./x.so")));
        assert!(variable("NODE_OPTIONS").is_some_and(|row| row.is_harmless("--max-old-space-size=3000")));
        assert!(
            variable("NODE_OPTIONS").is_some_and(|row| !row.is_harmless("--max-old-space-size=1 -r ./x"))
        );
        assert!(variable("DEBIAN_FRONTEND").is_some_and(|row| row.is_harmless("noninteractive")));
        assert!(variable("RUSTUP_TOOLCHAIN").is_some_and(|row| row.is_harmless("nightly")));
        assert!(variable("LD_PRELOAD").is_some_and(|row| !row.is_harmless("")));
    }
}
