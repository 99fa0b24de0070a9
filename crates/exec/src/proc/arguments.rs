//! `/proc/PID/cmdline`, `comm` and `environ`.

use super::ProcessFolder;

/// The longest command line that a list of processes shows.
const MAX_SHOWN_COMMAND_BYTES: usize = 1 << 10;

/// What is read of an argument list.
const MAX_ARGUMENT_BYTES: u64 = 16 << 10;

/// What is read of an environment.
const MAX_ENVIRONMENT_BYTES: u64 = 1 << 20;

impl ProcessFolder {
    /// Its command line, blanks between the words; the short name in brackets when it has none.
    #[must_use]
    pub fn command(self) -> String {
        let list = self.read("cmdline", MAX_SHOWN_COMMAND_BYTES as u64 + 1).unwrap_or_default();
        joined(&list).unwrap_or_else(|| {
            let name = self.read_text("comm", 64).unwrap_or_default();
            format!("[{}]", name.trim_end())
        })
    }

    /// Its argument list, as far as it is short.
    #[must_use]
    pub fn arguments(self) -> Vec<String> {
        words(&self.read("cmdline", MAX_ARGUMENT_BYTES).unwrap_or_default())
    }

    /// The value of `name` in the environment that it was started with, when we may see it.
    #[must_use]
    pub fn variable(self, name: &str) -> Option<String> {
        value(&self.read("environ", MAX_ENVIRONMENT_BYTES)?, name)
    }
}

fn words(list: &[u8]) -> Vec<String> {
    let list = list.strip_suffix(&[0]).unwrap_or(list);
    list.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// `None` for a process without arguments: one of the kernel's, or one that has ended.
fn joined(list: &[u8]) -> Option<String> {
    let all: Vec<_> = list.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let all = all.join(" ");
    let all = all.trim_end();
    match list.len() > MAX_SHOWN_COMMAND_BYTES {
        _ if all.is_empty() => None,
        true => Some(format!("{all}…")),
        false => Some(all.to_owned()),
    }
}

fn value(environment: &[u8], name: &str) -> Option<String> {
    let mut entries = environment.split(|byte| *byte == 0);
    let value = entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::{of, own};
    use super::*;

    #[test]
    fn arguments_end_with_a_zero_byte() {
        assert_eq!(words(b"sh\0-c\0echo a b\0"), ["sh", "-c", "echo a b"]);
        assert_eq!(words(b"sh\0\0"), ["sh", ""], "an empty argument is one");
        assert_eq!(words(b"cut of"), ["cut of"]);
        assert_eq!(words(b""), [""]);
    }

    #[test]
    fn a_listing_joins_them_and_cuts() {
        assert_eq!(joined(b"sleep\x0030\0").as_deref(), Some("sleep 30"));
        assert_eq!((joined(b""), joined(b"\0\0")), (None, None));
        let long = vec![b'a'; MAX_SHOWN_COMMAND_BYTES + 1];
        assert!(joined(&long).unwrap().ends_with("a…"));
        assert!(joined(&long[1..]).unwrap().ends_with('a'));
    }

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let environment = b"AB=1\0A=x=y\0BAD\0EMPTY=\0";
        assert_eq!(value(environment, "A").as_deref(), Some("x=y"));
        assert_eq!(value(environment, "EMPTY").as_deref(), Some(""));
        assert_eq!((value(environment, "BAD"), value(environment, "B")), (None, None));
    }

    #[test]
    fn a_child_is_seen_with_its_command_and_variable() {
        let mut command = std::process::Command::new("sleep");
        let mut child = command.arg("30").env("SG_TEST", "a=b").spawn().unwrap();
        let seen = of(child.id());
        while seen.command() != "sleep 30" {
            std::thread::yield_now();
        }
        assert_eq!(seen.arguments(), ["sleep", "30"]);
        assert_eq!(seen.variable("SG_TEST").as_deref(), Some("a=b"));
        assert_eq!(seen.stat().unwrap().parent, std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((seen.command().as_str(), seen.variable("SG_TEST")), ("[]", None));
        assert!(!own().command().is_empty());
    }
}
