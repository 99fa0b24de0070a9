//! Dates in UTC: entries have milliseconds, people and protocols want a calendar.

use crate::body::Millis;

/// Length of a day.
pub const DAY_MS: Millis = 86_400_000;

/// A moment as `2026-11-15T08:43:34.123Z`.
#[must_use]
pub fn exact(at: Millis) -> String {
    let (year, month, day) = civil(at.div_euclid(DAY_MS));
    let ms = at.rem_euclid(DAY_MS);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

/// Year, month and day of a day that is counted since 1970. The computation has years begin in March, so that a leap day
/// is the last day of its year.
#[must_use]
pub const fn civil(days: Millis) -> (Millis, Millis, Millis) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + (month <= 2) as Millis, month, day)
}

/// The number of a day since 1970.
#[must_use]
pub const fn days(year: Millis, month: Millis, day: Millis) -> Millis {
    let year = year - (month <= 2) as Millis;
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_794_748_841_007, "2026-11-15T13:20:41.007Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(exact(ms), text);
            let (year, month, day) = civil(ms / DAY_MS);
            assert_eq!(days(year, month, day), ms / DAY_MS);
        }
    }
}
