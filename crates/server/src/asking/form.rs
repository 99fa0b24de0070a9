//! The question as a form in the agent's program.
//!
//! The first choice is no: a program may take it when somebody only presses Enter.

use rmcp::model::ElicitRequestParams;
use serde_json::{Value, json};
use shellgate::approval::{Answer, Choice, Question};
use shellgate::request::Action;

/// What is asked, and what can be answered.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    message: String,
    choices: Vec<Offered>,
}

/// A choice: its word, what it means, and what it says.
#[derive(Clone, Debug)]
struct Offered {
    word: &'static str,
    meaning: String,
    choice: Option<Choice>,
}

impl Form {
    pub(crate) fn of(question: &Question<'_>, shown: fn(&Question<'_>) -> String) -> Self {
        let offered = |word, meaning: &str, choice| Offered { word, meaning: meaning.to_owned(), choice };
        let mut choices = vec![
            offered("no", "Don't run it", None),
            offered("once", "Run it, this once", Some(Choice::Once)),
            offered(
                "session",
                "Run it, and exactly this again in this session and directory",
                Some(Choice::SessionExact),
            ),
        ];
        let mut message = format!("May this command run?\n\n{}", shown(question));
        // Their words stand among ours: such as could be taken for something else are not offered.
        let plain =
            question.prefixes.iter().flatten().all(|word| word.bytes().all(|byte| byte.is_ascii_graphic()));
        if plain && !question.prefixes.is_empty() {
            let prefixes: Vec<String> =
                question.prefixes.iter().map(|words| Action::Program(words.clone()).shown()).collect();
            let meaning =
                format!("Run it, and what begins with `{}` in this session", prefixes.join("` or `"));
            choices.push(offered("prefix", &meaning, Some(Choice::SessionPrefix)));
        }
        if let Some(always) = question.always.filter(|_| plain) {
            choices.push(offered("always", "Run it, and add a rule to your settings", Some(Choice::Always)));
            let lines = always.lines.join("\n");
            message.push_str(&format!("\n\n`always` adds to {}:\n{lines}", always.file.display()));
        }
        Self { message, choices }
    }

    /// As the protocol has it. One field: Codex can't send a form in which an optional text is empty. A reason for a no is read
    /// all the same where a client sends one.
    pub(crate) fn params(&self) -> Option<ElicitRequestParams> {
        let words: Vec<&str> = self.choices.iter().map(|offered| offered.word).collect();
        let meanings: Vec<&str> = self.choices.iter().map(|offered| offered.meaning.as_str()).collect();
        let schema = json!({
            "type": "object",
            "properties": {
                "answer": {"type": "string", "title": "Your answer", "enum": words, "enumNames": meanings},
            },
            "required": ["answer"],
        });
        Some(ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.message.clone(),
            requested_schema: serde_json::from_value(schema).ok()?,
        })
    }

    /// What a client's result says. `None`: nothing that can be understood, which is no answer.
    pub(crate) fn answer(&self, result: &Value) -> Option<Answer> {
        match result.get("action")?.as_str()? {
            "decline" => Some(Answer::No(None)),
            "cancel" => Some(Answer::No(Some("the question was closed without an answer".to_owned()))),
            "accept" => {
                let content = result.get("content")?;
                let word = content.get("answer")?.as_str()?;
                let offered = self.choices.iter().find(|offered| offered.word == word)?;
                let reason = content.get("reason").and_then(Value::as_str).map(str::trim);
                Some(match offered.choice {
                    Some(choice) => Answer::Yes(choice),
                    None => Answer::No(reason.filter(|reason| !reason.is_empty()).map(str::to_owned)),
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        let offered = |word, choice| Offered { word, meaning: String::new(), choice };
        Form {
            message: String::new(),
            choices: vec![offered("no", None), offered("once", Some(Choice::Once))],
        }
    }

    #[test]
    fn every_action_is_understood_and_nonsense_is_no_answer() {
        let cases = [
            (json!({"action": "accept", "content": {"answer": "once"}}), Some(Answer::Yes(Choice::Once))),
            (json!({"action": "accept", "content": {"answer": "no"}}), Some(Answer::No(None))),
            (
                json!({"action": "accept", "content": {"answer": "no", "reason": " use make "}}),
                Some(Answer::No(Some("use make".to_owned()))),
            ),
            (json!({"action": "decline"}), Some(Answer::No(None))),
            (json!({"action": "accept", "content": {"answer": "always"}}), None),
            (json!({"action": "accept", "content": {"answer": true}}), None),
            (json!({"action": "accept"}), None),
            (json!({"action": "maybe"}), None),
            (json!({}), None),
            (json!("yes"), None),
        ];
        for (result, answer) in cases {
            assert_eq!(form().answer(&result), answer, "{result}");
        }
        assert!(matches!(form().answer(&json!({"action": "cancel"})), Some(Answer::No(Some(_)))));
    }
}
