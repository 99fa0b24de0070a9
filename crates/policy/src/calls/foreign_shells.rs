//! Texts for shells that read otherwise than bash, whose grammar is the one that we read.

use shellgate_syntax::Span;

use super::{FoundCalls, Problem};
use crate::programs::{ProgramKind, ShellGrammar, shell_grammar, words};

/// Whether every shell reads a text alike.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || " _./-".contains(c))
}

impl FoundCalls {
    /// Adds a hazard if the call at `index` has a shell read `text` that may read it otherwise than bash. A builtin of
    /// bash reads it alike, and shares its variables with the text around it.
    pub(super) fn check_shell(&mut self, text: &str, index: usize, span: Span) {
        let call = self.calls.get(index);
        if call.is_some_and(|call| call.meaning.kind == Some(ProgramKind::Builtin)) {
            self.shares_variables = true;
            return;
        }
        let program = call.and_then(|call| call.program()).unwrap_or_default();
        let message = match shell_grammar(program) {
            Some(ShellGrammar::Bash) => return,
            Some(ShellGrammar::Korn | ShellGrammar::Other) if !is_plain(text) => {
                "a text for a shell other than bash isn't read with certainty"
            }
            _ if words::BASH_ONLY_SIGNS.iter().any(|sign| text.contains(sign)) => {
                "`sh` may read this text otherwise than bash does"
            }
            _ => return,
        };
        self.hazards.push(Problem::new(span, message));
    }
}
