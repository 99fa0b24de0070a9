//! Tool declarations: what a model is told about a dialect's tool, as its API takes it.
//!
//! They are written from the same table of fields that calls are read by, so what is advertised is accepted. Aliases and
//! fields that clients inject are not in them.

mod grammar;

use serde_json::{Value, json};

use super::Dialect;
use super::field::Field;
use grammar::Grammar;

/// The API that a declaration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// A `Tool` of the Model Context Protocol.
    Mcp,
    /// A `FunctionDeclaration` of the Gemini API.
    Gemini,
    /// A function tool of OpenAI's Chat Completions, with `strict`.
    Openai,
    /// A `Tool` of Anthropic's Messages.
    Anthropic,
}

impl Envelope {
    /// All of them, in the order of [`Self::NAMES`].
    pub const ALL: [Self; 4] = [Self::Mcp, Self::Gemini, Self::Openai, Self::Anthropic];

    /// What they are called, as `--for` takes it.
    pub const NAMES: [&'static str; 4] = ["mcp", "gemini", "openai", "anthropic"];

    /// The one called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().zip(Self::ALL).find_map(|(known, envelope)| (*known == name).then_some(envelope))
    }
}

/// An object with these fields and no others, as JSON Schema.
pub(crate) fn object_schema(fields: &'static [Field]) -> Value {
    Grammar::Full.object(fields.iter()).into()
}

impl Dialect {
    /// The declaration of this dialect's tool.
    #[must_use]
    pub fn schema(&self, envelope: Envelope) -> Value {
        let name = self.tool;
        let description = self.about.join("\n");
        let parameters = |grammar: Grammar| grammar.object(self.fields.iter());
        match envelope {
            Envelope::Mcp => json!({
                "name": name,
                "description": description,
                "inputSchema": parameters(Grammar::Full),
                // A command can do anything, and twice is not once.
                "annotations": {
                    "title": "Run a command",
                    "readOnlyHint": false,
                    "destructiveHint": true,
                    "idempotentHint": false,
                    "openWorldHint": true,
                },
            }),
            // Not `parametersJsonSchema`: every version of the API and every server that imitates it knows `parameters`.
            Envelope::Gemini => {
                json!({"name": name, "description": description, "parameters": parameters(Grammar::Gemini)})
            }
            // The nested form: the many servers that imitate OpenAI take it, the flat one of Responses only a few. It
            // becomes that one by moving what is in `function` up.
            Envelope::Openai => json!({"type": "function", "function": {
                "name": name,
                "description": description,
                "strict": true,
                "parameters": parameters(Grammar::Strict),
            }}),
            Envelope::Anthropic => {
                json!({"name": name, "description": description, "input_schema": parameters(Grammar::Full)})
            }
        }
    }
}

#[cfg(test)]
mod tests;
