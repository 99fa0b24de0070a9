//! Asking a person, and remembering what they said.

use std::time::Duration;

use shellgate_journal::{self as journal, Answered, Answering, Grant, Scope};

use super::Gate;
use crate::approval::{self, Always, Answer, ApprovedBy, Approver, Channel, Choice, Question, Waiting};
use crate::inside;
use crate::judge::{self, Decision, Judgement};
use crate::record::{self, Entry};
use crate::request::{Action, Request, Stdin};
use crate::root::Inside;
use crate::settings::ApprovalMode;
use crate::{Code, ErrorObject};

/// What a yes left behind.
#[derive(Debug, Default)]
pub(super) struct Approval {
    /// Who said it. `None`: nobody had to.
    pub(super) by: Option<ApprovedBy>,
    /// The entry in the record, when the question made one.
    pub(super) entry: Option<Entry>,
}

impl Gate {
    /// Who approved it, when somebody had to.
    pub(super) fn approve(
        &self,
        id: &str,
        request: &Request,
        judgement: &Judgement,
        directory: &Inside,
    ) -> Result<Approval, ErrorObject> {
        match judgement.decision {
            Decision::Allow => return Ok(Approval::default()),
            Decision::Deny => return Err(judge::denied(judgement)),
            Decision::Ask => {}
        }
        let refused = |code, why: &str| Err(judge::not_approved(code, judgement, why));
        match self.judge.settings.approval.mode {
            Some(ApprovalMode::Allow) => {
                let origin = self.judge.settings.origin("approval.mode").map(ToString::to_string);
                let who = format!("approval.mode = allow ({})", origin.unwrap_or_default());
                return Ok(Approval {
                    by: Some(ApprovedBy { who, channel: Channel::Settings }),
                    entry: None,
                });
            }
            Some(ApprovalMode::Deny) => {
                return refused(Code::DeniedByPolicy, "`approval.mode` is `deny`, so nobody is asked");
            }
            Some(ApprovalMode::Ask | ApprovalMode::OnNeed) | None => {}
        }
        if let Some(by) = self.granted(request, directory) {
            return Ok(Approval { by: Some(by), entry: None });
        }
        let Some(approver) = self.approver.as_deref() else {
            return refused(Code::ApprovalUnavailable, "nobody is there to ask");
        };
        // Below a keeper, whatever terminal there is may be the command's own.
        if inside::is_inside() && approver.channel() != Channel::Queue {
            return refused(Code::ApprovalUnavailable, "a command that shellgate runs can't approve another");
        }
        let asking = self.asking(request, judgement, directory);
        let (answer, entry) = self.ask(id, &asking.question(), approver)?;
        let by = ApprovedBy { who: approval::user(), channel: approver.channel() };
        match answer {
            Answer::Yes(_) => Ok(Approval { by: Some(by), entry }),
            Answer::No(None) => refused(Code::DeniedByUser, "the user said no"),
            Answer::No(Some(reason)) => refused(Code::DeniedByUser, &format!("the user said no: {reason}")),
            Answer::Nobody => refused(Code::ApprovalUnavailable, "nobody is there to ask"),
            Answer::TimedOut => refused(Code::ApprovalTimeout, "nobody answered in time"),
            Answer::Canceled => {
                Err(ErrorObject::new(Code::Canceled, "the command was canceled before anybody approved it"))
            }
        }
    }

    /// Whether somebody said yes to this before, in this session, root and directory.
    fn granted(&self, request: &Request, directory: &Inside) -> Option<ApprovedBy> {
        let root = self.judge.root.path().display().to_string();
        let session = self.session_of(request);
        let grants =
            self.recorder.journal()?.grants(&session, &root, directory.shown(), record::now()).ok()?;
        let exactly = exact(request);
        let mut prefixes = Vec::new();
        for grant in grants {
            match grant.scope {
                scope @ Scope::Exact { .. } if scope == exactly => return Some(of_session()),
                Scope::Exact { .. } => {}
                Scope::Prefix(prefix) => prefixes.push(prefix),
            }
        }
        // With these prefixes allowed, the rules must be content with all of it.
        let judgement =
            (!prefixes.is_empty()).then(|| self.judge.judge_with(request, directory, &prefixes))?;
        (judgement.decision == Decision::Allow).then(of_session)
    }

    fn asking<'a>(
        &'a self,
        request: &'a Request,
        judgement: &'a Judgement,
        directory: &'a Inside,
    ) -> Asking<'a> {
        let prefixes = approval::prefixes(judgement);
        Asking {
            request,
            judgement,
            root: self.judge.root.path(),
            directory: directory.shown(),
            session: self.session_of(request),
            exact: exact(request),
            always: Always::new(&prefixes),
            prefixes,
            reach: vec!["it is not confined: it can do whatever you can".to_owned()],
            timeout: Duration::from_secs(self.judge.settings.approval.timeout_s),
        }
    }

    /// Puts the question into the record, asks, and writes the answer down.
    fn ask(
        &self,
        id: &str,
        question: &Question<'_>,
        approver: &dyn Approver,
    ) -> Result<(Answer, Option<Entry>), ErrorObject> {
        let asked =
            record::asked(question.request, Some(question.judgement), question.root, question.directory);
        let entry = self.recorder.begin(id, question.session, asked, Vec::new())?;
        let Some(entry) = entry else {
            return Ok((approver.ask(question, Waiting { record: None }), None));
        };
        let journal = entry.journal();
        let unwritable = |error: journal::Error| record::unwritable(&error.to_string());
        let lying = journal.ask(id, record::question(question)).map_err(unwritable)?;
        let waiting = Waiting { record: Some((journal, lying)) };
        let answer = approver.ask(question, waiting);
        if answer == Answer::TimedOut {
            let settled = journal.time_out(lying).map_err(unwritable)?;
            return Ok((counting(answer, settled, waiting), Some(entry)));
        }
        if approver.channel() == Channel::Queue {
            // A yes from there is one that lies there.
            let answer = match answer {
                Answer::Yes(_) => waiting.poll().unwrap_or(Answer::Nobody),
                answer => answer,
            };
            return Ok((answer, Some(entry)));
        }
        let Some(choice) = said(&answer, question) else {
            return Ok((answer, Some(entry)));
        };
        if let (Answer::Yes(Choice::Always), Some(always)) = (&answer, question.always) {
            always.write().map_err(|error| {
                let message = format!("`{}` can't be written: {error}", always.file.display());
                ErrorObject::new(Code::Config, message).hint("say yes for this session instead")
            })?;
        }
        let answered = Answered { choice, by: approval::user(), channel: journal::Channel::Terminal };
        let settled = journal.answer(lying, answered, grants(&answer, question)).map_err(unwritable)?;
        Ok((counting(answer, settled, waiting), Some(entry)))
    }
}

/// The answer that counts: ours, unless somebody else was faster.
fn counting(ours: Answer, settled: Answering, waiting: Waiting<'_>) -> Answer {
    match settled {
        Answering::Taken(_) => ours,
        Answering::TooLate(_) => waiting.poll().unwrap_or(Answer::Nobody),
    }
}

/// A question, with what it is made of.
struct Asking<'a> {
    request: &'a Request,
    judgement: &'a Judgement,
    root: &'a std::path::Path,
    directory: &'a str,
    session: String,
    exact: Scope,
    prefixes: Vec<Vec<String>>,
    always: Option<Always>,
    reach: Vec<String>,
    timeout: Duration,
}

impl Asking<'_> {
    fn question(&self) -> Question<'_> {
        Question {
            request: self.request,
            judgement: self.judgement,
            root: self.root,
            directory: self.directory,
            session: &self.session,
            exact: &self.exact,
            prefixes: &self.prefixes,
            always: self.always.as_ref(),
            reach: &self.reach,
            timeout: self.timeout,
        }
    }
}

fn of_session() -> ApprovedBy {
    ApprovedBy { who: "an approval for this session".to_owned(), channel: Channel::Settings }
}

/// Exactly this, as a grant says it.
fn exact(request: &Request) -> Scope {
    let argv = match &request.action {
        Action::Program(argv) => Some(argv.clone()),
        Action::Shell(_) => None,
    };
    // What it is given besides its words is part of what was approved.
    let stdin = match &request.stdin {
        Stdin::Closed => None,
        Stdin::Text(text) => Some(text.as_str()),
        Stdin::Descriptor(_) => Some("unknown"),
    };
    let mut text = request.action.shown();
    if stdin.is_some() || !request.env.is_empty() {
        text.push_str(&format!("\n{}", serde_json::json!({"env": request.env, "stdin": stdin})));
    }
    Scope::Exact { text, argv }
}

/// What a yes grants beyond this call.
fn grants(answer: &Answer, question: &Question<'_>) -> Vec<Grant> {
    let grant = |scope| Grant {
        root: question.root.display().to_string(),
        directory: question.directory.to_owned(),
        scope,
        expires_at: None,
    };
    match answer {
        Answer::Yes(Choice::SessionExact) => vec![grant(question.exact.clone())],
        Answer::Yes(Choice::SessionPrefix) => {
            question.prefixes.iter().map(|prefix| grant(Scope::Prefix(prefix.clone()))).collect()
        }
        _ => Vec::new(),
    }
}

/// What was said, as the record has it. `None`: nothing was.
fn said(answer: &Answer, question: &Question<'_>) -> Option<journal::Choice> {
    Some(match answer {
        Answer::Yes(Choice::Once) => journal::Choice::Once,
        Answer::Yes(Choice::SessionExact) => journal::Choice::SessionExact,
        Answer::Yes(Choice::SessionPrefix) => journal::Choice::SessionPrefix(question.prefixes.to_vec()),
        Answer::Yes(Choice::Always) => journal::Choice::Always(record::always(question.always?)),
        Answer::No(None) => journal::Choice::No,
        Answer::No(Some(reason)) => journal::Choice::NoBecause(reason.clone()),
        Answer::Nobody | Answer::TimedOut | Answer::Canceled => return None,
    })
}
