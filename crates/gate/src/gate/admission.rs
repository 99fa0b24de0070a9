//! Whether a request may run: what it says, what the rules say, what a person says.

use shellgate_exec::{ExecId, Follow};

use shellgate_journal::Step;

use super::asking::Approval;
use super::{Gate, Refused};
use crate::artifacts;
use crate::execution::Execution;
use crate::judge::{Judgement, Verdict};
use crate::record;
use crate::report::{Asked, Report};
use crate::request::{Action, Detail, Format, Request};
use crate::root::Inside;
use crate::settings::{Network, SandboxMode};
use crate::{Code, ErrorObject};

impl Gate {
    /// Judges `request` and asks if somebody must be asked. Nothing runs yet.
    ///
    /// # Errors
    /// The answer, when it may not run.
    pub fn admit(&self, request: Request) -> Result<Admitted<'_>, Refused> {
        let id = ExecId::generate();
        let mut asked = Asked {
            id: id.to_string(),
            action: request.action.clone(),
            directory: request.directory.clone().unwrap_or_else(|| ".".to_owned()),
            detail: request.detail,
            format: request.format,
            speaks: request.speaks,
            artifacts: request.artifacts.clone(),
            terminal: request.pty.as_ref().map(|pty| pty.size),
            verdict: None,
        };
        let mut judged = None;
        let admitted = self.judged(&request, &mut asked, &mut judged);
        let admitted = admitted.and_then(|directory| {
            let judgement = judged.as_ref();
            let approval = judgement.map_or(Ok(Approval::default()), |judgement| {
                self.approve(&asked.id, &request, judgement, &directory)
            })?;
            Ok((directory, approval))
        });
        match admitted {
            Ok((directory, approval)) => {
                if let Some(verdict) = &mut asked.verdict {
                    verdict.approved_by = approval.by.as_ref().map(ToString::to_string);
                }
                Ok(Admitted { gate: self, id, request, directory, asked, judgement: judged, approval })
            }
            Err(error) => {
                self.write_refusal(&asked, &request, judged.as_ref(), &error);
                Err(Box::new(Report::refused(&asked, error)))
            }
        }
    }

    /// The same for what is typed at something that runs: asks if somebody must be asked, and writes it down.
    ///
    /// # Errors
    /// Why it may not be typed.
    pub(crate) fn admit_typed(
        &self,
        request: &Request,
        judgement: Judgement,
        directory: &Inside,
    ) -> Result<(), ErrorObject> {
        self.recorder.check()?;
        let id = ExecId::generate().to_string();
        let asked = Asked {
            id: id.clone(),
            action: request.action.clone(),
            directory: directory.shown().to_owned(),
            ..Asked::unread()
        };
        match self.approve(&id, request, &judgement, directory) {
            Ok(approval) => {
                let steps = vec![record::started(approval.by.as_ref(), None), Step::Ended(record::typed())];
                match approval.entry {
                    Some(entry) => steps.into_iter().try_for_each(|step| entry.append(step)),
                    None => {
                        let root = self.judge.root.path();
                        let entry = record::asked(request, Some(&judgement), root, directory.shown());
                        self.recorder.begin(&id, &self.session_of(request), entry, steps).map(drop)
                    }
                }
            }
            Err(error) => {
                self.write_refusal(&asked, request, Some(&judgement), &error);
                Err(error)
            }
        }
    }

    fn judged(
        &self,
        request: &Request,
        asked: &mut Asked,
        judged: &mut Option<Judgement>,
    ) -> Result<Inside, ErrorObject> {
        request.check()?;
        self.recorder.check()?;
        let directory = self.judge.root.directory(request.directory.as_deref())?;
        directory.shown().clone_into(&mut asked.directory);
        artifacts::check(&request.artifacts, &self.judge.root)?;
        self.check_sandbox()?;
        self.judge.check_words(request, &directory)?;
        let judgement = judged.insert(self.judge.judge_in(request, &directory));
        asked.verdict = Some(Verdict::of(judgement));
        Ok(directory)
    }

    /// A refusal that can't be written down is still one.
    fn write_refusal(
        &self,
        asked: &Asked,
        request: &Request,
        judgement: Option<&Judgement>,
        error: &ErrorObject,
    ) {
        let session = self.session_of(request);
        let problem = match error.code {
            Code::Canceled => Step::Ended(record::canceled(error)),
            _ => Step::Refused(record::problem(error)),
        };
        let entry = record::asked(request, judgement, self.judge.root.path(), &asked.directory);
        // With a question it is there already.
        if let Err(_unwritten) = self.recorder.begin(&asked.id, &session, entry, vec![problem.clone()])
            && let Some(journal) = self.recorder.journal()
        {
            let _ = journal.append(&asked.id, vec![problem]);
        }
    }

    /// The name of the session that a request belongs to.
    pub(super) fn session_of(&self, request: &Request) -> String {
        let name = request.chat.as_deref().and_then(|chat| self.session_name.chat(chat).ok());
        name.as_ref().unwrap_or(&self.session_name).shown().to_owned()
    }

    /// A sandbox that was asked for and isn't there is an error, never a silent nothing.
    fn check_sandbox(&self) -> Result<(), ErrorObject> {
        let sandbox = &self.judge.settings.sandbox;
        let (key, asked) = match (sandbox.mode, sandbox.network) {
            (SandboxMode::Off, Network::Allow) => return Ok(()),
            (SandboxMode::Off, network) => ("sandbox.network", network.to_string()),
            (mode, _) => ("sandbox.mode", mode.to_string()),
        };
        let origin = self.judge.settings.origin(key).map(ToString::to_string).unwrap_or_default();
        let message = format!("`{key} = \"{asked}\"` was asked for, and confinement is not built yet");
        Err(ErrorObject::new(Code::SandboxUnavailable, message)
            .token(asked.clone())
            .rule(format!("{key} = {asked} ({origin})"))
            .hint("`--sandbox off --network allow` runs the command unconfined"))
    }
}

/// A request that may run.
#[derive(Debug)]
pub struct Admitted<'a> {
    gate: &'a Gate,
    id: ExecId,
    request: Request,
    directory: Inside,
    asked: Asked,
    judgement: Option<Judgement>,
    approval: Approval,
}

impl Admitted<'_> {
    /// Hands it to the session's keeper.
    ///
    /// # Errors
    /// The answer, when nothing was started.
    pub fn start(self, follow: Follow) -> Result<Execution, Refused> {
        let Self { gate, id, request, directory, asked, judgement, approval } = self;
        let session = gate.session_of(&request);
        let entry = record::asked(&request, judgement.as_ref(), gate.judge.root.path(), directory.shown());
        let step = record::started(approval.by.as_ref(), Some(gate.state.spool_files(id)));
        let entry = match approval.entry {
            Some(entry) => entry.append(step).map(|()| Some(entry)),
            None => gate.recorder.begin(&asked.id, &session, entry, vec![step]),
        };
        let started = entry.and_then(|entry| match gate.start(id, request, &directory, follow) {
            Ok(started) => Ok((started, entry)),
            Err(error) => {
                if let Some(entry) = entry {
                    entry.not_started(&error);
                }
                Err(error)
            }
        });
        match started {
            Ok(((inner, chat), entry)) => {
                let (limits, root) = (gate.judge.settings.limits.clone(), gate.judge.root.clone());
                Ok(Execution { inner, asked, limits, root, entry, _chat: chat })
            }
            Err(error) => Err(Box::new(Report::refused(&asked, error))),
        }
    }
}

impl Asked {
    /// For an answer to something that could not be read as a request.
    pub(crate) fn unread() -> Self {
        Self {
            id: ExecId::generate().to_string(),
            action: Action::default(),
            directory: ".".to_owned(),
            detail: Detail::Minimal,
            format: Format::Json,
            speaks: false,
            artifacts: Vec::new(),
            terminal: None,
            verdict: None,
        }
    }
}
