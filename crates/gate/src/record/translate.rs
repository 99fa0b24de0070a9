//! Translating between the gate's types and the contents of entries.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};
use shellgate_exec::{Exit, Outcome, Output, PerStream, State, Stream};
use shellgate_journal::{
    self as journal, EndStatus, Millis, RecordedEnd, RecordedError, RecordedRequest, Sha,
};

use super::kept_output::{KeptOutput, text_stream};
use crate::admit::approval::{Always, ApprovedBy, Question};
use crate::admit::judge::{Decision, Span, Verdict};
use crate::answer::denials::SandboxContext;
use crate::answer::effects;
use crate::intake::request::{Action, Detail, Format, Request, Stdin};
use crate::views::effect_phrases;
use crate::{Code, ErrorObject};

/// The current time, as it is written to entries.
pub(crate) fn now() -> Millis {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(now.as_millis()).unwrap_or(Millis::MAX)
}

/// The entry of a request. `verdict` is `None` when the request was refused before it was judged.
pub(crate) fn asked(
    request: &Request,
    verdict: Option<&Verdict>,
    root: &std::path::Path,
    directory: &str,
) -> RecordedRequest {
    let verdict = verdict.map_or(
        journal::RecordedVerdict {
            decision: journal::RecordedDecision::Deny,
            rules: Vec::new(),
            reasons: Vec::new(),
        },
        recorded_verdict,
    );
    RecordedRequest {
        dialect: request.dialect.to_owned(),
        text: request.action.shown(),
        argv: match &request.action {
            Action::Program(argv) => Some(argv.clone()),
            Action::Shell(_) => None,
        },
        request: None,
        description: (request.description.is_some() || request.background)
            .then(|| request.shown_description()),
        root: root.display().to_string(),
        directory: directory.to_owned(),
        verdict,
        wanted: journal::AnswerOptions {
            shows: match request.detail {
                Detail::Minimal => request.raw.then_some(journal::OutputDetail::Raw),
                Detail::Full => Some(journal::OutputDetail::All),
                Detail::Preview => Some(journal::OutputDetail::Preview),
            },
            markdown: request.format == Format::Markdown,
            text: request.format == Format::Text,
            artifacts: request.artifacts.clone(),
            background: request.background,
        },
        asker: Some(super::own_identity()),
    }
}

/// The action of a recorded request.
pub(crate) fn action(asked: &RecordedRequest) -> Action {
    asked.argv.clone().map_or_else(|| Action::Shell(asked.text.clone()), Action::Program)
}

/// A decision as the journal stores it. The journal has its own type, so that its format doesn't depend on the rules.
fn recorded_decision(decision: Decision) -> journal::RecordedDecision {
    match decision {
        Decision::Allow => journal::RecordedDecision::Allow,
        Decision::Ask => journal::RecordedDecision::Ask,
        Decision::Deny => journal::RecordedDecision::Deny,
    }
}

/// A decision from the journal.
pub(crate) fn decision(recorded: journal::RecordedDecision) -> Decision {
    match recorded {
        journal::RecordedDecision::Allow => Decision::Allow,
        journal::RecordedDecision::Ask => Decision::Ask,
        journal::RecordedDecision::Deny => Decision::Deny,
    }
}

fn recorded_verdict(verdict: &Verdict) -> journal::RecordedVerdict {
    let reasons = verdict.reasons().iter().map(|reason| journal::RecordedReason {
        code: reason.code.name().to_owned(),
        message: reason.message.clone(),
        span: Some(bytes(reason.span)),
        rule: reason.rule.clone(),
    });
    journal::RecordedVerdict {
        decision: recorded_decision(verdict.decision()),
        rules: crate::admit::judge::VerdictSummary::of(verdict).rules,
        reasons: reasons.collect(),
    }
}

/// A place in a text, as it is written to entries.
fn bytes(span: Span) -> (u64, u64) {
    (span.start as u64, span.end as u64)
}

/// An error, as it is written to entries.
pub(crate) fn problem(error: &ErrorObject) -> RecordedError {
    RecordedError {
        code: error.code.to_string(),
        message: error.message.clone(),
        token: error.token.clone(),
        rule: error.rule.clone(),
        hint: error.hint.as_ref().map(ToString::to_string),
    }
}

pub(super) fn approved_by(approved: &ApprovedBy) -> journal::RecordedApproval {
    journal::RecordedApproval {
        who: approved.who.clone(),
        channel: approved.channel,
        question: None,
        remark: approved.remark.clone(),
    }
}

/// The entry for an execution that has ended. `error`: what its caller is told went wrong.
pub(super) fn ended(
    outcome: &Outcome,
    error: Option<ErrorObject>,
    output: &KeptOutput<'_>,
    at: Millis,
) -> RecordedEnd {
    let stream = |stream: Stream| match output {
        KeptOutput::Texts(texts) => text_stream(texts.get(stream)),
        KeptOutput::Files(spool) => {
            let path = spool.paths.as_ref().map(|paths| paths.get(stream).display().to_string());
            self::stream(outcome.output.get(stream), spool.files.get(stream), path)
        }
    };
    end(outcome, error, at, PerStream { stdout: stream(Stream::Stdout), stderr: stream(Stream::Stderr) })
}

/// The entry for an execution that ended at `at`.
pub(super) fn end(
    outcome: &Outcome,
    error: Option<ErrorObject>,
    at: Millis,
    streams: PerStream<journal::RecordedStream>,
) -> RecordedEnd {
    let (exit_code, signal) = match outcome.exit {
        Some(Exit::Code(code)) => (Some(code), None),
        Some(Exit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let duration = Millis::try_from(outcome.duration.as_millis()).unwrap_or(0);
    RecordedEnd {
        status: match outcome.state {
            State::Completed => EndStatus::Completed,
            State::Canceled => EndStatus::Canceled,
            State::TimedOut => EndStatus::TimedOut,
            _ => EndStatus::Failed,
        },
        exit_code,
        signal,
        // That it was canceled is what `status` says.
        error: error.filter(|error| error.code != Code::Canceled).as_ref().map(problem).map(Box::new),
        pid: outcome.pid,
        started_at: outcome.pid.map(|_| at.saturating_sub(duration)),
        ended_at: at,
        stdout: streams.stdout,
        stderr: streams.stderr,
        job: false,
        times: Vec::new(),
        denials: None,
        omitted_denials: 0,
        shown: None,
        effects: None,
    }
}

/// The end with what the sandbox refused.
pub(super) fn with_denials(
    end: RecordedEnd,
    sandbox: Option<&SandboxContext>,
    outcome: &Outcome,
) -> RecordedEnd {
    let (Some(sandbox), Some(denials)) = (sandbox, &outcome.denials) else { return end };
    let explained = sandbox.explain(denials);
    RecordedEnd {
        denials: Some(explained.iter().map(journal::RecordedDenial::from).collect()),
        omitted_denials: denials.more,
        effects: outcome.effects.as_ref().map(|effects| Box::new(effects::recorded(effects, sandbox.root()))),
        ..end
    }
}

pub(super) fn stream(output: &Output, file: &File, path: Option<String>) -> journal::RecordedStream {
    journal::RecordedStream {
        bytes: output.total,
        spooled: output.spooled,
        sha256: path.as_ref().and_then(|_| hash(file, output.spooled)),
        file: path,
        text: None,
    }
}

/// The hash of the first `length` bytes of a file.
fn hash(file: &File, length: u64) -> Option<Sha> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; usize::try_from(length.min(256 << 10)).unwrap_or(0)];
    let mut at = 0;
    while at < length {
        let want = usize::try_from(length - at).unwrap_or(usize::MAX).min(buffer.len());
        let read = file.read_at(buffer.get_mut(..want)?, at).ok().filter(|read| *read > 0)?;
        hash.update(buffer.get(..read)?);
        at += read as u64;
    }
    Some(Sha(hash.finalize().into()))
}

/// The end of an execution that could not be started.
pub(super) fn not_started(error: &ErrorObject) -> RecordedEnd {
    RecordedEnd {
        status: EndStatus::Failed,
        exit_code: None,
        signal: None,
        error: Some(Box::new(problem(error))),
        pid: None,
        started_at: None,
        ended_at: now(),
        stdout: journal::RecordedStream::default(),
        stderr: journal::RecordedStream::default(),
        job: false,
        times: Vec::new(),
        denials: None,
        omitted_denials: 0,
        shown: None,
        effects: None,
    }
}

/// The end of an input to a running job: it has ended as soon as it was sent.
pub(crate) fn typed() -> RecordedEnd {
    RecordedEnd {
        status: EndStatus::Completed,
        exit_code: None,
        signal: None,
        error: None,
        pid: None,
        started_at: None,
        ended_at: now(),
        stdout: journal::RecordedStream::default(),
        stderr: journal::RecordedStream::default(),
        job: false,
        times: Vec::new(),
        denials: None,
        omitted_denials: 0,
        shown: None,
        effects: None,
    }
}

/// The end of a request that was canceled while its question was pending.
pub(crate) fn canceled(error: &ErrorObject) -> RecordedEnd {
    RecordedEnd { status: EndStatus::Canceled, ..not_started(error) }
}

/// The entry of a question.
pub(crate) fn question(question: &Question<'_>) -> journal::RecordedQuestion {
    let request = question.request;
    let parts = question.parts().map(|part| journal::RecordedPart {
        text: part.text.clone(),
        argv: part.argv.clone(),
        reason: part.reason.clone(),
        span: Some(bytes(part.span)),
    });
    let timeout = Millis::try_from(question.timeout.as_millis()).unwrap_or(Millis::MAX);
    journal::RecordedQuestion {
        parts: parts.collect(),
        prefixes: question.prefixes.to_vec(),
        exact: Some(question.exact.clone()),
        always: question.always.map(always),
        always_exact: question.always_exact.map(always),
        grant_until: Some(question.grant_until),
        env: request.env.clone(),
        input: match &request.stdin {
            Stdin::Closed => None,
            Stdin::Text(text) => Some(journal::RecordedStdin::Text(text.clone())),
            Stdin::Descriptor(_) => Some(journal::RecordedStdin::Unread),
        },
        background: request.background,
        effects: effect_phrases(question.verdict.parts().iter().flat_map(|part| &part.effects)),
        reach: question.reach.to_vec(),
        asker: super::own_identity(),
        expires_at: Some(now().saturating_add(timeout)),
    }
}

/// Lines for the settings, as they are written to entries.
fn always(always: &Always) -> journal::SettingsLines {
    journal::SettingsLines { file: always.file.display().to_string(), lines: always.lines.clone() }
}
