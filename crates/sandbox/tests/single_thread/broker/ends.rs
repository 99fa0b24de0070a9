//! How a broker ends.

use std::io::Read as _;

use rustix::process::{Pid, Signal, WaitOptions};

use super::succeed;
use crate::Test;
use crate::confining::{as_each_user, launcher, run, start};

pub(crate) const TESTS: &[Test] = &[
    ("a_broker_ends_with_its_last_command", a_broker_ends_with_its_last_command),
    ("a_killed_broker_ends_its_launcher", a_killed_broker_ends_its_launcher),
    ("a_broker_ends_with_its_keeper", a_broker_ends_with_its_keeper),
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
