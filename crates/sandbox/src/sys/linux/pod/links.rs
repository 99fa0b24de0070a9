//! Protected places that are links, or that a link leads to.
//!
//! Git runs the hooks that `.git/hooks` leads to. If that is a link to another folder that commands can write, protecting
//! the link alone protects nothing: its target has to be protected, too.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::view::existing;
use crate::confinement::{Confinement, Protected};

/// The kernel follows no more links in one path.
const MAX_LINKS: u32 = 40;

/// The protected places of `confinement`, and where links at or above them lead, as far as that can be written.
pub(crate) fn protected_with_targets(confinement: &Confinement) -> Vec<Protected> {
    let named = confinement.protected.iter().flat_map(|Protected { root, path }| existing(root, path));
    let targets = named.filter_map(|place| {
        let target = follow(&place).filter(|target| *target != place)?;
        let above = |root: &&PathBuf| target.starts_with(root) && target != **root;
        let root = confinement.writable.iter().find(above)?;
        let path = target.strip_prefix(root).ok()?.to_owned();
        Some(Protected { root: root.clone(), path })
    });
    let mut all = confinement.protected.clone();
    for target in targets {
        if !all.contains(&target) {
            all.push(target);
        }
    }
    all
}

/// The path without links. What doesn't exist is no link. `None`: the links lead in a circle.
fn follow(path: &Path) -> Option<PathBuf> {
    let mut links = 0;
    let mut here = PathBuf::from("/");
    let mut rest = reversed(path);
    while let Some(name) = rest.pop() {
        match Path::new(&name).components().next() {
            Some(Component::Normal(_)) => here.push(&name),
            Some(Component::ParentDir) => _ = here.pop(),
            _ => continue,
        }
        let Ok(target) = std::fs::read_link(&here) else { continue };
        links += 1;
        if links > MAX_LINKS {
            return None;
        }
        match target.is_absolute() {
            true => here = PathBuf::from("/"),
            false => _ = here.pop(),
        }
        rest.extend(reversed(&target));
    }
    Some(here)
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
    fn targets_of_links_are_protected_where_they_can_be_written() {
        let root = std::env::temp_dir().join(format!("shellgate-links-{}", std::process::id()));
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::create_dir_all(root.join("githooks")).unwrap();
        std::fs::create_dir_all(root.join("ci")).unwrap();
        symlink("../githooks", root.join(".git/hooks")).unwrap();
        symlink("ci", root.join(".github")).unwrap();
        symlink(root.join("env/absent"), root.join(".envrc")).unwrap();
        symlink("/etc/passwd", root.join(".mcp.json")).unwrap();
        symlink(".idea", root.join(".idea")).unwrap();
        let paths = [".git/hooks", ".git/config*", ".github/workflows", ".envrc", ".mcp.json", ".idea"];
        let protect = |path: &str| Protected { root: root.clone(), path: path.into() };
        let protected = paths.map(protect).to_vec();
        let confinement = Confinement { writable: vec![root.clone()], protected, ..Confinement::default() };
        let found = protected_with_targets(&confinement);
        assert_eq!(found[..paths.len()], confinement.protected);
        assert_eq!(found[paths.len()..], ["githooks", "ci/workflows", "env/absent"].map(protect));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
