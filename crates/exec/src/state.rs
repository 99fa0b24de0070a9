//! The seven states of an execution, and the moves between them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The state of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for its turn. No timeout runs.
    Queued,
    /// Its turn has come. Its process is being created.
    Starting,
    /// Its process runs.
    Running,
    /// Ended with exit code 0.
    Completed,
    /// Ended with another exit code or by a signal, or never started.
    Failed,
    /// Stopped on request, or because its caller went away.
    Canceled,
    /// Stopped because a timeout expired.
    TimedOut,
}

/// A transition between states that doesn't exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an execution can't go from {from} to {to}")]
pub struct IllegalMove {
    /// The state it is in.
    pub from: State,
    /// The state that was asked for.
    pub to: State,
}

impl State {
    /// All states.
    pub const ALL: [Self; 7] = [
        Self::Queued,
        Self::Starting,
        Self::Running,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::TimedOut,
    ];

    /// The states that may follow this one.
    #[must_use]
    pub const fn next(self) -> &'static [Self] {
        match self {
            Self::Queued => &[Self::Starting, Self::Failed, Self::Canceled],
            Self::Starting => &[Self::Running, Self::Failed],
            Self::Running => &[Self::Completed, Self::Failed, Self::Canceled, Self::TimedOut],
            Self::Completed | Self::Failed | Self::Canceled | Self::TimedOut => &[],
        }
    }

    /// Goes to another state.
    ///
    /// # Errors
    /// When `to` isn't among [`next`](Self::next).
    pub fn advance(&mut self, to: Self) -> Result<(), IllegalMove> {
        if !self.next().contains(&to) {
            return Err(IllegalMove { from: *self, to });
        }
        *self = to;
        Ok(())
    }

    /// Whether no state can follow.
    #[must_use]
    pub const fn is_final(self) -> bool {
        self.next().is_empty()
    }

    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::TimedOut => "timed_out",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::State::{self, *};

    #[test]
    fn a_command_that_succeeds_goes_through_all_states() {
        let mut state = Queued;
        for to in [Starting, Running, Completed] {
            state.advance(to).unwrap();
        }
        assert_eq!(state, Completed);
    }

    #[test]
    fn every_other_move_is_refused_and_changes_nothing() {
        for from in State::ALL {
            for to in State::ALL {
                let mut state = from;
                let allowed = from.next().contains(&to);
                assert_eq!(state.advance(to).is_ok(), allowed, "{from} to {to}");
                assert_eq!(state, if allowed { to } else { from });
            }
        }
        assert!(Queued.advance_refuses(Running), "nothing runs before it starts");
        assert!(Queued.advance_refuses(TimedOut), "no timeout runs in the queue");
    }

    #[test]
    fn final_states_have_no_successor() {
        for state in State::ALL {
            assert_eq!(state.is_final(), matches!(state, Completed | Failed | Canceled | TimedOut));
        }
    }

    impl State {
        fn advance_refuses(mut self, to: Self) -> bool {
            self.advance(to).is_err()
        }
    }
}
