//! What is said of a command that reached a limit.

use shellgate_exec::{ExceededLimit, LimitAction, LimitedResource};

use crate::{Code, ErrorObject};

/// The error of an execution that reached a limit.
pub(crate) fn error(broken: &ExceededLimit) -> ErrorObject {
    let ExceededLimit { resource: limited, limit, action: then } = broken;
    let (used, hint) = match limited {
        LimitedResource::Memory => (
            format!("used more than {limit} MB of memory"),
            "let it work on less at a time or with fewer processes, or have the limit raised",
        ),
        LimitedResource::Processes => (
            format!("wanted more than {limit} processes and threads at once"),
            "let it do less at once (a lower `-j`, fewer workers), or have the limit raised",
        ),
        LimitedResource::Cpu => (
            format!("used more than {limit} s of processor time"),
            "let it do less, in several commands, or have the limit raised",
        ),
        LimitedResource::Disk => {
            (format!("wrote more than {limit} MB to the disk"), "let it write less, or have the limit raised")
        }
    };
    let then = match then {
        LimitAction::Ended => "was stopped",
        LimitAction::Refused => "was given no more",
    };
    let key = format!("limits.{}", limited.key());
    ErrorObject::new(Code::LimitExceeded, format!("the command {used} and {then} ({key})"))
        .rule(format!("{key} = {limit}"))
        .hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_which_limit_and_what_became_of_the_command() {
        let broken =
            ExceededLimit { resource: LimitedResource::Memory, limit: 512, action: LimitAction::Ended };
        let said = error(&broken);
        assert_eq!(
            said.message,
            "the command used more than 512 MB of memory and was stopped (limits.memory_mb)"
        );
        assert_eq!(said.rule.as_deref(), Some("limits.memory_mb = 512"));
        let refused = error(&ExceededLimit {
            resource: LimitedResource::Processes,
            limit: 20,
            action: LimitAction::Refused,
        });
        assert_eq!(
            refused.message,
            "the command wanted more than 20 processes and threads at once and was given no more (limits.processes)"
        );
    }
}
