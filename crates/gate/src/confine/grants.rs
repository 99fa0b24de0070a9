//! Grants: what a rule lets its commands reach beyond the sandbox's mode.
//!
//! All calls of a command run in one sandbox, so a command gets what the rules grant to every call of it: with grants for
//! `git push` alone, `git push && ./script` gets none.

use std::path::{Path, PathBuf};

use shellgate_exec::{Confinement, Network, Protected, Readable, Temp};
use shellgate_policy::Verdict;
use shellgate_settings::{Grants, Rule, Sandbox};

use super::held::Held;
use super::{Places, list, own};

/// What `rules` grant to every call of a command.
pub(crate) fn granted(verdict: &Verdict, rules: &[Rule]) -> Grants {
    if rules.iter().all(|rule| rule.grants.is_empty()) {
        return Grants::default();
    }
    let of_call = |numbers: &Vec<usize>| {
        let grants = numbers.iter().filter_map(|number| Some(&rules.get(*number)?.grants));
        grants.fold(Grants::default(), joined)
    };
    verdict.granting().iter().map(of_call).reduce(|one, other| common(&one, &other)).unwrap_or_default()
}

fn joined(mut all: Grants, more: &Grants) -> Grants {
    all.network |= more.network;
    for (all, more) in lists_mut(&mut all).into_iter().zip(lists(more)) {
        all.extend(more.iter().filter(|one| !all.contains(one)).cloned().collect::<Vec<_>>());
    }
    all
}

fn common(one: &Grants, other: &Grants) -> Grants {
    let mut common = Grants { network: one.network && other.network, ..Grants::default() };
    for ((common, one), other) in lists_mut(&mut common).into_iter().zip(lists(one)).zip(lists(other)) {
        common.extend(one.iter().filter(|granted| other.contains(granted)).cloned());
    }
    common
}

fn lists(grants: &Grants) -> [&Vec<String>; 4] {
    let Grants { network: _, read, write, env, sockets } = grants;
    [read, write, env, sockets]
}

fn lists_mut(grants: &mut Grants) -> [&mut Vec<String>; 4] {
    let Grants { network: _, read, write, env, sockets } = grants;
    [read, write, env, sockets]
}

/// What `grants` add to a mode, for the person who is asked. `None`: nothing.
pub(crate) fn shown(grants: &Grants) -> Option<String> {
    let network = grants.network.then(|| "the network".to_owned());
    let kinds = ["read", "write", "with the variable", "the socket"].into_iter().zip(lists(grants));
    let listed = kinds.flat_map(|(kind, list)| list.iter().map(move |one| format!("{kind} {one}")));
    let all: Vec<String> = network.into_iter().chain(listed).collect();
    (!all.is_empty()).then(|| format!("granted by a rule: {}", all.join(", ")))
}

/// `base` with what `grants` add.
pub(crate) fn widened(
    base: &Confinement,
    grants: &Grants,
    sandbox: &Sandbox,
    places: &Places<'_>,
) -> Confinement {
    let mut wide = base.clone();
    let resolved = |written: &Vec<String>| {
        let paths = written.iter().filter_map(|path| resolve(path, places, &base.writable));
        // No rule opens shellgate's own files.
        paths.filter(|path| !path.starts_with(places.state)).collect::<Vec<PathBuf>>()
    };
    let (read, write, sockets) = (resolved(&grants.read), resolved(&grants.write), resolved(&grants.sockets));
    if grants.network {
        wide.network = Network::Host;
    }
    for path in read.iter().chain(&write) {
        wide.unreadable.retain(|covered| covered == places.state || !covered.starts_with(path));
        if wide.unreadable.iter().any(|covered| path.starts_with(covered)) {
            wide.exposed.push(path.clone());
        }
    }
    for path in read.iter().chain(&write).chain(&sockets) {
        if let Readable::Only(paths) = &mut wide.readable {
            paths.push(path.clone());
        }
        if wide.temp == Temp::Private {
            wide.visible.push(path.clone());
        }
    }
    let adds_writable = !write.is_empty();
    for path in &write {
        wide.protected.retain(|protected| !opens(path, protected));
    }
    // A writable place becomes a mount of its own, and a mount can't be replaced. Git replaces `.git/config`, so a file in a
    // folder that can be written anyway stays as it is.
    let is_new = |path: &PathBuf| {
        wide.exposed.contains(path) || !base.writable.iter().any(|known| path.starts_with(known))
    };
    let added: Vec<PathBuf> = write.into_iter().filter(is_new).collect();
    wide.writable.extend(added);
    wide.sockets.extend(sockets);
    wide.variables.clone_from(&grants.env);
    if adds_writable {
        let mut held = Held::default();
        own::hold(&mut held, sandbox, places);
        held.protect(&mut wide);
    }
    wide
}

/// Whether a grant to write `path` opens a protected place: it names the place, something in it, or a folder below the
/// root that holds it.
///
/// A file in a protected place opens the whole place. Programs write a file by making another one beside it and renaming
/// that, so less would not work.
fn opens(path: &Path, protected: &Protected) -> bool {
    let Ok(below) = path.strip_prefix(&protected.root) else { return false };
    let mut names = below.components().peekable();
    names.peek().is_some()
        && names.zip(&protected.path).all(|(name, pattern)| {
            Protected::is_name(pattern.as_encoded_bytes(), name.as_os_str().as_encoded_bytes())
        })
}

/// A path as it is written in a grant: absolute, below the home folder (`~/.ssh`), in a variable (`$SSH_AUTH_SOCK`), or
/// relative to the root. Links in the part of it that exists are followed, but for those in writable places.
fn resolve(written: &str, places: &Places<'_>, writable: &[PathBuf]) -> Option<PathBuf> {
    let (start, rest) = written.split_once('/').unwrap_or((written, ""));
    let path = match start.strip_prefix('$') {
        Some(variable) => PathBuf::from(std::env::var_os(variable)?).join(rest),
        None if start == "~" => places.home?.join(rest),
        None => places.root.join(written),
    };
    list::without_links_of_commands(&path, writable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places<'a>(root: &'a Path, home: &'a Path) -> Places<'a> {
        Places { home: Some(home), ..Places::new(root, Path::new("/state")) }
    }

    #[test]
    fn a_grant_names_a_path_in_one_of_four_ways() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("home/.ssh")).unwrap();
        std::os::unix::fs::symlink(real.join("home"), real.join("link")).unwrap();
        let (root, home) = (real.join("root"), real.join("home"));
        let resolved = |written: &str| resolve(written, &places(&root, &home), &[real.join("open")]);
        assert_eq!(resolved("/usr"), Some("/usr".into()));
        assert_eq!(resolved("~/.ssh"), Some(home.join(".ssh")));
        assert_eq!(resolved("~"), Some(home.clone()));
        assert_eq!(
            resolved(&format!("{}/.ssh/new/er", real.join("link").display())),
            Some(home.join(".ssh/new/er"))
        );
        assert_eq!(resolved("build/x"), Some(root.join("build/x")));
        assert_eq!(resolved("$SURELY_NOT_SET/x"), None);
        assert_eq!(resolved("~/missing/../.ssh"), None);
        std::fs::create_dir(real.join("open")).unwrap();
        std::os::unix::fs::symlink(&home, real.join("open/link")).unwrap();
        std::os::unix::fs::symlink(real.join("open/link"), home.join("notes")).unwrap();
        for made in ["open/link", "open/link/.ssh", "home/notes"] {
            assert_eq!(resolved(real.join(made).to_str().unwrap()), None, "a command may have made the link");
        }
    }

    #[test]
    fn a_grant_opens_the_protected_place_that_it_names() {
        let place = |path: &str| Protected { root: "/r".into(), path: path.into() };
        let open = |path: &str, protected: &str| opens(Path::new(path), &place(protected));
        assert!(open("/r/.git/config", ".git/config*") && open("/r/.git/config.lock", ".git/config*"));
        assert!(open("/r/.git/hooks/pre-commit", ".git/hooks") && open("/r/.git", ".git/hooks"));
        assert!(!open("/r", ".git/hooks") && !open("/", ".git/hooks") && !open("/r/.github", ".git/hooks"));
        assert!(!open("/r/.git/index", ".git/hooks") && !open("/x/.git/hooks", ".git/hooks"));
    }

    #[test]
    fn what_is_granted_is_readable_and_no_more() {
        let base = Confinement {
            unreadable: ["/h/.ssh", "/h/.aws", "/state"].map(PathBuf::from).to_vec(),
            ..Confinement::default()
        };
        let widen = |read: &[&str]| {
            let read = read.iter().map(|path| (*path).to_owned()).collect();
            let grants = Grants { read, ..Grants::default() };
            widened(&base, &grants, &Sandbox::default(), &places(Path::new("/r"), Path::new("/h")))
        };
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(widen(&["/h/.ssh"]).unreadable, paths(&["/h/.aws", "/state"]));
        let key = widen(&["~/.ssh/key"]);
        assert_eq!((key.unreadable, key.exposed), (base.unreadable.clone(), paths(&["/h/.ssh/key"])));
        assert_eq!(widen(&["/"]).unreadable, paths(&["/state"]));
        assert_eq!(widen(&["/state/x"]), base);
    }
}
