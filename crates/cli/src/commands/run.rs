//! `shellgate run`: runs a command for a person and shows its output as it comes.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::ExitCode;

use shellgate::request::{Action, Pty};
use shellgate::{
    Admitted, ErrorObject, Event, Execution, Follow, Gate, Input, InputKind, Report, Request, Scope, State,
    Stream, Urgency,
};

use crate::args::RunArgs;
use crate::interruptible_writer::{InterruptibleWriter, Written};
use crate::output::{StatusLine, escape, print_note};
use crate::prompt::TerminalApprover;
use crate::queue_approver::{LocalChannel, QueueApprover, local_channel};
use crate::raw_terminal::{RawTerminal, TerminalSize};
use crate::signals::Interrupts;
use crate::terminal_session::{self, Host, HostEvent, Intent, SessionEnd, run_terminal_session};
use crate::{error, output};

pub(super) fn run(args: RunArgs) -> ExitCode {
    output::choose_color(args.common.color);
    let json = args.common.json;
    let report = match prepare(args) {
        Ok((gate, request)) => match follow(&gate, request, json) {
            Ok(Ended::Answered(report)) => report,
            Ok(Ended::Unwritable(error)) => return unwritable("output", &error),
            Ok(Ended::Unresponsive) => {
                output::print_message(
                    "the keeper of this session doesn't respond; the command was killed without it",
                );
                return ExitCode::from(error::CANCELED);
            }
            Err(error) => {
                output::print_message(&format!("lost contact with the command: {error}"));
                return ExitCode::from(125);
            }
        },
        Err(error) => Box::new(Report::of_error(error)),
    };
    match print_result(&report, json) {
        Ok(()) => ExitCode::from(error::run_code(&report)),
        Err(error) => unwritable("result", &error),
    }
}

/// Our standard output can't be written. A reader that has gone is no news: its pipeline wanted no more.
fn unwritable(what: &str, error: &io::Error) -> ExitCode {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return ExitCode::from(error::READER_GONE);
    }
    output::print_message(&format!("the {what} can't be written: {error}"));
    ExitCode::from(125)
}

/// How the command ended for us.
enum Ended {
    Answered(Box<Report>),
    /// Our output can't be written, so the command was stopped, as `SIGPIPE` does in a pipeline.
    Unwritable(io::Error),
    /// The keeper did not react to signals.
    Unresponsive,
}

fn prepare(args: RunArgs) -> Result<(Gate, Request), ErrorObject> {
    let mut words = args.text.into_iter().chain(args.argv).map(text).collect::<Result<Vec<_>, _>>()?;
    let action = match words.as_mut_slice() {
        [only] => Action::Shell(std::mem::take(only)),
        _ => Action::Program(words),
    };
    // Other users see the arguments of a process in lists of processes. Where hiding them fails, the command still runs.
    let _ = shellgate_sandbox::title::blank_arguments(2);
    let gate = super::gate(&args.common)?;
    let gate = match local_channel(gate.settings()) {
        Some(LocalChannel::Terminal) => gate.with_approver(TerminalApprover),
        Some(LocalChannel::Queue) => gate.with_approver(QueueApprover::default()),
        None => gate,
    };
    let request = super::request(&args.common, action)?;
    // The command gets a terminal of its own when a person is at ours.
    let interactive = !args.background && !args.common.json && RawTerminal::is_interactive();
    let pty =
        interactive.then(|| Pty { size: TerminalSize::of_stdin().into(), term: std::env::var("TERM").ok() });
    let timeout = args.common.timeout();
    Ok((gate, Request { background: args.background, timeout, stdin: super::own_stdin(), pty, ..request }))
}

fn text(word: OsString) -> Result<String, ErrorObject> {
    word.into_string().map_err(|word| {
        ErrorObject::invalid("the command is not UTF-8")
            .token(word.to_string_lossy())
            .hint("put it into a script and run that")
    })
}

fn follow(gate: &Gate, request: Request, json: bool) -> io::Result<Ended> {
    super::show_notices(gate.settings());
    let interactive = request.pty.is_some();
    let admitted = match gate.admit(request) {
        Ok(admitted) => admitted,
        Err(refused) => return Ok(Ended::Answered(refused)),
    };
    if let Some(remark) = admitted.approval_remark() {
        print_note(&format!("it runs this time; {}", output::escape(remark)));
    }
    if let Some(written) = admitted.written_rules() {
        print_note(&output::escape(&written.way_back()));
    }
    if interactive {
        return follow_in_terminal(gate, admitted);
    }
    let interrupts = Interrupts::listen()?;
    let execution = match admitted.start(Follow::Closely) {
        Ok(execution) => execution,
        Err(refused) => return Ok(Ended::Answered(refused)),
    };
    let mut follower =
        Follower { execution, interrupts, status: StatusLine::new(), signals: 0, discarding: false };
    let ended = follower.pump(json);
    follower.status.clear();
    match ended {
        Ok(Ended::Unwritable(error)) => {
            follower.execution.stop(Urgency::Politely)?;
            follower.execution.wait()?;
            Ok(Ended::Unwritable(error))
        }
        Ok(Ended::Unresponsive) => {
            follower.execution.abandon();
            Ok(Ended::Unresponsive)
        }
        ended => ended,
    }
}

/// Follows a command that runs in a terminal, and connects ours with it.
fn follow_in_terminal(gate: &Gate, admitted: Admitted<'_>) -> io::Result<Ended> {
    let execution = match admitted.start(Follow::Closely) {
        Ok(execution) => execution,
        Err(refused) => return Ok(Ended::Answered(refused)),
    };
    let mut host = OwnCommand { execution, gate };
    match run_terminal_session(&mut host, "")? {
        SessionEnd::Ended(report) => Ok(Ended::Answered(report)),
        SessionEnd::Detached | SessionEnd::Unresponsive => {
            host.execution.abandon();
            Ok(Ended::Unresponsive)
        }
    }
}

/// The command that we started, in a terminal.
struct OwnCommand<'a> {
    execution: Execution,
    gate: &'a Gate,
}

impl Host for OwnCommand<'_> {
    type End = Box<Report>;

    fn next_event(&mut self) -> io::Result<Option<HostEvent<Box<Report>>>> {
        while let Some(event) = self.execution.try_next()? {
            match event {
                Event::State(_) => {}
                Event::Output { bytes, .. } => return Ok(Some(HostEvent::Output(bytes))),
                Event::Ended(report) => return Ok(Some(HostEvent::Ended(report))),
            }
        }
        Ok(None)
    }

    fn takes_input(&self) -> bool {
        self.execution.takes_input()
    }

    fn input(&mut self, input: Input) -> io::Result<()> {
        self.execution.input(input)
    }

    fn key_intent(&mut self, key: u8) -> Intent {
        if !terminal_session::is_suspend_key(key) {
            return Intent::None;
        }
        let scoped = self.gate.scoped(&Scope::User);
        let reading = scoped.and_then(|gate| gate.reading(&self.execution.id())).ok().flatten();
        match reading.map(|reading| reading.kind) {
            Some(InputKind::Terminal { unsuspendable: true, .. }) => Intent::Suspend,
            // A shell in that terminal suspends the program, or the program uses the key itself.
            _ => Intent::None,
        }
    }

    fn idle(&self) {
        self.execution.continue_keeper();
    }

    fn interrupt(&mut self, urgency: Urgency) -> io::Result<Intent> {
        self.execution.stop(urgency).map(|()| Intent::None)
    }
}

impl AsFd for OwnCommand<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.execution.as_fd()
    }
}

/// Follows a command without a terminal.
struct Follower {
    execution: Execution,
    interrupts: Interrupts,
    status: StatusLine,
    /// How many signals arrived.
    signals: u32,
    /// Output is discarded: its reader doesn't read, and a signal asked for an end.
    discarding: bool,
}

impl Follower {
    fn pump(&mut self, json: bool) -> io::Result<Ended> {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let (out, err) = (InterruptibleWriter::new(stdout.as_fd()), InterruptibleWriter::new(stderr.as_fd()));
        loop {
            while let Some(event) = self.execution.try_next()? {
                match event {
                    Event::State(_) => {}
                    Event::Output { stream, bytes, .. } => {
                        // With `--json`, standard output is for the result only.
                        let writer = if stream == Stream::Stdout && !json { &out } else { &err };
                        if let Err(error) = self.write_output(writer, &bytes) {
                            return Ok(Ended::Unwritable(error));
                        }
                    }
                    Event::Ended(report) => return Ok(Ended::Answered(report)),
                }
                self.check_signals()?;
            }
            self.interrupts.wait(&self.execution, self.status.poll_timeout())?;
            self.check_signals()?;
            if self.interrupts.keeper_is_unresponsive() {
                return Ok(Ended::Unresponsive);
            }
            self.status.tick();
        }
    }

    fn write_output(&mut self, writer: &InterruptibleWriter<'_>, bytes: &[u8]) -> io::Result<()> {
        if self.discarding {
            return Ok(());
        }
        self.status.prepare_for(bytes);
        self.discarding = writer.write_all(bytes, &self.interrupts)? == Written::Interrupted;
        Ok(())
    }

    fn check_signals(&mut self) -> io::Result<()> {
        let signals = self.interrupts.forward(&self.execution)?;
        if signals > self.signals {
            self.signals = signals;
            self.status.stopping();
        }
        Ok(())
    }
}

/// Says what the sandbox refused. After a command that failed, also by which rule, and which settings allow it.
pub(super) fn show_denials(report: &Report) {
    let Some(targets) = report.denied_targets() else { return };
    print_note(&format!("refused by the sandbox: {targets}"));
    if report.status == State::Completed {
        return;
    }
    for rule in report.denial_rules() {
        print_note(&format!("rule: {}", escape(rule)));
    }
    let grants = report.grants();
    if grants.is_empty() {
        return;
    }
    print_note("to allow it, add this to your settings:");
    for line in grants.join("\n").lines() {
        output::print_message(&escape(line));
    }
}

/// Prints the result: as JSON, or what the output alone doesn't tell.
fn print_result(report: &Report, json: bool) -> io::Result<()> {
    if json {
        // A result has strings, numbers and lists only, which always serialize.
        let line = serde_json::to_string(report).unwrap_or_default();
        return writeln!(io::stdout(), "{line}");
    }
    report.error.iter().for_each(error::show);
    let missing = [(Stream::Stdout, &report.lost.stdout), (Stream::Stderr, &report.lost.stderr)];
    for (stream, lost) in missing {
        if let Some(lost) = lost {
            print_note(&format!("{} was not stored completely: {lost}", stream.name()));
        }
    }
    if let Some(note) = report.unconfined_note() {
        print_note(&escape(&note));
    }
    show_denials(report);
    if let Some(job) = report.unfinished_job() {
        print_note(&format!("running as job {job}: see `shellgate logs {job}`, `shellgate stop {job}`"));
        return Ok(());
    }
    for process in &report.background {
        print_note(&format!("still running: {} {}", process.pid, escape(&process.command)));
    }
    if let Some(job) = &report.job {
        print_note(&format!("these are job {job}: see `shellgate logs {job}`, `shellgate stop {job}`"));
    }
    Ok(())
}
