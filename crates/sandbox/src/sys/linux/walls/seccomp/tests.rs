//! The compiled tree against a plain reading of the table.

use proptest::prelude::*;

use super::calls::{self, ALL};
use super::rules::equals;
use super::*;

const ARCHES: [Arch; 2] = [Arch::X86_64, Arch::Aarch64];
const X32_BIT: u32 = 1 << 30;
const I386: u32 = 0x4000_0003;
const ARM: u32 = 0x4000_0028;
/// The number of a launcher.
const OWN: u64 = 0x0123_4567_89ab_cdef;
const ALL_GROUPS: [Group; 5] = [
    Group::NotifySockets,
    Group::NotifyCreations,
    Group::TraceExec,
    Group::NotifyChanges,
    Group::NotifyNeeds,
];

/// What the kernel tells a filter.
#[derive(Clone, Copy, Debug)]
struct Data {
    number: u32,
    arch: u32,
    arguments: [u64; 6],
}

impl Data {
    fn new(arch: Arch, number: u32, arguments: [u64; 6]) -> Self {
        Self { number, arch: arch.audit_number(), arguments }
    }

    fn word(&self, offset: u32) -> u32 {
        let argument = |offset: u32| self.arguments[(offset / 8) as usize];
        match offset {
            0 => self.number,
            4 => self.arch,
            16..64 if offset.is_multiple_of(8) => argument(offset - 16) as u32,
            16..64 if offset % 8 == 4 => (argument(offset - 16) >> 32) as u32,
            _ => panic!("offset {offset}"),
        }
    }
}

/// Runs the program as the kernel does: what it returns, and after how many statements.
fn interpret(program: &Program, data: &Data) -> (u32, usize) {
    let mut accumulator = 0;
    let mut at = 0;
    for steps in 1.. {
        let libc::sock_filter { code, jt, jf, k } = program.statements[at];
        at += 1;
        let branch = |holds: bool| usize::from(if holds { jt } else { jf });
        match u32::from(code) {
            0x20 => accumulator = data.word(k),
            0x54 => accumulator &= k,
            0x05 => at += k as usize,
            0x15 => at += branch(accumulator == k),
            0x35 => at += branch(accumulator >= k),
            0x45 => at += branch(accumulator & k != 0),
            0x06 => return (k, steps),
            other => panic!("statement {other:#x}"),
        }
    }
    unreachable!()
}

/// What the table says, row by row.
fn linear(arch: Arch, rules: &[Rule], data: &Data) -> Action {
    if data.arch != arch.audit_number() {
        return Action::Kill;
    }
    if !arch.known_numbers().iter().any(|(first, last)| (first..=last).contains(&&data.number)) {
        return Action::Refuse(RefusalErrno::ENOSYS);
    }
    let is_about = |rule: &&Rule| rule.calls.iter().any(|call| call.number(arch) == Some(data.number));
    let holds = |condition: &Condition| {
        let argument = data.arguments[condition.argument as usize];
        let selected = match condition.bits {
            Bits::Low(mask) => argument & u64::from(mask),
            Bits::All(mask) => argument & mask,
        };
        match condition.test {
            Test::Is(value) => selected == value,
            Test::IsNot(value) => selected != value,
            Test::IsOwn => selected == OWN,
        }
    };
    let first = rules.iter().filter(is_about).find(|rule| rule.when.iter().all(holds));
    first.map_or(Action::Allow, |rule| rule.action)
}

fn assert_same(arch: Arch, rules: &[Rule], program: &Program, data: &Data) {
    let expected = linear(arch, rules, data);
    assert_eq!(interpret(program, data).0, expected.return_value(), "{arch:?} {data:x?}: {expected:?}");
}

/// Values that conditions of the table compare with, values next to them, and with bits that the kernel ignores.
fn interesting_values() -> Vec<u64> {
    let mut values = vec![0, 1, u64::MAX, 1 << 32, u64::from(u32::MAX), 0o100, 0o2000100];
    for condition in rules(&ALL_GROUPS).iter().flat_map(|rule| rule.when) {
        let value = match condition.test {
            Test::Is(value) | Test::IsNot(value) => value,
            Test::IsOwn => OWN,
        };
        let (Bits::Low(_) | Bits::All(_)) = condition.bits;
        let mask = match condition.bits {
            Bits::Low(mask) => u64::from(mask),
            Bits::All(mask) => mask,
        };
        values.extend([value, value + 1, value | 1 << 32, value | !mask, mask, !mask, value ^ mask]);
    }
    values.sort_unstable();
    values.dedup();
    values
}

fn sets_of_groups() -> [&'static [Group]; 7] {
    use Group::{AllowDebugger, NotifyCreations, NotifyNeeds, NotifySockets, TraceExec};
    [
        &[],
        &[NotifySockets],
        &[NotifyCreations],
        &[TraceExec],
        &[AllowDebugger],
        &[NotifyNeeds],
        &[NotifySockets, NotifyCreations, TraceExec, AllowDebugger],
    ]
}

#[test]
fn every_number_gets_the_answer_of_the_table() {
    let edges =
        [X32_BIT, X32_BIT | 59, X32_BIT | 101, X32_BIT - 1, i32::MAX as u32, 1 << 31, u32::MAX - 1, u32::MAX];
    let arguments = [[0; 6], [1; 6], [u64::MAX; 6], [1 << 32; 6], [0x7e02_0000; 6], [0o100; 6]];
    for arch in ARCHES {
        for groups in sets_of_groups() {
            let rules = rules(groups);
            let program = Program::compile(arch, &rules, OWN).unwrap();
            for number in (0..=600).chain(edges) {
                for arguments in arguments {
                    assert_same(arch, &rules, &program, &Data::new(arch, number, arguments));
                }
            }
        }
    }
}

#[test]
fn every_pair_of_interesting_arguments_gets_the_answer_of_the_table() {
    let rules = rules(&ALL_GROUPS);
    let values = interesting_values();
    for arch in ARCHES {
        let program = Program::compile(arch, &rules, OWN).unwrap();
        for call in
            [calls::CLONE, calls::SOCKET, calls::IOCTL, calls::PERSONALITY, calls::SECCOMP, calls::MKNODAT]
        {
            let number = call.number(arch).unwrap();
            for first in &values {
                for second in &values {
                    let arguments = [*first, *second, *first ^ *second, 0, *second, 0];
                    assert_same(arch, &rules, &program, &Data::new(arch, number, arguments));
                    let arguments = [*first, *second, *second, 0, *first, 0];
                    assert_same(arch, &rules, &program, &Data::new(arch, number, arguments));
                }
            }
        }
    }
}

#[test]
fn only_the_launchers_own_exec_passes() {
    for group in [Group::TraceExec, Group::NotifyExec] {
        for arch in ARCHES {
            let program = Program::compile(arch, &rules(&[group]), OWN).unwrap();
            let answer = |call: Call, number: u64| {
                let data = Data::new(arch, call.number(arch).unwrap(), [0, 0, 0, 0, 0, number]);
                interpret(&program, &data).0
            };
            assert_eq!(answer(calls::EXECVE, OWN), libc::SECCOMP_RET_ALLOW);
            for other in [0, OWN + 1, OWN ^ 1 << 40, OWN << 32, OWN & 0xffff_ffff, u64::MAX] {
                assert_ne!(answer(calls::EXECVE, other), libc::SECCOMP_RET_ALLOW, "{other:x}");
            }
            assert_ne!(answer(calls::EXECVEAT, OWN), libc::SECCOMP_RET_ALLOW);
        }
    }
}

#[test]
fn other_architectures_are_killed_and_x32_is_unknown() {
    let program = Program::compile(Arch::X86_64, &rules(&[]), OWN).unwrap();
    for (arch, number) in [(I386, 1), (ARM, 1), (Arch::Aarch64.audit_number(), 93), (0, 0), (I386, u32::MAX)]
    {
        let data = Data { number, arch, arguments: [0; 6] };
        assert_eq!(interpret(&program, &data).0, libc::SECCOMP_RET_KILL_PROCESS);
    }
    // `getpid` under its x32 number, and with the upper bit that the kernel's own table had in old versions.
    for number in [X32_BIT | 39, X32_BIT | 512, 470, 337, 423, u32::MAX] {
        let data = Data::new(Arch::X86_64, number, [0; 6]);
        assert_eq!(interpret(&program, &data).0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32, "{number}");
    }
}

#[test]
fn the_program_is_short_and_so_is_every_way_through_it() {
    for arch in ARCHES {
        for groups in sets_of_groups() {
            let rules = rules(groups);
            let program = Program::compile(arch, &rules, OWN).unwrap();
            assert!(program.len() < 320, "{arch:?} {groups:?}: {}", program.len());
            for number in 0..=600 {
                let (_, steps) = interpret(&program, &Data::new(arch, number, [0; 6]));
                let has_conditions = ALL.iter().any(|call| call.number(arch) == Some(number))
                    && rules.iter().any(|rule| {
                        !rule.when.is_empty()
                            && rule.calls.iter().any(|call| call.number(arch) == Some(number))
                    });
                let most = if has_conditions { 60 } else { 13 };
                assert!(steps <= most, "{arch:?} {number}: {steps} steps");
            }
        }
    }
}

/// Rules for many calls with many conditions each: longer than a conditional jump reaches.
#[test]
fn targets_out_of_reach_of_a_conditional_jump_are_reached() {
    const VALUES: [Condition; 40] = {
        let mut all = [equals(Argument::First, 0); 40];
        let mut at = 0;
        while at < all.len() {
            all[at] = Condition {
                argument: Argument::Third,
                bits: Bits::All(u64::MAX >> at),
                test: Test::IsNot(at as u64 + 1),
            };
            at += 1;
        }
        all
    };
    let mut rules: Vec<Rule> = Vec::new();
    for (at, call) in ALL.iter().enumerate() {
        let calls = std::slice::from_ref(call);
        let action = Action::Refuse(RefusalErrno::new(at as u16 + 1));
        rules.push(Rule { calls, when: &VALUES[at % 37..at % 37 + 3], action, reason: "" });
        rules.push(Rule { calls, when: &VALUES[..at % 5], action: Action::Notify, reason: "" });
    }
    for arch in ARCHES {
        let program = Program::compile(arch, &rules, OWN).unwrap();
        assert!(program.len() > 1000, "{}", program.len());
        assert!(program.statements.iter().any(|statement| statement.code == 0x05), "a far jump");
        for number in 0..=600 {
            for value in 0..45 {
                assert_same(arch, &rules, &program, &Data::new(arch, number, [0, 0, value, 0, 0, 0]));
                assert_same(arch, &rules, &program, &Data::new(arch, number, [0, 0, value << 33, 0, 0, 0]));
            }
        }
    }
    let endless: Vec<Rule> = rules.iter().cycle().take(2000).copied().collect();
    assert!(matches!(Program::compile(Arch::X86_64, &endless, OWN), Err(CompileError::TooLong(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 8 } else { 1024 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_calls_get_the_answer_of_the_table(
        arch in proptest::sample::select(&ARCHES[..]),
        groups in proptest::sample::select(sets_of_groups().to_vec()),
        call in proptest::sample::select(ALL),
        other in any::<u32>(),
        arguments in proptest::array::uniform6(prop_oneof![
            any::<u64>(),
            proptest::sample::select(interesting_values()),
        ]),
    ) {
        let rules = rules(groups);
        let program = Program::compile(arch, &rules, OWN).unwrap();
        for number in call.number(arch).into_iter().chain([other, other % 500]) {
            assert_same(arch, &rules, &program, &Data::new(arch, number, arguments));
        }
    }
}

#[test]
fn every_row_has_a_reason_and_is_reached() {
    let rules = rules(&ALL_GROUPS);
    assert!(rules.iter().all(|rule| !rule.reason.is_empty() && !rule.calls.is_empty()));
    for call in ALL {
        let own: Vec<&Rule> = rules.iter().filter(|rule| rule.calls.contains(call)).collect();
        let end = own.iter().position(|rule| rule.when.is_empty());
        assert!(!own.is_empty(), "{} has a number and no rule", call.name);
        assert!(
            end.is_none_or(|end| end == own.len() - 1),
            "{} has rules behind one that always holds",
            call.name
        );
    }
}
