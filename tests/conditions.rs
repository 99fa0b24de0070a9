//! Conditions that a machine gets into: a state folder that can't be written, is slow or vanishes, limits that are reached, a
//! clock that jumps, processes that are suspended. In each, what the user is told is so, and the next call works when the
//! condition ends.

mod clock;
mod folder;
mod limits;
mod slow_disk;
mod suspended;

use std::process::Output;

use crate::support::Place;

/// The exit code and all that was said.
fn said(output: &Output) -> (Option<i32>, String) {
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

/// The next call works, the record is intact and nothing runs any more.
fn assert_it_works_again(place: &Place) {
    let (code, text) = said(&place.output(["run", "echo next"]));
    assert_eq!((code, text.as_str()), (Some(0), "next\n"));
    let (code, text) = said(&place.output(["audit", "verify"]));
    assert_eq!(code, Some(0), "{text}");
    place.assert_nothing_is_left();
}
