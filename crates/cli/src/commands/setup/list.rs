//! `shellgate setup` without an agent: lists the agents, whether they are installed, and where shellgate is set up.

use serde_json::json;

use super::agent::{Agent, File};
use super::agents::AGENTS;
use super::server::on_path;
use super::step::get;
use crate::args::SetupArgs;
use crate::error::CliError;
use crate::output::{self, escape};
use crate::table::{self, Cell};

pub(super) fn list(args: &SetupArgs) -> Result<(), CliError> {
    if args.shown.json {
        let agents: Vec<_> = AGENTS.iter().map(|agent| {
            let places = places(agent);
            json!({
                "agent": agent.name, "title": agent.title, "installed": installed(agent),
                "files": places.iter().map(|(path, state)| json!({"path": path, "state": state.word()})).collect::<Vec<_>>(),
            })
        }).collect();
        return output::print_json(&agents.into());
    }
    let rows: Vec<[Cell; 4]> = AGENTS.iter().map(row).collect();
    let table = table::table(["AGENT", "NAME", "INSTALLED", "SHELLGATE"], &rows, table::width());
    output::print(&format!("{table}\n`shellgate setup NAME` shows what it would change and asks.\n"))
}

fn row(agent: &'static Agent) -> [Cell; 4] {
    let installed = if installed(agent) { "yes" } else { "-" };
    let shown = |(path, state): &(String, State)| match state {
        State::Absent => None,
        State::SetUp => Some(escape(path)),
        State::Broken => Some(format!("? {} can't be read", escape(path))),
    };
    let all: Vec<String> = places(agent).iter().filter_map(shown).collect();
    let state = match all.is_empty() {
        true => Cell::from("-"),
        false => Cell::colored(all.join(", "), "\x1b[32m"),
    };
    [agent.title.into(), agent.name.into(), installed.into(), state]
}

/// Whether PATH has its program, or the folder of its settings exists. The home folder itself proves nothing.
fn installed(agent: &Agent) -> bool {
    let folder = agent.file.user.folder();
    let home = std::env::home_dir();
    agent.programs.iter().any(|program| on_path(program).is_some())
        || folder.is_some_and(|folder| folder.is_dir() && Some(folder) != home)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Absent,
    SetUp,
    Broken,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::SetUp => "set up",
            Self::Broken => "broken",
        }
    }
}

/// The files that may have shellgate's entry, and whether they do.
fn places(agent: &Agent) -> Vec<(String, State)> {
    let File { user, project, format } = &agent.file;
    let here = project.and_then(|name| Some(std::env::current_dir().ok()?.join(name)));
    let mut places: Vec<(String, State)> = Vec::new();
    for path in user.file().into_iter().chain(here) {
        let text = super::file::require_regular(&path).and_then(|()| std::fs::read_to_string(&path));
        let state = match text.as_deref().map(|text| format.read(text.trim_start_matches('\u{feff}'))) {
            Ok(Ok(values)) if get(&values, &agent.entry_path()).is_some() => State::SetUp,
            Ok(Ok(_)) => State::Absent,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => State::Absent,
            Ok(Err(_)) | Err(_) => State::Broken,
        };
        places.push((path.display().to_string(), state));
    }
    places.dedup();
    places
}
