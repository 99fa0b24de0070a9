//! The same system calls without a broker and through one: results and errors are equal.

use std::process::Command;

use shellgate_sandbox::{Confinement, Temp};

use crate::Test;
use crate::place::{as_each_user, launcher, run};

pub(crate) const TESTS: &[Test] =
    &[("held_calls_return_what_the_kernel_returns", held_calls_return_what_the_kernel_returns)];

const CALLS: &str = include_str!("calls.py");

/// Goes into the other text, at this line of it.
const SOCKET_CALLS: (&str, &str) =
    ("# The calls about sockets are here: socket_calls.py", include_str!("socket_calls.py"));

fn held_calls_return_what_the_kernel_returns() {
    as_each_user(|place| {
        place.write("calls.py", &CALLS.replace(SOCKET_CALLS.0, SOCKET_CALLS.1));
        // Both in memory, where files are made quickly.
        let memory = format!("/dev/shm/shellgate-differential-{}", std::process::id());
        std::fs::create_dir(&memory).unwrap();
        // Root without capabilities, as commands have it.
        let mut free = Command::new("setpriv");
        free.args(["--no-new-privs", "--inh-caps=-all"]);
        if rustix::process::geteuid().is_root() {
            free.arg("--bounding-set=-all");
        }
        free.arg("python3")
            .arg(place.path("calls.py"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .env("LC_ALL", "C");
        let expected = free.current_dir(&memory).output();
        let _ = Command::new("chmod").args(["-R", "u+rwx", &memory]).status();
        std::fs::remove_dir_all(&memory).unwrap();
        let expected = expected.unwrap();
        assert!(expected.status.success(), "{}", String::from_utf8_lossy(&expected.stderr));
        let expected = String::from_utf8(expected.stdout).unwrap();
        let (mut launcher, _pod) = launcher(&Confinement { temp: Temp::Private, ..place.confinement() });
        let script = place.path("calls.py");
        // The script lies in the machine's folder for temporary files, which the session's covers.
        std::fs::rename(script, place.path("root/calls.py")).unwrap();
        let text = "script=$PWD/calls.py; mkdir -p /tmp/calls && cd /tmp/calls && python3 $script 2>&1";
        let (code, found) = run(&mut launcher, place, text);
        let differences: Vec<String> = expected
            .lines()
            .zip(found.lines())
            .filter(|(expected, found)| expected != found)
            .map(|(expected, found)| format!("kernel: {expected}\nbroker: {found}"))
            .collect();
        assert!(
            differences.is_empty(),
            "{} of {}:\n{}",
            differences.len(),
            expected.lines().count(),
            differences.join("\n")
        );
        assert_eq!((code, found.lines().count()), (0, expected.lines().count()), "{found}");
    });
}
