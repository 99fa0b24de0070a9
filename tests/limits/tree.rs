//! For each limit, a command that stays below it and one that exceeds it.

use serde_json::json;

use super::{assert_ended_by, assert_no_trace, assert_untouched, id, limit, mechanism, run};
use crate::support::{for_each_user, mark, processes_with};

/// A command that allocates this many megabytes.
fn hog(mb: u32) -> String {
    format!("python3 -c 'x = b\"a\" * ({mb} << 20); print(len(x))'")
}

#[test]
fn memory() {
    for_each_user(|place| {
        limit(place, "memory_mb = 120");
        assert_untouched(&run(place, &hog(40)), &format!("{}\n", 40 << 20));
        let mark = mark();
        let answer = run(place, &format!("(setsid sleep {mark} &); {}; sleep 3600", hog(1000)));
        assert_ended_by(&answer, "memory_mb", 120, "used more than 120 MB of memory");
        assert_eq!((&answer["stdout"], processes_with(&mark)), (&json!(""), vec![]), "with all that it left");
        assert_no_trace(place, id(&answer));
        limit(place, "");
        assert_untouched(&run(place, &hog(300)), &format!("{}\n", 300 << 20));
    });
}

/// No single process exceeds the limit, but all of them together do.
#[test]
fn memory_of_many() {
    for_each_user(|place| {
        limit(place, "memory_mb = 150");
        let many =
            |count: u32| format!("for i in $(seq {count}); do python3 -c '{SLEEPER}' & done; wait; echo all");
        const SLEEPER: &str = "import time; x = b\"a\" * (30 << 20); time.sleep(2)";
        assert_untouched(&run(place, &many(2)), "all\n");
        let answer = run(place, &many(8));
        assert_ended_by(&answer, "memory_mb", 150, "used more than 150 MB of memory");
        assert_no_trace(place, id(&answer));
    });
}

/// Memory that a process shares with its children counts once.
#[test]
fn memory_that_is_shared() {
    for_each_user(|place| {
        limit(place, "memory_mb = 150");
        let script = "import os, time\nx = b\"a\" * (60 << 20)\n\
                      for i in range(4):\n    if os.fork() == 0: time.sleep(1); os._exit(0)\n\
                      for i in range(4): os.wait()\nprint(len(x))";
        assert_untouched(&run(place, &format!("python3 -c '{script}'")), &format!("{}\n", 60 << 20));
    });
}

/// A command that starts up to `count` processes at once, and prints how many it got.
fn fork(count: u32) -> String {
    format!(
        "python3 -c '
import os, time
made = 0
for i in range({count}):
    try:
        if os.fork() == 0: time.sleep(2); os._exit(0)
        made += 1
    except BlockingIOError: break
print(made, flush=True)
for i in range(made): os.wait()'"
    )
}

#[test]
fn processes() {
    for_each_user(|place| {
        limit(place, "processes = 20");
        assert_untouched(&run(place, &fork(10)), "10\n");
        let answer = run(place, &fork(60));
        if mechanism(place, "processes") == "watched" {
            let says = "wanted more than 20 processes and threads at once";
            assert_ended_by(&answer, "processes", 20, says);
        } else {
            // The command goes on with the processes that it has.
            let error = &answer["error"];
            assert_eq!((&answer["status"], &error["code"]), (&json!("completed"), &json!("limit_exceeded")));
            let says = "the command wanted more than 20 processes and threads at once and was given no more (limits.processes)";
            assert_eq!(error["message"], says);
            let made: u32 = answer["stdout"].as_str().unwrap().trim().parse().unwrap();
            assert!((15..20).contains(&made), "{answer}");
        }
        assert_no_trace(place, id(&answer));
        limit(place, "");
        assert_untouched(&run(place, &fork(60)), "60\n");
    });
}

/// `run` exits as the command does, and never with 0 when it was ended.
#[test]
fn exit_codes_of_run() {
    for_each_user(|place| {
        limit(place, "memory_mb = 120\ndisk_mb = 4");
        let code = |command: &str| {
            let output = place.output(["run", command]);
            (output.status.code(), String::from_utf8_lossy(&output.stderr).contains("limit_exceeded: "))
        };
        assert_eq!(code("exit 7"), (Some(7), false));
        assert_eq!(code(&hog(1000)), (Some(137), true));
        assert_eq!(code("exec head -c 9000000 /dev/zero >large"), (Some(153), true));
        assert_eq!(code("head -c 9000000 /dev/zero >large; exit 0"), (Some(137), true));
        limit(place, "processes = 20");
        let expected = if mechanism(place, "processes") == "watched" { 137 } else { 0 };
        assert_eq!(code(&fork(60)), (Some(expected), true));
    });
}

#[test]
fn processor_time() {
    for_each_user(|place| {
        limit(place, "cpu_s = 1");
        assert_untouched(&run(place, "sleep 1.5; echo slept"), "slept\n");
        let answer = run(place, "while :; do :; done");
        assert_ended_by(&answer, "cpu_s", 1, "used more than 1 s of processor time");
        assert_no_trace(place, id(&answer));
    });
}

/// Several processes run for a short time, one after the other, and one of them is an orphan.
#[test]
fn processor_time_of_many() {
    for_each_user(|place| {
        limit(place, "cpu_s = 1");
        let burn = |many: u32| {
            let burner = "import time\nwhile time.process_time() < 0.3: pass";
            format!(
                "for i in $(seq {many}); do python3 -c '{burner}'; done; (setsid python3 -c '{burner}' &); sleep 2; echo all"
            )
        };
        assert_untouched(&run(place, &burn(1)), "all\n");
        let answer = run(place, &burn(6));
        assert_ended_by(&answer, "cpu_s", 1, "used more than 1 s of processor time");
    });
}

#[test]
fn one_large_file() {
    for_each_user(|place| {
        limit(place, "disk_mb = 4");
        assert_untouched(&run(place, "head -c 4000000 /dev/zero >small; wc -c <small"), "4000000\n");
        for command in [
            "head -c 50000000 /dev/zero >large; true",
            "exec head -c 50000000 /dev/zero >large",
            // Python ignores SIGXFSZ, so it gets an error instead of a signal.
            "python3 -c 'open(\"large\", \"wb\").write(bytes(50000000))'",
        ] {
            let answer = run(place, command);
            assert_ended_by(&answer, "disk_mb", 4, "wrote more than 4 MB to the disk");
            let length = std::fs::metadata(place.root().join("large")).unwrap().len();
            assert!((4_000_000..5_000_000).contains(&length), "{command}: {length}");
            std::fs::remove_file(place.root().join("large")).unwrap();
        }
        limit(place, "");
        assert_untouched(&run(place, "head -c 50000000 /dev/zero >large; wc -c <large"), "50000000\n");
    });
}

#[test]
fn many_small_files() {
    for_each_user(|place| {
        limit(place, "disk_mb = 4");
        let write = |count: u32| {
            format!("for i in $(seq {count}); do head -c 300000 /dev/zero >$i; sleep 0.01; done; echo all")
        };
        assert_untouched(&run(place, &write(8)), "all\n");
        let answer = run(place, &write(400));
        assert_ended_by(&answer, "disk_mb", 4, "wrote more than 4 MB to the disk");
        assert!(!place.root().join("400").exists(), "long before it was done");
    });
}
