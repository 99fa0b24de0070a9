//! How a broker ends.

use std::io::Read as _;

use rustix::process::{Pid, Signal, WaitOptions};

use super::succeed;
use crate::Test;
use crate::place::{as_each_user, launcher, run, start};

pub(crate) const TESTS: &[Test] = &[
    ("a_broker_ends_with_its_last_command", a_broker_ends_with_its_last_command),
    ("a_killed_broker_ends_its_launcher", a_killed_broker_ends_its_launcher),
    ("a_broker_ends_with_its_keeper", a_broker_ends_with_its_keeper),
    ("many_commands_at_once_leave_a_small_broker", many_commands_at_once_leave_a_small_broker),
    ("commands_cannot_see_or_signal_the_broker", commands_cannot_see_or_signal_the_broker),
];

fn wait(pid: Pid) -> Option<i32> {
    rustix::process::waitpid(Some(pid), WaitOptions::empty()).unwrap().unwrap().1.exit_status()
}

fn a_broker_ends_with_its_last_command() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let text = "echo up; read -t 1 <> <(:); echo x > late && echo done";
        let (pid, mut output) = start(&mut launcher, &place.path("root"), text);
        output.read_exact(&mut [0; 3]).unwrap();
        let (broker, process) = (launcher.broker().unwrap(), launcher.pid());
        drop(launcher);
        assert_eq!(wait(process), Some(0));
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "done\n", "a command that outlives its launcher still makes files");
        assert_eq!(wait(pid), Some(0));
        assert_eq!(wait(broker), Some(0));
    });
}

fn a_killed_broker_ends_its_launcher() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let (pid, mut output) = start(
            &mut launcher,
            &place.path("root"),
            "mkfifo p; echo up; cat <> p & sleep 0.5; mkdir x 2>&1; echo y > z; kill %1; cat file",
        );
        output.read_exact(&mut [0; 3]).unwrap();
        let broker = launcher.broker().unwrap();
        rustix::process::kill_process(broker, Signal::KILL).unwrap();
        assert_eq!(wait(broker), None);
        assert_eq!(wait(launcher.pid()), Some(1), "the launcher ends");
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("Function not implemented") && rest.ends_with("inside"), "{rest}");
        wait(pid);
        assert!(!place.path("root/x").exists() && !place.path("root/z").exists());
    });
}

fn a_broker_ends_with_its_keeper() {
    as_each_user(|place| {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        // SAFETY: the process has one thread.
        let keeper = unsafe { libc::fork() };
        if keeper == 0 {
            let (mut launcher, pod) = launcher(&place.confinement());
            let (_, mut output) = start(&mut launcher, &place.path("root"), "mkfifo p; echo up; echo x > p");
            output.read_exact(&mut [0; 3]).unwrap();
            let number = launcher.broker().unwrap().as_raw_nonzero().get();
            rustix::io::write(&write, &number.to_ne_bytes()).unwrap();
            let _alive = (launcher, pod);
            loop {
                std::thread::park();
            }
        }
        let keeper = Pid::from_raw(keeper).unwrap();
        let mut number = [0; 4];
        std::fs::File::from(read).read_exact(&mut number).unwrap();
        let broker = Pid::from_raw(i32::from_ne_bytes(number)).unwrap();
        let watched = rustix::process::pidfd_open(broker, rustix::process::PidfdFlags::empty()).unwrap();
        rustix::process::kill_process(keeper, Signal::KILL).unwrap();
        wait(keeper);
        let mut ends = [rustix::event::PollFd::new(&watched, rustix::event::PollFlags::IN)];
        let most = rustix::event::Timespec { tv_sec: 5, tv_nsec: 0 };
        assert_eq!(rustix::event::poll(&mut ends, Some(&most)).unwrap(), 1, "the broker has ended");
    });
}

fn many_commands_at_once_leave_a_small_broker() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let broker = launcher.broker().unwrap().as_raw_nonzero();
        let count = |what: &str| std::fs::read_dir(format!("/proc/{broker}/{what}")).unwrap().count();
        succeed(&mut launcher, place, "mkfifo p; touch warm");
        let before = (count("fd"), count("task"));
        let text = |number: usize| {
            format!(
                "mkdir d{number} && for i in $(seq 30); do echo $i > d{number}/f$i; mv d{number}/f$i d{number}/g$i; done; ls d{number} | wc -l"
            )
        };
        let waiting: Vec<_> =
            (0..40).map(|_| start(&mut launcher, &place.path("root"), "echo x > p")).collect();
        let working: Vec<_> =
            (0..40).map(|number| start(&mut launcher, &place.path("root"), &text(number))).collect();
        // Half of those that work are killed somewhere, and all that wait.
        for (pid, _) in waiting.iter().chain(working.iter().step_by(2)) {
            rustix::process::kill_process(*pid, Signal::KILL).unwrap();
        }
        for (pid, mut output) in working.into_iter().skip(1).step_by(2) {
            let mut text = String::new();
            output.read_to_string(&mut text).unwrap();
            assert_eq!((wait(pid), text.trim()), (Some(0), "30"));
        }
        waiting.into_iter().for_each(|(pid, _)| assert_eq!(wait(pid), None));
        // Threads that waited for a killed command are interrupted within some intervals, and end when there are enough.
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while count("task") > before.1 + 4 || count("fd") > before.0 + 2 {
            assert!(
                std::time::Instant::now() < end,
                "{} threads, {} descriptors",
                count("task"),
                count("fd")
            );
            succeed(&mut launcher, place, "for i in 1 2 3 4 5 6 7 8 9; do echo > warm; done");
        }
    });
}

fn commands_cannot_see_or_signal_the_broker() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let broker = launcher.broker().unwrap().as_raw_nonzero();
        assert_ne!(run(&mut launcher, place, &format!("kill -9 {broker}")).0, 0);
        assert_ne!(run(&mut launcher, place, &format!("ls /proc/{broker}/task")).0, 0);
        assert!(!succeed(&mut launcher, place, "cat /proc/[0-9]*/comm").contains("broker"));
        let status = std::fs::read_to_string(format!("/proc/{broker}/status")).unwrap();
        let field =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        assert_eq!(field("CapEff:"), "0000000000000000");
        assert_eq!(field("CapPrm:"), "0000000000080000", "to read commands' memory where Yama forbids it");
        assert_eq!((field("NoNewPrivs:"), field("CapBnd:")), ("1".to_owned(), "0000000000000000".to_owned()));
        succeed(&mut launcher, place, "touch made");
    });
}
