//! Whether a key was meant as an answer.
//!
//! A key counts when the person had time to see the question, and when it came alone. What is typed ahead or
//! pasted answers nothing.

use std::time::{Duration, Instant};

use super::keys::Key;

/// How long a question is on the screen before a key counts.
const GUARD: Duration = Duration::from_millis(300);
/// How far apart keys are that a person presses one by one.
const APART: Duration = Duration::from_millis(40);

/// Keys that may be answers, held back for a moment.
#[derive(Debug)]
pub(crate) struct Calm {
    /// Until then nothing counts.
    guarded: Instant,
    last: Option<Instant>,
    held: Option<(Key, Instant)>,
}

impl Calm {
    pub(crate) fn new(now: Instant) -> Self {
        Self { guarded: now + GUARD, last: None, held: None }
    }

    /// Something new is on the screen.
    pub(crate) fn guard(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    pub(crate) fn is_guarded(&self, now: Instant) -> bool {
        now < self.guarded
    }

    /// Takes a key that would be an answer. Says whether it may still count.
    pub(crate) fn hold(&mut self, key: Key, now: Instant) -> bool {
        let hasty = self.last.is_some_and(|last| now < last + APART) || self.is_guarded(now);
        self.held = (!hasty).then_some((key, now + APART));
        self.last = Some(now);
        !hasty
    }

    /// Some other key came. Says whether one that was held is lost by that.
    pub(crate) fn disturb(&mut self, now: Instant) -> bool {
        self.last = Some(now);
        self.held.take().is_some()
    }

    /// The key that counts, once nothing followed it.
    pub(crate) fn taken(&mut self, now: Instant) -> Option<Key> {
        let (key, _) = self.held.take_if(|(_, due)| *due <= now)?;
        Some(key)
    }

    /// How long until a key counts.
    pub(crate) fn patience(&self, now: Instant) -> Option<Duration> {
        self.held.as_ref().map(|(_, due)| due.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_counts_alone_and_not_at_once() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut calm = Calm::new(start);
        assert!(!calm.hold(Key::Char('y'), at(100)), "typed ahead");
        assert_eq!(calm.taken(at(1000)), None);
        assert!(calm.hold(Key::Char('y'), at(1000)));
        assert_eq!(calm.taken(at(1010)), None, "something may follow");
        assert_eq!(calm.taken(at(1050)), Some(Key::Char('y')));
        assert_eq!(calm.taken(at(1060)), None, "once");
    }

    #[test]
    fn keys_that_come_together_count_for_nothing() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut calm = Calm::new(start);
        assert!(calm.hold(Key::Char('y'), at(1000)));
        assert!(!calm.hold(Key::Char('y'), at(1001)));
        assert_eq!(calm.taken(at(2000)), None);
        assert!(calm.hold(Key::Char('y'), at(2000)));
        assert!(calm.disturb(at(2001)));
        assert_eq!(calm.taken(at(3000)), None);
    }
}
