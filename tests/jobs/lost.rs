//! What happens to a job when its keeper or standby process is killed.

use serde_json::json;

use super::{json_of, listed, run, start, start_with};
use crate::support::{for_each_user, is_alive, mark, processes_with, wait_until};

#[test]
fn a_killed_keeper_takes_its_jobs_along_and_the_record_says_so() {
    for_each_user(|place| {
        let mark = mark();
        let id = start(place, &format!("echo printed; (setsid sleep {mark} &) ; sleep {mark}; true"));
        wait_until("all of it runs", || processes_with(&mark).len() >= 2);
        wait_until("it is written", || run(place, &["logs", &id]).0 == "printed\n");
        let keeper = place.keepers();
        assert_eq!(keeper.len(), 1);
        crate::support::kill(keeper[0]);
        wait_until("it is gone", || !is_alive(keeper[0]));
        let job = listed(place, &id).unwrap();
        assert_eq!((&job["status"], &job["stdout_bytes"]), (&json!("failed"), &json!(8)), "{job}");
        assert!(job["age_ms"].as_u64() >= Some(1), "{job}");
        wait_until("no process of the job is left", || processes_with(&mark).is_empty());
        let answer = json_of(place, &["wait", &id, "--json"]);
        assert_eq!(
            (&answer["error"]["code"], &answer["stdout"]),
            (&json!("keeper_lost"), &json!("printed\n")),
            "{answer}"
        );
        assert!(answer["duration_ms"].as_u64() >= Some(1), "{answer}");
        assert_eq!(run(place, &["logs", &id]).0, "printed\n");
        let story = run(place, &["history", "show", &id]).0;
        assert!(story.contains("the keeper was lost"), "{story}");
        assert_eq!(run(place, &["audit", "verify"]).1, Some(0));
        // The session's next call starts another keeper.
        assert_eq!(place.call(&json!({"command": "echo again"}))["stdout"], "again\n");
        place.assert_nothing_is_left();
    });
}

/// The keeper lives and holds the job. It can't be reached.
#[test]
fn a_job_whose_keeper_lost_its_socket_goes_on() {
    for_each_user(|place| {
        let id = start(place, "until [ -e go ]; do sleep 0.01; done; exit 7");
        let sockets = std::fs::read_dir(place.state().join("sessions")).unwrap().flatten();
        sockets.for_each(|entry| std::fs::remove_file(entry.path()).unwrap());
        let (text, code) = run(place, &["jobs"]);
        assert!(code != Some(0) && !text.contains("no command is running"), "{code:?} {text}");
        place.write("go", "");
        wait_until("its end is in the record", || {
            run(place, &["history"]).0.lines().any(|line| line.contains(&id) && line.contains("failed 7"))
        });
        place.assert_nothing_is_left();
    });
}

/// A copy names the same executions. Their keepers belong to the original.
#[test]
fn looking_at_a_copy_of_the_state_folder_ends_nothing() {
    for_each_user(|place| {
        let id = start(place, "until [ -e go ]; do sleep 0.01; done; exit 7");
        let copy = place.home().join("copy");
        assert!(place.program("cp").arg("-a").args([&place.state(), &copy]).status().unwrap().success());
        for words in [&["history"][..], &["jobs"], &["audit", "verify"], &["doctor"]] {
            place.shellgate(words.iter().copied()).env("SHELLGATE_HOME", &copy).output().unwrap();
        }
        place.write("go", "");
        assert_eq!(run(place, &["wait", &id]).1, Some(7));
        place.assert_nothing_is_left();
    });
}

/// The record has a running job from before the last reboot.
#[test]
fn a_reboot_is_noticed() {
    let place = super::Place::new(None);
    assert_eq!(place.call(&json!({"command": "true"}))["status"], "completed");
    let journal = shellgate::journal::Journal::open(&place.state()).unwrap();
    let asked = journal.history(&shellgate::journal::Query::default()).unwrap()[0].asked.clone().unwrap();
    let before = shellgate::journal::ProcessIdentity("1 1 another-boot".to_owned());
    let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let asked = shellgate::journal::RecordedRequest { asker: Some(before.clone()), ..asked };
    let started = shellgate::journal::RecordedStart { caller: Some(before), ..Default::default() };
    journal.begin(id, "s", asked, vec![shellgate::journal::Step::Started(started)]).unwrap();
    drop(journal);
    let story = run(&place, &["history", "show", id]).0;
    assert!(story.contains("the machine was restarted while the command ran"), "{story}");
}

/// The keeper is killed while it moves bytes, several times.
#[test]
fn no_byte_is_lost_when_the_keeper_is_killed_while_a_job_prints() {
    // After each line, the command writes to a file how many lines it has printed.
    let writer = "import os\nn = 0\nwhile True:\n  os.write(1, b'%08d\\n' % n); n += 1\n  os.pwrite(9, b'%08d' % n, 0)\n";
    for_each_user(|place| {
        place.write("writer.py", writer);
        for (pty, round) in [false, true].into_iter().flat_map(|pty| (0..4).map(move |round| (pty, round))) {
            let arguments = json!({"command": format!("exec 9>count.{pty}.{round}; exec python3 writer.py"),
                "background": true, "pty": pty});
            let id = start_with(place, &arguments);
            let count = place.root().join(format!("count.{pty}.{round}"));
            wait_until("it prints", || std::fs::read(&count).is_ok_and(|count| !count.is_empty()));
            crate::support::kill(place.keepers()[0]);
            wait_until("it has ended", || listed(place, &id).is_some_and(|job| job["processes"] == 0));
            wait_until("the standby has taken all", || place.holders("shellgate-stby").is_empty());
            let printed: usize = std::fs::read_to_string(&count).unwrap().parse().unwrap();
            let log = std::fs::read(place.state().join(format!("spool/{id}.stdout"))).unwrap();
            let log = String::from_utf8(log).unwrap().replace("\r\n", "\n");
            assert!(log.len() / 9 >= printed, "{printed} lines printed, {} kept", log.len() / 9);
            let expected: String = (0..log.len() / 9).map(|n| format!("{n:08}\n")).collect();
            assert!(log.starts_with(&expected), "whole and in order");
            place.assert_nothing_is_left();
        }
    });
}

#[test]
fn a_killed_standby_has_a_successor() {
    for_each_user(|place| {
        let mark = mark();
        let id = start(place, &format!("echo printed; (setsid sleep {mark} &) ; exec sleep {mark}"));
        wait_until("all of it runs", || processes_with(&mark).len() >= 2);
        let first = place.holders("shellgate-stby");
        assert_eq!(first.len(), 1);
        crate::support::kill(first[0]);
        wait_until("there is another", || {
            let standbys = place.holders("shellgate-stby");
            standbys.len() == 1 && standbys != first
        });
        crate::support::kill(place.keepers()[0]);
        // Only the standby process ends a process that has left its session before the next call does.
        wait_until("no process of the job is left", || processes_with(&mark).is_empty());
        assert_eq!(run(place, &["logs", &id]).0, "printed\n");
        place.assert_nothing_is_left();
    });
}

/// When the keeper dies, the standby process saves the bytes in the pipe. Here the keeper is suspended first, so all
/// bytes are still in the pipe.
#[test]
fn what_is_in_the_pipe_is_kept_when_the_keeper_is_killed() {
    for_each_user(|place| {
        place.write("wait", "");
        let writer = "while [ -e wait ]; do sleep 0.01; done; seq 1000; touch printed; exec sleep 600";
        let id = start(place, writer);
        let keeper = place.keepers()[0];
        let pid = rustix::process::Pid::from_raw(i32::try_from(keeper).unwrap()).unwrap();
        let sleeps = || std::fs::read_to_string(format!("/proc/{keeper}/stat")).unwrap().contains(") S ");
        wait_until("it has nothing to do", sleeps);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        std::fs::remove_file(place.root().join("wait")).unwrap();
        wait_until("all is printed", || place.root().join("printed").exists());
        crate::support::kill(keeper);
        let expected: String = (1..=1000).map(|n| format!("{n}\n")).collect();
        wait_until("all of it is kept", || run(place, &["logs", &id]).0 == expected);
        wait_until("it has ended", || listed(place, &id).is_some_and(|job| job["processes"] == 0));
        place.assert_nothing_is_left();
    });
}

/// A command can suspend its keeper. `jobs` and `stop` still work.
#[test]
fn a_suspended_keeper_is_woken_and_a_stubborn_one_ended() {
    for_each_user(|place| {
        let mark = mark();
        let id = start(place, &format!("exec sleep {mark}"));
        let keeper = place.keepers()[0];
        let suspend = |pid: u64| {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        };
        suspend(keeper);
        assert_eq!(listed(place, &id).unwrap()["status"], "running");
        suspend(keeper);
        assert_eq!(run(place, &["stop", "--all"]).1, Some(0));
        assert!(processes_with(&mark).is_empty());
        place.assert_nothing_is_left();
    });
}

/// The keeper and its standby process are killed at once, so neither can end what a completed command left.
#[test]
fn what_a_completed_command_left_is_ended_when_keeper_and_standby_are_killed_together() {
    for_each_user(|place| {
        let mark = mark();
        let text = format!("(setsid sleep {mark} &); echo left");
        let answer = place.call_with(&["--sandbox", "off"], &json!({"command": text}));
        assert_eq!(answer["stdout"], "left\n", "{answer}");
        let [keeper] = place.keepers()[..] else { panic!("one keeper") };
        wait_until("there is a standby process", || place.holders("shellgate-stby").len() == 1);
        let standby = place.holders("shellgate-stby")[0];
        for pid in [keeper, standby] {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        }
        [keeper, standby].into_iter().for_each(crate::support::kill);
        wait_until("both are gone", || !is_alive(keeper) && !is_alive(standby));
        assert_eq!(processes_with(&format!("sleep {mark}")).len(), 1);
        assert_eq!(run(place, &["jobs"]).1, Some(0));
        assert!(processes_with(&format!("sleep {mark}")).is_empty(), "the look at the jobs ended it");
        place.assert_nothing_is_left();
    });
}

/// All that `shellgate WORDS` printed, and its exit code.
fn said(place: &super::Place, words: &[&str]) -> (String, Option<i32>) {
    let output = place.output(words);
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code())
}

/// The socket of a keeper with a job is removed, replaced, or removed with its folder. The job is told of and stopped all the same.
#[test]
fn a_keeper_that_can_t_be_reached_is_named_and_stopped() {
    type Harm = fn(&std::path::Path);
    let harms: [(&str, Harm); 4] = [
        ("removed", |socket| std::fs::remove_file(socket).unwrap()),
        ("a folder", |socket| {
            std::fs::remove_file(socket).unwrap();
            std::fs::create_dir(socket).unwrap();
        }),
        ("another one", |socket| {
            std::fs::remove_file(socket).unwrap();
            // It accepts no connection, as that of a killed keeper.
            drop(std::os::unix::net::UnixListener::bind(socket).unwrap());
        }),
        ("removed with its folder", |socket| std::fs::remove_dir_all(socket.parent().unwrap()).unwrap()),
    ];
    for (how, harm) in harms {
        for by_id in [true, false].into_iter().skip(usize::from(how != "removed")) {
            let place = super::Place::new(None);
            let mark = mark();
            let id = start(&place, &format!("sleep {mark}"));
            wait_until("it runs", || !processes_with(&mark).is_empty());
            let sockets = std::fs::read_dir(place.state().join("sessions")).unwrap().flatten();
            sockets.for_each(|entry| harm(&entry.path()));
            let (text, code) = said(&place, &["jobs"]);
            assert!(code != Some(0), "{how}: {code:?} {text}");
            let words = if by_id { ["stop", &id] } else { ["stop", "--all"] };
            let (text, code) = said(&place, &words);
            wait_until("its processes are gone", || processes_with(&mark).is_empty());
            assert!(by_id || code != Some(0) && text.contains("was killed"), "{how}: {code:?} {text}");
            wait_until("its end is in the record", || {
                !run(&place, &["history"])
                    .0
                    .lines()
                    .any(|line| line.contains(&id) && line.contains("running"))
            });
            let next = place.call(&json!({"command": "echo next"}));
            // No socket can be made where a folder stands.
            let is_told = how == "a folder" && next["error"]["code"] == "config";
            assert!(is_told || next["stdout"] == "next\n", "{how}: {next}");
        }
    }
}

/// Jobs can be stopped although the record can't be read.
#[test]
fn jobs_are_stopped_though_the_record_is_damaged() {
    for by_id in [true, false] {
        for damage in [&b"nonsense"[..], b""] {
            let place = super::Place::new(None);
            let mark = mark();
            let id = start(&place, &format!("sleep {mark}"));
            wait_until("it runs", || !processes_with(&mark).is_empty());
            ["journal.db", "journal.db-wal"]
                .iter()
                .for_each(|name| std::fs::write(place.state().join(name), damage).unwrap());
            let words = if by_id { ["stop", &id] } else { ["stop", "--all"] };
            let (text, code) = said(&place, &words);
            assert_eq!(processes_with(&mark), [0; 0], "{code:?} {text}");
            assert!(code != Some(0) && text.contains("1 execution was stopped, but"), "{code:?} {text}");
        }
    }
}

/// So many connections wait for a keeper that another one would wait for ever. It is suspended again and again, so that waking it
/// doesn't help.
#[test]
fn a_keeper_that_takes_no_connection_is_named_and_stopped() {
    let place = super::Place::new(None);
    let mark = mark();
    start(&place, &format!("sleep {mark}"));
    wait_until("it runs", || !processes_with(&mark).is_empty());
    let socket = std::fs::read_dir(place.state().join("sessions")).unwrap().flatten().next().unwrap().path();
    let keeper = rustix::process::Pid::from_raw(i32::try_from(place.keepers()[0]).unwrap()).unwrap();
    rustix::process::kill_process(keeper, rustix::process::Signal::STOP).unwrap();
    let connect = || {
        let flags = rustix::net::SocketFlags::NONBLOCK | rustix::net::SocketFlags::CLOEXEC;
        let (family, kind) = (rustix::net::AddressFamily::UNIX, rustix::net::SocketType::STREAM);
        let connection = rustix::net::socket_with(family, kind, flags, None).unwrap();
        let address = rustix::net::SocketAddrUnix::new(&socket).unwrap();
        rustix::net::connect(&connection, &address).map(|()| connection)
    };
    let waiting: Vec<_> = std::iter::repeat_with(connect).map_while(Result::ok).collect();
    assert!(!waiting.is_empty());
    let (text, code) = said(&place, &["jobs"]);
    assert!(code != Some(0) && text.contains(&keeper.to_string()), "{code:?} {text}");
    let (text, code) = said(&place, &["stop", "--all"]);
    wait_until("its processes are gone", || processes_with(&mark).is_empty());
    assert!(code != Some(0) && text.contains("was killed"), "{code:?} {text}");
}
