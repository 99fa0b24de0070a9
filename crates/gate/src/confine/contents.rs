//! Links in protected folders: `.git/hooks/pre-commit -> ../../scripts/check`. What such a link leads to is as good as in the folder.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use super::held::Held;

/// Of a folder with more entries, also in the folders below it, the first ones are looked at.
const MAX_ENTRIES: usize = 500;

/// Of more folders, the first ones are looked at.
const MAX_FOLDERS: usize = 500;

/// Holds what links in `folders` lead to, if that is inside one of the `writable` places. What isn't there holds nothing.
pub(super) fn hold(held: &mut Held, folders: impl IntoIterator<Item = PathBuf>, writable: &[PathBuf]) {
    let mut seen = HashSet::new();
    for folder in folders.into_iter().take(MAX_FOLDERS) {
        let mut left = MAX_ENTRIES;
        let mut folders = VecDeque::from([folder]);
        while let Some(folder) = folders.pop_front() {
            if !seen.insert(folder.clone()) {
                continue;
            }
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().take(left) {
                left = left.saturating_sub(1);
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => folders.extend(target(held, &path, writable)),
                    Ok(kind) if kind.is_dir() => folders.push_back(path),
                    _ => {}
                }
            }
        }
    }
}

/// Holds what a link leads to, and returns it. A link to a folder above itself holds nothing: the whole project would be closed.
fn target(held: &mut Held, link: &Path, writable: &[PathBuf]) -> Option<PathBuf> {
    let end = held.links_to(link).end?;
    let is_inside = writable.iter().any(|root| end.starts_with(root) && end != *root);
    (is_inside && !link.starts_with(&end)).then_some(())?;
    held.place(&end)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use shellgate_exec::Confinement;

    use super::*;

    #[test]
    fn what_links_in_a_folder_lead_to_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        for path in ["hooks/below", "scripts", "several/deep", "free"] {
            std::fs::create_dir_all(at(path)).unwrap();
        }
        for (target, link) in [
            ("../scripts/check", "hooks/pre-commit"),
            ("../later", "hooks/absent"),
            ("..", "hooks/up"),
            ("/etc/passwd", "hooks/outside"),
            ("../../several", "hooks/below/several"),
            ("../../free/file", "several/deep/file"),
            ("free", "free/unrelated"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        let writable = vec![root.clone()];
        let mut held = Held::default();
        hold(&mut held, [at("hooks"), at("missing")], &writable);
        let mut confinement = Confinement { writable, ..Confinement::default() };
        held.protect(&mut confinement);
        let found: Vec<_> = confinement.protected.iter().map(|one| one.path.to_str().unwrap()).collect();
        assert_eq!(found, ["free/file", "later", "scripts/check", "several"]);
        let links = [
            "hooks/absent",
            "hooks/below/several",
            "hooks/outside",
            "hooks/pre-commit",
            "hooks/up",
            "several/deep/file",
        ];
        assert_eq!(confinement.links, links.map(at));
    }
}
