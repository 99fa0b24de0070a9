//! Paths that no command may touch: shellgate's own settings, record and sockets.
//!
//! A call is looked at word by word. A word that leads to such a path, or has one written in it, denies the call, whatever
//! the rules say. What the text doesn't name (a pattern, a variable, a program that walks a tree) is not found.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Assigned, RedirectTarget, Unknown, Value, Why};

use crate::calls::Call;
use crate::machine::Machine;
use crate::programs::{EffectKind, ProgramKind};
use crate::redirects;

/// The variable that names the state folder.
const STATE_VARIABLE: &str = "SHELLGATE_HOME";

/// The paths that no command may touch.
#[derive(Clone, Debug, Default)]
pub struct Protected {
    paths: Vec<PathBuf>,
    /// Those that programs that only read may read.
    readable: Vec<PathBuf>,
}

impl Protected {
    /// These paths and everything below them. Links are followed.
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { paths: with_destinations(paths), readable: Vec::new() }
    }

    /// The same, but programs that only read may read these paths.
    #[must_use]
    pub fn readable(self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { readable: with_destinations(paths), ..self }
    }

    /// Whether a path is protected from an access that only `reads`, or from any other.
    fn contains(&self, path: &Path, reads: bool) -> bool {
        let below = |paths: &[PathBuf]| paths.iter().any(|above| path.starts_with(above));
        below(&self.paths) && !(reads && below(&self.readable))
    }

    /// Whether a protected path is written somewhere in `text`: behind `=`, in a piece of code, in a URL.
    fn is_written_in(&self, text: &str, reads: bool) -> bool {
        // Most words are shorter than any of the paths.
        let is_in = |text: &str, path: &str| path.len() <= text.len() && mentions(text, path);
        let names =
            |text: &str| self.paths.iter().any(|path| path.to_str().is_some_and(|path| is_in(text, path)));
        if !names(text) {
            return false;
        }
        // Whether one is left when those that may be read are taken out.
        let readable = self.readable.iter().filter(|_| reads).filter_map(|path| path.to_str());
        let rest = readable.fold(text.to_owned(), |text, path| {
            text.strip_suffix(path).unwrap_or(&text).replace(&format!("{path}/"), "")
        });
        names(&rest)
    }
}

/// The paths as they are written, and where they lead.
fn with_destinations(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in paths {
        all.extend(path.canonicalize().ok().filter(|real| *real != path));
        all.push(path);
    }
    all
}

/// The word by which a call touches a protected path, if there is one.
pub(crate) fn touched<'a>(
    call: &'a Call,
    directories: Option<&[PathBuf]>,
    machine: &Machine,
) -> Option<&'a str> {
    machine.protected()?;
    let only_reads = matches!(call.meaning.kind, Some(ProgramKind::Reader))
        && !call.meaning.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Writes(_)));
    // The name of a program is looked for on PATH, and is no path.
    let is_name = |value: &Value| value.known().is_some_and(|name| !name.contains('/'));
    let name = call.words.first().filter(|word| is_name(&word.value));
    let words = call.words.iter().skip(usize::from(name.is_some()));
    let words = words.map(|word| (&word.value, only_reads));
    let targets = call.redirects.iter().filter_map(|redirect| match &redirect.target {
        RedirectTarget::Word(word) => Some((&word.value, false)),
        _ => None,
    });
    // Setting a variable touches nothing. The call that uses it is judged by its own words.
    let assigned = call.assignments.iter().flat_map(|assignment| match &assignment.value {
        Assigned::Scalar(value) => std::slice::from_ref(value),
        Assigned::Array(values) | Assigned::ByShell(values) => values,
    });
    let mut values = words.chain(targets).chain(assigned.map(|value| (value, true)));
    values.find_map(|(value, reads)| touches(value, reads, directories, machine).then(|| value.lead()))
}

/// Whether a value leads to a protected path, or has one written in it.
fn touches(value: &Value, reads: bool, directories: Option<&[PathBuf]>, machine: &Machine) -> bool {
    let Some(protected) = machine.protected() else { return false };
    if let Value::Unknown(Unknown { why: Why::Parameter(name), .. }) = value
        && name == STATE_VARIABLE
    {
        return true;
    }
    let path = redirects::known_path(value, machine);
    let text = path.as_deref().unwrap_or_else(|| value.lead());
    protected.is_written_in(text, reads)
        || path.is_some_and(|path| leads_to(&path, directories, machine, |to| protected.contains(to, reads)))
}

/// Whether the value of a variable that a caller sets names a protected path.
pub(crate) fn is_named_in(text: &str, machine: &Machine) -> bool {
    touches(&Value::Known(text.to_owned()), true, None, machine)
}

/// Whether a word, read as a path, leads to a path that `is_wanted`.
fn leads_to(
    path: &str,
    directories: Option<&[PathBuf]>,
    machine: &Machine,
    is_wanted: impl Fn(&Path) -> bool,
) -> bool {
    if path.is_empty() || path.contains('\n') {
        return false;
    }
    // `--file=PATH`, `if=PATH`.
    let value = path.split_once('=').map_or(path, |(_, value)| value);
    let here = [machine.directory().to_owned()];
    let mut from = directories.unwrap_or(&here).iter();
    from.any(|from| is_wanted(&machine.cached_destination(from, value)))
}

/// Whether `path` is written in `text` as a whole: the characters before and behind it are no part of a name.
fn mentions(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(at, _)| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + path.len()..));
        let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
        let begins = !before.ends_with(part_of_name)
            || before.ends_with("://")
            // `-fPATH`.
            || (before.len() == 2 && before.starts_with('-'));
        let ends = after.is_none_or(|after| after.starts_with('/') || !after.starts_with(part_of_name));
        begins && ends
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_path_is_found_where_it_is_written_as_a_whole() {
        let path = "/home/me/.config/shellgate";
        for text in [
            "/home/me/.config/shellgate",
            "/home/me/.config/shellgate/config.toml",
            "--file=/home/me/.config/shellgate/x",
            "-f/home/me/.config/shellgate",
            "file:///home/me/.config/shellgate/x",
            "open('/home/me/.config/shellgate/x')",
            "a:/home/me/.config/shellgate:b",
        ] {
            assert!(mentions(text, path), "{text}");
        }
        for text in [
            "/home/me/.config/shellgate-old",
            "/home/me/.config/shellgate.d/x",
            "/backup/home/me/.config/shellgate",
            "/home/me/.config",
            "",
        ] {
            assert!(!mentions(text, path), "{text}");
        }
    }
}
