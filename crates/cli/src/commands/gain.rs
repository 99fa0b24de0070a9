//! `shellgate gain`: what answers cost models in tokens, and what was saved.

use std::process::ExitCode;

use serde_json::json;
use shellgate::RecordStore;
use shellgate::journal::Query;
use shellgate::views::GainView;

use crate::args::GainArgs;
use crate::error::{self, CliError};
use crate::{output, time};

/// How long ago the answers of the second table are at most.
const PERIOD: &str = "7d";

pub(super) fn gain(args: GainArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(show(args))
}

fn show(args: GainArgs) -> Result<(), CliError> {
    let record = RecordStore::open(None)?;
    let session = args.session.or_else(default_session).unwrap_or_default();
    let of_session = record.gain(&Query { session: Some(session.clone()), ..Query::default() })?;
    let of_week = record.gain(&Query { since: time::parse(PERIOD).ok(), ..Query::default() })?;
    if args.shown.json {
        let facts = json!({"session": {"name": session, "gain": of_session}, "week": of_week});
        return output::print_json(&facts);
    }
    let mut lines = GainView::new(&format!("session {session}"), &of_session).lines();
    lines.push(String::new().into());
    lines.extend(GainView::new("all sessions, last 7 days", &of_week).lines());
    output::print_lines(&lines)
}

/// The session that commands in this folder belong to, unless they are given another.
fn default_session() -> Option<String> {
    let named = std::env::var("SHELLGATE_SESSION").ok().filter(|name| !name.is_empty());
    named.or_else(|| Some(std::env::current_dir().ok()?.canonicalize().ok()?.display().to_string()))
}
