//! Limits of descriptors, processes and memory that shellgate itself reaches.

use super::{assert_it_works_again, said};
use crate::support::{Place, is_root, shellgate};

/// A user of whom no other test has processes: the kernel counts all processes of a user.
const LONELY: u32 = 54321;

/// Runs a command under `ulimit LIMIT` for each number. What is said is true: it ran and printed, or it failed with words and
/// did not run. Returns how many succeeded.
fn assert_honest_under(place: &Place, limit: &str, numbers: &[u32]) -> usize {
    let tried = numbers.iter().map(|number| {
        let made = place.root().join(format!("made{number}"));
        // `exec`: no other process counts.
        let script =
            format!("ulimit {limit} {number} || exit 99; exec \"$0\" run 'touch made{number} && echo hi'");
        let mut command = place.program("bash");
        let output = command.args(["-c", &script]).arg(shellgate()).output().unwrap();
        let (code, text) = said(&output);
        match code {
            Some(0) => assert!(text.starts_with("hi\n") && made.exists(), "{limit} {number}: {text}"),
            // The command's own shell reached the limit and said so, or the loader of programs did.
            Some(_) => assert!(!text.is_empty() && !made.exists(), "{limit} {number}: {code:?} {text}"),
            None => assert!(!made.exists(), "{limit} {number}: {text}"),
        }
        for wrong in ["panicked", "read-only", "Input/output error"] {
            assert!(!text.contains(wrong), "{limit} {number}: {text}");
        }
        usize::from(code == Some(0))
    });
    let succeeded = tried.sum();
    assert_it_works_again(place);
    succeeded
}

#[test]
fn too_few_descriptors_are_told() {
    let place = Place::new(None);
    place.output(["run", "echo before"]);
    assert_eq!(
        assert_honest_under(&place, "-n", &[4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32]),
        0
    );
    assert_eq!(assert_honest_under(&place, "-n", &[256]), 1, "a limit that suffices");
}

#[test]
fn too_few_processes_are_told() {
    // Root has no such limit.
    let place = Place::new(is_root().then_some(LONELY));
    place.output(["run", "echo before"]);
    assert_honest_under(&place, "-u", &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    if is_root() {
        assert_eq!(assert_honest_under(&place, "-u", &[64]), 1, "a limit that suffices");
    }
}

#[test]
fn too_little_memory_is_told() {
    let place = Place::new(None);
    place.output(["run", "echo before"]);
    assert_honest_under(
        &place,
        "-v",
        &[24_000, 28_000, 32_000, 36_000, 40_000, 44_000, 48_000, 52_000, 56_000],
    );
    assert_eq!(assert_honest_under(&place, "-v", &[4_000_000]), 1, "a limit that suffices");
}
