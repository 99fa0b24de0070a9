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
    /// Whether a conditional jump was written that doesn't reach its target.
    too_far: bool,
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

    /// The program, first statement first. `None`: one of its jumps doesn't reach its target, which `near` rules out.
    pub(super) fn finish(self) -> Option<Vec<libc::sock_filter>> {
        (!self.too_far).then(|| self.backwards.into_iter().rev().collect())
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
        let (jt, jf) = (u8::try_from(yes), u8::try_from(no));
        self.too_far |= jt.is_err() || jf.is_err();
        let (jt, jf) = (jt.unwrap_or(u8::MAX), jf.unwrap_or(u8::MAX));
        self.backwards.push(libc::sock_filter { code, jt, jf, k });
        Place(self.backwards.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Around the distance that a conditional jump reaches, for one target and for both.
    #[test]
    fn targets_at_every_distance_are_reached() {
        for fillers in 0..600 {
            let mut program = Assembler::default();
            let (kill, trace) = (program.end_with(Action::Kill), program.end_with(Action::Trace));
            for _ in 0..fillers {
                program.and(u32::MAX);
            }
            program.branch(Compare::Equal(7), kill, trace);
            let statements = program.finish().unwrap();
            let jump = |statement: &libc::sock_filter| statement.code == JUMP;
            let branch = statements[0];
            for (taken, expected) in [(branch.jt, Action::Kill), (branch.jf, Action::Trace)] {
                let mut at = 1 + usize::from(taken);
                if jump(&statements[at]) {
                    at += 1 + statements[at].k as usize;
                }
                assert_eq!(
                    (statements[at].code, statements[at].k),
                    (RETURN, expected.return_value()),
                    "{fillers}"
                );
            }
        }
    }

    #[test]
    fn a_jump_that_is_too_far_is_no_program() {
        let mut program = Assembler::default();
        program.push(JUMP, 0, 255, 0);
        assert!(!program.too_far);
        program.push(JUMP, 0, 0, 256);
        assert!(program.finish().is_none());
    }
}
