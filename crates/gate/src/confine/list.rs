//! Lists of paths in text files.

use std::path::{Path, PathBuf};

use shellgate_exec::links::Links;

/// The lines of a list, without comments.
pub(super) fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The paths of a list, with links as they are. They need not exist.
pub(super) fn named(text: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let named = entries(text).filter_map(|line| match line.strip_prefix('~') {
        Some(rest) => Some(home?.join(rest.trim_start_matches('/'))),
        None => Some(PathBuf::from(line)),
    });
    named.flat_map(|path| expand(&path)).collect()
}

/// The path without links in the part of it that exists. `None`: what doesn't exist is no plain name, or there is a link in
/// one of the `open` folders. A command that can write there may have made it, and it could lead anywhere.
pub(super) fn without_links_of_commands(path: &Path, open: &[PathBuf]) -> Option<PathBuf> {
    outside_of(path, open, &mut Links::default())
}

fn outside_of(path: &Path, open: &[PathBuf], links: &mut Links) -> Option<PathBuf> {
    let route = links.follow(path);
    let is_open =
        |turn: &PathBuf| turn.parent().is_some_and(|folder| open.iter().any(|open| folder.starts_with(open)));
    route.end.filter(|_| route.is_plain && !route.turns.iter().any(is_open))
}

/// Places that will be opened to commands, each without links. One that passes a link in an `open` folder, or in one of these
/// places, is left out.
pub(super) fn opened<const LISTS: usize>(
    lists: [Vec<PathBuf>; LISTS],
    open: &[PathBuf],
) -> [Vec<Option<PathBuf>>; LISTS] {
    let mut links = Links::default();
    let mut all = |open: &[PathBuf]| {
        let mut without_links = |path: &PathBuf| outside_of(path, open, &mut links);
        lists.each_ref().map(|list| list.iter().map(&mut without_links).collect::<Vec<_>>())
    };
    let found = all(open);
    let is_plain = |(path, found): (&PathBuf, &Option<PathBuf>)| found.as_ref() == Some(path);
    if lists.iter().flatten().zip(found.iter().flatten()).all(is_plain) {
        return found;
    }
    all(&[open, &found.into_iter().flatten().flatten().collect::<Vec<_>>()].concat())
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
    fn a_place_is_not_found_through_a_link_in_an_open_folder() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let at = |path: &str| real.join(path);
        for path in ["open", "home/cache", "home/bin", "data"] {
            std::fs::create_dir_all(at(path)).unwrap();
        }
        let link = |to: &str, path: &str| std::os::unix::fs::symlink(to, at(path)).unwrap();
        link("../../data", "home/cache/own");
        link(at("open/moved").to_str().unwrap(), "home/cache/moved");
        link("../home/bin", "open/moved");
        link("circle", "home/circle");
        let found = |path: &str, open: &[PathBuf]| without_links_of_commands(&at(path), open);
        assert_eq!(found("home/cache/own/x", &[at("open")]), Some(at("data/x")), "a link of the user's");
        assert_eq!(found("home/cache/moved/x", &[]), Some(at("home/bin/x")));
        for path in ["open/moved", "open/moved/x", "home/cache/moved", "home/cache/moved/x", "home/circle"] {
            assert_eq!(found(path, &[at("open")]), None, "{path}");
        }
        assert_eq!(found("open/new/er", &[at("open")]), Some(at("open/new/er")));
        assert_eq!(found("home/../data", &[]), Some(at("data")));
        assert_eq!(found("missing/../data", &[]), None);
        assert_eq!(without_links_of_commands(Path::new("data"), &[]), None, "relative");
        // One of the places opens the folder with the link of another one.
        let lists = [vec![at("home/cache/moved")], vec![at("data"), at("open")]];
        assert_eq!(opened(lists.clone(), &[]), [vec![None], vec![Some(at("data")), Some(at("open"))]]);
        assert_eq!(opened([lists[1].clone()], &[]), [vec![Some(at("data")), Some(at("open"))]]);
    }

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
        let expected = ["a", "missing", "link", "b/hooks"].map(|path| home.join(path));
        assert_eq!(named(text, Some(&home)), expected);
        assert!(named("~/a", None).is_empty());
    }
}
