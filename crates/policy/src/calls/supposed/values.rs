//! Which variables, parameters and files of a text may have which values, as far as the text itself says it.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use shellgate_syntax::{
    self as syntax, Assigned, Assignment, Construct, Findings, Invocation, Loop, Unknown, Value, Why, Word,
};

use super::changes::{changed, first_parameter};
use super::copied_programs::Copies;
use super::given::{Given, parameter};
use super::spelling::{Atom, Spelling, quoted};
use crate::programs::words;
use crate::spelled::{Piece, pieces};

/// How far values of values, outputs of outputs and the like are followed.
pub(super) const MAX_STEPS_IN: usize = 8;

/// How many values of one thing are looked at.
pub(super) const MAX_VALUES: usize = 8;

/// A longer value isn't put together.
const MAX_VALUE_BYTES: usize = 16 << 10;

/// A word with more expansions isn't put together.
const MAX_PIECES: usize = 64;

/// Longer words of a loop aren't read.
const MAX_LOOP_WORDS_BYTES: usize = 2000;

/// So many bytes of a text cost as much as one step.
const BYTES_PER_STEP: usize = 32;

/// A text, with what it says about values.
pub(super) struct KnownText<'a> {
    pub(super) invocations: &'a [Invocation],
    pub(super) source: &'a str,
    /// The text that this one is a substitution of, with the invocation that it stands in.
    pub(super) outer: Option<(&'a KnownText<'a>, usize)>,
    pub(super) functions: HashSet<&'a str>,
    /// The functions that shift their parameters. The empty name: the text outside all functions.
    pub(super) shifting: HashSet<&'a str>,
    pub(super) given: HashMap<String, Vec<Given>>,
    loops: &'a [Loop],
    /// The invocations that write files, by the names of those.
    pub(super) files: HashMap<&'a str, Vec<usize>>,
    /// Other names that the text gives to files and folders: the name, what it stands for, and whether it is a link.
    pub(super) other_names: Vec<(&'a str, &'a Word, bool)>,
    /// What the text copies or links.
    pub(super) copied: Copies<'a>,
    /// Whether the text may set aliases of git.
    pub(super) names_aliases: bool,
    /// How much work may still be done.
    pub(super) fuel: &'a Cell<usize>,
}

/// What a word may be.
pub(super) struct Guess {
    pub(super) all: Vec<Spelling>,
    /// Whether the text says more about it than that it isn't known.
    pub(super) is_better: bool,
}

impl<'a> KnownText<'a> {
    pub(super) fn new(findings: &'a Findings, source: &'a str, fuel: &'a Cell<usize>) -> Self {
        let mut all = Self {
            invocations: &findings.invocations,
            source,
            outer: None,
            functions: findings.functions.iter().map(|function| function.name.as_str()).collect(),
            shifting: HashSet::new(),
            given: HashMap::new(),
            loops: &findings.loops,
            files: HashMap::new(),
            other_names: Vec::new(),
            copied: Copies::default(),
            names_aliases: source.contains("alias."),
            fuel,
        };
        for (at, invocation) in all.invocations.iter().enumerate() {
            all.note(at, invocation);
            all.copied.note(at, invocation);
        }
        all
    }

    /// Takes what one step costs. False: there is nothing left.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        let cost = 1 + bytes / BYTES_PER_STEP;
        let left = self.fuel.get().checked_sub(cost);
        self.fuel.set(left.unwrap_or(0));
        left.is_some()
    }

    /// What a variable may be for the invocation at `at`.
    pub(super) fn values(&self, name: &str, at: usize, depth: usize) -> Vec<Spelling> {
        if depth > MAX_STEPS_IN || !self.spend(0) {
            return Vec::new();
        }
        let function = self.invocations.get(at).map(function_of).unwrap_or_default();
        let is_parameter = name.chars().all(|c| c.is_ascii_digit()) || matches!(name, "@" | "*");
        let mut keys = vec![if is_parameter { parameter(function, name) } else { name.to_owned() }];
        if is_parameter && self.shifting.contains(function) {
            let first = name.parse::<usize>().unwrap_or(1);
            keys.extend((first..=MAX_VALUES).map(|number| parameter(function, &number.to_string())));
        }
        let mut all: Vec<Spelling> = Vec::new();
        for given in keys.iter().filter_map(|key| self.given.get(key)).flat_map(|given| nearest(given, at)) {
            for value in self.given(*given, depth + 1) {
                if all.len() < MAX_VALUES && !all.contains(&value) && value.len() < MAX_VALUE_BYTES {
                    all.push(value);
                }
            }
        }
        match self.outer {
            Some((outer, place)) if all.is_empty() => outer.values(name, place, depth + 1),
            _ => all,
        }
    }

    fn given(&self, given: Given, depth: usize) -> Vec<Spelling> {
        let invocation = |at: usize| self.invocations.get(at);
        match given {
            Given::Assigned(at, index) => {
                let assignment = invocation(at).and_then(|one| one.assignments.get(index));
                let Some(assignment) = assignment else { return Vec::new() };
                match &assignment.value {
                    Assigned::Scalar(value) => {
                        let written = assignment.span.of(self.source).split_once('=').map(|(_, value)| value);
                        let own = self.value(value, written, at, depth);
                        if assignment.append { self.appended(&assignment.name, at, own, depth) } else { own }
                    }
                    Assigned::Array(_) => self.items(assignment.span.of(self.source), at, depth),
                    Assigned::ByShell(values) if values.iter().all(|value| value.known().is_some()) => {
                        values.iter().take(MAX_VALUES).filter_map(Value::known).map(Spelling::text).collect()
                    }
                    Assigned::ByShell(_) => self.loop_values(assignment, at, depth),
                }
            }
            Given::Declared(at, index, skip) => {
                let word = invocation(at).and_then(|one| one.words.get(index));
                let written = word.and_then(|word| word.span.of(self.source).get(skip..));
                if let Some(written) = written.filter(|written| written.starts_with('(')) {
                    return self.items(written, at, depth);
                }
                written.map(|written| self.written(written, at, depth).all).unwrap_or_default()
            }
            Given::Line(at, None) => {
                let lines = self.inputs(at, depth).into_iter().flat_map(|input| input.lines());
                lines.take(MAX_VALUES).collect()
            }
            Given::Line(at, Some(index)) => {
                let lines = self.inputs(at, depth).into_iter().flat_map(|input| input.lines());
                let separators = invocation(at).and_then(own_separators);
                let words = lines.take(MAX_VALUES).filter_map(|line| match separators {
                    Some(separators) => line.split(|c| separators.contains(c)).into_iter().nth(index),
                    None => line.as_words().into_iter().nth(index).map(Spelling::source),
                });
                words.collect()
            }
            Given::Output(at) => self.printed(at, depth),
            Given::Argument(at, place) => {
                let word = invocation(at).and_then(|one| one.words.get(place));
                word.map(|word| self.word(word, at, depth).all).unwrap_or_default()
            }
            Given::Arguments(at, from) => {
                let words = invocation(at).map(|one| one.words.as_slice()).unwrap_or_default();
                let words = words.iter().skip(from).take(MAX_VALUES);
                let words = words.filter_map(|word| self.word(word, at, depth).all.into_iter().next());
                let words: Vec<String> = words.map(|word| word.as_word()).collect();
                if words.is_empty() { Vec::new() } else { vec![Spelling::source(words.join(" "))] }
            }
        }
    }

    /// The items of an array as it is written: `a=(x *)`, `m=([k]=x)`.
    fn items(&self, written: &str, at: usize, depth: usize) -> Vec<Spelling> {
        let items = written.split_once('(').and_then(|(_, rest)| rest.trim_end().strip_suffix(')'));
        let Some(items) = items.filter(|items| items.len() < MAX_VALUE_BYTES && self.spend(items.len()))
        else {
            return Vec::new();
        };
        let text = format!(": {}", items.replace('\n', " "));
        let Ok(findings) = syntax::read_alone(&text) else { return Vec::new() };
        let words = findings.invocations.first().map(|one| one.words.as_slice()).unwrap_or_default();
        let items = words.iter().skip(1).take(MAX_PIECES).map(|word| {
            let written = word.span.of(&text);
            let written = match written.strip_prefix('[').and_then(|rest| rest.split_once("]=")) {
                Some((_, value)) => value,
                None => written,
            };
            self.written(written, at, depth + 1).all.first().map(Spelling::as_word).unwrap_or_default()
        });
        let items: Vec<String> = items.collect();
        if items.is_empty() { Vec::new() } else { vec![Spelling::source(items.join(" "))] }
    }

    /// What a variable may be once `own` is added to it: `x+=it`.
    fn appended(&self, name: &str, at: usize, own: Vec<Spelling>, depth: usize) -> Vec<Spelling> {
        let given = self.given.get(name).map(Vec::as_slice).unwrap_or_default();
        let before = given.iter().rfind(|one| one.place() < at);
        let before = before.filter(|_| depth <= MAX_STEPS_IN && self.spend(0));
        let before = before.map(|before| self.given(*before, depth + 1)).unwrap_or_default();
        if before.is_empty() {
            return own;
        }
        let pairs = before.iter().flat_map(|before| own.iter().map(|own| before.with(own)));
        pairs.take(MAX_VALUES).collect()
    }

    /// What the variable of a loop may be: its words as they are written, or the parameters.
    fn loop_values(&self, assignment: &Assignment, at: usize, depth: usize) -> Vec<Spelling> {
        let own = self.loops.iter().find(|one| one.header.start == assignment.span.start);
        let Some(rest) = own.map(|one| one.rest.of(self.source)) else { return Vec::new() };
        let Some(items) = rest.trim_start().strip_prefix("in").filter(|rest| rest.starts_with([' ', '\t']))
        else {
            let numbers = (1..=MAX_VALUES).map(|number| self.values(&number.to_string(), at, depth + 1));
            return numbers.flatten().take(MAX_VALUES).collect();
        };
        // The words end with the first command of the text that they begin.
        let items: String = items.chars().take(MAX_LOOP_WORDS_BYTES).collect();
        let text = format!(": {}", items.split_once('\n').map_or(items.as_str(), |(line, _)| line));
        let header = text
            .split_once("; do")
            .or_else(|| text.split_once(";do"))
            .map_or(text.as_str(), |(words, _)| words);
        let Ok(findings) = syntax::read_alone(header.trim_end_matches([';', ' '])) else { return Vec::new() };
        let words = findings.invocations.first().map(|one| one.words.as_slice()).unwrap_or_default();
        let spelled = words.iter().skip(1).take(MAX_VALUES).flat_map(|word| match &word.value {
            Value::Known(text) => vec![Spelling::text(text)],
            Value::Unknown(_) => self.written(word.span.of(header), at, depth + 1).all,
        });
        spelled.take(MAX_VALUES).collect()
    }

    /// What a value may be. `written`: as it is written, if that is known.
    fn value(&self, value: &Value, written: Option<&str>, at: usize, depth: usize) -> Vec<Spelling> {
        match value {
            Value::Known(text) => vec![Spelling::text(text)],
            Value::Unknown(_) if written.is_some() => {
                written.map(|written| self.written(written, at, depth).all).unwrap_or_default()
            }
            Value::Unknown(Unknown { why: Why::Tilde { user, rest: Some(rest) }, .. }) => {
                vec![Spelling::source(format!("~{user}{}", quoted(rest)))]
            }
            Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail: Some(tail), .. }) => {
                let values = self.values(name, at, depth + 1);
                values
                    .iter()
                    .map(|value| Spelling::text(lead).with(value).with(&Spelling::text(tail)))
                    .collect()
            }
            Value::Unknown(_) => Vec::new(),
        }
    }

    /// What a word of the invocation at `at` may be.
    pub(super) fn word(&self, word: &Word, at: usize, depth: usize) -> Guess {
        if let Value::Known(text) = &word.value {
            let other: Vec<Spelling> = if depth == 0 { self.by_other_name(text) } else { Vec::new() };
            let is_better = !other.is_empty();
            let all = if is_better { other } else { vec![Spelling::text(text)] };
            return Guess { all, is_better };
        }
        self.written(word.span.of(self.source), at, depth)
    }

    /// What a path is by another name: `ln -s .git g` makes `g/x` `.git/x`, and `mv .git g` makes `g` `.git`.
    fn by_other_name(&self, path: &str) -> Vec<Spelling> {
        let path = plain_path(path);
        if self.other_names.is_empty() || !self.spend(self.other_names.len()) {
            return Vec::new();
        }
        let found = self.other_names.iter().filter_map(|(name, target, is_link)| {
            let rest = path.strip_prefix(name)?;
            // A link by itself is only the link.
            let is_below = rest.starts_with('/');
            let target = target.span.of(self.source);
            (is_below || rest.is_empty() && !is_link)
                .then(|| Spelling(vec![Atom::Source(target.to_owned()), Atom::Text(rest.to_owned())]))
        });
        found.take(MAX_VALUES).collect()
    }

    /// What a word may be that is written so.
    pub(super) fn written(&self, written: &str, at: usize, depth: usize) -> Guess {
        let unknown = || Guess { all: vec![Spelling::source(written)], is_better: false };
        if depth > MAX_STEPS_IN || !self.spend(written.len()) {
            return unknown();
        }
        let Some(pieces) = pieces(written).filter(|pieces| pieces.len() <= MAX_PIECES) else {
            return unknown();
        };
        let mut guess = Guess { all: vec![Spelling::default()], is_better: false };
        for piece in &pieces {
            let (options, is_better) = self.piece(piece, at, depth);
            guess.is_better |= is_better;
            let pairs = guess.all.iter().flat_map(|before| options.iter().map(|option| before.with(option)));
            guess.all = pairs.filter(|one| one.len() < MAX_VALUE_BYTES).take(MAX_VALUES).collect();
            self.spend(guess.all.iter().map(Spelling::len).sum());
        }
        // `g/*` with `ln -s .git g`.
        if depth == 0
            && !guess.is_better
            && let [Piece::Text(lead), ..] = pieces.as_slice()
            && let Some(other) = self.by_other_name(&format!("{lead}*")).first()
        {
            let rest = guess.all.iter().filter_map(|one| one.0.get(1..)).map(|rest| Spelling(rest.to_vec()));
            let mut lead = other.clone();
            if let Some(Atom::Text(text)) = lead.0.last_mut() {
                text.pop();
            }
            return Guess { all: rest.map(|rest| lead.with(&rest)).collect(), is_better: true };
        }
        guess
    }

    fn piece(&self, piece: &Piece, at: usize, depth: usize) -> (Vec<Spelling>, bool) {
        let (values, unknown) = match piece {
            Piece::Text(text) => return (vec![Spelling::text(text)], false),
            Piece::Pattern(c) => return (vec![Spelling::source(c.to_string())], false),
            Piece::Home(user) => return (vec![Spelling::source(format!("~{user}"))], false),
            Piece::Something => return (vec![Spelling::source("\"$!\"")], false),
            Piece::Variable { name, otherwise, must_be_set, change } => {
                let mut values = match (name.as_str(), first_parameter(change)) {
                    ("@" | "*", Some(first)) => {
                        let numbers = first..=first + MAX_VALUES;
                        let each = numbers.map(|number| self.values(&number.to_string(), at, depth + 1));
                        each.flatten().take(MAX_VALUES).collect()
                    }
                    _ => self.values(name, at, depth + 1),
                };
                for value in values.iter_mut().filter(|_| !change.is_empty()) {
                    if let Some(text) = value.known().and_then(|text| changed(&text, change)) {
                        *value = Spelling::text(&text);
                    }
                }
                if let Some(text) = otherwise {
                    values.extend(self.written(text, at, depth + 1).all);
                }
                let sign = if *must_be_set { ":?" } else { "" };
                (values, format!("\"${{{name}{sign}}}\""))
            }
            Piece::Output(command) => (self.output(command, at, depth + 1), format!("\"$({command})\"")),
        };
        let is_better = !values.is_empty();
        (if is_better { values } else { vec![Spelling::source(unknown)] }, is_better)
    }

    /// What a substitution in the invocation at `at` prints, without line ends behind it.
    pub(super) fn output(&self, command: &str, at: usize, depth: usize) -> Vec<Spelling> {
        if depth > MAX_STEPS_IN || !self.spend(command.len()) {
            return Vec::new();
        }
        let Ok(findings) = syntax::read_alone(command) else { return Vec::new() };
        let inner = KnownText { outer: Some((self, at)), ..KnownText::new(&findings, command, self.fuel) };
        let is_outermost = |one: &Invocation| {
            !one.constructs.iter().any(|construct| {
                matches!(construct, Construct::Substitution | Construct::Process | Construct::Function(_))
            })
        };
        let all = findings.invocations.iter().enumerate().filter(|(_, one)| is_outermost(one));
        let all: Vec<usize> = all.map(|(index, _)| index).collect();
        inner.printed_by(&all, depth).into_iter().map(Spelling::trimmed).collect()
    }
}

/// The places where a variable gets its value that count most for the invocation at `at`: the last ones before it, then the
/// first ones behind it.
fn nearest(given: &[Given], at: usize) -> impl Iterator<Item = &Given> {
    let (before, behind) = given.split_at(given.partition_point(|one| one.place() <= at));
    before.iter().rev().chain(behind).take(MAX_VALUES)
}

/// The characters that end a word for an invocation that sets `IFS` itself: `IFS=: read a b`.
fn own_separators(invocation: &Invocation) -> Option<&str> {
    let own = invocation.assignments.iter().rfind(|one| one.name == "IFS")?;
    match &own.value {
        Assigned::Scalar(value) => value.known().filter(|text| !text.is_empty()),
        Assigned::Array(_) | Assigned::ByShell(_) => None,
    }
}

/// The name of the function that an invocation is in; empty outside all functions.
pub(in crate::calls) fn function_of(invocation: &Invocation) -> &str {
    let functions = invocation.constructs.iter().rev();
    let mut functions = functions.filter_map(|construct| match construct {
        Construct::Function(name) => Some(name.as_str()),
        _ => None,
    });
    functions.next().unwrap_or_default()
}

/// A path without `./` before it.
pub(in crate::calls) fn plain_path(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Whether a program prints nothing.
pub(super) fn is_silent(name: &str) -> bool {
    words::RUIN_SILENT_PROGRAMS.contains(&name)
}
