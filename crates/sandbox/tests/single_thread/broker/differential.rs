//! The same system calls without a broker and through one: results and errors are equal.

use std::process::Command;

use crate::Test;
use crate::confining::{as_each_user, launcher, run};

pub(crate) const TESTS: &[Test] = &[("held_calls_return_what_the_kernel_returns", held_calls_return_what_the_kernel_returns)];

const CALLS: &str = include_str!("calls.py");

fn held_calls_return_what_the_kernel_returns() {
    as_each_user(|place| {
        place.write("calls.py", CALLS);
        place.write("free/x", "");
        // Root without capabilities, as commands have it.
        let mut free = Command::new("setpriv");
        free.args(["--no-new-privs", "--inh-caps=-all"]);
        if rustix::process::geteuid().is_root() {
            free.arg("--bounding-set=-all");
        }
        free.args(["python3", "../calls.py"]).env_clear().env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").env("LC_ALL", "C");
        let expected = free.current_dir(place.path("free")).output().unwrap();
        assert!(expected.status.success(), "{}", String::from_utf8_lossy(&expected.stderr));
        let expected = String::from_utf8(expected.stdout).unwrap();
        let (mut launcher, _pod) = launcher(&place.confinement());
        let (code, found) = run(&mut launcher, place, "python3 ../calls.py 2>&1");
        if let Ok(folder) = std::env::var("SHELLGATE_TEST_KEEP") {
            std::fs::write(format!("{folder}/expected-{}", rustix::process::geteuid().as_raw()), &expected).unwrap();
            std::fs::write(format!("{folder}/found-{}", rustix::process::geteuid().as_raw()), &found).unwrap();
        }
        let differences: Vec<String> = expected
            .lines()
            .zip(found.lines())
            .filter(|(expected, found)| expected != found)
            .map(|(expected, found)| format!("kernel: {expected}\nbroker: {found}"))
            .collect();
        assert!(differences.is_empty(), "{} of {}:\n{}", differences.len(), expected.lines().count(), differences.join("\n"));
        assert_eq!((code, found.lines().count()), (0, expected.lines().count()), "{found}");
    });
}
