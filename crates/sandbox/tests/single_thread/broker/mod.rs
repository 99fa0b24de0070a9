//! What the broker does for commands, as root and as an ordinary user.

mod creations;
mod differential;
mod ends;
mod everyday;
mod figures;
mod refusals;
mod sockets;

use shellgate_sandbox::Confinement;
use shellgate_sandbox::launcher::Launcher;

use crate::Test;
use crate::place::{Place, run};

pub(crate) const TESTS: &[&[Test]] = &[
    creations::TESTS,
    differential::TESTS,
    ends::TESTS,
    everyday::TESTS,
    figures::TESTS,
    refusals::TESTS,
    sockets::TESTS,
];

/// A confinement with these protected paths in the project.
fn protecting(place: &Place, paths: &[&str]) -> Confinement {
    let protect = |path: &&str| shellgate_sandbox::Protected { root: place.path("root"), path: path.into() };
    Confinement { protected: paths.iter().map(protect).collect(), ..place.confinement() }
}

/// Runs `text` and fails if it fails.
fn succeed(launcher: &mut Launcher, place: &Place, text: &str) -> String {
    let (code, output) = run(launcher, place, text);
    assert_eq!(code, 0, "{text}: {output}");
    output
}

/// Runs `text` and fails if it succeeds.
fn fail(launcher: &mut Launcher, place: &Place, text: &str) -> String {
    let (code, output) = run(launcher, place, text);
    assert_ne!(code, 0, "{text}: {output}");
    output
}
