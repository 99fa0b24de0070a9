//! Durations as people type them: `30s`, `5m`, `1500ms`, `2h`. A bare number is refused: some take it for seconds, others
//! for milliseconds.

/// The longest duration that can be set: one day.
pub const MAX_DURATION_MS: u64 = 86_400_000;

/// Why a text isn't a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// It isn't a whole number and a unit.
    #[error("must be a time like `30s`, `5m`, `1500ms` or `2h`, found {found:?}")]
    Shape {
        /// The text.
        found: String,
    },
    /// It has no unit.
    #[error("has no unit: write `{number}s` for {number} seconds or `{number}ms` for {number} milliseconds")]
    NoUnit {
        /// The number.
        number: u64,
    },
    /// It is zero or longer than a day.
    #[error("must be from 1 ms to 24 h (86400000 ms), found {found:?}")]
    Range {
        /// The text.
        found: String,
    },
}

/// Reads a duration into milliseconds, from 1 to [`MAX_DURATION_MS`].
pub fn parse_duration(text: &str) -> Result<u64, DurationError> {
    let shape = || DurationError::Shape { found: text.to_owned() };
    let range = || DurationError::Range { found: text.to_owned() };
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    let factor = match unit {
        "ms" | "" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(shape()),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(shape());
    }
    // Parsing fails only for too many digits, so the number is out of range.
    let number: u64 = digits.parse().map_err(|_| range())?;
    let ms = number.checked_mul(factor).ok_or_else(range)?;
    match (1..=MAX_DURATION_MS).contains(&ms) {
        true if unit.is_empty() => Err(DurationError::NoUnit { number }),
        true => Ok(ms),
        false => Err(range()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let cases = [
            ("30s", 30_000),
            ("5m", 300_000),
            ("1500ms", 1500),
            ("2h", 7_200_000),
            ("007s", 7000),
            ("24h", MAX_DURATION_MS),
            ("86400000ms", MAX_DURATION_MS),
        ];
        for (text, ms) in cases {
            assert_eq!(parse_duration(text), Ok(ms), "{text:?}");
        }
    }

    #[test]
    fn errors() {
        let cases = [
            "",
            "s",
            "5 s",
            " 5s",
            "-5s",
            "+5",
            "1.5s",
            "5S",
            "5d",
            "five",
            "5s5",
            "٣s",
            "5",
            "007",
            "0",
            "0s",
            "25h",
            "86400001",
            "99999999999999999999",
            "9999999999999999999h",
        ];
        let text: Vec<_> = cases.iter().map(|case| parse_duration(case).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(text.join("\n"), @r#"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found ""
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found "s"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found "5 s"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found " 5s"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found "-5s"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found "+5"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found "1.5s"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found "5S"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found "5d"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found "five"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found "5s5"
        must be a time like `30s`, `5m`, `1500ms` or `2h`, found "٣s"
        has no unit: write `5s` for 5 seconds or `5ms` for 5 milliseconds
        has no unit: write `7s` for 7 seconds or `7ms` for 7 milliseconds
        must be from 1 ms to 24 h (86400000 ms), found "0"
        must be from 1 ms to 24 h (86400000 ms), found "0s"
        must be from 1 ms to 24 h (86400000 ms), found "25h"
        must be from 1 ms to 24 h (86400000 ms), found "86400001"
        must be from 1 ms to 24 h (86400000 ms), found "99999999999999999999"
        must be from 1 ms to 24 h (86400000 ms), found "9999999999999999999h"
        "#);
    }
}
