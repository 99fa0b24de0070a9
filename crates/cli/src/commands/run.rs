//! `shellgate run`: a command for a person, with its output as it comes.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::Arc;

use rustix::process::WaitOptions;
use shellgate::request::{Action, Stdin};
use shellgate::{ErrorObject, Event, Execution, Follow, Gate, Report, Request, Stream, Urgency};

use crate::args::RunArgs;
use crate::output::{StatusLine, plain, whisper};
use crate::signals::Interrupts;
use crate::{error, output};

/// What a command gets that writes to a reader which is gone: 128 and the number of `SIGPIPE`.
const READER_GONE: u8 = 141;

pub(super) fn run(args: RunArgs) -> ExitCode {
    output::choose_color(args.common.color);
    let json = args.common.json;
    let report = match prepare(args) {
        Ok((gate, request)) => match follow(&gate, request, json) {
            Ok(Ended::Answered(report)) => report,
            Ok(Ended::ReaderGone) => return ExitCode::from(READER_GONE),
            Err(error) => {
                output::say(&format!("the command can't be followed any longer: {error}"));
                return ExitCode::from(125);
            }
        },
        Err(error) => Box::new(Report::of_error(error)),
    };
    match tell(&report, json) {
        Ok(()) => ExitCode::from(error::run_code(&report)),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(READER_GONE),
        Err(error) => {
            output::say(&format!("the result can't be written: {error}"));
            ExitCode::from(125)
        }
    }
}

/// How following a command ended.
enum Ended {
    Answered(Box<Report>),
    /// Nobody reads our output any more, so the command was stopped, as it would have been in a pipeline.
    ReaderGone,
}

fn prepare(args: RunArgs) -> Result<(Gate, Request), ErrorObject> {
    let mut words = args.text.into_iter().chain(args.argv).map(text).collect::<Result<Vec<_>, _>>()?;
    let action = match words.as_mut_slice() {
        [only] => Action::Shell(std::mem::take(only)),
        _ => Action::Program(words),
    };
    // The text is read; from here on it only shows to those it is meant for.
    let _ = shellgate_sandbox::title::blank_arguments(2);
    let gate = super::gate(&args.common)?;
    let request = Request {
        action,
        directory: args.common.directory,
        background: args.background,
        stdin: own_stdin(),
        ..Request::default()
    };
    Ok((gate, request))
}

fn text(word: OsString) -> Result<String, ErrorObject> {
    word.into_string().map_err(|word| {
        ErrorObject::invalid("the command is not UTF-8")
            .token(word.to_string_lossy())
            .hint("put it in a script, and run that")
    })
}

/// Our own standard input, when it is a pipe or a file: a command has no business at the terminal.
fn own_stdin() -> Stdin {
    let stdin = io::stdin();
    if io::IsTerminal::is_terminal(&stdin) {
        return Stdin::Closed;
    }
    stdin
        .as_fd()
        .try_clone_to_owned()
        .map_or(Stdin::Closed, |descriptor| Stdin::Descriptor(Arc::new(descriptor)))
}

fn follow(gate: &Gate, request: Request, json: bool) -> io::Result<Ended> {
    for notice in &gate.settings().notices {
        whisper(&notice.to_string());
    }
    let mut interrupts = Interrupts::listen()?;
    let mut execution = match gate.submit(request, Follow::Closely) {
        Ok(execution) => execution,
        Err(refused) => return Ok(Ended::Answered(refused)),
    };
    whisper("sandbox off: the command is not confined (confinement is not built yet)");
    let mut status = StatusLine::new();
    let ended = pump(&mut execution, &mut interrupts, &mut status, json);
    status.clear();
    // A keeper that had nothing left to hold has ended; don't leave its entry in the process table to others.
    let _ = rustix::process::wait(WaitOptions::NOHANG);
    match ended {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            execution.stop(Urgency::Politely)?;
            execution.wait()?;
            Ok(Ended::ReaderGone)
        }
        ended => ended.map(Ended::Answered),
    }
}

fn pump(
    execution: &mut Execution,
    interrupts: &mut Interrupts,
    status: &mut StatusLine,
    json: bool,
) -> io::Result<Box<Report>> {
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let mut heard = 0;
    loop {
        while let Some(event) = execution.try_next()? {
            match event {
                Event::State(_) => {}
                Event::Output { stream, bytes, .. } => {
                    status.before(&bytes);
                    // With `--json`, standard output is the result's alone.
                    let target: &mut dyn Write =
                        if stream == Stream::Stdout && !json { &mut out } else { &mut err };
                    target.write_all(&bytes)?;
                    target.flush()?;
                }
                Event::Ended(report) => return Ok(report),
            }
            heard = hear(execution, interrupts, status, heard)?;
        }
        interrupts.wait(execution, status.patience())?;
        heard = hear(execution, interrupts, status, heard)?;
        status.tick();
    }
}

fn hear(
    execution: &Execution,
    interrupts: &mut Interrupts,
    status: &mut StatusLine,
    before: u32,
) -> io::Result<u32> {
    let heard = interrupts.pass_on(execution)?;
    if heard > before {
        status.stopping();
    }
    Ok(heard)
}

/// What the output alone doesn't say. Fails when that is a result which nobody can read.
fn tell(report: &Report, json: bool) -> io::Result<()> {
    if json {
        // A result is strings, numbers and lists: it always serializes.
        let line = serde_json::to_string(report).unwrap_or_default();
        return writeln!(io::stdout(), "{line}");
    }
    if let Some(error) = &report.error {
        error::show(error);
    }
    let missing = [(Stream::Stdout, &report.lost.stdout), (Stream::Stderr, &report.lost.stderr)];
    for (stream, lost) in missing {
        if let Some(lost) = lost {
            whisper(&format!("not all of {} was kept: {lost}", stream.name()));
        }
    }
    for process in &report.background {
        whisper(&format!("still running: {} {}", process.pid, plain(&process.command)));
    }
    Ok(())
}
