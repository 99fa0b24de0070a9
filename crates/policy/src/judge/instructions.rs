//! Files that agents take for instructions, and the project's own rules: a person is asked before a command writes one.

use shellgate_syntax::Span;

use super::Judge;
use crate::programs::base_name;
use crate::programs::words::{INSTRUCTION_FILES, INSTRUCTION_FOLDERS};
use crate::redirects::FileAccess;
use crate::verdict::ReasonCode;

/// The file with the project's rules.
const PROJECT_RULES: &str = ".shellgate.toml";

impl Judge<'_> {
    /// Asks about a file that agents take for instructions, whatever the rules allow. Returns whether it is one.
    pub(super) fn asks_about_instructions(&mut self, access: &FileAccess, span: Span) -> bool {
        let (FileAccess::WriteInside(path) | FileAccess::WriteOutside(path)) = access else { return false };
        let is_one = is_instructions(path);
        if is_one {
            let message = match base_name(path) {
                PROJECT_RULES => format!("it writes `{path}`, which has the project's rules for commands"),
                _ => format!("it writes `{path}`, which agents take for instructions"),
            };
            self.ask(ReasonCode::Write, span, message);
        }
        is_one
    }
}

/// Whether a file of this name is one that agents take for instructions.
pub(super) fn is_instructions(path: &str) -> bool {
    let name = base_name(path);
    let is_listed = INSTRUCTION_FILES.iter().any(|listed| name.eq_ignore_ascii_case(listed));
    let is_below = |folder: &&str| {
        path.split_once(*folder).is_some_and(|(before, rest)| {
            (before.is_empty() || before.ends_with('/')) && rest.starts_with('/')
        })
    };
    is_listed || name == PROJECT_RULES || INSTRUCTION_FOLDERS.iter().any(is_below)
}
