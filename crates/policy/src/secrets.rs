//! Files that hold secrets: credentials, keys, histories. A person is asked before a command reads or writes one, be it by an
//! operand, an option or a redirect.
//!
//! A program that uses a key itself and doesn't show it (`ssh -i`) is no question: the tables give such words the role `key`.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use shellgate_syntax::{Unknown, Value, Why};

use crate::machine::Machine;
use crate::redirects;

/// The paths, one a line. `~` is the user's home folder, a `*` at the end of a name stands for the rest of it.
pub const SECRET_PATHS: &str = include_str!("../tables/secrets.txt");

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
        let mut secrets =
            Self { paths: HashSet::new(), beginnings: Vec::new(), tops: BTreeSet::new(), depth: 0 };
        secrets.tops.extend(homes.iter().map(|home| home.to_string_lossy().into_owned()));
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
        let text = path.to_string_lossy();
        // Each part is compared with all before it: of a long path, only as many as can matter.
        let beginning: PathBuf = path.iter().take(self.depth).collect();
        self.tops.iter().any(|top| text.starts_with(top.as_str()))
            && !PUBLIC_ENDS.iter().any(|end| text.ends_with(end))
            && (beginning.ancestors().any(|part| self.paths.contains(part))
                || self.beginnings.iter().any(|beginning| text.starts_with(beginning.as_str())))
    }
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
    if path.is_empty() || path.contains('\n') {
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
