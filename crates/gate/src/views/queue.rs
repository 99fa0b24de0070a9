//! A question in the queue, for programs.

use std::collections::BTreeMap;

use serde::Serialize;
use shellgate_journal::calendar::exact;
use shellgate_journal::{
    QuestionId, QueuedQuestion, RecordedPart, RecordedReason, RecordedStdin, SettingsLines,
};

use super::QuestionView;

/// A question that waits in the queue, as `approvals list --json` prints it.
#[derive(Debug, Serialize)]
pub struct QueuedQuestionView<'a> {
    id: &'a QuestionId,
    exec_id: &'a str,
    session: &'a str,
    at: String,
    expires_at: Option<String>,
    command: &'a str,
    argv: Option<&'a Vec<String>>,
    description: Option<&'a str>,
    effects: &'a [String],
    dialect: &'a str,
    root: &'a str,
    directory: &'a str,
    reasons: &'a [RecordedReason],
    parts: &'a [RecordedPart],
    prefixes: &'a [Vec<String>],
    always: Option<&'a SettingsLines>,
    always_exact: Option<&'a SettingsLines>,
    grant_until: Option<String>,
    reach: &'a [String],
    env: &'a BTreeMap<String, String>,
    input: Option<&'a RecordedStdin>,
    background: bool,
    choices: Vec<&'static str>,
}

impl<'a> QueuedQuestionView<'a> {
    /// The view of a question.
    #[must_use]
    pub fn of(queued: &'a QueuedQuestion) -> Self {
        let QueuedQuestion { id, exec_id, session, at, asked, question } = queued;
        let answers = QuestionView::of_queued(queued).answers();
        let approvals = answers.iter().filter(|answer| answer.kind.choice().is_some());
        Self {
            id,
            exec_id,
            session,
            at: exact(*at),
            expires_at: question.expires_at.map(exact),
            command: &asked.text,
            argv: asked.argv.as_ref(),
            description: asked.description.as_deref(),
            effects: &question.effects,
            dialect: &asked.dialect,
            root: &asked.root,
            directory: &asked.directory,
            reasons: &asked.verdict.reasons,
            parts: &question.parts,
            prefixes: &question.prefixes,
            always: question.always.as_ref(),
            always_exact: question.always_exact.as_ref(),
            grant_until: question.grant_until.map(exact),
            reach: &question.reach,
            env: &question.env,
            input: question.input.as_ref(),
            background: question.background,
            choices: approvals.map(|answer| answer.kind.name()).collect(),
        }
    }
}
