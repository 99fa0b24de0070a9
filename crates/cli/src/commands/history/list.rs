//! `shellgate history`: lists executions, newest first.

use serde_json::json;
use shellgate::RecordStore;
use shellgate::journal::{PastExecution, Query};
use shellgate::views::{ExecutionView, status_style};

use crate::args::ListArgs;
use crate::error::CliError;
use crate::output::{self, style_code};
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
        let summaries: Vec<_> =
            found.iter().map(|execution| ExecutionView::new(execution, &[]).summary()).collect();
        return output::print_json(&json!(summaries));
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
    let view = ExecutionView::new(execution, &[]);
    [
        execution.id.as_str().into(),
        when.into(),
        Cell::colored(view.status(), style_code(status_style(execution.status))),
        view.command().into(),
    ]
}
