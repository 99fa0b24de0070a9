//! Redirects and here-documents.

use super::Walker;
use super::value::Context;
use crate::tree::Redirection;
use crate::{
    Assigned, Assignment, Descriptor, Redirect, RedirectOperator, RedirectTarget, Unknown, Value, Why, Word,
};

impl Walker<'_> {
    pub(super) fn redirects(&mut self, redirections: &[Redirection]) -> Vec<Redirect> {
        redirections.iter().map(|redirection| self.redirect(redirection)).collect()
    }

    fn redirect(&mut self, redirection: &Redirection) -> Redirect {
        let span = redirection.span;
        if let Descriptor::Variable(name) = &redirection.descriptor {
            self.set.push(Assignment {
                span,
                name: name.clone(),
                subscript: None,
                append: false,
                value: Assigned::ByShell(Vec::new()),
            });
        }
        let target = match &redirection.here {
            Some(here) => {
                let document = here.get();
                let body = document.map(|document| document.body.as_slice()).unwrap_or_default();
                self.pieces(body);
                let value = self.value(body, Context::Quiet);
                let span = document.map_or(span, |document| document.span);
                RedirectTarget::Body(Word { span, value })
            }
            None => {
                self.pieces(&redirection.target.pieces);
                RedirectTarget::Word(self.target(redirection))
            }
        };
        Redirect { span, descriptor: redirection.descriptor.clone(), operator: redirection.operator, target }
    }

    /// The target, which is one word. If it becomes several, bash refuses to run the command.
    fn target(&mut self, redirection: &Redirection) -> Word {
        let target = &redirection.target;
        if redirection.operator == RedirectOperator::HereString {
            return Word { span: target.span, value: self.value(&target.pieces, Context::Quiet) };
        }
        let mut words = self.words(target, Context::Argument);
        match (words.pop(), words.is_empty()) {
            (Some(word), true) => word,
            _ => {
                let unknown = Unknown { lead: String::new(), splits: true, why: Why::Brace, tail: None };
                Word { span: target.span, value: Value::Unknown(unknown) }
            }
        }
    }
}
