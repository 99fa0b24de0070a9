//! `shellgate check`: judges a command without running it.
//!
//! It needs no state folder and changes nothing. [`input`] reads the command, [`page`] writes the verdict for people.

mod input;
mod json;
mod page;

use std::io::{self, Write as _};
use std::process::ExitCode;

use shellgate::ErrorObject;
use shellgate::judge::{self, Decision, Judge, Verdict};
use shellgate::request::Action;
use shellgate::settings::ApprovalMode;

use crate::args::CheckArgs;
use crate::{error, output};

/// Exit codes of the verdicts.
const EXIT_ASK: u8 = 10;
const EXIT_DENY: u8 = 20;
/// Exit code when nothing could be judged.
const EXIT_USAGE: u8 = 2;

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
        /// The decision of `approval.mode` in place of a question, and where it is set.
        mode_override: Option<(Decision, String)>,
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
    let judged = super::request(&args.common, action).and_then(|request| judge.judge(&request));
    let outcome = match judged {
        Ok(verdict) => Outcome::Judged { mode_override: by_mode(&judge, verdict.decision()), verdict },
        // The error is about `--directory`, not about the command.
        Err(error) if directory.is_some() && error.token == *directory => return Err(error),
        Err(error) => Outcome::Refused(error),
    };
    Ok(Checked { text, is_shell, outcome })
}

/// The decision of `approval.mode` in place of a question, and where it is set.
fn by_mode(judge: &Judge, decision: Decision) -> Option<(Decision, String)> {
    let mode_override = match (decision, judge.settings().approval.mode?) {
        (Decision::Ask, ApprovalMode::Allow) => Decision::Allow,
        (Decision::Ask, ApprovalMode::Deny) => Decision::Deny,
        _ => return None,
    };
    let origin = judge.settings().origin("approval.mode").map(ToString::to_string).unwrap_or_default();
    Some((mode_override, format!("approval.mode = {} ({origin})", mode_override.name())))
}

impl Checked {
    fn decision(&self) -> Decision {
        match &self.outcome {
            Outcome::Judged { verdict, mode_override } => {
                mode_override.as_ref().map_or(verdict.decision(), |(mode_override, _)| *mode_override)
            }
            Outcome::Refused(_) => Decision::Deny,
        }
    }

    fn show(&self, args: &CheckArgs) -> Result<Decision, ErrorObject> {
        let decision = self.decision();
        let text = match (&self.outcome, args.common.json) {
            (_, true) => format!("{}\n", self.json(decision)),
            (Outcome::Refused(error), false) => page::refused(error),
            (Outcome::Judged { verdict, mode_override }, false) => {
                let by = mode_override.as_ref().map(|(_, by)| by.as_str());
                let mut text = page::judged(&self.text, verdict, decision, by);
                let tree = (args.explain && self.is_shell).then(|| judge::syntax_tree(&self.text)).flatten();
                if let Some(tree) = tree {
                    text.push_str(&format!("\ntree\n{tree}"));
                }
                text
            }
        };
        let written = if args.common.json {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        } else {
            let mut out = anstream::stdout();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        };
        match written {
            // The reader of our output closed it on purpose.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(ErrorObject::invalid(format!("the output can't be written: {error}")))
            }
            _ => Ok(decision),
        }
    }

    fn json(&self, decision: Decision) -> String {
        match &self.outcome {
            Outcome::Judged { verdict, mode_override } => {
                json::judged(decision, verdict, mode_override.as_ref().map(|(_, by)| by.as_str()))
            }
            Outcome::Refused(error) => json::refused(decision, error, self.place(error.token.as_deref())),
        }
    }

    /// The place of a word in the command; the whole command if it doesn't occur literally.
    fn place(&self, word: Option<&str>) -> [usize; 2] {
        let word = word.filter(|word| !word.is_empty());
        match word.and_then(|word| Some((self.text.find(word)?, word.len()))) {
            Some((start, length)) => [start, start + length],
            None => [0, self.text.len()],
        }
    }
}
