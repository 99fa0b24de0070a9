//! Disturbs processes of the soak at random: kills, suspends, lets system calls fail.

use std::time::Duration;

use rustix::process::Signal;

use super::dice::Dice;
use super::processes::{self, Process, Role};
use super::{Soak, faults};

/// Milliseconds between two disturbances of a thread.
const PAUSE_MS: std::ops::Range<u64> = 300..2000;
/// The longest time for which a process is suspended.
const SUSPENDED_MAX_MS: u64 = 1000;

#[derive(Clone, Copy)]
enum Kind {
    Kill,
    Suspend,
    Fault,
}

/// Disturbs processes until nothing is to be disturbed any more.
pub(super) fn disturb_on(soak: &Soak, mut dice: Dice) {
    while !soak.is_calm() {
        std::thread::sleep(dice.millis(PAUSE_MS.start, PAUSE_MS.end));
        let kind = dice.weighted(&[(5, Kind::Kill), (2, Kind::Suspend), (3, Kind::Fault)]);
        match kind {
            Some(Kind::Kill) => kill(soak, &mut dice),
            Some(Kind::Suspend) => suspend(soak, &mut dice),
            Some(Kind::Fault) => fault(soak, &mut dice),
            None => (),
        }
    }
}

fn kill(soak: &Soak, dice: &mut Dice) {
    let roles =
        [(3, Role::FrontEnd), (3, Role::Keeper), (2, Role::Standby), (2, Role::Server), (1, Role::Sandbox)];
    let Some(role) = dice.weighted(&roles) else { return };
    let Some(process) = find(soak, dice, |process| process.role == role && !process.is_steady) else {
        return;
    };
    let _disturbance = soak.disturbances.begin();
    process.signal(Signal::KILL);
    soak.tally.add_chaos(format!("kill of {}", name(role)));
}

fn suspend(soak: &Soak, dice: &mut Dice) {
    let is_fit = |process: &Process| matches!(process.role, Role::Keeper | Role::Server);
    let Some(process) = find(soak, dice, is_fit) else { return };
    let _disturbance = soak.disturbances.begin();
    process.signal(Signal::STOP);
    std::thread::sleep(dice.millis(0, SUSPENDED_MAX_MS));
    process.signal(Signal::CONT);
    soak.tally.add_chaos(format!("suspension of {}", name(process.role)));
}

fn fault(soak: &Soak, dice: &mut Dice) {
    let is_fit = |process: &Process| {
        matches!(process.role, Role::Keeper | Role::Standby | Role::Server) && !process.is_steady
    };
    let Some(process) = find(soak, dice, is_fit) else { return };
    let _disturbance = soak.disturbances.begin();
    let fault = faults::random(dice, 6);
    faults::attach(&soak.place, process.pid, &fault, Duration::from_millis(200 + dice.below(800)));
    // A process whose tracer was killed may be stopped.
    process.signal(Signal::CONT);
    soak.tally.add_chaos(format!("fault in {}", name(process.role)));
}

/// A random process of those that fit.
fn find(soak: &Soak, dice: &mut Dice, is_fit: impl Fn(&Process) -> bool) -> Option<Process> {
    let mut fit: Vec<Process> = processes::all(&soak.place).into_iter().filter(is_fit).collect();
    let nth = usize::try_from(dice.below(fit.len() as u64)).unwrap_or(0);
    (nth < fit.len()).then(|| fit.swap_remove(nth))
}

const fn name(role: Role) -> &'static str {
    match role {
        Role::FrontEnd => "a front end",
        Role::Keeper => "a keeper",
        Role::Standby => "a standby process",
        Role::Server => "a server",
        Role::Sandbox => "a process of the sandbox",
    }
}
