//! Where paths lead, and the links that they pass.
//!
//! Who can replace a link in the middle of a path leads the path elsewhere, so a place is held only if every link on the way to it
//! is.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The kernel follows no more links in one path.
const MAX_LINKS: u32 = 40;

/// Follows links, and remembers what it has seen: many paths have folders in common.
#[derive(Debug, Default)]
pub struct Links {
    known: HashMap<PathBuf, Name>,
}

/// What has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Absent,
    /// A folder or file.
    Plain,
    Link(PathBuf),
}

/// The way of a path. All paths in it are without links, but for their last name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The links that it passes, and names that are absent and that a `..` follows: made as a link, such a name would be one more.
    pub turns: Vec<PathBuf>,
    /// Where it ends. What is absent is taken for what its text says. `None`: the links lead in a circle, or the path is relative.
    pub end: Option<PathBuf>,
    /// Whether there is something.
    pub exists: bool,
    /// Whether no `..` follows an absent name.
    pub is_plain: bool,
}

impl Links {
    /// The way of a path.
    pub fn follow(&mut self, path: &Path) -> Route {
        let mut route = Route { is_plain: true, exists: true, ..Route::default() };
        if path.is_absolute() {
            route.end = self.walk(path, &mut route);
        }
        route.exists &= route.end.is_some();
        route
    }

    fn walk(&mut self, path: &Path, route: &mut Route) -> Option<PathBuf> {
        let mut links = 0;
        let mut here = PathBuf::from("/");
        let mut rest = reversed(path);
        while let Some(name) = rest.pop() {
            match Path::new(&name).components().next() {
                Some(Component::Normal(name)) => here.push(name),
                Some(Component::ParentDir) => {
                    if !route.exists {
                        route.is_plain = false;
                        route.turns.push(here.clone());
                    }
                    here.pop();
                    route.exists = self.name(&here) != Name::Absent;
                    continue;
                }
                _ => continue,
            }
            match if route.exists { self.name(&here) } else { Name::Absent } {
                Name::Plain => {}
                Name::Absent => route.exists = false,
                Name::Link(target) => {
                    links += 1;
                    route.turns.push(here.clone());
                    if links > MAX_LINKS {
                        return None;
                    }
                    match target.is_absolute() {
                        true => here = PathBuf::from("/"),
                        false => _ = here.pop(),
                    }
                    rest.extend(reversed(&target));
                }
            }
        }
        route.turns.sort();
        route.turns.dedup();
        Some(here)
    }

    /// What has this name. The folder that it is in has none of its links left.
    fn name(&mut self, path: &Path) -> Name {
        if path.parent().is_none() {
            return Name::Plain;
        }
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let found = match std::fs::read_link(path) {
            Ok(target) => Name::Link(target),
            // The kernel's answer for what is no link.
            Err(error) if error.kind() == ErrorKind::InvalidInput => Name::Plain,
            Err(_) => Name::Absent,
        };
        self.known.insert(path.to_owned(), found.clone());
        found
    }
}

/// The names of a path, the first one last.
fn reversed(path: &Path) -> Vec<OsString> {
    path.iter().rev().map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_ends_where_its_links_lead_and_tells_of_each() {
        let root = std::env::temp_dir().join(format!("shellgate-routes-{}", std::process::id()));
        std::fs::create_dir_all(root.join("v1/sg")).unwrap();
        let root = root.canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        for (target, link) in
            [("v1", "cur"), ("cur/sg", "own"), ("later/x", "dangling"), ("circle", "circle")]
        {
            symlink(target, at(link)).unwrap();
        }
        symlink(at("own"), at("v1/back")).unwrap();
        symlink("missing/../v1", at("odd")).unwrap();
        let mut links = Links::default();
        let mut route = |path: &str| {
            let Route { turns, end, exists, is_plain } = links.follow(&at(path));
            let below = |path: PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            (turns.into_iter().map(below).collect::<Vec<_>>().join(" "), end.map(below), exists, is_plain)
        };
        let found =
            |turns: &str, end: &str, exists: bool| (turns.to_owned(), Some(end.to_owned()), exists, true);
        assert_eq!(route("v1/sg"), found("", "v1/sg", true));
        assert_eq!(route("cur/sg/x/y"), found("cur", "v1/sg/x/y", false));
        assert_eq!(route("own"), found("cur own", "v1/sg", true));
        assert_eq!(route("cur/back"), found("cur own v1/back", "v1/sg", true));
        assert_eq!(route("own/.."), found("cur own", "v1", true));
        assert_eq!(route("dangling"), found("dangling", "later/x", false));
        assert_eq!(route("odd"), ("missing odd".to_owned(), Some("v1".to_owned()), true, false));
        assert_eq!(route("circle").1, None);
        assert_eq!(links.follow(Path::new("relative")).end, None);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
