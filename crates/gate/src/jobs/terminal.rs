//! The terminal of a job: its size, its screen, and the processes that read it.

use std::path::Path;

use shellgate_exec::{Input, InputSender, InputState, Size, Stream};

use super::Jobs;
use super::input::{not_running, not_taken};
use crate::admit::inside::{self, RestrictedAction};
use crate::gate::session_error;
use crate::scope::ScopedGate;
use crate::text::Source;
use crate::{ErrorObject, Screen, screen};

impl ScopedGate<'_> {
    /// The input state of the execution `id`: which processes read its terminal. `None`: it doesn't run.
    ///
    /// # Errors
    /// `unknown_job` when it is outside the scope, else when a keeper can't be understood.
    pub fn reading(&self, id: &str) -> Result<Option<InputState>, ErrorObject> {
        self.check(id)?;
        let Ok(name) = id.parse() else { return Ok(None) };
        let found = InputSender::find(&self.gate.state, name).map_err(|error| session_error(&error))?;
        Ok(found.map(|(_, state)| state))
    }
}

impl Jobs<'_> {
    /// Resizes the terminal of an execution.
    ///
    /// # Errors
    /// `unknown_job` when it doesn't run, `invalid_input` when it has no terminal.
    pub fn resize(&self, id: &str, size: Size) -> Result<(), ErrorObject> {
        inside::refuse(RestrictedAction::Type)?;
        let id = self.find(id)?.id;
        let name = id.parse().map_err(|_| not_running(&id))?;
        let found = InputSender::find(self.state, name).map_err(|error| session_error(&error))?;
        let (mut sender, _) = found.ok_or_else(|| not_running(&id))?;
        let taken = sender.send(Input::Resize(size)).map_err(|error| session_error(&error))?;
        taken.map_err(|reason| not_taken(&id, reason))
    }

    /// The screen of an execution's terminal, with the codes that draw it. `None`: it has no terminal, or doesn't run.
    ///
    /// # Errors
    /// `unknown_job` when there is none.
    pub fn screen(&self, id: &str, size: Size) -> Result<Option<Screen>, ErrorObject> {
        let file = self.file(id, Stream::Stdout)?;
        let source = Source::whole(&file, Path::new(""));
        Ok(screen(&source, size.rows, size.cols))
    }
}
