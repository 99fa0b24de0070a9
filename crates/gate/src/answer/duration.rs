//! Durations in words.

use std::time::Duration;

/// A duration as people say it.
#[must_use]
pub fn seconds(duration: Duration) -> String {
    let ms = duration.as_millis();
    match ms {
        0..1_000 => format!("{ms} ms"),
        _ if ms.is_multiple_of(1_000) => format!("{} s", ms / 1_000),
        _ => format!("{}.{} s", ms / 1_000, format!("{:03}", ms % 1_000).trim_end_matches('0')),
    }
}
