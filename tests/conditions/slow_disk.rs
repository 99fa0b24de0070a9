//! The state folder is on a slow disk: each write of the record takes a twentieth of a second.

use super::{assert_it_works_again, said};
use crate::support::{Place, for_each_user, shellgate};

/// Each write to the journal, and each wait for the disk, of all processes that shellgate starts.
const SLOW: &str = "inject=pwrite64,fsync,fdatasync,ftruncate:delay_exit=50000";

fn slow(place: &Place, words: &[&str]) -> std::process::Command {
    let mut strace = place.program("strace");
    strace.args(["-f", "-qq", "--signal=none", "-o", "/dev/null", "-e", SLOW]).arg(shellgate()).args(words);
    strace
}

#[test]
fn everything_works_with_a_slow_disk() {
    for_each_user(|place| {
        // The first use makes the record.
        assert_eq!(said(&slow(place, &["run", "echo first"]).output().unwrap()).1, "first\n");
        let (code, text) = said(&slow(place, &["run", "echo out; exit 7"]).output().unwrap());
        assert_eq!((code, text.as_str()), (Some(7), "out\n"));
        assert_it_works_again(place);
    });
}

/// One that writes slowly holds the record for seconds. Others wait for it and fail in no other way than by waiting.
#[test]
fn callers_wait_for_each_other_on_a_slow_disk() {
    for_each_user(|place| {
        place.output(["run", "echo before"]);
        let spawn = |number| {
            let command = format!("echo {number}");
            let mut command = slow(place, &["run", &command]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        };
        let slow_ones: Vec<_> = (0..3).map(spawn).collect();
        for number in 3..6 {
            assert_eq!(
                said(&place.output(["run", &format!("echo {number}")])),
                (Some(0), format!("{number}\n"))
            );
        }
        for (number, child) in slow_ones.into_iter().enumerate() {
            assert_eq!(said(&child.wait_with_output().unwrap()), (Some(0), format!("{number}\n")));
        }
        let history = said(&place.output(["history"])).1;
        for number in 0..6 {
            assert!(history.contains(&format!("echo {number}")), "{history}");
        }
        assert_it_works_again(place);
    });
}
