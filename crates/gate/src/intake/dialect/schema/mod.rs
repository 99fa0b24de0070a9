//! Tool declarations: the description of a dialect's tool, in the form that a model's API takes.
//!
//! They are written from the table of fields that calls are read by, so every declared field is accepted. They leave out
//! aliases and fields that clients add by themselves.

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
    /// All envelopes, in the order of [`Self::NAMES`].
    pub const ALL: [Self; 4] = [Self::Mcp, Self::Gemini, Self::Openai, Self::Anthropic];

    /// Their names, the values of `--for`.
    pub const NAMES: [&'static str; 4] = ["mcp", "gemini", "openai", "anthropic"];

    /// The envelope called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().zip(Self::ALL).find_map(|(known, envelope)| (*known == name).then_some(envelope))
    }
}

/// How much a declaration says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Advertised {
    /// The fields that models need often, without bounds. Every model pays for a declaration in every conversation.
    #[default]
    Common,
    /// All fields.
    All,
}

/// The JSON Schema of an object with these fields.
pub(crate) fn object_schema(fields: &'static [Field], advertised: Advertised) -> Value {
    match advertised {
        Advertised::Common => Grammar::Short.object(fields.iter().filter(|field| !field.rare)).into(),
        Advertised::All => Grammar::Full.object(fields.iter()).into(),
    }
}

impl Dialect {
    /// The declaration of this dialect's tool.
    #[must_use]
    pub fn schema(&self, envelope: Envelope) -> Value {
        self.declaration(envelope, Advertised::All)
    }

    /// The declaration of this dialect's tool, with all fields or the common ones.
    #[must_use]
    pub fn declaration(&self, envelope: Envelope, advertised: Advertised) -> Value {
        let name = self.tool;
        let description = self.about.join("\n");
        let parameters = |grammar: Grammar| grammar.object(self.fields.iter());
        match envelope {
            Envelope::Mcp => json!({
                "name": name,
                "description": description,
                "inputSchema": object_schema(self.fields, advertised),
                // A command can do anything, and running it twice differs from running it once.
                "annotations": {
                    "title": "Run a command",
                    "readOnlyHint": false,
                    "destructiveHint": true,
                    "idempotentHint": false,
                    "openWorldHint": true,
                },
            }),
            // `parameters`, not `parametersJsonSchema`: every version of the API and every compatible server knows it.
            Envelope::Gemini => {
                json!({"name": name, "description": description, "parameters": parameters(Grammar::Gemini)})
            }
            // The nested form: most OpenAI-compatible servers take it, and only few take the flat form of Responses. Moving
            // the content of `function` up makes the flat form of it.
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
