//! Patterns of paths, as rules about what calls do have them.
//!
//! In a path, `*` stands for any characters of a name and `**` for any number of names. `~` and `$HOME` are the user's home. A
//! pattern that begins with `**/` is about every folder; any other relative one starts from the root.

use std::path::{Path, PathBuf};

use crate::machine::Machine;
use crate::programs::fits_pattern;
use crate::shapes;

/// What stands for any number of names.
const ANY_NAMES: &str = "**";

/// A pattern of paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern {
    /// The names, from `/` on.
    names: Vec<String>,
}

/// How a path is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// For rules that deny or ask: `d/**` is also about the folder `d`.
    Loose,
    /// For rules that allow: `d/**` is about what is in the folder, not about the folder.
    Strict,
}

impl PathPattern {
    /// The patterns that a text stands for: as it is written, and with the links of its first names followed.
    pub(crate) fn read(text: &str, machine: &Machine) -> Vec<Self> {
        let home = || machine.home().and_then(Path::to_str).unwrap_or("/nowhere");
        let below_home = ["~", "$HOME", "${HOME}"].iter().find_map(|begin| {
            text.strip_prefix(begin).filter(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let root = machine.root().to_str().unwrap_or_default();
        let absolute = match below_home {
            Some(rest) => format!("{}{rest}", home()),
            None if text.starts_with('/') => text.to_owned(),
            None if text.starts_with("**/") || text == ANY_NAMES => format!("/{text}"),
            None => format!("{root}/{text}"),
        };
        let names: Vec<String> =
            absolute.split('/').filter(|name| !name.is_empty() && *name != ".").map(str::to_owned).collect();
        let plain = names.iter().take_while(|name| !name.contains('*')).count();
        let (base, open) = names.split_at(plain);
        let base: PathBuf = [Path::new("/")].into_iter().chain(base.iter().map(Path::new)).collect();
        let real = machine.destination(Path::new("/"), &base.to_string_lossy());
        let real = names_of(&real).into_iter().map(str::to_owned).chain(open.iter().cloned()).collect();
        let mut all = vec![Self { names }, Self { names: real }];
        all.dedup();
        all
    }

    /// Whether an absolute path without links is one that the pattern describes.
    pub(crate) fn fits(&self, path: &Path, strictness: Strictness) -> bool {
        self.compare(&names_of(path), strictness).whole
    }

    /// Whether something that the pattern describes is below a folder: `~` holds `~/.ssh/**`. Every folder may hold `**/.env`, so
    /// that says nothing.
    pub(crate) fn is_below(&self, folder: &Path) -> bool {
        let is_anywhere = self.names.first().is_some_and(|name| name == ANY_NAMES);
        !is_anywhere && self.compare(&names_of(folder), Strictness::Loose).begun
    }

    fn compare(&self, names: &[&str], strictness: Strictness) -> Reached {
        let mut reached = vec![false; names.len() + 1];
        if let Some(first) = reached.first_mut() {
            *first = true;
        }
        let mut begun = false;
        for (number, wanted) in self.names.iter().enumerate() {
            begun |= reached.last() == Some(&true);
            let is_last = number + 1 == self.names.len();
            let mut next = vec![false; reached.len()];
            for at in 0..reached.len() {
                let here = reached.get(at) == Some(&true);
                let before = at > 0 && reached.get(at - 1) == Some(&true);
                let is_it = if wanted == ANY_NAMES {
                    let is_below = at > 0 && (before || next.get(at - 1) == Some(&true));
                    // The folder of `d/**` itself: no name stands for the last `**`.
                    let is_folder = here && !(is_last && strictness == Strictness::Strict);
                    is_folder || is_below
                } else {
                    let name = at.checked_sub(1).and_then(|at| names.get(at));
                    before && name.is_some_and(|name| fits_pattern(wanted, name))
                };
                if let Some(place) = next.get_mut(at) {
                    *place = is_it;
                }
            }
            reached = next;
        }
        Reached { whole: reached.last() == Some(&true), begun }
    }

    /// Whether a name in a folder, with this beginning and this end, may lead to what the pattern describes. The shell's
    /// patterns leave out hidden names, unless their own beginning has the dot.
    pub(crate) fn may_have_name(&self, folder: &Path, begin: &str, end: &str) -> bool {
        let plain = self.names.iter().take_while(|name| !name.contains('*')).count();
        let depth = names_of(folder).len();
        let wanted = if depth < plain { self.names.get(depth) } else { self.names.last() };
        wanted.is_none_or(|name| {
            let is_hidden = name.starts_with('.') && begin.is_empty();
            name.contains('*') || name.starts_with(begin) && name.ends_with(end) && !is_hidden
        })
    }

    /// Whether a file that find knows by a pattern of its name may be one that this pattern describes.
    pub(crate) fn may_be_found_as(&self, found: &str) -> bool {
        let last = found.rsplit('/').next().unwrap_or(found);
        self.names.last().is_none_or(|own| {
            let is_open = own.strip_suffix('*').unwrap_or(own).contains('*');
            is_open || own == ANY_NAMES || shapes::may_be_of_find(&shapes::of_pattern(last), own)
        })
    }

    /// Whether a path of which only the beginning is known may be one that the pattern describes. `folder`: the folders of that
    /// beginning, links followed.
    pub(crate) fn may_fit_below(&self, folder: &Path) -> bool {
        let plain = self.names.iter().take_while(|name| !name.contains('*')).count();
        let names = names_of(folder);
        names.iter().zip(self.names.iter().take(plain)).all(|(one, other)| one == other)
    }
}

struct Reached {
    /// The pattern describes the path.
    whole: bool,
    /// It describes something below the path.
    begun: bool,
}

fn names_of(path: &Path) -> Vec<&str> {
    path.components()
        .filter_map(|part| match part {
            std::path::Component::Normal(name) => Some(name.to_str().unwrap_or("\u{fffd}")),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine::new(Path::new("/w/root"), Path::new("/w/root"), Some("/h/me".into()), "/usr/bin".into())
    }

    fn fits(pattern: &str, path: &str, strictness: Strictness) -> bool {
        PathPattern::read(pattern, &machine()).iter().any(|one| one.fits(Path::new(path), strictness))
    }

    #[test]
    fn patterns_describe_paths() {
        for (pattern, path, strict, loose) in [
            ("/tmp/**", "/tmp/a", true, true),
            ("/tmp/**", "/tmp/a/b", true, true),
            ("/tmp/**", "/tmp", false, true),
            ("/tmp/**", "/tmpx/a", false, false),
            ("/tmp/*", "/tmp/a/b", false, false),
            ("~/.ssh/**", "/h/me/.ssh/id", true, true),
            ("$HOME/.ssh/**", "/h/me/.ssh/id", true, true),
            ("~/.ssh/**", "/h/me", false, false),
            ("~/.ssh/**", "/h/you", false, false),
            ("**/.env", "/x/y/.env", true, true),
            ("**/.env", "/.env", true, true),
            ("**/.env", "/x/y/.env.sample", false, false),
            ("**/.env", "/x/y", false, false),
            ("src/**/*.rs", "/w/root/src/a/b.rs", true, true),
            ("src/**/*.rs", "/w/root/src/b.rs", true, true),
            ("src/**/*.rs", "/w/src/b.rs", false, false),
            ("build", "/w/root/build", true, true),
        ] {
            assert_eq!(fits(pattern, path, Strictness::Strict), strict, "{pattern} {path}");
            assert_eq!(fits(pattern, path, Strictness::Loose), loose, "{pattern} {path}");
        }
    }

    #[test]
    fn a_folder_holds_what_is_below_it() {
        let holds = |pattern: &str, folder: &str| {
            PathPattern::read(pattern, &machine()).iter().any(|one| one.is_below(Path::new(folder)))
        };
        assert!(holds("~/.ssh/**", "/h/me") && holds("~/.ssh/**", "/") && holds("src/*.rs", "/w/root/src"));
        assert!(!holds("~/.ssh/**", "/h/you") && !holds("**/.env", "/w/root") && !holds("/tmp/**", "/tmp/a"));
    }

    #[test]
    fn a_beginning_may_lead_to_what_a_pattern_describes() {
        let may = |pattern: &str, folder: &str| {
            PathPattern::read(pattern, &machine()).iter().any(|one| one.may_fit_below(Path::new(folder)))
        };
        assert!(may("~/.ssh/**", "/h/me/.ssh") && may("~/.ssh/**", "/h") && may("**/.env", "/x"));
        assert!(!may("~/.ssh/**", "/w/root/src"));
    }
}
