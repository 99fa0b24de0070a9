//! Assignments: `name=value` before a program.

use super::Walker;
use super::value::Context;
use crate::tree::{PieceKind, Text};
use crate::{Assigned, Assignment, Value};

impl Walker<'_> {
    pub(super) fn assignment(&mut self, word: &Text) -> Option<Assignment> {
        self.pieces(&word.pieces);
        let head = word.head.as_ref()?;
        let value = word.pieces.get(head.value..).unwrap_or_default();
        let value = match value {
            [piece] => match &piece.kind {
                PieceKind::Array(elements) => Assigned::Array(self.elements(elements)),
                _ => Assigned::Scalar(self.value(value, Context::Assignment)),
            },
            _ => Assigned::Scalar(self.value(value, Context::Assignment)),
        };
        Some(Assignment {
            span: word.span,
            name: head.name.clone(),
            subscript: word.subscript().map(|text| self.value(&text.pieces, Context::Quiet)),
            append: head.append,
            value,
        })
    }

    fn elements(&self, elements: &[Text]) -> Vec<Value> {
        let mut values = Vec::new();
        for element in elements {
            match &element.head {
                Some(head) => {
                    let value = element.pieces.get(head.value..).unwrap_or_default();
                    values.push(self.value(value, Context::Assignment));
                }
                None => {
                    values.extend(self.words(element, Context::Argument).into_iter().map(|word| word.value))
                }
            }
        }
        values
    }
}
