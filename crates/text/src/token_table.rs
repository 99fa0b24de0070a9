//! The estimate of tokens as a table, for long texts.
//!
//! What a byte costs depends on its kind and on the run before it, of which there are few. So all steps are worked out once, and
//! a text is read as a chain of look-ups. A chain waits for each of its look-ups; several chains, in several parts of the text,
//! wait at the same time.

use std::sync::OnceLock;

use crate::tokens::{KINDS, Run};

/// A longer run costs the same for each further byte.
const MAX_RUN_LENGTH: usize = 16;

/// How many parts of a text are read at once.
const PARTS: usize = 4;

/// A part begins in the state that so many bytes before it lead to.
const BYTES_BEFORE: usize = 64;

/// Where a row has its steps: one for each kind of byte, in a row of 16.
const ROW_BITS: u32 = 4;

/// A step: what it costs, and the row of the state behind it.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    cost: i16,
    next: u16,
}

/// All steps.
#[derive(Debug)]
pub(super) struct Table {
    /// The kind of each byte.
    kinds: [u8; 256],
    steps: Vec<Step>,
}

impl Table {
    /// The table, made when it is first asked for.
    pub(super) fn get() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut kinds = [0; 256];
        for (byte, kind) in (0..=u8::MAX).zip(&mut kinds) {
            let found = KINDS.iter().position(|one| one.of == crate::tokens::kind_of(byte));
            *kind = found.and_then(|at| u8::try_from(at).ok()).unwrap_or_default();
        }
        let mut states = vec![Run::START];
        let mut steps = Vec::new();
        let mut at = 0;
        while let Some(state) = states.get(at).copied() {
            for column in 0..1 << ROW_BITS {
                let Some(kind) = KINDS.get(column) else {
                    steps.push(Step::default());
                    continue;
                };
                let mut next = state;
                let cost = next.step(kind.example);
                next.length = next.length.min(MAX_RUN_LENGTH);
                let number = states.iter().position(|known| *known == next).unwrap_or_else(|| {
                    states.push(next);
                    states.len() - 1
                });
                let next = u16::try_from(number << ROW_BITS).unwrap_or_default();
                steps.push(Step { cost: i16::try_from(cost).unwrap_or_default(), next });
            }
            at += 1;
        }
        Self { kinds, steps }
    }

    fn step(&self, row: u16, byte: u8) -> Step {
        let kind = self.kinds.get(usize::from(byte)).copied().unwrap_or_default();
        self.steps.get(usize::from(row | u16::from(kind))).copied().unwrap_or_default()
    }

    /// What a text costs, in hundredths of a token.
    pub(super) fn cost(&self, bytes: &[u8]) -> i64 {
        let length = bytes.len() / PARTS;
        let mut rows = [0; PARTS];
        for (part, row) in rows.iter_mut().enumerate() {
            let start = part * length;
            let before = bytes.get(start.saturating_sub(BYTES_BEFORE)..start).unwrap_or_default();
            *row = before.iter().fold(0, |row, byte| self.step(row, *byte).next);
        }
        let part = |number: usize| bytes.get(number * length..(number + 1) * length).unwrap_or_default();
        let [mut first, mut second, mut third, mut fourth] = rows;
        let mut cost = 0;
        let parts = part(0).iter().zip(part(1)).zip(part(2).iter().zip(part(3)));
        for ((one, two), (three, four)) in parts {
            let steps = [
                self.step(first, *one),
                self.step(second, *two),
                self.step(third, *three),
                self.step(fourth, *four),
            ];
            cost += steps.iter().map(|step| i64::from(step.cost)).sum::<i64>();
            [first, second, third, fourth] = steps.map(|step| step.next);
        }
        for byte in bytes.get(PARTS * length..).unwrap_or_default() {
            let step = self.step(fourth, *byte);
            cost += i64::from(step.cost);
            fourth = step.next;
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_table_says_what_the_steps_say(text in "([a-z]{1,30}|[A-Z]{1,12}|[A-Z][a-z]{1,5}|[0-9]{1,9}|[ \t]{1,20}|\n|[-=/.:]{1,20}|é|日本|\u{23af}){0,200}") {
            let mut run = Run::START;
            let cost: i64 = text.bytes().map(|byte| i64::from(run.step(byte))).sum();
            let table = Table::get();
            let difference = (table.cost(text.as_bytes()) - cost).abs();
            // A part may begin within a run that is longer than what is looked at before it.
            prop_assert!(difference <= 300, "{difference} of {cost}");
            prop_assert_eq!(difference == 0 || text.len() > BYTES_BEFORE, true);
        }
    }
}
