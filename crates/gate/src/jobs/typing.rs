//! Somebody who types: piece by piece, with a look before each at who reads it and what they would make of it.

use std::path::Path;
use std::time::{Duration, Instant};

use shellgate_exec::{Input, InputKind, InputSender, InputState, NotTaken, PartialLine};
use shellgate_policy::programs::{ShellGrammar, shell_grammar};
use shellgate_policy::{InputUse, keys_run_command};

use super::input::{not_running, not_taken};
use super::line::{self, END, SIGNALS};
use super::reader::{Reader, reader};
use crate::admit::judge::{Decision, Verdict};
use crate::gate::{Gate, session_error};
use crate::intake::request::{Action, Request, Stdin};
use crate::root::Inside;
use crate::{Code, ErrorObject};

/// How long somebody who reads is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often we look: soon at first, because most programs are back at once.
const FIRST_LOOK: Duration = Duration::from_micros(200);
const LAST_LOOK: Duration = Duration::from_millis(10);

/// How often others may type between our look and our typing.
const MOST_TRIES: u32 = 100;

/// A longer text isn't repeated in an error.
const MOST_REPEATED: usize = 200;

/// Somebody who types.
pub(super) struct Typing<'a> {
    gate: &'a Gate,
    id: &'a str,
    typist: InputSender,
    /// So many of the next bytes may be typed, as long as this process reads them, and as what it was then: `exec` makes
    /// another program of it.
    cleared: Option<(u32, InputUse, usize)>,
    /// All that is left was looked at, as far as this shell reads it.
    foreseen: Option<u32>,
    /// So many bytes were typed.
    typed: usize,
    /// And some of them where the terminal shows nothing: a password.
    unseen: bool,
}

impl<'a> Typing<'a> {
    pub(super) fn new(gate: &'a Gate, id: &'a str, typist: InputSender) -> Self {
        Self { gate, id, typist, cleared: None, foreseen: None, typed: 0, unseen: false }
    }

    /// Types all of it, or says why not.
    pub(super) fn all(&mut self, bytes: &[u8]) -> Result<(), ErrorObject> {
        self.each(bytes).map_err(|error| self.with_what_was_typed(error, bytes))
    }

    fn each(&mut self, bytes: &[u8]) -> Result<(), ErrorObject> {
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
            if let Some(shell) = reader.as_ref().filter(|reader| reader.typed == InputUse::ShellCommand) {
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
                        matches!(reading.kind, InputKind::Terminal { lines: true, echo: false, .. });
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

    fn look(&mut self) -> Result<InputState, ErrorObject> {
        let reading = self.typist.look().map_err(|error| session_error(&error))?;
        reading.ok_or_else(|| not_running(self.id))
    }

    /// Waits until somebody reads.
    fn somebody(&mut self) -> Result<(InputState, Option<Reader>), ErrorObject> {
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
        draft: &PartialLine,
        reading: &InputState,
        rest: &[u8],
    ) -> Result<(), ErrorObject> {
        if matches!(reading.kind, InputKind::Terminal { remapped_keys: true, .. }) {
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
            let (action, verdict) = self.judge_line(shell, &ahead.lines.join("\n"));
            if verdict.decision() != Decision::Allow {
                self.approve(shell, action, Stdin::Closed, verdict)?;
                self.cleared = Some((shell.pid, shell.typed, ahead.end));
            }
        }
        self.foreseen = Some(shell.pid);
        Ok(())
    }

    fn judge_line(&self, shell: &Reader, text: &str) -> (Action, Verdict) {
        let directory = self.directory(shell);
        let action = command(shell, text);
        let mut verdict = self.judge(action.clone(), Stdin::Closed, directory.as_ref());
        line::be_stricter(&mut verdict, text, directory.is_some());
        (action, verdict)
    }

    /// How many of the next bytes may be typed now.
    fn admit(
        &mut self,
        reader: &Reader,
        draft: &PartialLine,
        reading: &InputState,
        rest: &[u8],
    ) -> Result<usize, ErrorObject> {
        let cleared = self.cleared.filter(|(pid, typed, _)| (*pid, *typed) == (reader.pid, reader.typed));
        if reader.typed == InputUse::ShellCommand {
            let line = line::next(draft, rest, self.id)?;
            if let Some(text) = &line.judged {
                let (action, verdict) = self.judge_line(reader, text);
                // Somebody said yes to all of it. The shell may be where a line is forbidden by now.
                let is_cleared = cleared.is_some_and(|(.., left)| left >= line.now);
                if !is_cleared || verdict.decision() == Decision::Deny {
                    self.approve(reader, action, Stdin::Closed, verdict)?;
                }
            }
            return Ok(line.now);
        }
        let typed = String::from_utf8_lossy(rest).into_owned();
        let line = format!("{}{typed}", String::from_utf8_lossy(&draft.text));
        let asks = match reader.typed {
            // The end of the input ends it, and that is all.
            _ if rest.first() == Some(&END) => false,
            InputUse::Code | InputUse::Forwarded => true,
            InputUse::DataOrCommandKeys => keys_run_command(&reader.argv, &line),
            InputUse::Data | InputUse::ShellCommand => false,
        };
        if asks && cleared.is_none() {
            let (action, stdin) = (Action::Program(reader.argv.clone()), Stdin::Text(typed));
            let mut verdict = self.judge(action.clone(), stdin.clone(), self.directory(reader).as_ref());
            line::ask_about(&mut verdict, reader);
            self.approve(reader, action, stdin, verdict)?;
            self.cleared = Some((reader.pid, reader.typed, rest.len()));
        }
        let by_line = matches!(reading.kind, InputKind::Terminal { lines: true, .. });
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

    fn judge(&self, action: Action, stdin: Stdin, directory: Option<&Inside>) -> Verdict {
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
        verdict: Verdict,
    ) -> Result<(), ErrorObject> {
        let root = self.gate.judge.root.anywhere(self.gate.root());
        let directory = self.directory(reader).unwrap_or(root);
        let name = reader.argv.first().map_or("", String::as_str);
        let description = Some(format!("typed at `{name}` in {}", self.id));
        let request = Request { action, stdin, description, dialect: "shellgate", ..Request::default() };
        self.gate.admit_typed(&request, verdict, &directory)
    }
}

/// A line for a shell. Others than bash may read it otherwise than bash does, which the judge knows of their `-c`.
fn command(reader: &Reader, text: &str) -> Action {
    match reader.argv.first() {
        None => Action::Shell(text.to_owned()),
        Some(shell) if shell_grammar(shell) == Some(ShellGrammar::Bash) => Action::Shell(text.to_owned()),
        Some(shell) => Action::Program(vec![shell.clone(), "-c".to_owned(), text.to_owned()]),
    }
}

/// The line that was begun, for this reader. What another one has read of it is gone.
fn current(reading: &InputState, reader: Option<&Reader>) -> PartialLine {
    let InputKind::Terminal { lines, unread, .. } = reading.kind else { return PartialLine::default() };
    let theirs = reading.partial_line.reader.is_some()
        && reading.partial_line.reader == reader.map(|reader| reader.pid);
    // Where readers get each key, what nobody has read would be seen; an unfinished line of the kernel's isn't.
    if theirs || lines || unread { reading.partial_line.clone() } else { PartialLine::default() }
}
