//! Processes that are made before their command is known.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use shellgate_sandbox::launcher::Launcher;
use shellgate_sandbox::spawn::Tag;

use crate::Test;
use crate::place::{as_each_user, finish, launcher, run, start, start_tagged};

pub(crate) const TESTS: &[Test] = &[
    ("ready::one_becomes_the_next_command", one_becomes_the_next_command),
    ("ready::one_is_no_different_from_others", one_is_no_different_from_others),
    ("ready::one_that_is_not_needed_ends", one_that_is_not_needed_ends),
    ("ready::one_that_was_suspended_or_signalled_runs_its_command", one_that_was_suspended_or_signalled),
    ("ready::one_that_was_killed_is_known_to_have_run_nothing", one_that_was_killed),
    ("ready::nobody_reads_its_memory", nobody_reads_its_memory),
    ("ready::it_ends_with_its_launcher", it_ends_with_its_launcher),
    ("ready::a_command_that_can_not_start_says_why", a_command_that_can_not_start_says_why),
    ("ready::long_commands_arrive_whole", long_commands_arrive_whole),
];

fn make_ready(launcher: &mut Launcher) -> Pid {
    launcher.make_ready(false).unwrap();
    launcher.ready().unwrap()
}

fn one_becomes_the_next_command() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        for round in 0..3 {
            let ready = make_ready(&mut launcher);
            assert_eq!(make_ready(&mut launcher), ready, "there is one at most");
            let (pid, output) = start(&mut launcher, &place.path("root"), "echo a; exit 3");
            assert_eq!((pid, launcher.ready()), (ready, None), "in round {round}");
            assert_eq!(finish((pid, output)), (3, "a\n".to_owned()));
        }
        let (other, output) = start(&mut launcher, &place.path("root"), "echo b");
        assert_eq!(finish((other, output)), (0, "b\n".to_owned()), "and one that wasn't made ready");
    });
}

fn one_is_no_different_from_others() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let shown = "umask; pwd; ls /proc/self/fd | wc -l; grep -E 'Sig(Blk|Ign)|NoNewPrivs|CapEff|Seccomp:' /proc/self/status; \
                     cut -d' ' -f5,6 /proc/self/stat | tr -d '\\n' | wc -w; ulimit -a | grep -v locks; \
                     echo x > in && ! echo x 2>/dev/null > ../outside/file; cat /proc/self/coredump_filter; ls -ld /proc/self/fd | cut -c1-10; env";
        let plain = run(&mut launcher, place, shown);
        make_ready(&mut launcher);
        assert_eq!(run(&mut launcher, place, shown), plain);
        assert!(plain.1.contains("umask") || plain.1.starts_with("0022"), "{plain:?}");
        // A tag is its own, and not that of the command before.
        let tag = |number| Some(Tag::new(number));
        let limit = "ulimit -x";
        let (_, first) = finish(start_tagged(&mut launcher, &place.path("root"), limit, tag(1)));
        let ready = make_ready(&mut launcher);
        let unused = std::fs::read_to_string(format!("/proc/{}/limits", ready.as_raw_nonzero())).unwrap();
        let (_, second) = finish(start_tagged(&mut launcher, &place.path("root"), limit, tag(2)));
        assert_eq!(
            (first.trim(), second.trim()),
            (&*Tag::new(1).get().to_string(), &*Tag::new(2).get().to_string())
        );
        assert!(!unused.contains(&Tag::new(1).get().to_string()), "{unused}");
    });
}

fn one_that_is_not_needed_ends() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let ready = make_ready(&mut launcher);
        launcher.dismiss();
        assert_eq!(launcher.ready(), None);
        assert_eq!(waitpid(Some(ready), WaitOptions::empty()).unwrap().unwrap().1.exit_status(), Some(127));
        assert_eq!(run(&mut launcher, place, "echo a"), (0, "a\n".to_owned()));
    });
}

fn one_that_was_suspended_or_signalled() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        for signal in [Signal::STOP, Signal::TERM, Signal::HUP, Signal::INT, Signal::CHILD] {
            let ready = make_ready(&mut launcher);
            kill_process(ready, signal).unwrap();
            assert_eq!(run(&mut launcher, place, "echo a"), (0, "a\n".to_owned()), "after {signal:?}");
        }
    });
}

fn one_that_was_killed() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let ready = make_ready(&mut launcher);
        kill_process(ready, Signal::KILL).unwrap();
        waitpid(Some(ready), WaitOptions::empty()).unwrap();
        // Its launcher stood still, and doesn't trust its memory any more.
        waitpid(Some(launcher.pid()), WaitOptions::empty()).unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        let above = rustix::io::fcntl_dupfd_cloexec(&null, 3).unwrap();
        let fd = std::os::fd::AsFd::as_fd(&above);
        let plan = shellgate_sandbox::spawn::Plan {
            program: c"/bin/bash",
            argv: &[c"bash", c"-c", c"echo x > made"],
            env: &[],
            directory: c"/",
            stdio: [fd; 3],
            terminal: None,
            umask: 0o22,
            limits: &[],
            tag: None,
            groups: &[],
        };
        let failed = launcher.spawn(&plan).unwrap_err();
        assert_eq!(
            failed.step,
            shellgate_sandbox::spawn::Step::Clone,
            "it is certain that nothing ran: {failed:?}"
        );
    });
}

fn nobody_reads_its_memory() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        // The control: a command can read the memory of another one.
        let (other, output) = start(&mut launcher, &place.path("root"), "exec sleep 60");
        let seen = |launcher: &mut Launcher| {
            let looks = "for f in /proc/[1-9]*; do n=${f#/proc/}; [ $n = 1 ] || [ $n = $$ ] || { head -c1 $f/maps >/dev/null 2>&1 && echo readable; }; done";
            run(launcher, place, looks).1
        };
        assert_eq!(seen(&mut launcher), "readable\n");
        let (watcher, found) = start(
            &mut launcher,
            &place.path("root"),
            "until [ -e go ]; do sleep 0.01; done; for f in /proc/[1-9]*; do n=${f#/proc/}; [ $n = 1 ] || [ $n = $$ ] || \
             { head -c1 $f/maps >/dev/null 2>&1 && echo readable || echo hidden; }; done",
        );
        let _ready = make_ready(&mut launcher);
        place.write("root/go", "");
        let shown = finish((watcher, found)).1;
        assert_eq!((shown.matches("readable").count(), shown.matches("hidden").count()), (1, 1), "{shown}");
        launcher.dismiss();
        kill_process(other, Signal::KILL).unwrap();
        let _ = finish((other, output));
    });
}

fn it_ends_with_its_launcher() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let (ready, own) = (make_ready(&mut launcher), launcher.pid());
        drop(launcher);
        assert_eq!(waitpid(Some(ready), WaitOptions::empty()).unwrap().unwrap().1.exit_status(), Some(127));
        assert_eq!(waitpid(Some(own), WaitOptions::empty()).unwrap().unwrap().1.exit_status(), Some(0));
    });
}

fn a_command_that_can_not_start_says_why() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        make_ready(&mut launcher);
        let started = |launcher: &mut Launcher, directory: &std::ffi::CStr| {
            let null = std::fs::File::open("/dev/null").unwrap();
            let above = rustix::io::fcntl_dupfd_cloexec(&null, 3).unwrap();
            let fd = std::os::fd::AsFd::as_fd(&above);
            let plan = shellgate_sandbox::spawn::Plan {
                program: c"/no/such/program",
                argv: &[c"x"],
                env: &[],
                directory,
                stdio: [fd; 3],
                terminal: None,
                umask: 0o22,
                limits: &[],
                tag: None,
                groups: &[],
            };
            let failed = launcher.spawn(&plan).unwrap_err();
            (failed.step, failed.source.raw_os_error())
        };
        let missing = Some(rustix::io::Errno::NOENT.raw_os_error());
        assert_eq!(started(&mut launcher, c"/"), (shellgate_sandbox::spawn::Step::Exec, missing));
        make_ready(&mut launcher);
        assert_eq!(
            started(&mut launcher, c"/no/folder"),
            (shellgate_sandbox::spawn::Step::Directory, missing)
        );
        make_ready(&mut launcher);
        assert_eq!(run(&mut launcher, place, "echo a"), (0, "a\n".to_owned()));
    });
}

fn long_commands_arrive_whole() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        for length in [10, 60_000, 70_000, 120_000, 10] {
            make_ready(&mut launcher);
            let text = format!("x={}; echo ${{#x}}", "y".repeat(length));
            assert_eq!(run(&mut launcher, place, &text), (0, format!("{length}\n")));
        }
    });
}
