//! A call by the name of its execution: how it stands, and, when it is over, the answer that it would have had if somebody
//! had waited for it. All of it comes from the record, the keeper and the spool, so whoever asks need not be the process
//! that made the call.

use shellgate_exec::Job;
use shellgate_journal::{Execution, Millis, Shows, Status};

use super::{Jobs, Listed, unknown};
use crate::dialect::Dialect;
use crate::gate::{Gate, session_error};
use crate::report::{Background, Report};
use crate::request::Detail;
use crate::{ErrorObject, artifacts, record};

/// A call, however long ago it was made.
#[derive(Debug)]
pub struct Call {
    /// The name of its execution.
    pub id: String,
    /// The session that it belongs to.
    pub session: String,
    /// The form in which it came.
    pub dialect: &'static Dialect,
    /// When it was made, in milliseconds since 1970.
    pub made_at: u64,
    /// When something last happened to it.
    pub changed_at: u64,
    /// How it stands.
    pub stands: Stands,
}

/// How a call stands.
#[derive(Debug)]
pub enum Stands {
    /// Somebody must say yes first.
    Asked,
    /// It goes on.
    GoesOn(Box<Listed>),
    /// It is over, and this is its answer.
    Over(Box<Report>),
}

impl Gate {
    /// The call whose execution has exactly this name.
    ///
    /// # Errors
    /// `unknown_job` when this session has none.
    pub fn call_named(&self, id: &str) -> Result<Call, ErrorObject> {
        let jobs = self.jobs()?;
        let execution = jobs.exactly(id)?;
        let held = shellgate_exec::jobs(jobs.state).map_err(|error| session_error(&error))?;
        let job = held.iter().find(|job| job.id.to_string() == execution.id);
        let (stands, changed_at) = match job {
            Some(job) if !job.bond.is_leftover() => {
                let listed = jobs.held(job, Some(&execution));
                let silence = Millis::try_from(job.silence.as_millis()).unwrap_or(0);
                (Stands::GoesOn(Box::new(listed)), record::now().saturating_sub(silence))
            }
            left => {
                // It may have ended between the two looks.
                jobs.settle();
                let execution = jobs.exactly(id)?;
                let ended = execution.ended.as_ref().map(|ended| ended.ended_at);
                let stands = match execution.status {
                    Status::Asked => Stands::Asked,
                    // It is about to be held, or its end about to be written.
                    Status::Running => Stands::GoesOn(Box::new(jobs.gone(&execution))),
                    _ => Stands::Over(Box::new(self.answer(&jobs, &execution, left))),
                };
                (stands, ended.unwrap_or(execution.at))
            }
        };
        let dialect = execution.asked.as_ref().and_then(|asked| Dialect::named(&asked.dialect));
        Ok(Call {
            dialect: dialect.unwrap_or(Dialect::SHELLGATE),
            made_at: u64::try_from(execution.at).unwrap_or(0),
            changed_at: u64::try_from(changed_at).unwrap_or(0),
            id: execution.id,
            session: execution.session,
            stands,
        })
    }

    /// The answer to a call that is over, written as the call wanted it.
    fn answer(&self, jobs: &Jobs<'_>, execution: &Execution, left: Option<&Job>) -> Report {
        let asked = execution.asked.as_ref();
        let detail = match asked.and_then(|asked| asked.wanted.shows) {
            None => Detail::Minimal,
            Some(Shows::All) => Detail::Full,
            Some(Shows::Preview) => Detail::Preview,
        };
        let mut report = jobs.over(execution, detail);
        if let Some(left) = left {
            report.background = left.processes.iter().map(Background::of).collect();
            report.job = Some(execution.id.clone());
        }
        // As they are now: a file may have changed since the command ended.
        let root = &self.judge.root;
        let here = |asked: &&shellgate_journal::Asked| asked.root == root.path().display().to_string();
        let artifacts = match asked.filter(here) {
            Some(asked) if report.pid.is_some() => artifacts::collect(&asked.wanted.artifacts, root),
            _ => Vec::new(),
        };
        Report { artifacts, ..report }
    }
}

impl Jobs<'_> {
    /// The execution that has this name, all of it.
    fn exactly(&self, id: &str) -> Result<Execution, ErrorObject> {
        self.find(id).and_then(|found| if found.id == id { Ok(found) } else { Err(unknown(id)) })
    }
}
