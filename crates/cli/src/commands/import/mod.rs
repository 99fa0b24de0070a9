//! `shellgate import`: turns another agent's permissions into rules here.
//!
//! `source` reads the file of an agent into rules of one form (`rules`); `loading` leaves out those that settings can't have;
//! the others become lists that are never looser; `edit` adds them to the user's settings after they were shown. What is
//! written was loaded before, with all checks.

mod codex;
mod edit;
mod gemini;
mod loading;
mod opencode;
mod pattern;
mod permissions;
mod rules;
mod source;
mod starlark;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::ValueEnum as _;
use serde_json::json;
use shellgate::inside::{self, RestrictedAction};
use shellgate::text::layout::wrap;
use shellgate::{Code, ErrorObject};
use toml_edit::DocumentMut;

use self::rules::{Foreign, Lists, Remark};
use self::source::Source;
use super::confirm::confirm;
use super::setup::diff;
use super::setup::file::{Owner, SettingsFile};
use crate::args::{ForeignAgent, ImportArgs};
use crate::error::{self, CliError};
use crate::output::{self, escape};
use crate::table;

pub(super) fn import(args: &ImportArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(run(args))
}

/// What a file becomes.
struct Imported {
    agent: ForeignAgent,
    lists: Lists,
    foreign: Foreign,
}

impl Imported {
    fn new(text: &str, name: &str, agent: Option<ForeignAgent>) -> Result<Self, ErrorObject> {
        let Source { agent, mut foreign } = Source::read(text, name, agent)?;
        loading::keep_loadable(&mut foreign);
        let lists = rules::lists(&mut foreign);
        Ok(Self { agent, lists, foreign })
    }

    fn is_empty(&self) -> bool {
        self.lists == Lists::default() && self.foreign.values.is_empty()
    }

    /// The lines for an empty file.
    fn toml(&self) -> String {
        let made = edit::with_rules(DocumentMut::new(), &self.lists, &self.foreign.values);
        made.map(|(document, _)| document.to_string()).unwrap_or_default()
    }

    fn agent_name(&self) -> String {
        self.agent.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

fn run(args: &ImportArgs) -> Result<(), CliError> {
    if !args.print {
        inside::refuse(RestrictedAction::ChangeSettings)?;
    }
    let file = SettingsFile::read(args.file.clone(), Owner::User)?;
    let name = args.file.display().to_string();
    let Some(text) = &file.text else {
        return Err(ErrorObject::invalid(format!("`{name}` does not exist")).token(name).into());
    };
    let mut imported = Imported::new(text, &name, args.from)?;
    if args.print || imported.is_empty() {
        return print(args, &imported, None);
    }
    let target = SettingsFile::read(user_file()?, Owner::User)?;
    target.refuse_read_only()?;
    let after = edited(&target, &mut imported)?;
    loading::require_loadable(&target, &after)?;
    if target.text.as_deref().unwrap_or_default() == after {
        return print(args, &imported, None);
    }
    let shown = diff::unified(&target.path, target.text.as_deref(), Some(&after));
    let shown = format!("{shown}{}", remarks(&imported.foreign.remarks));
    if !args.yes {
        let question = format!("{shown}Write this?");
        if !confirm(&question, "`--print` shows the rules, and `--yes` writes them")? {
            output::print_message("nothing was changed");
            return Err(CliError::Reported(error::CALL_REFUSED));
        }
    }
    target.write(&after)?;
    let path = target.path.display().to_string();
    if args.shown.json {
        return print(args, &imported, Some(&path));
    }
    // With `--yes` the change was not shown before.
    let shown = if args.yes { shown } else { String::new() };
    output::print(&format!("{shown}written: `{}`\n", escape(&path)))
}

/// The user's settings file.
fn user_file() -> Result<std::path::PathBuf, ErrorObject> {
    let sources = shellgate::settings::Sources::by_environment(|name| std::env::var_os(name));
    sources.user.ok_or_else(|| {
        ErrorObject::new(Code::Config, "there is no place for your settings: HOME is not set")
            .hint("`--print` shows the rules")
    })
}

/// The content of the settings file with the rules. Adds remarks about keys that keep their values.
fn edited(target: &SettingsFile, imported: &mut Imported) -> Result<String, ErrorObject> {
    let path = target.path.display().to_string();
    let failed = |why: &str| {
        ErrorObject::new(Code::Config, format!("`{path}` can't be edited: {why}"))
            .token(path.clone())
            .hint("it was not changed; `--print` shows the rules")
    };
    let document: DocumentMut =
        target.text.as_deref().unwrap_or_default().parse().map_err(|_| failed("it isn't valid TOML"))?;
    let made = edit::with_rules(document, &imported.lists, &imported.foreign.values);
    let (document, kept) = made.ok_or_else(|| failed("it has something else where rules belong"))?;
    for key in kept {
        imported.foreign.remark(key, "kept: your settings have another value");
    }
    Ok(document.to_string())
}

/// Prints the rules and remarks. `written`: the file that has them now.
fn print(args: &ImportArgs, imported: &Imported, written: Option<&str>) -> Result<(), CliError> {
    let toml = imported.toml();
    if args.shown.json {
        let remark = |remark: &Remark| json!({"entry": remark.entry, "reason": remark.reason});
        let remarks: Vec<_> = imported.foreign.remarks.iter().map(remark).collect();
        let from = imported.agent_name();
        return output::print_json(
            &json!({"from": from, "toml": toml, "remarks": remarks, "written": written}),
        );
    }
    let rules = match imported.is_empty() {
        true => "It has no rules for shell commands.\n".to_owned(),
        false if args.print => escaped_lines(&toml),
        false => "Your settings have all of it.\n".to_owned(),
    };
    output::print(&format!("{rules}{}", remarks(&imported.foreign.remarks)))
}

fn escaped_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", escape(line))).collect()
}

/// What has no equal, in lines of comments, so that the whole output is a settings file.
fn remarks(remarks: &[Remark]) -> String {
    if remarks.is_empty() {
        return String::new();
    }
    let width = table::width().unwrap_or(80).saturating_sub(6);
    let one = |remark: &Remark| {
        let reason = wrap(&escape(&remark.reason), width).join("\n#     ");
        format!("#   {}\n#     {reason}\n", escape(&remark.entry))
    };
    format!("\n# Not the same here:\n{}", remarks.iter().map(one).collect::<String>())
}
