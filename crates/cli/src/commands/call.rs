//! `shellgate call`: answers one tool call of an agent.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use shellgate::text::{Decoder, Piece};
use shellgate::views::QuestionView;
use shellgate::{
    Admitted, Considered, Dialect, DialectAnswer, ErrorObject, Event, Execution, Follow, Gate,
    PendingQuestion, Refused, Report, Request, Stream,
};

use crate::args::CallArgs;
use crate::error::{CALL_REFUSED, CANCELED};
use crate::interruptible_writer::{InterruptibleWriter, Written};
use crate::output;
use crate::queue_approver::{LocalChannel, QueueApprover, local_channel};
use crate::signals::Interrupts;
use crate::time::{exact, now};

/// Longer arguments are refused without being read. The text of a command has at most 128 KiB anyway, and longer standard
/// input belongs in a file.
const ARGUMENTS_MAX_BYTES: u64 = 64 << 20;

pub(super) fn call(args: CallArgs) -> ExitCode {
    output::choose_color(args.common.color);
    let mut caller =
        Caller { gate: None, interrupts: None, output_stalled: false, withdrawn: Arc::default() };
    let text = arguments(&args);
    let report = caller.answer(&args, &text).unwrap_or_else(|error| {
        Box::new(args.common.dialect.refused(text.as_deref().unwrap_or_default(), error))
    });
    match caller.print(&report, args.common.dialect, args.events) {
        Ok(()) if caller.output_stalled || caller.withdrawn.load(Ordering::Relaxed) => {
            ExitCode::from(CANCELED)
        }
        Ok(()) if report.is_refusal() => ExitCode::from(CALL_REFUSED),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_message(&format!("the output can't be written: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The caller of one tool call.
struct Caller {
    /// Dropped last, after the answer is printed: dropping it waits for a keeper that ends.
    gate: Option<Gate>,
    interrupts: Option<Interrupts>,
    /// A signal arrived while the reader of our output didn't read: nothing more is written.
    output_stalled: bool,
    /// A signal arrived while a person was being asked.
    withdrawn: Arc<AtomicBool>,
}

impl Caller {
    fn answer(
        &mut self,
        args: &CallArgs,
        text: &Result<String, ErrorObject>,
    ) -> Result<Box<Report>, ErrorObject> {
        // Hiding the arguments from other users is a courtesy; where it fails, the call still works.
        let _ = shellgate_sandbox::title::blank_arguments(2);
        let gate = super::gate(&args.common)?;
        super::show_notices(gate.settings());
        let asks = local_channel(gate.settings()) == Some(LocalChannel::Queue);
        let approver = asks.then(|| QueueApprover::new(self.withdrawn.clone()));
        let gate = self.gate.insert(gate);
        let dialect = args.common.dialect;
        let mut request = match text.as_deref().map_err(Clone::clone).and_then(|text| dialect.read(text)) {
            Ok(request) => request,
            Err(error) => {
                let text = text.as_deref().unwrap_or_default();
                return Ok(Box::new(gate.refuse_unread(dialect, text, None, error)));
            }
        };
        if request.directory.is_none() {
            request.directory.clone_from(&args.common.directory);
        }
        let trouble = |error: io::Error| {
            ErrorObject::new(shellgate::Code::KeeperLost, format!("lost contact with the command: {error}"))
        };
        let follow = if args.events { Follow::Closely } else { Follow::Quietly };
        let admitted = match admit(gate, request, approver.as_ref(), args.events) {
            Ok(admitted) => admitted,
            Err(refused) => return Ok(refused),
        };
        self.interrupts = Some(Interrupts::listen().map_err(trouble)?);
        match admitted.start(follow) {
            Ok(execution) => self.pump(execution).map_err(trouble),
            Err(refused) => Ok(refused),
        }
    }

    fn pump(&mut self, mut execution: Execution) -> io::Result<Box<Report>> {
        let report = self.follow(&mut execution);
        if report.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut) {
            execution.abandon();
        }
        report
    }

    fn follow(&mut self, execution: &mut Execution) -> io::Result<Box<Report>> {
        let id = execution.id();
        let mut decoders = [(Stream::Stdout, Decoder::new()), (Stream::Stderr, Decoder::new())];
        loop {
            while let Some(event) = execution.try_next()? {
                match event {
                    Event::State(state) => self.line(&json!({"type": "state", "id": id, "status": state}))?,
                    Event::Output { stream, bytes, .. } => {
                        let decoder = decoders.iter_mut().find(|(known, _)| *known == stream);
                        if let Some(piece) = decoder.and_then(|(_, decoder)| decoder.push(&bytes)) {
                            self.chunk(&id, stream, piece)?;
                        }
                    }
                    Event::Ended(report) => {
                        for (stream, decoder) in &mut decoders {
                            if let Some(piece) = decoder.finish() {
                                self.chunk(&id, *stream, piece)?;
                            }
                        }
                        return Ok(report);
                    }
                }
                self.check_signals(execution)?;
            }
            if let Some(interrupts) = &self.interrupts {
                interrupts.wait(execution, None)?;
            }
            self.check_signals(execution)?;
        }
    }

    fn check_signals(&mut self, execution: &Execution) -> io::Result<()> {
        let Some(interrupts) = &mut self.interrupts else { return Ok(()) };
        interrupts.forward(execution)?;
        if !interrupts.keeper_is_unresponsive() {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "the keeper of this session doesn't answer"))
    }

    fn chunk(&mut self, id: &str, stream: Stream, piece: Piece) -> io::Result<()> {
        let Piece { offset, text } = piece;
        self.line(&json!({"type": "tool-stream", "id": id, "stream": stream.name(), "offset": offset, "text": text}))
    }

    fn line(&mut self, event: &serde_json::Value) -> io::Result<()> {
        self.write(format!("{event}\n").as_bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let out = io::stdout();
        match &self.interrupts {
            _ if self.output_stalled => Ok(()),
            Some(interrupts) => {
                self.output_stalled = InterruptibleWriter::new(out.as_fd()).write_all(bytes, interrupts)?
                    == Written::Interrupted;
                Ok(())
            }
            // Signals aren't blocked yet, so one ends us while this write blocks.
            None => out.lock().write_all(bytes).and_then(|()| out.lock().flush()),
        }
    }

    fn print(&mut self, report: &Report, dialect: &Dialect, events: bool) -> io::Result<()> {
        let answer = dialect.write(report);
        if events {
            let result = match answer {
                DialectAnswer::Json(json) => json!({"type": "result", "json": json}),
                answer => json!({"type": "result", "text": answer.to_string()}),
            };
            if let Some(words) = dialect.assistant(report) {
                self.line(&json!({"type": "assistant", "id": report.id, "text": words}))?;
            }
            if report.status.is_final() {
                self.line(&json!({"type": "state", "id": report.id, "status": report.status}))?;
            }
            return self.line(&result);
        }
        // On a terminal, the shell's next prompt should start a new line. A program gets exactly what the model gets.
        let end = if io::stdout().is_terminal() { "\n" } else { "" };
        self.write(format!("{answer}{end}").as_bytes())
    }
}

/// Admits a request. A question that it posts is an event.
fn admit<'a>(
    gate: &'a Gate,
    request: Request,
    approver: Option<&QueueApprover>,
    events: bool,
) -> Result<Admitted<'a>, Refused> {
    let unasked = match gate.consider(request)? {
        Considered::Allowed(admitted) => return Ok(*admitted),
        Considered::NeedsApproval(unasked) => unasked,
    };
    let Some(approver) = approver else { return Err(unasked.no_approver()) };
    let pending = unasked.post()?;
    if events {
        let event = question_event(&pending);
        let mut out = io::stdout().lock();
        // Signals aren't blocked yet, so one ends us while this write blocks. Without a reader the answer still counts.
        let _ = writeln!(out, "{event}").and_then(|()| out.flush());
    }
    pending.ask(approver)
}

/// A question as an event: what the prompt shows.
fn question_event(pending: &PendingQuestion<'_>) -> Value {
    let view = pending.with_question(QuestionView::of);
    let until =
        |left: Duration| exact(now().saturating_add(i64::try_from(left.as_millis()).unwrap_or(i64::MAX)));
    let approvals = view.answers().into_iter().filter(|answer| answer.kind.choice().is_some());
    let choices: Vec<&str> = approvals.map(|answer| answer.kind.name()).collect();
    json!({
        "type": "question",
        "id": pending.id(),
        "question": pending.queue_wait().number(),
        "command": view.command,
        "description": view.description,
        "directory": view.directory,
        "root": view.root,
        "session": view.session,
        "reasons": view.reasons,
        "reach": view.reach,
        "prefixes": view.prefixes,
        "always": view.always,
        "always_exact": view.always_exact,
        "choices": choices,
        "expires_at": until(pending.queue_wait().time_left()),
        "grant_until": view.grant_until.map(exact),
    })
}

fn arguments(args: &CallArgs) -> Result<String, ErrorObject> {
    let not_text = || ErrorObject::invalid("the arguments are not UTF-8").hint("send one JSON object");
    match &args.arguments {
        Some(json) if json != "-" => json.to_str().map(str::to_owned).ok_or_else(not_text),
        _ => {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().take(ARGUMENTS_MAX_BYTES + 1).read_to_end(&mut bytes);
            read.map_err(|error| ErrorObject::invalid(format!("standard input can't be read: {error}")))?;
            if bytes.len() as u64 > ARGUMENTS_MAX_BYTES {
                return Err(ErrorObject::invalid(format!(
                    "the arguments are longer than {ARGUMENTS_MAX_BYTES} bytes"
                )));
            }
            String::from_utf8(bytes).map_err(|_| not_text())
        }
    }
}
