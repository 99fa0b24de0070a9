//! `shellgate attach`: connects your terminal with a job's, or prints the output of a job that has none.

use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::ExitCode;
use std::time::Duration;

use shellgate::inside::{self, RestrictedAction};
use shellgate::jobs::{JobWatcher, Jobs};
use shellgate::{Code, ErrorObject, Input, RecordStore, Size, Urgency};

use crate::args::AttachArgs;
use crate::error::{self, CliError};
use crate::output::{self, print_note};
use crate::raw_terminal::{RawTerminal, TerminalSize};
use crate::terminal_session::{Host, HostEvent, Intent, SessionEnd, run_terminal_session};

/// Ctrl-].
const DETACH_KEY: u8 = 0x1d;

/// How long the note about Ctrl-] stays before a full-screen program is drawn over it.
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
        let message = format!("`{id}` has ended");
        let error = ErrorObject::new(Code::UnknownJob, message).token(id.as_str());
        return Err(error.hint(format!("`shellgate logs {id}` shows its output")).into());
    };
    match watched.job.terminal {
        Some(_) => at_terminal(&jobs, &id, watched),
        None => watch(&id, watched),
    }
}

fn at_terminal(jobs: &Jobs<'_>, id: &str, watched: JobWatcher) -> Result<(), CliError> {
    if !RawTerminal::is_interactive() {
        let error = ErrorObject::invalid("`attach` needs a terminal on standard input and output");
        return Err(error.hint("`shellgate logs -f` follows its output, `shellgate send` types keys").into());
    }
    print_note(&format!("attached to {id}; Ctrl-] detaches, and the job keeps running"));
    let size = Size::from(TerminalSize::of_stdin());
    jobs.resize(id, size)?;
    let screen = current_screen(jobs, id, size)?;
    let end = run_terminal_session(&mut AttachedJob { watched }, &screen)
        .map_err(|error| CliError::write_failed(&error))?;
    output::print_message("");
    print_note(match end {
        SessionEnd::Ended(()) => "the job has ended",
        SessionEnd::Detached | SessionEnd::Unresponsive => "detached; the job keeps running",
    });
    Ok(())
}

/// The codes that draw what is on the job's terminal now.
fn current_screen(jobs: &Jobs<'_>, id: &str, size: Size) -> Result<String, CliError> {
    let Some(screen) = jobs.screen(id, size)? else { return Ok(String::new()) };
    if screen.drawn {
        // The program covers the whole screen: the person needs time to read how to detach.
        std::thread::sleep(READING_TIME);
        // Our own screen scrolls out of view first, so that it isn't overwritten.
        return Ok(format!("{}{}", "\r\n".repeat(usize::from(size.rows)), screen.codes));
    }
    let (_, column) = screen.cursor;
    Ok(format!("{}{}\x1b[{}G", screen.modes, screen.text.replace('\n', "\r\n"), column + 1))
}

/// Prints the output of a job without a terminal, until it ends or Ctrl-C ends us.
fn watch(id: &str, mut watched: JobWatcher) -> Result<(), CliError> {
    print_note(&format!("following the output of {id}; Ctrl-C ends this, and the job keeps running"));
    loop {
        let printed = watched.next().map_err(|error| CliError::write_failed(&error))?;
        let Some((_, _, bytes)) = printed else { break };
        let mut out = io::stdout().lock();
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(|error| CliError::write_failed(&error))?;
    }
    print_note("the job has ended");
    Ok(())
}

/// A job of any session, with a terminal.
struct AttachedJob {
    watched: JobWatcher,
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
        // Suspending `attach` doesn't suspend the job.
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
