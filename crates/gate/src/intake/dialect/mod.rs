//! Dialects: the tool calls of different agents, with the way to read their arguments and to write their answers.
//!
//! A dialect is a row of data and two functions, in a file of its own. No other code asks which dialect is in use.

mod agent_world;
mod answer;
mod asimi;
mod closing;
mod field;
mod fields;
mod gemini;
mod json;
mod labelled;
mod markdown;
mod native;
mod qwen;
mod run_shell_command;
mod schema;
mod syntax;

pub use answer::DialectAnswer;
pub use closing::ClosedText;
pub(crate) use field::{Field, Kind};
pub(crate) use fields::Arguments;
pub(crate) use schema::object_schema;
pub use schema::{Advertised, Envelope};

use serde_json::{Map, Value};

use crate::ErrorObject;
use crate::answer::report::Report;
use crate::intake::request::{Detail, Format, Request, Substitutions, Words};

/// One dialect.
#[derive(Debug)]
pub struct Dialect {
    /// Its name, the value of `--dialect`.
    pub name: &'static str,
    /// The name of its tool.
    pub tool: &'static str,
    /// The description of the tool for models.
    about: &'static [&'static str],
    /// Variables that tell a command that this dialect started it.
    pub marks: &'static [(&'static str, &'static str)],
    /// What the words of a program call may be.
    pub words: Words,
    /// How substitutions in its calls are treated.
    pub substitutions: Substitutions,
    /// The root of calls that don't name one.
    pub default_root: DefaultRoot,
    /// The preset of calls where no setting names one.
    pub default_preset: DefaultPreset,
    /// What happens to a command that needs approval where no setting says it.
    pub default_approval: DefaultApproval,
    /// The field that chooses the format of the answer, and the format of calls without that field.
    format: (&'static str, Format),
    fields: &'static [Field],
    request: fn(&mut Arguments) -> Result<Request, ErrorObject>,
    answer: fn(&Report) -> DialectAnswer,
    structured: fn(&Report) -> Map<String, Value>,
    /// The same tool as agents get it over MCP. `None`: it is the same there.
    over_mcp: Option<&'static Self>,
    assistant: fn(&Report) -> Option<String>,
}

/// The root when neither a flag nor a setting names one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultRoot {
    /// The current folder.
    #[default]
    Current,
    /// The user's home.
    Home,
}

/// The preset when no setting names one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultPreset {
    /// `balanced` where commands are confined, else `cautious`.
    #[default]
    ByConfinement,
    /// None: what no rule covers is asked about.
    None,
}

/// What happens to a command that needs approval where `approval.mode` isn't set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultApproval {
    /// It is tried first, where the sandbox can do that. Elsewhere a person is asked.
    #[default]
    OnNeed,
    /// A person is asked.
    Ask,
}

/// The label of what the sandbox refused.
const DENIED: &str = "Refused by the sandbox";

/// The whole report, for dialects without a shorter form.
fn whole_report(report: &Report) -> Map<String, Value> {
    // A report is a structure of strings, numbers and lists: it always serializes to an object.
    match serde_json::to_value(report) {
        Ok(Value::Object(facts)) => facts,
        _ => Map::new(),
    }
}

/// For dialects that add nothing to the conversation besides the answer.
fn no_assistant_text(_: &Report) -> Option<String> {
    None
}

impl Dialect {
    /// All dialects.
    pub const ALL: &'static [&'static Self] =
        &[&native::DIALECT, &asimi::DIALECT, &gemini::DIALECT, &qwen::DIALECT, &agent_world::DIALECT];

    /// Our own dialect, the default.
    pub const SHELLGATE: &'static Self = &native::DIALECT;

    /// The dialect called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().copied().find(|dialect| dialect.name == name)
    }

    /// Reads the arguments of a tool call, in JSON, into a request.
    ///
    /// # Errors
    /// `invalid_input`, with the name of the field.
    pub fn read(&self, arguments: &str) -> Result<Request, ErrorObject> {
        let mut arguments = Arguments::read(arguments, self.fields)?;
        Ok(self.restrict((self.request)(&mut arguments)?))
    }

    /// Puts the name and the restrictions of this dialect on a request.
    #[must_use]
    pub fn restrict(&self, request: Request) -> Request {
        Request {
            dialect: self.name,
            marks: self.marks,
            words: self.words,
            substitutions: self.substitutions,
            ..request
        }
    }

    /// The answer to a call that was refused, in the format that the call asked for if that can be read.
    #[must_use]
    pub fn refused(&self, arguments: &str, error: ErrorObject) -> Report {
        let (field, default) = self.format;
        let wanted = serde_json::from_str::<serde_json::Value>(arguments).ok();
        let format = match wanted.as_ref().and_then(|wanted| wanted.get(field)?.as_str()) {
            Some(name) => Format::named(name).unwrap_or(default),
            None => default,
        };
        let detail = wanted.as_ref().and_then(|wanted| wanted.get("detail")?.as_str());
        let detail = if detail == Some("full") { Detail::Full } else { Detail::Minimal };
        // The first field that a call must have is the command.
        let field = self.fields.iter().find(|field| field.required);
        let mut names = field.into_iter().flat_map(|field| std::iter::once(&field.name).chain(field.aliases));
        let command = names.find_map(|name| wanted.as_ref()?.get(*name)?.as_str()).unwrap_or_default();
        Report { format, detail, command: command.to_owned(), ..Report::of_error(error) }
    }

    /// The text of an assistant that was run as a command, for the conversation. `None`: the command was no assistant.
    #[must_use]
    pub fn assistant(&self, report: &Report) -> Option<String> {
        (self.assistant)(report)
    }

    /// This dialect as agents get it over MCP: what its answers look like by default, and what its tool says.
    #[must_use]
    pub fn over_mcp(&'static self) -> &'static Self {
        self.over_mcp.unwrap_or(self)
    }

    /// The facts of a report as structured content.
    #[must_use]
    pub fn structured(&self, report: &Report) -> Map<String, Value> {
        (self.structured)(report)
    }

    /// Writes a report as the model gets it.
    #[must_use]
    pub fn write(&self, report: &Report) -> DialectAnswer {
        (self.answer)(report)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Dialect;

    /// Any JSON. Its keys are often names of fields.
    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        use serde_json::{Value, json};
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(|number| json!(number)),
            ".{0,20}".prop_map(Value::from),
        ];
        let names = Dialect::ALL.iter().flat_map(|dialect| dialect.fields).map(|field| field.name);
        let names: Vec<&str> = names.chain(["cmd", "cwd", "wait_for_previous", ""]).collect();
        let key = prop_oneof![3 => proptest::sample::select(names).prop_map(str::to_owned), 1 => ".{0,10}"];
        leaf.prop_recursive(3, 24, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::hash_map(key.clone(), inner, 0..6)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn arbitrary_arguments_are_read_or_refused_in_the_dialects_format(
            json in any_json(), noise in ".{0,40}", cut in 0_usize..40,
        ) {
            let text = json.to_string();
            let short: String = text.chars().take(cut).collect();
            for dialect in Dialect::ALL {
                for input in [text.as_str(), short.as_str(), noise.as_str()] {
                    let Err(error) = dialect.read(input) else { continue };
                    // A shell operator in a program call has a code of its own.
                    let explained = error.code == crate::Code::ShellSyntax || error.message.starts_with("invalid input: ");
                    prop_assert!(explained, "{}", error.message);
                    let answer = dialect.write(&dialect.refused(input, error));
                    let is_text = matches!(answer, super::DialectAnswer::Text(_));
                    let answer = answer.to_string();
                    let shape = match dialect.name {
                        "agent-world" | "shellgate" if answer.starts_with("**failed**") => true,
                        "gemini" | "qwen" => answer.starts_with("Command: ") && answer.contains("\nError: invalid_input: "),
                        _ => serde_json::from_str::<serde_json::Value>(&answer).is_ok_and(|answer| answer.is_object()),
                    };
                    prop_assert_eq!(is_text, !answer.starts_with('{'));
                    prop_assert!(shape, "{}: {answer}", dialect.name);
                }
            }
        }
    }

    #[test]
    fn settings_know_every_tool_by_its_name() {
        // Else `TOOL(git push)` in `exclude` would be words that no command begins with, and exclude nothing.
        for dialect in Dialect::ALL {
            assert!(crate::settings::TOOL_NAMES.contains(&dialect.tool), "{}", dialect.tool);
        }
    }

    #[test]
    fn a_refused_call_names_its_command_by_every_name_of_the_field() {
        for dialect in Dialect::ALL {
            let field = dialect.fields.iter().find(|field| field.required).unwrap();
            for name in [field.name].iter().chain(field.aliases) {
                let arguments = serde_json::json!({*name: "ls", "nosuch": 1}).to_string();
                let error = crate::ErrorObject::invalid("no such field");
                assert_eq!(dialect.refused(&arguments, error).command, "ls", "{}: {name}", dialect.name);
            }
        }
    }

    #[test]
    fn every_name_finds_its_dialect() {
        for dialect in Dialect::ALL {
            assert_eq!(Dialect::named(dialect.name).map(|found| found.name), Some(dialect.name));
        }
        assert!(Dialect::named("klingon").is_none());
    }
}
