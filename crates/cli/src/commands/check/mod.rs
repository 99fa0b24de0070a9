//! `shellgate check`: judges a command without running it.
//!
//! It needs no state folder and changes nothing. Approvals for the session count, as `run` would count them. [`input`] reads the command.

mod input;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use shellgate::judge::{self, Decision, Verdict};
use shellgate::request::Action;
use shellgate::views::VerdictView;
use shellgate::{ErrorObject, Request};

use crate::args::CheckArgs;
use crate::{error, output};

/// Exit codes of the verdicts.
const EXIT_ASK: u8 = 10;
const EXIT_DENY: u8 = 20;
/// Exit code when nothing could be judged.
const EXIT_USAGE: u8 = 2;

/// Columns when standard output is not a terminal.
const DEFAULT_COLUMNS: usize = 100;
/// The columns that are used of a terminal.
const COLUMNS: std::ops::RangeInclusive<usize> = 40..=200;

pub(super) fn check(args: &CheckArgs) -> ExitCode {
    output::choose_color(args.common.color);
    match checked(args).and_then(|checked| checked.show(args)) {
        Ok(decision) => ExitCode::from(match decision {
            Decision::Allow => 0,
            Decision::Ask => EXIT_ASK,
            Decision::Deny => EXIT_DENY,
        }),
        Err(error) => {
            error::show(&error);
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// A command and what would happen to it.
struct Checked {
    /// As a person would type it.
    text: String,
    /// Whether bash would read it.
    is_shell: bool,
    outcome: Outcome,
}

enum Outcome {
    Judged {
        verdict: Verdict,
        /// The decision in place of a person, and what makes it: `approval.mode`, or an earlier approval.
        instead: Option<(Decision, String)>,
    },
    /// It can't be judged and would be refused.
    Refused(ErrorObject),
}

fn checked(args: &CheckArgs) -> Result<Checked, ErrorObject> {
    let judge = super::builder(&args.common).judge()?;
    super::show_notices(judge.settings());
    let action = match input::action(args)? {
        Ok(action) => action,
        Err(refused) => {
            return Ok(Checked { text: String::new(), is_shell: false, outcome: Outcome::Refused(refused) });
        }
    };
    let (text, is_shell) = (action.shown(), matches!(action, Action::Shell(_)));
    let directory = &args.common.directory;
    let judged = super::request(&args.common, action).and_then(|request| {
        let verdict = judge.judge(&request)?;
        // An approval for exactly a command is also for its input: that of `run` would be ours.
        let asked = Request { stdin: super::own_stdin(), ..request };
        let granted = || Some((Decision::Allow, judge.earlier_approval(&asked, &verdict)?));
        let instead = judge.decision_by_mode(&verdict).or_else(granted);
        Ok(Outcome::Judged { instead, verdict })
    });
    let outcome = match judged {
        Ok(judged) => judged,
        // The error is about `--directory`, not about the command.
        Err(error) if directory.is_some() && error.token == *directory => return Err(error),
        Err(error) => Outcome::Refused(error::with_own_hint(error)),
    };
    Ok(Checked { text, is_shell, outcome })
}

impl Checked {
    fn view(&self) -> VerdictView<'_> {
        match &self.outcome {
            Outcome::Judged { verdict, instead } => {
                let instead = instead.as_ref().map(|(decision, by)| (*decision, by.as_str()));
                VerdictView::judged(&self.text, verdict, instead)
            }
            Outcome::Refused(error) => VerdictView::refused(&self.text, error),
        }
    }

    fn show(&self, args: &CheckArgs) -> Result<Decision, ErrorObject> {
        let view = self.view();
        let written = if args.common.json {
            // Strings, numbers and lists always serialize.
            let json = serde_json::to_string(&view).unwrap_or_default();
            let mut out = io::stdout().lock();
            writeln!(out, "{json}").and_then(|()| out.flush())
        } else {
            let mut text: String =
                view.lines(columns()).iter().map(|line| output::with_codes(line) + "\n").collect();
            if let Some(steps) = args.explain.then(|| view.steps()).flatten() {
                text.push_str(&format!("\norder\n{steps}"));
            }
            let wants_tree = args.explain && self.is_shell && matches!(self.outcome, Outcome::Judged { .. });
            if let Some(tree) = wants_tree.then(|| judge::syntax_tree(&self.text)).flatten() {
                text.push_str(&format!("\ntree\n{tree}"));
            }
            let mut out = anstream::stdout();
            out.write_all(output::own_text(&text).as_bytes()).and_then(|()| out.flush())
        };
        match written {
            // The reader of our output closed it on purpose.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(ErrorObject::invalid(format!("the output can't be written: {error}")))
            }
            _ => Ok(view.decision()),
        }
    }
}

fn columns() -> usize {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return DEFAULT_COLUMNS;
    }
    let columns = rustix::termios::tcgetwinsize(stdout).map_or(0, |size| usize::from(size.ws_col));
    columns.clamp(*COLUMNS.start(), *COLUMNS.end())
}
