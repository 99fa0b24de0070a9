//! What the rules decide about variables that a command sets.

use std::collections::{BTreeSet, HashSet};

use shellgate_syntax::{Assigned, Assignment, Span, Unknown, Value, Why, Word};

use super::Judge;
use super::effects::names;
use super::word_shapes::{in_command_position, runs_commands};
use crate::calls::{Call, FoundCalls};
use crate::programs::{
    EffectKind, ProgramKind, Property, VariableEffect, VariableRow, base_name, has, is_listed_variable,
    kind_of, understand, variable, words,
};
use crate::redirects::{self, FileAccess};
use crate::verdict::ReasonCode;

/// A program that reads its variables like words of its call, and whose entry has the grammar of those words.
const READER_OF_VARIABLES: &str = "make";

/// Stands in a value of PATH for what PATH was.
const OWN_SEARCH_PATH: &str = "$PATH";

/// Who sees a variable that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audience {
    /// The programs that are started with it.
    Programs,
    /// The shell alone, unless the variable came in from outside.
    Shell,
}

/// What the calls of a text do to variables.
#[derive(Debug, Default)]
pub(super) struct TextVariables {
    /// Variables that the shell exports, or may.
    pub(super) exported: Exported,
    /// Variables that `export` or `declare -x` names.
    named: BTreeSet<String>,
    /// Whether a call takes variables for words: see [`Property::TakesVariablesAsOperands`].
    are_operands: bool,
}

impl TextVariables {
    /// Who sees a variable of this name that the shell sets.
    fn audience(&self, name: &str) -> Audience {
        if self.exported.all || self.named.contains(name) { Audience::Programs } else { Audience::Shell }
    }

    pub(super) fn of(found: &FoundCalls) -> Self {
        let takes = |call: &Call| {
            call.program().is_some_and(|name| has(base_name(name), Property::TakesVariablesAsOperands))
        };
        Self {
            exported: Exported::find(&found.calls),
            named: found.calls.iter().flat_map(exported_names).map(str::to_owned).collect(),
            are_operands: found.calls.iter().any(takes),
        }
    }
}

impl Judge<'_> {
    /// Judges a variable that a call is given, or that the shell sets.
    pub(super) fn judge_call_assignment(&mut self, call: &Call, assignment: &Assignment) {
        let name = assignment.name.as_str();
        let value = match &assignment.value {
            // What is added may complete a value that is harmless by itself.
            Assigned::Scalar(value) if !assignment.append => Some(value),
            _ => None,
        };
        let is_words = !call.words.is_empty();
        let audience =
            if is_words || self.variables.exported.has(name) { Audience::Programs } else { Audience::Shell };
        let search_path = Some(assignment.span.of(self.text))
            .filter(|_| name == "PATH")
            .and_then(|text| self.search_path_of(text));
        let known = value.and_then(Value::known).or(search_path.as_deref().filter(|_| !assignment.append));
        if self.judge_assignment(Some(name), known, call.span, audience) {
            return;
        }
        let audience = if is_words { Audience::Programs } else { self.variables.audience(name) };
        match &assignment.value {
            Assigned::Scalar(value) => self.judge_value(name, Some(value), call.span, audience),
            Assigned::Array(values) | Assigned::ByShell(values) if !values.is_empty() => {
                for value in values {
                    self.judge_value(name, Some(value), call.span, audience);
                }
            }
            Assigned::Array(_) | Assigned::ByShell(_) => self.judge_value(name, None, call.span, audience),
        }
    }

    /// Judges a variable that a word of a call sets: `export NAME=VALUE`, `env NAME=VALUE`, `read NAME`.
    pub(super) fn judge_assigning_word(
        &mut self,
        call: &Call,
        name: &Value,
        value: Option<&Value>,
        span: Span,
    ) {
        let search_path = Some(span.of(self.text))
            .filter(|_| name.known() == Some("PATH"))
            .and_then(|text| self.search_path_of(text));
        let known = value.and_then(Value::known).or(search_path.as_deref());
        if self.judge_assignment(name.known(), known, span, Audience::Programs) {
            return;
        }
        // The words of make are judged by its own grammar.
        let is_operand =
            call.program().is_some_and(|name| has(base_name(name), Property::TakesVariablesAsOperands));
        if let Some(name) = name.known().filter(|_| !is_operand) {
            let is_builtin = call.meaning.kind == Some(ProgramKind::Builtin);
            let audience = if is_builtin { self.variables.audience(name) } else { Audience::Programs };
            self.judge_value(name, value, span, audience);
        }
    }

    /// Judges a variable that the caller gives to the whole command.
    pub(super) fn judge_given_variable(&mut self, name: &str, value: &str) {
        if !self.judge_assignment(Some(name), Some(value), Span::default(), Audience::Programs) {
            let value = Value::Known(value.to_owned());
            self.judge_value(name, Some(&value), Span::default(), Audience::Programs);
        }
    }

    /// Judges a variable that is set for some `audience`, by its name and by the programs that it names. A name or value of
    /// `None` can't be known. Returns whether something speaks against it.
    fn judge_assignment(
        &mut self,
        name: Option<&str>,
        value: Option<&str>,
        span: Span,
        audience: Audience,
    ) -> bool {
        let matters = |row: &&VariableRow| {
            let is_seen = audience == Audience::Programs || !row.only_exported;
            is_seen && !value.is_some_and(|value| row.is_harmless(value))
        };
        let row = name.and_then(variable).filter(matters);
        let is_own_path = row.is_some() && value.is_some_and(|value| self.is_own_path(name, value));
        let row = row.filter(|_| !is_own_path);
        let is_held = row.is_some_and(|row| self.is_held_variable(row, audience));
        if is_held || is_own_path {
            // The preset allows it, but a rule's grant is for the named program, and not for code that a variable loads into it, or
            // finds in its place.
            self.granting.push(Vec::new());
        }
        // A program may run any part of a value. The shell's own variables are mostly texts; one that begins with a command
        // is likely to be run.
        let counted = if audience == Audience::Programs { usize::MAX } else { 1 };
        let excluded = |value: &str| names(value).take(counted).find_map(|name| self.excluded_by_name(name));
        let message = match name {
            None => "which variable it sets can't be known".to_owned(),
            Some(name) => match row.filter(|_| !is_held) {
                Some(row) => format!("it sets `{name}`: {}", row.about),
                None => match value.and_then(excluded) {
                    Some((program, _)) => format!("it sets `{name}` to `{program}`, which is excluded"),
                    None => return false,
                },
            },
        };
        self.ask(ReasonCode::Assignment, span, message).token = name.map(str::to_owned);
        true
    }

    /// Whether a value of PATH only adds folders of the project, where code of the project is held anyway.
    fn is_own_path(&self, name: Option<&str>, value: &str) -> bool {
        let is_own = |folder: &str| {
            folder == OWN_SEARCH_PATH
                || !folder.is_empty() && !self.machine.has_programs(folder) && self.is_inside(folder)
        };
        name == Some("PATH")
            && self.rules.holds_any_code()
            && value.split(':').any(|folder| folder == OWN_SEARCH_PATH)
            && value.split(':').all(is_own)
    }

    /// A value of PATH as far as it is known: folders of the project before or behind what it was.
    fn search_path_of(&self, written: &str) -> Option<String> {
        let value = written.split_once('=').map(|(_, value)| value)?;
        let plain: String = value.chars().filter(|c| *c != '"').collect();
        let [directory] = self.state.directories.as_deref()? else { return None };
        let here = directory.to_str()?;
        let folders = plain.split(':').map(|folder| match folder {
            "$PATH" | "${PATH}" => Some(OWN_SEARCH_PATH.to_owned()),
            folder => {
                let rest = ["$PWD", "${PWD}", "$(pwd)"].iter().find_map(|own| folder.strip_prefix(own));
                let path = rest.map_or_else(|| folder.to_owned(), |rest| format!("{here}{rest}"));
                (!path.contains(['$', '`', '~', '\\', '\''])).then_some(path)
            }
        });
        Some(folders.collect::<Option<Vec<String>>>()?.join(":"))
    }

    /// Whether the code that a variable makes a program load is held as any other.
    fn is_held_variable(&self, row: &VariableRow, audience: Audience) -> bool {
        match row.effect {
            VariableEffect::Loads => {
                audience == Audience::Programs && self.rules.holds_any_code() || self.rules.frees_everything()
            }
            VariableEffect::Shell => false,
            _ => self.rules.frees_everything(),
        }
    }

    /// Judges the value of a variable, whatever its name: as a word of make if the text calls that, else by what it looks like.
    fn judge_value(&mut self, name: &str, value: Option<&Value>, span: Span, audience: Audience) {
        if !self.rules.forbid_something() {
            return;
        }
        let is_given = audience == Audience::Programs;
        if let Some(path) = self.outside_output(name, value) {
            let message =
                format!("it sets `{name}` to `{path}`, outside the root, where programs put what they make");
            self.ask(ReasonCode::Assignment, span, message).token = Some(name.to_owned());
            return;
        }
        let doubt = if self.variables.are_operands {
            let is_seen = is_given || variable(name).is_some_and(|row| !row.only_exported);
            self.doubt_about_operand(name, value).filter(|_| is_seen).map(str::to_owned)
        } else {
            let value = value.filter(|_| is_given && !is_listed_variable(name));
            value.and_then(|value| self.doubt_about_value(value))
        };
        if let Some(doubt) = doubt {
            let message = format!("it sets `{name}` to {doubt}");
            self.ask(ReasonCode::Assignment, span, message).token = Some(name.to_owned());
        }
    }

    /// The folder outside the root that a variable has programs write to.
    fn outside_output(&self, name: &str, value: Option<&Value>) -> Option<String> {
        let is_output = self.rules.preset.is_some() && words::OUTPUT_VARIABLES.contains(&name);
        let path = self.path_of_value(value.filter(|_| is_output)?)?;
        (!path.is_empty() && !self.is_inside(&path) && !self.is_temporary(&path)).then_some(path)
    }

    /// What a value may be that a program gets by a variable that no table lists.
    fn doubt_about_value(&self, value: &Value) -> Option<String> {
        let value = self.path_of_value(value)?;
        let is_number = || value.trim_start_matches('-').parse::<f64>().is_ok();
        if value.len() > 1 && value.starts_with('-') && !is_number() {
            return Some(format!("`{value}`, which may be an option"));
        }
        if let Some(shell) =
            in_command_position(&value).find(|name| kind_of(name) == Some(ProgramKind::Shell))
        {
            return Some(format!("`{shell}`, which a program may start"));
        }
        // `|x` and `!x` are commands to many programs, also with arguments.
        let is_command = value.len() > 1 && value.starts_with(['|', '!']);
        let mut started = in_command_position(&value).filter(|name| self.is_own_program(name));
        let is_wrapped = || {
            let mut words = value.split(' ').skip_while(|word| word.is_empty() || word.contains('='));
            words.next().is_some_and(|first| {
                self.is_own_program(first)
                    || runs_commands(first) && words.any(|word| self.is_own_program(word))
            })
        };
        if is_command || self.is_own_program(&value) || started.next().is_some() || is_wrapped() {
            return Some(format!("`{value}`, which a program may start"));
        }
        self.suspicion_of_write(&value)
            .map(|_| format!("`{value}`, outside the root, which a program may write"))
    }

    /// A value that is known, or that begins with the folder that the command works in.
    fn path_of_value(&self, value: &Value) -> Option<String> {
        match value {
            Value::Unknown(Unknown { lead, why: Why::Parameter(name), tail: Some(tail), .. })
                if name == "PWD" =>
            {
                let [directory] = self.state.directories.as_deref()? else { return None };
                lead.is_empty().then(|| Some(format!("{}{tail}", directory.to_str()?))).flatten()
            }
            value => redirects::known_path(value, self.machine),
        }
    }

    /// Whether a path is that of a file inside the root that can be run.
    fn is_own_program(&self, path: &str) -> bool {
        let folders = self.state.directories.as_deref().unwrap_or_default().iter();
        let mut places = folders.map(|from| self.machine.cached_destination(from, path));
        path.contains('/')
            && places.any(|place| {
                place.starts_with(self.machine.root()) && self.machine.is_program_file(&place) == Some(true)
            })
    }

    /// What speaks against a value that a program like make takes for a word of its call: it expands the value, and a shell
    /// reads it in recipes.
    fn doubt_about_operand(&self, name: &str, value: Option<&Value>) -> Option<&'static str> {
        let Some(value) = value else { return Some("what can't be known, and make reads it as code") };
        let span = Span::default();
        let value = match value {
            Value::Known(text) => Value::Known(format!("{name}={text}")),
            Value::Unknown(unknown) => {
                Value::Unknown(Unknown { lead: format!("{name}={}", unknown.lead), ..unknown.clone() })
            }
        };
        let program = Word { span, value: Value::Known(READER_OF_VARIABLES.to_owned()) };
        let meaning = understand(&[program, Word { span, value }]);
        meaning.effects.iter().find_map(|effect| match &effect.kind {
            EffectKind::Inline(..) | EffectKind::Shell(_) => {
                Some("what isn't plain words, and make reads it as code")
            }
            EffectKind::Writes(word) => {
                let directories = self.state.directories.as_deref();
                let access = redirects::access_to(word, directories, self.machine, true);
                matches!(access, FileAccess::WriteOutside(_))
                    .then_some("a path outside the root, which make may write")
            }
            _ => None,
        })
    }
}

/// The variables that the shell exports, or may.
#[derive(Debug, Default)]
pub(super) struct Exported {
    /// Every variable that it sets: `set -a`, or `export` with a name that can't be known.
    pub(super) all: bool,
    names: HashSet<String>,
}

impl Exported {
    /// Looks through the calls of a command, at whatever time they export.
    pub(super) fn find(calls: &[Call]) -> Self {
        let mut found = Self { all: calls.iter().any(may_export_all), names: HashSet::new() };
        let declares =
            |call: &&Call| call.program().is_some_and(|name| has(name, Property::DeclaresVariables));
        for call in calls.iter().filter(declares) {
            for word in call.words.iter().skip(1) {
                let lead = word.value.lead();
                let end = lead.find(['=', '+', '[']).unwrap_or(lead.len());
                let is_name = end < lead.len() || word.value.known().is_some();
                found.all |= !is_name && !lead.starts_with('-');
                found.names.extend(lead.get(..end).filter(|_| is_name).map(str::to_owned));
            }
        }
        found
    }

    /// Whether programs may get a variable of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.all || self.names.contains(name)
    }
}

/// Whether a call may make the shell export every variable that it sets: `set -a`, `set -o allexport`, or another shell
/// with such an option.
fn may_export_all(call: &Call) -> bool {
    let sets = call.program().is_some_and(|name| has(name, Property::SetsShellOptions));
    let may_export = |word: &Word| match word.value.known() {
        Some(text) => text.starts_with('-') && text.contains('a') || text == "allexport",
        None => true,
    };
    sets && call.words.iter().skip(1).any(may_export)
}

/// The variables that a call exports: `export NAME`, `declare -x NAME=VALUE`.
fn exported_names(call: &Call) -> impl Iterator<Item = &str> {
    let program = call.program().filter(|name| has(name, Property::DeclaresVariables));
    let is_export = |word: &Word| word.value.lead().starts_with('-') && word.value.lead().contains('x');
    let exports = program.is_some_and(|name| has(name, Property::ExportsVariables))
        || program.is_some() && call.words.iter().any(is_export);
    let words = call.words.iter().skip(1).filter(move |_| exports).map(|word| word.value.lead());
    words.filter(|word| !word.starts_with('-')).map(|word| {
        let end = word.find(['=', '+', '[']).unwrap_or(word.len());
        word.get(..end).unwrap_or(word)
    })
}
