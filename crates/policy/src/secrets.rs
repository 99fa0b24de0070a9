//! Files that hold secrets: credentials, keys, histories. A person is asked before a command reads or writes one, be it by an
//! operand, an option or a redirect.
//!
//! A program that uses a key itself and doesn't show it (`ssh -i`) is no question: the tables give such words the role `key`.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use shellgate_syntax::{Unknown, Value, Why};

use crate::machine::Machine;
use crate::programs::words::{NAMES_OF_PROJECTS, SECRET_FILE_NAMES};
use crate::redirects;
use crate::shapes::{self, ANY};

/// The paths, one a line. `~` is the user's home folder, a `*` at the end of a name stands for the rest of it.
pub const SECRET_PATHS: &str = include_str!("../tables/secrets.txt");

/// The same, of files that no sandbox needs to hide: its processes are others. `*` stands for a name.
const JUDGED_PATHS: &str = include_str!("../tables/secrets-judged.txt");

/// The variables of the process that reads them.
const OWN_VARIABLES: &str = "/proc/self/environ";

/// Where the homes of users are. `*` stands for a name.
const HOMES: [&str; 3] = ["/root", "/home/*", "/Users/*"];

/// Ends of names whose files are made to be shown.
const PUBLIC_ENDS: [&str; 1] = [".pub"];

/// The paths of [`SECRET_PATHS`] on one machine.
#[derive(Debug)]
pub(crate) struct Secrets {
    paths: HashSet<PathBuf>,
    /// Beginnings of paths.
    beginnings: Vec<String>,
    /// A path that begins with none of these leads to no secret.
    tops: BTreeSet<String>,
    /// How many parts the longest of them has: further parts of a path don't matter.
    depth: usize,
    /// The names of each path, from the top. A `*` stands for anything in a name.
    from_top: Vec<Vec<String>>,
    /// The names of each path in a home folder.
    in_home: Vec<Vec<String>>,
    /// The home folders of this user and of others, as names.
    homes: Vec<Vec<String>>,
    root: PathBuf,
}

impl Secrets {
    /// The secrets of a user with this home folder. A folder that the root lies in is none.
    pub(crate) fn new(home: Option<&Path>, root: &Path) -> Self {
        let lines =
            SECRET_PATHS.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        // The home folder as it is written, and where it leads.
        let mut homes: Vec<PathBuf> = home.into_iter().map(Path::to_owned).collect();
        homes.extend(
            home.and_then(|home| home.canonicalize().ok()).filter(|real| Some(real.as_path()) != home),
        );
        let names = |line: &str| names_of(line).map(str::to_owned).collect::<Vec<String>>();
        let mut secrets = Self {
            paths: HashSet::new(),
            beginnings: Vec::new(),
            tops: BTreeSet::new(),
            depth: 0,
            from_top: JUDGED_PATHS.lines().filter(|line| line.starts_with('/')).map(names).collect(),
            in_home: Vec::new(),
            homes: homes.iter().map(|home| names(&home.to_string_lossy())).chain(HOMES.map(names)).collect(),
            root: root.to_owned(),
        };
        secrets.tops.extend(homes.iter().map(|home| home.to_string_lossy().into_owned()));
        let is_free = |line: &str| match (line.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => root.starts_with(home.join(rest)),
            (Some(_), None) => false,
            (None, _) => root.starts_with(line),
        };
        for line in lines.clone().filter(|line| !is_free(line)) {
            match line.strip_prefix("~/") {
                Some(rest) => secrets.in_home.push(names(rest)),
                None => secrets.from_top.push(names(line)),
            }
        }
        let paths = lines.flat_map(|line| match line.strip_prefix("~/") {
            Some(rest) => homes.iter().map(|home| home.join(rest)).collect(),
            None => vec![PathBuf::from(line)],
        });
        for path in paths.filter(|path| !root.starts_with(path)) {
            if !homes.iter().any(|home| path.starts_with(home)) {
                let top: PathBuf = path.iter().take(2).collect();
                secrets.tops.insert(top.to_string_lossy().trim_end_matches('*').to_owned());
            }
            secrets.depth = secrets.depth.max(path.iter().count());
            match path.to_str().and_then(|path| path.strip_suffix('*')) {
                Some(beginning) => secrets.beginnings.push(beginning.to_owned()),
                None => {
                    secrets.paths.insert(path);
                }
            }
        }
        secrets
    }

    /// Whether a path leads to a secret. It has no links.
    fn contains(&self, path: &Path) -> bool {
        self.is_listed(path) || self.is_of_others(path)
    }

    /// Whether a path leads to what is a secret in the home of another user, or to one that is only judged.
    fn is_of_others(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        let is_about = ["/proc/", "/root/", "/home/", "/Users/"].iter().any(|top| text.starts_with(top));
        if !is_about || PUBLIC_ENDS.iter().any(|end| text.ends_with(end)) || path.starts_with(&self.root) {
            return false;
        }
        let names: Vec<&str> = names_of(&text).collect();
        let reaches = |secret: &Vec<String>, names: &[&str]| {
            secret.len() <= names.len()
                && secret.iter().zip(names).all(|(one, name)| shapes::may_be(name, one))
        };
        let depth = match names.first() {
            Some(&"root") => 1,
            Some(&("home" | "Users")) => 2,
            _ => return self.from_top.iter().any(|secret| reaches(secret, &names)),
        };
        let behind = names.get(depth..).unwrap_or_default();
        self.in_home.iter().any(|secret| reaches(secret, behind))
    }

    fn is_listed(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        // Each part is compared with all before it: of a long path, only as many as can matter.
        let beginning: PathBuf = path.iter().take(self.depth).collect();
        self.tops.iter().any(|top| text.starts_with(top.as_str()))
            && !PUBLIC_ENDS.iter().any(|end| text.ends_with(end))
            && (beginning.ancestors().any(|part| self.paths.contains(part))
                || self.beginnings.iter().any(|beginning| text.starts_with(beginning.as_str())))
    }
}

impl Secrets {
    /// Whether a path that isn't wholly known may lead to a secret, by what is known of it. See [`crate::shapes`] for the signs in it.
    pub(crate) fn may_be(&self, shape: &str) -> bool {
        if PUBLIC_ENDS.iter().any(|end| shape.ends_with(end)) {
            return false;
        }
        match shape
            .split_once(ANY)
            .filter(|(before, _)| !before.starts_with('/') || names_of(before).count() == 0)
        {
            // `"$dir/.ssh/id_rsa"`: whatever the folder is, what is behind it says enough.
            Some((_, behind)) => self.ends_like(behind),
            None => self.fits(shape),
        }
    }

    /// Whether what stands behind an unknown folder is the path of a secret below a home or the top.
    fn ends_like(&self, behind: &str) -> bool {
        let Some((_, rest)) = behind.split_once('/') else { return false };
        let names: Vec<&str> = names_of(rest).collect();
        let says_enough = |secret: &&Vec<String>| {
            secret.len() > 1 || secret.first().is_some_and(|name| !NAMES_OF_PROJECTS.contains(&name.as_str()))
        };
        let mut all = self.in_home.iter().filter(says_enough).chain(&self.from_top);
        !names.is_empty() && all.any(|secret| reaches(&names, secret))
    }

    fn fits(&self, shape: &str) -> bool {
        let names: Vec<&str> = names_of(shape).collect();
        let below = |home: &[String]| {
            let (own, rest) = names.split_at_checked(home.len())?;
            own.iter().zip(home).all(|(own, name)| shapes::may_be(own, name)).then_some(rest)
        };
        let is_in_home = |home: &Vec<String>| {
            below(home).is_some_and(|rest| self.in_home.iter().any(|secret| reaches(rest, secret)))
        };
        self.homes.iter().any(is_in_home) || self.from_top.iter().any(|secret| reaches(&names, secret))
    }

    /// Whether a folder holds secrets somewhere below it: `~`, `/etc`. It has no links.
    pub(crate) fn are_below(&self, folder: &Path) -> bool {
        let text = folder.to_string_lossy();
        let names: Vec<&str> = names_of(&text).collect();
        let holds = |secret: &[String], names: &[&str]| {
            names.len() < secret.len()
                && secret.iter().zip(names).all(|(one, name)| shapes::may_be(name, one))
        };
        let mut homes = self.homes.iter();
        !folder.starts_with(&self.root)
            && (self.from_top.iter().any(|secret| holds(secret, &names))
                || homes.any(|home| {
                    let is_above = names.len() < home.len()
                        && home.iter().zip(&names).all(|(one, name)| shapes::may_be(name, one));
                    let rest = names
                        .get(home.len()..)
                        .filter(|_| home.iter().zip(&names).all(|(one, name)| shapes::may_be(name, one)));
                    is_above || rest.is_some_and(|rest| self.in_home.iter().any(|secret| holds(secret, rest)))
                }))
    }

    /// Whether a file of this name may be a secret somewhere. `pattern`: as find takes it.
    pub(crate) fn may_have_name(&self, pattern: &str) -> bool {
        let is_public = PUBLIC_ENDS.iter().any(|end| pattern.ends_with(end));
        let last = pattern.rsplit('/').next().unwrap_or(pattern);
        let shape = shapes::of_pattern(last);
        let listed = self.in_home.iter().chain(&self.from_top).filter_map(|secret| secret.last());
        let listed = listed.filter(|name| !name.contains('*'));
        let mut all = listed.map(String::as_str).chain(SECRET_FILE_NAMES.iter().copied());
        !is_public && all.any(|name| shapes::may_be_of_find(&shape, name))
    }
}

/// Whether names lead to a secret or to what is below it.
fn reaches(names: &[&str], secret: &[String]) -> bool {
    secret.len() <= names.len() && names.iter().zip(secret).all(|(name, secret)| shapes::may_be(name, secret))
}

/// The names of a path.
fn names_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty() && *name != ".")
}

/// The secret that a word names as a path, if it is one. Relative paths start from any of `directories`.
/// `written` is the word as it stands in the command.
pub(crate) fn named_by(
    value: &Value,
    written: &str,
    directories: Option<&[PathBuf]>,
    machine: &Machine,
) -> Option<String> {
    let path = path_of(value, machine).or_else(|| folder_in_home(written, machine))?;
    // Its own variables are no secret to a command.
    if path.is_empty() || path.contains('\n') || path == OWN_VARIABLES {
        return None;
    }
    let here = [machine.directory().to_owned()];
    let secrets = machine.secrets();
    let leads_there = |from: &PathBuf| {
        let written = from.join(&path);
        secrets.contains(&written) || secrets.contains(&machine.cached_destination(from, &path))
    };
    directories.unwrap_or(&here).iter().any(leads_there).then_some(path)
}

/// Whether the end of a path is the path of a secret, from the home folder or from the top.
pub(crate) fn ends_like_one(path: &str, machine: &Machine) -> bool {
    let secrets = machine.secrets();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    // The end of the whole path says whether its file is made to be shown.
    if PUBLIC_ENDS.iter().any(|end| path.ends_with(end)) {
        return false;
    }
    (0..parts.len()).any(|from| {
        let rest: PathBuf = parts.iter().skip(from).take(secrets.depth).collect();
        let from_home = machine.home().is_some_and(|home| secrets.contains(&home.join(&rest)));
        from_home || secrets.contains(&Path::new("/").join(&rest))
    })
}

/// The folder below the home folder that a pattern looks in: `.ssh` for `~/.ssh/id_*`.
fn folder_in_home(written: &str, machine: &Machine) -> Option<String> {
    let plain: String = written.chars().filter(|c| !matches!(c, '"' | '{' | '}')).collect();
    let rest = plain
        .strip_prefix('~')
        .or_else(|| plain.strip_prefix("$HOME"))
        .filter(|rest| rest.starts_with('/'))?;
    let known = rest.split(['*', '?', '[', '$', '`', '\'', '\\']).next().unwrap_or(rest);
    let (folder, _) = known.rsplit_once('/')?;
    Some(format!("{}{folder}", machine.home()?.to_str()?))
}

/// The path that a word names, as far as it is known: for a pattern, the folder that it looks in.
pub(crate) fn path_of(value: &Value, machine: &Machine) -> Option<String> {
    let home = || machine.home().and_then(Path::to_str);
    match value {
        Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail: Some(tail), .. })
            if name == "HOME" && lead.is_empty() && tail.starts_with('/') =>
        {
            Some(format!("{}{tail}", home()?))
        }
        Value::Unknown(Unknown { why: Why::Glob, lead, .. }) => {
            let (folder, _) = lead.rsplit_once('/')?;
            match folder.strip_prefix('~') {
                Some(rest) => Some(format!("{}{rest}", home()?)),
                None => Some(folder.to_owned()),
            }
        }
        // Other users have the same folders in their homes.
        Value::Unknown(Unknown { why: Why::Tilde { rest: Some(rest), .. }, .. }) => {
            Some(format!("{}{rest}", home()?))
        }
        value => redirects::known_path(value, machine),
    }
}
