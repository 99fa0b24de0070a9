//! The library inside a host program: many calls without leaks, and the queue of executions.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use shellgate::request::Action;
use shellgate::settings::Flags;
use shellgate::{Dialect, Event, Execution, Follow, Gate, Request, State, Urgency};

use crate::support::{Place, wait_until};

fn shell(text: &str) -> Request {
    Request { action: Action::Shell(text.to_owned()), ..Request::default() }
}

fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

fn resident_kb(pid: u32) -> u64 {
    kb(pid, "VmRSS:")
}

/// The memory that is a process's own. Pages of the program's file are shared, and there are many in a program that isn't optimized.
fn private_kb(pid: u32) -> u64 {
    kb(pid, "RssAnon:")
}

fn kb(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The zombie children of a process.
fn zombies_of(parent: u32) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let fields = stats.filter_map(|stat| stat.rsplit_once(") ").map(|(_, fields)| fields.to_owned()));
    fields.filter(|fields| fields.starts_with(&format!("Z {parent} "))).count()
}

/// The keeper of the gate's session.
fn keeper_of(place: &Place, gate: &Gate) -> u32 {
    let held = gate.run(Request { background: true, ..shell("sleep 1") });
    assert_eq!(held.status, State::Running);
    let [keeper] = place.keepers()[..] else { panic!("{:?}", place.keepers()) };
    u32::try_from(keeper).unwrap()
}

fn many_calls(gate: &Gate, calls: usize, at_a_time: usize) {
    let left = AtomicUsize::new(calls);
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                while left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                    .is_ok()
                {
                    assert_eq!(gate.run(shell("true")).status, State::Completed);
                }
            });
        }
    });
}

/// Both sides may keep a connection for each of the eight threads, with what its next command needs.
const KEPT_DESCRIPTORS: usize = 8 * 8;

#[test]
fn ten_thousand_calls_leave_no_zombie_no_descriptor_and_no_memory() {
    let place = Place::new(None);
    let gate = place.gate();
    let (own, keeper) = (std::process::id(), keeper_of(&place, &gate));
    many_calls(&gate, 1000, 8);
    let before = [own, keeper].map(|pid| (descriptors(pid), resident_kb(pid)));
    many_calls(&gate, 10_000, 8);
    assert_eq!(keeper_of(&place, &gate), keeper, "one keeper did it all");
    for (pid, (open, resident)) in [own, keeper].into_iter().zip(before) {
        wait_until("descriptors are closed", || descriptors(pid) <= open + KEPT_DESCRIPTORS);
        assert!(resident_kb(pid) < resident + 1024, "{} kB, then {} kB", resident, resident_kb(pid));
        assert_eq!(zombies_of(pid), 0);
    }
    assert!(private_kb(keeper) < 5 << 10, "{} kB", private_kb(keeper));
    drop(gate);
    place.assert_nothing_is_left();
    assert_eq!(zombies_of(own), 0, "the keeper is not our child");
}

/// Follows an execution until it says `state`.
fn until(execution: &mut Execution, state: State) {
    while !matches!(execution.next().unwrap(), Event::State(seen) if seen == state) {}
}

fn gate_for_two(place: &Place) -> Gate {
    let config = place.write("two.toml", "[limits]\nmax_running = 2\n");
    let builder = Gate::builder().root(place.root()).state_folder(place.state()).config(config);
    builder.keeper_program(crate::support::shellgate()).flags(crate::support::unasked()).build().unwrap()
}

#[test]
fn with_two_places_the_third_waits_for_its_turn() {
    let place = Place::new(None);
    let gate = gate_for_two(&place);
    let submit = |text: &str| gate.submit(shell(text), Follow::Closely).unwrap();
    let wait = |name: &str| format!("until [ -e {name} ]; do sleep 0.01; done");
    let mut first = submit(&wait("go1"));
    let mut second = submit(&wait("go2"));
    until(&mut first, State::Running);
    until(&mut second, State::Running);
    let mut third = submit("echo third >> order; sleep 0.1");
    let mut fourth = submit("echo fourth >> order; sleep 0.1");
    let mut canceled = submit("echo canceled >> order");
    let mut fifth = submit("echo fifth >> order");
    until(&mut third, State::Queued);
    assert!(!place.root().join("order").exists(), "nothing of it has started");
    canceled.stop(Urgency::Politely).unwrap();
    let report = canceled.wait().unwrap();
    assert_eq!((report.status, report.pid, report.canceled), (State::Canceled, None, true));
    std::fs::write(place.root().join("go1"), "").unwrap();
    assert_eq!(first.wait().unwrap().status, State::Completed);
    for execution in [&mut third, &mut fourth, &mut fifth] {
        assert_eq!(execution.wait().unwrap().status, State::Completed);
    }
    let order = std::fs::read_to_string(place.root().join("order")).unwrap();
    assert_eq!(order, "third\nfourth\nfifth\n", "first come, first served; the canceled one never ran");
    std::fs::write(place.root().join("go2"), "").unwrap();
    assert_eq!(second.wait().unwrap().status, State::Completed);
}

#[test]
fn a_clock_starts_with_the_command_not_with_the_wait() {
    let place = Place::new(None);
    let gate = gate_for_two(&place);
    let mut blockers: Vec<_> =
        (0..2).map(|_| gate.submit(shell("sleep 1000"), Follow::Closely).unwrap()).collect();
    blockers.iter_mut().for_each(|blocker| until(blocker, State::Running));
    let timeout = std::time::Duration::from_secs(2);
    let request = Request { timeout: Some(timeout), ..shell("echo ran") };
    let mut waiting = gate.submit(request, Follow::Closely).unwrap();
    until(&mut waiting, State::Queued);
    // Its timeout would pass while it is queued.
    std::thread::sleep(timeout);
    blockers[0].stop(Urgency::Now).unwrap();
    let report = waiting.wait().unwrap();
    assert_eq!((report.status, report.stdout.as_str()), (State::Completed, "ran\n"));
    gate.stop_session(Urgency::Now).unwrap();
}

#[test]
fn leftovers_and_jobs_do_not_count_as_running() {
    let place = Place::new(None);
    let gate = gate_for_two(&place);
    for _ in 0..3 {
        let _ = gate.run(shell("sleep 1000 &"));
        let _ = gate.run(Request { background: true, ..shell("sleep 1000") });
    }
    assert_eq!(gate.run(shell("echo free")).stdout, "free\n");
    assert_eq!(gate.stop_session(Urgency::Politely).unwrap(), 6);
}

#[test]
fn waiting_again_gives_the_same_answer_and_changes_nothing() {
    let place = Place::new(None);
    let gate = place.gate();
    let entries = || {
        let record = shellgate::RecordStore::open(Some(place.state())).unwrap();
        match record.journal().verify().unwrap() {
            shellgate::journal::Verification::Intact(intact) => intact.entries,
            broken => panic!("{broken:?}"),
        }
    };
    for later in [false, true] {
        let request =
            Request { artifacts: vec!["made".to_owned()], ..shell("sleep 1000 & echo a | tee made") };
        let mut execution = gate.submit(request, Follow::Closely).unwrap();
        if later {
            execution.record_later();
        }
        let first = execution.wait().unwrap();
        execution.record();
        assert_eq!((first.status, first.background.len()), (State::Completed, 1));
        let written = entries();
        std::fs::write(place.root().join("made"), "another text").unwrap();
        for _ in 0..2 {
            let again = execution.wait().unwrap();
            assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&first).unwrap());
            assert!(matches!(execution.next().unwrap(), Event::Ended(end) if end.status == State::Completed));
            assert!(execution.try_next().unwrap().is_none());
            execution.record();
        }
        assert!(crate::support::is_alive(u64::from(first.background[0].pid)), "its background child goes on");
        assert_eq!(entries(), written, "the end is recorded once");
    }
    gate.stop_session(Urgency::Now).unwrap();
    drop(gate);
    place.assert_nothing_is_left();
}

#[test]
fn a_call_answers_in_the_dialect_s_shape_whatever_comes() {
    let place = Place::new(None);
    let gate = place.gate();
    let answer = |text: &str| serde_json::from_str::<Value>(&gate.call(Dialect::SHELLGATE, text)).unwrap();
    assert_eq!(answer(r#"{"command": "echo hi"}"#)["stdout"], json!("hi\n"));
    for text in
        ["", "{", "[]", "null", "\"x\"", "{\"command\": 1}", "{\"command\": \"a\", \"command\": \"b\"}"]
    {
        let answer = answer(text);
        assert_eq!(answer["error"]["code"], json!("invalid_input"), "{text}");
        assert!(answer["error"]["message"].as_str().unwrap().starts_with("invalid input:"), "{text}");
    }
}

#[test]
fn every_call_starts_fresh() {
    let place = Place::new(None);
    let gate = place.gate();
    let _ = gate.run(shell("cd /; export LEFT=1; alias x=y; f() { :; }; umask 000; ulimit -n 64"));
    let report = gate.run(shell("pwd; echo ${LEFT-unset}; type x f 2>/dev/null | wc -l; umask; ulimit -n"));
    let umask = std::process::Command::new("bash").args(["-c", "umask; ulimit -n"]).output().unwrap();
    let wanted = format!("{}\nunset\n0\n{}", gate.root().display(), String::from_utf8(umask.stdout).unwrap());
    assert_eq!(report.stdout, wanted);
}

#[test]
fn a_gate_without_its_keeper_program_says_so() {
    let place = Place::new(None);
    let built = Gate::builder().root(place.root()).state_folder(place.state()).flags(Flags::default());
    let error = built.keeper_program("/nonexistent/shellgate").build().unwrap_err();
    assert_eq!(error.code, shellgate::Code::Config);
    assert!(error.message.contains("/nonexistent/shellgate"), "{error}");
}

/// Two callers may start a keeper at the same time. It may serve the other one and exit before this one connects.
#[test]
fn a_keeper_that_exits_before_its_starter_connects_is_started_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new(None);
    let (tried, shellgate) = (place.root().join("tried"), crate::support::shellgate());
    // The first time it says that a keeper listens, and none does.
    let script = format!(
        "#!/bin/sh\n[ -e '{0}' ] || {{ : > '{0}'; exit 0; }}\nexec '{1}' \"$@\"\n",
        tried.display(),
        shellgate.display()
    );
    let program = place.write("keeper", &script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let builder = Gate::builder().root(place.root()).state_folder(place.state()).keeper_program(program);
    let gate = builder.flags(crate::support::unasked()).build().unwrap();
    assert!(tried.exists());
    assert_eq!(gate.run(shell("echo hi")).stdout, "hi\n");
    drop(gate);
    place.assert_nothing_is_left();
}

#[test]
fn pruning_removes_entries_with_their_files_and_the_chain_still_verifies() {
    let place = Place::new(None);
    let gate = place.gate();
    let reports: Vec<_> = (0..3).map(|_| gate.run(shell("head -c 2000000 /dev/zero"))).collect();
    drop(gate);
    let kept = || shellgate::RecordStore::open(Some(place.state())).unwrap();
    let names = || kept().journal().history(&shellgate::journal::Query::default()).unwrap();
    assert_eq!(names().len(), 3);
    let config = place.write("little.toml", "[journal]\nkeep_mb = 5\n");
    let builder = Gate::builder().root(place.root()).state_folder(place.state()).config(config);
    drop(
        builder.keeper_program(crate::support::shellgate()).flags(crate::support::unasked()).build().unwrap(),
    );
    let left: Vec<String> = names().into_iter().map(|execution| execution.id).collect();
    assert_eq!(left, [reports[2].id.clone(), reports[1].id.clone()], "the oldest went");
    let there: Vec<bool> =
        reports.iter().map(|report| report.stdout_file.as_ref().unwrap().exists()).collect();
    assert_eq!(there, [false, true, true]);
    let verified = kept().journal().verify().unwrap();
    assert!(matches!(verified, shellgate::journal::Verification::Intact(_)), "{verified:?}");
    place.assert_nothing_is_left();
}

#[test]
fn a_gate_without_record_writes_no_journal() {
    let place = Place::new(None);
    let builder = || {
        let builder = Gate::builder().root(place.root()).state_folder(place.state());
        builder.keeper_program(crate::support::shellgate()).flags(crate::support::unasked())
    };
    let gate = builder().without_record().build().unwrap();
    assert_eq!(gate.run(shell("echo hi")).stdout, "hi\n");
    drop(gate);
    assert!(!place.state().join("journal.db").exists());
    assert_eq!(builder().build().unwrap().run(shell("echo hi")).stdout, "hi\n");
    assert!(place.state().join("journal.db").exists(), "a gate with a record writes the journal");
    place.assert_nothing_is_left();
}
