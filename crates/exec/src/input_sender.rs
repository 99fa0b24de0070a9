//! Sends input to an execution, from any process of the user.

use std::io;
use std::time::{Duration, Instant};

use crate::ExecId;
use crate::input::{Input, InputState, NotTaken};
use crate::keeper_connection::KeeperConnection;
use crate::keepers;
use crate::session::SessionError;
use crate::state_folder::StateFolder;
use crate::wire::{FromKeeper, ToKeeper};

/// How long the sender waits for a command that doesn't read.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection to the keeper that holds an execution.
#[derive(Debug)]
pub struct InputSender {
    id: ExecId,
    connection: KeeperConnection,
}

impl InputSender {
    /// Finds the keeper that holds `id`, and the state of its input. `None`: no keeper holds it.
    ///
    /// # Errors
    /// When a keeper's answer is invalid or late.
    pub fn find(state: &StateFolder, id: ExecId) -> Result<Option<(Self, InputState)>, SessionError> {
        let asked = keepers::ask(state, &ToKeeper::DescribeInput(id), |_| true)?;
        for connection in asked.told {
            let mut sender = Self { id, connection };
            if let Some(reading) = sender.seen()? {
                return Ok(Some((sender, reading)));
            }
        }
        asked.failed.map_or(Ok(None), Err)
    }

    /// The state of its input. `None`: it has ended.
    ///
    /// # Errors
    /// When the keeper's answer is invalid or late.
    pub fn look(&mut self) -> Result<Option<InputState>, SessionError> {
        match self.connection.send(&ToKeeper::DescribeInput(self.id), &[]) {
            Ok(()) => self.seen(),
            Err(error) if keepers::exits(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends input, and waits until the execution has taken it.
    ///
    /// # Errors
    /// When the keeper's answer is invalid or late. The inner error says why the input was refused.
    pub fn send(&mut self, input: Input) -> Result<Result<(), NotTaken>, SessionError> {
        match self.connection.send(&ToKeeper::Type(self.id, input), &[]) {
            Ok(()) => {}
            Err(error) if keepers::exits(&error) => return Ok(Err(NotTaken::Ended)),
            Err(error) => return Err(error.into()),
        }
        let typed = self.wait(|message| match message {
            FromKeeper::Typed(taken) => Some(taken),
            _ => None,
        })?;
        Ok(typed.unwrap_or(Err(NotTaken::Ended)))
    }

    fn seen(&mut self) -> Result<Option<InputState>, SessionError> {
        let seen = self.wait(|message| match message {
            FromKeeper::InputState(reading) => Some(reading),
            _ => None,
        })?;
        Ok(seen.flatten().map(|reading| *reading))
    }

    /// Waits for the message that `take` wants. `None` when the keeper exits instead.
    fn wait<T>(&mut self, take: impl Fn(FromKeeper) -> Option<T>) -> Result<Option<T>, SessionError> {
        let until = Instant::now() + ANSWER_TIMEOUT;
        loop {
            match self.connection.next_before(until) {
                Ok(Some(message)) => {
                    if let Some(taken) = take(message) {
                        return Ok(Some(taken));
                    }
                }
                Ok(None) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
