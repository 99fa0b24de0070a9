//! The seven states of an execution, and the moves between them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where an execution stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for its turn; no clock runs.
    Queued,
    /// Its turn has come; the process is being made.
    Starting,
    /// The process exists.
    Running,
    /// Ended with exit code 0.
    Completed,
    /// Ended in any other way of its own, or never started.
    Failed,
    /// Ended because somebody said so.
    Canceled,
    /// Ended because a clock ran out.
    TimedOut,
}

/// A move that no execution makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an execution can't go from {from} to {to}")]
pub struct IllegalMove {
    /// The state it is in.
    pub from: State,
    /// The state it was told to go to.
    pub to: State,
}

impl State {
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

    /// Moves on.
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

    /// Whether nothing can follow.
    #[must_use]
    pub const fn is_final(self) -> bool {
        self.next().is_empty()
    }

    /// The word that programs read.
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

    const ALL: [State; 7] = [Queued, Starting, Running, Completed, Failed, Canceled, TimedOut];

    #[test]
    fn the_straight_way_is_open() {
        let mut state = Queued;
        for to in [Starting, Running, Completed] {
            state.advance(to).unwrap();
        }
        assert_eq!(state, Completed);
    }

    #[test]
    fn every_other_move_is_refused_and_changes_nothing() {
        for from in ALL {
            for to in ALL {
                let mut state = from;
                let allowed = from.next().contains(&to);
                assert_eq!(state.advance(to).is_ok(), allowed, "{from} to {to}");
                assert_eq!(state, if allowed { to } else { from });
            }
        }
        assert!(Queued.advance_refuses(Running), "nothing runs before it starts");
        assert!(Queued.advance_refuses(TimedOut), "a queued clock doesn't run");
    }

    #[test]
    fn an_end_is_the_end() {
        for state in ALL {
            assert_eq!(state.is_final(), matches!(state, Completed | Failed | Canceled | TimedOut));
        }
    }

    impl State {
        fn advance_refuses(mut self, to: Self) -> bool {
            self.advance(to).is_err()
        }
    }
}
