//! Branches that others use, and that a push replaces or deletes.

use std::path::PathBuf;

use shellgate_syntax::{Value, Why, Word};

use super::super::Judge;
use super::targets::Target;
use crate::calls::Call;
use crate::programs::words::{RUIN_CURRENT_BRANCH, RUIN_SHARED_BRANCHES};
use crate::programs::{Canonical, fits_pattern};

/// What stands for the current branch in a word.
const CURRENT: [&str; 2] = ["HEAD", "@"];

/// Where branches are among the references of a remote.
const BRANCHES: &str = "refs/heads/";

/// The remote that git takes when none is named.
const REMOTE: &str = "origin";

/// The shared branches that a push replaces or deletes.
pub(super) fn shared(judge: &Judge<'_>, call: &Call) -> Vec<Target> {
    let has = |name: &str| {
        call.meaning.canonical.iter().any(|part| matches!(part, Canonical::Option(own, _) if own == name))
    };
    let all = |name: &str| Target {
        shown: format!("every branch of the remote (`{name}`)"),
        text: Some(name.to_owned()),
    };
    if has("--mirror") || has("--prune") {
        return vec![all(if has("--mirror") { "--mirror" } else { "--prune" })];
    }
    let forces = has("-f") || has("--force-with-lease");
    let deletes = has("-d");
    if forces && (has("--all") || has("--branches")) {
        return vec![all("--all")];
    }
    let settings = push_settings(call);
    if settings.iter().any(|(key, value)| key == "mirror" && value.as_deref().is_none_or(is_on)) {
        return vec![all("mirror")];
    }
    let operands = call.meaning.canonical.iter().skip(1).filter_map(|part| match part {
        Canonical::Word(value) => Some(value),
        Canonical::Option(..) => None,
    });
    let operands: Vec<&Value> = operands.skip(call.meaning.subcommands.len()).collect();
    let (remote, references) = match operands.split_first() {
        Some((remote, references)) => (remote.known().unwrap_or(REMOTE), references),
        None => (REMOTE, [].as_slice()),
    };
    let folders = judge.folders_of(call);
    let pushed = Pushed { judge, folders, remote };
    let configured: Vec<Value> = settings
        .into_iter()
        .filter_map(|(key, value)| Some(Value::Known(value.filter(|_| key == "push")?)))
        .collect();
    let references = if references.is_empty() { configured.iter().collect() } else { references.to_vec() };
    if references.is_empty() {
        if !forces || has("--tags") || pushed.has_no_repository() {
            return Vec::new();
        }
        let current = pushed.current();
        let is_shared = current.as_deref().is_none_or(|name| pushed.is_shared(name));
        return is_shared.then(|| pushed.target(current.as_deref())).into_iter().collect();
    }
    references.iter().filter_map(|value| pushed.reference(value, forces, deletes, call)).collect()
}

/// The settings of `git -c remote.NAME.KEY=VALUE` that say what is pushed.
fn push_settings(call: &Call) -> Vec<(String, Option<String>)> {
    let pairs = call.words.windows(2).filter_map(|pair| match pair {
        [option, setting] if option.value.known() == Some("-c") => {
            setting.value.known().or_else(|| call.written(setting))
        }
        _ => None,
    });
    let of_remote = |setting: &str| {
        let (key, value) = match setting.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (setting, None),
        };
        let (name, key) = key.rsplit_once('.')?;
        name.to_ascii_lowercase().starts_with("remote.").then(|| (key.to_ascii_lowercase(), value))
    };
    pairs.filter_map(of_remote).collect()
}

/// Whether git takes a value for true.
fn is_on(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "" | "false" | "no" | "off" | "0")
}

struct Pushed<'a> {
    judge: &'a Judge<'a>,
    folders: Option<Vec<PathBuf>>,
    remote: &'a str,
}

impl Pushed<'_> {
    /// The shared branch that one word of a push replaces or deletes.
    fn reference(&self, value: &Value, forces: bool, deletes: bool, call: &Call) -> Option<Target> {
        let lead = value.lead();
        let forces = forces || deletes || lead.starts_with('+') || lead.starts_with(':');
        if !forces {
            return None;
        }
        let word = call.words.iter().find(|word| word.value == *value);
        // A pattern that fits no file is what git gets.
        let is_pattern = matches!(value, Value::Unknown(unknown) if unknown.why == Why::Glob);
        let pattern = word.filter(|_| is_pattern).and_then(|word| call.written(word));
        let Some(text) = value.known().or(pattern) else {
            return self.unknown(value, word?, call);
        };
        let text = text.trim_start_matches('+');
        let (source, target) = text.rsplit_once(':').unwrap_or((text, text));
        let target = if target.is_empty() { source } else { target };
        if target.is_empty() {
            // `:` is every branch that both sides have.
            return Some(self.target(None));
        }
        let current = self.current();
        let name = match target.strip_prefix(BRANCHES).unwrap_or(target) {
            name if CURRENT.contains(&name) => current.as_deref(),
            name => Some(name),
        };
        let may_be_branch = target.contains('*') && fits_pattern(target, "refs/heads/x");
        if target.starts_with("refs/") && !target.starts_with(BRANCHES) && !may_be_branch {
            return None;
        }
        let is_shared = name.is_none_or(|name| name.contains('*') || self.is_shared(name));
        is_shared.then(|| Target { text: value.known().map(str::to_owned), ..self.target(name) })
    }

    /// The same of a word that isn't known.
    fn unknown(&self, value: &Value, word: &Word, call: &Call) -> Option<Target> {
        let written = call.written(word).unwrap_or_default();
        let is_current = RUIN_CURRENT_BRANCH.iter().any(|command| {
            let bare = written.trim_matches('"');
            bare == format!("$({command})") || bare == format!("`{command}`")
        });
        let current = self.current();
        let lead = value.lead().trim_start_matches('+');
        match current.filter(|_| is_current) {
            Some(name) => self.is_shared(&name).then(|| self.target(Some(&name))),
            // The name goes on, but a folder of branches is known: `me/$name`.
            None if lead.contains('/') && !lead.contains(':') && !self.is_shared(lead) => None,
            None => Some(self.target(None)),
        }
    }

    /// Whether git finds no repository where it works: it pushes nothing then.
    fn has_no_repository(&self) -> bool {
        let is_outside = |folder: &PathBuf| self.judge.machine.repositories().top_of(folder).is_none();
        self.folders.as_ref().is_some_and(|folders| folders.iter().all(is_outside))
    }

    fn current(&self) -> Option<String> {
        let folders = self.folders.as_ref()?;
        folders.iter().find_map(|folder| self.judge.machine.repositories().current_branch(folder))
    }

    fn is_shared(&self, name: &str) -> bool {
        let is_default = |folder: &PathBuf| {
            self.judge.machine.repositories().default_branch(folder, self.remote).as_deref() == Some(name)
        };
        RUIN_SHARED_BRANCHES.iter().any(|pattern| fits_pattern(pattern, name))
            || self.folders.iter().flatten().any(is_default)
    }

    fn target(&self, name: Option<&str>) -> Target {
        let shown = match name {
            Some(name) => format!("the branch `{name}` of the remote, which others use"),
            None => "a branch of the remote that can't be known".to_owned(),
        };
        Target { shown, text: None }
    }
}
