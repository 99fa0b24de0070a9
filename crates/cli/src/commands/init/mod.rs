//! `shellgate init`: a starter file for a project, made of what the project has.

mod project;
mod starter;

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use shellgate::inside::{self, RestrictedAction};
use shellgate::settings::{PROJECT_FILE, ProjectSearch};
use shellgate::{Code, ErrorObject};

use self::project::Proposals;
use super::confirm::confirm;
use crate::args::InitArgs;
use crate::error::{self, CliError};
use crate::output::{self, escape};

pub(super) fn init(args: &InitArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(start(args))
}

fn start(args: &InitArgs) -> Result<(), CliError> {
    let folder = folder(args)?;
    let path = folder.join(PROJECT_FILE);
    let text = starter::starter(&Proposals::of(&folder));
    if args.print {
        return print(args, &path, &text, Stage::Shown);
    }
    inside::refuse(RestrictedAction::ChangeSettings)?;
    refuse_existing(args, &folder, &path)?;
    if !args.yes {
        let question = format!("{}Write this?", page(&path, &text));
        if !confirm(&question, "`--print` shows the file, and `--yes` writes it")? {
            output::print_message("nothing was written");
            return Err(CliError::Reported(error::CALL_REFUSED));
        }
    }
    write(&path, &text)?;
    print(args, &path, &text, Stage::Written)
}

/// The folder of the project.
fn folder(args: &InitArgs) -> Result<PathBuf, ErrorObject> {
    let chosen = args.root.clone().unwrap_or_else(|| PathBuf::from("."));
    let real = chosen.canonicalize().ok().filter(|folder| folder.is_dir());
    real.ok_or_else(|| {
        let shown = chosen.display();
        ErrorObject::new(Code::Config, format!("`{shown}` is not a folder that can be entered"))
            .token(shown.to_string())
            .hint("name the project's folder with `--root`")
    })
}

/// Refuses to replace a file. One further up would be hidden by a new one, so that has to be chosen.
fn refuse_existing(args: &InitArgs, folder: &Path, path: &Path) -> Result<(), ErrorObject> {
    let exists = |place: &Path, hint: String| {
        let message = format!("there is already `{}`", place.display());
        Err(ErrorObject::new(Code::Config, message).token(place.display().to_string()).hint(hint))
    };
    if path.symlink_metadata().is_ok() {
        return exists(path, "it stays as it is; `--print` shows what a new one would have".to_owned());
    }
    match ProjectSearch::new(folder, std::env::home_dir().as_deref()).found {
        Some(above) if args.root.is_none() => {
            exists(&above, "it holds here, too; `--root .` makes a file that hides it here".to_owned())
        }
        _ => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), ErrorObject> {
    // Not writable for groups, whatever the umask: such a file might not be read.
    let file = File::options().write(true).create_new(true).mode(0o644).open(path);
    let written = file.and_then(|mut file| {
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        // Half a file would be an error in every later call.
        written.inspect_err(|_| drop(std::fs::remove_file(path)))
    });
    written.map_err(|error| {
        ErrorObject::new(Code::Config, format!("`{}` can't be written: {error}", path.display()))
            .token(path.display().to_string())
            .hint("`--print` shows what to paste")
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Shown,
    Written,
}

fn print(args: &InitArgs, path: &Path, text: &str, stage: Stage) -> Result<(), CliError> {
    let written = stage == Stage::Written;
    if args.shown.json {
        let path = path.display().to_string();
        return output::print_json(&json!({"path": path, "text": text, "written": written}));
    }
    if !written {
        return output::print(text);
    }
    // With `--yes` the file was not shown before.
    let shown = if args.yes { page(path, text) } else { String::new() };
    let path = escape(&path.display().to_string());
    output::print(&format!("{shown}written: `{path}`\nIt is in force when you have run `shellgate trust`.\n"))
}

/// The file with a bar before each line.
fn page(path: &Path, text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("  | {}\n", escape(line))).collect();
    format!("`{}`, a new file:\n{lines}", escape(&path.display().to_string()))
}
