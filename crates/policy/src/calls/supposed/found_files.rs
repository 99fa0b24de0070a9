//! What `find` and `fd` find, as far as it matters.
//!
//! A test such as `-name '.g*'` also finds `.git`. So the expression is tried on the starting point, on the names in the table
//! that a search must not delete (`ruin-precious-names`) and a file in them, on each pattern, and on some other file.

use shellgate_syntax::Word;

use super::find_expression::{Action, Candidate, Outcome, Search};
use super::spelling::{Atom, Spelling, quoted};
use super::values::{KnownText, MAX_VALUES};
use crate::programs::words;

/// A file in a folder with a precious name, and the part of the folder that stands for all its files.
const INNER_FILE: (&str, &str) = ("HEAD", "objects");

/// The names that a call of find prints.
pub(super) fn found_files(text: &KnownText<'_>, words: &[Word], at: usize, depth: usize) -> Vec<Spelling> {
    let search = Search::read(words);
    if search.acts() {
        return Vec::new();
    }
    let starts = spelled(&search.starts, text, at, depth);
    let found = starts.iter().flat_map(|start| tried(&search, start));
    let found = found.filter(|(_, outcome)| outcome.is_found && !outcome.is_pruned);
    found.map(|(name, _)| name).take(MAX_VALUES).collect()
}

/// The commands that a call of find runs for what its tests let through.
pub(super) fn commands(text: &KnownText<'_>, words: &[Word], at: usize) -> Vec<String> {
    let search = Search::read(words);
    if !search.acts() {
        return Vec::new();
    }
    let starts = spelled(&search.starts, text, at, 0);
    let mut all = Vec::new();
    for (name, outcome) in starts.iter().flat_map(|start| tried(&search, start)) {
        let found = name.as_word();
        all.extend(outcome.actions.into_iter().map(|action| match action {
            Action::Delete => format!("rm -r {found}"),
            Action::Run(words) => {
                let words = words.iter().map(|word| match word.value.known() {
                    Some("{}") => found.clone(),
                    Some(own) if own.contains("{}") => quoted(&own.replace("{}", &found)),
                    _ => word.span.of(text.source).to_owned(),
                });
                words.collect::<Vec<_>>().join(" ")
            }
        }));
    }
    all.truncate(MAX_VALUES * 2);
    all
}

/// The names below a starting point that matter, with what comes of each.
fn tried<'e, 'w>(search: &'e Search<'w>, start: &Spelling) -> Vec<(Spelling, Outcome<'e, 'w>)> {
    let written = start.known().unwrap_or_default();
    let path = written.trim_end_matches('/');
    let own_name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("/");
    let mut all = Vec::new();
    let mut try_on = |name: Spelling, candidate: Candidate<'_>| {
        let outcome = search.outcome(&candidate);
        let is_pruned = outcome.is_pruned;
        all.push((name, outcome));
        is_pruned
    };
    let top = Candidate { name: Some(own_name), path: &written, is_folder: Some(true), depth: 0 };
    try_on(start.clone(), top);
    for name in words::RUIN_PRECIOUS_NAMES {
        let folder = format!("{path}/{name}");
        let own = Candidate { name: Some(*name), path: &folder, is_folder: Some(true), depth: 1 };
        if try_on(below(start, Atom::Text((*name).to_owned())), own) {
            continue;
        }
        let file = format!("{folder}/{}", INNER_FILE.0);
        let inner = Candidate { name: Some(INNER_FILE.0), path: &file, is_folder: Some(false), depth: 2 };
        try_on(below(start, Atom::Text(format!("{name}/{}", INNER_FILE.1))), inner);
    }
    let names = search.names();
    for pattern in &names {
        let place = format!("{path}/{pattern}");
        let named = Candidate { name: Some(*pattern), path: &place, is_folder: None, depth: 1 };
        try_on(below(start, pattern_source(pattern)), named);
    }
    if names.is_empty() {
        let place = format!("{path}/*");
        let other = Candidate { name: None, path: &place, is_folder: Some(false), depth: 1 };
        try_on(below(start, Atom::Source("*".to_owned())), other);
    }
    all
}

/// A name below a starting point.
fn below(start: &Spelling, name: Atom) -> Spelling {
    let mut all = start.clone();
    if !matches!(all.0.last(), Some(Atom::Text(text)) if text.ends_with('/')) {
        all.0.push(Atom::Text("/".to_owned()));
    }
    all.0.push(name);
    all
}

fn spelled(starts: &[&Word], text: &KnownText<'_>, at: usize, depth: usize) -> Vec<Spelling> {
    if starts.is_empty() {
        return vec![Spelling::text(".")];
    }
    let starts = starts.iter().take(MAX_VALUES).flat_map(|word| text.word(word, at, depth + 1).all);
    starts.take(MAX_VALUES).collect()
}

/// A pattern as the shell reads one.
fn pattern_source(pattern: &str) -> Atom {
    let mut source = String::new();
    for c in pattern.chars() {
        match c {
            '*' | '?' | '[' | ']' => source.push(c),
            c => source.push_str(&quoted(c.encode_utf8(&mut [0; 4]))),
        }
    }
    Atom::Source(source)
}

/// What `fd` finds and runs a command for: `.git`, if it looks at hidden names and its pattern lets that one through.
pub(super) fn fd_commands(text: &KnownText<'_>, words: &[Word]) -> Vec<String> {
    let is_runner = |word: &Word| is_one_of(word, words::RUIN_FD_RUNS);
    let Some(at) = words.iter().position(is_runner) else { return Vec::new() };
    let (own, command) = words.split_at(at);
    let places = fd_places(text, own);
    let is_hidden = own.iter().any(|word| is_one_of(word, words::RUIN_FD_HIDDEN)) && fd_finds_precious(own);
    if !is_hidden && places.is_empty() {
        return Vec::new();
    }
    let mut command: Vec<&str> = command.iter().skip(1).map(|word| word.span.of(text.source)).collect();
    if !command.contains(&"{}") {
        command.push("{}");
    }
    let precious = words::RUIN_PRECIOUS_NAMES.iter().filter(|_| is_hidden).map(|name| (*name).to_owned());
    let found = precious.chain(places).map(|name| {
        let words = command.iter().map(|word| if *word == "{}" { name.as_str() } else { *word });
        words.collect::<Vec<_>>().join(" ")
    });
    found.collect()
}

/// The folders in which fd finds everything, as patterns: `fd . ~` finds `~/*`.
fn fd_places(text: &KnownText<'_>, own: &[Word]) -> Vec<String> {
    let mut operands = Vec::new();
    for word in own.iter().skip(1) {
        let lead = word.value.lead();
        if lead.starts_with('-') {
            // A test that leaves names out.
            if !is_one_of(word, words::RUIN_FD_HIDDEN) && lead != "--" {
                return Vec::new();
            }
            continue;
        }
        operands.push(word);
    }
    let finds_all = operands.first().is_some_and(|word| matches!(word.value.known(), Some("." | ".*" | "")));
    let places = operands.iter().skip(1).filter(|_| finds_all);
    places.map(|word| format!("{}/*", word.span.of(text.source).trim_end_matches('/'))).collect()
}

fn is_one_of(word: &Word, list: &[&str]) -> bool {
    word.value.known().is_some_and(|own| list.contains(&own))
}

/// Whether the pattern of fd lets a precious name through. It is a regular expression, and may be a part of the name.
fn fd_finds_precious(own: &[Word]) -> bool {
    let mut own = own.iter().skip(1).filter_map(|word| word.value.known());
    while let Some(word) = own.next() {
        if word.starts_with('-') {
            if words::RUIN_FD_WITH_VALUE.contains(&word) {
                own.next();
            }
            continue;
        }
        let bare = word.replace('\\', "");
        let bare = bare.trim_start_matches('^').trim_end_matches('$');
        return matches!(bare, "." | ".*" | "")
            || words::RUIN_PRECIOUS_NAMES.iter().any(|name| name.contains(bare));
    }
    true
}
