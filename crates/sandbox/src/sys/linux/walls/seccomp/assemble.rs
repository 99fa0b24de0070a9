//! Filter programs, written from their end to their beginning.
//!
//! Jumps only lead forward, so the end is known first, and the distance of every jump is known when it is written. A
//! conditional jump reaches 255 statements. Where the target is farther away, an unconditional one, which reaches
//! everything, is put in between.

use std::collections::HashMap;

use super::rules::Action;

/// A target is near when a conditional jump reaches it, with room for the statements that one node adds in between.
const NEAR: usize = 240;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA | libc::BPF_K) as u16;

/// A place in the program: the number of statements from it to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(usize);

/// A comparison of the accumulator with a constant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Compare {
    Equal(u32),
    AtLeast(u32),
    /// At least one of these bits is set.
    AnyBit(u32),
}

/// A program whose last statements are written.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    /// The last statement first.
    backwards: Vec<libc::sock_filter>,
    returns: HashMap<Action, Place>,
}

impl Assembler {
    /// The place of a statement that ends the program with `action`. Shared where one is near.
    pub(super) fn end_with(&mut self, action: Action) -> Place {
        match self.returns.get(&action) {
            Some(place) if self.distance(*place) < NEAR => *place,
            _ => {
                let place = self.push(RETURN, action.return_value(), 0, 0);
                self.returns.insert(action, place);
                place
            }
        }
    }

    /// Compares the accumulator, then goes on at `yes` or `no`.
    pub(super) fn branch(&mut self, compare: Compare, yes: Place, no: Place) -> Place {
        let yes = self.near(yes);
        let no = self.near(no);
        let (operation, constant) = match compare {
            Compare::Equal(constant) => (libc::BPF_JEQ, constant),
            Compare::AtLeast(constant) => (libc::BPF_JGE, constant),
            Compare::AnyBit(constant) => (libc::BPF_JSET, constant),
        };
        let code = (libc::BPF_JMP | operation | libc::BPF_K) as u16;
        let (yes, no) = (self.distance(yes), self.distance(no));
        self.push(code, constant, yes, no)
    }

    /// Clears the bits of the accumulator that `mask` lacks, then goes on at the statement written before.
    pub(super) fn and(&mut self, mask: u32) -> Place {
        self.push(AND, mask, 0, 0)
    }

    /// Loads four bytes of the data about the call, then goes on at the statement written before.
    pub(super) fn load(&mut self, offset: u32) -> Place {
        self.push(LOAD, offset, 0, 0)
    }

    /// The program, first statement first.
    pub(super) fn finish(self) -> Vec<libc::sock_filter> {
        self.backwards.into_iter().rev().collect()
    }

    /// `target`, or a statement near by that jumps to it.
    fn near(&mut self, target: Place) -> Place {
        let distance = self.distance(target);
        if distance < NEAR {
            return target;
        }
        // A program has at most 4096 statements.
        self.push(JUMP, u32::try_from(distance).unwrap_or(u32::MAX), 0, 0)
    }

    /// How many statements a jump written now skips to get to `target`.
    fn distance(&self, target: Place) -> usize {
        self.backwards.len().saturating_sub(target.0)
    }

    fn push(&mut self, code: u16, k: u32, yes: usize, no: usize) -> Place {
        // `near` keeps both below 256; were it wrong, the tests that compare every number would show it.
        let narrow = |distance: usize| u8::try_from(distance).unwrap_or(u8::MAX);
        self.backwards.push(libc::sock_filter { code, jt: narrow(yes), jf: narrow(no), k });
        Place(self.backwards.len())
    }
}
