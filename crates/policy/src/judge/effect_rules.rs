//! What rules by effect decide: `effect = "write"`, `path = ["/tmp/**"]`.
//!
//! A rule that denies or asks matches loosely: a target that can't be known may be the one, and what the tables don't explain
//! may be anything. A rule that allows matches strictly: all that a call does must be known, and each effect allowed by a rule or
//! by the preset, or be reading.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Unknown, Value, Why, Word};

use super::{Basis, Judge, host_rules};
use crate::calls::Call;
use crate::effect::{CallEffect, EffectName};
use crate::machine::Machine;
use crate::matching::{LooseMatch, StrictMatch};
use crate::path_patterns::{PathPattern, Strictness};
use crate::paths;
use crate::programs::words;
use crate::programs::{EffectKind, base_name};
use crate::redirects;
use crate::rules::{Decision, EffectRule};
use crate::verdict::ReasonCode;

/// A rule with its patterns, read once for all calls of a command.
pub(super) struct PreparedRule<'a> {
    pub(super) rule: &'a EffectRule,
    pub(super) targets: Vec<PathPattern>,
    pub(super) except: Vec<PathPattern>,
}

impl<'a> PreparedRule<'a> {
    pub(super) fn new(rule: &'a EffectRule, machine: &Machine) -> Self {
        let read = |texts: &[String]| -> Vec<PathPattern> {
            let texts = texts.iter().filter(|_| names_path(rule.effect));
            texts.flat_map(|text| PathPattern::read(text, machine)).collect()
        };
        Self { rule, targets: read(&rule.targets), except: read(&rule.except) }
    }

    /// Whether the rule is about effects of this name, if it denies or asks: a secret is read or written, and what is deleted is
    /// changed.
    fn is_about(&self, effect: EffectName) -> bool {
        match self.rule.effect {
            // Who runs a file reads it: `source .env`.
            EffectName::Read => matches!(effect, EffectName::Read | EffectName::Secret | EffectName::Code),
            EffectName::Write => {
                matches!(effect, EffectName::Write | EffectName::Delete | EffectName::Secret)
            }
            EffectName::Network => matches!(effect, EffectName::Network | EffectName::Publish),
            own => own == effect,
        }
    }
}

/// Whether what such an effect is done to is a path.
pub(super) fn names_path(effect: EffectName) -> bool {
    matches!(
        effect,
        EffectName::Read | EffectName::Write | EffectName::Delete | EffectName::Secret | EffectName::Code
    )
}

impl Judge<'_> {
    /// Applies the rules by effect that deny or ask. True if one denies.
    pub(super) fn is_forbidden_by_effect(&mut self, call: &Call, effects: &[CallEffect]) -> bool {
        let mut found = Vec::new();
        let taken = self.taken_files(call);
        for prepared in self.effect_rules.iter().filter(|one| one.rule.decision != Decision::Allow) {
            let matches =
                effects.iter().chain(&taken).map(|effect| (self.concerns(prepared, call, effect), effect));
            let strictest = matches.filter(|(found, _)| *found != LooseMatch::No);
            let strictest = strictest.min_by_key(|(found, _)| *found == LooseMatch::Maybe);
            if let Some((is_match, effect)) = strictest {
                found.push((prepared.rule, is_match, effect.clone()));
            } else if let Some(named) = self.named_to_code(prepared, call, effects) {
                let effect = CallEffect::new(prepared.rule.effect, Some(named), false);
                found.push((prepared.rule, LooseMatch::Maybe, effect));
            }
        }
        let mut forbidden = false;
        for (rule, is_match, effect) in found {
            let because = rule.reason.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            let (decision, code, message) = match (is_match, rule.decision) {
                (LooseMatch::Yes, Decision::Deny) => {
                    forbidden = true;
                    (Decision::Deny, ReasonCode::Excluded, format!("{} is denied{because}", doing(&effect)))
                }
                (LooseMatch::Yes, _) => {
                    let message =
                        format!("a rule wants a person to be asked about {}{because}", doing(&effect));
                    (Decision::Ask, ReasonCode::AskRule, message)
                }
                (LooseMatch::Maybe | LooseMatch::No, _) => {
                    let message = format!("it may do what a rule is about: {}{because}", named(rule));
                    (Decision::Ask, ReasonCode::Unknown, message)
                }
            };
            let reason = self.object(decision, code, call.span, message);
            reason.rule = Some(rule.shown.clone());
            reason.token = effect.target;
            if decision == Decision::Deny {
                reason.hint = Some("do it otherwise, or ask the user to change the rule".to_owned());
            }
        }
        forbidden
    }

    /// Files that a call puts under another name, where they are read unnoticed: `mv .env x; cat x`.
    fn taken_files(&self, call: &Call) -> Vec<CallEffect> {
        if self.effect_rules.is_empty()
            || !call.name().is_some_and(|name| words::MOVING_PROGRAMS.contains(&name))
        {
            return Vec::new();
        }
        let sources = call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
            EffectKind::Writes(word) => Some(self.of_word(EffectName::Read, word)),
            _ => None,
        });
        sources.collect()
    }

    /// What allows a call by rules about what it does, and the first of these rules.
    pub(super) fn basis_by_effect(&self, call: &Call, effects: &[CallEffect]) -> Option<(Basis, String)> {
        let name = base_name(call.program()?).to_owned();
        let is_plain = call.meaning.kind.is_some()
            && call.candidate(self.machine).strict_match(&[name]) == StrictMatch::Yes;
        let mut first = None;
        for effect in effects {
            match self.allowing_rule(call, effect) {
                Some(rule) => first = first.or(Some(rule)),
                None if effect.known && effect.effect == EffectName::Read => {}
                None if self.preset_frees(effect) => {}
                None => return None,
            }
        }
        first.filter(|_| is_plain).map(|rule| (Basis::Named(1), rule.shown.clone()))
    }

    /// The rule that allows an effect of a call.
    fn allowing_rule(&self, call: &Call, effect: &CallEffect) -> Option<&EffectRule> {
        let rules = self.effect_rules.iter().filter(|one| {
            one.rule.decision == Decision::Allow && one.rule.effect == effect.effect && effect.known
        });
        let mut fitting = rules.filter(|prepared| {
            let rule = prepared.rule;
            match effect.target.as_deref() {
                _ if rule.targets.is_empty() && rule.except.is_empty() => true,
                None => false,
                Some(path) if names_path(rule.effect) => self.allows_path(prepared, path),
                Some(host) => host_rules::allows(rule, call, host),
            }
        });
        fitting.next().map(|prepared| prepared.rule)
    }

    fn allows_path(&self, prepared: &PreparedRule<'_>, path: &str) -> bool {
        let Some(places) = self.resolved_places(path) else { return false };
        let fits = |place: &Place| {
            let all = [Some(place.real.as_path()), place.written.as_deref().filter(|_| path.contains(".."))];
            all.into_iter().flatten().all(|place| {
                let wanted = prepared.rule.targets.is_empty()
                    || any_fits(&prepared.targets, place, Strictness::Strict);
                wanted && !any_fits(&prepared.except, place, Strictness::Loose)
            })
        };
        !self.may_follow_link(path) && places.iter().all(fits)
    }

    /// Whether a rule that allows is about what is done to a file.
    pub(super) fn rule_allows_file(&self, effect: EffectName, word: &Word) -> bool {
        let rules = || {
            let rules = self.effect_rules.iter();
            rules.filter(|one| one.rule.decision == Decision::Allow && one.rule.effect == effect)
        };
        rules().next().is_some()
            && redirects::known_path(&word.value, self.machine)
                .is_some_and(|path| rules().any(|prepared| self.allows_path(prepared, &path)))
    }

    /// Whether a rule that denies or asks is about an effect.
    fn concerns(&self, prepared: &PreparedRule<'_>, call: &Call, effect: &CallEffect) -> LooseMatch {
        let rule = prepared.rule;
        if effect.effect == EffectName::Unknown {
            return LooseMatch::Maybe;
        }
        // Which files code reads that the text doesn't show isn't known; `named_to_code` looks at what it is told.
        let is_any_code = effect.effect == EffectName::Code && effect.target.is_none();
        if !prepared.is_about(effect.effect) || is_any_code && rule.effect != EffectName::Code {
            return LooseMatch::No;
        }
        let target = effect.target.as_deref().filter(|_| effect.known);
        if !names_path(rule.effect) {
            return host_rules::concerns(rule, call, effect);
        }
        let Some((path, places)) = target.and_then(|path| Some((path, self.resolved_places(path)?))) else {
            return match rule.targets.is_empty() {
                true => LooseMatch::Yes,
                false => self.may_concern(prepared, call, effect),
            };
        };
        let is_excepted = |place: &Place| {
            let mut both = [Some(&place.real), place.written.as_ref()].into_iter().flatten();
            both.all(|place| any_fits(&prepared.except, place, Strictness::Strict))
        };
        let follows_link = self.may_follow_link(path);
        if !prepared.except.is_empty() && !follows_link && places.iter().all(is_excepted) {
            return LooseMatch::No;
        }
        let is_wanted = |place: &Place| {
            let mut both = [Some(&place.real), place.written.as_ref()].into_iter().flatten();
            rule.targets.is_empty() || both.any(|place| any_fits(&prepared.targets, place, Strictness::Loose))
        };
        let holds = |place: &Place| prepared.targets.iter().any(|pattern| pattern.is_below(&place.real));
        let is_holding = places.iter().any(holds);
        match (places.iter().any(is_wanted), is_holding || follows_link) {
            (true, _) => LooseMatch::Yes,
            // Who deletes a folder deletes what is in it.
            (false, _) if is_holding && effect.effect == EffectName::Delete => LooseMatch::Yes,
            (false, true) => LooseMatch::Maybe,
            (false, false) => LooseMatch::No,
        }
    }

    /// Whether a rule may be about a target that can't be known. Of a pattern of the shell (`src/*.md`) it is known how the names
    /// begin and end.
    fn may_concern(&self, prepared: &PreparedRule<'_>, call: &Call, effect: &CallEffect) -> LooseMatch {
        let words = call.meaning.effects.iter().filter_map(|one| match &one.kind {
            EffectKind::Reads(word) | EffectKind::Writes(word) => Some(word),
            _ => None,
        });
        let shown = effect.target.as_deref().unwrap_or_default().trim_end_matches('…');
        let mut unknown = words.filter_map(|word| match &word.value {
            Value::Unknown(unknown) if unknown.lead == shown => {
                // The variable of a loop over names has any of them.
                Some((unknown, call.written(word).unwrap_or_default()))
            }
            _ => None,
        });
        let may = |(unknown, written): (&Unknown, &str)| {
            // What find fills in may be hidden, and has one of the names that it looks for.
            if written.contains("{}") {
                let may_be =
                    |pattern: &PathPattern| self.found_names.iter().any(|name| pattern.may_be_found_as(name));
                return self.found_names.is_empty() || prepared.targets.iter().any(may_be);
            }
            let is_written = !written.is_empty() && !written.contains('$');
            let (folder, name) = unknown.lead.rsplit_once('/').unwrap_or((".", &unknown.lead));
            let is_pattern = is_written && unknown.why == Why::Glob && !unknown.lead.starts_with('~');
            let folder = if unknown.lead.starts_with('/') && folder.is_empty() { "/" } else { folder };
            match self.resolved_places(folder).filter(|_| is_pattern) {
                Some(places) => prepared.targets.iter().any(|pattern| {
                    // `s*/x` is about folders; only a pattern of one name says how the file is called.
                    let tail = unknown.tail.as_deref().filter(|tail| !tail.contains('/'));
                    let may_be = |place: &Place| {
                        // Behind the last sign of the pattern the text stands for itself.
                        let end = |tail: &'_ str| {
                            tail.rsplit(['*', '?', ']', ')']).next().unwrap_or_default().len()
                        };
                        tail.is_none_or(|tail| {
                            let end = tail.len().saturating_sub(end(tail));
                            pattern.may_have_name(&place.real, name, tail.get(end..).unwrap_or_default())
                        }) && pattern.may_fit_below(&place.real)
                    };
                    places.iter().any(may_be)
                }),
                None => true,
            }
        };
        let first = unknown.next();
        let is_any = match first {
            Some(first) => may(first) || unknown.any(may),
            None => true,
        };
        if is_any { LooseMatch::Maybe } else { LooseMatch::No }
    }

    /// Where a path leads from each folder that the call may start in. `None`: anywhere.
    pub(super) fn resolved_places(&self, path: &str) -> Option<Vec<Place>> {
        let root = [PathBuf::from("/")];
        let folders = match path.starts_with('/') {
            true => &root,
            false => self.state.directories.as_deref()?,
        };
        let place = |from: &PathBuf| Place {
            real: self.machine.cached_destination(from, path),
            written: Some(paths::without_links(&from.join(path))),
        };
        Some(folders.iter().map(place).collect())
    }
}

/// Where a path leads.
pub(super) struct Place {
    /// Links followed.
    pub(super) real: PathBuf,
    /// As it is written, without `..`.
    written: Option<PathBuf>,
}

pub(super) fn any_fits(patterns: &[PathPattern], place: &Path, strictness: Strictness) -> bool {
    patterns.iter().any(|pattern| pattern.fits(place, strictness))
}

/// What a call does, for a sentence.
fn doing(effect: &CallEffect) -> String {
    let what = match effect.effect {
        EffectName::Machine => "changing the machine",
        EffectName::Publish => "publishing",
        EffectName::Delete => "deleting",
        EffectName::Secret => "using the secret",
        EffectName::Unknown => "what can't be known",
        EffectName::Network => "reaching the network",
        EffectName::Code => "running code",
        EffectName::Write => "writing",
        EffectName::Read => "reading",
    };
    match &effect.target {
        Some(target) => format!("{what} `{target}`"),
        None => what.to_owned(),
    }
}

/// What a rule is about.
fn named(rule: &EffectRule) -> String {
    match rule.targets.as_slice() {
        [] => rule.effect.to_string(),
        targets => format!("{} `{}`", rule.effect, targets.join("`, `")),
    }
}
