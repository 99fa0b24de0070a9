//! The parts of a start that are large and seldom change: they are sent once on each connection.

use serde::{Deserialize, Serialize};

use crate::{EncodedConfinement, EncodedGuardRules, Spec};

/// The parts of a start, as they are sent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SentParts {
    confinement: Sent<EncodedConfinement>,
    guard: Sent<EncodedGuardRules>,
}

/// A part of a start, as it is sent.
#[derive(Debug, Default, Serialize, Deserialize)]
enum Sent<T> {
    /// There is none.
    #[default]
    None,
    /// The last one that was sent on this connection.
    Known,
    New(T),
}

/// The parts that one end of a connection knows: the last that were sent. Both ends know the same.
#[derive(Debug, Default)]
pub(crate) struct KnownParts {
    confinement: Option<EncodedConfinement>,
    guard: Option<EncodedGuardRules>,
    /// Whether the last start that was completed is confined, and has rules for the guard.
    last: (bool, bool),
}

impl KnownParts {
    /// What to send for `spec`.
    pub(crate) fn leave_out_known(&mut self, spec: &Spec) -> SentParts {
        SentParts {
            confinement: leave_out(&mut self.confinement, spec.confinement.as_ref()),
            guard: leave_out(&mut self.guard, spec.guard.as_ref()),
        }
    }

    /// Completes `spec` with what was sent. `false`: it names a part that was never sent, so nothing may be started.
    #[must_use]
    pub(crate) fn complete(&mut self, spec: &mut Spec, sent: SentParts) -> bool {
        let confinement = take(&mut self.confinement, sent.confinement);
        let guard = take(&mut self.guard, sent.guard);
        let (Ok(confinement), Ok(guard)) = (confinement, guard) else { return false };
        self.last = (confinement.is_some(), guard.is_some());
        (spec.confinement, spec.guard) = (confinement, guard);
        true
    }

    /// The confinement of the last start that was completed, and whether it has rules for the guard. `None`: it has none.
    pub(crate) fn last(&self) -> Option<(EncodedConfinement, bool)> {
        let (is_confined, is_guarded) = self.last;
        self.confinement.clone().filter(|_| is_confined).map(|confinement| (confinement, is_guarded))
    }
}

fn leave_out<T: Clone + PartialEq>(known: &mut Option<T>, part: Option<&T>) -> Sent<T> {
    match part {
        None => Sent::None,
        Some(part) if known.as_ref() == Some(part) => Sent::Known,
        Some(part) => Sent::New(known.insert(part.clone()).clone()),
    }
}

/// The part that was sent.
fn take<T: Clone>(known: &mut Option<T>, sent: Sent<T>) -> Result<Option<T>, NeverSent> {
    match sent {
        Sent::None => Ok(None),
        Sent::Known => known.clone().map(Some).ok_or(NeverSent),
        Sent::New(part) => Ok(Some(known.insert(part).clone())),
    }
}

struct NeverSent;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_sent_when_it_changes_and_known_afterwards() {
        let (mut ours, mut theirs) = (None, None);
        let mut sent = |part: Option<&u8>| {
            let sent = leave_out(&mut ours, part);
            let is_new = matches!(sent, Sent::New(_));
            (is_new, take(&mut theirs, sent).ok().flatten())
        };
        let seen = [Some(&1), Some(&1), None, Some(&1), Some(&2), Some(&1)].map(&mut sent);
        let one = Some(1);
        assert_eq!(
            seen,
            [(true, one), (false, one), (false, None), (false, one), (true, Some(2)), (true, one)]
        );
    }

    #[test]
    fn a_part_that_was_never_sent_is_none_to_start_with() {
        assert!(take::<u8>(&mut None, Sent::Known).is_err());
    }
}
