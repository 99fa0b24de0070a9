//! What holds once the walls are up, tried against the kernel that runs the tests.

mod arguments;
mod capabilities;
mod everyday;
mod landlock;
mod nested;
mod notifications;
mod refusals;
mod scopes;

use shellgate_sandbox::walls::seccomp::{Arch, Group, Program, Rule, load, rules};

use crate::Test;

pub(crate) const TESTS: &[&[Test]] = &[
    arguments::TESTS,
    capabilities::TESTS,
    everyday::TESTS,
    landlock::TESTS,
    nested::TESTS,
    notifications::TESTS,
    refusals::TESTS,
    scopes::TESTS,
];

/// Puts the filter with these groups on the calling process.
fn filter(groups: &[Group]) {
    filter_by(&rules(groups));
}

fn filter_by(rules: &[Rule]) {
    rustix::thread::set_no_new_privs(true).unwrap();
    let program = Program::compile(Arch::CURRENT.unwrap(), rules, u64::MAX).unwrap();
    assert!(load(&program).unwrap().listener.is_none());
}

/// A raw system call: what it returns, or the number of its error.
fn call(number: libc::c_long, arguments: [u64; 6]) -> Result<i64, i32> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the tests pass null, numbers, or pointers to memory that is alive and large enough.
    match unsafe { libc::syscall(number, a, b, c, d, e, f) } {
        -1 => Err(std::io::Error::last_os_error().raw_os_error().unwrap()),
        value => Ok(value),
    }
}
