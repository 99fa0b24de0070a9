//! Launchers and pods, as root and as an ordinary user.

use std::io::Read as _;
use std::path::PathBuf;

use rustix::process::WaitOptions;
use shellgate_sandbox::launcher::Launcher;
use shellgate_sandbox::{Confinement, Network, Protected, Readable, Temp};

use crate::Test;
use crate::place::{as_each_user, launcher, run, start};

pub(crate) const TESTS: &[Test] = &[
    ("only_writable_places_can_be_written", only_writable_places_can_be_written),
    ("protected_places_stay_as_they_are", protected_places_stay_as_they_are),
    ("unreadable_places_cannot_be_read", unreadable_places_cannot_be_read),
    ("commands_see_their_session_and_no_other_process", commands_see_their_session_and_no_other_process),
    ("a_second_launcher_joins_the_pod", a_second_launcher_joins_the_pod),
    ("a_private_network_has_a_loopback_device_alone", a_private_network_has_a_loopback_device_alone),
    ("only_readable_places_can_be_read", only_readable_places_can_be_read),
    ("a_pod_ends_with_its_keeper", a_pod_ends_with_its_keeper),
    ("nothing_is_left_in_the_project", nothing_is_left_in_the_project),
];

/// Attacks on files outside the project. All succeed where the outside is writable.
const ATTACKS_OUTSIDE: [&str; 10] = [
    "echo x > ../outside/file",
    "echo x > ../outside/new",
    "chmod 600 ../outside/file",
    "python3 -c 'import os; os.chown(\"../outside/file\", os.getuid(), os.getgid())'",
    "touch -d yesterday ../outside/file",
    "python3 -c 'import os; os.setxattr(\"../outside/file\", \"user.a\", b\"b\")'",
    "ln -s $PWD/../outside/file soft && echo x > soft",
    "python3 -c 'import os; os.rename(\"../outside/file\", \"../outside/other\")'",
    "python3 -c 'import os; os.link(\"../outside/file\", \"../outside/hard\")'",
    "rm ../outside/file",
];

/// Attacks on the machine that no confinement allows.
const ATTACKS_ON_MACHINE: [&str; 6] = [
    "mount -o remount,rw /",
    "python3 -c 'import os; os.mknod(\"device\", 0o20666, 259)'",
    "unshare -Ur true",
    "echo 1 > /proc/sys/kernel/sysrq",
    "echo x > /proc/1/comm",
    "ln ../outside/file hard",
];

fn only_writable_places_can_be_written() {
    as_each_user(|place| {
        let open = Confinement {
            writable: vec![place.path("root"), place.path("outside")],
            ..Confinement::default()
        };
        let (mut first, mut pod) = launcher(&place.confinement());
        let mut second = Launcher::start(&open, &mut pod).unwrap();
        let text = "echo new > file && mkdir -p a/b && touch a/b/c && cat file";
        assert_eq!(run(&mut first, place, text), (0, "new\n".to_owned()));
        for text in ATTACKS_OUTSIDE {
            place.write("outside/file", "outside");
            let _ = std::fs::remove_file(place.path("root/soft"));
            let (code, output) = run(&mut first, place, text);
            assert_ne!(code, 0, "{text}: {output}");
            assert_eq!(std::fs::read_to_string(place.path("outside/file")).unwrap(), "outside", "{text}");
            let _ = std::fs::remove_file(place.path("root/soft"));
            let (code, output) = run(&mut second, place, text);
            assert_eq!(code, 0, "where it is writable: {text}: {output}");
        }
        place.write("outside/file", "outside");
        for text in ATTACKS_ON_MACHINE {
            let (code, output) = run(&mut first, place, text);
            assert!(code != 0 && code != 127, "{text}: {output}");
        }
        let held = "grep -E 'Cap(Prm|Eff|Inh|Bnd|Amb)|NoNewPrivs|Seccomp:' /proc/self/status";
        let (code, output) = run(&mut first, place, held);
        assert_eq!(code, 0);
        assert!(
            output
                .lines()
                .filter(|line| line.starts_with("Cap"))
                .all(|line| line.ends_with("\t0000000000000000")),
            "{output}"
        );
        assert!(output.contains("NoNewPrivs:\t1") && output.contains("Seccomp:\t2"), "{output}");
        let devices = "echo x | tee /dev/stderr > /dev/null; echo y >/dev/stdout; head -c 2 /dev/zero | wc -c; echo /dev/*";
        let (code, output) = run(&mut first, place, devices);
        assert_eq!(code, 0, "{output}");
        assert!(!output.contains("vda") && !output.contains("/dev/mem"), "{output}");
    });
}

fn protected_places_stay_as_they_are() {
    as_each_user(|place| {
        place.write("root/.git/hooks/pre-commit", "hook");
        place.write("root/.git/config", "config");
        place.write("root/.git/index", "");
        let protect = |path: &str| Protected { root: place.path("root"), path: path.into() };
        let protected = vec![protect(".git/hooks"), protect(".git/config"), protect(".vscode")];
        let (mut launcher, _pod) = launcher(&Confinement { protected, ..place.confinement() });
        let (code, output) = run(
            &mut launcher,
            place,
            "echo x > .git/index && touch .git/new && mkdir .git/refs && cat .git/config",
        );
        assert_eq!((code, output.as_str()), (0, "config"));
        for text in [
            "echo x > .git/hooks/pre-commit",
            "echo x > .git/hooks/post-commit",
            "rm .git/hooks/pre-commit",
            "echo x > .git/config",
            "rm .git/config",
            "echo x > new; mv new .git/config",
            "ln -sf /etc/passwd .git/config",
            "mv .git/hooks .git/other",
            "rmdir .git/hooks",
            "mv .git other",
            "rm -rf .git/hooks",
            "chmod 777 .git/hooks",
            "mv ../root/.git ../root/.other",
        ] {
            let (code, output) = run(&mut launcher, place, text);
            assert_ne!(code, 0, "{text}: {output}");
        }
        assert_eq!(std::fs::read_to_string(place.path("root/.git/hooks/pre-commit")).unwrap(), "hook");
        assert_eq!(std::fs::read_to_string(place.path("root/.git/config")).unwrap(), "config");
    });
}

fn unreadable_places_cannot_be_read() {
    as_each_user(|place| {
        place.write("home/.ssh/id", "secret");
        place.write("home/.netrc", "secret");
        place.write("home/free", "free");
        let unreadable = vec![place.path("home/.ssh"), place.path("home/.netrc"), place.path("home/.absent")];
        let (mut launcher, _pod) = launcher(&Confinement { unreadable, ..place.confinement() });
        assert_eq!(run(&mut launcher, place, "cat ../home/free"), (0, "free".to_owned()));
        for text in [
            "cat ../home/.ssh/id",
            "ls ../home/.ssh",
            "cat ../home/.netrc",
            "cp -r ../home .",
            "cat ../home/.n*",
        ] {
            let (code, output) = run(&mut launcher, place, text);
            assert!(code != 0 && !output.contains("secret"), "{text}: {output}");
        }
    });
}

fn commands_see_their_session_and_no_other_process() {
    as_each_user(|place| {
        let (mut launcher, pod) = launcher(&place.confinement());
        let (first, mut output) = start(&mut launcher, &place.path("root"), "echo $$; exec sleep 1000");
        let mut inner = [0; 16];
        let length = output.read(&mut inner).unwrap();
        let inner = String::from_utf8_lossy(&inner[..length]).trim().to_owned();
        assert_ne!(inner, first.as_raw_nonzero().to_string(), "it has another number inside");
        let (code, names) = run(&mut launcher, place, "cat /proc/[0-9]*/comm");
        assert_eq!(code, 0, "{names}");
        let names: Vec<&str> = names.lines().filter(|name| *name != "cat" && *name != "bash").collect();
        assert_eq!(names, ["shellgate-pod", "sleep"]);
        assert_ne!(run(&mut launcher, place, &format!("kill {}", std::process::id())).0, 0);
        run(&mut launcher, place, "kill -9 1; kill -9 -1; true");
        assert_eq!(
            rustix::process::waitpid(Some(first), WaitOptions::empty())
                .unwrap()
                .unwrap()
                .1
                .terminating_signal(),
            Some(9)
        );
        assert_eq!(
            run(&mut launcher, place, "(setsid sleep 0 &) ; echo on").1,
            "on\n",
            "the session goes on"
        );
        let pod = pod.unwrap();
        assert!(rustix::process::test_kill_process(pod.init()).is_ok());
    });
}

fn a_second_launcher_joins_the_pod() {
    as_each_user(|place| {
        let (mut first, mut pod) = launcher(&place.confinement());
        let outside = place.path("outside");
        let other = Confinement { writable: vec![place.path("root"), outside], ..Confinement::default() };
        let mut second = Launcher::start(&other, &mut pod).unwrap();
        let (pid, mut output) = start(&mut first, &place.path("root"), "echo $$; exec sleep 1000");
        let mut inner = [0; 16];
        let length = output.read(&mut inner).unwrap();
        let inner = String::from_utf8_lossy(&inner[..length]).trim().to_owned();
        assert_eq!(run(&mut second, place, &format!("echo x > ../outside/new && kill {inner}")).0, 0);
        assert_eq!(
            rustix::process::waitpid(Some(pid), WaitOptions::empty())
                .unwrap()
                .unwrap()
                .1
                .terminating_signal(),
            Some(15)
        );
        assert_ne!(run(&mut first, place, "echo x > ../outside/new").0, 0, "the first has not got more");
    });
}

fn a_private_network_has_a_loopback_device_alone() {
    as_each_user(|place| {
        let private = Confinement { network: Network::Private, ..place.confinement() };
        let (mut closed, mut pod) = launcher(&private);
        let serve = "exec python3 -u -c 'import socket; s=socket.socket(); s.bind((\"127.0.0.1\",8123)); s.listen(); print(1); s.accept()[0].send(b\"hi\")'";
        let (_, mut up) = start(&mut closed, &place.path("root"), serve);
        up.read_exact(&mut [0; 2]).unwrap();
        let mut open = Launcher::start(&place.confinement(), &mut pod).unwrap();
        let mut again = Launcher::start(&Confinement { temp: Temp::Private, ..private }, &mut pod).unwrap();
        let call = "exec 3<>/dev/tcp/127.0.0.1/8123 && head -c 2 <&3";
        assert_ne!(run(&mut open, place, call).0, 0, "the machine's network is another one");
        assert_eq!(run(&mut again, place, call), (0, "hi".to_owned()), "another launcher of the session");
        let (code, devices) = run(&mut closed, place, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '");
        assert_eq!((code, devices.as_str()), (0, "lo\n"));
    });
}

fn only_readable_places_can_be_read() {
    as_each_user(|place| {
        let programs = PathBuf::from(std::env::var("PATH").unwrap());
        let system = ["/usr", "/bin", "/lib", "/lib64", "/sbin"].map(PathBuf::from);
        let system: Vec<PathBuf> = system.into_iter().chain([programs]).collect();
        let strict = Confinement {
            readable: Readable::Only(system),
            temp: Temp::Private,
            network: Network::Private,
            ..place.confinement()
        };
        let (mut launcher, _pod) = launcher(&strict);
        let (code, output) =
            run(&mut launcher, place, "cat file; echo x > /tmp/x && python3 -c 'print(1)' && echo /*");
        assert_eq!((code, output.as_str()), (0, "inside1\n/*\n"));
        for text in ["cat /etc/passwd", "cat ../outside/file", "touch /usr/x", "touch /x", "ls /home"] {
            let (code, output) = run(&mut launcher, place, text);
            assert_ne!(code, 0, "{text}: {output}");
        }
    });
}

fn a_pod_ends_with_its_keeper() {
    as_each_user(|place| {
        let (mut launcher, pod) = launcher(&place.confinement());
        let text =
            "(setsid sleep 1000 &) ; (trap '' TERM HUP INT; sleep 1000 & disown); echo up; exec sleep 1000";
        let (first, mut output) = start(&mut launcher, &place.path("root"), text);
        assert_eq!(output.read(&mut [0; 8]).unwrap(), 3);
        let init = pod.as_ref().unwrap().init();
        drop(pod);
        // The first process ends when all others of the pod are reaped.
        rustix::process::waitpid(Some(first), WaitOptions::empty()).unwrap();
        rustix::process::waitpid(Some(init), WaitOptions::empty()).unwrap();
        // All descendants had the pipe.
        assert_eq!(output.read(&mut [0; 8]).unwrap(), 0);
    });
}

fn nothing_is_left_in_the_project() {
    as_each_user(|place| {
        place.write("root/.git/config", "");
        let protect = |path: &str| Protected { root: place.path("root"), path: path.into() };
        let protected = vec![protect(".git/config"), protect(".mcp.json"), protect(".github/workflows")];
        let (mut launcher, pod) =
            launcher(&Confinement { protected, temp: Temp::Private, ..place.confinement() });
        assert_eq!(run(&mut launcher, place, "ls -A; ls -A /tmp; touch /tmp/x").0, 0);
        drop((launcher, pod));
        let mut names: Vec<_> =
            std::fs::read_dir(place.path("root")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".git", "file"]);
    });
}
