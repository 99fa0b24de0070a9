//! Rights that a command might bring along or gain: open descriptors, set-user-ID programs, other commands of its session.

use std::io::Write as _;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::Command;

use rustix::net::{AddressFamily, SocketType};
use serde_json::json;

use super::{for_each_user, run, write};
use crate::support::{ORDINARY, is_root, mark, shellgate, wait_until};

/// What a shell does with descriptors that it was given: 7 a file for writing, 8 a folder, 9 a socket's place in `/proc`.
const USES_DESCRIPTORS: [&str; 4] = [
    "echo evil >&7",
    "cat <&7",
    "echo evil > /proc/self/fd/7",
    "python3 -c 'import os; os.close(os.open(\"new\", os.O_CREAT | os.O_WRONLY, dir_fd=8))'",
];

#[test]
fn open_descriptors_are_not_inherited() {
    for_each_user(|place| {
        for attack in USES_DESCRIPTORS {
            let file = write(place, "home/file", "kept");
            let start = "exec 7<>../home/file 8<../home; exec \"$@\"";
            let with_descriptors = |words: &[&str]| {
                let mut bash = place.program("bash");
                bash.args(["-c", start, "bash"]).args(words).output().unwrap()
            };
            // The first command of a session: its keeper comes from this very process.
            place.assert_nothing_is_left();
            let own = shellgate();
            let confined =
                with_descriptors(&[own.to_str().unwrap(), "run", "--sandbox", "workspace", attack]);
            assert_ne!(confined.status.code(), Some(0), "{attack}: {confined:?}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept", "{attack}");
            assert!(!place.home().join("new").exists(), "{attack}");
            let control = with_descriptors(&["bash", "-c", attack]);
            assert!(control.status.success(), "with them: {attack}: {control:?}");
        }
        assert!(place.home().join("new").exists());
        let listed = run(place, "workspace", "ls /proc/self/fd");
        assert_eq!(listed["stdout"], "0\n1\n2\n3\n", "the last one is that of `ls`: {listed}");
    });
}

/// What a command can do by its standard input, beside reading it.
const USES_INPUT: [&str; 5] = [
    "python3 -c 'import os; os.fchmod(0, 0o700)'",
    "python3 -c 'import os; os.utime(0, (1, 1))'",
    "python3 -c 'import os; os.setxattr(0, \"user.a\", b\"b\")'",
    "echo evil >&0",
    "echo evil > /proc/self/fd/0",
];

#[test]
fn standard_input_can_only_be_read() {
    for_each_user(|place| {
        let own = shellgate();
        let with_input = |mode: &str, input: &str, command: &str| {
            let start = format!("exec 0<>{input}; exec \"$@\"");
            let mut bash = place.program("bash");
            bash.args(["-c", &start, "bash", own.to_str().unwrap(), "run", "--sandbox", mode, command]);
            bash.output().unwrap()
        };
        let file = write(place, "home/file", "one\ntwo\n");
        for mode in ["workspace", "read-only"] {
            let read = with_input(mode, "../home/file", "read line; echo $line; cat");
            assert_eq!(String::from_utf8_lossy(&read.stdout), "one\ntwo\n", "{mode}: {read:?}");
        }
        let before = std::fs::metadata(&file).unwrap();
        for attack in USES_INPUT {
            let confined = with_input("workspace", "../home/file", attack);
            assert_ne!(confined.status.code(), Some(0), "{attack}: {confined:?}");
            let now = std::fs::metadata(&file).unwrap();
            assert_eq!(
                (now.mode(), now.mtime(), now.len()),
                (before.mode(), before.mtime(), before.len()),
                "{attack}"
            );
        }
        for attack in USES_INPUT {
            let control = with_input("off", "../home/file", attack);
            assert!(control.status.success(), "without a sandbox: {attack}: {control:?}");
        }
        // A file that can't be seen inside is refused, and can come through a pipe.
        let strict = with_input("strict", "../home/file", "read line");
        assert!(String::from_utf8_lossy(&strict.stderr).contains("pass it through a pipe"), "{strict:?}");
        // The machine's own device, which is the input of commands that were given none.
        let device = "python3 -c 'import os; os.fchmod(0, 0o666)'";
        assert_eq!(run(place, "workspace", device)["status"], "failed");
    });
}

/// By a folder that comes from outside, a command would see what is covered.
#[test]
fn a_folder_cannot_be_standard_input() {
    for_each_user(|place| {
        write(place, "home/.ssh/id_ed25519", "secret");
        let own = shellgate();
        let with_folder = |mode: &str| {
            let mut bash = place.program("bash");
            let command = "cat /proc/self/fd/0/.ssh/id_ed25519";
            bash.args(["-c", "exec \"$@\" < ../home", "bash", own.to_str().unwrap()]);
            bash.args(["run", "--sandbox", mode, command]).output().unwrap()
        };
        let confined = with_folder("workspace");
        assert!(!confined.status.success() && confined.stdout.is_empty(), "{confined:?}");
        assert_eq!(with_folder("off").stdout, b"secret", "without a sandbox");
    });
}

#[test]
fn a_removed_folder_cannot_be_standard_input() {
    for_each_user(|place| {
        write(place, "home/.ssh/id_ed25519", "secret");
        let own = shellgate();
        let with_folder = |mode: &str| {
            let mut bash = place.program("bash");
            let start = "mkdir ../home/gone && exec < ../home/gone && rmdir ../home/gone && exec \"$@\"";
            let command = "cat /proc/self/fd/0/../.ssh/id_ed25519";
            bash.args(["-c", start, "bash", own.to_str().unwrap()]);
            bash.args(["run", "--sandbox", mode, command]).output().unwrap()
        };
        let confined = with_folder("workspace");
        assert!(!confined.status.success() && confined.stdout.is_empty(), "{confined:?}");
        assert_eq!(with_folder("off").stdout, b"secret", "without a sandbox");
    });
}

/// Sends to an address by its standard input.
const SENDS: &str = "import socket, sys\nown = socket.socket(fileno=0)\nto = eval(sys.argv[1])\nif own.type == socket.SOCK_STREAM: own.connect(to)\nelse: own.sendto(b'x', to)\n";

/// A socket from outside belongs to the machine's network, and no filter saw it being made.
#[test]
fn a_socket_as_standard_input_reaches_nobody_else() {
    for_each_user(|place| {
        place.write("sends.py", SENDS);
        let path = place.home().join("datagrams");
        let unix = UnixDatagram::bind(&path).unwrap();
        chown(&path, place.user, place.user).unwrap();
        let (udp, tcp) = (UdpSocket::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
        unix.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        tcp.set_nonblocking(true).unwrap();
        let address = |socket: std::net::SocketAddr| format!("('127.0.0.1', {})", socket.port());
        let sends = |mode: &str, input: OwnedFd, to: &str| {
            let network = if mode == "off" { "allow" } else { "deny" };
            let command = format!("python3 sends.py \"{to}\"");
            let mut run = place.shellgate(["run", "--sandbox", mode, "--network", network, &command]);
            run.stdin(input).output().unwrap()
        };
        for mode in ["workspace", "off"] {
            let is_reached = mode == "off";
            let by_unix =
                sends(mode, UnixDatagram::unbound().unwrap().into(), &format!("'{}'", path.display()));
            assert_eq!(by_unix.status.success(), is_reached, "{mode}: {by_unix:?}");
            assert_eq!(unix.recv(&mut [0; 9]).is_ok(), is_reached, "{mode}");
            let own = UdpSocket::bind("127.0.0.1:0").unwrap();
            let by_udp = sends(mode, own.into(), &address(udp.local_addr().unwrap()));
            assert_eq!(by_udp.status.success(), is_reached, "{mode}: {by_udp:?}");
            assert_eq!(udp.recv(&mut [0; 9]).is_ok(), is_reached, "{mode}");
            let own = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
            let by_tcp = sends(mode, own, &address(tcp.local_addr().unwrap()));
            assert_eq!(by_tcp.status.success(), is_reached, "{mode}: {by_tcp:?}");
            assert_eq!(tcp.accept().is_ok(), is_reached, "{mode}");
        }
        // One end of a connection, as programs that start others have it.
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.write_all(b"hello").unwrap();
        drop(ours);
        let mut run = place.shellgate(["run", "--sandbox", "workspace", "cat"]);
        assert_eq!(run.stdin(OwnedFd::from(theirs)).output().unwrap().stdout, b"hello");
    });
}

/// Prints the user that it has become.
const WHO: &str =
    "#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf(\"%u\\n\", geteuid()); return 0; }";

#[test]
fn set_user_id_programs_gain_nothing() {
    assert!(is_root(), "only root can make such a program: run the tests as root");
    for_each_user(|place| {
        let source = write(place, "home/who.c", WHO);
        let (own, other) = match place.user {
            None => (0, ORDINARY),
            Some(user) => (user, 0),
        };
        for program in [place.home().join("who"), place.root().join("who")] {
            assert!(Command::new("cc").arg("-o").arg(&program).arg(&source).status().unwrap().success());
            chown(&program, Some(other), Some(other)).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o6755)).unwrap();
            let command = program.display().to_string();
            for mode in ["workspace", "read-only", "strict"] {
                let answer = run(place, mode, &command);
                if mode == "strict" && !program.starts_with(place.root()) {
                    assert_ne!(answer["exit_code"], 0, "it can't be read: {answer}");
                } else {
                    assert_eq!(answer["stdout"], format!("{own}\n"), "{mode}: {answer}");
                }
            }
            assert_eq!(run(place, "off", &command)["stdout"], format!("{other}\n"), "without a sandbox");
        }
    });
}

/// Commands with different confinements share a pod. The narrower one must not use the view of the wider one.
#[test]
fn a_command_cannot_use_the_view_of_another() {
    for_each_user(|place| {
        write(place, "home/file", "outside");
        let mark = mark();
        let started = run(place, "workspace", &format!("sleep {mark} & echo $!"));
        let wide = started["stdout"].as_str().unwrap().trim().to_owned();
        let path = format!("/proc/{wide}/root{}/file", place.home().display());
        for attack in [
            format!("read line < {path}"),
            format!("read line < /proc/{wide}/cwd/../home/file"),
            format!("cd /proc/{wide}/root"),
            format!("read line < /proc/{wide}/environ"),
            format!("exec 5<>/proc/{wide}/mem"),
        ] {
            let answer = run(place, "strict", &attack);
            assert_eq!(answer["status"], "failed", "{attack}: {answer}");
        }
        assert_eq!(
            run(place, "strict", &format!("kill -0 {wide}"))["status"],
            "completed",
            "they share a pod"
        );
        assert_eq!(run(place, "workspace", &format!("cat {path}"))["stdout"], "outside");
        run(place, "strict", &format!("kill {wide}"));
        wait_until("it is gone", || crate::support::processes_with(&mark).is_empty());
    });
}

#[test]
fn files_made_outside_after_the_start_cannot_be_changed() {
    for_each_user(|place| {
        let waits = "echo > up; until [ -e down ]; do sleep 0.05; done; echo evil >> ../home/later; \
                     echo evil >> ../home/folder/file; rm -r ../home/folder; cat ../home/later";
        let call = json!({"command": waits}).to_string();
        let held = place.start(["call", "--sandbox", "workspace", &call]);
        wait_until("it runs", || place.root().join("up").exists());
        let later = write(place, "home/later", "kept");
        let inner = write(place, "home/folder/file", "kept");
        place.write("down", "");
        let answer: serde_json::Value =
            serde_json::from_slice(&held.wait_with_output().unwrap().stdout).unwrap();
        assert_eq!(answer["stdout"], "kept", "it sees them: {answer}");
        for file in [later, inner] {
            assert_eq!(std::fs::read_to_string(file).unwrap(), "kept");
        }
        assert_eq!(
            run(place, "off", "echo evil >> ../home/later")["status"],
            "completed",
            "without a sandbox"
        );
    });
}
