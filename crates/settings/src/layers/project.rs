//! Where a project's settings file is looked for: in the root, then in the folders above it.
//!
//! The search ends at the top of the repository (the folder with `.git`), and never goes above the home folder. A root
//! below home that is in no repository is searched up to home; one elsewhere is searched alone, because folders above it may
//! belong to others. In a folder that everybody may write, such as `/tmp`, another user could put a `.git` and a settings
//! file that stops us: above the root, entries of strangers don't count.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::process::geteuid;

use super::PROJECT_FILE;

/// The result of looking for a project's settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectSearch {
    /// The places that were looked at, nearest first. The last one is the file, if there is one.
    pub places: Vec<PathBuf>,
    /// The nearest file.
    pub found: Option<PathBuf>,
}

impl ProjectSearch {
    /// Looks for the file of a root. Root and home may have links in them; the places have none if the root has none.
    pub fn new(root: &Path, home: Option<&Path>) -> Self {
        let known = KnownOwners::of(root);
        let mut search = Self::default();
        for folder in folders(root, home, &known) {
            let place = folder.join(PROJECT_FILE);
            search.places.push(place.clone());
            if is_there(&place, folder == root, &known) {
                search.found = Some(place);
                break;
            }
        }
        search
    }
}

/// The folders to look in, nearest first.
fn folders<'a>(root: &'a Path, home: Option<&Path>, known: &KnownOwners) -> Vec<&'a Path> {
    let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned()));
    // `/` as a home folder limits nothing.
    let home = home.filter(|home| home.parent().is_some());
    let mut folders = Vec::new();
    for folder in root.ancestors() {
        folders.push(folder);
        let repository = fs::symlink_metadata(folder.join(".git"));
        if repository.is_ok_and(|found| folder == root || known.has(found.uid()))
            || Some(folder) == home.as_deref()
        {
            return folders;
        }
    }
    folders.truncate(1);
    folders
}

/// Whether the file exists and counts. What can't be inspected in the root counts, so that reading it reports the error.
fn is_there(place: &Path, in_root: bool, known: &KnownOwners) -> bool {
    match fs::symlink_metadata(place) {
        Ok(found) => {
            // A link that leads nowhere is no file; one that leads in a circle is an error for the reader.
            let target = fs::metadata(place);
            let missing = |error: &std::io::Error| is_missing(error.kind());
            let is_ours = || known.has(found.uid()) && target.as_ref().map_or(true, |to| known.has(to.uid()));
            !target.as_ref().is_err_and(missing) && (in_root || is_ours())
        }
        Err(error) => in_root && !is_missing(error.kind()),
    }
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The users whose entries count above the root: we, the system, and the owner of the root. The last is another one where the
/// root user of a container works on the host's files.
struct KnownOwners([u32; 2]);

impl KnownOwners {
    fn of(root: &Path) -> Self {
        let me = geteuid().as_raw();
        Self([me, fs::metadata(root).map_or(me, |root| root.uid())])
    }

    fn has(&self, owner: u32) -> bool {
        owner == 0 || self.0.contains(&owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places, relative to the folder, and whether a file was found.
    fn look(base: &Path, root: &str, home: Option<&str>) -> (Vec<String>, bool) {
        let home = home.map(|home| base.join(home));
        let search = ProjectSearch::new(&base.join(root), home.as_deref());
        let shown = |place: &PathBuf| place.strip_prefix(base).unwrap().display().to_string();
        (search.places.iter().map(shown).collect(), search.found.is_some())
    }

    fn tree(folders: &[&str], files: &[&str]) -> tempfile::TempDir {
        let base = tempfile::tempdir().unwrap();
        folders.iter().for_each(|folder| fs::create_dir_all(base.path().join(folder)).unwrap());
        files.iter().for_each(|file| fs::write(base.path().join(file), "").unwrap());
        base
    }

    fn places(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| Path::new(name).join(PROJECT_FILE).display().to_string()).collect()
    }

    #[test]
    fn it_looks_up_to_the_top_of_the_repository() {
        let base = tree(&["r/.git", "r/a/b"], &[".shellgate.toml"]);
        let base = base.path().canonicalize().unwrap();
        assert_eq!(look(&base, "r/a/b", None), (places(&["r/a/b", "r/a", "r"]), false));
        fs::write(base.join("r/.shellgate.toml"), "").unwrap();
        assert_eq!(look(&base, "r/a/b", None), (places(&["r/a/b", "r/a", "r"]), true));
        fs::write(base.join("r/a/.shellgate.toml"), "").unwrap();
        assert_eq!(look(&base, "r/a/b", None), (places(&["r/a/b", "r/a"]), true), "the nearest counts");
        assert_eq!(look(&base, "r", None), (places(&["r"]), true));
    }

    #[test]
    fn a_linked_worktree_has_a_file_in_place_of_the_folder() {
        let base = tree(&["r/a"], &["r/.git", "r/.shellgate.toml", ".shellgate.toml"]);
        let base = base.path().canonicalize().unwrap();
        assert_eq!(look(&base, "r/a", None), (places(&["r/a", "r"]), true));
    }

    #[test]
    fn it_never_looks_above_home() {
        let base = tree(&[".git", "home/p/q"], &[".shellgate.toml"]);
        let base = base.path().canonicalize().unwrap();
        assert_eq!(look(&base, "home/p/q", Some("home")), (places(&["home/p/q", "home/p", "home"]), false));
        assert_eq!(look(&base, "home", Some("home")), (places(&["home"]), false));
        assert!(look(&base, "home/p", Some("elsewhere")).1, "and elsewhere the repository counts");
    }

    #[test]
    fn without_a_repository_it_looks_up_to_home_or_in_the_root_alone() {
        let base = tree(&["home/p/q", "other/p"], &["home/.shellgate.toml", "other/.shellgate.toml"]);
        let base = base.path().canonicalize().unwrap();
        assert!(look(&base, "home/p/q", Some("home")).1);
        assert_eq!(look(&base, "other/p", Some("home")), (places(&["other/p"]), false));
        assert_eq!(look(&base, "other", Some("home")), (places(&["other"]), true));
    }

    #[test]
    fn a_home_with_links_is_the_same_home() {
        let base = tree(&["real/p"], &[".shellgate.toml"]);
        let base = base.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("real", base.join("home")).unwrap();
        assert_eq!(look(&base, "real/p", Some("home")), (places(&["real/p", "real"]), false));
    }

    #[test]
    fn entries_of_strangers_above_the_root_do_not_count() {
        if !geteuid().is_root() {
            eprintln!("not run: only root can give a file to another user");
            return;
        }
        let base = tree(&["t/.git", "t/p"], &["t/.shellgate.toml"]);
        let base = base.path().canonicalize().unwrap();
        assert!(look(&base, "t/p", None).1, "the control");
        let give = |name: &str| std::os::unix::fs::chown(base.join(name), Some(12345), None).unwrap();
        give("t/.shellgate.toml");
        assert!(!look(&base, "t/p", None).1);
        assert!(look(&base, "t", None).1, "in the root it counts");
        give("t/.git");
        assert_eq!(look(&base, "t/p", None), (places(&["t/p"]), false), "nor does it make a repository");
        give("t/p");
        assert!(look(&base, "t/p", None).1, "the owner of the root is no stranger");
    }

    #[test]
    fn a_link_that_leads_nowhere_is_no_file_and_a_circle_is_left_to_the_reader() {
        let base = tree(&["r/.git", "r/a"], &[]);
        let base = base.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("nowhere", base.join("r/.shellgate.toml")).unwrap();
        assert!(!look(&base, "r/a", None).1);
        fs::remove_file(base.join("r/.shellgate.toml")).unwrap();
        std::os::unix::fs::symlink(".shellgate.toml", base.join("r/.shellgate.toml")).unwrap();
        assert!(look(&base, "r/a", None).1);
    }
}
