//! What a command may reach: settings and root become a [`Confinement`].
//!
//! | mode | can write | can read | network |
//! |---|---|---|---|
//! | `off` | everything that the user can | the same | the machine's |
//! | `read-only` | a private `/tmp` | everything but `secrets.txt` | none |
//! | `workspace` | the root but `protected.txt`, the machine's `/tmp`, `caches.txt`, `sandbox.writable` | everything but `secrets.txt` | as `sandbox.network` says |
//! | `strict` | the root but `protected.txt`, a private `/tmp` | the root and `system.txt` | none |
//!
//! The lists are data: a change of what is protected is a line in a file. The kernel's part is in `crates/sandbox`.

mod caches;
mod contents;
mod git;
pub(crate) mod grants;
pub(crate) mod guard;
mod held;
mod list;
pub(crate) mod own;
pub(crate) mod trial;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use shellgate_exec::kernel as probe;
use shellgate_exec::{Confinement, EncodedConfinement, Network, Protected, Readable, Temp};
use shellgate_settings::{Grants, Sandbox};

use self::held::Held;
use crate::settings::{Network as AllowedNetwork, OnMissing, SandboxMode};
use crate::{Code, ErrorObject};

const UNREADABLE: &str = shellgate_policy::SECRET_PATHS;
const PROTECTED: &str = include_str!("protected.txt");
const SYSTEM: &str = include_str!("system.txt");

/// In a folder with more names, each protected name is looked for.
const MAX_NAMES: usize = 5000;

/// The folder for temporary files that all programs share.
const TEMP: &str = "/tmp";

/// The folders that a confinement is made for. They are without links if nothing else is said.
#[derive(Clone, Debug)]
pub(crate) struct Places<'a> {
    pub(crate) root: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) state: &'a Path,
    /// The state folder as it is named. It may pass links.
    pub(crate) state_name: Option<&'a Path>,
    /// The folder for temporary files, if it isn't `/tmp`. It may pass links: who made them counts.
    pub(crate) temp: Option<&'a Path>,
    /// `PATH` of commands: caches of the programs on it are made.
    pub(crate) search_path: Option<&'a OsStr>,
    /// The home folder that the system has for the user, if `HOME` names another: its credentials are hidden, too.
    pub(crate) other_home: Option<&'a Path>,
    /// Files and folders of shellgate's settings, as they are named.
    pub(crate) settings: &'a [PathBuf],
}

impl<'a> Places<'a> {
    /// A root and a state folder, and nothing else.
    pub(crate) const fn new(root: &'a Path, state: &'a Path) -> Self {
        Self {
            root,
            home: None,
            state,
            state_name: None,
            temp: None,
            search_path: None,
            other_home: None,
            settings: &[],
        }
    }
}

/// A confinement in the form that keepers take.
pub(crate) fn encoded(confinement: &Confinement) -> Result<EncodedConfinement, ErrorObject> {
    let failed = |error| {
        ErrorObject::new(Code::SandboxUnavailable, format!("the sandbox can't be described: {error}"))
    };
    EncodedConfinement::new(confinement).map_err(failed)
}

/// The folders for temporary files and caches of tools that every command of the mode `workspace` can write. Other modes have
/// none. Caches that are missing are made.
pub(crate) fn free_places(sandbox: &Sandbox, places: &Places<'_>) -> Vec<PathBuf> {
    let (free, caches) = find_free(sandbox, places);
    if let Some(home) = places.home {
        let found = caches.iter().map(|(cache, path)| (cache, path));
        caches::make_missing(found, home, places.search_path);
    }
    free
}

/// The places that commands can write besides the root, whether they exist or not.
pub(crate) fn writable_places(sandbox: &Sandbox, places: &Places<'_>) -> Vec<PathBuf> {
    let (free, _) = find_free(sandbox, places);
    let named = named_writable(sandbox, places, &free);
    [free, named].concat()
}

/// The [`free_places`], and which of them are caches.
fn find_free(sandbox: &Sandbox, places: &Places<'_>) -> (Vec<PathBuf>, Vec<(caches::Cache, PathBuf)>) {
    if sandbox.mode != SandboxMode::Workspace {
        return (Vec::new(), Vec::new());
    }
    let Places { home, temp, .. } = places;
    let caches = home.map(caches::named).unwrap_or_default();
    let named = [
        temp.iter().map(|temp| (*temp).to_owned()).collect(),
        caches.iter().map(|cache| cache.path.clone()).collect(),
        written(&sandbox.writable, *home),
    ];
    let [temp, found, _] = list::opened(named, &certainly_open(places));
    let caches: Vec<_> =
        caches.into_iter().zip(found).filter_map(|(cache, path)| Some((cache, path?))).collect();
    let temp = temp.into_iter().flatten().filter(|temp| own::is_for_temporary_files(temp, *home));
    let found = caches.iter().map(|(_, path)| path.clone());
    ([PathBuf::from(TEMP)].into_iter().chain(temp).chain(found).collect(), caches)
}

/// The places that `sandbox.writable` opens. The mode `read-only` opens none.
fn named_writable(sandbox: &Sandbox, places: &Places<'_>, free: &[PathBuf]) -> Vec<PathBuf> {
    if matches!(sandbox.mode, SandboxMode::Off | SandboxMode::ReadOnly) {
        return Vec::new();
    }
    let open = [certainly_open(places), free.to_vec()].concat();
    let [named] = list::opened([written(&sandbox.writable, places.home)], &open);
    named.into_iter().flatten().collect()
}

/// Places that commands may have written already, whatever the mode of the next one.
fn certainly_open(places: &Places<'_>) -> Vec<PathBuf> {
    vec![places.root.to_owned(), PathBuf::from(TEMP)]
}

/// The paths that settings name.
fn written(paths: &[shellgate_settings::Sourced<String>], home: Option<&Path>) -> Vec<PathBuf> {
    paths.iter().flat_map(|path| list::named(&path.value, home)).collect()
}

/// The confinement that the settings ask for. `None`: there is none. `free`: the [`free_places`].
pub(crate) fn confinement(sandbox: &Sandbox, places: &Places<'_>, free: &[PathBuf]) -> Option<Confinement> {
    let Places { root, home, state, .. } = places;
    let mut held = Held::default();
    let unreadable = own::hold(&mut held, sandbox, places);
    let mut writable: Vec<PathBuf> = Vec::new();
    let mut protected: Vec<Protected> = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    if sandbox.mode != SandboxMode::ReadOnly {
        writable.push((*root).to_owned());
        protected.extend(protected_in(root, *home));
        folders = hold_in(&mut held, root, *home);
        if let Some(repository) = git::repository_elsewhere(root) {
            protected.extend(repository.protected());
            writable.extend(repository.folders);
        }
        writable.extend(named_writable(sandbox, places, free));
    }
    match sandbox.mode {
        SandboxMode::Off => return None,
        SandboxMode::Workspace => writable.extend_from_slice(free),
        SandboxMode::ReadOnly | SandboxMode::Strict => {}
    }
    let readable = match sandbox.mode {
        SandboxMode::Strict => Readable::Only(list::existing_or_links(SYSTEM)),
        _ => Readable::Everything,
    };
    let temp = if sandbox.mode == SandboxMode::Workspace { Temp::Host } else { Temp::Private };
    let network = network(sandbox);
    let visible = vec![(*root).to_owned()];
    let mut confinement = Confinement {
        writable,
        visible,
        readable,
        unreadable,
        // A command may read kept output, its own or another's, whose name its model was told.
        unlisted: vec![state.join("spool")],
        protected,
        network,
        temp,
        ..Confinement::default()
    };
    contents::hold(&mut held, folders, &confinement.writable);
    held.protect(&mut confinement);
    Some(confinement)
}

/// Whether every command that runs is confined: there is a mode, and a machine that can't make it runs none, or can make it.
pub(crate) fn holds(sandbox: &Sandbox) -> bool {
    let is_possible =
        || probe::landlock().is_some() && probe::seccomp() && probe::user_namespaces() == Some(true);
    sandbox.mode != SandboxMode::Off && (sandbox.on_missing == OnMissing::Refuse || is_possible())
}

/// The places with credentials that every sandbox hides. They need not exist.
pub(crate) fn credentials(home: Option<&Path>) -> Vec<PathBuf> {
    let mut held = Held::default();
    list::named(UNREADABLE, home).iter().filter_map(|name| held.unreadable(name)).collect()
}

/// What a command can reach, in lines for a person who is asked about it.
pub(crate) fn reach(sandbox: &Sandbox, granted: &Grants) -> Vec<String> {
    [Some(reach_of_mode(sandbox)), grants::shown(granted)].into_iter().flatten().collect()
}

/// It fits into a line of a terminal with 80 columns.
fn reach_of_mode(sandbox: &Sandbox) -> String {
    let files = match sandbox.mode {
        SandboxMode::Off => return "no sandbox: it can do whatever you can".to_owned(),
        SandboxMode::ReadOnly => "writes nothing; reads all but credentials",
        SandboxMode::Workspace => "writes root, temp, caches; reads all but credentials",
        SandboxMode::Strict => "writes the root; reads root and system programs",
    };
    let network = match network(sandbox) {
        Network::Host => "network",
        Network::Private => "no network",
    };
    format!("{files}; {network}")
}

fn network(sandbox: &Sandbox) -> Network {
    match (sandbox.mode, sandbox.network) {
        (SandboxMode::ReadOnly | SandboxMode::Strict, _) | (_, AllowedNetwork::Deny) => Network::Private,
        (SandboxMode::Off | SandboxMode::Workspace, AllowedNetwork::Allow) => Network::Host,
    }
}

/// The protected places of a root. In a root that is, or holds, the home folder, every hidden entry of it is protected.
fn protected_in(root: &Path, home: Option<&Path>) -> Vec<Protected> {
    let protect = |path: PathBuf| Protected { root: root.to_owned(), path };
    let names = list::entries(PROTECTED).map(PathBuf::from).chain(git::protected_in_bare(root));
    let mut protected: Vec<Protected> = names.map(protect).collect();
    // Also those that don't exist: a new `.ssh` could hold keys that open the machine to others.
    let inside = home.and_then(|home| home.strip_prefix(root).ok());
    protected.extend(inside.map(|home| protect(home.join(".*"))));
    protected
}

/// Holds the links to protected places of a root, and what git obeys there. Returns the folders among them.
fn hold_in(held: &mut Held, root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let present = Present::in_folder(root);
    let is_plain = |name: &&str| !name.contains('*') && present.may_have(name);
    let mut folders: Vec<PathBuf> =
        list::entries(PROTECTED).filter(is_plain).filter_map(|name| held.place(&root.join(name))).collect();
    folders.extend(git::obeyed::hold(held, root, home));
    folders
}

/// The names in a folder. Most of the protected ones are absent, and looking for each costs more.
struct Present(Option<HashSet<OsString>>);

impl Present {
    fn in_folder(folder: &Path) -> Self {
        let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let names: HashSet<OsString> = names.take(MAX_NAMES).collect();
        Self((names.len() < MAX_NAMES).then_some(names))
    }

    /// Whether a path may exist. Letters in upper and lower case may be the same.
    fn may_have(&self, path: &str) -> bool {
        let first = path.split('/').next().unwrap_or(path);
        self.0.as_ref().is_none_or(|names| names.iter().any(|name| name.eq_ignore_ascii_case(first)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox(mode: SandboxMode, network: AllowedNetwork) -> Sandbox {
        Sandbox { mode, network, ..Sandbox::default() }
    }

    #[test]
    fn a_person_is_told_what_a_command_can_reach() {
        use AllowedNetwork::{Allow, Deny};
        let told = [
            (SandboxMode::Off, Allow),
            (SandboxMode::ReadOnly, Allow),
            (SandboxMode::Workspace, Allow),
            (SandboxMode::Workspace, Deny),
            (SandboxMode::Strict, Allow),
        ];
        let told: Vec<String> = told.map(|(mode, network)| reach_of_mode(&sandbox(mode, network))).to_vec();
        insta::assert_snapshot!(told.join("\n"), @"
        no sandbox: it can do whatever you can
        writes nothing; reads all but credentials; no network
        writes root, temp, caches; reads all but credentials; network
        writes root, temp, caches; reads all but credentials; no network
        writes the root; reads root and system programs; no network
        ");
    }

    #[test]
    fn modes_differ_in_what_they_leave() {
        let places = Places::new(Path::new("/r"), Path::new("/s"));
        let of = |mode| confinement(&sandbox(mode, AllowedNetwork::Allow), &places, &["/tmp".into()]);
        assert_eq!(of(SandboxMode::Off), None);
        let read_only = of(SandboxMode::ReadOnly).unwrap();
        assert!(read_only.writable.is_empty() && read_only.protected.is_empty());
        assert_eq!((read_only.temp, read_only.network), (Temp::Private, Network::Private));
        let workspace = of(SandboxMode::Workspace).unwrap();
        assert_eq!(workspace.writable, ["/r", "/tmp"].map(PathBuf::from));
        assert_eq!((workspace.temp, workspace.network), (Temp::Host, Network::Host));
        assert!(workspace.unreadable.contains(&PathBuf::from("/s")));
        let strict = of(SandboxMode::Strict).unwrap();
        assert_eq!(strict.writable, [PathBuf::from("/r")]);
        assert!(matches!(strict.readable, Readable::Only(paths) if !paths.is_empty()));
    }
}
