//! Properties of programs, from `tables/properties.toml`, and the questions that other modules and crates ask about a
//! program by its name alone.

use super::{ProgramKind, ShellGrammar, entry};

/// Makes the enum of the list.
macro_rules! properties {
    ($($(#[$doc:meta])* $name:literal = $property:ident,)*) => {
        /// What is known of a program besides the grammar of its calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Property {
            $($(#[$doc])* $property,)*
        }
    };
}

include!("property_list.rs");
include!(concat!(env!("OUT_DIR"), "/properties.rs"));

/// The name of a program without its folder.
#[must_use]
pub fn base_name(program: &str) -> &str {
    program.rsplit('/').find(|part| !part.is_empty()).unwrap_or(program)
}

/// Whether the program of exactly this name has a property. A path has none: `/tmp/exit` is not the builtin `exit`.
pub(crate) fn has(name: &str, property: Property) -> bool {
    PROGRAMS_WITH.iter().any(|(other, names)| *other == property && names.contains(&name))
}

/// How the shell of this name reads a text. `None`: it is no shell.
///
/// Another version of bash (`bash-4.2`) may read a text otherwise than the one that we know; it counts as [`Posix`].
///
/// [`Posix`]: ShellGrammar::Posix
#[must_use]
pub fn shell_grammar(program: &str) -> Option<ShellGrammar> {
    let name = base_name(program);
    let entry = entry::find(name)?;
    let listed = entry.names.contains(&name);
    entry.grammar.map(|grammar| match grammar {
        ShellGrammar::Bash if !listed => ShellGrammar::Posix,
        grammar => grammar,
    })
}

/// Whether bash itself has a command of this name.
pub(crate) fn is_builtin(name: &str) -> bool {
    entry::find(name).is_some_and(|entry| entry.kind == ProgramKind::Builtin)
}

/// Whether a program file holds many programs, so that its own name doesn't say which one runs.
#[must_use]
pub fn is_multi_call(program: &str) -> bool {
    has(base_name(program), Property::MultiCall)
}

/// Whether a program's output is an assistant's own words.
#[must_use]
pub fn is_assistant(program: &str) -> bool {
    has(base_name(program), Property::Assistant)
}

/// Whether a command that is typed at an interactive shell changes what later lines mean, or reads some of them itself.
#[must_use]
pub fn affects_later_lines(program: &str) -> bool {
    has(base_name(program), Property::AffectsLaterLines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_told_apart_by_their_grammar() {
        for (name, grammar) in [
            ("bash", Some(ShellGrammar::Bash)),
            ("/usr/bin/bash", Some(ShellGrammar::Bash)),
            ("rbash", Some(ShellGrammar::Bash)),
            ("bash-4.2", Some(ShellGrammar::Posix)),
            ("dash", Some(ShellGrammar::Posix)),
            ("ksh93", Some(ShellGrammar::Korn)),
            ("zsh", Some(ShellGrammar::Other)),
            ("zsh-5.9", Some(ShellGrammar::Other)),
            ("nu", Some(ShellGrammar::Other)),
            ("python3", None),
            ("nosuch", None),
        ] {
            assert_eq!(shell_grammar(name), grammar, "{name}");
        }
    }

    #[test]
    fn properties_belong_to_names() {
        assert!(has("exit", Property::ActsOnShellOnly) && !has("/tmp/exit", Property::ActsOnShellOnly));
        assert!(is_multi_call("/bin/busybox") && is_multi_call("coreutils") && !is_multi_call("bash"));
        assert!(is_assistant("codex") && !is_assistant("cat"));
        assert!(
            affects_later_lines("read") && affects_later_lines("/bin/stty") && !affects_later_lines("ls")
        );
    }
}
