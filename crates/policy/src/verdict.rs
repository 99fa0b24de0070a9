//! The verdict about a command: what may happen, and why.
//!
//! Only this crate makes a [`Verdict`], and its decision is always that of its strictest reason. So there is no verdict
//! that asks or denies without a reason, and nothing can loosen one.

use shellgate_syntax::Span;

use crate::effect::CallEffect;
use crate::rules::Decision;

/// What the rules say about one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    decision: Decision,
    parts: Vec<Part>,
    reasons: Vec<Reason>,
    granting: Vec<Vec<usize>>,
}

impl Verdict {
    /// The verdict that these reasons lead to. Without a reason it allows.
    pub(crate) fn new(parts: Vec<Part>, mut reasons: Vec<Reason>, granting: Vec<Vec<usize>>) -> Self {
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.decision));
        let decision = reasons.first().map_or(Decision::Allow, |reason| reason.decision);
        Self { decision, parts, reasons, granting }
    }

    /// The decision of the strictest reason. Without a reason: allow.
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Every program call that was found, in the order of the text, at any depth.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Why the command isn't allowed, the strictest reasons first. Empty if it is allowed.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// For each call that reaches something by itself: the rules of the long form that name it exactly and so widen what
    /// it may reach, by their place in [`Rules::rules`](crate::Rules::rules).
    #[must_use]
    pub fn granting(&self) -> &[Vec<usize>] {
        &self.granting
    }

    /// The stricter of two verdicts about the same command; this one if they are equally strict. Only rules of this one
    /// grant anything.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        if other.decision > self.decision { Self { granting: self.granting, ..other } } else { self }
    }

    /// Puts what a command was found to need before the other reasons. A verdict that denies still denies.
    pub fn require_needs(&mut self, needs: Vec<String>) {
        self.decision = self.decision.max(Decision::Ask);
        let reasons = needs.into_iter().map(|message| Reason {
            decision: Decision::Ask,
            code: ReasonCode::Need,
            message,
            span: Span::default(),
            token: None,
            rule: None,
            hint: None,
        });
        // Those that deny stay first.
        let at = self.reasons.iter().take_while(|reason| reason.decision > Decision::Ask).count();
        self.reasons.splice(at..at, reasons);
    }

    /// Adds a reason to ask a person. A verdict that denies still denies.
    pub fn require_approval(&mut self, message: String) {
        self.decision = self.decision.max(Decision::Ask);
        // No reason is less strict than this one, so the strictest are still first.
        self.reasons.push(Reason {
            decision: Decision::Ask,
            code: ReasonCode::Unknown,
            message,
            span: Span::default(),
            token: None,
            rule: None,
            hint: None,
        });
    }
}

/// One program call and what is decided about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its text. For a call inside a quoted text, its part of that text.
    pub text: String,
    /// The words; `None` for one that can't be known before running.
    pub argv: Vec<Option<String>>,
    /// Where it is in the command, in bytes. A call inside a quoted text has the place of that text.
    pub span: Span,
    /// What may happen with it.
    pub decision: Decision,
    /// The rule that decided, with the place where it is written.
    pub rule: Option<String>,
    /// Why, as a fragment for people.
    pub reason: String,
    /// What it does, the worst first.
    pub effects: Vec<CallEffect>,
}

/// A reason for asking or denying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What it leads to by itself.
    pub decision: Decision,
    /// The kind of reason.
    pub code: ReasonCode,
    /// A fragment for people.
    pub message: String,
    /// Where in the command.
    pub span: Span,
    /// The word that causes it.
    pub token: Option<String>,
    /// The rule, with the place where it is written.
    pub rule: Option<String>,
    /// What would make it pass.
    pub hint: Option<String>,
}

/// Kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasonCode {
    /// Bash would not read it, or it is more than we read.
    ParseError,
    /// Two readers of bash don't agree on what it says.
    Uncertain,
    /// A rule forbids it.
    Excluded,
    /// An allowlist doesn't have it.
    NotInCore,
    /// A rule says that a person is asked.
    AskRule,
    /// No rule covers it.
    Uncovered,
    /// What it runs can't be known from the text.
    Unknown,
    /// It sets a variable that loads code or changes what programs do.
    Assignment,
    /// It has a substitution, and those are not allowed.
    Substitution,
    /// It writes a file.
    Write,
    /// It reads or writes outside the root.
    Outside,
    /// It holds characters that deceive readers.
    Characters,
    /// It uses a program in a way that is not plain.
    Unusual,
    /// It touches shellgate's own settings, record or sockets.
    Protected,
    /// It would destroy what can't be brought back.
    Ruin,
    /// A trial has shown that it needs this.
    Need,
}

impl ReasonCode {
    /// Its name for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ParseError => "parse_error",
            Self::Uncertain => "uncertain",
            Self::Excluded => "excluded",
            Self::NotInCore => "not_in_core",
            Self::AskRule => "ask_rule",
            Self::Uncovered => "uncovered",
            Self::Unknown => "unknown",
            Self::Assignment => "assignment",
            Self::Substitution => "substitution",
            Self::Write => "write",
            Self::Outside => "outside",
            Self::Characters => "characters",
            Self::Unusual => "unusual",
            Self::Protected => "protected",
            Self::Ruin => "ruin",
            Self::Need => "need",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(decisions: &[Decision]) -> Verdict {
        let reason = |decision: &Decision| Reason {
            decision: *decision,
            code: ReasonCode::Unknown,
            message: "for a reason".to_owned(),
            span: Span::default(),
            token: None,
            rule: None,
            hint: None,
        };
        Verdict::new(Vec::new(), decisions.iter().map(reason).collect(), Vec::new())
    }

    #[test]
    fn the_strictest_reason_decides_and_comes_first() {
        assert_eq!(verdict(&[]).decision(), Decision::Allow);
        let mixed = verdict(&[Decision::Ask, Decision::Deny, Decision::Ask]);
        assert_eq!(mixed.decision(), Decision::Deny);
        assert_eq!(mixed.reasons()[0].decision, Decision::Deny);
    }

    #[test]
    fn a_verdict_only_gets_stricter() {
        let mut allowed = verdict(&[]);
        allowed.require_approval("a person should see it".to_owned());
        assert_eq!((allowed.decision(), allowed.reasons().len()), (Decision::Ask, 1));
        let mut denied = verdict(&[Decision::Deny]);
        denied.require_approval("a person should see it".to_owned());
        assert_eq!(denied.decision(), Decision::Deny);
        let mut needy = verdict(&[Decision::Ask]);
        needy.require_needs(vec!["it writes".to_owned()]);
        assert_eq!((needy.decision(), needy.reasons()[0].code), (Decision::Ask, ReasonCode::Need));
        denied.require_needs(vec!["it writes".to_owned()]);
        assert_eq!((denied.decision(), denied.reasons()[0].decision), (Decision::Deny, Decision::Deny));
        assert_eq!(verdict(&[Decision::Ask]).stricter(denied.clone()), denied);
        assert_eq!(denied.clone().stricter(verdict(&[])), denied);
    }
}
