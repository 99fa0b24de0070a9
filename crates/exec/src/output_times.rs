//! When an execution printed what: a bounded list of moments, each with the number of bytes printed before it.
//!
//! The list gets coarser as it grows, so that a job of a month needs no more memory than one of a minute.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::PerStream;

/// The longest list.
const MAX_MOMENTS: usize = 256;

/// How far apart two moments are at first.
const FIRST_INTERVAL: Duration = Duration::from_millis(50);

/// A period in which something was printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// When it began, in milliseconds since 1970.
    pub from_ms: u64,
    /// When the last bytes of it were printed.
    pub to_ms: u64,
    /// How many bytes had been printed before it.
    pub before: PerStream<u64>,
}

/// The moments of one execution.
#[derive(Clone, Debug)]
pub(crate) struct OutputTimes {
    moments: Vec<Moment>,
    /// How long one moment lasts.
    interval: Duration,
}

impl Default for OutputTimes {
    fn default() -> Self {
        Self { moments: Vec::new(), interval: FIRST_INTERVAL }
    }
}

impl OutputTimes {
    /// Adds output that was printed at `at_ms`.
    pub(crate) fn note(&mut self, at_ms: u64, before: PerStream<u64>) {
        let interval = u64::try_from(self.interval.as_millis()).unwrap_or(u64::MAX);
        match self.moments.last_mut() {
            Some(last) if at_ms < last.from_ms.saturating_add(interval) => last.to_ms = at_ms,
            _ => {
                if self.moments.len() == MAX_MOMENTS {
                    self.thin_out();
                }
                self.moments.push(Moment { from_ms: at_ms, to_ms: at_ms, before });
            }
        }
    }

    /// Joins each two moments into one.
    fn thin_out(&mut self) {
        let pairs = self.moments.chunks(2).filter_map(|pair| {
            let (first, last) = (pair.first()?, pair.last()?);
            Some(Moment { to_ms: last.to_ms, ..first.clone() })
        });
        self.moments = pairs.collect();
        self.interval *= 2;
    }

    pub(crate) fn moments(&self) -> &[Moment] {
        &self.moments
    }
}

/// How many bytes had been printed before `at_ms`. Where the list is coarse, a little fewer. `None`: all.
#[must_use]
pub fn printed_before(moments: &[Moment], at_ms: u64) -> Option<PerStream<u64>> {
    let first = moments.partition_point(|moment| moment.to_ms < at_ms);
    moments.get(first).map(|moment| moment.before.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(bytes: u64) -> PerStream<u64> {
        PerStream { stdout: bytes, stderr: 0 }
    }

    #[test]
    fn a_long_job_needs_no_more_memory_and_its_times_are_found() {
        let mut times = OutputTimes::default();
        for step in 0..100_000_u64 {
            times.note(step * 100, at(step));
        }
        assert!(times.moments().len() <= MAX_MOMENTS);
        assert_eq!(times.moments()[0].before, at(0));
        for asked in [0, 5_000_000, 9_999_000] {
            let found = printed_before(times.moments(), asked).unwrap().stdout;
            assert!(found * 100 <= asked, "never too late");
            assert!(asked - found * 100 <= 200_000, "{asked}: {found}");
        }
        assert!(printed_before(times.moments(), 10_000_000).is_none(), "all of it is older");
        assert!(printed_before(&[], 7).is_none());
    }
}
