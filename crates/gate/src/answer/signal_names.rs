//! Signals by name.

use serde::Serialize;

/// A signal as results show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignalName {
    /// Its number.
    pub number: i32,
    /// Its name, with `SIG`.
    pub name: String,
}

// Linux numbers on x86-64 and most others; the position is the number, counted from 1.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// Where the real-time signals begin, as programs see it.
const FIRST_REAL_TIME: i32 = 34;

impl SignalName {
    /// The signal with this number.
    #[must_use]
    pub fn new(number: i32) -> Self {
        let known = usize::try_from(number).ok().and_then(|number| NAMES.get(number.checked_sub(1)?));
        let name = match known {
            Some(name) => format!("SIG{name}"),
            None if number == FIRST_REAL_TIME => "SIGRTMIN".to_owned(),
            None if number > FIRST_REAL_TIME => format!("SIGRTMIN+{}", number - FIRST_REAL_TIME),
            None => format!("SIG{number}"),
        };
        Self { number, name }
    }
}

#[cfg(test)]
mod tests {
    use super::SignalName;

    #[test]
    fn numbers_have_the_names_that_bash_gives_them() {
        let list = std::process::Command::new("bash").args(["-c", "kill -l"]).output().unwrap();
        let list = String::from_utf8(list.stdout).unwrap();
        let words: Vec<&str> = list.split_whitespace().collect();
        let mut seen = 0;
        for pair in words.chunks(2) {
            let number: i32 = pair[0].trim_end_matches(')').parse().unwrap();
            // Bash counts the upper half down from SIGRTMAX, we count up.
            if !pair[1].starts_with("SIGRTMAX") {
                assert_eq!(SignalName::new(number).name, pair[1]);
                seen += 1;
            }
        }
        assert!(seen > 40);
    }
}
