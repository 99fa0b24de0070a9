//! Files that are descriptors: `<( … )`, `/dev/fd/3`, `/dev/stdin`. What such a file holds is in the text, or comes from what
//! the text runs. A program that obeys it obeys the text.

use std::path::{Component, Path, PathBuf};

use shellgate_syntax::{Unknown, Value, Why, Word};

use super::Judge;
use super::word_shapes::path_candidates;
use crate::paths::PATH_MAX_BYTES;

/// So many parts of a word are followed through links.
const MAX_PATHS: usize = 16;

impl Judge<'_> {
    /// Whether a word names a descriptor, or a file of a process, as a path or within another text: `@/dev/fd/3`.
    pub(super) fn names_descriptor(&self, word: &Word) -> bool {
        match &word.value {
            Value::Known(text) => self.names_descriptor_in(text),
            Value::Unknown(Unknown { why: Why::Process, .. }) => true,
            Value::Unknown(Unknown { lead, tail, .. }) => {
                self.names_descriptor_in(lead) || tail.as_deref().is_some_and(has_descriptor)
            }
        }
    }

    /// The same for a text. One that is longer than any path isn't searched: it has too many parts that may be paths.
    pub(super) fn names_descriptor_in(&self, text: &str) -> bool {
        text.len() > PATH_MAX_BYTES
            || has_descriptor(text)
            || path_candidates(text)
                .map(|path| path.strip_prefix('@').unwrap_or(path))
                .filter(|path| path.len() <= PATH_MAX_BYTES)
                .take(MAX_PATHS)
                .any(|path| self.is_descriptor(path))
    }

    /// Whether a path leads to a descriptor by another name: through a link, or through `..`.
    fn is_descriptor(&self, path: &str) -> bool {
        let start = [self.machine.directory().to_owned()];
        let folders: &[PathBuf] = self.state.directories.as_deref().unwrap_or(&start);
        folders.iter().any(|from| {
            let place = self.machine.cached_destination(from, path);
            let folder = Path::new(path).parent().and_then(Path::to_str).unwrap_or_default();
            // The descriptors of this process aren't those of the program.
            is_descriptor_place(&place)
                || !folder.is_empty() && is_descriptor_place(&self.machine.cached_destination(from, folder))
        })
    }
}

/// Whether an absolute path without links and `..` is a descriptor, or a file of a process: `/dev/fd/3`, `/proc/self/cwd`.
fn is_descriptor_place(place: &Path) -> bool {
    let mut names = place.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let is_process = |name: &str| {
        matches!(name, "self" | "thread-self") || !name.is_empty() && name.bytes().all(|c| c.is_ascii_digit())
    };
    place.is_absolute()
        && match (names.next(), names.next()) {
            (Some("dev"), Some(name)) => matches!(name, "fd" | "stdin"),
            (Some("proc"), Some(name)) => is_process(name),
            _ => false,
        }
}

/// Whether a text holds the path of a descriptor, wherever it begins.
fn has_descriptor(text: &str) -> bool {
    let folders = text.match_indices("/dev").chain(text.match_indices("/proc"));
    folders.filter_map(|(at, _)| text.get(at..)).any(|path| is_descriptor_place(Path::new(path)))
}

#[cfg(test)]
mod tests {
    use super::has_descriptor;

    #[test]
    fn descriptors_are_found_wherever_they_stand_in_a_text() {
        for text in
            ["/dev/fd/3", "@/dev/stdin", "-f/dev/fd/3", "x=/proc/self/fd/0", "//dev/./fd/3", "/proc/12/fd/3"]
        {
            assert!(has_descriptor(text), "{text}");
        }
        for text in ["/dev/null", "/dev/stdout", "/proc/cpuinfo", "x/dev", "/devel/fd", "/dev", "/proc"] {
            assert!(!has_descriptor(text), "{text}");
        }
    }
}
