//! Random choices that can be repeated.

use std::time::Duration;

/// Pseudo-random numbers, the same for the same seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Self(seed);
        // Neighboring seeds begin with similar numbers.
        for _ in 0..4 {
            let _ = dice.below(2);
        }
        dice
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }

    /// One of some things. `None`: there are none.
    pub(super) fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(usize::try_from(self.below(things.len() as u64)).unwrap_or(0))
    }

    /// One of some things, each as often as its weight says.
    pub(super) fn weighted<T: Copy>(&mut self, things: &[(u64, T)]) -> Option<T> {
        let mut number = self.below(things.iter().map(|(weight, _)| weight).sum());
        for (weight, thing) in things {
            match number.checked_sub(*weight) {
                Some(rest) => number = rest,
                None => return Some(*thing),
            }
        }
        None
    }

    pub(super) fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to.saturating_sub(from)))
    }
}
