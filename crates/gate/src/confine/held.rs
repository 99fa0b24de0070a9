//! Places that commands may not change, and the links on the way to them.
//!
//! Whatever finds a place by its name passes every link in it. A command that could replace one of them would lead the name to a
//! place of its own, so each link is protected like the place itself, where it lies in a place that can be written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use shellgate_exec::links::{Links, Route};
use shellgate_exec::{Confinement, Protected};
use shellgate_policy::git_settings::HOOK_NAMES;

/// What is held.
#[derive(Debug, Default)]
pub(super) struct Held {
    links: Links,
    /// The links on the way.
    turns: BTreeSet<PathBuf>,
    /// Without links. Some are patterns.
    places: BTreeSet<PathBuf>,
    /// Files and folders of shellgate's settings.
    settings: BTreeSet<PathBuf>,
    /// Folders in which git looks for hooks.
    hooks: BTreeSet<PathBuf>,
}

impl Held {
    /// Holds the links on the way of a path.
    pub(super) fn links_to(&mut self, path: &Path) -> Route {
        let route = self.links.follow(path);
        self.turns.extend(route.turns.iter().cloned());
        route
    }

    /// Holds a place. Returns where it is.
    pub(super) fn place(&mut self, path: &Path) -> Option<PathBuf> {
        let end = self.links_to(path).end?;
        self.places.insert(end.clone());
        Some(end)
    }

    /// Holds a place of shellgate's settings.
    pub(super) fn settings(&mut self, path: &Path) {
        let end = self.links_to(path).end;
        self.settings.extend(end);
    }

    /// Holds a folder in which git looks for hooks. Returns where it is.
    pub(super) fn hooks(&mut self, path: &Path) -> Option<PathBuf> {
        let end = self.place(path)?;
        self.hooks.insert(end.clone());
        Some(end)
    }

    /// Holds the links to what can't be read. Returns where it is. A place that is absent is held only if a link leads to it: the
    /// user wants something there.
    pub(super) fn unreadable(&mut self, path: &Path) -> Option<PathBuf> {
        let route = self.links_to(path);
        let end = route.end?;
        if !route.exists && !route.turns.is_empty() {
            self.places.insert(end.clone());
        }
        Some(end)
    }

    /// Protects all of it where a command could write it.
    pub(super) fn protect(&self, confinement: &mut Confinement) {
        let writable = &confinement.writable;
        // Nothing could be written in a root that is protected as a whole.
        let is_open = |place: &PathBuf| !writable.iter().any(|root| root.starts_with(place));
        let names = self.hooks.iter().filter(|place| !is_open(place));
        let names = names.flat_map(|place| HOOK_NAMES.iter().map(move |name| place.join(name)));
        let places: BTreeSet<PathBuf> =
            names.chain(self.places.iter().chain(&self.settings).cloned()).filter(is_open).collect();
        let mut all = Vec::new();
        let is_inside = |turn: &&PathBuf| writable.iter().any(|root| turn.starts_with(root));
        let mut turns: Vec<PathBuf> = self.turns.iter().filter(is_inside).cloned().collect();
        turns.retain(|turn| !confinement.links.contains(turn));
        for root in writable {
            let below = places.iter().filter_map(|place| place.strip_prefix(root).ok());
            let is_settings = self.settings.iter().any(|place| root.starts_with(place));
            let whole = is_settings.then_some(Path::new("*"));
            let protect = |path: &Path| Protected { root: root.clone(), path: path.to_owned() };
            all.extend(below.chain(whole).map(protect));
        }
        confinement.links.extend(turns);
        for protected in all {
            if !confinement.protected.contains(&protected) {
                confinement.protected.push(protected);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(writable: &[&str], hold: impl FnOnce(&mut Held)) -> Vec<(PathBuf, PathBuf)> {
        let writable = writable.iter().map(PathBuf::from).collect();
        let mut confinement = Confinement { writable, ..Confinement::default() };
        let mut held = Held::default();
        hold(&mut held);
        held.protect(&mut confinement);
        confinement.protected.into_iter().map(|one| (one.root, one.path)).collect()
    }

    fn of(root: &str, path: &str) -> (PathBuf, PathBuf) {
        (root.into(), path.into())
    }

    #[test]
    fn settings_are_protected_in_every_writable_place() {
        let protected =
            |writable: &[&str], path: &str| protected(writable, |held| held.settings(Path::new(path)));
        assert_eq!(protected(&["/r", "/t"], "/r/cfg/sg"), [of("/r", "cfg/sg")]);
        assert_eq!(protected(&["/cfg/sg"], "/cfg/sg"), [of("/cfg/sg", "*")]);
        assert_eq!(protected(&["/cfg/sg/below"], "/cfg/sg"), [of("/cfg/sg/below", "*")]);
        assert_eq!(protected(&["/r", "/cfg"], "/other/sg"), []);
    }

    #[test]
    fn a_root_does_not_close_because_it_is_a_place() {
        assert_eq!(protected(&["/r"], |held| _ = held.place(Path::new("/r"))), []);
        assert_eq!(protected(&["/r/x"], |held| _ = held.place(Path::new("/r"))), []);
        assert_eq!(protected(&["/t", "/t/a/r"], |held| _ = held.place(Path::new("/t/a"))), []);
        let hooks = protected(&["/r"], |held| _ = held.hooks(Path::new("/r")));
        assert!(hooks.contains(&of("/r", "pre-commit")) && !hooks.contains(&of("/r", "*")));
    }

    #[test]
    fn links_on_the_way_are_held() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let at = |path: &str| real.join(path);
        std::fs::create_dir_all(at("p/v1/ssh")).unwrap();
        for (target, link) in [("v1", "p/cur"), ("p/cur/ssh", ".ssh"), ("p/cur/aws", ".aws")] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        let held = |name: &str| {
            let mut confinement = Confinement { writable: vec![at("p")], ..Confinement::default() };
            let mut held = Held::default();
            held.unreadable(&at(name));
            held.protect(&mut confinement);
            let protected: Vec<PathBuf> = confinement.protected.into_iter().map(|one| one.path).collect();
            (confinement.links, protected)
        };
        let cur = || vec![at("p/cur")];
        assert_eq!(held(".ssh"), (cur(), vec![]));
        assert_eq!(held(".aws"), (cur(), vec!["v1/aws".into()]), "absent, and a link leads to it");
        assert_eq!(held("p/v1/other"), (vec![], vec![]));
    }
}
