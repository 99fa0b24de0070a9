//! Sends input to an execution piece by piece. Before each piece it finds out which process reads it, and judges the piece
//! accordingly.

use std::path::Path;
use std::time::{Duration, Instant};

use shellgate_exec::{Input, InputKind, InputSender, InputState, NotTaken, PartialLine};
use shellgate_policy::programs::{ShellGrammar, shell_grammar};
use shellgate_policy::{InputUse, keys_run_command};

use super::input::{not_running, not_taken};
use super::input_reader::{InputReader, input_reader};
use super::shell_line::{self, END_OF_INPUT, SIGNAL_KEYS};
use crate::admit::judge::{Decision, Verdict};
use crate::gate::{Gate, session_error};
use crate::intake::request::{Action, Request, Stdin};
use crate::root::WorkingDirectory;
use crate::{Code, ErrorObject};

/// How long to wait until a process reads the terminal.
const READER_TIMEOUT: Duration = Duration::from_secs(5);

/// The poll interval doubles from the first to the last: most programs read again at once.
const FIRST_POLL_INTERVAL: Duration = Duration::from_micros(200);
const LAST_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How often a piece is judged and sent again because other input came between.
const MAX_RETRIES: u32 = 100;

/// Longer texts are not repeated in an error.
const MAX_QUOTED_CHARS: usize = 200;

/// Sends input to one execution, and judges it first.
pub(super) struct JudgedSender<'a> {
    gate: &'a Gate,
    id: &'a str,
    sender: InputSender,
    approved: Option<Approved>,
    /// The shell for which all of the rest was judged already.
    judged_ahead_for: Option<u32>,
    /// How many bytes were sent.
    sent: usize,
    /// Whether some of them were sent while the terminal did not echo, like a password.
    unechoed: bool,
}

/// Input that a person has approved. It holds while the same process reads in the same way: after `exec` it is another
/// program.
#[derive(Clone, Copy)]
struct Approved {
    pid: u32,
    input_use: InputUse,
    /// How many of the next bytes.
    bytes: usize,
}

impl<'a> JudgedSender<'a> {
    pub(super) fn new(gate: &'a Gate, id: &'a str, sender: InputSender) -> Self {
        Self { gate, id, sender, approved: None, judged_ahead_for: None, sent: 0, unechoed: false }
    }

    /// Sends all bytes. An error says how many were sent before it.
    pub(super) fn send_all(&mut self, bytes: &[u8]) -> Result<(), ErrorObject> {
        self.send_pieces(bytes).map_err(|error| self.with_sent_text(error, bytes))
    }

    fn send_pieces(&mut self, bytes: &[u8]) -> Result<(), ErrorObject> {
        let mut rest = bytes;
        let mut retries = 0;
        while let Some(first) = rest.first() {
            let is_signal = SIGNAL_KEYS.contains(first);
            let (state, reader) = if is_signal {
                let state = self.input_state()?;
                let reader = input_reader(&state);
                (state, reader)
            } else {
                let (state, reader) = self.wait_for_reader()?;
                (state, Some(reader))
            };
            let partial_line = partial_line_of(&state, reader.as_ref());
            if let Some(shell) = reader.as_ref().filter(|reader| reader.input_use == InputUse::ShellCommand) {
                self.judge_ahead(shell, &partial_line, &state, rest)?;
            }
            let reader = reader.filter(|_| !is_signal);
            let count = match &reader {
                None => 1,
                Some(reader) => self.admit(reader, &partial_line, &state, rest)?,
            };
            let (now, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            let pid = reader.as_ref().map(|reader| reader.pid);
            let input = Input::Bytes { bytes: now.to_vec(), after: Some(state.sequence), reader: pid };
            match self.sender.send(input).map_err(|error| session_error(&error))? {
                Ok(()) => {
                    self.use_up_approval(count);
                    self.sent += now.len();
                    self.unechoed |=
                        matches!(state.kind, InputKind::Terminal { lines: true, echo: false, .. });
                    rest = later;
                }
                // Other input has changed the line: judge again.
                Err(NotTaken::Changed) if retries < MAX_RETRIES => {
                    (self.approved, self.judged_ahead_for) = (None, None);
                    retries += 1;
                }
                Err(reason) => return Err(not_taken(self.id, reason)),
            }
        }
        Ok(())
    }

    fn use_up_approval(&mut self, count: usize) {
        self.approved = self.approved.take().and_then(|approved| {
            let bytes = approved.bytes.checked_sub(count).filter(|bytes| *bytes > 0)?;
            Some(Approved { bytes, ..approved })
        });
    }

    fn input_state(&mut self) -> Result<InputState, ErrorObject> {
        let state = self.sender.look().map_err(|error| session_error(&error))?;
        state.ok_or_else(|| not_running(self.id))
    }

    /// Waits until a process reads the terminal.
    fn wait_for_reader(&mut self) -> Result<(InputState, InputReader), ErrorObject> {
        let deadline = Instant::now() + READER_TIMEOUT;
        let mut interval = FIRST_POLL_INTERVAL;
        loop {
            let state = self.input_state()?;
            if let Some(reader) = input_reader(&state) {
                return Ok((state, reader));
            }
            if Instant::now() >= deadline {
                let message = format!("no process of `{}` reads its terminal at the moment", self.id);
                return Err(ErrorObject::new(Code::Busy, message)
                    .token(self.id)
                    .hint("wait until `waiting_for_input` is true. C-c can always be sent"));
            }
            std::thread::sleep(interval);
            interval = LAST_POLL_INTERVAL.min(interval * 2);
        }
    }

    /// Judges all of the rest as if this shell read it, before any of it is sent. A question to a person is about all of it.
    fn judge_ahead(
        &mut self,
        shell: &InputReader,
        partial_line: &PartialLine,
        state: &InputState,
        rest: &[u8],
    ) -> Result<(), ErrorObject> {
        if matches!(state.kind, InputKind::Terminal { remapped_keys: true, .. }) {
            let message = format!("the control keys of the terminal of `{}` were changed", self.id);
            return Err(ErrorObject::new(Code::DeniedByPolicy, message)
                .token(self.id)
                .hint("lines typed there can't be judged; start another shell"));
        }
        if self.judged_ahead_for == Some(shell.pid) {
            return Ok(());
        }
        let ahead = shell_line::lines_ahead(partial_line, rest, self.id)?;
        // If nothing is sent before the only line, `admit` judges it in time.
        if ahead.sends_before_last {
            let (action, verdict) = self.judge_line(shell, &ahead.lines.join("\n"));
            if verdict.decision() != Decision::Allow {
                self.approve(shell, action, Stdin::Closed, verdict)?;
                self.approved =
                    Some(Approved { pid: shell.pid, input_use: shell.input_use, bytes: ahead.end });
            }
        }
        self.judged_ahead_for = Some(shell.pid);
        Ok(())
    }

    fn judge_line(&self, shell: &InputReader, text: &str) -> (Action, Verdict) {
        let directory = self.directory(shell);
        let action = shell_action(shell, text);
        let mut verdict = self.judge(action.clone(), Stdin::Closed, directory.as_ref());
        shell_line::add_interactive_reasons(&mut verdict, text, directory.is_some());
        (action, verdict)
    }

    /// Judges the next piece. Returns how many bytes of `rest` may be sent now.
    fn admit(
        &mut self,
        reader: &InputReader,
        partial_line: &PartialLine,
        state: &InputState,
        rest: &[u8],
    ) -> Result<usize, ErrorObject> {
        let approved = self.approved.filter(|one| (one.pid, one.input_use) == (reader.pid, reader.input_use));
        if reader.input_use == InputUse::ShellCommand {
            let next = shell_line::next_bytes(partial_line, rest, self.id)?;
            if let Some(text) = &next.command_to_judge {
                let (action, verdict) = self.judge_line(reader, text);
                // All lines were approved together, but the shell may have changed to a directory where a line is denied.
                let is_approved = approved.is_some_and(|approved| approved.bytes >= next.count);
                if !is_approved || verdict.decision() == Decision::Deny {
                    self.approve(reader, action, Stdin::Closed, verdict)?;
                }
            }
            return Ok(next.count);
        }
        let typed = String::from_utf8_lossy(rest).into_owned();
        let line = format!("{}{typed}", String::from_utf8_lossy(&partial_line.text));
        let needs_approval = match reader.input_use {
            // The end of the input only ends the program.
            _ if rest.first() == Some(&END_OF_INPUT) => false,
            InputUse::Code | InputUse::Forwarded => true,
            InputUse::DataOrCommandKeys => keys_run_command(&reader.argv, &line),
            InputUse::Data | InputUse::ShellCommand => false,
        };
        if needs_approval && approved.is_none() {
            let (action, stdin) = (Action::Program(reader.argv.clone()), Stdin::Text(typed));
            let mut verdict = self.judge(action.clone(), stdin.clone(), self.directory(reader).as_ref());
            shell_line::ask_about_interpreter(&mut verdict, reader);
            self.approve(reader, action, stdin, verdict)?;
            self.approved =
                Some(Approved { pid: reader.pid, input_use: reader.input_use, bytes: rest.len() });
        }
        let by_line = matches!(state.kind, InputKind::Terminal { lines: true, .. });
        Ok(shell_line::first_piece_length(rest, by_line))
    }

    /// Adds the text that was sent before an error to its message.
    fn with_sent_text(&self, mut error: ErrorObject, bytes: &[u8]) -> ErrorObject {
        let sent = String::from_utf8_lossy(bytes.get(..self.sent).unwrap_or_default()).replace('\r', "\n");
        let count = sent.chars().count();
        let what = match count {
            0 => return error,
            _ if self.unechoed || count > MAX_QUOTED_CHARS => {
                format!("the first {count} characters were typed")
            }
            _ => format!("{sent:?} was typed"),
        };
        error.message = format!("{}; {what} before that", error.message);
        error
    }

    /// The reader's current directory. `None`: the kernel doesn't tell.
    fn directory(&self, reader: &InputReader) -> Option<WorkingDirectory> {
        reader.directory.as_ref().map(|path| self.gate.judge.root.anywhere(Path::new(path)))
    }

    fn judge(&self, action: Action, stdin: Stdin, directory: Option<&WorkingDirectory>) -> Verdict {
        let request = Request { action, stdin, ..Request::default() };
        let root = self.gate.judge.root.anywhere(self.gate.root());
        self.gate.judge.judge_in(&request, directory.unwrap_or(&root))
    }

    /// Refuses the input or asks a person about it, as the verdict says, and records the result.
    fn approve(
        &self,
        reader: &InputReader,
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

/// A line for a shell, as an action to judge. A line for another shell than bash is judged as the text of its `-c`: the
/// judge knows that such a shell may read it differently.
fn shell_action(reader: &InputReader, text: &str) -> Action {
    match reader.argv.first() {
        None => Action::Shell(text.to_owned()),
        Some(shell) if shell_grammar(shell) == Some(ShellGrammar::Bash) => Action::Shell(text.to_owned()),
        Some(shell) => Action::Program(vec![shell.clone(), "-c".to_owned(), text.to_owned()]),
    }
}

/// The unfinished line that this reader gets. It is empty if another process has read what was typed.
fn partial_line_of(state: &InputState, reader: Option<&InputReader>) -> PartialLine {
    let InputKind::Terminal { lines, unread, .. } = state.kind else { return PartialLine::default() };
    let typed_for = state.partial_line.reader;
    let is_theirs = typed_for.is_some() && typed_for == reader.map(|reader| reader.pid);
    // In line mode the kernel holds an unfinished line back, and does not count it as unread. In other modes a key that no
    // process has read shows as unread.
    if is_theirs || lines || unread { state.partial_line.clone() } else { PartialLine::default() }
}
