//! Paths that no command may touch: shellgate's own settings, record and sockets.
//!
//! A call is looked at word by word: a word that leads to such a path, or has one written in it, denies the call,
//! whatever the rules say. What can't be known from the text (a pattern, a variable, a program that walks a tree) is not
//! found here.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Assigned, RedirectTarget, Unknown, Value, Why};

use crate::programs::{Kind, What};
use crate::reach::Call;
use crate::redirects;
use crate::world::World;

/// The variable that names the state folder.
const STATE_VARIABLE: &str = "SHELLGATE_HOME";

/// What may not be touched.
#[derive(Clone, Debug, Default)]
pub struct Protected {
    paths: Vec<PathBuf>,
    readable: Vec<PathBuf>,
}

impl Protected {
    /// Neither these nor what is below them. Links are followed.
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { paths: both(paths), readable: Vec::new() }
    }

    /// But programs that only read may read these.
    #[must_use]
    pub fn readable(self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { readable: both(paths), ..self }
    }

    fn holds(&self, path: &Path, reads: bool) -> bool {
        let below = |paths: &[PathBuf]| paths.iter().any(|above| path.starts_with(above));
        below(&self.paths) && !(reads && below(&self.readable))
    }

    /// Whether such a path is written somewhere in `text`: behind `=`, in a piece of code, in a URL.
    fn written_in(&self, text: &str, reads: bool) -> bool {
        let names =
            |text: &str| self.paths.iter().any(|path| path.to_str().is_some_and(|path| mentions(text, path)));
        if !names(text) {
            return false;
        }
        // Without those that may be read, is there still one?
        let readable = self.readable.iter().filter(|_| reads).filter_map(|path| path.to_str());
        let rest = readable.fold(text.to_owned(), |text, path| {
            text.strip_suffix(path).unwrap_or(&text).replace(&format!("{path}/"), "")
        });
        names(&rest)
    }
}

/// Paths as they are written, and where they lead.
fn both(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut both = Vec::new();
    for path in paths {
        both.extend(path.canonicalize().ok().filter(|real| *real != path));
        both.push(path);
    }
    both
}

/// The text by which a call touches what it may not, if there is one.
pub(crate) fn touched<'a>(call: &'a Call, directories: Option<&[PathBuf]>, world: &World) -> Option<&'a str> {
    world.protected()?;
    let plainly = matches!(call.understood.kind, Some(Kind::Reader))
        && !call.understood.effects.iter().any(|effect| matches!(effect.what, What::Writes(_)));
    let words = call.words.iter().map(|word| (&word.value, plainly));
    let targets = call.redirects.iter().filter_map(|redirect| match &redirect.target {
        RedirectTarget::Word(word) => Some((&word.value, false)),
        _ => None,
    });
    // A variable may be used for anything later; then it is what uses it that matters.
    let assigned = call.assignments.iter().flat_map(|assignment| match &assignment.value {
        Assigned::Scalar(value) => std::slice::from_ref(value),
        Assigned::Array(values) | Assigned::ByShell(values) => values,
    });
    let mut values = words.chain(targets).chain(assigned.map(|value| (value, true)));
    values.find_map(|(value, reads)| touches(value, reads, directories, world).then(|| value.lead()))
}

/// Whether a word or value is, leads to or names what may not be touched.
fn touches(value: &Value, reads: bool, directories: Option<&[PathBuf]>, world: &World) -> bool {
    let Some(protected) = world.protected() else { return false };
    if let Value::Unknown(Unknown { why: Why::Parameter(name), .. }) = value
        && name == STATE_VARIABLE
    {
        return true;
    }
    let path = redirects::path(value, world);
    let text = path.as_deref().unwrap_or_else(|| value.lead());
    protected.written_in(text, reads)
        || path.is_some_and(|path| leads(&path, directories, world, |to| protected.holds(to, reads)))
}

/// The same for the value of a variable that a caller sets.
pub(crate) fn named(text: &str, world: &World) -> bool {
    touches(&Value::Known(text.to_owned()), true, None, world)
}

/// Whether a word, taken for a path, leads where `to` says.
fn leads(path: &str, directories: Option<&[PathBuf]>, world: &World, to: impl Fn(&Path) -> bool) -> bool {
    if path.is_empty() || path.contains('\n') {
        return false;
    }
    // `--file=PATH`, `if=PATH`.
    let value = path.split_once('=').map_or(path, |(_, value)| value);
    let here = [world.directory().to_owned()];
    let mut from = directories.unwrap_or(&here).iter();
    from.any(|from| to(&world.leads_to(from, value)))
}

/// Whether `path` is written in `text`, from its first character to the end of a name.
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
    fn a_path_is_found_where_it_is_meant() {
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
