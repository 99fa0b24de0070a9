//! Whether what must stay flat is flat: the first third of the samples beside the last third.

use std::fmt::Write as _;
use std::time::Duration;

use super::sampler::Sample;
use super::statistics::median;

/// What is compared.
struct Quantity {
    name: &'static str,
    get: fn(&Sample) -> f64,
    /// The highest ratio of the last to the first that counts as flat. `None`: it is only shown.
    limit: Option<f64>,
}

const fn flat(name: &'static str, limit: f64, get: fn(&Sample) -> f64) -> Quantity {
    Quantity { name, get, limit: Some(limit) }
}

const fn shown(name: &'static str, get: fn(&Sample) -> f64) -> Quantity {
    Quantity { name, get, limit: None }
}

/// Processes that are killed all the time vary more than those that stay.
const QUANTITIES: &[Quantity] = &[
    flat("memory of steady processes, kB", 1.1, |sample| sample.steady_kb),
    flat("memory of all lasting processes, kB", 1.2, |sample| sample.memory_kb),
    flat("memory of the largest process, kB", 1.2, |sample| sample.largest_kb),
    flat("descriptors of steady processes", 1.1, |sample| sample.steady_descriptors),
    flat("descriptors of all lasting processes", 1.2, |sample| sample.descriptors),
    flat("most descriptors of a process", 1.2, |sample| sample.most_descriptors),
    flat("lasting processes", 1.2, |sample| sample.lasting),
    flat("all processes", 1.2, |sample| sample.processes),
    flat("files in the state folder", 1.2, |sample| sample.files),
    flat("bytes of these without the journal", 1.2, |sample| sample.file_bytes),
    flat("bytes of the journal, which is pruned", 1.2, |sample| sample.journal_bytes),
    shown("latency p50, ms", |sample| sample.p50_ms),
    shown("latency p99, ms", |sample| sample.p99_ms),
    shown("latency max, ms", |sample| sample.max_ms),
    shown("bare bash p50, ms", |sample| sample.floor_ms),
    shown("CPU of the machine, %", |sample| sample.cpu_percent),
];

/// A table of both thirds, and the names of what grows.
pub(super) fn compare(samples: &[Sample], warm_up: Duration) -> (String, Vec<String>) {
    let warm: Vec<&Sample> = samples.iter().filter(|sample| sample.seconds > warm_up.as_secs_f64()).collect();
    let third = (warm.len() / 3).max(1);
    let (first, last) =
        (warm.get(..third).unwrap_or(&warm), warm.get(warm.len().saturating_sub(third)..).unwrap_or(&warm));
    let middle = |part: &[&Sample], get: fn(&Sample) -> f64| {
        median(&part.iter().map(|sample| get(sample)).collect::<Vec<_>>()).unwrap_or_default()
    };
    let (mut table, mut grows) = (String::new(), Vec::new());
    let _ = writeln!(table, "{:<38} {:>12} {:>12} {:>6}", "median of", "first third", "last third", "ratio");
    for Quantity { name, get, limit } in QUANTITIES {
        let (before, after) = (middle(first, *get), middle(last, *get));
        let ratio = after / before.max(f64::EPSILON);
        let is_flat = limit.is_none_or(|limit| ratio <= limit);
        let _ = writeln!(
            table,
            "{name:<38} {before:>12.1} {after:>12.1} {ratio:>6.2}  {}",
            match (limit, is_flat) {
                (None, _) => "",
                (Some(_), true) => "flat",
                (Some(_), false) => "grows",
            }
        );
        if !is_flat {
            grows.push(format!("{name} ({before:.1} to {after:.1})"));
        }
    }
    (table, grows)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::sampler::Sample;
    use super::compare;

    /// An hour of samples, each with this memory.
    fn hour(memory_kb: impl Fn(f64) -> f64) -> Vec<Sample> {
        let seconds = (1..=360).map(|nth| f64::from(nth) * 10.0);
        let sample =
            |seconds| Sample { seconds, right: 200.0, memory_kb: memory_kb(seconds), ..Sample::default() };
        seconds.map(sample).collect()
    }

    #[test]
    fn what_only_grows_at_the_start_is_flat() {
        let (table, grows) =
            compare(&hour(|seconds| 50_000.0 + seconds.min(300.0) * 100.0), Duration::from_secs(300));
        assert!(grows.is_empty(), "{grows:?}");
        assert!(
            table.contains("memory of all lasting processes, kB         80000.0      80000.0   1.00  flat"),
            "{table}"
        );
    }

    #[test]
    fn a_leak_grows() {
        let (_, grows) = compare(&hour(|seconds| 50_000.0 + seconds * 10.0), Duration::from_secs(300));
        assert_eq!(grows.len(), 1, "{grows:?}");
        assert!(grows[0].starts_with("memory of all lasting processes"), "{grows:?}");
    }
}
