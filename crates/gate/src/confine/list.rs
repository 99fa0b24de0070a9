//! Lists of paths in text files.

use std::path::{Component, Path, PathBuf};

/// The lines of a list, without comments.
pub(super) fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The paths of a list. One that is a link stands for what it leads to. They need not exist.
pub(super) fn paths(text: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let named = entries(text).filter_map(|line| match line.strip_prefix('~') {
        Some(rest) => Some(home?.join(rest.trim_start_matches('/'))),
        None => Some(PathBuf::from(line)),
    });
    named.flat_map(|path| expand(&path)).filter_map(follow).collect()
}

/// The path without links, if it exists, or the path itself. A link that leads nowhere is left out.
fn follow(path: PathBuf) -> Option<PathBuf> {
    if path.symlink_metadata().is_ok() { path.canonicalize().ok() } else { Some(path) }
}

/// The path without links in the part of it that exists. `None`: what doesn't exist is no plain name.
pub(super) fn without_links(path: &Path) -> Option<PathBuf> {
    let (above, known) = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
    let rest = path.strip_prefix(above).ok()?;
    let is_plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
    is_plain.then(|| if rest.as_os_str().is_empty() { known } else { known.join(rest) })
}

/// The paths of a list that exist, as they are: a link stays a link.
pub(super) fn existing_or_links(text: &str) -> Vec<PathBuf> {
    entries(text).map(PathBuf::from).filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// A path whose components may end in `*`, as the paths that exist. A path without `*` is kept.
fn expand(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    let mut is_pattern = false;
    for part in path.components() {
        let name = part.as_os_str().to_string_lossy();
        let Some(start) = name.strip_suffix('*') else {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        };
        let entries =
            found.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start));
        found = named.map(|entry| entry.path()).collect();
        is_pattern = true;
    }
    found.retain(|path| !is_pattern || path.symlink_metadata().is_ok());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for path in ["a/config", "b/config", "b/hooks", "c"] {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink(home.join("c"), home.join("link")).unwrap();
        let text = "# a comment\n~/a\n\n  ~/missing\n~/link\n~/b/h*\n";
        let expected = ["a", "missing", "c", "b/hooks"].map(|path| home.join(path));
        assert_eq!(paths(text, Some(&home)), expected);
        assert!(paths("~/a", None).is_empty());
    }
}
