//! Judges a command: compares every call that it leads to with every rule.
//!
//! [`calls`] finds the calls. Each becomes a [`Part`]: [`program`] says what the rules decide about the program, [`effects`]
//! what they decide about what it does besides, and [`granting`] which rules widen what it may reach.
//!
//! | module | decides about |
//! |---|---|
//! | `foretold`, `effect_rules`, `host_rules`, `presets` | what it does; rules about that; what is free where no rule says anything |
//! | `network`, `outputs`, `runners`, `temporary` | what it sends; what programs do that runners start; files that are free |
//! | `ruin` | what would be destroyed for good, whatever the rules allow |
//! | `files`, `instructions`, `perl_opens` | files that it reads and writes; files that agents read; names that are commands |
//! | `credentials`, `told_secrets` | credentials that it reads, by words that may become one; that it is told otherwise |
//! | `variables` | variables that it sets |
//! | `inner_commands` | scripts and commands elsewhere that rules name besides the call |
//! | `descriptors` | files that are descriptors: their content is in the text |
//! | `imports` | code that it finds in its folder |
//! | `unlisted`, `loose`, `word_shapes` | programs without an entry in the tables; words that an entry doesn't explain; what a word looks like |
//! | `outside_words` | words of such programs that may be files outside the root |
//! | `state`, `text_facts`, `links`, `planted`, `content`, `writers` | what one call does to later ones |
//! | `place` | files that no word names |
//! | `repositories`, `staging`, `remotes`, `patches`, `settings_files` | what git finds where it works |
//!
//! Whatever speaks against allowing a call is a [`Reason`]. The strictest reason decides, and what can't be known is never
//! allowed.

mod content;
mod credentials;
mod descriptors;
mod effect_rules;
mod effects;
mod files;
mod foretold;
mod given_texts;
mod granting;
mod host_rules;
mod imports;
mod inner_commands;
mod instructions;
mod links;
mod listed;
mod loose;
mod network;
mod outputs;
mod outside_words;
mod patches;
mod patterns;
mod perl_opens;
mod place;
mod planted;
mod presets;
mod program;
mod remotes;
mod repositories;
mod ruin;
mod runners;
mod settings_files;
mod staging;
mod state;
pub(crate) mod temporary;
mod text_facts;
mod told_secrets;
mod told_to_code;
mod unlisted;
mod variables;
mod word_shapes;
mod writers;

use std::cell::Cell;
use std::collections::HashMap;

use effect_rules::PreparedRule;
use outputs::Outputs;
use ruin::TextValues;
use shellgate_syntax::{Span, Unreadable};
use state::{States, TextState};
use variables::TextVariables;

use crate::calls::{self, Call, FoundCalls, Pipes, Shadowed, Stdin};
use crate::characters;
use crate::machine::Machine;
use crate::programs::{Property, has};
use crate::protection;
use crate::rules::{Decision, Rules};
use crate::verdict::{Part, Reason, ReasonCode, Verdict};

/// What a command is given besides its text.
#[derive(Clone, Debug, Default)]
pub struct CommandContext {
    /// The text on its standard input. `None` without `unknown_input`: standard input is empty.
    pub stdin: Option<String>,
    /// Whether its standard input can't be known before it runs.
    pub unknown_input: bool,
    /// Variables that the caller sets.
    pub variables: Vec<(String, String)>,
    /// What substitutions lead to at least. The rules may be stricter.
    pub substitution: Option<Decision>,
}

impl CommandContext {
    fn input(&self) -> Stdin {
        match &self.stdin {
            Some(text) => Stdin::Text(text.clone()),
            None if self.unknown_input => Stdin::Unknown,
            None => Stdin::Empty,
        }
    }
}

/// Judges a text for bash.
#[must_use]
pub fn judge(text: &str, context: &CommandContext, rules: &Rules, machine: &Machine) -> Verdict {
    let mut judge = Judge::new(text, rules, machine);
    match calls::of_text_again(text, context.input(), machine.program_names()) {
        Ok(found) => judge.judge_calls(&found, context),
        Err(error) => {
            let span = match &error {
                Unreadable::Syntax { span, .. } if span.start < span.end => *span,
                _ => Span::new(0, text.len()),
            };
            judge.deny_unreadable(span, &error.to_string());
        }
    }
    judge.into_verdict(context)
}

/// Judges a program and its arguments, without a shell. `shown` is how people see the command; spans are in that text.
#[must_use]
pub fn judge_argv(
    argv: &[String],
    shown: &str,
    context: &CommandContext,
    rules: &Rules,
    machine: &Machine,
) -> Verdict {
    let mut judge = Judge::new(shown, rules, machine);
    judge.judge_calls(&calls::of_argv(argv, shown, context.input(), machine.program_names()), context);
    judge.into_verdict(context)
}

struct Judge<'a> {
    rules: &'a Rules,
    machine: &'a Machine,
    text: &'a str,
    parts: Vec<Part>,
    reasons: Vec<Reason>,
    /// What the calls so far did to each other, and what any may do.
    states: States,
    /// What holds for the call that is judged.
    state: TextState,
    /// How many calls may make files.
    writing_calls: usize,
    /// Whether a call may make files of python code.
    writes_modules: bool,
    /// Whether a call may make files that `npx` runs.
    writes_tools: bool,
    /// What the calls do to variables.
    variables: TextVariables,
    /// What the text sets variables to.
    values: TextValues,
    /// Variables that hold the output of commands.
    outputs: Outputs,
    /// Variables that hold what `mktemp` made.
    made_temporary: HashMap<String, usize>,
    /// What comes before a call in its pipeline, by the place of the call.
    pipes: Pipes,
    /// The patterns of names that the last call of find looks for.
    found_names: Vec<String>,
    /// How many more spellings of paths are compared with those whose loss is ruin.
    spellings_left: Cell<usize>,
    /// A credential that the text names, or that a call may list for others to read.
    named_secret: Option<String>,
    /// See [`Verdict::granting`].
    granting: Vec<Vec<usize>>,
    /// The rules about what calls do.
    effect_rules: Vec<PreparedRule<'a>>,
}

/// What allows a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// A rule that names it, with so many words.
    Named(usize),
    /// A rule that allows everything.
    Everything,
    /// It needs no rule: it is a function of the command, or a builtin that acts on the shell alone.
    NotNeeded,
    /// Nothing allows it.
    None,
}

impl<'a> Judge<'a> {
    fn new(text: &'a str, rules: &'a Rules, machine: &'a Machine) -> Self {
        let states = States::new(machine.directory());
        let state = TextState::new(machine.directory());
        let (parts, reasons, granting) = (Vec::new(), Vec::new(), Vec::new());
        let mut judge = Self {
            rules,
            machine,
            text,
            parts,
            reasons,
            states,
            state,
            writing_calls: 0,
            writes_modules: false,
            writes_tools: false,
            variables: TextVariables::default(),
            values: TextValues::default(),
            outputs: Outputs::default(),
            made_temporary: HashMap::new(),
            pipes: Pipes::default(),
            found_names: Vec::new(),
            spellings_left: Cell::new(ruin::MAX_SPELLINGS_OF_TEXT),
            named_secret: None,
            granting,
            effect_rules: rules.effects.iter().map(|rule| PreparedRule::new(rule, machine)).collect(),
        };
        if let Some(found) = characters::find_hiding(text) {
            judge.granting.push(Vec::new());
            let number = u32::from(found.character);
            let message = format!("it holds {} (U+{number:04X})", found.description);
            judge.ask(ReasonCode::Characters, found.span, message);
        }
        judge
    }

    fn into_verdict(mut self, context: &CommandContext) -> Verdict {
        let of_text = self.reasons.len();
        for (name, value) in &context.variables {
            self.judge_given_variable(name, value);
            if protection::is_named_in(value, self.machine) {
                self.deny_protected(value, Span::default());
            }
        }
        if self.reasons.len() > of_text {
            // The variables are for every call.
            self.granting.push(Vec::new());
        }
        Verdict::new(self.parts, self.reasons, self.granting)
    }

    /// Adds a reason, to which the caller may add what it knows.
    fn object(&mut self, decision: Decision, code: ReasonCode, span: Span, message: String) -> &mut Reason {
        self.reasons.push(Reason { decision, code, message, span, token: None, rule: None, hint: None });
        let last = self.reasons.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "it was pushed a line above")]
        &mut self.reasons[last]
    }

    /// Adds a reason to ask.
    fn ask(&mut self, code: ReasonCode, span: Span, message: String) -> &mut Reason {
        self.object(Decision::Ask, code, span, message)
    }

    fn deny_protected(&mut self, text: &str, span: Span) {
        let message = "it touches the settings or the record of shellgate itself".to_owned();
        let reason = self.object(Decision::Deny, ReasonCode::Protected, span, message);
        reason.token = Some(text.to_owned());
        reason.hint = Some("leave that to the user; no rule and no approval allows it".to_owned());
    }

    fn deny_unreadable(&mut self, span: Span, message: &str) {
        let message = format!("it can't be read: {message}");
        self.object(Decision::Deny, ReasonCode::ParseError, span, message).hint =
            Some("check quotes, brackets and operators; bash must be able to read it".to_owned());
    }

    fn judge_calls(&mut self, found: &FoundCalls, context: &CommandContext) {
        for problem in &found.unreadable {
            self.deny_unreadable(problem.span, &problem.message);
        }
        for doubt in &found.doubts {
            self.ask(ReasonCode::Uncertain, doubt.span, doubt.message.clone());
        }
        for problem in &found.hazards {
            self.ask(ReasonCode::Unknown, problem.span, problem.message.clone());
        }
        // Code that can't be followed is free where all code is.
        let is_unfollowed = self.rules.forbid_something() && !found.unfollowed.is_empty();
        let is_asked = is_unfollowed && !self.rules.holds_any_code();
        let unfollowed = if is_asked { found.unfollowed.as_slice() } else { &[] };
        for problem in unfollowed {
            self.ask(ReasonCode::Unusual, problem.span, problem.message.clone());
        }
        if !found.doubts.is_empty() || !found.hazards.is_empty() || is_unfollowed {
            // There may be calls that were not found, and no rule names those.
            self.granting.push(Vec::new());
        }
        let decision = self.rules.substitution.max(context.substitution.unwrap_or(Decision::Allow));
        if let Some(span) = found.substitution.filter(|_| decision != Decision::Allow) {
            let message = "it has a substitution, and those are not allowed".to_owned();
            self.object(decision, ReasonCode::Substitution, span, message).hint =
                Some("run the inner command by itself and use its output".to_owned());
        }
        self.values = TextValues::of(found);
        self.outputs = Outputs::of(found, self.text);
        self.made_temporary.clone_from(&found.made_temporary);
        self.pipes.clone_from(&found.pipes);
        self.survey(found);
        self.writing_calls = found.calls.iter().filter(|call| self.may_write(call)).count();
        self.writes_modules = imports::may_write_modules(found);
        self.writes_tools = imports::may_write_tools(found);
        self.variables = TextVariables::of(found);
        self.named_secret = self.secret_in(self.text);
        if self.variables.exported.all && found.defines_functions {
            let message = "it exports functions, which other shells run under their names".to_owned();
            self.ask(ReasonCode::Unusual, Span::new(0, self.text.len()), message);
        }
        let mut respelled = found.respelled.iter().peekable();
        for (at, call) in found.calls.iter().enumerate() {
            self.judge_call(call);
            while let Some((_, call)) = respelled.next_if(|(before, _)| *before <= at + 1) {
                self.judge_respelled(call);
            }
        }
    }

    fn judge_call(&mut self, call: &Call) {
        let first_reason = self.reasons.len();
        self.state = self.state_of(call);
        self.note_listed_secrets(call);
        if let Some(text) = protection::touched(call, self.state.directories.as_deref(), self.machine) {
            self.deny_protected(text, call.span);
        }
        // Before all that is only a question of rules: what is said first is read first.
        self.judge_ruin(call);
        let part = (!call.words.is_empty()).then(|| {
            let (basis, part) = self.judge_program(call);
            self.judge_effects(call, basis);
            (basis, part)
        });
        if !call.in_wrapper {
            // `IFS=, read a b` changes how one line is split, and nothing else.
            let splits_line = call.shadowed == Shadowed::No
                && call.assignments.len() == 1
                && call.program().is_some_and(|name| has(name, Property::SplitsAtIfs));
            for assignment in call.assignments.iter().filter(|one| !(splits_line && one.name == "IFS")) {
                self.judge_call_assignment(call, assignment);
            }
            for redirect in &call.redirects {
                self.judge_redirect(call, redirect);
            }
            // What only redirects is no part, and rules are about what it reads and writes all the same.
            if call.words.is_empty() && !self.effect_rules.is_empty() {
                let effects = self.foretell(call);
                self.is_forbidden_by_effect(call, &effects);
            }
        }
        let of_call = self.reasons.get(first_reason..).unwrap_or_default();
        let basis = part.as_ref().map_or(Basis::NotNeeded, |(basis, _)| *basis);
        self.granting.extend(self.granting(call, basis, of_call));
        if let Some((_, mut part)) = part {
            // The first of the strictest: `max_by_key` takes the last.
            let strictest = of_call.iter().rev().max_by_key(|reason| reason.decision);
            if let Some(strictest) = strictest.filter(|reason| reason.decision > part.decision) {
                part.decision = strictest.decision;
                part.reason.clone_from(&strictest.message);
                part.rule.clone_from(&strictest.rule);
            }
            self.parts.push(part);
        }
        self.follow_state(call);
    }

    /// Whether what a call does besides its name matters: a rule names it, or all may run and something is excluded.
    fn restricts(&self, basis: Basis) -> bool {
        match basis {
            Basis::Named(_) => true,
            Basis::Everything => self.rules.restrict_something(),
            Basis::NotNeeded | Basis::None => false,
        }
    }

    fn is_inside(&self, path: &str) -> bool {
        self.machine.is_inside(path, self.state.directories.as_deref()) && !self.may_follow_link(path)
    }
}
