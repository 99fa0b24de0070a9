//! `capabilities` and `verify`.

use std::process::Command;

use rustix::thread::{CapabilitySet, CapabilitySets};
use shellgate_sandbox::walls::capabilities::{
    Bounding, CapabilityError, drop_all, drop_all_but_shield, held,
};
use shellgate_sandbox::walls::verify::{Held, Seccomp};

use crate::Test;
use crate::users::{User, as_each_user, run_as};

pub(crate) const TESTS: &[Test] = &[
    ("every_capability_is_dropped_for_every_user", every_capability_is_dropped_for_every_user),
    ("an_ambient_capability_is_dropped_too", an_ambient_capability_is_dropped_too),
    ("no_capability_comes_back_by_exec", no_capability_comes_back_by_exec),
    ("a_shield_is_gone_after_exec", a_shield_is_gone_after_exec),
    ("a_process_reads_back_what_holds_for_it", a_process_reads_back_what_holds_for_it),
];

fn every_capability_is_dropped_for_every_user() {
    as_each_user(|user| {
        let before = held().unwrap();
        let had_some = user != User::Ordinary;
        assert_eq!(!before.permitted.is_empty(), had_some, "the control");
        assert!(!before.bounding.is_empty() && !before.no_new_privs && !before.is_nothing());
        let bounding = drop_all().unwrap();
        let after = held().unwrap();
        assert!(after.is_nothing(), "{after:?}");
        match user {
            User::Ordinary => assert_eq!(bounding, Bounding::Kept(before.bounding)),
            User::Root | User::Namespaced => {
                assert_eq!((bounding, after.bounding), (Bounding::Emptied, CapabilitySet::empty()));
            }
        }
        // A second time nothing is left to drop. The bounding set is what it was.
        assert_eq!(drop_all().unwrap(), Bounding::Kept(after.bounding));
        assert_eq!(held().unwrap(), after);
    });
}

fn an_ambient_capability_is_dropped_too() {
    run_as(User::Root, || {
        let wanted = CapabilitySet::NET_BIND_SERVICE;
        let sets = rustix::thread::capabilities(None).unwrap();
        rustix::thread::set_capabilities(None, CapabilitySets { inheritable: wanted, ..sets }).unwrap();
        rustix::thread::configure_capability_in_ambient_set(wanted, true).unwrap();
        assert_eq!(held().unwrap().ambient, wanted, "the control");
        drop_all().unwrap();
        assert!(held().unwrap().is_nothing());
    });
}

fn capabilities_of_a_program() -> Vec<String> {
    let said = Command::new("grep").args(["^Cap[^B]", "/proc/self/status"]).output().unwrap();
    let lines = String::from_utf8(said.stdout).unwrap();
    lines.lines().map(|line| line.split_ascii_whitespace().nth(1).unwrap().to_owned()).collect()
}

fn no_capability_comes_back_by_exec() {
    as_each_user(|user| {
        let nothing = "0".repeat(16);
        let any = |sets: Vec<String>| {
            assert_eq!(sets.len(), 4);
            sets.iter().any(|set| *set != nothing)
        };
        assert_eq!(any(capabilities_of_a_program()), user != User::Ordinary, "the control");
        drop_all().unwrap();
        assert!(!any(capabilities_of_a_program()));
    });
}

/// What other processes may read of one depends on what it is permitted.
fn a_shield_is_gone_after_exec() {
    as_each_user(|user| match (user, drop_all_but_shield()) {
        (User::Ordinary, refused) => {
            assert!(matches!(refused, Err(CapabilityError::NoShield)), "{refused:?}")
        }
        (_, shielded) => {
            shielded.unwrap();
            let kept = held().unwrap();
            assert_eq!(kept.permitted.bits().count_ones(), 1, "{kept:?}");
            assert!((kept.effective | kept.inheritable | kept.ambient | kept.bounding).is_empty());
            assert!(Held::read().unwrap().capabilities_zero);
            let nothing = "0".repeat(16);
            assert!(capabilities_of_a_program().iter().all(|set| *set == nothing));
            let is_readable = || std::fs::read(format!("/proc/{}/environ", std::process::id())).is_ok();
            assert!(is_readable(), "the control: its own");
            let parent = std::process::id();
            let read = Command::new("cat").arg(format!("/proc/{parent}/environ")).output().unwrap();
            assert!(!read.status.success(), "a program without capabilities reads it");
            drop_all().unwrap();
            let read = Command::new("cat").arg(format!("/proc/{parent}/environ")).output().unwrap();
            assert!(read.status.success(), "the control: without the shield it can");
        }
    });
}

fn a_process_reads_back_what_holds_for_it() {
    as_each_user(|user| {
        let before = Held::read().unwrap();
        assert_eq!(before.capabilities_zero, user == User::Ordinary);
        assert!(!before.no_new_privs && before.seccomp == Seccomp::Off && !before.is_confined());
        assert_eq!(before.landlock_abi, shellgate_sandbox::probe::landlock());
        drop_all().unwrap();
        let dropped = Held::read().unwrap();
        assert!(dropped.capabilities_zero && dropped.no_new_privs && !dropped.is_confined());
        super::filter(&[]);
        let filtered = Held::read().unwrap();
        assert_eq!(filtered, Held { seccomp: Seccomp::Filtered, ..dropped });
        assert!(filtered.is_confined());
    });
}
