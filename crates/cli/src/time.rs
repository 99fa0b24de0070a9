//! Times as people read and type them, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use shellgate::journal::Millis;
pub(crate) use shellgate::journal::calendar::exact;
use shellgate::journal::calendar::{DAY_MS, civil, days};
pub(crate) use shellgate::views::format_time as format;

/// Units of a time in the past, in milliseconds.
const UNITS: [(&str, Millis); 6] =
    [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", DAY_MS), ("w", 7 * DAY_MS)];

/// Now.
pub(crate) fn now() -> Millis {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(now.as_millis()).unwrap_or(Millis::MAX)
}

/// Parses `90s`, `15m`, `2h`, `7d`, `1w` (ago), `2026-11-15` or `2026-11-15T08:43[:34][Z]`, in UTC.
pub(crate) fn parse(text: &str) -> Result<Millis, String> {
    ago(text).map(|ago| now().saturating_sub(ago)).or_else(|| moment(text)).ok_or_else(|| {
        "use a time in the past (`15m`, `2h`, `7d`), a day (`2026-11-15`) or a time of day (`2026-11-15T08:43`), in UTC"
            .to_owned()
    })
}

fn ago(text: &str) -> Option<Millis> {
    let (unit, factor) = UNITS.into_iter().find(|(unit, _)| text.ends_with(*unit))?;
    number(text.strip_suffix(unit)?)?.checked_mul(factor)
}

fn moment(text: &str) -> Option<Millis> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let date = numbers(date, '-')?;
    let [year, month @ 1..=12, day @ 1..=31] = date.as_slice() else { return None };
    let time = numbers(time, ':')?;
    let (hour, minute, second) = match time.as_slice() {
        [hour, minute] => (hour, minute, &0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    if *hour > 23 || *minute > 59 || *second > 59 || *year > 9999 {
        return None;
    }
    let days = days(*year, *month, *day);
    // February 30 would be counted as a day of March.
    (civil(days) == (*year, *month, *day)).then_some(())?;
    Some(days * DAY_MS + hour * 3_600_000 + minute * 60_000 + second * 1000)
}

fn numbers(text: &str, between: char) -> Option<Vec<Millis>> {
    text.split(between).map(number).collect()
}

fn number(text: &str) -> Option<Millis> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_they_are_shown() {
        for (text, ms) in [
            ("1970-01-01", 0),
            ("2000-02-29T23:59:59", 951_868_799_000),
            ("2026-11-15T08:43:34Z", 1_794_732_214_000),
            ("2100-03-01 00:00", 4_107_542_400_000),
        ] {
            assert_eq!(moment(text), Some(ms), "{text}");
            assert_eq!(moment(&format(ms)), Some(ms), "{text}");
        }
        assert_eq!(exact(1_794_732_214_007), "2026-11-15T08:43:34.007Z");
    }

    #[test]
    fn other_text_is_no_time() {
        for text in
            ["", "1", "h", "-1h", "2026-02-30", "2026-13-01", "2026-11-15T24:00", "yesterday", "1h30m"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("2h").unwrap() <= now() - 7_200_000);
    }
}
