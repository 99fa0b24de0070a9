//! `shellgate history`: past executions.

mod forget;
mod list;
mod show;

use std::process::ExitCode;

use crate::args::{HistoryArgs, HistoryCommand};
use crate::{error, output};

pub(super) fn history(args: HistoryArgs) -> ExitCode {
    error::finish(match args.command {
        None => {
            output::choose_color(args.list.shown.color);
            list::list(args.list)
        }
        Some(HistoryCommand::Show { id, answer: true, shown, .. }) => {
            output::choose_color(shown.color);
            show::answer(&id)
        }
        Some(HistoryCommand::Show { id, raw, shown, .. }) => {
            output::choose_color(shown.color);
            show::show(&id, raw, shown.json)
        }
        Some(HistoryCommand::Forget { id, shown }) => {
            output::choose_color(shown.color);
            forget::forget(&id, shown.json)
        }
    })
}
