//! What the command line asks for.

use std::path::PathBuf;
use std::time::Duration;

use super::Dice;

/// The words after `soak`.
pub(super) struct Options {
    pub(super) minutes: f64,
    pub(super) seed: u64,
    pub(super) out: PathBuf,
}

impl Options {
    pub(super) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options =
            Self { minutes: 60.0, seed: u64::from(std::process::id()), out: PathBuf::from("soak-out") };
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
            let is_bad = |error: &dyn std::fmt::Display| format!("{word} {value}: {error}");
            match word.as_str() {
                "--minutes" => options.minutes = value.parse().map_err(|error| is_bad(&error))?,
                "--seed" => options.seed = value.parse().map_err(|error| is_bad(&error))?,
                "--out" => options.out = value.into(),
                _ => return Err(format!("`{word}` is unknown: use --minutes, --seed, --out")),
            }
        }
        let is_possible = options.minutes > 0.0 && options.minutes <= 24.0 * 60.0;
        if is_possible { Ok(options) } else { Err("--minutes is more than 0, and a day at most".to_owned()) }
    }

    pub(super) fn duration(&self) -> Duration {
        Duration::from_secs_f64(self.minutes * 60.0)
    }

    /// The time whose samples are left out of comparisons: five minutes, of a short run a sixth.
    pub(super) fn warm_up(&self) -> Duration {
        Duration::from_secs(5 * 60).min(self.duration() / 6)
    }

    /// Dice for one thread.
    pub(super) fn dice(&self, thread: usize) -> Dice {
        Dice::new(self.seed.wrapping_mul(1000).wrapping_add(thread as u64))
    }
}
