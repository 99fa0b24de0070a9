//! Typing at an execution, from any process, within the policy.
//!
//! The process that reads the terminal decides how input is judged:
//! - A shell that reads commands: each whole line is judged like a command, in the shell's current directory. It doesn't
//!   matter how many calls it took to type the line.
//! - Another interpreter: a person is asked.
//! - A program that asks for an answer: the input is not judged.
//! - No reader: the input could become anything, so only keys that send signals are typed.
//!
//! Input is refused before any of it is typed where that is possible: all lines for a shell are judged first, as if that
//! shell read them all. If another process turns out to read the rest, the error says what was already typed.
//!
//! The keeper numbers inputs, and takes ours only if no other input came since we looked at the terminal. Text is sent in
//! pieces, with a look before each: the reading program may end after any piece, and another may read the rest.

use std::path::Path;

use shellgate_exec::{ExecId, InputKind, InputSender, InputState, NotTaken};

use super::judged_sender::JudgedSender;
use super::keys::Key;
use super::shell_line::END_OF_INPUT;
use crate::admit::inside::{self, RestrictedAction};
use crate::gate::session_error;
use crate::scope::ScopedGate;
use crate::text::Source;
use crate::{Code, ErrorObject, Hint, screen};

/// One thing to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputItem {
    /// Text. A newline in it is the Enter key.
    Text(String),
    /// A key.
    Key(Key),
    /// The end of the input, Ctrl-D.
    EndOfInput,
}

impl ScopedGate<'_> {
    /// Types at the execution `id`. Returns when its terminal has taken all of the input.
    ///
    /// # Errors
    /// `unknown_job` when it doesn't run; `invalid_input` when it takes no input; `busy` when no process reads; else the
    /// error of a command that may not run. Nothing was typed then, unless the error says what was.
    pub fn type_at(&self, id: &str, items: &[InputItem]) -> Result<(), ErrorObject> {
        inside::refuse(RestrictedAction::Type)?;
        self.check(id)?;
        let name: ExecId = id.parse().map_err(|_| not_running(id))?;
        let found = InputSender::find(&self.gate.state, name).map_err(|error| session_error(&error))?;
        let (sender, input_state) = found.ok_or_else(|| not_running(id))?;
        if input_state.kind == InputKind::Closed {
            return Err(not_taken(id, NotTaken::Closed));
        }
        let bytes = self.input_bytes(name, items, &input_state);
        JudgedSender::new(self.gate, id, sender).send_all(&bytes)
    }

    /// The bytes to send to this terminal.
    fn input_bytes(&self, id: ExecId, items: &[InputItem], input_state: &InputState) -> Vec<u8> {
        let depends = |item: &InputItem| matches!(item, InputItem::Key(key) if key.has_application_mode());
        let application = items.iter().any(depends) && self.wants_application_keys(id, input_state);
        let mut bytes = Vec::new();
        for item in items {
            match item {
                InputItem::Text(text) => {
                    bytes.extend_from_slice(text.replace("\r\n", "\r").replace('\n', "\r").as_bytes());
                }
                InputItem::Key(key) => bytes.extend_from_slice(key.bytes(application)),
                InputItem::EndOfInput => bytes.push(END_OF_INPUT),
            }
        }
        bytes
    }

    /// Whether the program has switched its terminal's cursor keys to application mode.
    fn wants_application_keys(&self, id: ExecId, input_state: &InputState) -> bool {
        let InputKind::Terminal { size, .. } = input_state.kind else { return false };
        let (stdout, _) = self.gate.state.spool_files(id);
        let Ok(file) = shellgate_exec::open_regular(Path::new(&stdout)) else { return false };
        let source = Source::whole(&file, Path::new(&stdout));
        screen(&source, size.rows, size.cols).is_some_and(|screen| screen.application_keys)
    }
}

pub(super) fn not_running(id: &str) -> ErrorObject {
    ErrorObject::new(Code::UnknownJob, format!("no running job is called `{id}`"))
        .token(id)
        .hint(Hint::ListJobs)
}

/// The error for input that the keeper did not take.
pub(super) fn not_taken(id: &str, reason: NotTaken) -> ErrorObject {
    let (code, hint) = match reason {
        NotTaken::Unknown | NotTaken::Ended => (Code::UnknownJob, Hint::ListJobs),
        NotTaken::Closed => (Code::InvalidInput, "start it with `pty` to type at it".into()),
        NotTaken::NoTerminal => (Code::InvalidInput, "start it with `pty` to give it a terminal".into()),
        NotTaken::Changed => {
            (Code::Busy, "another process types at the same time: try again when it is done".into())
        }
        NotTaken::Full => (Code::Busy, "wait until the program reads its input".into()),
        NotTaken::LongLine => (
            Code::InvalidInput,
            "write the text to a file, and send a shorter line that reads the file".into(),
        ),
    };
    // Models may see the message alone, so the most frequent mistake is answered in it.
    let advice = if reason == NotTaken::Closed { ": start it with `pty`" } else { "" };
    ErrorObject::new(code, format!("`{id}` takes no input: {reason}{advice}")).token(id).hint(hint)
}
