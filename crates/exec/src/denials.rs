//! What the sandbox refused to a command.

use serde::{Deserialize, Serialize};
use shellgate_sandbox::{Observation, RefusalRule};

/// How many refusals of one execution are kept.
const MAX_DENIALS: usize = 32;

/// All their paths together are not longer than this.
const MAX_PATH_BYTES: usize = 16 << 10;

/// What the sandbox refused to the processes of an execution, each once, as far as it fits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denials {
    /// The first refusals, in their order.
    pub list: Vec<Denial>,
    /// Programs that the guard refused, in their order.
    pub programs: Vec<RefusedProgram>,
    /// How many more there were.
    pub more: u64,
}

/// A program that the guard refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedProgram {
    /// Its file, as an absolute path.
    pub program: String,
    /// Its argument list, as far as it is short.
    pub argv: Vec<String>,
    /// The rule that forbids it, as people know it.
    pub rule: String,
    /// The words of that rule. Empty: no rule of an allowlist is about the program.
    pub words: Vec<String>,
}

/// One refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// Why it was refused. It also says what was tried: to reach a socket, or to write.
    pub rule: RefusalRule,
    /// The file or socket, as an absolute path. An abstract socket begins with `@`. Bytes that are no text are replaced. For
    /// rules about the network and about processes: the address, or the number.
    pub path: String,
    /// The path that has to be writable or reachable for it to succeed. `None`: its bytes are no text.
    pub grant: Option<String>,
}

impl Denials {
    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty() && self.programs.is_empty() && self.more == 0
    }

    /// Adds a program that was refused and isn't there yet, or counts it if there is no room.
    pub(crate) fn add_program(&mut self, refused: RefusedProgram) {
        if self.programs.contains(&refused) {
            return;
        }
        if self.programs.len() >= MAX_DENIALS {
            self.more = self.more.saturating_add(1);
            return;
        }
        self.programs.push(refused);
    }

    /// Adds a refusal that isn't there yet, or counts it if there is no room.
    pub(crate) fn add(&mut self, observation: &Observation) {
        let Observation { rule, path, grant, .. } = observation;
        let path = path.to_string_lossy();
        if self.list.iter().any(|denial| denial.rule == *rule && denial.path == path) {
            return;
        }
        let kept: usize = self.list.iter().map(|denial| denial.path.len()).sum();
        if self.list.len() >= MAX_DENIALS || kept + path.len() > MAX_PATH_BYTES {
            self.more = self.more.saturating_add(1);
            return;
        }
        let grant = grant.to_str().map(str::to_owned);
        self.list.push(Denial { rule: *rule, path: path.into_owned(), grant });
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::PathBuf;

    use shellgate_sandbox::Operation;

    use super::*;

    fn observation(path: PathBuf) -> Observation {
        let (operation, rule) = (Operation::Open, RefusalRule::ReadOnly);
        Observation { operation, grant: path.clone(), path, errno: 30, rule, tag: 1 }
    }

    #[test]
    fn a_refusal_is_kept_once_and_many_are_counted() {
        let mut denials = Denials::default();
        assert!(denials.is_empty());
        for number in 0..100_000 {
            denials.add(&observation(format!("/outside/{}", number % 40).into()));
        }
        assert_eq!(denials.list.len(), MAX_DENIALS);
        assert_eq!(denials.list[1].path, "/outside/1");
        assert_eq!(denials.more, 100_000 / 40 * 8);
    }

    #[test]
    fn long_paths_leave_less_room() {
        let mut denials = Denials::default();
        for number in 0..10 {
            denials.add(&observation(format!("/{number}{}", "x".repeat(4000)).into()));
        }
        assert_eq!((denials.list.len(), denials.more), (4, 6));
    }

    #[test]
    fn a_path_that_is_no_text_can_be_told_and_not_granted() {
        let mut denials = Denials::default();
        denials.add(&observation(std::ffi::OsString::from_vec(b"/a/\xff".to_vec()).into()));
        let expected = Denial { rule: RefusalRule::ReadOnly, path: "/a/\u{fffd}".to_owned(), grant: None };
        assert_eq!(denials.list, [expected]);
    }
}
