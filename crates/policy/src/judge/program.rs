//! What the rules decide about a program that is called.

use super::{Basis, Judge};
use crate::calls::{Call, Origin, Shadowed};
use crate::characters;
use crate::machine::Found;
use crate::matching::{self, Candidate, LooseMatch, StrictMatch};
use crate::paths;
use crate::programs::{
    CallMeaning, EffectKind, Property, base_name, has, is_multi_call, listed_name, understand,
};
use crate::redirects;
use crate::rules::{Decision, Entry, Prefix, Rules};
use crate::verdict::{Part, Reason, ReasonCode};
use shellgate_syntax::Word;

impl<'a> Judge<'a> {
    /// Judges the program itself. Its effects may make the part stricter.
    pub(super) fn judge_program(&mut self, call: &Call) -> (Basis, Part) {
        let mut part = Part {
            text: call.text.clone(),
            argv: call.words.iter().map(|word| word.value.known().map(str::to_owned)).collect(),
            span: call.span,
            decision: Decision::Allow,
            rule: None,
            reason: String::new(),
            effects: self.foretell(call),
        };
        let before = self.reasons.len();
        let is_forbidden = self.is_forbidden(call);
        if self.is_forbidden_by_effect(call, &part.effects) || is_forbidden {
            return (Basis::None, part);
        }
        // Who is asked because a rule says so needs no further reason.
        let asks = |reason: &Reason| reason.code == ReasonCode::AskRule;
        let is_asked = self.reasons.get(before..).unwrap_or_default().iter().any(asks);
        let Some(name) = call.program() else {
            let message = "which program it runs can't be known before running".to_owned();
            self.ask(ReasonCode::Unknown, call.span, message).hint =
                Some("write the program's name out".to_owned());
            return (Basis::None, part);
        };
        if call.shadowed == Shadowed::Certainly {
            "a function of this command, judged by its body".clone_into(&mut part.reason);
            return (Basis::NotNeeded, part);
        }
        self.check_characters(call, name);
        self.check_path(call, name);
        let (mut basis, mut rule) = self.basis(call);
        if let Some((by_effect, shown)) =
            self.basis_by_effect(call, &part.effects).filter(|_| basis == Basis::None)
        {
            (basis, rule) = (by_effect, Some(shown));
        }
        if basis == Basis::None && !self.needs_no_rule(call, name) {
            basis = self.preset_basis(call, name, &part.effects);
            rule = self.rules.preset.map(|preset| format!("preset: {preset}"));
        }
        match (basis, &self.rules.core) {
            (Basis::None, _) if self.needs_no_rule(call, name) => {
                "acts on the shell and runs nothing by itself".clone_into(&mut part.reason);
                return (Basis::NotNeeded, part);
            }
            (Basis::None, Some(_)) if self.rules.beyond_core == Decision::Allow => {
                "no rule objects, and the default is allow".clone_into(&mut part.reason);
                return (Basis::Everything, part);
            }
            (Basis::None, core) if is_asked && self.uncovered(core.is_some()) == Decision::Ask => {
                return (Basis::Named(0), part);
            }
            (Basis::None, Some(core)) => {
                let hint = allowed(core);
                let nearly = self.nearly(call);
                // That a shell comes to read it is supposed, and not certain.
                let is_doubtful = call.shadowed == Shadowed::Maybe || call.origin == Origin::Supposed;
                let decision =
                    if nearly.is_some() || is_doubtful { Decision::Ask } else { self.rules.beyond_core };
                let because = nearly.map_or_else(String::new, |why| format!(": {why}"));
                let message = format!("`{}` is not among the allowed commands{because}", base_name(name));
                let reason = self.object(decision, ReasonCode::NotInCore, call.span, message);
                reason.token = Some(name.to_owned());
                reason.hint = Some(hint);
                if self.rules.beyond_core == Decision::Ask {
                    // The person who is asked should see everything that it does.
                    return (Basis::Named(0), part);
                }
            }
            (Basis::None, None) => {
                let decision = self.rules.default;
                if decision == Decision::Allow {
                    "no rule objects, and the default is allow".clone_into(&mut part.reason);
                    return (Basis::Everything, part);
                }
                let message = format!("no rule covers `{}`", base_name(name));
                let reason = self.object(decision, ReasonCode::Uncovered, call.span, message);
                reason.token = Some(name.to_owned());
                reason.hint =
                    Some("an `allow` entry or a `[[policy.rule]]` in the settings can allow it".to_owned());
                if decision == Decision::Ask {
                    // The person who is asked should see everything that it does.
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

    /// What happens to a call that no rule covers.
    fn uncovered(&self, has_core: bool) -> Decision {
        if has_core { self.rules.beyond_core } else { self.rules.default }
    }

    /// Applies the rules that deny or ask. True if one denies.
    fn is_forbidden(&mut self, call: &Call) -> bool {
        let rules = self.rules;
        let candidate = call.candidate(self.machine);
        let excluded = rules.exclude.iter().map(|entry| (entry, Decision::Deny, None, [].as_slice()));
        let long = rules.rules.iter().filter(|rule| rule.decision != Decision::Allow);
        let long =
            long.map(|rule| (&rule.entry, rule.decision, rule.reason.as_deref(), rule.except.as_slice()));
        let mut forbidden = false;
        let started = if rules.restrict_something() { started_by(call, rules) } else { Vec::new() };
        for (entry, decision, why, except) in excluded.chain(long) {
            let found = candidate.loosely(&entry.prefix);
            if found != LooseMatch::No && except.iter().any(|one| candidate.is_described_by(one.words())) {
                continue;
            }
            if found == LooseMatch::No
                && let Some((name, _, _)) = started.iter().find(|(_, all, meaning)| {
                    let started = Candidate { words: all, meaning, ..candidate };
                    started.loosely(&entry.prefix) != LooseMatch::No
                })
            {
                let message = format!("it starts `{name}`, and {} excluded", subject(&entry.prefix));
                self.ask(ReasonCode::Excluded, call.span, message).rule = Some(entry.shown.clone());
                continue;
            }
            let because = why.map_or_else(String::new, |why| format!(": {why}"));
            let shown = call.program().unwrap_or_default();
            let (decision, code, message) = match (found, decision) {
                (LooseMatch::No, _) => continue,
                (LooseMatch::Yes, Decision::Deny) => {
                    forbidden = true;
                    (decision, ReasonCode::Excluded, format!("{} excluded{because}", subject(&entry.prefix)))
                }
                (LooseMatch::Yes, _) => {
                    (decision, ReasonCode::AskRule, format!("a rule wants a person to be asked{because}"))
                }
                (LooseMatch::Maybe, _) => (
                    Decision::Ask,
                    ReasonCode::Unknown,
                    "whether a rule excludes it can't be known".to_owned(),
                ),
            };
            let reason = self.object(decision, code, call.span, message);
            reason.rule = Some(entry.shown.clone());
            reason.token = Some(shown.to_owned());
            if code == ReasonCode::Excluded {
                reason.hint =
                    Some("do it without this command, or ask the user to change the rule".to_owned());
            }
        }
        forbidden
    }

    /// Asks if the name or another word isn't what it looks like.
    fn check_characters(&mut self, call: &Call, name: &str) {
        if !name.is_ascii() {
            let message = format!("the program's name `{name}` holds characters that may look like others");
            self.ask(ReasonCode::Characters, call.span, message);
        }
        let mut seen = None;
        for word in &call.words {
            // Without a shell, all words have the span of the whole text.
            if seen.replace(word.span) == Some(word.span) {
                continue;
            }
            let raw = word.span.of(self.text);
            if let Some(found) = characters::find_imitating(raw).filter(|_| !raw.contains(['\'', '"', '\\']))
            {
                self.ask(ReasonCode::Characters, call.span, format!("it holds {}", found.description));
                return;
            }
        }
    }

    /// Asks if the program is named by a path that may be any program: `/proc/self/exe`, by any spelling.
    fn check_path(&mut self, call: &Call, name: &str) {
        if !name.contains('/') {
            return;
        }
        let start = [self.machine.directory().to_owned()];
        let folders = self.state.directories.as_deref().unwrap_or(&start);
        if folders.iter().any(|folder| paths::depends_on_process(&folder.join(name))) {
            let message = format!("which program `{name}` is can't be known before running");
            self.ask(ReasonCode::Unknown, call.span, message);
        }
        if let Some(other) = self.other_program(name) {
            let message = format!("`{name}` leads to `{other}`, which is another program");
            self.ask(ReasonCode::Unknown, call.span, message);
        }
    }

    /// The name of the file that a path leads to, if the tables know that as another program than the path's own name. A
    /// program of the system may have several names, and acts by the one that it is called by.
    fn other_program(&self, path: &str) -> Option<String> {
        let name = base_name(path);
        if matches!(self.machine.find(name), Found::Trusted(file) if file.to_str() == Some(path)) {
            return None;
        }
        let file = self.machine.program_file(path)?;
        let other = file.file_name()?.to_str()?;
        let is_other = listed_name(other) != listed_name(name) && listed_name(name).is_some();
        (other != name && is_other && !is_multi_call(other)).then(|| other.to_owned())
    }

    /// The rule that allows the call. One that names it goes before one that allows everything.
    fn basis(&self, call: &Call) -> (Basis, Option<String>) {
        let candidate = call.candidate(self.machine);
        let mut everything = (Basis::None, None);
        for (entry, except) in self.allowing() {
            if except.iter().any(|one| candidate.loosely(one) != LooseMatch::No) {
                continue;
            }
            match &entry.prefix {
                Prefix::Everything => everything = (Basis::Everything, Some(entry.shown.clone())),
                prefix if candidate.strictly(prefix) == StrictMatch::Yes => {
                    let named = prefix.words().iter().take_while(|word| *word != "*").count();
                    return (Basis::Named(named), Some(entry.shown.clone()));
                }
                Prefix::Words(_) | Prefix::Exactly(_) | Prefix::Pattern(_) => {}
            }
        }
        everything
    }

    /// The rules that allow something, each with what it isn't about.
    pub(super) fn allowing(&self) -> impl Iterator<Item = (&'a Entry, &'a [Prefix])> {
        let core = self.rules.core.iter().flatten().map(|entry| (entry, [].as_slice()));
        let rules = self.rules.rules.iter().filter(|rule| rule.decision == Decision::Allow);
        core.chain(rules.map(|rule| (&rule.entry, rule.except.as_slice())))
    }

    /// Why a rule that names the words of the call doesn't allow it, if there is such a rule.
    fn nearly(&self, call: &Call) -> Option<String> {
        let candidate = call.candidate(self.machine);
        self.allowing().find_map(|(entry, _)| match candidate.strictly(&entry.prefix) {
            StrictMatch::Nearly(why) => Some(why),
            StrictMatch::Yes | StrictMatch::No => None,
        })
    }

    /// Whether a builtin needs no rule: it acts on the shell alone, or moves inside the root.
    fn needs_no_rule(&self, call: &Call, name: &str) -> bool {
        if has(name, Property::ActsOnShellOnly) {
            return true;
        }
        let moves = call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
            EffectKind::Directory(to) => Some(to),
            _ => None,
        });
        let inside = |to: &Option<Word>| {
            let path = to.as_ref().and_then(|word| redirects::known_path(&word.value, self.machine));
            path.is_some_and(|path| self.is_inside(&path))
        };
        has(name, Property::FreeInsideRoot) && call.words.len() == 2 && moves.into_iter().all(inside)
    }
}

/// The commands that a call starts by itself, each with the name of its program and its meaning.
fn started_by(call: &Call, rules: &Rules) -> Vec<(String, Vec<Word>, CallMeaning)> {
    let entries = rules.exclude.iter().chain(rules.rules.iter().map(|rule| &rule.entry));
    let named: Vec<&str> =
        entries.filter_map(|entry| entry.prefix.words().first().map(|word| base_name(word))).collect();
    // Most started programs are none that a rule names.
    let is_named = |name: &str| {
        named.iter().any(|other| {
            *other == name
                || other.contains('*')
                || listed_name(other).is_some_and(|own| Some(own) == listed_name(name))
        })
    };
    let commands = matching::started(&call.words, &call.meaning).into_iter();
    let commands = commands.filter_map(|words| {
        let name = words.first().map_or("", |word| word.value.lead()).to_owned();
        is_named(&name).then(|| {
            let meaning = understand(&words);
            (name, words, meaning)
        })
    });
    commands.collect()
}

/// The commands of a rule, as the beginning of a sentence.
fn subject(prefix: &Prefix) -> String {
    match prefix {
        Prefix::Everything => "every command is".to_owned(),
        Prefix::Words(words) | Prefix::Exactly(words) | Prefix::Pattern(words) => {
            format!("`{}` is", words.join(" "))
        }
    }
}

/// The allowed commands, as a hint.
fn allowed(core: &[Entry]) -> String {
    const SHOWN: usize = 8;
    let names = core.iter().filter_map(|entry| match &entry.prefix {
        Prefix::Words(words) | Prefix::Exactly(words) | Prefix::Pattern(words) => {
            Some(format!("`{}`", words.join(" ")))
        }
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
