//! The judgement: every reached call against every rule.
//!
//! [`program`] says what the rules make of a program, [`effects`] what they make of what it does besides.

mod effects;
mod program;

use std::path::PathBuf;

use shellgate_syntax::{Span, Unreadable};

use crate::characters;
use crate::programs::{Property, has};
use crate::protection;
use crate::reach::{self, Call, Feed, Reached, Shadowed};
use crate::rules::{Decision, Rules};
use crate::verdict::{Part, Reason, ReasonCode, Verdict};
use crate::world::World;

/// What a command is given besides its text.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// Text on its standard input. `None` and not `unknown_input`: it is closed.
    pub stdin: Option<String>,
    /// Whether standard input is something that nobody read before.
    pub unknown_input: bool,
    /// Variables that the caller sets.
    pub variables: Vec<(String, String)>,
    /// What substitutions lead to at least, whatever the rules say. `None`: what the rules say.
    pub substitution: Option<Decision>,
}

impl Circumstances {
    fn feed(&self) -> Feed {
        match &self.stdin {
            Some(text) => Feed::Text(text.clone()),
            None if self.unknown_input => Feed::Unknown,
            None => Feed::Nothing,
        }
    }
}

/// Judges a text for bash.
#[must_use]
pub fn judge(text: &str, circumstances: &Circumstances, rules: &Rules, world: &World) -> Verdict {
    let mut judge = Judge::new(text, rules, world);
    match reach::text(text, circumstances.feed()) {
        Ok(reached) => judge.reached(&reached, circumstances),
        Err(error) => {
            let span = match &error {
                Unreadable::Syntax { span, .. } if span.start < span.end => *span,
                _ => Span::new(0, text.len()),
            };
            judge.unreadable(span, &error.to_string());
        }
    }
    judge.verdict(circumstances)
}

/// Judges a program and its arguments. `shown` is how people see it; places are in that.
#[must_use]
pub fn judge_argv(
    argv: &[String],
    shown: &str,
    circumstances: &Circumstances,
    rules: &Rules,
    world: &World,
) -> Verdict {
    let mut judge = Judge::new(shown, rules, world);
    judge.reached(&reach::argv(argv, shown, circumstances.feed()), circumstances);
    judge.verdict(circumstances)
}

struct Judge<'a> {
    rules: &'a Rules,
    world: &'a World,
    text: &'a str,
    parts: Vec<Part>,
    reasons: Vec<Reason>,
    /// Where relative paths may start from. `None`: anywhere.
    directories: Option<Vec<PathBuf>>,
    /// How many calls may make files.
    loud: usize,
}

/// How a call came to be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// By a rule that names it, with so many words.
    Named(usize),
    /// By a rule that allows everything.
    Everything,
    /// It is nothing by itself: a function, an assignment, a builtin that only steers.
    Nothing,
    /// Not at all.
    None,
}

impl<'a> Judge<'a> {
    fn new(text: &'a str, rules: &'a Rules, world: &'a World) -> Self {
        let directories = Some(vec![world.directory().to_owned()]);
        let mut judge =
            Self { rules, world, text, parts: Vec::new(), reasons: Vec::new(), directories, loud: 0 };
        if let Some(deceit) = characters::hiding(text) {
            let number = u32::from(deceit.character);
            judge.ask(
                ReasonCode::Characters,
                deceit.span,
                format!("it holds {} (U+{number:04X})", deceit.what),
            );
        }
        judge
    }

    fn verdict(mut self, circumstances: &Circumstances) -> Verdict {
        for (name, value) in &circumstances.variables {
            self.variable(Some(name), Some(value), Span::default());
            if protection::named(value, self.world) {
                self.protected(value, Span::default());
            }
        }
        let all = self.parts.iter().map(|part| part.decision);
        let decision = all.chain(self.reasons.iter().map(|reason| reason.decision)).max();
        self.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.decision));
        // Nothing at all is found in a comment, or an empty text: nothing runs.
        let decision = decision.unwrap_or(Decision::Allow);
        Verdict { decision, parts: self.parts, reasons: self.reasons }
    }

    fn push(&mut self, decision: Decision, code: ReasonCode, span: Span, message: String) -> &mut Reason {
        let at = self.reasons.len();
        self.reasons.push(Reason { decision, code, message, span, token: None, rule: None, hint: None });
        // Just pushed.
        #[expect(clippy::indexing_slicing, reason = "it was pushed a line above")]
        &mut self.reasons[at]
    }

    fn ask(&mut self, code: ReasonCode, span: Span, message: String) -> &mut Reason {
        self.push(Decision::Ask, code, span, message)
    }

    fn protected(&mut self, text: &str, span: Span) {
        let message = "it touches the settings or the record of shellgate itself".to_owned();
        let reason = self.push(Decision::Deny, ReasonCode::Protected, span, message);
        reason.token = Some(text.to_owned());
        reason.hint = Some("leave that to the user; no rule and no approval allows it".to_owned());
    }

    fn unreadable(&mut self, span: Span, message: &str) {
        self.push(Decision::Deny, ReasonCode::ParseError, span, format!("it can't be read: {message}"))
            .hint = Some("check quotes, brackets and operators; bash must be able to read it".to_owned());
    }

    fn reached(&mut self, reached: &Reached, circumstances: &Circumstances) {
        for note in &reached.unreadable {
            self.unreadable(note.span, &note.message);
        }
        for doubt in &reached.doubts {
            self.ask(ReasonCode::Uncertain, doubt.span, doubt.message.clone());
        }
        for note in &reached.hazards {
            self.ask(ReasonCode::Unknown, note.span, note.message.clone());
        }
        let decision = self.rules.substitution.max(circumstances.substitution.unwrap_or(Decision::Allow));
        if let Some(span) = reached.substitution.filter(|_| decision != Decision::Allow) {
            let message = "it has a substitution, and those are not allowed".to_owned();
            self.push(decision, ReasonCode::Substitution, span, message).hint =
                Some("run the inner command by itself and use its output".to_owned());
        }
        self.loud = reached.calls.iter().filter(|call| self.is_loud(call)).count();
        for call in &reached.calls {
            self.call(call);
        }
    }

    fn call(&mut self, call: &Call) {
        let before = self.reasons.len();
        if let Some(text) = protection::touched(call, self.directories.as_deref(), self.world) {
            self.protected(text, call.span);
        }
        let part = (!call.words.is_empty()).then(|| {
            let (basis, part) = self.program(call);
            self.effects(call, basis);
            part
        });
        if !call.inner {
            // `IFS=, read a b` is how lines are read, and holds for that alone.
            let reads = call.shadowed == Shadowed::No
                && call
                    .words
                    .first()
                    .and_then(|word| word.value.known())
                    .is_some_and(|name| has(name, Property::SplitsAtIfs));
            for assignment in call.assignments.iter().filter(|one| !(reads && one.name == "IFS")) {
                let value = match &assignment.value {
                    shellgate_syntax::Assigned::Scalar(value) => value.known(),
                    _ => None,
                };
                self.variable(Some(&assignment.name), value, call.span);
            }
            for redirect in &call.redirects {
                self.redirect(redirect, call.span);
            }
        }
        if let Some(mut part) = part {
            // The first of the worst.
            let own = self.reasons.get(before..).unwrap_or_default();
            let worst = own.iter().rev().max_by_key(|reason| reason.decision);
            if let Some(worst) = worst.filter(|worst| worst.decision > part.decision) {
                part.decision = worst.decision;
                part.reason.clone_from(&worst.message);
                part.rule.clone_from(&worst.rule);
            }
            self.parts.push(part);
        }
        self.follow_directory(call);
    }

    fn is_inside(&self, path: &str) -> bool {
        self.world.is_inside(path, self.directories.as_deref())
    }
}
