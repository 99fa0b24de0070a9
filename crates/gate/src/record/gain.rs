//! What answers cost models in tokens, and what was saved, by program.

use std::collections::BTreeMap;

use serde::Serialize;
use shellgate_journal::{PastExecution, Query};

use super::RecordStore;
use crate::ErrorObject;

/// The name for output that no single program wrote.
const OTHERS: &str = "other";

/// Tokens of answers, about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TokenCount {
    /// How many answers are counted.
    pub answers: u64,
    /// How many of them were condensed.
    pub condensed: u64,
    /// Tokens that they cost.
    pub tokens: u64,
    /// Tokens that their whole output would have cost besides.
    pub saved: u64,
}

/// What answers cost, in all and by program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Gain {
    /// All of them.
    #[serde(flatten)]
    pub all: TokenCount,
    /// By the program that wrote the output, the most costly first.
    pub programs: Vec<ProgramGain>,
}

/// What answers with the output of one program cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramGain {
    /// The program, with its subcommand if a reducer knows it.
    pub program: String,
    /// Its answers.
    #[serde(flatten)]
    pub count: TokenCount,
}

impl TokenCount {
    /// What all output would have cost.
    #[must_use]
    pub const fn whole(&self) -> u64 {
        self.tokens.saturating_add(self.saved)
    }

    fn add(&mut self, shown: &shellgate_journal::RecordedView) {
        self.answers += 1;
        self.condensed += u64::from(shown.condensed.is_some());
        self.tokens = self.tokens.saturating_add(shown.tokens);
        let whole = shown.of_tokens.unwrap_or(shown.tokens);
        self.saved = self.saved.saturating_add(whole.saturating_sub(shown.tokens));
    }
}

impl Gain {
    /// What answers with the output of these executions cost: those to their calls, and to calls that read it later.
    #[must_use]
    pub fn of(executions: &[PastExecution]) -> Self {
        let mut all = TokenCount::default();
        let mut programs: BTreeMap<&str, TokenCount> = BTreeMap::new();
        let answers = executions.iter().flat_map(|execution| {
            let first = execution.ended.as_ref().and_then(|ended| ended.shown.as_deref());
            first.into_iter().chain(&execution.reads)
        });
        for shown in answers {
            all.add(shown);
            programs.entry(shown.program.as_deref().unwrap_or(OTHERS)).or_default().add(shown);
        }
        let programs = programs.into_iter();
        let mut programs: Vec<ProgramGain> =
            programs.map(|(program, count)| ProgramGain { program: program.to_owned(), count }).collect();
        // Stable: equally costly ones stay in the order of their names.
        programs.sort_by_key(|program| std::cmp::Reverse(program.count.whole()));
        Self { all, programs }
    }
}

impl RecordStore {
    /// What the answers to the executions that match cost.
    ///
    /// # Errors
    /// `config` when the record can't be read.
    pub fn gain(&self, query: &Query) -> Result<Gain, ErrorObject> {
        self.history(query).map(|executions| Gain::of(&executions))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use shellgate_journal::{RecordedEnd, RecordedView, Status};

    use super::*;

    fn ended(end: serde_json::Value) -> PastExecution {
        let ended: RecordedEnd = serde_json::from_value(end).unwrap();
        PastExecution {
            id: "01J".to_owned(),
            session: "s".to_owned(),
            at: 0,
            last_at: 0,
            status: Status::Completed,
            asked: None,
            refused: None,
            started: None,
            ended: Some(ended),
            closed: None,
            reads: Vec::new(),
        }
    }

    #[test]
    fn answers_are_counted_by_program_and_records_without_them_are_read() {
        let older = json!({"status": "completed", "exit_code": 0, "ended_at": 5});
        let with = |shown: serde_json::Value| {
            let mut end = older.clone();
            end["shown"] = shown;
            ended(end)
        };
        let gain = Gain::of(&[
            ended(older.clone()),
            with(json!({"tokens": 7, "program": "ls"})),
            with(json!({"tokens": 100, "of_tokens": 900, "condensed": [400, 30], "program": "git log"})),
            with(json!({"tokens": 20, "of_tokens": 20})),
        ]);
        assert_eq!(gain.all, TokenCount { answers: 3, condensed: 1, tokens: 127, saved: 800 });
        let names: Vec<&str> = gain.programs.iter().map(|program| program.program.as_str()).collect();
        assert_eq!(names, ["git log", "other", "ls"], "the most costly first");
    }

    #[test]
    fn later_answers_with_the_output_of_a_job_count() {
        let job = json!({"status": "completed", "exit_code": 0, "ended_at": 5, "job": true});
        let read =
            |tokens| RecordedView { tokens, program: Some("make".to_owned()), ..RecordedView::default() };
        let execution = PastExecution { reads: vec![read(40), read(2)], ..ended(job) };
        let gain = Gain::of(&[execution]);
        assert_eq!(gain.all, TokenCount { answers: 2, condensed: 0, tokens: 42, saved: 0 });
        assert_eq!(gain.programs.first().unwrap().program, "make");
    }
}
