//! When what was printed: a bounded list of moments, each with how much had been printed before it.
//!
//! It gets coarser as it grows, so that a job of a month costs no more than one of a minute.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::PerStream;

/// The most moments that are remembered.
const MOST: usize = 256;

/// How near two moments may be at first.
const FINEST: Duration = Duration::from_millis(50);

/// A moment at which something was printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// In milliseconds since 1970.
    pub at_ms: u64,
    /// How many bytes had been printed before.
    pub before: PerStream<u64>,
}

/// The moments of one execution.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    moments: Vec<Moment>,
    apart: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self { moments: Vec::new(), apart: FINEST }
    }
}

impl Times {
    /// Something is printed now.
    pub(crate) fn note(&mut self, at_ms: u64, before: PerStream<u64>) {
        let apart = u64::try_from(self.apart.as_millis()).unwrap_or(u64::MAX);
        if self.moments.last().is_some_and(|last| at_ms < last.at_ms.saturating_add(apart)) {
            return;
        }
        if self.moments.len() == MOST {
            let mut number = 0;
            self.moments.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.apart *= 2;
        }
        self.moments.push(Moment { at_ms, before });
    }

    pub(crate) fn moments(&self) -> &[Moment] {
        &self.moments
    }
}

/// How much had been printed before `at_ms`, as far as is remembered: rather a little too early than too late.
#[must_use]
pub fn printed_before(moments: &[Moment], at_ms: u64) -> Option<PerStream<u64>> {
    let after = moments.partition_point(|moment| moment.at_ms < at_ms);
    match (moments.get(after.saturating_sub(1)), after) {
        (None, _) => None,
        // Everything is younger.
        (Some(_), 0) => moments.first().map(|first| first.before.clone()),
        (Some(last), _) => Some(last.before.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(bytes: u64) -> PerStream<u64> {
        PerStream { stdout: bytes, stderr: 0 }
    }

    #[test]
    fn a_long_life_costs_no_more_and_is_found_again() {
        let mut times = Times::default();
        for step in 0..100_000_u64 {
            times.note(step * 100, at(step));
        }
        assert!(times.moments().len() <= MOST);
        assert_eq!(times.moments()[0].before, at(0));
        for asked in [0, 5_000_000, 9_999_000] {
            let found = printed_before(times.moments(), asked).unwrap().stdout;
            assert!(found * 100 <= asked, "never too late");
            assert!(asked - found * 100 <= 200_000, "{asked}: {found}");
        }
        assert!(printed_before(&[], 7).is_none());
    }
}
