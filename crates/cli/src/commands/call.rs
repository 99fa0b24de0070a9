//! `shellgate call`: one tool call, as an agent makes it.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use serde_json::json;
use shellgate::text::Decoder;
use shellgate::{Dialect, ErrorObject, Event, Execution, Follow, Report, Stream};

use crate::args::CallArgs;
use crate::error::CALL_REFUSED;
use crate::output;
use crate::signals::Interrupts;

/// Longer arguments are refused unread: a command's text is at most 128 KiB, its standard input should be a file then.
const LONGEST: u64 = 64 << 20;

pub(super) fn call(args: CallArgs) -> ExitCode {
    output::choose_color(args.common.color);
    let dialect = args.common.dialect;
    let report = match answer(&args) {
        Ok(report) => report,
        Err(error) => Box::new(Report::of_error(error)),
    };
    match print(&report, dialect, args.events) {
        Ok(()) if report.is_refusal() => ExitCode::from(CALL_REFUSED),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::say(&format!("the answer can't be written: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn answer(args: &CallArgs) -> Result<Box<Report>, ErrorObject> {
    let text = arguments(args)?;
    let _ = shellgate_sandbox::title::blank_arguments(2);
    let gate = super::gate(&args.common)?;
    let mut request = (args.common.dialect.read)(&text)?;
    if request.directory.is_none() {
        request.directory.clone_from(&args.common.directory);
    }
    let trouble = |error: io::Error| {
        ErrorObject::new(shellgate::Code::KeeperLost, format!("the call can't be followed: {error}"))
    };
    let mut interrupts = Interrupts::listen().map_err(trouble)?;
    let follow = if args.events { Follow::Closely } else { Follow::Quietly };
    match gate.submit(request, follow) {
        Ok(mut execution) => pump(&mut execution, &mut interrupts).map_err(trouble),
        Err(refused) => Ok(refused),
    }
}

fn arguments(args: &CallArgs) -> Result<String, ErrorObject> {
    let not_text = || ErrorObject::invalid("the arguments are not UTF-8").hint("send one JSON object");
    match &args.arguments {
        Some(json) if json != "-" => json.to_str().map(str::to_owned).ok_or_else(not_text),
        _ => {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes);
            read.map_err(|error| ErrorObject::invalid(format!("standard input can't be read: {error}")))?;
            if bytes.len() as u64 > LONGEST {
                return Err(ErrorObject::invalid(format!("the arguments are longer than {LONGEST} bytes")));
            }
            String::from_utf8(bytes).map_err(|_| not_text())
        }
    }
}

fn pump(execution: &mut Execution, interrupts: &mut Interrupts) -> io::Result<Box<Report>> {
    let id = execution.id();
    let mut decoders = [(Stream::Stdout, Decoder::new()), (Stream::Stderr, Decoder::new())];
    loop {
        while let Some(event) = execution.try_next()? {
            match event {
                Event::State(state) => line(&json!({"type": "state", "id": id, "status": state}))?,
                Event::Output { stream, bytes, .. } => {
                    let decoder = decoders.iter_mut().find(|(known, _)| *known == stream);
                    if let Some(piece) = decoder.and_then(|(_, decoder)| decoder.push(&bytes)) {
                        chunk(&id, stream, piece.offset, &piece.text)?;
                    }
                }
                Event::Ended(report) => {
                    for (stream, decoder) in &mut decoders {
                        if let Some(piece) = decoder.finish() {
                            chunk(&id, *stream, piece.offset, &piece.text)?;
                        }
                    }
                    return Ok(report);
                }
            }
        }
        interrupts.wait(execution, None)?;
        interrupts.pass_on(execution)?;
    }
}

fn chunk(id: &str, stream: Stream, offset: u64, text: &str) -> io::Result<()> {
    line(&json!({"type": "tool-stream", "id": id, "stream": stream.name(), "offset": offset, "text": text}))
}

fn line(event: &serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{event}")?;
    out.flush()
}

fn print(report: &Report, dialect: &Dialect, events: bool) -> io::Result<()> {
    let text = (dialect.write)(report);
    if events {
        let result = match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(json) => json!({"type": "result", "json": json}),
            Err(_) => json!({"type": "result", "text": text}),
        };
        if report.status.is_final() {
            line(&json!({"type": "state", "id": report.id, "status": report.status}))?;
        }
        return line(&result);
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    // A person wants the next prompt on a line of its own, a program wants what the model gets and nothing more.
    if io::stdout().is_terminal() {
        writeln!(out)?;
    }
    out.flush()
}
