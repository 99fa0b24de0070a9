//! Comparing a path that a command spells with one that was observed.
//!
//! Observed paths are relative to the root if they are in it. `FOLDER/…` stands for several files of a folder.

/// What stands behind the known beginning of a path, or for all that is in a folder.
const REST: char = '…';

/// A path as a command spells it, from the root on.
#[derive(Debug)]
pub(super) struct ObservedPath {
    components: Vec<String>,
    is_absolute: bool,
    /// Whether only the beginning is known.
    is_beginning: bool,
    /// Whether it may be in any folder.
    is_anywhere: bool,
}

impl ObservedPath {
    /// `moves`: whether the command changes its folder, so that a relative path may be in any.
    pub(super) fn spelled(target: &str, root: &str, directory: &str, moves: bool) -> Self {
        let is_beginning = target.ends_with(REST);
        let target = target.trim_end_matches(REST);
        // A beginning that ends in a slash names the folder before it.
        let is_beginning = is_beginning && !target.ends_with('/');
        let inside = target.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let (path, is_absolute) = match inside {
            Some(rest) => (rest.to_owned(), false),
            None if target.starts_with('/') => (target.to_owned(), true),
            None => (format!("{directory}/{target}"), false),
        };
        let is_anywhere = moves && !target.starts_with('/');
        let path = if is_anywhere { target } else { &path };
        let (components, climbs) = components(path);
        // A path that leads above the root is compared from the machine's root on.
        match climbs {
            0 => Self { components, is_absolute, is_beginning, is_anywhere },
            _ => {
                let whole = format!("{root}/{path}");
                Self {
                    components: self::components(&whole).0,
                    is_absolute: true,
                    is_beginning,
                    is_anywhere: false,
                }
            }
        }
    }

    /// Whether an observed path is this one, in it, or a folder above it.
    pub(super) fn covers(&self, observed: &str) -> bool {
        let is_folder = observed.ends_with(REST);
        let observed = observed.trim_end_matches(REST);
        let (other, _) = components(observed);
        if self.is_anywhere && !self.components.is_empty() {
            return other.windows(self.components.len()).any(|part| self.is_prefix_of(part))
                || is_folder && self.components.len() > 1;
        }
        if observed.starts_with('/') != self.is_absolute {
            return self.is_anywhere;
        }
        self.is_prefix_of(&other) || self.components.starts_with(&other)
    }

    /// Whether an observed path is in the same folder.
    pub(super) fn is_beside(&self, observed: &str) -> bool {
        let (other, _) = components(observed);
        let folder = |path: &[String]| path.split_last().map_or_else(Vec::new, |(_, folder)| folder.to_vec());
        let (own, other) = (folder(&self.components), folder(&other));
        if self.is_anywhere { other.ends_with(&own) } else { own == other }
    }

    fn is_prefix_of(&self, other: &[String]) -> bool {
        match self.components.split_last() {
            Some((last, folders)) if self.is_beginning => {
                other.starts_with(folders)
                    && other.get(folders.len()).is_some_and(|name| name.starts_with(last.as_str()))
            }
            _ => other.starts_with(&self.components),
        }
    }
}

/// The names of a path without `.` and `..`, and how many folders it climbs above its start.
fn components(path: &str) -> (Vec<String>, usize) {
    let (mut names, mut climbs) = (Vec::new(), 0);
    for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
        match name {
            ".." if names.pop().is_none() => climbs += 1,
            ".." => {}
            name => names.push(name.to_owned()),
        }
    }
    (names, climbs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(target: &str, observed: &str) -> bool {
        ObservedPath::spelled(target, "/r", "sub", false).covers(observed)
    }

    #[test]
    fn a_path_covers_itself_what_is_in_it_and_the_folders_above_it() {
        for (target, observed) in [
            ("a", "sub/a"),
            ("./a/", "sub/a/b/c"),
            ("a/b/c", "sub/a"),
            ("../a", "a"),
            ("/r/x", "x"),
            ("/tmp/x", "/tmp/x/y"),
            ("../../o", "/o"),
            (".", "sub/any"),
            ("a", "sub/…"),
            ("a/b", "sub/a/…"),
            ("a/lo…", "sub/a/log.txt"),
            ("a/…", "sub/a/log.txt"),
        ] {
            assert!(covers(target, observed), "{target} {observed}");
        }
        for (target, observed) in [
            ("a", "a"),
            ("a", "sub/ab"),
            ("a", "/sub/a"),
            ("../a", "sub/a"),
            ("/tmp/x", "tmp/x"),
            ("/rx", "x"),
            ("a/lo…", "sub/a/tail"),
            ("a", "other/…"),
        ] {
            assert!(!covers(target, observed), "{target} {observed}");
        }
    }

    #[test]
    fn a_command_that_changes_its_folder_may_mean_any() {
        let spelled = |target| ObservedPath::spelled(target, "/r", ".", true);
        assert!(
            spelled("a").covers("x/y/a") && spelled("a").covers("/tmp/a/b") && spelled("a/b").covers("x/a/b")
        );
        assert!(!spelled("a").covers("x/y/b") && !spelled("/tmp/a").covers("x/a"));
        assert!(spelled("f").is_beside("x/sedQ") && !spelled("d/f").is_beside("x/sedQ"));
    }
}
