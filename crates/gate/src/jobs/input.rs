//! Typing at an execution, from any process, as far as the rules let it.
//!
//! Who reads the terminal decides what typing is. For a shell that reads commands, whole lines are judged like commands,
//! in the shell's own folder, however many calls it took to type them. For another interpreter a person is asked. An
//! answer to a program that asks something is just that. Where nobody reads, nobody knows what the text would become, so
//! it isn't typed: only keys that send signals are.
//!
//! What can be known to be refused is refused before anything is typed: all lines for a shell are looked at first, as if
//! it were to read them all. Where another turns out to read the rest, the error says what was typed before.
//!
//! The keeper counts inputs, and takes ours only if nobody typed since we looked. Text goes out piece by piece with a
//! look before each, because the program that reads may end at any of them and another may read the rest.

use std::path::Path;

use shellgate_exec::{ExecId, InputKind, InputSender, InputState, NotTaken};

use super::keys::Key;
use super::line::END;
use super::typing::Typing;
use crate::admit::inside::{self, RestrictedAction};
use crate::gate::{Gate, session_error};
use crate::text::Source;
use crate::{Code, ErrorObject, screen};

/// Something to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// This text. A newline in it is the Enter key.
    Text(String),
    /// A key.
    Key(Key),
    /// The end of the input.
    End,
}

impl Gate {
    /// Types at the execution `id`, whichever session it is of, and returns when that is taken.
    ///
    /// # Errors
    /// `unknown_job` when it doesn't run; `invalid_input` when it takes no input; `busy` when nobody reads; else as for a
    /// command that may not run. Nothing was typed then, unless the error says what was.
    pub fn type_at(&self, id: &str, strokes: &[Stroke]) -> Result<(), ErrorObject> {
        inside::refuse(RestrictedAction::Type)?;
        let name: ExecId = id.parse().map_err(|_| not_running(id))?;
        let found = InputSender::find(&self.state, name).map_err(|error| session_error(&error))?;
        let (typist, reading) = found.ok_or_else(|| not_running(id))?;
        if reading.kind == InputKind::Closed {
            return Err(not_taken(id, NotTaken::Closed));
        }
        let bytes = self.bytes(name, strokes, &reading);
        Typing::new(self, id, typist).all(&bytes)
    }

    /// What is typed, for this terminal.
    fn bytes(&self, id: ExecId, strokes: &[Stroke], reading: &InputState) -> Vec<u8> {
        let cursor = strokes.iter().any(|stroke| matches!(stroke, Stroke::Key(key) if key.has_two_sets()));
        let application = cursor && self.wants_application_keys(id, reading);
        let mut bytes = Vec::new();
        for stroke in strokes {
            match stroke {
                Stroke::Text(text) => {
                    bytes.extend_from_slice(text.replace("\r\n", "\r").replace('\n', "\r").as_bytes());
                }
                Stroke::Key(key) => bytes.extend_from_slice(key.bytes(application)),
                Stroke::End => bytes.push(END),
            }
        }
        bytes
    }

    fn wants_application_keys(&self, id: ExecId, reading: &InputState) -> bool {
        let InputKind::Terminal { size, .. } = reading.kind else { return false };
        let (stdout, _) = self.state.spool_files(id);
        let Ok(file) = std::fs::File::open(&stdout) else { return false };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let path = Path::new(&stdout);
        let source =
            Source { file: &file, path, begins: 0, spooled: length, total: length, tail: &[], lost: None };
        screen(&source, size.rows, size.cols).is_some_and(|screen| screen.application_keys)
    }
}

pub(super) fn not_running(id: &str) -> ErrorObject {
    ErrorObject::new(Code::UnknownJob, format!("no job called `{id}` runs"))
        .token(id)
        .hint("`shellgate jobs` lists those that do")
}

/// Why input wasn't taken, for people.
pub(super) fn not_taken(id: &str, reason: NotTaken) -> ErrorObject {
    let (code, hint) = match reason {
        NotTaken::Unknown | NotTaken::Ended => (Code::UnknownJob, "`shellgate jobs` lists those that run"),
        NotTaken::Closed => (Code::InvalidInput, "start it with `pty` to type at it"),
        NotTaken::NoTerminal => (Code::InvalidInput, "start it with `pty` to give it a terminal"),
        NotTaken::Changed => (Code::Busy, "try again when the others are done"),
        NotTaken::Full => (Code::Busy, "wait until it reads"),
        NotTaken::LongLine => {
            (Code::InvalidInput, "write it to a file, and send a shorter line that reads that")
        }
    };
    let message = format!("`{id}` takes no input: {reason}");
    let message = if reason == NotTaken::Closed {
        format!("`{id}` takes no input: {reason}: start it with `pty`")
    } else {
        message
    };
    ErrorObject::new(code, message).token(id).hint(hint)
}
