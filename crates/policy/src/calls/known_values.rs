//! Variables whose every value is written in the text: a loop over known words, a constant.
//!
//! Which of its values a variable has at some place is not followed: too much in a shell can change it. The only
//! promise is about a word that is such a variable and nothing else: whatever value it has there, also if it is empty, the
//! word is none of a program's options. A variable that is set to numbers only, and certainly is set, is like the result
//! of an expression.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use shellgate_syntax::{
    self as syntax, Assigned, Assignment, Construct, Findings, Invocation, Span, Unknown, Value, Why, Word,
};

use super::arithmetic::is_set_by_shell;
use super::attributes::Declaration;
use super::shadowing::happens_before;
use crate::programs::{CallMeaning, EffectKind, ProgramKind, Property, has, words};

/// Longer values aren't looked at, and no more values of one variable: each use of it would look at all.
const MAX_VALUE_BYTES: usize = 256;
const MAX_VALUES: usize = 64;

/// How many of the places where a variable is set are looked at.
const MAX_LOOKUPS: usize = 4;

/// The values of the variables whose values are all known.
#[derive(Debug, Default)]
pub(super) struct KnownValues {
    by_name: HashMap<String, Vec<String>>,
    /// The variables that are set to numbers only.
    numbers: HashSet<String>,
    /// Where variables are set outside all constructs, for this shell.
    set_at: HashMap<String, Vec<SetAt>>,
    /// The loops that set a variable, from behind their header to their end.
    loops: HashMap<String, Vec<Span>>,
    /// The variables of loops that are known words or names of files (`for f in *.c`), and no option unless a file has the
    /// name of one.
    patterns: HashSet<String>,
    /// The variables of loops whose words are relative paths that lead down.
    downward: HashSet<String>,
    /// Whether variables are set before a call: each of its words may ask.
    asked: RefCell<(Span, HashMap<String, bool>)>,
}

/// Where a variable is set.
#[derive(Clone, Copy, Debug)]
struct SetAt {
    span: Span,
    /// Whether an error may keep bash from setting it: `y=$((1/0)) x=5` doesn't set `x`. Bash skips the rest of the line then,
    /// and goes on with the next one.
    may_fail: bool,
    /// Whether it has the value that is written there, and nothing of an earlier one: not `x=$x`, `x+=1` or `x[1]=1`.
    is_text: bool,
}

impl SetAt {
    fn is_done_before(self, place: Span, source: &str) -> bool {
        let between = source.get(self.span.end..place.start).unwrap_or("\n");
        happens_before(self.span, place, source) && !(self.may_fail && between.contains('\n'))
    }
}

impl KnownValues {
    /// Looks through a text. `builtins` are the builtins that it calls.
    pub(super) fn find(source: &str, findings: &Findings, builtins: &[CallMeaning]) -> Self {
        if builtins.iter().any(may_set_any_variable) {
            return Self::default();
        }
        // An expression sets a variable to a number.
        let mut changed_elsewhere: HashSet<String> =
            findings.arithmetic.iter().flat_map(|one| &one.names).cloned().collect();
        let mut other_than_numbers: HashSet<&str> = HashSet::new();
        for effect in builtins.iter().flat_map(|meaning| &meaning.effects) {
            match &effect.kind {
                EffectKind::Assigns { name: Value::Known(name), value } => {
                    changed_elsewhere.insert(name.clone());
                    if !value.as_ref().is_some_and(is_number) {
                        other_than_numbers.insert(name);
                    }
                }
                // It may be any variable.
                EffectKind::Assigns { .. } => return Self::default(),
                EffectKind::Arithmetic(word) => match word.value.known().map(syntax::read_arithmetic) {
                    Some(Ok(inner)) => {
                        changed_elsewhere.extend(inner.arithmetic.into_iter().flat_map(|one| one.names));
                    }
                    _ => return Self::default(),
                },
                _ => {}
            }
        }
        let bodies: HashMap<usize, Span> =
            findings.loops.iter().map(|one| (one.header.start, one.rest)).collect();
        let mut loops: HashMap<String, Vec<Span>> = HashMap::new();
        let mut other_than_patterns: HashSet<&str> = HashSet::new();
        let mut upward: HashSet<&str> = HashSet::new();
        let mut all: HashMap<&str, Vec<Option<&str>>> = HashMap::new();
        for assignment in findings.invocations.iter().flat_map(|invocation| &invocation.assignments) {
            let replaces = !assignment.append && assignment.subscript.is_none();
            let is_number = match &assignment.value {
                Assigned::Scalar(value) => is_number(value),
                Assigned::ByShell(items) => !items.is_empty() && items.iter().all(is_number),
                Assigned::Array(_) => false,
            };
            if !replaces || !is_number {
                other_than_numbers.insert(&assignment.name);
            }
            if !matches!(&assignment.value, Assigned::ByShell(items) if items.iter().all(|item| is_downward(item.lead())))
            {
                upward.insert(&assignment.name);
            }
            match &assignment.value {
                Assigned::ByShell(items) if !items.is_empty() && items.iter().all(is_name_or_pattern) => {
                    let body = bodies.get(&assignment.span.start).copied();
                    loops.entry(assignment.name.clone()).or_default().extend(body);
                }
                _ => {
                    other_than_patterns.insert(&assignment.name);
                }
            }
            let values = all.entry(&assignment.name).or_default();
            match &assignment.value {
                Assigned::Scalar(value) if replaces => values.push(value.known()),
                Assigned::ByShell(items) if replaces && !items.is_empty() => {
                    values.extend(items.iter().map(Value::known))
                }
                _ => values.push(None),
            }
        }
        let known = all.iter().filter_map(|(name, values)| {
            let name = *name;
            let values =
                values.iter().map(|value| value.map(str::to_owned)).collect::<Option<Vec<String>>>()?;
            (!changed_elsewhere.contains(name) && !is_set_by_shell(name)).then(|| (name.to_owned(), values))
        });
        let by_name = known.collect();
        let is_number = |name: &&&str| !other_than_numbers.contains(**name) && !is_set_by_shell(name);
        // Only one loop, since what a round of an outer loop writes may be found by the pattern in the next one.
        let has_one_loop = source.matches("done").count() == 1 && findings.functions.is_empty();
        let is_pattern = |name: &&String| {
            has_one_loop
                && !other_than_patterns.contains(name.as_str())
                && !changed_elsewhere.contains(*name)
                && !is_set_by_shell(name)
        };
        let patterns: HashSet<String> = loops.keys().filter(is_pattern).cloned().collect();
        let downward = patterns.iter().filter(|name| !upward.contains(name.as_str())).cloned().collect();
        for one in &findings.loops {
            for name in loop_numbers(one.header, source) {
                loops.entry(name.to_owned()).or_default().push(one.rest);
                all.entry(name).or_default().push(None);
            }
        }
        let numbers = all.keys().filter(is_number).map(|name| (*name).to_owned()).collect();
        let declarations = || findings.invocations.iter().filter_map(|one| Declaration::of(&one.words));
        let makes_constants = declarations().any(|declaration| declaration.makes_constants());
        let mut set_at: HashMap<String, Vec<SetAt>> = HashMap::new();
        let certain = |one: &&Invocation| one.words.is_empty() && one.constructs.is_empty();
        for invocation in findings.invocations.iter().filter(certain) {
            let may_fail = makes_constants || !invocation.redirects.is_empty() || {
                invocation.assignments.iter().any(may_fail)
            };
            // A loop whose redirect fails doesn't set its variable.
            let by_text = |one: &&Assignment| !matches!(one.value, Assigned::ByShell(_));
            for assignment in invocation.assignments.iter().filter(by_text) {
                let is_whole = !assignment.append && assignment.subscript.is_none();
                let is_text = is_whole
                    && matches!(&assignment.value, Assigned::Scalar(value) if value.known().is_some());
                let set = SetAt { span: invocation.span, may_fail, is_text };
                set_at.entry(assignment.name.clone()).or_default().push(set);
            }
        }
        // `local x` makes an empty one, and a constant can't be set.
        for name in declarations().flat_map(|declaration| declaration.without_value().collect::<Vec<_>>()) {
            set_at.remove(name);
            loops.remove(name);
        }
        Self { by_name, numbers, set_at, loops, patterns, downward, asked: RefCell::default() }
    }

    /// Whether a word is a variable alone that is certainly a number for the call at `call`, like the result of an expression.
    pub(super) fn is_number(&self, word: &Word, call: &Invocation, source: &str) -> bool {
        let Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail, .. }) = &word.value else {
            return false;
        };
        let alone = lead.is_empty() && tail.as_deref() == Some("");
        alone
            && self.numbers.contains(name)
            && (self.is_set_before(name, call.span, source) || self.is_set_by_loop(name, call))
    }

    /// Whether a word begins with the variable of a loop over names of files that the call is in: `"$f"`, `"$f.bak"`.
    pub(super) fn is_pattern(&self, word: &Word, call: &Invocation) -> bool {
        let Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail, splits: false }) = &word.value
        else {
            return false;
        };
        let is_begin = lead.is_empty() || is_downward(lead) && self.downward.contains(name);
        is_begin && tail.is_some() && self.patterns.contains(name) && self.is_set_by_loop(name, call)
    }

    /// The value of a variable that is certainly set, and at one place only.
    pub(super) fn only_value(&self, word: &Word, call: &Invocation, source: &str) -> Option<&str> {
        let Value::Unknown(Unknown { why: Why::Parameter(name), .. }) = &word.value else { return None };
        let [value] = self.by_name.get(name)?.as_slice() else { return None };
        (self.is_one_word(word, call, source) && !self.loops.contains_key(name)).then_some(value)
    }

    /// What stands behind the variable of a loop over names of files from whose end a plain text is taken: `.md` of `"${f%.txt}.md"`.
    pub(super) fn shortened_pattern(&self, word: &Word, call: &Invocation, source: &str) -> Option<String> {
        let written = word.span.of(source);
        let plain = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))?;
        let (inner, tail) = plain.strip_prefix("${").and_then(|rest| rest.split_once('}'))?;
        let (name, end) = inner.split_once('%')?;
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        let is_it = is_plain(end) && is_plain(tail) && !tail.starts_with('-') && !end.is_empty();
        (is_it && self.patterns.contains(name) && self.is_set_by_loop(name, call)).then(|| tail.to_owned())
    }

    /// The text of a word that holds such a variable beside other text: `"${LINE}p"`, `"$BRANCH"..HEAD`.
    pub(super) fn filled(&self, word: &Word, call: &Invocation, source: &str) -> Option<String> {
        let Value::Unknown(Unknown { why: why @ Why::Parameter(_), lead, tail, splits }) = &word.value else {
            return None;
        };
        let Some(tail) = tail else { return self.filled_several(word, call, source) };
        if lead.is_empty() && tail.is_empty() {
            return None;
        }
        let (splits, why, tail_of_alone) = (*splits, why.clone(), Some(String::new()));
        let alone = Unknown { lead: String::new(), splits, why, tail: tail_of_alone };
        let alone = Word { value: Value::Unknown(alone), span: word.span };
        let value = self.only_value(&alone, call, source)?;
        Some(format!("{lead}{value}{tail}"))
    }

    /// The same for several variables between double quotes: `"${N},${M}p"`.
    fn filled_several(&self, word: &Word, call: &Invocation, source: &str) -> Option<String> {
        let written = word.span.of(source);
        let plain = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))?;
        if plain.contains(['"', '`', '\\', '!']) || plain.len() > MAX_VALUE_BYTES {
            return None;
        }
        let mut parts = plain.split('$');
        let mut all = parts.next()?.to_owned();
        for part in parts {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let (name, rest) = match part.strip_prefix('{') {
                Some(braced) => braced.split_once('}')?,
                None => part.split_at(part.find(|c| !is_name(c)).unwrap_or(part.len())),
            };
            if name.is_empty() || !name.chars().all(is_name) {
                return None;
            }
            let why = Why::Parameter(name.to_owned());
            let alone = Unknown { lead: String::new(), splits: false, why, tail: Some(String::new()) };
            let alone = Word { value: Value::Unknown(alone), span: word.span };
            all.push_str(self.only_value(&alone, call, source)?);
            all.push_str(rest);
        }
        Some(all)
    }

    /// Whether a call is in the body of a loop that sets a variable. The words of a loop may have calls in substitutions.
    fn is_set_by_loop(&self, name: &str, call: &Invocation) -> bool {
        let in_substitution =
            |construct: &Construct| matches!(construct, Construct::Substitution | Construct::Process);
        if call.constructs.iter().any(in_substitution) {
            return false;
        }
        self.loops.get(name).is_some_and(|loops| {
            let mut loops = loops.iter().take(MAX_LOOKUPS);
            loops.any(|rest| rest.start <= call.span.start && call.span.end <= rest.end)
        })
    }

    /// Whether a variable is certainly set when the call at `call` happens.
    fn is_set_before(&self, name: &str, call: Span, source: &str) -> bool {
        let Some(set) = self.set_at.get(name) else { return false };
        let mut asked = self.asked.borrow_mut();
        if asked.0 != call {
            *asked = (call, HashMap::new());
        }
        if let Some(answer) = asked.1.get(name) {
            return *answer;
        }
        // The first few are enough: most variables are set once.
        let answer = set.iter().take(MAX_LOOKUPS).any(|set| set.is_done_before(call, source));
        asked.1.insert(name.to_owned(), answer);
        answer
    }

    /// Whether a variable certainly has a value that is written in the text when what is at `place` happens, and nothing of
    /// the value that it had before.
    pub(super) fn is_replaced_before(&self, name: &str, place: Span, source: &str) -> bool {
        let set = self.set_at.get(name).into_iter().flatten().take(MAX_LOOKUPS);
        set.into_iter().any(|set| set.is_text && set.is_done_before(place, source))
    }

    /// Whether a word is a variable alone that is certainly exactly one word for the call at `call`.
    pub(super) fn is_one_word(&self, word: &Word, call: &Invocation, source: &str) -> bool {
        let Value::Unknown(Unknown { why: Why::Parameter(name), .. }) = &word.value else { return false };
        self.is_no_option(word)
            && (self.is_set_before(name, call.span, source) || self.is_set_by_loop(name, call))
    }

    /// Whether a word is a variable alone, and none of its values is an option or becomes several words.
    pub(super) fn is_no_option(&self, word: &Word) -> bool {
        let Value::Unknown(unknown) = &word.value else { return false };
        let Why::Parameter(name) = &unknown.why else { return false };
        // With a tail, the tail would begin the word when the variable is empty.
        let alone = unknown.lead.is_empty() && unknown.tail.as_deref() == Some("");
        let harmless = |value: &String| {
            value.len() <= MAX_VALUE_BYTES && !value.starts_with(['-', '+']) && is_one_word(value)
        };
        let are_harmless = |values: &Vec<String>| values.len() <= MAX_VALUES && values.iter().all(harmless);
        alone && self.by_name.get(name).is_some_and(are_harmless)
    }
}

/// Whether an error may stop an assignment: a constant, a subscript, an expansion that isn't the value of a variable.
fn may_fail(assignment: &Assignment) -> bool {
    let is_plain = |value: &Value| match value {
        Value::Known(_) => true,
        Value::Unknown(Unknown { why, .. }) => matches!(why, Why::Tilde { .. }),
    };
    let has_plain_value = matches!(&assignment.value, Assigned::Scalar(value) if is_plain(value));
    let name = assignment.name.as_str();
    let may_be_constant = is_set_by_shell(name) || words::CONSTANT_VARIABLES.contains(&name);
    !has_plain_value || assignment.subscript.is_some() || may_be_constant
}

/// Whether a value is a number: digits, or the result of an expression alone.
fn is_number(value: &Value) -> bool {
    match value {
        Value::Known(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        Value::Unknown(Unknown { why: Why::Arithmetic, lead, tail, .. }) => {
            lead.is_empty() && tail.as_deref() == Some("")
        }
        // `pid=$!`
        Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail, .. }) => {
            lead.is_empty() && tail.as_deref() == Some("") && ["!", "?", "#", "$"].contains(&name.as_str())
        }
        Value::Unknown(_) => false,
    }
}

/// Whether a path or the beginning of one is relative and leads down.
fn is_downward(path: &str) -> bool {
    !path.starts_with(['/', '~', '-']) && !path.split('/').any(|name| name == "..")
}

/// Whether a word of a loop is no option, unless there is a file with the name of one.
fn is_name_or_pattern(value: &Value) -> bool {
    match value {
        Value::Known(text) => !text.starts_with('-'),
        Value::Unknown(Unknown { why: Why::Glob, lead, .. }) => !lead.starts_with('-'),
        Value::Unknown(_) => false,
    }
}

/// The variables that the beginning of an arithmetic loop sets to numbers: `i=0,j=9;i<j;i++`. None if it does anything else.
fn loop_numbers(expressions: Span, source: &str) -> Vec<&str> {
    let first = expressions.of(source).split_once(';').map(|(first, _)| first);
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphabetic() || c == '_') && !name.is_empty();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let set = first.unwrap_or_default().split(',').map(|one| {
        let (name, value) = one.split_once('=')?;
        (is_name(name.trim()) && is_number(value.trim())).then(|| name.trim())
    });
    set.collect::<Option<Vec<&str>>>().unwrap_or_default()
}

/// Whether an unquoted expansion of `value` stays one word, as it is.
fn is_one_word(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || "_./:@%+-".contains(c))
}

/// Whether a builtin may set variables that the text doesn't name: it has the shell run a text, or removes variables.
fn may_set_any_variable(meaning: &CallMeaning) -> bool {
    let runs_text = |kind: &EffectKind| {
        matches!(kind, EffectKind::Shell(_) | EffectKind::ShellInput(_) | EffectKind::Unusual(_))
    };
    meaning.kind == Some(ProgramKind::Builtin)
        && (meaning.entry.is_some_and(|name| has(name, Property::UnsetsVariables))
            || meaning.effects.iter().any(|effect| runs_text(&effect.kind)))
}
