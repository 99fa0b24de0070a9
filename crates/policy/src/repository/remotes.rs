//! Addresses that git pushes to, as git reads them: the places on this machine that they may lead to, and the files besides the
//! settings of a repository that name some.

use std::fs;
use std::path::{Path, PathBuf};

use crate::paths;

/// The places on this machine that an address may lead to from a folder. `None`: they can't be known.
pub(super) fn places(address: &str, from: &Path, home: Option<&Path>) -> Option<Vec<PathBuf>> {
    let scheme = address.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://"));
    let path = match scheme {
        Some(scheme) => decoded(address.get(scheme.len()..)?)?,
        None => address.to_owned(),
    };
    let mut starts = vec![from.join(&path)];
    // The git that receives a push takes `~` for the home folder. A shell has not done so if it is quoted.
    if let Some(rest) = path.strip_prefix('~') {
        // The home folder of another user.
        if !rest.is_empty() && !rest.starts_with('/') {
            return None;
        }
        starts.push(home?.join(rest.trim_start_matches('/')));
    }
    let mut places = Vec::new();
    for start in starts {
        if paths::depends_on_process(&start) {
            return None;
        }
        // A folder on the way that isn't there may be made before git looks.
        places.extend(paths::resolve(&start).ok().filter(|real| *real != start));
        places.push(start);
    }
    // Git adds `.git` to a path where nothing is without it.
    let with_suffix = |place: &PathBuf| {
        let path = place.to_str()?;
        Some(PathBuf::from(format!("{}.git", path.trim_end_matches('/'))))
    };
    let suffixed: Vec<PathBuf> = places.iter().filter_map(with_suffix).collect();
    places.extend(suffixed);
    Some(places)
}

/// A text in which `%2e` stands for a character. `None`: what it stands for is no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let code =
            others.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = others.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// Whether an address that others are rewritten to is on this machine, or names a helper that git starts.
pub(super) fn is_local(address: &str) -> bool {
    let before_path = address.split('/').next().unwrap_or_default();
    let is_file = address.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    is_file || !before_path.contains(':') || before_path.contains("::")
}

/// Whether a repository has files of the old kind that name remotes.
pub(super) fn has_remote_files(common: &Path) -> bool {
    let has_entry =
        |name: &str| fs::read_dir(common.join(name)).is_ok_and(|mut entries| entries.next().is_some());
    ["remotes", "branches"].into_iter().any(has_entry)
}

#[cfg(test)]
mod tests {
    use super::{decoded, is_local, places};
    use std::path::{Path, PathBuf};

    #[test]
    fn an_address_leads_where_git_goes() {
        let from = Path::new("/no/where");
        let home = Some(Path::new("/no/home"));
        let has = |address: &str, place: &str| {
            places(address, from, home).is_some_and(|places| places.contains(&PathBuf::from(place)))
        };
        assert!(has("b", "/no/where/b") && has("b", "/no/where/b.git") && has("b/", "/no/where/b.git"));
        assert!(has("n/../b", "/no/where/b"));
        assert!(has("file:///x/b%2egit", "/x/b.git") && has("FILE:///x", "/x"));
        assert!(has("~/h", "/no/home/h") && has("~", "/no/home"));
        assert_eq!(places("~u/h", from, home), None);
        assert_eq!(places("/proc/self/cwd/b", from, home), None);
        assert_eq!(places("file:///%70roc/self/cwd/b", from, home), None);
    }

    #[test]
    fn codes_are_decoded() {
        assert_eq!(decoded("a%62%2E%zz%").as_deref(), Some("ab.%zz%"));
        assert_eq!(decoded("%ff"), None);
    }

    #[test]
    fn addresses_without_a_host_are_local() {
        assert!(["/r/", "./r", "r", "~/r", "file:///r", "ext::sh"].into_iter().all(is_local));
        assert!(!["https://h/", "git@h:", "h:x/y", "ssh://h/r"].into_iter().any(is_local));
    }
}
