//! Answering a question that is in the record. Every front end's answer goes through here.
//!
//! Several people may answer: one in the agent's program, one at another terminal. The journal accepts the first answer.
//! Only then do its grants hold, and only then does "always" change the user's settings.

use shellgate_journal::{
    self as journal, AnswerResult, GRANT_LIFETIME_MS, GrantScope, Journal, PersonAnswer, QuestionId,
    RecordedChoice, RecordedQuestion, SessionGrant, Step, UnwrittenSettings,
};
use tracing::warn;

use super::offer::exact_rules;
use super::{Always, Answer, ApprovalChannel, Choice, RuleReach, WrittenRules};

/// A question in the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PostedQuestion<'a> {
    pub(crate) journal: &'a Journal,
    pub(crate) number: QuestionId,
    /// The execution that waits for the answer.
    pub(crate) exec_id: &'a str,
    pub(crate) question: &'a RecordedQuestion,
    /// The root of the request.
    pub(crate) root: &'a str,
    /// The directory of the request, relative to the root.
    pub(crate) directory: &'a str,
}

/// Why an answer has no effect.
#[derive(Debug)]
pub(crate) enum AnswerError {
    /// The question doesn't offer this choice.
    NotOffered(&'static str),
    /// The answer can't be recorded, so it doesn't count.
    Journal(journal::Error),
}

/// What became of an answer.
#[derive(Debug)]
pub(crate) struct Answered {
    /// Whether it counts.
    pub(crate) result: AnswerResult,
    /// The settings that an "always" could not write. The answer then counts for this call only.
    pub(crate) unwritten: Option<UnwrittenSettings>,
    /// The rules that an "always" has written.
    pub(crate) written: Option<WrittenRules>,
}

/// That an "always" could not be written, in words.
pub(crate) fn unwritten_text(unwritten: &UnwrittenSettings) -> String {
    let UnwrittenSettings { file, error } = unwritten;
    format!("\"always\" could not be written to `{file}`: {error}")
}

impl PostedQuestion<'_> {
    /// Records a person's answer, and says whether it is the first, which counts. An answer that isn't a person's (the time
    /// is over, say) is recorded as a no.
    ///
    /// # Errors
    /// See [`AnswerError`].
    pub(crate) fn answer(&self, answer: &Answer, channel: ApprovalChannel) -> Result<Answered, AnswerError> {
        let (mut choice, grants) = self.choice(answer)?;
        // The new content is written beside the settings before the answer is recorded, so that the record says what
        // happened. It replaces the settings only when this is the answer that counts.
        let always = self.always(answer);
        let draft = always.as_ref().map(|always| always.draft().map_err(|error| always.unwritten(&error)));
        let (draft, unwritten) = match draft.transpose() {
            Ok(draft) => (draft, None),
            Err(unwritten) => {
                choice = RecordedChoice::AlwaysUnwritten(unwritten.clone());
                (None, Some(unwritten))
            }
        };
        let given = PersonAnswer { choice, by: super::user(), channel };
        let result = self.journal.answer(self.number, given, grants).map_err(AnswerError::Journal)?;
        if let AnswerResult::TooLate(_) = result {
            return Ok(Answered { result, unwritten: None, written: None });
        }
        let committed = draft.zip(always).map(|(draft, always)| {
            let written = always.commit(draft);
            written.map_err(|error| always.unwritten(&error)).inspect_err(|failed| self.correct(failed))
        });
        let (written, failed) = match committed.transpose() {
            Ok(written) => (written, None),
            Err(failed) => (None, Some(failed)),
        };
        Ok(Answered { result, unwritten: unwritten.or(failed), written })
    }

    /// Corrects the record, which says that the settings were written.
    fn correct(&self, unwritten: &UnwrittenSettings) {
        let text = unwritten_text(unwritten);
        let note = Step::Note(journal::Note { text });
        if let Err(error) = self.journal.append(self.exec_id, vec![note]) {
            warn!(id = self.exec_id, %error, "it can't be recorded that the settings were not written");
        }
    }

    /// The answer as the record has it, and what it grants beyond this call.
    fn choice(&self, answer: &Answer) -> Result<(RecordedChoice, Vec<SessionGrant>), AnswerError> {
        let question = self.question;
        let grant = |scope| SessionGrant {
            root: self.root.to_owned(),
            directory: self.directory.to_owned(),
            scope,
            // What the person was told. A question of an older version says nothing.
            expires_at: question
                .grant_until
                .or_else(|| Some(crate::record::now().saturating_add(GRANT_LIFETIME_MS))),
        };
        Ok(match answer {
            Answer::Yes(Choice::Once) => (RecordedChoice::Once, Vec::new()),
            Answer::Yes(Choice::SessionExact) => {
                let scope = question.exact.clone().ok_or(AnswerError::NotOffered("that"))?;
                (RecordedChoice::SessionExact, vec![grant(scope)])
            }
            Answer::Yes(Choice::SessionPrefix) if question.prefixes.is_empty() => {
                return Err(AnswerError::NotOffered("a prefix"));
            }
            Answer::Yes(Choice::SessionPrefix) => {
                let grants = question.prefixes.iter().map(|prefix| grant(GrantScope::Prefix(prefix.clone())));
                (RecordedChoice::SessionPrefix(question.prefixes.clone()), grants.collect())
            }
            Answer::Yes(Choice::Always) => {
                let lines = question.always.clone().ok_or(AnswerError::NotOffered("always"))?;
                (RecordedChoice::Always(lines), Vec::new())
            }
            Answer::Yes(Choice::AlwaysExact) => {
                let lines = question
                    .always_exact
                    .clone()
                    .ok_or(AnswerError::NotOffered("exactly this for always"))?;
                (RecordedChoice::Always(lines), Vec::new())
            }
            Answer::No(None) | Answer::Unavailable | Answer::TimedOut | Answer::Canceled => {
                (RecordedChoice::No, Vec::new())
            }
            Answer::No(Some(reason)) => (RecordedChoice::NoBecause(reason.clone()), Vec::new()),
        })
    }

    /// The rules that an answer adds to the user's settings.
    fn always(&self, answer: &Answer) -> Option<Always> {
        let question = self.question;
        let (lines, rules, reach) = match answer {
            Answer::Yes(Choice::Always) => {
                (question.always.as_ref()?, question.prefixes.clone(), RuleReach::Prefix)
            }
            Answer::Yes(Choice::AlwaysExact) => {
                let calls = question.parts.iter().map(|part| part.argv.as_slice());
                (question.always_exact.as_ref()?, exact_rules(calls)?, RuleReach::Exact)
            }
            _ => return None,
        };
        Some(Always::for_file(lines.file.clone().into(), &rules, reach))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::record;

    /// A journal with a question about `git log`, whose "always" writes to `config.toml` beside it.
    struct Asked {
        folder: tempfile::TempDir,
        journal: Journal,
        number: QuestionId,
        question: RecordedQuestion,
    }

    impl Asked {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let journal = Journal::open(folder.path()).unwrap();
            let prefixes = vec![vec!["git".to_owned(), "log".to_owned()]];
            let always = Always::for_file(folder.path().join("config.toml"), &prefixes, RuleReach::Prefix);
            let question = RecordedQuestion {
                parts: Vec::new(),
                prefixes,
                exact: Some(GrantScope::Exact { text: "git log".to_owned(), argv: None }),
                always: Some(journal::SettingsLines {
                    file: always.file.display().to_string(),
                    lines: always.lines,
                }),
                always_exact: None,
                grant_until: Some(record::now() + 1000),
                env: std::collections::BTreeMap::default(),
                input: None,
                background: false,
                effects: Vec::new(),
                reach: Vec::new(),
                asker: record::own_identity(),
                expires_at: None,
            };
            let asked = record::asked(&Request::default(), None, folder.path(), ".");
            journal.begin("01A", "session", asked, Vec::new()).unwrap();
            let number = journal.ask("01A", question.clone()).unwrap();
            Self { folder, journal, number, question }
        }

        fn answer(&self, answer: &Answer) -> Result<AnswerResult, AnswerError> {
            self.answered(answer).map(|answered| answered.result)
        }

        fn answered(&self, answer: &Answer) -> Result<Answered, AnswerError> {
            let posted = PostedQuestion {
                journal: &self.journal,
                number: self.number,
                exec_id: "01A",
                question: &self.question,
                root: "/root",
                directory: ".",
            };
            posted.answer(answer, ApprovalChannel::Elicitation)
        }

        fn settings(&self) -> Option<String> {
            std::fs::read_to_string(self.folder.path().join("config.toml")).ok()
        }

        fn grants(&self) -> Vec<journal::HeldGrant> {
            self.journal.grants("session", "/root", ".", record::now()).unwrap()
        }
    }

    #[test]
    fn the_first_always_is_written_to_the_settings() {
        let asked = Asked::new();
        let result = asked.answer(&Answer::Yes(Choice::Always)).unwrap();
        assert!(matches!(result, AnswerResult::Taken(_)), "{result:?}");
        assert!(asked.settings().unwrap().contains("prefix = [\"git\", \"log\"]"));
    }

    #[test]
    fn an_always_that_cannot_be_written_is_a_yes_for_this_time() {
        let asked = Asked::new();
        std::fs::write(asked.folder.path().join("config.toml"), "[policy\n").unwrap();
        let answered = asked.answered(&Answer::Yes(Choice::Always)).unwrap();
        assert!(matches!(answered.result, AnswerResult::Taken(_)), "{answered:?}");
        let unwritten = answered.unwritten.unwrap();
        assert_eq!(unwritten.file, asked.folder.path().join("config.toml").display().to_string());
        let outcome = asked.journal.poll_answer(asked.number).unwrap().unwrap();
        assert!(crate::views::outcome_text(&outcome).starts_with("yes, once: "), "{outcome:?}");
        assert_eq!(asked.settings().unwrap(), "[policy\n");
        let left = std::fs::read_dir(asked.folder.path()).unwrap().flatten();
        let drafts = left.filter(|entry| entry.file_name().to_string_lossy().contains("draft"));
        assert_eq!(drafts.count(), 0);
    }

    #[test]
    fn an_always_that_comes_second_changes_nothing() {
        let asked = Asked::new();
        asked.answer(&Answer::No(None)).unwrap();
        let result = asked.answer(&Answer::Yes(Choice::Always)).unwrap();
        assert!(matches!(result, AnswerResult::TooLate(_)), "{result:?}");
        assert_eq!(asked.settings(), None);
    }

    #[test]
    fn a_yes_for_the_session_grants_what_the_question_offers() {
        for (choice, expected) in [
            (Choice::Once, vec![]),
            (Choice::SessionExact, vec![GrantScope::Exact { text: "git log".to_owned(), argv: None }]),
            (Choice::SessionPrefix, vec![GrantScope::Prefix(vec!["git".to_owned(), "log".to_owned()])]),
        ] {
            let asked = Asked::new();
            asked.answer(&Answer::Yes(choice)).unwrap();
            let granted: Vec<GrantScope> = asked.grants().into_iter().map(|held| held.grant.scope).collect();
            assert_eq!(granted, expected, "{choice:?}");
            assert!(matches!(
                asked.answer(&Answer::Yes(Choice::SessionPrefix)).unwrap(),
                AnswerResult::TooLate(_)
            ));
            assert_eq!(asked.grants().len(), expected.len(), "the second answer grants nothing");
        }
    }

    #[test]
    fn an_answer_that_the_question_does_not_offer_is_refused() {
        let mut asked = Asked::new();
        asked.question.prefixes = Vec::new();
        asked.question.always = None;
        for choice in [Choice::SessionPrefix, Choice::Always] {
            assert!(matches!(asked.answer(&Answer::Yes(choice)), Err(AnswerError::NotOffered(_))));
        }
        let result = asked.answer(&Answer::Yes(Choice::Once)).unwrap();
        assert!(matches!(result, AnswerResult::Taken(_)), "the question still waits: {result:?}");
    }
}
