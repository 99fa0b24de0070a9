//! What the rules say about a program that is called.

use super::{Basis, Judge};
use crate::characters;
use crate::matching::{Loosely, Strictly};
use crate::programs::{Property, What, base_name, has};
use crate::reach::{Call, Shadowed};
use crate::redirects;
use crate::rules::{Decision, Entry, Prefix};
use crate::verdict::{Part, ReasonCode};
use shellgate_syntax::Word;

impl<'a> Judge<'a> {
    /// What the rules say about the program itself.
    pub(super) fn program(&mut self, call: &Call) -> (Basis, Part) {
        let mut part = Part {
            text: call.text.clone(),
            argv: call.words.iter().map(|word| word.value.known().map(str::to_owned)).collect(),
            span: call.span,
            decision: Decision::Allow,
            rule: None,
            reason: String::new(),
        };
        if self.is_forbidden(call) {
            return (Basis::None, part);
        }
        let Some(name) = call.words.first().and_then(|word| word.value.known()) else {
            let message = "which program it runs can't be known before running".to_owned();
            self.ask(ReasonCode::Unknown, call.span, message).hint =
                Some("write the program's name out".to_owned());
            return (Basis::None, part);
        };
        if call.shadowed == Shadowed::Certainly {
            "a function of this command, judged by its body".clone_into(&mut part.reason);
            return (Basis::Nothing, part);
        }
        self.names(call, name);
        self.place_of_program(call, name);
        let (basis, rule) = self.basis(call);
        match (basis, &self.rules.core) {
            (Basis::None, _) if self.is_steering(call, name) => {
                "steers the shell and runs nothing by itself".clone_into(&mut part.reason);
                return (Basis::Nothing, part);
            }
            (Basis::None, Some(core)) => {
                let hint = allowed(core);
                let nearly = self.nearly(call);
                let decision = if nearly.is_some() || call.shadowed == Shadowed::Maybe {
                    Decision::Ask
                } else {
                    Decision::Deny
                };
                let because = nearly.map_or_else(String::new, |why| format!(": {why}"));
                let message = format!("`{}` is not among the allowed commands{because}", base_name(name));
                let reason = self.push(decision, ReasonCode::NotInCore, call.span, message);
                reason.token = Some(name.to_owned());
                reason.hint = Some(hint);
            }
            (Basis::None, None) => {
                let decision = self.rules.default;
                if decision == Decision::Allow {
                    "no rule objects, and the default is allow".clone_into(&mut part.reason);
                    return (Basis::Everything, part);
                }
                let message = format!("no rule covers `{}`", base_name(name));
                let reason = self.push(decision, ReasonCode::Uncovered, call.span, message);
                reason.token = Some(name.to_owned());
                reason.hint =
                    Some("a `core` list or a `[[policy.rule]]` in the settings can allow it".to_owned());
                if decision == Decision::Ask {
                    // Whoever is asked should know all that it does.
                    return (Basis::Named(0), part);
                }
            }
            _ => {
                "allowed".clone_into(&mut part.reason);
                part.rule = rule;
            }
        }
        (basis, part)
    }

    /// Rules that deny or ask.
    fn is_forbidden(&mut self, call: &Call) -> bool {
        let rules = self.rules;
        let candidate = call.candidate(self.world);
        let excluded = rules.exclude.iter().map(|entry| (entry, Decision::Deny, None));
        let long = rules.rules.iter().filter(|rule| rule.decision != Decision::Allow);
        let long = long.map(|rule| (&rule.entry, rule.decision, rule.reason.as_deref()));
        let mut forbidden = false;
        for (entry, decision, why) in excluded.chain(long) {
            let found = match &entry.prefix {
                Prefix::Everything => Loosely::Yes,
                Prefix::Words(words) => candidate.is_loosely(words),
            };
            let because = why.map_or_else(String::new, |why| format!(": {why}"));
            let shown = call.words.first().and_then(|word| word.value.known()).unwrap_or_default();
            let (decision, code, message) = match (found, decision) {
                (Loosely::No, _) => continue,
                (Loosely::Yes, Decision::Deny) => {
                    forbidden = true;
                    (decision, ReasonCode::Excluded, format!("{} excluded{because}", subject(&entry.prefix)))
                }
                (Loosely::Yes, _) => {
                    (decision, ReasonCode::AskRule, format!("a rule wants a person to be asked{because}"))
                }
                (Loosely::Maybe, _) => (
                    Decision::Ask,
                    ReasonCode::Unknown,
                    "whether a rule excludes it can't be known".to_owned(),
                ),
            };
            let reason = self.push(decision, code, call.span, message);
            reason.rule = Some(entry.shown.clone());
            reason.token = Some(shown.to_owned());
            if code == ReasonCode::Excluded {
                reason.hint =
                    Some("do it without this command, or ask the user to change the rule".to_owned());
            }
        }
        forbidden
    }

    /// A name that isn't what it looks like.
    fn names(&mut self, call: &Call, name: &str) {
        if !name.is_ascii() {
            let message = format!("the program's name `{name}` holds characters that may look like others");
            self.ask(ReasonCode::Characters, call.span, message);
        }
        let mut seen = None;
        for word in &call.words {
            // Without a shell, all words stand for the whole text.
            if seen.replace(word.span) == Some(word.span) {
                continue;
            }
            let raw = word.span.of(self.text);
            if let Some(deceit) = characters::imitating(raw).filter(|_| !raw.contains(['\'', '"', '\\'])) {
                self.ask(ReasonCode::Characters, call.span, format!("it holds {}", deceit.what));
                return;
            }
        }
    }

    /// A path that names a program which may be any.
    fn place_of_program(&mut self, call: &Call, name: &str) {
        if !name.contains('/') {
            return;
        }
        let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if name.starts_with('/') && matches!(parts.first(), Some(&("proc" | "dev"))) {
            let message = format!("which program `{name}` is can't be known before running");
            self.ask(ReasonCode::Unknown, call.span, message);
        }
    }

    /// The rule that allows it; one that names it before one that allows everything.
    fn basis(&self, call: &Call) -> (Basis, Option<String>) {
        let candidate = call.candidate(self.world);
        let mut everything = (Basis::None, None);
        for entry in self.allowing() {
            match &entry.prefix {
                Prefix::Everything => everything = (Basis::Everything, Some(entry.shown.clone())),
                Prefix::Words(words) if candidate.is_strictly(words) == Strictly::Yes => {
                    return (Basis::Named(words.len()), Some(entry.shown.clone()));
                }
                Prefix::Words(_) => {}
            }
        }
        everything
    }

    fn allowing(&self) -> impl Iterator<Item = &'a Entry> {
        let core = self.rules.core.iter().flatten();
        let rules = self.rules.rules.iter().filter(|rule| rule.decision == Decision::Allow);
        core.chain(rules.map(|rule| &rule.entry))
    }

    fn nearly(&self, call: &Call) -> Option<String> {
        let candidate = call.candidate(self.world);
        self.allowing().find_map(|entry| match &entry.prefix {
            Prefix::Everything => None,
            Prefix::Words(words) => match candidate.is_strictly(words) {
                Strictly::Nearly(why) => Some(why),
                Strictly::Yes | Strictly::No => None,
            },
        })
    }

    fn is_steering(&self, call: &Call, name: &str) -> bool {
        if has(name, Property::ActsOnShellOnly) {
            return true;
        }
        // Moving around inside the root is free.
        let moves = call.understood.effects.iter().filter_map(|effect| match &effect.what {
            What::Directory(to) => Some(to),
            _ => None,
        });
        let inside = |to: &Option<Word>| {
            let path = to.as_ref().and_then(|word| redirects::path(&word.value, self.world));
            path.is_some_and(|path| self.is_inside(&path))
        };
        has(name, Property::FreeInsideRoot) && call.words.len() == 2 && moves.into_iter().all(inside)
    }
}

/// The commands of a rule, as the beginning of a sentence.
fn subject(prefix: &Prefix) -> String {
    match prefix {
        Prefix::Everything => "every command is".to_owned(),
        Prefix::Words(words) => format!("`{}` is", words.join(" ")),
    }
}

fn allowed(core: &[Entry]) -> String {
    const SHOWN: usize = 8;
    let names = core.iter().filter_map(|entry| match &entry.prefix {
        Prefix::Words(words) => Some(format!("`{}`", words.join(" "))),
        Prefix::Everything => None,
    });
    let names: Vec<String> = names.collect();
    match names.len() {
        0 => "no command is allowed by the rules in force".to_owned(),
        count if count <= SHOWN => format!("allowed are {}", names.join(", ")),
        count => {
            let shown = names.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
            format!("allowed are {shown} and {} more", count - SHOWN)
        }
    }
}
