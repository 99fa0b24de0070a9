//! The rules of a command, prepared for comparing: with the files that they are about.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use shellgate_policy::Prefix;
use shellgate_policy::exec_time::{self, ProgramCall};
use shellgate_policy::programs::{base_name, is_multi_call};

use super::files::{FileId, WatchedFiles, programs_named};
use super::views::View;
use crate::guard_rules::{GuardRules, ProgramRule};

/// Folders of programs on every machine, on `PATH` or not.
const PROGRAM_FOLDERS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Files that hold many programs.
const MULTI_CALL_PROGRAMS: [&str; 3] = ["busybox", "toybox", "coreutils"];

/// Folders of the loader, which runs the program that is its argument.
const LOADER_FOLDERS: [&str; 6] =
    ["/lib64", "/lib", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib", "/usr/lib64"];

/// The name by which loaders are watched.
pub(super) const LOADER: &str = "ld.so";

/// What a link that only chooses one of several programs goes through.
const ALTERNATIVES: &str = "/etc/alternatives";

/// The rules of a command.
#[derive(Debug, Default)]
pub(super) struct PreparedRules {
    denied: Vec<Rule>,
    allowed: Option<Vec<(Rule, Option<FileId>)>>,
    pub(super) watched: WatchedFiles,
    search_path: String,
    /// Folders of programs, and when they were last changed.
    folders: Vec<(PathBuf, Option<SystemTime>)>,
}

#[derive(Debug)]
struct Rule {
    prefix: Prefix,
    except: Vec<Prefix>,
    shown: String,
    words: Vec<String>,
}

/// Why a program may not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Forbidden {
    pub(super) rule: String,
    pub(super) words: Vec<String>,
}

/// What the rules of an allowlist say about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// It is the command's first shell, or one of the shells and wrappers that this one started.
    Bound,
    /// An allowed program was reached: what it starts is free.
    Free,
}

impl PreparedRules {
    pub(super) fn new(rules: GuardRules) -> Self {
        let GuardRules { denied, allowed, search_path } = rules;
        let search_path = format!("{search_path}:{PROGRAM_FOLDERS}");
        let denied: Vec<Rule> = denied.into_iter().map(Rule::from).collect();
        let allowed = allowed.map(|rules| rules.into_iter().map(Rule::from));
        let allowed = allowed.map(|rules| rules.map(|rule| (found(&rule, &search_path), rule)));
        let allowed = allowed.map(|rules| rules.map(|(file, rule)| (rule, file)).collect());
        let mut watched = WatchedFiles::default();
        denied.iter().for_each(|rule| watch(rule, &search_path, &mut watched));
        for name in MULTI_CALL_PROGRAMS {
            programs_named(name, &search_path).for_each(|file| watched.add(name, file));
        }
        LOADER_FOLDERS.iter().flat_map(|folder| loaders(folder)).for_each(|file| watched.add(LOADER, file));
        let folders = std::env::split_paths(&search_path).map(|folder| (changed(&folder), folder));
        let folders = folders.map(|(time, folder)| (folder, time)).collect();
        Self { denied, allowed, watched, search_path, folders }
    }

    /// Whether no program was added or removed since.
    pub(super) fn is_current(&self) -> bool {
        self.folders.iter().all(|(folder, time)| changed(folder) == *time)
    }

    /// Whether there is nothing to forbid.
    pub(super) fn is_empty(&self) -> bool {
        self.denied.is_empty() && self.allowed.is_none()
    }

    /// Whether a process with this reach may become a program, and its reach then.
    pub(super) fn decide(&self, views: &[View], reach: Reach, is_cut: bool) -> Result<Reach, Forbidden> {
        for (view, name) in views.iter().flat_map(|view| view.names.iter().map(move |name| (view, name))) {
            let call = ProgramCall { name, arguments: &view.arguments, is_cut };
            if let Some(rule) = self.denied.iter().find(|rule| exec_time::denies(&rule.prefix, &rule.except, &call)) {
                return Err(Forbidden { rule: rule.shown.clone(), words: rule.words.clone() });
            }
        }
        let (Some(allowed), Reach::Bound) = (&self.allowed, reach) else { return Ok(Reach::Free) };
        if views.iter().any(|view| allowed.iter().any(|rule| is_allowed(rule, view, is_cut))) {
            return Ok(Reach::Free);
        }
        match views.first().is_some_and(|view| self.runs_others(view)) {
            true => Ok(Reach::Bound),
            false => Err(Forbidden { rule: "core: no entry allows it".to_owned(), words: Vec::new() }),
        }
    }

    /// Whether a program is a shell or a wrapper, and the one that `PATH` has by that name.
    fn runs_others(&self, view: &View) -> bool {
        let mut names = view.names.iter().filter(|name| exec_time::runs_others(name));
        names.any(|name| {
            let files = programs_named(name, &self.search_path);
            let mut ids = files.filter_map(|file| std::fs::metadata(file).ok()).map(|found| FileId::of(&found));
            ids.any(|id| view.file.is_some_and(|file| file.is_same_file(&id)))
        })
    }
}

impl From<ProgramRule> for Rule {
    fn from(rule: ProgramRule) -> Self {
        let prefix = Prefix::from(rule.prefix);
        let words = match &prefix {
            Prefix::Everything => vec!["*".to_owned()],
            Prefix::Words(words) | Prefix::Exactly(words) | Prefix::Pattern(words) => words.clone(),
        };
        Self { prefix, except: rule.except.into_iter().map(Prefix::from).collect(), shown: rule.shown, words }
    }
}

fn is_allowed((rule, file): &(Rule, Option<FileId>), view: &View, is_cut: bool) -> bool {
    let Some(program) = exec_time::named_program(&rule.prefix) else { return false };
    // A file with many names is allowed by the name that is on the list, and by no other.
    let Some(name) = view.names.iter().find(|name| *name == base_name(program)) else { return false };
    let is_it = file.is_some_and(|file| view.file.is_some_and(|own| own.is_same_file(&file)));
    is_it && exec_time::allows(&rule.prefix, &ProgramCall { name, arguments: &view.arguments, is_cut })
}

/// The file that a rule that allows is about: what the judge found.
fn found(rule: &Rule, search_path: &str) -> Option<FileId> {
    let program = exec_time::named_program(&rule.prefix)?;
    let file = match program.contains('/') {
        true => Some(PathBuf::from(program)),
        false => programs_named(program, search_path).next(),
    };
    std::fs::metadata(file?).ok().map(|found| FileId::of(&found))
}

/// Watches the files of a rule's program. A link to a file of quite another name is left out: such a file does different
/// things by the name that it is called by (`reboot` is `systemctl`), and that name is compared in any case.
fn watch(rule: &Rule, search_path: &str, watched: &mut WatchedFiles) {
    let Some(program) = exec_time::named_program(&rule.prefix) else { return };
    let name = base_name(program);
    let named = Some(PathBuf::from(program)).filter(|path| path.is_absolute());
    for file in named.into_iter().chain(programs_named(name, search_path)) {
        let Ok(real) = file.canonicalize() else { continue };
        let real_name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let chooses = || std::fs::read_link(&file).is_ok_and(|link| link.starts_with(ALTERNATIVES));
        let is_one_program = real_name.starts_with(name)
            || exec_time::is_same_family(&real_name, name)
            || chooses();
        if is_one_program && !is_multi_call(&real_name) {
            watched.add(name, real);
        }
    }
}

fn loaders(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_loader = |name: &str| is_loader_name(name);
    entries.filter(|entry| entry.file_name().to_str().is_some_and(is_loader)).map(|entry| entry.path()).collect()
}

/// Whether a file of this name is a loader: `ld-linux-x86-64.so.2`, `ld-2.36.so`, `ld-musl-x86_64.so.1`.
pub(super) fn is_loader_name(name: &str) -> bool {
    name == LOADER || name.starts_with("ld-") && name.contains(".so") || name.starts_with("ld.so.")
}

fn changed(folder: &Path) -> Option<SystemTime> {
    std::fs::metadata(folder).and_then(|found| found.modified()).ok()
}
