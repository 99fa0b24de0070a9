//! What an invocation prints and reads, where the text itself says it.

use shellgate_syntax::{
    Construct, Descriptor, Input, Invocation, Redirect, RedirectOperator, RedirectTarget, Span, Value, Word,
};

use super::super::downloads::downloads;
use super::composed::{COMPOSED, composes};
use super::decoded::{base64, escapes, hex};
use super::found_files::found_files;
use super::spelling::{Atom, Spelling};
use super::values::{KnownText, MAX_STEPS_IN, MAX_VALUES, function_of, is_silent, plain_path};
use crate::programs::{EffectKind, base_name, fits_pattern, understand, words};

/// How many invocations of one stage or substitution are looked at.
const MAX_PRINTING: usize = 24;

/// How many wrappers around a program are taken off.
const MAX_WRAPPERS: usize = 6;

impl KnownText<'_> {
    /// What these invocations print together.
    pub(super) fn printed_by(&self, all: &[usize], depth: usize) -> Vec<Spelling> {
        if depth > MAX_STEPS_IN || !self.spend(all.len()) {
            return Vec::new();
        }
        let all = all.get(..all.len().min(MAX_PRINTING)).unwrap_or_default();
        let is_passed_on = |at: &usize| {
            all.iter().any(|other| match self.invocations.get(*other).map(|one| &one.input) {
                Some(Input::Pipe(sources)) => sources.binary_search(at).is_ok(),
                _ => false,
            })
        };
        let mut parts: Vec<Vec<Spelling>> = Vec::new();
        let mut may_differ = false;
        for at in all.iter().filter(|at| !is_passed_on(at)) {
            let Some(invocation) = self.invocations.get(*at) else { continue };
            let name = invocation.words.first().and_then(|word| word.value.known()).map(base_name);
            let printed = self.printed(*at, depth + 1);
            if printed.is_empty() && (invocation.words.is_empty() || name.is_some_and(is_silent)) {
                continue;
            }
            may_differ |= invocation.constructs.contains(&Construct::Conditional) || printed.is_empty();
            parts.push(printed);
        }
        let mut found: Vec<Spelling> = if may_differ || parts.len() < 2 {
            parts.into_iter().flatten().collect()
        } else {
            let first = vec![Spelling::default()];
            parts.iter().fold(first, |before, part| {
                let pairs = before.iter().flat_map(|one| part.iter().map(|other| one.with(other)));
                pairs.take(MAX_VALUES).collect()
            })
        };
        found.truncate(MAX_VALUES);
        found
    }

    /// What the invocation at `at` reads from its standard input.
    pub(super) fn inputs(&self, at: usize, depth: usize) -> Vec<Spelling> {
        let Some(invocation) = self.invocations.get(at) else { return Vec::new() };
        if depth > MAX_STEPS_IN || !self.spend(0) {
            return Vec::new();
        }
        if let Some(redirect) = invocation.redirects.iter().rfind(|one| is_input(one)) {
            return self.redirected(redirect, at, depth);
        }
        match &invocation.input {
            Input::Pipe(sources) => self.printed_by(sources, depth + 1),
            Input::Redirect(redirect) => self.redirected(redirect, at, depth),
            Input::Inherited | Input::Other => {
                let function = function_of(invocation);
                if !function.is_empty() {
                    return self.inputs_of_callers(function, depth);
                }
                if invocation.constructs.contains(&Construct::Process) {
                    return self.inputs_of_process(invocation, depth);
                }
                self.outer.map(|(outer, place)| outer.inputs(place, depth + 1)).unwrap_or_default()
            }
        }
    }

    fn inputs_of_callers(&self, function: &str, depth: usize) -> Vec<Spelling> {
        if !self.spend(self.invocations.len()) {
            return Vec::new();
        }
        let calls = self.invocations.iter().enumerate().filter(|(_, one)| {
            one.words.first().and_then(|word| word.value.known()) == Some(function)
                && function_of(one) != function
        });
        let mut found: Vec<Spelling> =
            calls.take(MAX_VALUES).flat_map(|(at, _)| self.inputs(at, depth + 1)).collect();
        found.truncate(MAX_VALUES);
        found
    }

    /// What comes in by `>( … )`: what the command prints whose word or redirect it is.
    fn inputs_of_process(&self, inner: &Invocation, depth: usize) -> Vec<Spelling> {
        if !self.spend(self.invocations.len()) {
            return Vec::new();
        }
        let holds = |outer: Span| outer.start <= inner.span.start && inner.span.end <= outer.end;
        let is_around = |one: &Invocation| holds(one.span) && one.span != inner.span;
        let around: Vec<usize> = (0..self.invocations.len())
            .filter(|at| self.invocations.get(*at).is_some_and(is_around))
            .take(MAX_VALUES)
            .collect();
        self.printed_by(&around, depth + 1)
    }

    fn redirected(&self, redirect: &Redirect, at: usize, depth: usize) -> Vec<Spelling> {
        match (&redirect.target, redirect.operator) {
            (RedirectTarget::Body(word), _) => match &word.value {
                Value::Known(text) => vec![Spelling::text(text)],
                // It is expanded like a text between double quotes.
                Value::Unknown(_) => {
                    let body = word.span.of(self.source).replace('"', "\\\"");
                    self.written(&format!("\"{body}\""), at, depth + 1).all
                }
            },
            (RedirectTarget::Word(word), RedirectOperator::HereString) => self.word(word, at, depth + 1).all,
            (RedirectTarget::Word(word), _) => self.content(word, at, depth),
        }
    }

    /// The content of a file that a word names, if this text makes it.
    pub(super) fn content(&self, word: &Word, at: usize, depth: usize) -> Vec<Spelling> {
        let written = word.span.of(self.source);
        if let Some(command) = written.strip_prefix("<(").and_then(|rest| rest.strip_suffix(')')) {
            return self.output(command, at, depth + 1);
        }
        let Some(path) = word.value.known() else { return Vec::new() };
        if matches!(path, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
            return self.inputs(at, depth + 1);
        }
        let writers = self.files.get(plain_path(path)).map(Vec::as_slice).unwrap_or_default();
        let writers = writers.iter().filter(|writer| **writer != at).take(MAX_VALUES);
        let found = writers.flat_map(|writer| {
            // What `tee` prints it also writes.
            self.printed(*writer, depth + 1)
        });
        found.take(MAX_VALUES).collect()
    }

    /// What the invocation at `at` prints.
    pub(super) fn printed(&self, at: usize, depth: usize) -> Vec<Spelling> {
        let mut found = self.printed_plainly(at, depth);
        if found.len() < MAX_VALUES && self.invocations.get(at).is_some_and(composes) {
            found.push(Spelling::source(COMPOSED));
        }
        found
    }

    fn printed_plainly(&self, at: usize, depth: usize) -> Vec<Spelling> {
        let Some(invocation) = self.invocations.get(at) else { return Vec::new() };
        if depth > MAX_STEPS_IN || !self.spend(0) {
            return Vec::new();
        }
        if invocation.words.is_empty() {
            // `$(< file)`
            let reads = |one: &&Redirect| is_input(one) && one.operator == RedirectOperator::Read;
            let redirect = invocation.redirects.iter().rfind(reads);
            return redirect.map(|one| self.redirected(one, at, depth)).unwrap_or_default();
        }
        let listed = listed_output(invocation);
        if downloads(invocation) && listed.is_empty() {
            let written = invocation.span.of(self.source);
            return vec![Spelling::source(format!("\"$({written})\""))];
        }
        let mut words = invocation.words.clone();
        for _ in 0..MAX_WRAPPERS {
            let Some(name) = words.first().and_then(|word| word.value.known()) else { return Vec::new() };
            if self.functions.contains(name) {
                self.spend(self.invocations.len());
                let body = (0..self.invocations.len())
                    .filter(|index| self.invocations.get(*index).is_some_and(|one| function_of(one) == name));
                let body: Vec<usize> = body.take(MAX_PRINTING).collect();
                return self.printed_by(&body, depth + 1);
            }
            let name = base_name(name);
            if let Some(found) = self.printed_by_program(name, &words, at, depth) {
                return found;
            }
            let meaning = understand(&words);
            let next = meaning.effects.into_iter().find_map(|effect| match effect.kind {
                EffectKind::Argv { words, .. } => Some(Ok(words)),
                EffectKind::Shell(word) => Some(Err(word)),
                _ => None,
            });
            match next {
                Some(Ok(inner)) => words = inner,
                Some(Err(text)) => {
                    let text = text.value.known();
                    return text.map(|text| self.output(text, at, depth + 1)).unwrap_or_default();
                }
                None => break,
            }
        }
        listed
    }

    /// What a program prints that is known for it. `None`: it may be a wrapper.
    fn printed_by_program(
        &self,
        name: &str,
        words: &[Word],
        at: usize,
        depth: usize,
    ) -> Option<Vec<Spelling>> {
        let operands = || words.iter().skip(1).filter(|word| !word.value.lead().starts_with('-'));
        let has = |option: &str| words.iter().any(|word| word.value.known() == Some(option));
        let has_letter = |letter: char| {
            let is_letters =
                |text: &str| text.starts_with('-') && !text.starts_with("--") && text.contains(letter);
            words.iter().filter_map(|word| word.value.known()).any(is_letters)
        };
        let each = |change: fn(String) -> Option<String>| {
            let inputs = self.inputs(at, depth + 1).into_iter();
            inputs.filter_map(|input| Some(Spelling::text(&change(input.known()?)?))).collect::<Vec<_>>()
        };
        let named = || -> Vec<Spelling> {
            let found = operands().take(MAX_VALUES).flat_map(|word| self.word(word, at, depth + 1).all);
            found.take(MAX_VALUES).collect()
        };
        Some(match name {
            "echo" => self.echoed(words, at, depth),
            "printf" => self.formatted(words, at, depth),
            "yes" | "realpath" | "readlink" | "which" | "basename" => named(),
            "dirname" => {
                let found = operands().take(MAX_VALUES).flat_map(|word| self.word(word, at, depth + 1).all);
                found.filter(is_place).map(|one| one.with(&Spelling::text("/.."))).take(MAX_VALUES).collect()
            }
            "pwd" => self.folder(at, depth),
            "printenv" => {
                let names = operands().filter_map(|word| word.value.known());
                names.map(|name| Spelling::source(format!("\"${name}\""))).collect()
            }
            "command" if has("-v") || has("-V") => named(),
            "type" if has("-P") || has("-p") => named(),
            "pgrep" | "pidof" => {
                let written: Vec<&str> = words.iter().map(|word| word.span.of(self.source)).collect();
                vec![Spelling::source(format!("\"$({})\"", written.join(" ")))]
            }
            "ps" if lists_all_processes(words) => vec![Spelling::source("1")],
            "find" => found_files(self, words, at, depth),
            "base64" if has("-d") || has("-D") || has("--decode") || has_letter('d') => {
                each(|text| base64(&text))
            }
            "xxd" if has_letter('r') => each(|text| hex(&text)),
            "rev" => {
                each(|text| Some(text.lines().map(|line| line.chars().rev().collect::<String>()).collect()))
            }
            // Of a list of processes only some come through.
            _ if words::RUIN_PASSING_PROGRAMS.contains(&name) && picks_some(name, words) => {
                let inputs = self.inputs(at, depth + 1).into_iter();
                inputs.filter(|input| *input != Spelling::source("1")).collect()
            }
            _ if words::RUIN_PASSING_PROGRAMS.contains(&name) => {
                let files = operands().take(MAX_VALUES).flat_map(|word| self.content(word, at, depth + 1));
                let files: Vec<Spelling> = files.take(MAX_VALUES).collect();
                if files.is_empty() { self.inputs(at, depth + 1) } else { files }
            }
            _ => return self.listed_names(name, words, at, depth),
        })
    }

    /// The folder that `pwd` prints: where the last `cd` of this text went to, or where the command is.
    fn folder(&self, at: usize, depth: usize) -> Vec<Spelling> {
        let before = self.invocations.get(..at).unwrap_or_default();
        let goes = |one: &Invocation| {
            let name = one.words.first().and_then(|word| word.value.known());
            matches!(name, Some("cd" | "pushd"))
        };
        let here = || vec![Spelling::source("\"$PWD\"")];
        match before.iter().enumerate().rfind(|(_, one)| goes(one)) {
            // Only a substitution has a folder of its own: the judge knows the others.
            Some((place, one)) if self.outer.is_some() => {
                let target = one.words.iter().skip(1).find(|word| !word.value.lead().starts_with('-'));
                match target {
                    Some(word) => {
                        self.word(word, place, depth + 1).all.into_iter().filter(is_place).collect()
                    }
                    None => vec![Spelling::source("~")],
                }
            }
            _ => here(),
        }
    }

    fn echoed(&self, words: &[Word], at: usize, depth: usize) -> Vec<Spelling> {
        let is_option = |word: &&Word| {
            let letters = word.value.known().and_then(|text| text.strip_prefix('-'));
            letters.is_some_and(|letters| !letters.is_empty() && letters.chars().all(|c| "neE".contains(c)))
        };
        let options = words.iter().skip(1).take_while(is_option).count();
        let has_escapes = words.iter().skip(1).take(options).any(|word| word.value.lead().contains('e'));
        let mut all = vec![Spelling::default()];
        for (index, word) in words.iter().skip(1 + options).enumerate() {
            if index > 0 {
                all.iter_mut().for_each(|one| one.push(&Spelling::text(" ")));
            }
            match self.word_of(word, at, depth + 1).as_slice() {
                [only] => all.iter_mut().for_each(|one| one.push(only)),
                several => {
                    let pairs = all.iter().flat_map(|one| several.iter().map(|part| one.with(part)));
                    all = pairs.take(MAX_VALUES).collect();
                    self.spend(all.iter().map(Spelling::len).sum());
                }
            }
        }
        let finish = |one: Spelling| {
            let one = if has_escapes { decoded(one) } else { one };
            one.with(&Spelling::text("\n"))
        };
        all.into_iter().map(finish).collect()
    }

    /// A word that may have been taken out of a wrapper.
    fn word_of(&self, word: &Word, at: usize, depth: usize) -> Vec<Spelling> {
        self.word(word, at, depth).all
    }

    fn formatted(&self, words: &[Word], at: usize, depth: usize) -> Vec<Spelling> {
        let skip = match words.get(1).and_then(|word| word.value.known()) {
            Some("-v") => 3,
            Some("--") => 2,
            _ => 1,
        };
        let Some((format, arguments)) = words.get(skip..).and_then(<[Word]>::split_first) else {
            return Vec::new();
        };
        let format = self.word_of(format, at, depth + 1).into_iter().next().unwrap_or_default();
        let mut values = arguments.iter().take(MAX_PRINTING);
        let mut values = std::iter::from_fn(|| {
            let word = values.next()?;
            self.word_of(word, at, depth + 1).into_iter().next()
        })
        .peekable();
        let mut all = Spelling::default();
        loop {
            let takes = fill(&format, &mut values, &mut all);
            if !takes || values.peek().is_none() {
                return vec![all];
            }
        }
    }
}

/// Writes a format of `printf` once. Says whether it takes values at all.
fn fill(format: &Spelling, values: &mut impl Iterator<Item = Spelling>, all: &mut Spelling) -> bool {
    let mut takes = false;
    for atom in &format.0 {
        let Atom::Text(text) = atom else {
            all.0.push(atom.clone());
            continue;
        };
        let text = escapes(text);
        let mut pieces = text.split('%');
        all.0.extend(pieces.next().map(|first| Atom::Text(first.to_owned())));
        let mut is_escaped = false;
        for piece in pieces {
            if std::mem::take(&mut is_escaped) {
                all.0.push(Atom::Text(piece.to_owned()));
                continue;
            }
            if piece.is_empty() {
                all.0.push(Atom::Text("%".to_owned()));
                is_escaped = true;
                continue;
            }
            let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.*'".contains(c));
            let mut rest = rest.chars();
            let kind = rest.next();
            takes = true;
            if let Some(value) = values.next() {
                let value = if kind == Some('b') { decoded(value) } else { value };
                all.0.extend(value.0);
            }
            all.0.push(Atom::Text(rest.as_str().to_owned()));
        }
    }
    takes
}

fn decoded(value: Spelling) -> Spelling {
    let atoms = value.0.into_iter().map(|atom| match atom {
        Atom::Text(text) => Atom::Text(escapes(&text)),
        source @ Atom::Source(_) => source,
    });
    Spelling(atoms.collect())
}

/// Whether `ps` lists the processes of everybody.
fn lists_all_processes(words: &[Word]) -> bool {
    let words: Vec<&str> = words.iter().skip(1).map(|word| word.value.lead()).collect();
    let short = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
    let selects = words.iter().any(|word| {
        ["-p", "-C", "-q", "-t", "-g", "-s", "--pid", "--ppid", "--tty", "-u", "-U"].contains(word)
            || word.starts_with("--pid=")
            || word.starts_with("--ppid=")
    });
    let is_all = words.iter().filter(short).any(|word| word.contains(['e', 'A']) && !word.starts_with("-o"))
        || words.first().is_some_and(|word| !word.starts_with('-') && word.contains('x'));
    is_all && !selects
}

/// Whether a program passes on only the lines that its pattern or condition is about: `grep node`, `awk '/node/ {print $2}'`.
fn picks_some(name: &str, words: &[Word]) -> bool {
    let has = |option: &str| words.iter().any(|word| word.value.known() == Some(option));
    let first =
        words.iter().skip(1).find_map(|word| word.value.known().filter(|text| !text.starts_with('-')));
    let names = |text: &str| text.contains(|c: char| c.is_ascii_alphabetic());
    match name {
        "grep" | "egrep" | "fgrep" => !has("-v") && first.is_some_and(names),
        "awk" | "gawk" | "mawk" | "nawk" => first.is_some_and(|program| {
            let condition = program.split('{').next().unwrap_or_default().trim();
            !matches!(condition, "" | "NR>1" | "NR > 1" | "NR!=1") || program.contains("if")
        }),
        "head" | "tail" => !words
            .iter()
            .any(|word| word.value.lead().starts_with("-n+") || word.value.lead().starts_with('+')),
        "sed" => first.is_some_and(|script| script.contains('p')),
        _ => false,
    }
}

/// Whether a value is a path as far as it goes: without a variable that isn't known.
fn is_place(value: &Spelling) -> bool {
    value.0.iter().all(|atom| match atom {
        Atom::Text(_) => true,
        Atom::Source(source) => {
            !source.contains('$') || ["\"$PWD\"", "\"${PWD}\"", "\"${HOME}\""].contains(&source.as_str())
        }
    })
}

/// The output of a command that the table lists: `kubectl get ns -o name = ns/x`.
fn listed_output(invocation: &Invocation) -> Vec<Spelling> {
    let own: Vec<&str> = invocation.words.iter().map(|word| word.value.lead()).collect();
    let fits = |command: &str| {
        // `**` at the end stands for any further words.
        let (command, more) = match command.strip_suffix(" **") {
            Some(command) => (command, true),
            None => (command, false),
        };
        let wanted: Vec<&str> = command.split(' ').collect();
        let has_length = wanted.len() == own.len() || more && wanted.len() < own.len();
        has_length && wanted.iter().zip(&own).all(|(wanted, own)| fits_pattern(wanted, own))
    };
    let rows = words::RUIN_OUTPUTS.iter().filter_map(|row| row.split_once(" = "));
    let found = rows.into_iter().filter(|(command, _)| fits(command));
    found.map(|(_, output)| Spelling::source(output)).collect()
}

/// Whether a redirect gives standard input.
fn is_input(redirect: &Redirect) -> bool {
    matches!(redirect.descriptor, Descriptor::Default | Descriptor::Number(0))
        && matches!(
            redirect.operator,
            RedirectOperator::Read
                | RedirectOperator::ReadWrite
                | RedirectOperator::HereDocument
                | RedirectOperator::HereString
        )
}
