//! `shellgate history`: lists executions, newest first.

use shellgate::RecordStore;
use shellgate::journal::{PastExecution, Query};

use super::story;
use crate::args::ListArgs;
use crate::error::CliError;
use crate::output::{self, escape};
use crate::table::{self, Cell, table};
use crate::time;

pub(super) fn list(args: ListArgs) -> Result<(), CliError> {
    let record = RecordStore::open(None)?;
    let query = Query {
        session: args.session,
        statuses: args.status,
        since: args.since,
        until: args.until,
        containing: args.search,
        before: None,
        limit: args.limit,
    };
    let found = record.history(&query)?;
    if args.shown.json {
        return output::print_json(&found.iter().map(story::summary).collect::<Vec<_>>().into());
    }
    if found.is_empty() {
        output::print_message("nothing found");
        return Ok(());
    }
    let width = table::width();
    let rows: Vec<[Cell; 4]> = found.iter().map(|execution| row(execution, width.is_some())).collect();
    output::print(&table(["ID", "WHEN (UTC)", "STATUS", "COMMAND"], &rows, width))
}

fn row(execution: &PastExecution, narrow: bool) -> [Cell; 4] {
    let mut when = time::format(execution.at);
    if narrow {
        // Month, day, hour and minute.
        when = when.chars().skip(5).take(11).collect();
    }
    let command = execution.asked.as_ref().map_or("(forgotten)", |asked| &asked.text);
    [
        execution.id.as_str().into(),
        when.into(),
        Cell::colored(story::status(execution), story::color(execution.status)),
        escape(command).into(),
    ]
}
