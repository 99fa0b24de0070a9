//! The rules of a command, prepared for comparing: with the files that they are about.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use shellgate_policy::Prefix;
use shellgate_policy::exec_time::{self, ProgramCall};
use shellgate_policy::programs::{base_name, is_multi_call};
use shellgate_sandbox::folder_watch::{FolderWatch, Looks};

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
    looks: Cell<Looks>,
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
        let folders: BTreeSet<PathBuf> = std::env::split_paths(&search_path).collect();
        let folders = folders.into_iter().map(|folder| (changed(&folder), folder));
        let folders = folders.map(|(time, folder)| (folder, time)).collect();
        Self { denied, allowed, watched, search_path, folders, looks: Cell::default() }
    }

    /// Whether no program was added or removed since. `watch`: what watches the folders of this process.
    pub(super) fn is_current(&self, watch: Option<&mut FolderWatch>) -> bool {
        let folders = self.folders.iter().map(|(folder, _)| folder.as_path());
        let mut looks = self.looks.get();
        let is_watched = watch.is_some_and(|watch| watch.spares_look(&mut looks, folders));
        self.looks.set(looks);
        is_watched || self.folders.iter().all(|(folder, time)| changed(folder) == *time)
    }

    /// Whether there is nothing to forbid.
    pub(super) fn is_empty(&self) -> bool {
        self.denied.is_empty() && self.allowed.is_none()
    }

    /// Whether a process with this reach may become a program, and its reach then.
    pub(super) fn decide(&self, views: &[View], reach: Reach, is_cut: bool) -> Result<Reach, Forbidden> {
        if let Some(file) = views.iter().find_map(|view| view.becomes_applets_of.as_ref())
            && let Some(rule) = self.denied.iter().find(|rule| rule.is_applet_of(file))
        {
            let shown = format!("{} (this shell has it built in)", rule.shown);
            return Err(Forbidden { rule: shown, words: rule.words.clone() });
        }
        for (view, name) in views.iter().flat_map(|view| view.names.iter().map(move |name| (view, name))) {
            let call = ProgramCall { name, arguments: &view.arguments, is_cut };
            if let Some(rule) =
                self.denied.iter().find(|rule| exec_time::denies(&rule.prefix, &rule.except, &call))
            {
                return Err(Forbidden { rule: rule.shown.clone(), words: rule.words.clone() });
            }
        }
        let (Some(allowed), Reach::Bound) = (&self.allowed, reach) else { return Ok(Reach::Free) };
        let is_allowed = views.iter().any(|view| allowed.iter().any(|rule| is_allowed(rule, view, is_cut)));
        // What a wrapper or a shell is given was judged with the command. A script was not: it is what was allowed.
        let runs_others = views.first().is_some_and(|view| self.runs_others(view));
        match (is_allowed, runs_others) {
            (true, true) if views.iter().any(|view| view.is_shell_script) => Ok(Reach::Free),
            (_, true) => Ok(Reach::Bound),
            (true, false) => Ok(Reach::Free),
            (false, false) => {
                Err(Forbidden { rule: "core: no entry allows it".to_owned(), words: Vec::new() })
            }
        }
    }

    /// Whether a file is the machine's `sh`.
    pub(super) fn is_system_shell(&self, file: Option<&FileId>) -> bool {
        let found = programs_named("sh", &self.search_path).next().and_then(|sh| std::fs::metadata(sh).ok());
        found.is_some_and(|found| file.is_some_and(|file| file.is_same_file(&FileId::of(&found))))
    }

    /// Whether a program is a shell or a wrapper, and the one that `PATH` has by that name.
    fn runs_others(&self, view: &View) -> bool {
        let mut names = view.names.iter().filter(|name| exec_time::runs_others(name));
        names.any(|name| {
            let files = programs_named(name, &self.search_path);
            let mut ids =
                files.filter_map(|file| std::fs::metadata(file).ok()).map(|found| FileId::of(&found));
            ids.any(|id| view.file.is_some_and(|file| file.is_same_file(&id)))
        })
    }
}

impl Rule {
    /// Whether a file with many programs has the one that the rule is about: their names are in it, a NUL byte around each.
    fn is_applet_of(&self, file: &Path) -> bool {
        let Some(name) = exec_time::named_program(&self.prefix).map(base_name) else { return true };
        let entry: Vec<u8> = [b"\0", name.as_bytes(), b"\0"].concat();
        // What can't be read may have it.
        std::fs::read(file).map_or(true, |bytes| bytes.windows(entry.len()).any(|part| part == entry))
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
        let is_one_program =
            real_name.starts_with(name) || exec_time::is_same_family(&real_name, name) || chooses();
        if is_one_program && !is_multi_call(&real_name) {
            watched.add(name, real);
        }
    }
}

fn loaders(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_loader = |name: &str| is_loader_name(name);
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_loader))
        .map(|entry| entry.path())
        .collect()
}

/// Whether a file of this name is a loader: `ld-linux-x86-64.so.2`, `ld-2.36.so`, `ld-musl-x86_64.so.1`.
pub(super) fn is_loader_name(name: &str) -> bool {
    name == LOADER || name.starts_with("ld-") && name.contains(".so") || name.starts_with("ld.so.")
}

fn changed(folder: &Path) -> Option<SystemTime> {
    std::fs::metadata(folder).and_then(|found| found.modified()).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::place::Place;
    use super::super::views::views;
    use super::*;
    use crate::RulePrefix;

    fn rule(text: &str) -> ProgramRule {
        let words = text.split(' ').map(str::to_owned).collect();
        ProgramRule { prefix: RulePrefix::Words(words), shown: text.to_owned(), except: Vec::new() }
    }

    /// Folders with programs that are empty files: `on` is on `PATH`, `off` isn't.
    fn folders() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["on/bash", "on/env", "on/git", "on/ls", "off/bash", "off/git"] {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, name).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    #[test]
    fn an_allowlist_binds_shells_and_wrappers_until_an_allowed_program_is_reached() {
        let folder = folders();
        let search_path = folder.path().join("on").display().to_string();
        let allowed = Some(vec![rule("git status"), rule("env"), rule("bash")]);
        let rules = PreparedRules::new(GuardRules { allowed, search_path, ..GuardRules::default() });
        let own = Place(std::process::id());
        let decide = |text: &str, reach: Reach| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let file = folder.path().join(&words[0]);
            let file = own.find(None, file.to_str().unwrap().as_bytes()).unwrap();
            rules.decide(&views(&rules, own, &file, &words), reach, false)
        };
        for (text, expected) in [
            ("on/bash -c ls", Some(Reach::Bound)),
            ("on/env git status", Some(Reach::Bound)),
            ("on/git status -s", Some(Reach::Free)),
            ("on/git push", None),
            ("on/ls", None),
            ("off/git status", None),
            ("off/bash -c ls", None),
        ] {
            assert_eq!(decide(text, Reach::Bound).ok(), expected, "{text}");
            assert_eq!(decide(text, Reach::Free), Ok(Reach::Free), "{text}");
        }
        let script = folder.path().join("script.sh");
        std::fs::write(&script, "").unwrap();
        assert_eq!(decide(&format!("on/bash {}", script.display()), Reach::Bound), Ok(Reach::Free));
    }

    #[test]
    fn a_program_that_is_added_makes_rules_old() {
        let folder = folders();
        let search_path = folder.path().join("on").display().to_string();
        let rules = PreparedRules::new(GuardRules { search_path, ..GuardRules::default() });
        assert!(rules.is_current(None) && rules.is_empty());
        std::fs::write(folder.path().join("on/new"), "").unwrap();
        assert!(!rules.is_current(None));
    }

    #[test]
    fn a_link_to_a_file_of_another_name_is_not_the_program() {
        let folder = folders();
        let on = folder.path().join("on");
        std::os::unix::fs::symlink("git", on.join("reboot")).unwrap();
        std::os::unix::fs::symlink("git", on.join("gi")).unwrap();
        let search_path = on.display().to_string();
        let rules = |name: &str| {
            let denied = vec![rule(name)];
            PreparedRules::new(GuardRules { denied, search_path: search_path.clone(), allowed: None })
        };
        let own = Place(std::process::id());
        let git = own.find(None, on.join("git").to_str().unwrap().as_bytes()).unwrap();
        let runs = |rules: &PreparedRules, called: &str| {
            rules.decide(&views(rules, own, &git, &[called.to_owned()]), Reach::Free, false).is_ok()
        };
        assert!(runs(&rules("reboot"), "git") && !runs(&rules("reboot"), "reboot"));
        assert!(!runs(&rules("gi"), "git"), "a longer name is the same program");
    }
}
