//! Ruin: what a call would destroy for good. A person is asked about it whatever the rules allow, unless a rule names the very
//! command.
//!
//! The table `ruin.toml` says which calls and which targets. [`targets`] finds the words of a call that are targets, [`places`] says
//! which folders they lead to, [`spelled`](crate::spelled) what a word may spell, [`branches`], [`processes`] and [`statements`] know the targets that are no
//! paths, and [`work`] looks up whether there is anything to lose. Three kinds of ruin aren't in a call's words and have no row:
//! redirects over a device, code that is run as it is fetched, and functions that start themselves without end.

mod branches;
mod places;
mod processes;
mod statements;
mod targets;
mod values;
mod work;

use std::cell::OnceCell;

use shellgate_syntax::{Construct, RedirectOperator, RedirectTarget, Value, Why, Word};

pub(super) use self::places::MAX_SPELLINGS_OF_TEXT;
use self::targets::Target;
pub(super) use self::values::TextValues;
use super::Judge;
use crate::calls::{Call, Shadowed, Stdin, downloads_in, runs_its_input};
use crate::matching::{LooseMatch, StrictMatch};
use crate::programs::words::{
    RUIN_CHANGING_RIGHTS, RUIN_DEVICE_READERS, RUIN_EDITING_PROGRAMS, RUIN_OUTPUT_OPTIONS,
};
use crate::programs::{Canonical, EffectKind, ProgramKind, RuinRow, TargetClass, ruin_rows, understand};
use crate::rules::Prefix;
use crate::verdict::{Reason, ReasonCode};

/// So many words of a program that no table lists are looked at for devices.
const MAX_DEVICE_WORDS: usize = 64;

/// What a call would destroy, and a safer way.
struct Ruin {
    message: String,
    instead: &'static str,
}

impl Judge<'_> {
    /// Asks about what a call would destroy for good.
    pub(super) fn judge_ruin(&mut self, call: &Call) {
        let found = self.ruin_around(call).or_else(|| self.ruin_by_words(call));
        if let Some(ruin) = found {
            self.ask(ReasonCode::Ruin, call.span, ruin.message).hint = Some(ruin.instead.to_owned());
        }
    }

    /// Asks about what a call may come to destroy, with what its words may be. It isn't a part of its own.
    pub(super) fn judge_respelled(&mut self, call: &Call) {
        self.state = self.state_of(call);
        let before = self.reasons.len();
        self.judge_ruin(call);
        // What was asked about the call as it is written isn't said again.
        let is_said = |reason: &Reason| {
            let is_same = |other: &Reason| other.code == ReasonCode::Ruin && other.span == reason.span;
            self.reasons.get(..before).unwrap_or_default().iter().any(is_same)
        };
        if self.reasons.get(before).is_some_and(is_said) {
            self.reasons.truncate(before);
        }
        if self.reasons.len() > before {
            self.granting.push(Vec::new());
        }
    }

    /// Ruin that isn't in the words of a call. No rule can name it.
    fn ruin_around(&self, call: &Call) -> Option<Ruin> {
        if call.around.forks || starts_itself(call) {
            return Some(Ruin {
                message: "it starts itself again and again in the background, until the machine can do nothing else"
                    .to_owned(),
                instead: "end the recursion, and wait for each process",
            });
        }
        if call.shadowed != Shadowed::Certainly && (call.around.runs_fetched || runs_fetched_code(call)) {
            return Some(Ruin {
                message: "it runs what another machine sends, before anybody has read it".to_owned(),
                instead: "download it to a file, read it, and run the file",
            });
        }
        if let Some(ruin) = self.ruin_by_output(call) {
            return Some(ruin);
        }
        let redirects = call.redirects.iter().filter(|_| !call.in_wrapper);
        let mut words = redirects.filter_map(|redirect| match &redirect.target {
            RedirectTarget::Word(word) => Some((word, overwritten_by(redirect.operator))),
            RedirectTarget::Body(_) => None,
        });
        words.find_map(|(word, classes)| {
            let target = self.place_target(call, word, classes, false)?;
            Some(Ruin {
                message: format!("it writes over {}", target.shown),
                instead: "write to a new file, and have a person put it in place",
            })
        })
    }

    /// A device or a file of the system that a program writes because an option names it: `curl -o /dev/sda`. For programs whose
    /// purpose is writing, only devices: the table has the others.
    fn ruin_by_output(&self, call: &Call) -> Option<Ruin> {
        let classes: &[TargetClass] = match call.meaning.kind {
            Some(ProgramKind::Writer) if RUIN_CHANGING_RIGHTS.contains(&call.name()?) => return None,
            Some(ProgramKind::Writer | ProgramKind::Wrapper | ProgramKind::Builtin) => &[TargetClass::Device],
            Some(_) if RUIN_EDITING_PROGRAMS.contains(&call.name()?) => &[TargetClass::Device],
            _ => &[TargetClass::Device, TargetClass::SystemFile],
        };
        let written: Vec<&Word> = match call.meaning.kind {
            Some(_) => call
                .meaning
                .effects
                .iter()
                .filter_map(|effect| match &effect.kind {
                    EffectKind::Writes(word) => Some(word),
                    _ => None,
                })
                .collect(),
            // Of a program that no table lists: what is behind an option that names the output.
            None => {
                let is_option =
                    |word: &Word| word.value.known().is_some_and(|text| RUIN_OUTPUT_OPTIONS.contains(&text));
                let behind = call.words.windows(2).filter(|pair| pair.first().is_some_and(is_option));
                behind.filter_map(<[Word]>::last).collect()
            }
        };
        let by_option = written.into_iter().find_map(|word| self.place_target(call, word, classes, false));
        let target = by_option.or_else(|| self.device_of_unknown_program(call))?;
        Some(Ruin {
            message: format!("it writes over {}", target.shown),
            instead: "write to a new file, and have a person put it in place",
        })
    }

    /// A device among the words of a program that no table lists: `newtool of=/dev/sda`. What it does there isn't known.
    fn device_of_unknown_program(&self, call: &Call) -> Option<Target> {
        let is_unlisted = call.meaning.kind.is_none() && call.shadowed == Shadowed::No;
        call.name().filter(|name| is_unlisted && !RUIN_DEVICE_READERS.contains(name))?;
        call.words.iter().skip(1).take(MAX_DEVICE_WORDS).find_map(|word| {
            let text = word.value.known()?;
            let path = text.split_once('=').map_or(text, |(_, path)| path);
            let path = Word { value: Value::Known(path.to_owned()), ..word.clone() };
            self.place_target(call, &path, &[TargetClass::Device], false)
        })
    }

    /// Ruin by a row of the table.
    fn ruin_by_words(&self, call: &Call) -> Option<Ruin> {
        let program =
            call.program().filter(|_| call.shadowed != Shadowed::Certainly && !call.meaning.prints)?;
        ruin_rows(program, &call.meaning).iter().find_map(|row| {
            if row.targets.is_empty() {
                let is_ruin = self.may_lose(row.when, call, None) && !self.is_named(row, call, None);
                return is_ruin.then(|| Ruin { message: row.destroys.to_owned(), instead: row.instead });
            }
            let targets = self.targets(row, call);
            let target = targets.into_iter().find(|target| {
                self.may_lose(row.when, call, Some(target)) && !self.is_named(row, call, Some(target))
            })?;
            Some(Ruin { message: row.destroys.replace("{target}", &target.shown), instead: row.instead })
        })
    }

    /// Whether a rule that allows the call names what makes it ruin: all of its words, or those of the row and the target.
    fn is_named(&self, row: &RuinRow, call: &Call, target: Option<&Target>) -> bool {
        let candidate = call.candidate(self.machine);
        self.allowing().any(|(entry, except)| {
            let (Prefix::Words(prefix) | Prefix::Exactly(prefix)) = &entry.prefix else { return false };
            let is_excepted = except.iter().any(|one| candidate.loosely(one) != LooseMatch::No);
            if is_excepted || candidate.strictly(&entry.prefix) != StrictMatch::Yes {
                return false;
            }
            prefix.len() == call.words.len() && !call.more_words || names_all(prefix, row, target)
        })
    }
}

/// Whether the words of a rule have all that makes a call ruin.
fn names_all(prefix: &[String], row: &RuinRow, target: Option<&Target>) -> bool {
    let words: Vec<Word> = prefix
        .iter()
        .map(|text| Word { span: shellgate_syntax::Span::default(), value: Value::Known(text.clone()) })
        .collect();
    let meaning = understand(&words);
    let has_target = |target: &Target| {
        let Some(text) = &target.text else { return false };
        meaning.canonical.iter().skip(1).any(|part| match part {
            Canonical::Word(value) | Canonical::Option(_, Some(value)) => value.known() == Some(text),
            Canonical::Option(_, None) => false,
        })
    };
    row.is_named_by(&meaning) && target.is_none_or(has_target)
}

/// What is lost if a redirect writes to it. A line added to a file destroys nothing; on a device it is written over the first one.
const fn overwritten_by(operator: RedirectOperator) -> &'static [TargetClass] {
    use RedirectOperator as Op;
    match operator {
        Op::Write | Op::Clobber | Op::ReadWrite | Op::DuplicateOut | Op::WriteBoth => {
            &[TargetClass::Device, TargetClass::SystemFile, TargetClass::Everything, TargetClass::Git]
        }
        Op::Append | Op::AppendBoth => &[TargetClass::Device],
        _ => &[],
    }
}

/// Whether a call is a function that calls itself in the background, or as a stage of a pipeline without a condition.
fn starts_itself(call: &Call) -> bool {
    let Some(name) = call.program() else { return false };
    let is_own = |construct: &Construct| matches!(construct, Construct::Function(other) if other == name);
    let Some(at) = call.constructs.iter().rposition(is_own) else { return false };
    let inside = call.constructs.get(at + 1..).unwrap_or_default();
    let has = |wanted: &Construct| inside.contains(wanted);
    !has(&Construct::Conditional)
        && (has(&Construct::Background) || has(&Construct::Pipeline) && call.words.len() == 1)
        || has(&Construct::Background) && has(&Construct::Pipeline)
}

/// Whether a call runs code that another machine sends: on its standard input, or by a substitution.
fn runs_fetched_code(call: &Call) -> bool {
    let is_input = |word: &Word| {
        matches!(word.value.known(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
    };
    let downloads = OnceCell::new();
    let is_fetched = |word: &Word| match &word.value {
        Value::Unknown(unknown) if matches!(unknown.why, Why::Process | Why::Substitution) => {
            *downloads.get_or_init(|| downloads_in(&call.text))
        }
        _ => false,
    };
    let input = matches!(call.stdin, Stdin::Fetched);
    call.meaning.effects.iter().any(|effect| match &effect.kind {
        EffectKind::ShellInput(None) | EffectKind::OpaqueInput(_) => input,
        EffectKind::ShellInput(Some(word)) | EffectKind::Opaque(word, _) => {
            input && is_input(word) || is_fetched(word)
        }
        EffectKind::Shell(word) => is_fetched(word),
        EffectKind::Inline(word, _) => {
            is_fetched(word) || input && word.value.known().is_some_and(runs_its_input)
        }
        _ => false,
    })
}
