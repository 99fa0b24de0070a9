//! What the broker does for commands, as root and as an ordinary user.

mod differential;

use crate::Test;

pub(crate) const TESTS: &[&[Test]] = &[differential::TESTS];
