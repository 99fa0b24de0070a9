//! The question as a form in the agent's program.
//!
//! The first choice is no: some programs take it when the user only presses Enter.

use rmcp::model::ElicitRequestParams;
use serde_json::{Value, json};
use shellgate::approval::{Answer, Choice, Question};
use shellgate::views::{AnswerKind, QuestionView};

/// The programs of agents have little room.
const COLUMNS: usize = 80;

/// The question's text and the answers that it offers.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    message: String,
    choices: Vec<Offered>,
}

/// One answer.
#[derive(Clone, Debug)]
struct Offered {
    /// Its value in the form.
    word: &'static str,
    /// Its label.
    meaning: String,
    /// How far the yes goes. `None`: a no.
    choice: Option<Choice>,
}

impl Form {
    pub(crate) fn of(question: &Question<'_>) -> Self {
        let view = QuestionView::of(question);
        let text = view.to_text(COLUMNS);
        let mut message = format!("May this command run?\n\n{}", text.trim_end());
        // The meanings have words of the command among ours. Words that could be misread are not offered.
        let is_plain =
            question.prefixes.iter().flatten().all(|word| word.bytes().all(|byte| byte.is_ascii_graphic()));
        let is_exact_plain = view.always_exact.as_ref().is_some_and(|always| {
            let mut bytes = always.lines.iter().flat_map(|line| line.bytes());
            bytes.all(|byte| byte == b' ' || byte.is_ascii_graphic())
        });
        let is_offered = |kind| match kind {
            AnswerKind::Prefix | AnswerKind::Always => is_plain,
            AnswerKind::AlwaysExact => is_exact_plain,
            AnswerKind::Once | AnswerKind::Session | AnswerKind::No => true,
            // A form has one field.
            AnswerKind::NoBecause => false,
        };
        let mut choices: Vec<Offered> = Vec::new();
        for answer in view.answers().into_iter().filter(|answer| is_offered(answer.kind)) {
            let choice = answer.kind.choice();
            let offered = Offered { word: answer.kind.name(), meaning: capitalized(&answer.meaning), choice };
            match choice {
                Some(_) => choices.push(offered),
                None => choices.insert(0, offered),
            }
        }
        if let Some(always) = view.always.filter(|_| is_plain) {
            let lines = always.lines.join("\n");
            message.push_str(&format!("\n\n`always` adds to {}:\n{lines}", always.file));
        }
        if let Some(always) = view.always_exact.filter(|_| is_exact_plain) {
            let lines = always.lines.join("\n");
            message.push_str(&format!("\n\n`always_exact` adds to {}:\n{lines}", always.file));
        }
        Self { message, choices }
    }

    /// The parameters of the request. The form has one field, because Codex can't send one with an empty optional field.
    /// A client may still send a `reason` for its no.
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

    /// Reads a client's result. `None`: it can't be read, so it is no answer.
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

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
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
    fn every_action_is_read_and_anything_else_is_no_answer() {
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
