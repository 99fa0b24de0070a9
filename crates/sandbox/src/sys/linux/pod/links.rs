//! Protected places that are links, or that a link leads to.
//!
//! Git runs the hooks that `.git/hooks` leads to. If that is a link to another folder that commands can write, protecting
//! the link alone protects nothing: its target has to be protected, too, and so has every link on the way.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::view::existing;
use crate::confinement::{Confinement, Protected};
use crate::links::Links;

/// The protected places of `confinement`, the links at or above them, and where these lead, as far as that can be written.
pub(crate) fn protected_with_targets(confinement: &Confinement) -> Vec<Protected> {
    let own = confinement.protected.iter().map(|protected| &protected.root);
    let roots: BTreeSet<&PathBuf> = confinement.writable.iter().chain(own).collect();
    let mut all = confinement.protected.clone();
    let mut links = Links::default();
    let targets = confinement.protected.iter().flat_map(|Protected { root, path }| existing(root, path));
    let targets = targets.flat_map(|place| {
        let route = links.follow(&place);
        route.turns.into_iter().chain(route.end).filter(move |held| *held != place)
    });
    for held in targets.chain(confinement.links.iter().cloned()) {
        for root in &roots {
            let Ok(path) = held.strip_prefix(root) else { continue };
            let protected = Protected { root: (*root).clone(), path: path.to_owned() };
            if !path.as_os_str().is_empty() && !all.contains(&protected) {
                all.push(protected);
            }
        }
    }
    all
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
        symlink("cur/b", root.join(".vscode")).unwrap();
        symlink("ci", root.join("cur")).unwrap();
        let paths =
            [".git/hooks", ".git/config*", ".github/workflows", ".envrc", ".mcp.json", ".idea", ".vscode"];
        let protect = |path: &str| Protected { root: root.clone(), path: path.into() };
        let protected = paths.map(protect).to_vec();
        symlink("v1", root.join("own")).unwrap();
        let (writable, links) = (vec![root.clone()], vec![root.join("own"), "/elsewhere".into()]);
        let confinement = Confinement { writable, protected, links, ..Confinement::default() };
        let found = protected_with_targets(&confinement);
        assert_eq!(found[..paths.len()], confinement.protected);
        assert_eq!(
            found[paths.len()..],
            ["githooks", ".github", "ci/workflows", "env/absent", "cur", "ci/b", "own"].map(protect)
        );
        std::fs::remove_dir_all(&root).unwrap();
    }
}
