//! Medians and other percentiles.

/// The smallest value that at least this percentage of the values doesn't exceed. `None`: there are no values.
pub(super) fn percentile<T: Copy + PartialOrd>(values: &[T], percent: usize) -> Option<T> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

pub(super) fn median<T: Copy + PartialOrd>(values: &[T]) -> Option<T> {
    percentile(values, 50)
}

#[cfg(test)]
mod tests {
    use super::{median, percentile};

    #[test]
    fn percentiles_are_values_of_the_list() {
        let hundred: Vec<u32> = (1..=100).rev().collect();
        assert_eq!(median(&hundred), Some(50));
        assert_eq!(percentile(&hundred, 99), Some(99));
        assert_eq!(percentile(&hundred, 100), Some(100));
        assert_eq!(percentile(&hundred, 0), Some(1));
    }

    #[test]
    fn few_values_have_percentiles_too() {
        assert_eq!(median::<u32>(&[]), None);
        assert_eq!(percentile(&[7], 99), Some(7));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4, 1, 2, 3]), Some(2));
        assert_eq!(percentile(&[1, 2], 99), Some(2));
    }
}
