//! From the table to a filter program, as a balanced tree.
//!
//! The program checks the architecture, then finds the range that the number of the call is in by halving: eight
//! comparisons instead of a hundred. Numbers next to each other with the same answer are one range. A call with
//! conditions has them checked one after the other at its leaf.
//!
//! Kernels since 5.11 run the filter once for each number while it is loaded and remember the numbers that are allowed
//! whatever the arguments are: these then cost nothing at all. They understand the statements used here and no others.
//! It is this run that makes loading a linear filter slow.

use std::collections::HashMap;

use super::assemble::{Assembler, Compare, Place};
use super::calls::Arch;
use super::rules::{Action, Argument, Bits, Condition, RefusalErrno, Rule, Test};

/// The kernel takes no longer programs (`BPF_MAXINSNS`).
const MAX_STATEMENTS: usize = 4096;

// Offsets into `struct seccomp_data`: number, architecture, instruction pointer, six arguments of eight bytes.
const NUMBER_OFFSET: u32 = 0;
const ARCH_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;
const ARGUMENT_BYTES: u32 = 8;
/// Both architectures are little-endian: the lower half comes first.
const UPPER_HALF_OFFSET: u32 = 4;

const UNKNOWN: Action = Action::Refuse(RefusalErrno::ENOSYS);

/// A filter program that the kernel can load.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) statements: Vec<libc::sock_filter>,
    pub(super) notifies: bool,
}

/// Why rules can't be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// There are too many of them.
    #[error("a seccomp filter of {0} statements is longer than the kernel takes")]
    TooLong(usize),
    /// A jump doesn't reach its target: a defect of the compiler.
    #[error("a jump of the seccomp filter is too far")]
    TooFar,
}

/// What follows from the number of a call.
#[derive(Clone, Debug, PartialEq)]
enum Leaf {
    Decided(Action),
    /// Rules to try in this order; allowed when none holds.
    Conditional(Vec<(&'static [Condition], Action)>),
}

impl Program {
    /// Compiles `rules` for `arch`. `own` is the launcher's own number.
    ///
    /// # Errors
    /// When the program gets longer than the kernel takes.
    pub fn compile(arch: Arch, rules: &[Rule], own: u64) -> Result<Self, CompileError> {
        let mut program = Assembler::default();
        let kill = program.end_with(Action::Kill);
        tree(&mut program, &ranges(arch, rules), own);
        // The tree's first statement was written last, so it follows this load.
        let start = program.load(NUMBER_OFFSET);
        program.branch(Compare::Equal(arch.audit_number()), start, kill);
        program.load(ARCH_OFFSET);
        let statements = program.finish().ok_or(CompileError::TooFar)?;
        if statements.len() > MAX_STATEMENTS {
            return Err(CompileError::TooLong(statements.len()));
        }
        Ok(Self { statements, notifies: rules.iter().any(|rule| rule.action == Action::Notify) })
    }

    /// How many statements it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.statements.len()
    }

    /// Whether it has none, which it never has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }
}

/// All numbers, as ranges with the same leaf: the first number of each.
fn ranges(arch: Arch, rules: &[Rule]) -> Vec<(u32, Leaf)> {
    let mut leaves = leaves(arch, rules);
    let mut ranges: Vec<(u32, Leaf)> = Vec::new();
    let mut add = |first: u32, leaf: Leaf| {
        if ranges.last().is_none_or(|(_, last)| *last != leaf) {
            ranges.push((first, leaf));
        }
    };
    let mut next = 0;
    for (first, last) in arch.known_numbers() {
        if next < *first {
            add(next, Leaf::Decided(UNKNOWN));
        }
        for number in *first..=*last {
            add(number, leaves.remove(&number).unwrap_or(Leaf::Decided(Action::Allow)));
        }
        next = last + 1;
    }
    add(next, Leaf::Decided(UNKNOWN));
    ranges
}

/// What the rules say, by the number of the call.
fn leaves(arch: Arch, rules: &[Rule]) -> HashMap<u32, Leaf> {
    let mut leaves = HashMap::new();
    for rule in rules {
        for number in rule.calls.iter().filter_map(|call| call.number(arch)) {
            match leaves.entry(number).or_insert_with(|| Leaf::Conditional(Vec::new())) {
                // The rules before this one decide in every case.
                Leaf::Decided(_) => {}
                Leaf::Conditional(earlier) if earlier.is_empty() && rule.when.is_empty() => {
                    leaves.insert(number, Leaf::Decided(rule.action));
                }
                Leaf::Conditional(earlier) => earlier.push((rule.when, rule.action)),
            }
        }
    }
    leaves
}

/// The place that decides for a number in the accumulator that is in one of `ranges`.
fn tree(program: &mut Assembler, ranges: &[(u32, Leaf)], own: u64) -> Place {
    let (lower, upper) = ranges.split_at(ranges.len() / 2);
    match (lower, upper) {
        ([], [(_, leaf)]) => end(program, leaf, own),
        (_, [(first, _), ..]) => {
            let first = *first;
            let above = tree(program, upper, own);
            let below = tree(program, lower, own);
            program.branch(Compare::AtLeast(first), above, below)
        }
        // There is always a range: all numbers are in one.
        (_, []) => program.end_with(UNKNOWN),
    }
}

fn end(program: &mut Assembler, leaf: &Leaf, own: u64) -> Place {
    match leaf {
        Leaf::Decided(action) => program.end_with(*action),
        Leaf::Conditional(rules) => {
            let mut otherwise = program.end_with(Action::Allow);
            for (conditions, action) in rules.iter().rev() {
                let mut holds = program.end_with(*action);
                for condition in conditions.iter().rev() {
                    let place = (holds, otherwise);
                    holds = check(program, condition, own, place);
                }
                otherwise = holds;
            }
            otherwise
        }
    }
}

/// The place that goes on at `yes` when the condition holds, else at `no`.
fn check(program: &mut Assembler, condition: &Condition, own: u64, (yes, no): (Place, Place)) -> Place {
    let offset = offset(condition.argument);
    let (equal, different, value) = match condition.test {
        Test::Is(value) => (yes, no, value),
        Test::IsOwn => (yes, no, own),
        Test::IsNot(value) => (no, yes, value),
    };
    match condition.bits {
        Bits::Low(mask) => check_half(program, offset, (mask, lower(value)), equal, different),
        Bits::All(mask) => {
            let low = check_half(program, offset, (lower(mask), lower(value)), equal, different);
            let upper_offset = offset + UPPER_HALF_OFFSET;
            check_half(program, upper_offset, (upper(mask), upper(value)), low, different)
        }
    }
}

fn check_half(
    program: &mut Assembler,
    offset: u32,
    (mask, value): (u32, u32),
    equal: Place,
    different: Place,
) -> Place {
    if value == 0 && mask != u32::MAX {
        program.branch(Compare::AnyBit(mask), different, equal);
        return program.load(offset);
    }
    program.branch(Compare::Equal(value), equal, different);
    if mask != u32::MAX {
        program.and(mask);
    }
    program.load(offset)
}

fn offset(argument: Argument) -> u32 {
    ARGUMENTS_OFFSET
        + ARGUMENT_BYTES
            * match argument {
                Argument::First => 0,
                Argument::Second => 1,
                Argument::Third => 2,
                Argument::Fourth => 3,
                Argument::Fifth => 4,
                Argument::Sixth => 5,
            }
}

const fn lower(value: u64) -> u32 {
    (value & u32::MAX as u64) as u32
}

const fn upper(value: u64) -> u32 {
    (value >> u32::BITS) as u32
}
