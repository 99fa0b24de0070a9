//! `shellgate setup`: adds shellgate to an agent's own settings.
//!
//! `agents` describes each agent. From that and the flags, `plan` makes steps (`step`), and `edit` applies them to the
//! text of a file in its `format`. The change is shown (`diff`), confirmed, written (`file`) and noted (`note`), so that
//! it can be undone.

mod agent;
mod agents;
pub(super) mod diff;
mod edit;
mod existing_entry;
pub(super) mod file;
pub(super) mod format;
mod list;
mod location;
mod note;
mod plan;
mod remaining;
mod server;
mod step;

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use shellgate::ErrorObject;
use shellgate::inside::{self, RestrictedAction};

use self::agent::{Agent, File, Switch};
use self::diff::Snippet;
use self::existing_entry::ExistingEntry;
use self::file::{Owner, SettingsFile};
use self::note::Notes;
use self::plan::{Aftermath, Change};
use self::server::Server;
use super::confirm::confirm;
use crate::args::SetupArgs;
use crate::error::{self, CliError};
use crate::output::{self, escape};

pub(super) fn setup(args: &SetupArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(match &args.agent {
        None => list::list(args),
        Some(name) => set_up(name, args),
    })
}

fn set_up(name: &str, args: &SetupArgs) -> Result<(), CliError> {
    let Some(agent) = agents::named(name) else {
        let names: Vec<String> = agents::AGENTS.iter().map(|agent| format!("`{}`", agent.name)).collect();
        let error = ErrorObject::invalid(format!("no agent is called `{name}`")).token(name);
        return Err(error.hint(format!("use one of {}", names.join(", "))).into());
    };
    if !args.print {
        inside::refuse(RestrictedAction::SetUp)?;
    }
    // Before the folder for notes is made: it isn't needed if there is no place for settings.
    let main = plan::path(agent, &agent.file, owner(args))?;
    let notes = Notes::open()?;
    let (changes, snippets) =
        if args.undo { (undo(agent, args, &notes)?, Vec::new()) } else { plan(agent, args, main, &notes)? };
    let remaining =
        if args.undo { remaining::remaining_settings(agent, owner(args), &changes) } else { Vec::new() };
    let changes: Vec<Change> = changes.into_iter().filter(Change::is_effective).collect();
    if args.print {
        return diff::print(agent, args, &changes, &snippets, &remaining);
    }
    for change in &changes {
        change.file.refuse_read_only()?;
    }
    let shown = diff::render(&changes, &remaining);
    if !changes.is_empty() && !args.yes {
        let question = format!("{shown}Write this?");
        if !confirm(&question, "`--print` shows the change, and `--yes` makes it")? {
            output::print_message("nothing was changed");
            return Err(CliError::Reported(error::CALL_REFUSED));
        }
    }
    for change in &changes {
        write_change(change, &notes)?;
    }
    print_result(agent, args, &changes, &remaining)
}

fn owner(args: &SetupArgs) -> Owner {
    if args.project { Owner::Project } else { Owner::User }
}

/// The changes of a set-up, and the lines to paste by hand instead.
fn plan(
    agent: &Agent,
    args: &SetupArgs,
    main: PathBuf,
    notes: &Notes,
) -> Result<(Vec<Change>, Vec<Snippet>), CliError> {
    let main = SettingsFile::read(main, owner(args));
    let server = Server::new(agent, args, existing_entry(agent, main.as_ref().ok()))?;
    let kept_keys: Vec<&str> = agent.extra.iter().map(|(name, _)| *name).chain(["description"]).collect();
    let mut changes = Vec::new();
    let mut snippets = Vec::new();
    // Read once: the change must be based on the text that was inspected.
    let mut main = Some(main);
    for (file, steps) in plan::steps(agent, args, &server)? {
        let path = plan::path(agent, file, owner(args))?;
        // Editing an empty text can't fail.
        let whole = edit::edit(file.format, "", &steps).map(|edited| edited.text).unwrap_or_default();
        snippets.push(Snippet { path: path.display().to_string(), text: whole });
        let settings = main.take().unwrap_or_else(|| SettingsFile::read(path, owner(args)));
        let change =
            settings.and_then(|settings| plan::set_up(settings, file.format, &steps, &kept_keys, notes));
        match change {
            Ok(change) => changes.push(change),
            Err(error) if args.print => output::print_message(&error.message),
            Err(error) => return Err(error.into()),
        }
    }
    Ok((changes, snippets))
}

/// The entry of shellgate in this file. A file that can't be read has none; planning the change reports it.
fn existing_entry(agent: &Agent, file: Option<&SettingsFile>) -> ExistingEntry {
    let text = file.and_then(|file| file.text.as_deref()).unwrap_or_default();
    let values = agent.file.format.read(text.trim_start_matches('\u{feff}')).ok();
    ExistingEntry::of(values.as_ref().and_then(|values| step::get(values, &agent.entry_path())), agent.shape)
}

/// The changes that undo a set-up.
fn undo(agent: &Agent, args: &SetupArgs, notes: &Notes) -> Result<Vec<Change>, CliError> {
    let mut changes = Vec::new();
    for (file, is_main) in files(agent) {
        if args.project && file.project.is_none() && !is_main {
            continue;
        }
        let settings = SettingsFile::read(plan::path(agent, file, owner(args))?, owner(args))?;
        // In other files than the one with the servers, only a note tells what is ours.
        if is_main || notes.find(&settings.real).is_some() {
            changes.extend(plan::undo(settings, file.format, &agent.entry_path(), notes)?);
        }
    }
    Ok(changes)
}

/// The files that a set-up may change, and whether it is the one with the servers, which is first.
fn files(agent: &Agent) -> Vec<(&File, bool)> {
    let mut files = vec![(&agent.file, true)];
    for switch in [&agent.trust, &agent.shell_off] {
        if let Switch::Elsewhere(file, _) = switch
            && !files.iter().any(|(other, _)| other.user.names == file.user.names)
        {
            files.push((file, false));
        }
    }
    files
}

fn write_change(change: &Change, notes: &Notes) -> Result<(), ErrorObject> {
    let (file, real) = (&change.file, &change.file.real);
    match (&change.aftermath, &change.after) {
        (Aftermath::Note(note), after) => {
            // Noted first: a change without a note can't be undone, a note without a change does no harm.
            notes.save(real, note)?;
            let folders = file.write(after.as_deref().unwrap_or_default())?;
            notes.save(real, &note.as_ref().clone().with_folders(folders))
        }
        (Aftermath::Undone(_), Some(text)) => {
            file.write(text)?;
            notes.remove(real);
            Ok(())
        }
        (Aftermath::Undone(folders), None) => {
            file.remove(folders)?;
            notes.remove(real);
            Ok(())
        }
    }
}

fn print_result(
    agent: &Agent,
    args: &SetupArgs,
    changes: &[Change],
    remaining: &[String],
) -> Result<(), CliError> {
    let paths = || changes.iter().map(|change| change.file.path.display().to_string());
    if args.shown.json {
        let changed: Vec<String> = paths().collect();
        return output::print_json(&json!({"agent": agent.name, "changed": changed, "left": remaining}));
    }
    if changes.is_empty() {
        let state =
            if args.undo { "its settings have no entry of shellgate" } else { "it is already set up" };
        let remaining = diff::render(&[], remaining);
        return output::print(&format!("{}: nothing to do, {state}\n{remaining}", agent.title));
    }
    // With `--yes` the change was not shown before.
    let mut page = if args.yes { diff::render(changes, remaining) } else { String::new() };
    for (path, change) in paths().zip(changes) {
        let done = if change.after.is_some() { "written" } else { "removed" };
        page.push_str(&format!("{done}: `{}`\n", escape(&path)));
    }
    if !args.undo {
        page.push_str(&format!("{}: {}.\n", agent.title, agent.note));
    }
    output::print(&page)
}
