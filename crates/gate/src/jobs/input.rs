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
use std::time::{Duration, Instant};

use shellgate_exec::{Channel, Draft, ExecId, Input, NotTaken, Reading, Typist};
use shellgate_policy::{Typed, escapes};

use super::keys::Key;
use super::line::{self, END, SIGNALS};
use super::reader::{Reader, reader};
use crate::gate::{Gate, session_error};
use crate::inside::{self, Deed};
use crate::judge::{Decision, Judgement};
use crate::request::{Action, Request, Stdin};
use crate::root::Inside;
use crate::text::Source;
use crate::{Code, ErrorObject, screen};

/// How long somebody who reads is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often we look: soon at first, because most programs are back at once.
const FIRST_LOOK: Duration = Duration::from_micros(200);
const LAST_LOOK: Duration = Duration::from_millis(10);

/// How often others may type between our look and our typing.
const MOST_TRIES: u32 = 100;

/// A longer text isn't repeated in an error.
const MOST_REPEATED: usize = 200;

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
        inside::refuse(Deed::Type)?;
        let name: ExecId = id.parse().map_err(|_| not_running(id))?;
        let found = Typist::find(&self.state, name).map_err(|error| session_error(&error))?;
        let (typist, reading) = found.ok_or_else(|| not_running(id))?;
        if reading.channel == Channel::Closed {
            return Err(not_taken(id, NotTaken::Closed));
        }
        let bytes = self.bytes(name, strokes, &reading);
        let mut typing =
            Typing { gate: self, id, typist, cleared: None, foreseen: None, typed: 0, unseen: false };
        typing.all(&bytes).map_err(|error| typing.with_what_was_typed(error, &bytes))
    }

    /// What is typed, for this terminal.
    fn bytes(&self, id: ExecId, strokes: &[Stroke], reading: &Reading) -> Vec<u8> {
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

    fn wants_application_keys(&self, id: ExecId, reading: &Reading) -> bool {
        let Channel::Terminal { size, .. } = reading.channel else { return false };
        let (stdout, _) = self.state.spool_files(id);
        let Ok(file) = std::fs::File::open(&stdout) else { return false };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let path = Path::new(&stdout);
        let source =
            Source { file: &file, path, begins: 0, spooled: length, total: length, tail: &[], lost: None };
        screen(&source, size).is_some_and(|screen| screen.application_keys)
    }
}

/// Somebody who types.
struct Typing<'a> {
    gate: &'a Gate,
    id: &'a str,
    typist: Typist,
    /// So many of the next bytes may be typed, as long as this process reads them, and as what it was then: `exec` makes
    /// another program of it.
    cleared: Option<(u32, Typed, usize)>,
    /// All that is left was looked at, as far as this shell reads it.
    foreseen: Option<u32>,
    /// So many bytes were typed.
    typed: usize,
    /// And some of them where the terminal shows nothing: a password.
    unseen: bool,
}

impl Typing<'_> {
    fn all(&mut self, bytes: &[u8]) -> Result<(), ErrorObject> {
        let mut rest = bytes;
        let mut tries = 0;
        while let Some(first) = rest.first() {
            let signal = SIGNALS.contains(first);
            let (reading, reader) = if signal {
                let reading = self.look()?;
                let reader = reader(&reading);
                (reading, reader)
            } else {
                self.somebody()?
            };
            let draft = current(&reading, reader.as_ref());
            if let Some(shell) = reader.as_ref().filter(|reader| reader.typed == Typed::Command) {
                self.foresee(shell, &draft, &reading, rest)?;
            }
            let reader = reader.filter(|_| !signal);
            let count = match &reader {
                None => 1,
                Some(reader) => self.admit(reader, &draft, &reading, rest)?,
            };
            let (now, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            let pid = reader.as_ref().map(|reader| reader.pid);
            let input = Input::Bytes { bytes: now.to_vec(), after: Some(reading.sequence), reader: pid };
            match self.typist.send(input).map_err(|error| session_error(&error))? {
                Ok(()) => {
                    self.spend(count);
                    self.typed += now.len();
                    self.unseen |=
                        matches!(reading.channel, Channel::Terminal { lines: true, echo: false, .. });
                    rest = later;
                }
                // What we know of the line is no longer so: judge again.
                Err(NotTaken::Changed) if tries < MOST_TRIES => {
                    (self.cleared, self.foreseen) = (None, None);
                    tries += 1;
                }
                Err(reason) => return Err(not_taken(self.id, reason)),
            }
        }
        Ok(())
    }

    fn spend(&mut self, count: usize) {
        self.cleared = self.cleared.take().and_then(|(pid, typed, left)| {
            let left = left.checked_sub(count).filter(|left| *left > 0)?;
            Some((pid, typed, left))
        });
    }

    fn look(&mut self) -> Result<Reading, ErrorObject> {
        let reading = self.typist.look().map_err(|error| session_error(&error))?;
        reading.ok_or_else(|| not_running(self.id))
    }

    /// Waits until somebody reads.
    fn somebody(&mut self) -> Result<(Reading, Option<Reader>), ErrorObject> {
        let until = Instant::now() + PATIENCE;
        let mut pause = FIRST_LOOK;
        loop {
            let reading = self.look()?;
            if let Some(reader) = reader(&reading) {
                return Ok((reading, Some(reader)));
            }
            if Instant::now() >= until {
                let message = format!("nothing in `{}` reads its terminal at the moment", self.id);
                return Err(ErrorObject::new(Code::Busy, message)
                    .token(self.id)
                    .hint("wait until it does: `waiting_for_input` is true then. C-c can always be sent"));
            }
            std::thread::sleep(pause);
            pause = LAST_LOOK.min(pause * 2);
        }
    }

    /// Looks at all that is left as if this shell were to read it, before any of it is typed. If somebody has to be asked,
    /// it is about all of it.
    fn foresee(
        &mut self,
        shell: &Reader,
        draft: &Draft,
        reading: &Reading,
        rest: &[u8],
    ) -> Result<(), ErrorObject> {
        if matches!(reading.channel, Channel::Terminal { odd: true, .. }) {
            let message = format!("the keys of the terminal of `{}` were changed", self.id);
            return Err(ErrorObject::new(Code::DeniedByPolicy, message)
                .token(self.id)
                .hint("nobody can say what a line becomes then; start another shell"));
        }
        if self.foreseen == Some(shell.pid) {
            return Ok(());
        }
        let ahead = line::ahead(draft, rest, self.id)?;
        // A line that comes first is judged before it is typed in any case.
        if ahead.is_late {
            let (action, judgement) = self.judge_line(shell, &ahead.lines.join("\n"));
            if judgement.decision != Decision::Allow {
                self.approve(shell, action, Stdin::Closed, judgement)?;
                self.cleared = Some((shell.pid, shell.typed, ahead.end));
            }
        }
        self.foreseen = Some(shell.pid);
        Ok(())
    }

    fn judge_line(&self, shell: &Reader, text: &str) -> (Action, Judgement) {
        let directory = self.directory(shell);
        let action = command(shell, text);
        let mut judgement = self.judge(action.clone(), Stdin::Closed, directory.as_ref());
        line::be_stricter(&mut judgement, text, directory.is_some());
        (action, judgement)
    }

    /// How many of the next bytes may be typed now.
    fn admit(
        &mut self,
        reader: &Reader,
        draft: &Draft,
        reading: &Reading,
        rest: &[u8],
    ) -> Result<usize, ErrorObject> {
        let cleared = self.cleared.filter(|(pid, typed, _)| (*pid, *typed) == (reader.pid, reader.typed));
        if reader.typed == Typed::Command {
            let line = line::next(draft, rest, self.id)?;
            if let Some(text) = &line.judged {
                let (action, judgement) = self.judge_line(reader, text);
                // Somebody said yes to all of it. The shell may be where a line is forbidden by now.
                let is_cleared = cleared.is_some_and(|(.., left)| left >= line.now);
                if !is_cleared || judgement.decision == Decision::Deny {
                    self.approve(reader, action, Stdin::Closed, judgement)?;
                }
            }
            return Ok(line.now);
        }
        let typed = String::from_utf8_lossy(rest).into_owned();
        let line = format!("{}{typed}", String::from_utf8_lossy(&draft.text));
        let asks = match reader.typed {
            // The end of the input ends it, and that is all.
            _ if rest.first() == Some(&END) => false,
            Typed::Code | Typed::Forwarded => true,
            Typed::Escapes => escapes(&reader.argv, &line),
            Typed::Passes | Typed::Command => false,
        };
        if asks && cleared.is_none() {
            let (action, stdin) = (Action::Program(reader.argv.clone()), Stdin::Text(typed));
            let mut judgement = self.judge(action.clone(), stdin.clone(), self.directory(reader).as_ref());
            line::ask_about(&mut judgement, reader);
            self.approve(reader, action, stdin, judgement)?;
            self.cleared = Some((reader.pid, reader.typed, rest.len()));
        }
        let by_line = matches!(reading.channel, Channel::Terminal { lines: true, .. });
        Ok(line::piece(rest, by_line))
    }

    /// The error, and what had been typed by then.
    fn with_what_was_typed(&self, mut error: ErrorObject, bytes: &[u8]) -> ErrorObject {
        let typed = String::from_utf8_lossy(bytes.get(..self.typed).unwrap_or_default()).replace('\r', "\n");
        let count = typed.chars().count();
        let what = match count {
            0 => return error,
            _ if self.unseen || count > MOST_REPEATED => format!("its first {count} characters were typed"),
            _ => format!("{typed:?} was typed"),
        };
        error.message = format!("{}; {what} before that", error.message);
        error
    }

    /// The folder that the reader is in, when the system tells.
    fn directory(&self, reader: &Reader) -> Option<Inside> {
        reader.directory.as_ref().map(|path| self.gate.judge.root.anywhere(Path::new(path)))
    }

    fn judge(&self, action: Action, stdin: Stdin, directory: Option<&Inside>) -> Judgement {
        let request = Request { action, stdin, ..Request::default() };
        let root = self.gate.judge.root.anywhere(self.gate.root());
        self.gate.judge.judge_in(&request, directory.unwrap_or(&root))
    }

    /// Asks whoever must be asked, and writes down what became of it.
    fn approve(
        &self,
        reader: &Reader,
        action: Action,
        stdin: Stdin,
        judgement: Judgement,
    ) -> Result<(), ErrorObject> {
        let root = self.gate.judge.root.anywhere(self.gate.root());
        let directory = self.directory(reader).unwrap_or(root);
        let name = reader.argv.first().map_or("", String::as_str);
        let description = Some(format!("typed at `{name}` in {}", self.id));
        let request = Request { action, stdin, description, dialect: "shellgate", ..Request::default() };
        self.gate.admit_typed(&request, judgement, &directory)
    }
}

/// A line for a shell. Others than bash may read it otherwise than bash does, which the judge knows of their `-c`.
fn command(reader: &Reader, text: &str) -> Action {
    match reader.argv.first().map(String::as_str) {
        Some("bash" | "rbash") | None => Action::Shell(text.to_owned()),
        Some(shell) => Action::Program(vec![shell.to_owned(), "-c".to_owned(), text.to_owned()]),
    }
}

/// The line that was begun, for this reader. What another one has read of it is gone.
fn current(reading: &Reading, reader: Option<&Reader>) -> Draft {
    let Channel::Terminal { lines, unread, .. } = reading.channel else { return Draft::default() };
    let theirs = reading.draft.reader.is_some() && reading.draft.reader == reader.map(|reader| reader.pid);
    // Where readers get each key, what nobody has read would be seen; an unfinished line of the kernel's isn't.
    if theirs || lines || unread { reading.draft.clone() } else { Draft::default() }
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
