//! Somebody who types at an execution, from whatever process.

use std::io;
use std::time::{Duration, Instant};

use crate::ExecId;
use crate::input::{Input, InputState, NotTaken};
use crate::keeper_connection::KeeperConnection;
use crate::keepers;
use crate::session::SessionError;
use crate::state_folder::StateFolder;
use crate::wire::{FromKeeper, ToKeeper};

/// How long a command that doesn't read is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection to the keeper that holds an execution.
#[derive(Debug)]
pub struct InputSender {
    id: ExecId,
    connection: KeeperConnection,
}

impl InputSender {
    /// Finds the keeper that holds `id`, and says how its input stands. `None`: nobody holds it.
    ///
    /// # Errors
    /// When a keeper can't be understood.
    pub fn find(state: &StateFolder, id: ExecId) -> Result<Option<(Self, InputState)>, SessionError> {
        for connection in keepers::ask(state, &ToKeeper::Look(id), |_| true)? {
            let mut sender = Self { id, connection };
            if let Some(reading) = sender.seen()? {
                return Ok(Some((sender, reading)));
            }
        }
        Ok(None)
    }

    /// How its input stands. `None`: it has ended.
    ///
    /// # Errors
    /// When the keeper can't be understood.
    pub fn look(&mut self) -> Result<Option<InputState>, SessionError> {
        match self.connection.send(&ToKeeper::Look(self.id), &[]) {
            Ok(()) => self.seen(),
            Err(_gone) => Ok(None),
        }
    }

    /// Types, and waits until that is taken.
    ///
    /// # Errors
    /// When the keeper can't be understood. The inner error says why it wasn't taken.
    pub fn send(&mut self, input: Input) -> Result<Result<(), NotTaken>, SessionError> {
        if self.connection.send(&ToKeeper::Type(self.id, input), &[]).is_err() {
            return Ok(Err(NotTaken::Ended));
        }
        let typed = self.wait(|message| match message {
            FromKeeper::Typed(taken) => Some(taken),
            _ => None,
        })?;
        Ok(typed.unwrap_or(Err(NotTaken::Ended)))
    }

    fn seen(&mut self) -> Result<Option<InputState>, SessionError> {
        let seen = self.wait(|message| match message {
            FromKeeper::Seen(reading) => Some(reading),
            _ => None,
        })?;
        Ok(seen.flatten().map(|reading| *reading))
    }

    /// The message that `take` wants; `None` when the keeper leaves instead.
    fn wait<T>(&mut self, take: impl Fn(FromKeeper) -> Option<T>) -> Result<Option<T>, SessionError> {
        let until = Instant::now() + PATIENCE;
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
