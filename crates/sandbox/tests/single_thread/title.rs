//! The command's text in our own process listing.

use shellgate_sandbox::title::blank_arguments;

use crate::{Test, in_child};

pub(crate) const TESTS: &[Test] =
    &[("arguments_disappear_from_the_listing", arguments_disappear_from_the_listing)];

fn arguments_disappear_from_the_listing() {
    let listing = || std::fs::read("/proc/self/cmdline").unwrap();
    in_child(|| {
        let before = listing();
        let kept = before.iter().position(|byte| *byte == 0).unwrap() + 1;
        blank_arguments(1).unwrap();
        let after = listing();
        assert_eq!(after[..kept], before[..kept]);
        assert!(after[kept..].iter().all(|byte| *byte == 0), "{after:?}");
    });
}
