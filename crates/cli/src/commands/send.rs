//! `shellgate send`: types text and keys into a job's terminal.

use std::process::ExitCode;

use serde_json::json;
use shellgate::inside::{self, RestrictedAction};
use shellgate::jobs::{InputItem, Key};
use shellgate::request::Detail;
use shellgate::{ErrorObject, RecordStore, Scope};

use crate::args::SendArgs;
use crate::error::{self, CliError};
use crate::output;
use crate::prompt::TerminalApprover;
use crate::queue_approver::{LocalChannel, QueueApprover, local_channel};

pub(super) fn send(args: &SendArgs) -> ExitCode {
    output::choose_color(args.common.color);
    error::finish(sent(args))
}

fn sent(args: &SendArgs) -> Result<(), CliError> {
    inside::refuse(RestrictedAction::Type)?;
    let strokes = strokes(args)?;
    let record = RecordStore::open(None)?;
    let id = record.find(&args.id)?;
    let execution = record.journal().execution(&id).map_err(super::unreadable)?;
    let execution = execution.ok_or_else(|| CliError::unknown(&id))?;
    let root = execution.asked.map(|asked| asked.root);
    let mut builder = super::builder(&args.common);
    if args.common.session.is_none() && root.as_ref() != Some(&execution.session) {
        builder = builder.session(&execution.session);
    }
    // The rules of the project that the job runs in apply.
    if let Some(root) = root.filter(|_| args.common.root.is_none()) {
        builder = builder.root(root);
    }
    let gate = builder.build()?;
    let gate = match local_channel(gate.settings()) {
        Some(LocalChannel::Terminal) => gate.with_approver(TerminalApprover),
        Some(LocalChannel::Queue) => gate.with_approver(QueueApprover::default()),
        None => gate,
    };
    gate.scoped(&Scope::User)?.type_at(&id, &strokes)?;
    if args.common.json {
        let report = record.jobs(None).report(&id, Detail::Minimal)?;
        output::print_json(&json!({"id": report.id, "status": report.status}))?;
    }
    Ok(())
}

fn strokes(args: &SendArgs) -> Result<Vec<InputItem>, ErrorObject> {
    let mut strokes = Vec::new();
    if let Some(text) = &args.text {
        let end = if args.no_newline { "" } else { "\n" };
        strokes.push(InputItem::Text(format!("{text}{end}")));
    }
    for name in &args.key {
        strokes.push(InputItem::Key(Key::named(name)?));
    }
    if args.eof {
        strokes.push(InputItem::EndOfInput);
    }
    Ok(strokes)
}
