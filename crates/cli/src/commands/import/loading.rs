//! Leaves out what settings can't have, and loads the result before it is written.
//!
//! Each entry is loaded alone, as the settings file would have it, and must become the very words that the rule has: a word that
//! means something else here (`shell` is every command in some lists) would make another rule of it.

use std::path::Path;

use shellgate::settings::{Prefix, Settings, SettingsError, TOOL_NAMES};
use shellgate::{Code, ErrorObject};
use toml_edit::DocumentMut;

use super::edit;
use super::rules::{Foreign, Lists, Reach};
use crate::commands::setup::file::SettingsFile;

/// Removes rules and entries that wouldn't load, each with a remark.
pub(super) fn keep_loadable(foreign: &mut Foreign) {
    for rule in std::mem::take(&mut foreign.rules) {
        match problem_of_rule(&rule.reach, rule.decision) {
            None => foreign.rules.push(rule),
            Some(why) => foreign.remark(rule.shown, left_out(&why)),
        }
    }
    if let Some(core) = foreign.core.take() {
        // An allowlist that loses all its entries stays one: it allows nothing.
        let in_core = |entry: &str| Lists { core: vec![entry.to_owned()], ..Lists::default() };
        foreign.core = Some(loadable(core, "core", in_core, foreign));
    }
    let exclude = std::mem::take(&mut foreign.exclude);
    let in_exclude = |entry: &str| Lists { exclude: vec![entry.to_owned()], ..Lists::default() };
    foreign.exclude = loadable(exclude, "exclude", in_exclude, foreign);
}

/// Refuses a file that wouldn't load as settings, whether by what it had or by what was added.
pub(super) fn require_loadable(target: &SettingsFile, after: &str) -> Result<(), ErrorObject> {
    let failed = |error: &SettingsError, hint: &str| {
        Err(ErrorObject::new(Code::Config, error.to_string())
            .token(target.path.display().to_string())
            .hint(format!("{hint}; it was not changed, and `--print` shows the rules")))
    };
    let before = target.text.as_deref().unwrap_or_default();
    if let Err(error) = load(&target.path, before) {
        return failed(&error, "correct your settings first");
    }
    match load(&target.path, after) {
        Ok(_) => Ok(()),
        Err(error) => failed(&error, "with the rules your settings would have this mistake"),
    }
}

fn load(path: &Path, text: &str) -> Result<Settings, SettingsError> {
    Settings::of_text(path, text, std::env::home_dir().as_deref())
}

fn loadable(
    entries: Vec<String>,
    list: &str,
    as_settings: impl Fn(&str) -> Lists,
    foreign: &mut Foreign,
) -> Vec<String> {
    let mut kept = Vec::new();
    for entry in entries {
        match loaded(&as_settings(&entry)) {
            Ok(_) => kept.push(entry),
            Err(why) => foreign.remark(format!("{list}: {entry}"), left_out(&why)),
        }
    }
    kept
}

/// Why a rule can't be in settings.
fn problem_of_rule(reach: &Reach, decision: super::rules::Decision) -> Option<String> {
    let words = match reach {
        Reach::Everything => return None,
        Reach::Prefix(words) | Reach::Exact(words) | Reach::Literal(words) => words,
    };
    if let [word] = words.as_slice()
        && TOOL_NAMES.contains(&word.as_str())
    {
        return Some(format!("`{word}` alone is the shell tool here, and so every command"));
    }
    let mut lists = Lists::default();
    lists.add(reach, decision);
    let settings = match loaded(&lists) {
        Ok(settings) => settings,
        Err(why) => return Some(why),
    };
    let policy = settings.policy;
    let listed = policy.allow.iter().chain(&policy.ask).chain(&policy.deny).map(|entry| &entry.value);
    let found: Vec<&Prefix> = listed.chain(policy.rules.iter().map(|rule| &rule.prefix)).collect();
    let is_same = match found.as_slice() {
        [Prefix::Words(found) | Prefix::Pattern(found)] => found == words,
        _ => false,
    };
    (!is_same).then(|| "it would mean other commands here".to_owned())
}

/// The settings that have just these lists. The error is in the words of the settings.
fn loaded(lists: &Lists) -> Result<Settings, String> {
    let Some((document, _)) = edit::with_rules(DocumentMut::new(), lists, &[]) else {
        return Err("it can't be written".to_owned());
    };
    load(Path::new("config.toml"), &document.to_string()).map_err(|error| error.problem.to_string())
}

fn left_out(why: &str) -> String {
    format!("left out, it has no equal: {why}")
}
