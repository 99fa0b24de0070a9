//! A request as its report repeats it.

use shellgate_exec::{ExecId, Size};

use crate::admit::judge::VerdictSummary;
use crate::answer::denials::SandboxContext;
use crate::answer::writer::OutputWriter;
use crate::intake::request::{Action, Detail, Format};

/// What a report says about its request, whatever became of it.
#[derive(Clone, Debug)]
pub(crate) struct RequestSummary {
    pub(crate) id: String,
    pub(crate) action: Action,
    pub(crate) directory: String,
    pub(crate) detail: Detail,
    pub(crate) format: Format,
    pub(crate) speaks: bool,
    pub(crate) artifacts: Vec<String>,
    /// Whether long output is shown as it is.
    pub(crate) raw: bool,
    /// Which program writes its output.
    pub(crate) writer: OutputWriter,
    /// The size of its terminal, if it has one.
    pub(crate) terminal: Option<Size>,
    pub(crate) verdict: Option<VerdictSummary>,
    /// What is known about its sandbox, if it is confined.
    pub(crate) sandbox: Option<SandboxContext>,
}

impl RequestSummary {
    /// Of a call that could not be read as a request.
    pub(crate) fn unread() -> Self {
        Self {
            id: ExecId::generate().to_string(),
            action: Action::default(),
            directory: ".".to_owned(),
            detail: Detail::Minimal,
            format: Format::Json,
            speaks: false,
            artifacts: Vec::new(),
            raw: false,
            writer: OutputWriter::default(),
            terminal: None,
            verdict: None,
            sandbox: None,
        }
    }

    /// The program, when no shell was asked for.
    pub(crate) fn program(&self) -> Option<String> {
        match &self.action {
            Action::Program(argv) => argv.first().cloned(),
            Action::Shell(_) => None,
        }
    }
}
