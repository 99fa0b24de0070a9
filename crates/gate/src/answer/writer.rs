//! The program that wrote the output of a command: by it long output is condensed and counted.

use std::sync::Arc;

use shellgate_journal::RecordedRequest;
use shellgate_policy::{OutputCall, output_writers, output_writers_of_argv};

use crate::admit::judge::{Part, recorded_parts};
use crate::intake::request::Action;
use crate::text::condense::Reducer;

/// Longer texts are scripts, which no program alone writes the output of.
const MAX_TEXT_BYTES: usize = 4096;

/// Which calls write the output of a request. They are found out when they are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) enum OutputWriter {
    /// None is known.
    #[default]
    Unknown,
    /// Those of an action that the judge has found these parts in.
    Judged(Box<(Action, Vec<Part>)>),
    /// Those of this request.
    Recorded(Box<RecordedRequest>),
}

impl OutputWriter {
    /// Of an action that the judge has found these parts in.
    pub(crate) fn of(action: &Action, parts: &[Part]) -> Self {
        Self::Judged(Box::new((action.clone(), parts.to_vec())))
    }

    fn calls(&self) -> Vec<OutputCall> {
        match self {
            Self::Unknown => Vec::new(),
            Self::Judged(judged) => calls(&judged.0, &judged.1),
            Self::Recorded(request) => calls(&crate::record::action(request), &recorded_parts(request)),
        }
    }

    /// What condenses the output: the rules for the program, if one program wrote all of it; else only runs of lines are folded.
    pub(crate) fn reducer(&self) -> Arc<Reducer> {
        let calls = self.calls();
        let mut reducers = calls.iter().map(|call| match call.reads_pipe {
            true => Reducer::for_piped(&call.argv),
            false => Reducer::for_program(Some(&call.argv)),
        });
        match reducers.next() {
            Some(first) if reducers.all(|other| other.names() == first.names()) => first,
            _ => Reducer::for_program(None),
        }
    }

    /// The program with its subcommand, as far as a reducer knows it: `cargo test`. `None`: several programs wrote the output, or
    /// it is not known which.
    pub(crate) fn program(&self) -> Option<String> {
        let calls = self.calls();
        let mut names = calls.iter().map(|call| match Reducer::program_name(&call.argv) {
            Some(name) => Some(name.to_owned()),
            None => call.argv.first()?.rsplit('/').next().map(str::to_owned).filter(|name| !name.is_empty()),
        });
        let first = names.next()??;
        names.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }
}

fn calls(action: &Action, parts: &[Part]) -> Vec<OutputCall> {
    match action {
        Action::Shell(text) if text.len() <= MAX_TEXT_BYTES => output_writers(text, parts),
        Action::Shell(_) => Vec::new(),
        Action::Program(_) => output_writers_of_argv(parts),
    }
}
