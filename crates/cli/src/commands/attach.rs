//! `shellgate attach`: sits at the terminal of something that runs, or watches what it prints.

use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::ExitCode;
use std::time::Duration;

use shellgate::inside::{self, RestrictedAction};
use shellgate::jobs::{Jobs, Watched};
use shellgate::{Code, ErrorObject, Input, RecordStore, Size, Urgency};

use crate::args::AttachArgs;
use crate::error::{self, CliError};
use crate::output::{self, print_note};
use crate::raw_terminal::RawTerminal;
use crate::terminal_session::{Host, HostEvent, Intent, SessionEnd, run_terminal_session};

/// Ctrl-].
const DETACH_KEY: u8 = 0x1d;

/// How long a line is left on the screen that is drawn over then.
const READING_TIME: Duration = Duration::from_millis(800);

pub(super) fn attach(args: &AttachArgs) -> ExitCode {
    output::choose_color(args.color);
    error::finish(attached(args))
}

fn attached(args: &AttachArgs) -> Result<(), CliError> {
    inside::refuse(RestrictedAction::Type)?;
    let record = RecordStore::open(None)?;
    let jobs = record.jobs(None);
    let id = jobs.find(&args.id)?.id;
    let Some(watched) = jobs.watch(&id)? else {
        let message = format!("`{id}` does not run any more");
        let error = ErrorObject::new(Code::UnknownJob, message).token(id.as_str());
        return Err(error.hint("`shellgate logs` shows what it printed").into());
    };
    match watched.job.terminal {
        Some(_) => at_terminal(&jobs, &id, watched),
        None => watch(&id, watched),
    }
}

fn at_terminal(jobs: &Jobs<'_>, id: &str, watched: Watched) -> Result<(), CliError> {
    if !RawTerminal::is_interactive() {
        let error = ErrorObject::invalid("a terminal can only be attached to another one");
        return Err(error.hint("`shellgate logs -f` follows what it prints, `shellgate send` types").into());
    }
    print_note(&format!("attached to {id}; Ctrl-] leaves it and lets it run"));
    let size = RawTerminal::size();
    jobs.resize(id, size)?;
    let codes = show_screen(jobs, id, size)?;
    let left = run_terminal_session(&mut AttachedJob { watched }, codes.as_bytes())
        .map_err(|error| CliError::write_failed(&error))?;
    let word = match left {
        SessionEnd::Ended(()) => "it has ended",
        SessionEnd::Detached | SessionEnd::Unresponsive => "detached; it goes on",
    };
    output::print_message("");
    print_note(word);
    Ok(())
}

/// Shows what stands on its terminal, and says which codes that took.
fn show_screen(jobs: &Jobs<'_>, id: &str, size: Size) -> Result<String, CliError> {
    let Some(screen) = jobs.screen(id, size)? else { return Ok(String::new()) };
    let codes = if screen.drawn {
        // It takes the whole screen: first the person has to see how to leave it.
        std::thread::sleep(READING_TIME);
        // What stood there scrolls away and is not lost.
        format!("{}{}", "\r\n".repeat(usize::from(size.rows)), screen.codes)
    } else {
        let (_, column) = screen.cursor;
        format!("{}{}\x1b[{}G", screen.modes, screen.text.replace('\n', "\r\n"), column + 1)
    };
    let mut out = io::stdout().lock();
    out.write_all(codes.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| CliError::write_failed(&error))?;
    Ok(codes)
}

/// Without a terminal: what it prints, until Ctrl-C.
fn watch(id: &str, mut watched: Watched) -> Result<(), CliError> {
    print_note(&format!("watching {id}, which has no terminal; Ctrl-C leaves it and lets it run"));
    loop {
        let printed = watched.next().map_err(|error| CliError::write_failed(&error))?;
        let Some((_, _, bytes)) = printed else { break };
        let mut out = io::stdout().lock();
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(|error| CliError::write_failed(&error))?;
    }
    print_note("it has ended");
    Ok(())
}

/// Somebody else's terminal.
struct AttachedJob {
    watched: Watched,
}

impl Host for AttachedJob {
    type End = ();

    fn next_event(&mut self) -> io::Result<Option<HostEvent<()>>> {
        while let Some(event) = self.watched.try_next()? {
            match event {
                shellgate::jobs::RunEvent::Output { bytes, .. } => return Ok(Some(HostEvent::Output(bytes))),
                shellgate::jobs::RunEvent::Ended(_) => return Ok(Some(HostEvent::Ended(()))),
                shellgate::jobs::RunEvent::State(_) => {}
            }
        }
        Ok(None)
    }

    fn takes_input(&self) -> bool {
        self.watched.takes_input()
    }

    fn input(&mut self, input: Input) -> io::Result<()> {
        // Whoever leaves for a while leaves it running.
        match input {
            Input::Suspend | Input::Continue => Ok(()),
            input => self.watched.input(input),
        }
    }

    fn key_intent(&mut self, key: u8) -> Intent {
        if key == DETACH_KEY { Intent::Leave } else { Intent::None }
    }

    fn interrupt(&mut self, _: Urgency) -> io::Result<Intent> {
        Ok(Intent::Leave)
    }
}

impl AsFd for AttachedJob {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watched.as_fd()
    }
}
