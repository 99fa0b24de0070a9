//! Files that agents take for instructions: a person is asked before a command writes one.

use shellgate_syntax::Span;

use super::Judge;
use crate::programs::base_name;
use crate::redirects::FileAccess;
use crate::verdict::ReasonCode;

/// Files that agents read as instructions of their user, in any folder of a project.
const INSTRUCTIONS: [&str; 11] = [
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "QWEN.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".goosehints",
];

impl Judge<'_> {
    /// Asks about a file that agents take for instructions, whatever the rules allow. Returns whether it is one.
    pub(super) fn asks_about_instructions(&mut self, access: &FileAccess, span: Span) -> bool {
        let (FileAccess::WriteInside(path) | FileAccess::WriteOutside(path)) = access else { return false };
        let is_one = is_instructions(path);
        if is_one {
            let message = format!("it writes `{path}`, which agents take for instructions");
            self.ask(ReasonCode::Write, span, message);
        }
        is_one
    }
}

/// Whether a file of this name is one that agents take for instructions.
pub(super) fn is_instructions(path: &str) -> bool {
    INSTRUCTIONS.iter().any(|name| base_name(path).eq_ignore_ascii_case(name))
}
