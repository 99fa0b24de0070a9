//! Who reads a text inside: only bash reads it as we do.

use shellgate_syntax::Span;

use super::{Note, Reached};
use crate::programs::{Kind, ShellGrammar, shell_grammar, words};

/// Whether every shell reads a text alike.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || " _./-".contains(c))
}

impl Reached {
    /// Looks at who reads a text: only bash reads it as we do, and its builtins share variables with the text around.
    pub(super) fn reader(&mut self, text: &str, at: usize, span: Span) {
        let call = self.calls.get(at);
        if call.is_some_and(|call| call.understood.kind == Some(Kind::Builtin)) {
            self.shared = true;
            return;
        }
        let program = call.and_then(|call| call.words.first()?.value.known()).unwrap_or_default();
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
        self.hazards.push(Note::new(span, message));
    }
}
