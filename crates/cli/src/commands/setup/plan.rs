//! Plans changes: from an agent and the flags to files with their content before and after.

use std::path::PathBuf;

use serde_json::Value;
use shellgate::{Code, ErrorObject};

use super::agent::{Agent, File, Switch};
use super::edit::{self, Uneditable};
use super::file::{Owner, SettingsFile};
use super::format::{Broken, Format};
use super::note::{Note, Notes};
use super::server::Server;
use super::step::{Act, Step, get};
use crate::args::SetupArgs;
use crate::output::escape;

/// A change to one file.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) file: SettingsFile,
    /// Its content after the change. `None`: it will be removed.
    pub(crate) after: Option<String>,
    pub(crate) aftermath: Aftermath,
}

/// What to do with the notes after the change.
#[derive(Debug)]
pub(crate) enum Aftermath {
    /// Save this note.
    Note(Box<Note>),
    /// Remove the note, and these folders, which were made for the file.
    Undone(Vec<PathBuf>),
}

impl Change {
    pub(crate) fn is_effective(&self) -> bool {
        self.file.text != self.after
    }
}

/// The steps of a set-up, per file.
pub(crate) fn steps<'a>(
    agent: &'a Agent,
    args: &SetupArgs,
    server: &Server,
) -> Result<Vec<(&'a File, Vec<Step>)>, ErrorObject> {
    let mut entry = Vec::new();
    let mut here = Vec::new();
    let mut elsewhere: Vec<(&File, Vec<Step>)> = Vec::new();
    for (wanted, flag, switch) in
        [(args.trust, "--trust", &agent.trust), (args.shell_off, "--shell-off", &agent.shell_off)]
    {
        if !wanted {
            continue;
        }
        match switch {
            Switch::Entry(more) => entry.extend(more.iter().copied()),
            Switch::Here(settings) => here.extend(settings.iter().map(super::agent::Setting::step)),
            Switch::Elsewhere(file, settings) => {
                let steps = settings.iter().map(super::agent::Setting::step);
                match elsewhere.iter_mut().find(|(other, _)| other.user.names == file.user.names) {
                    Some((_, all)) => all.extend(steps),
                    None => elsewhere.push((file, steps.collect())),
                }
            }
            Switch::No(why) => {
                let message = format!("`{flag}` is not available for {}", agent.title);
                return Err(ErrorObject::invalid(message).hint(*why));
            }
        }
    }
    let first = std::iter::once(agent.entry(server, &entry)).chain(here).collect();
    Ok(std::iter::once((&agent.file, first)).chain(elsewhere).collect())
}

/// The path of a file, for the user or for the project in the current folder.
pub(crate) fn path(agent: &Agent, file: &File, owner: Owner) -> Result<PathBuf, ErrorObject> {
    if owner == Owner::Project {
        let Some(name) = file.project else {
            let message = format!("{} has no settings for a project", agent.title);
            return Err(ErrorObject::invalid(message).hint("leave out `--project`"));
        };
        let here = std::env::current_dir().map_err(|error| {
            ErrorObject::new(Code::Config, format!("the current folder can't be found: {error}"))
        })?;
        return Ok(here.join(name));
    }
    file.user.file().ok_or_else(|| {
        let why = match std::env::home_dir() {
            Some(home) => {
                format!("HOME is `{}`, which is not an absolute path", escape(&home.display().to_string()))
            }
            None => "HOME is not set".to_owned(),
        };
        let message = format!("{}'s settings can't be found: {why}", agent.title);
        ErrorObject::new(Code::Config, message).hint("set HOME to the absolute path of your home folder")
    })
}

/// The change that these steps make. Values that an entry already has under `kept_keys` stay.
pub(crate) fn set_up(
    file: SettingsFile,
    format: Format,
    steps: &[Step],
    kept_keys: &[&str],
    notes: &Notes,
) -> Result<Change, ErrorObject> {
    let text = file.text.as_deref().unwrap_or_default();
    let failed = |why| uneditable(&file, why);
    let values = format.read(text.trim_start_matches('\u{feff}')).map_err(|broken| failed(broken.into()))?;
    let steps: Vec<Step> = steps.iter().flat_map(|step| keep_existing(step, kept_keys, &values)).collect();
    let edited = edit::edit(format, text, &steps).map_err(failed)?;
    let note = Note::new(&file, &edited, notes.find(&file.real), format);
    let after = Some(edited.text).filter(|text| file.text.is_some() || !text.is_empty());
    Ok(Change { file, after, aftermath: Aftermath::Note(Box::new(note)) })
}

/// Splits the step for an existing entry into steps per key, so that the entry keeps its other keys.
fn keep_existing(step: &Step, kept_keys: &[&str], values: &Value) -> Vec<Step> {
    let there = get(values, &step.path).and_then(Value::as_object);
    let (Some(there), Act::Set(Value::Object(wanted))) = (there, &step.act) else {
        return vec![step.clone()];
    };
    let stays = |name: &str| there.contains_key(name) && kept_keys.contains(&name);
    let wanted = wanted.iter().filter(|(name, _)| !stays(name));
    let inner = |name: &String| step.path.iter().chain([name]).cloned().collect::<Vec<_>>();
    wanted.map(|(name, value)| Step::new(inner(name), Act::Set(value.clone()))).collect()
}

/// The change that undoes a set-up. `None`: there is nothing to undo.
pub(crate) fn undo(
    file: SettingsFile,
    format: Format,
    entry: &[String],
    notes: &Notes,
) -> Result<Option<Change>, ErrorObject> {
    let Some(text) = file.text.as_deref() else { return Ok(None) };
    let failed = |why| uneditable(&file, why);
    let (after, folders) = match notes.find(&file.real) {
        Some(note) => {
            let before = note.original(text, format).map_err(failed)?;
            (before.text, before.folders)
        }
        None => {
            let step = Step::new(entry, Act::Unset);
            (Some(edit::edit(format, text, &[step]).map_err(failed)?.text), Vec::new())
        }
    };
    Ok(Some(Change { file, after, aftermath: Aftermath::Undone(folders) }))
}

fn uneditable(file: &SettingsFile, why: Uneditable) -> ErrorObject {
    let path = file.path.display();
    let error = |message| ErrorObject::new(Code::Config, message).token(path.to_string());
    match why {
        Uneditable::Broken(Broken { line, column, message }) => {
            error(format!("{path}:{line}:{column}: {message}")).hint("repair the file; it was not changed")
        }
        Uneditable::NotATable(at) if at.is_empty() => {
            error(format!("{path}: the settings are not a table")).hint("`--print` shows what to put there")
        }
        Uneditable::NotATable(at) => {
            error(format!("{path}: `{at}` is not a table")).hint("`--print` shows what to put there")
        }
        Uneditable::Unsupported => error(format!("{path}: `setup` can't change this file safely"))
            .hint("the file was not changed; `--print` shows what to paste"),
    }
}
