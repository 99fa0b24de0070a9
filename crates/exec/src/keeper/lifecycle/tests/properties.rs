//! What holds for all executions, whatever their processes do and front ends ask for.
//!
//! That no deadline stays in the past is asserted by [`World`] itself.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::world::{Input, Process, Setup, World, ended, is_last, ms};
use crate::Mode;
use crate::keeper::lifecycle::timing::{GIVE_UP_AFTER, KILL_GRACE, SUSPEND_TIMEOUT};
use crate::keeper::lifecycle::{Action, Cause, KillMode, Left, Timeouts};
use crate::outcome::{Clock, Exit};
use crate::wire::Urgency;

/// Every execution is stopped then, at the latest.
const LAST_STOP_MS: u64 = 9_000;

/// No process survives `SIGKILL` for longer.
const LAST_DEATH_MS: u64 = 15_000;

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![
        Just(Mode::FOREGROUND),
        (0_u64..3000).prop_map(|after| Mode::Foreground { answer_after: Some(ms(after)) }),
        (0_u64..3000).prop_map(|after| Mode::Background { answer_after: ms(after) }),
    ]
}

fn exit() -> impl Strategy<Value = Exit> {
    prop_oneof![Just(Exit::Code(0)), (1..255).prop_map(Exit::Code), (1..32).prop_map(Exit::Signal)]
}

prop_compose! {
    fn process()(
        exits in option::of((0_u64..6000, exit())),
        term_ms in option::of(0_u64..3000),
        unkillable_until in prop_oneof![9 => Just(0), 1 => 0..LAST_DEATH_MS],
        unborn_until in prop_oneof![2 => Just(0), 1 => 0_u64..4000],
        unclaimed_until in prop_oneof![2 => Just(0), 1 => 0_u64..4000],
        holds_streams in any::<bool>(),
    ) -> Process {
        Process { exits, term_ms, unkillable_until, unborn_until, unclaimed_until, holds_streams, dead: false }
    }
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        Just(Input::Stop(Urgency::Politely)),
        Just(Input::Stop(Urgency::Now)),
        Just(Input::Release),
        Just(Input::CallerGone),
        Just(Input::Print),
        Just(Input::ReaderBehind),
        Just(Input::ReaderCaughtUp),
        Just(Input::Suspend),
        Just(Input::Continue),
        Just(Input::ExceedLimit),
    ]
}

prop_compose! {
    fn setup()(
        mode in mode(),
        wall in option::of((0_u64..4000).prop_map(ms)),
        idle in option::of((0_u64..2000).prop_map(ms)),
        limited in any::<bool>(),
        program in process(),
        mut processes in vec(process(), 0..4),
        start in (0_u64..1000, prop_oneof![9 => Just(Input::Start), 1 => Just(Input::FailToStart)]),
        mut inputs in vec((0_u64..8000, input()), 0..8),
        urgency in prop_oneof![Just(Urgency::Politely), Just(Urgency::Now)],
    ) -> Setup {
        // The keeper knows the program from the start.
        processes.insert(0, Process { unclaimed_until: 0, unborn_until: 0, ..program });
        inputs.push(start);
        inputs.push((LAST_STOP_MS, Input::Stop(urgency)));
        Setup { mode, timeouts: Timeouts { wall, idle }, limited, processes, inputs }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn whatever_happens_an_execution_is_answered_once_and_ends_in_time(setup in setup()) {
        let world = World::run(&setup);
        answers_once(&setup, &world)?;
        ends_in_time(&world)?;
        kills_when_asking_fails(&setup, &world)?;
        gives_timeouts_their_time(&setup, &world)?;
        // An orphan that nothing recognises is killed with the session.
        let all_claimed = setup.processes.iter().all(|process| process.unclaimed_until == 0);
        prop_assert!(!all_claimed || !world.has_processes(), "no process outlives the last action");
    }
}

/// A caller gets one answer, an execution has one end, and nothing follows the last action.
fn answers_once(setup: &Setup, world: &World) -> Result<(), TestCaseError> {
    let count = |is: &dyn Fn(&Action) -> bool| world.done.iter().filter(|done| is(&done.action)).count();
    let answers =
        count(&|action| matches!(action, Action::AnswerRunning { .. } | Action::End { caller: Some(_), .. }));
    let caller_went = setup.inputs.iter().any(|(_, input)| *input == Input::CallerGone);
    prop_assert!(answers <= 1);
    prop_assert!(answers == 1 || caller_went, "the caller waits in vain: {:?}", world.done);
    prop_assert_eq!(count(&|action| matches!(action, Action::End { .. })), 1);
    let last = world.done.iter().position(|done| is_last(&done.action));
    prop_assert_eq!(last, Some(world.done.len() - 1));
    Ok(())
}

/// After the last stop, everything ends as soon as the graces and the processes allow.
fn ends_in_time(world: &World) -> Result<(), TestCaseError> {
    let longest = LAST_STOP_MS + millis(KILL_GRACE) + millis(GIVE_UP_AFTER);
    let (at, _) = ended(&world.done).unwrap();
    prop_assert!(at <= longest, "{at}");
    let last = world.done.iter().find(|done| is_last(&done.action)).unwrap();
    prop_assert!(last.at <= LAST_DEATH_MS.max(longest) + 10, "{}", last.at);
    Ok(())
}

/// A stop ends with an empty tree or has killed; processes have time to clean up before, and are suspended first.
fn kills_when_asking_fails(setup: &Setup, world: &World) -> Result<(), TestCaseError> {
    let killed = world.done.iter().position(|done| matches!(done.action, Action::Kill(_)));
    let gave_up = world
        .done
        .iter()
        .position(|done| matches!(done.action, Action::End { cause: Some(_), left: Left::Processes, .. }));
    prop_assert!(gave_up.is_none_or(|gave_up| killed.is_some_and(|killed| killed < gave_up)));
    let Some(killed) = killed.map(|at| world.done[at].at) else { return Ok(()) };
    let at_once = setup.limited || setup.inputs.iter().any(|(_, input)| *input == Input::Stop(Urgency::Now));
    let terminated = world.done.iter().find(|done| done.action == Action::Terminate);
    prop_assert!(at_once || terminated.is_some_and(|asked| killed >= asked.at + millis(KILL_GRACE)));
    let anyway = world.done.iter().find(|done| done.action == Action::Kill(KillMode::Anyway));
    prop_assert!(anyway.is_none_or(|anyway| anyway.at >= killed + millis(SUSPEND_TIMEOUT)));
    Ok(())
}

/// A timeout that ended an execution was set, and its time had passed.
fn gives_timeouts_their_time(setup: &Setup, world: &World) -> Result<(), TestCaseError> {
    let timed_out = world.done.iter().find_map(|done| match done.action {
        Action::End { cause: Some(Cause::TimedOut(clock)), .. } => Some((done.at, clock)),
        _ => None,
    });
    let Some((at, clock)) = timed_out else { return Ok(()) };
    let (limit, set) = match clock {
        Clock::Wall(limit) => (limit, setup.timeouts.wall),
        Clock::Idle(limit) => (limit, setup.timeouts.idle),
    };
    prop_assert_eq!(Some(limit), set);
    let started = setup.inputs.iter().find(|(_, input)| *input == Input::Start).map(|(at, _)| *at);
    prop_assert!(ms(at) >= ms(started.unwrap()) + limit);
    Ok(())
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap()
}
