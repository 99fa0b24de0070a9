//! Which variables, parameters and files of a text may have which values, as far as the text itself says it.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use shellgate_syntax::{
    self as syntax, Assigned, Construct, Findings, Invocation, RedirectOperator, RedirectTarget, Unknown,
    Value, Why, Word,
};

use super::spelling::{Atom, Spelling, quoted};
use crate::programs::{base_name, words};
use crate::spelled::{Piece, pieces};

/// How far values of values, outputs of outputs and the like are followed.
pub(super) const MAX_STEPS_IN: usize = 8;

/// How many values of one thing are looked at.
pub(super) const MAX_VALUES: usize = 8;

/// A longer value isn't put together.
const MAX_VALUE_BYTES: usize = 16 << 10;

/// A word with more expansions isn't put together.
const MAX_PIECES: usize = 64;

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
    shifting: HashSet<&'a str>,
    given: HashMap<String, Vec<Given>>,
    /// The invocations that write files, by the names of those.
    pub(super) files: HashMap<&'a str, Vec<usize>>,
    /// Other names that the text gives to files and folders: the name, what it stands for, and whether it is a link.
    other_names: Vec<(&'a str, &'a Word, bool)>,
    /// Whether the text may set aliases of git.
    pub(super) names_aliases: bool,
    /// How much work may still be done.
    pub(super) fuel: &'a Cell<usize>,
}

/// Where a variable gets a value.
#[derive(Clone, Copy, Debug)]
enum Given {
    /// By an assignment of an invocation.
    Assigned(usize, usize),
    /// By a word of a builtin, behind so many bytes: `export x=…`.
    Declared(usize, usize, usize),
    /// By a line that an invocation reads: which word of it, counted from zero. `None`: all of it.
    Line(usize, Option<usize>),
    /// By what an invocation prints: `printf -v`.
    Output(usize),
    /// By the word of an invocation at this place.
    Argument(usize, usize),
    /// By all of its words from this place on.
    Arguments(usize, usize),
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
            files: HashMap::new(),
            other_names: Vec::new(),
            names_aliases: source.contains("alias."),
            fuel,
        };
        for (at, invocation) in all.invocations.iter().enumerate() {
            all.note(at, invocation);
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

    fn note(&mut self, at: usize, invocation: &'a Invocation) {
        for (index, assignment) in invocation.assignments.iter().enumerate() {
            self.give(&assignment.name, Given::Assigned(at, index));
        }
        for redirect in &invocation.redirects {
            let RedirectTarget::Word(word) = &redirect.target else { continue };
            let writes = matches!(
                redirect.operator,
                RedirectOperator::Write
                    | RedirectOperator::Append
                    | RedirectOperator::Clobber
                    | RedirectOperator::WriteBoth
            );
            if let Some(path) = word.value.known().filter(|_| writes) {
                self.files.entry(plain_path(path)).or_default().push(at);
            }
        }
        let words = invocation.words.as_slice();
        let Some(name) = words.first().and_then(|word| word.value.known()) else { return };
        let known = |word: &'a Word| word.value.known();
        match base_name(name) {
            "read" => self.note_reader(at, words, "pdnNtuia"),
            "mapfile" | "readarray" => self.note_reader(at, words, "dnOsucC"),
            "printf" => {
                if let [_, option, variable, ..] = words
                    && option.value.known() == Some("-v")
                    && let Some(variable) = variable.value.known()
                {
                    self.give(variable, Given::Output(at));
                }
            }
            "declare" | "typeset" | "local" | "export" | "readonly" => {
                for (index, word) in words.iter().enumerate().skip(1) {
                    if let Some((variable, _)) = word.span.of(self.source).split_once('=') {
                        self.give(variable, Given::Declared(at, index, variable.len() + 1));
                    }
                }
            }
            "shift" => {
                self.shifting.insert(function_of(invocation));
            }
            "set" => {
                let from = words.iter().position(|word| known(word) == Some("--")).map_or(1, |at| at + 1);
                let is_plain = words.get(from).is_some_and(|word| !word.value.lead().starts_with(['-', '+']));
                if from > 1 || is_plain {
                    self.give_parameters(function_of(invocation), at, from);
                }
            }
            "tee" => {
                for path in words.iter().skip(1).filter_map(known).filter(|path| !path.starts_with('-')) {
                    self.files.entry(plain_path(path)).or_default().push(at);
                }
            }
            "ln" | "mv" => {
                let is_link = base_name(name) == "ln";
                let options: Vec<&str> =
                    words.iter().filter_map(known).filter(|word| word.starts_with('-')).collect();
                let is_symbolic = options.iter().any(|option| option.contains('s'));
                let operands: Vec<&Word> =
                    words.iter().skip(1).filter(|word| !word.value.lead().starts_with('-')).collect();
                if let [target, other] = operands.as_slice()
                    && let Some(other) = other.value.known()
                    && (!is_link || is_symbolic)
                {
                    self.other_names.push((plain_path(other), target, is_link));
                }
            }
            _ => {}
        }
        if self.functions.contains(name) {
            self.give_parameters(name, at, 1);
        }
    }

    /// `with_value`: the letters of options that a value follows.
    fn note_reader(&mut self, at: usize, words: &'a [Word], with_value: &str) {
        let mut names: Vec<&str> = Vec::new();
        let mut words = words.iter().skip(1).filter_map(|word| word.value.known());
        while let Some(word) = words.next() {
            match word.strip_prefix('-') {
                Some(letters) if letters.ends_with('a') => names.extend(words.next()),
                Some(letters) if letters.ends_with(|c| with_value.contains(c)) => {
                    words.next();
                }
                Some(_) => {}
                None => names.push(word),
            }
        }
        match names.as_slice() {
            [] => self.give("REPLY", Given::Line(at, None)),
            [name] => self.give(name, Given::Line(at, None)),
            several => {
                several
                    .iter()
                    .enumerate()
                    .for_each(|(index, name)| self.give(name, Given::Line(at, Some(index))));
            }
        }
    }

    fn give(&mut self, name: &str, given: Given) {
        self.given.entry(name.to_owned()).or_default().push(given);
    }

    /// Notes what `$1`, `$2` … are in a function, or outside all of them.
    fn give_parameters(&mut self, function: &str, at: usize, from: usize) {
        let count = self.invocations.get(at).map_or(0, |one| one.words.len());
        for (number, place) in (from..count.min(from + MAX_VALUES)).enumerate() {
            self.give(&parameter(function, &(number + 1).to_string()), Given::Argument(at, place));
        }
        for all in ["@", "*"] {
            self.give(&parameter(function, all), Given::Arguments(at, from));
        }
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
                        self.value(value, written, at, depth)
                    }
                    Assigned::Array(values) => {
                        let words =
                            values.iter().map(|value| self.value(value, None, at, depth).into_iter().next());
                        let words: Option<Vec<String>> = words.map(|word| Some(word?.as_word())).collect();
                        words.map(|words| Spelling::source(words.join(" "))).into_iter().collect()
                    }
                    Assigned::ByShell(values) => values
                        .iter()
                        .take(MAX_VALUES)
                        .flat_map(|value| self.value(value, None, at, depth))
                        .collect(),
                }
            }
            Given::Declared(at, index, skip) => {
                let word = invocation(at).and_then(|one| one.words.get(index));
                let written = word.and_then(|word| word.span.of(self.source).get(skip..));
                written.map(|written| self.written(written, at, depth).all).unwrap_or_default()
            }
            Given::Line(at, None) => {
                let lines = self.inputs(at, depth).into_iter().flat_map(|input| input.lines());
                lines.take(MAX_VALUES).collect()
            }
            Given::Line(at, Some(index)) => {
                let lines = self.inputs(at, depth).into_iter().flat_map(|input| input.lines());
                let words = lines.take(MAX_VALUES).filter_map(|line| line.as_words().into_iter().nth(index));
                words.map(Spelling::source).collect()
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
            Piece::Variable { name, otherwise, must_be_set } => {
                let mut values = self.values(name, at, depth + 1);
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

impl Given {
    /// The invocation that gives the value.
    const fn place(self) -> usize {
        match self {
            Self::Assigned(at, _)
            | Self::Declared(at, ..)
            | Self::Line(at, _)
            | Self::Output(at)
            | Self::Argument(at, _)
            | Self::Arguments(at, _) => at,
        }
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

/// The name under which a parameter of a function is kept.
fn parameter(function: &str, number: &str) -> String {
    format!("{function}\n{number}")
}

/// A path without `./` before it.
pub(super) fn plain_path(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Whether a program prints nothing.
pub(super) fn is_silent(name: &str) -> bool {
    words::RUIN_SILENT_PROGRAMS.contains(&name)
}
