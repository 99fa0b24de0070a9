//! Decides whether a key was meant as an answer.
//!
//! A key is accepted if the person had time to see the question and no other key came close to it. Keys that were typed
//! ahead or pasted are not.

use std::time::{Duration, Instant};

use super::keys::Key;

/// How long a question is on the screen before keys are accepted.
const READING_TIME: Duration = Duration::from_millis(300);
/// Keys that a person presses one by one are at least this far apart.
const KEY_GAP: Duration = Duration::from_millis(40);

/// Holds a key back for a moment to see whether another follows.
#[derive(Debug)]
pub(crate) struct KeyDebounce {
    /// Until then keys are ignored.
    ignored_until: Instant,
    last: Option<Instant>,
    held: Option<(Key, Instant)>,
}

impl KeyDebounce {
    pub(crate) fn new(now: Instant) -> Self {
        Self { ignored_until: now + READING_TIME, last: None, held: None }
    }

    /// Starts anew, because something new is on the screen.
    pub(crate) fn restart(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    pub(crate) fn is_ignoring(&self, now: Instant) -> bool {
        now < self.ignored_until
    }

    /// Holds a key that would be an answer. Returns whether it may be accepted.
    pub(crate) fn hold(&mut self, key: Key, now: Instant) -> bool {
        let too_fast = self.last.is_some_and(|last| now < last + KEY_GAP) || self.is_ignoring(now);
        self.held = (!too_fast).then_some((key, now + KEY_GAP));
        self.last = Some(now);
        !too_fast
    }

    /// Another key came. Returns whether that discards a held key.
    pub(crate) fn interrupt(&mut self, now: Instant) -> bool {
        self.last = Some(now);
        self.held.take().is_some()
    }

    /// The held key, once no other key followed it in time.
    pub(crate) fn take_accepted(&mut self, now: Instant) -> Option<Key> {
        let (key, _) = self.held.take_if(|(_, due)| *due <= now)?;
        Some(key)
    }

    /// How long until the held key is accepted.
    pub(crate) fn time_left(&self, now: Instant) -> Option<Duration> {
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
        let mut debounce = KeyDebounce::new(start);
        assert!(!debounce.hold(Key::Char('y'), at(100)), "typed ahead");
        assert_eq!(debounce.take_accepted(at(1000)), None);
        assert!(debounce.hold(Key::Char('y'), at(1000)));
        assert_eq!(debounce.take_accepted(at(1010)), None, "something may follow");
        assert_eq!(debounce.take_accepted(at(1050)), Some(Key::Char('y')));
        assert_eq!(debounce.take_accepted(at(1060)), None, "once");
    }

    #[test]
    fn keys_that_come_together_count_for_nothing() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut debounce = KeyDebounce::new(start);
        assert!(debounce.hold(Key::Char('y'), at(1000)));
        assert!(!debounce.hold(Key::Char('y'), at(1001)));
        assert_eq!(debounce.take_accepted(at(2000)), None);
        assert!(debounce.hold(Key::Char('y'), at(2000)));
        assert!(debounce.interrupt(at(2001)));
        assert_eq!(debounce.take_accepted(at(3000)), None);
    }
}
