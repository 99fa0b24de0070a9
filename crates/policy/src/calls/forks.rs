//! Processes that are started without end: by functions that start themselves, also through each other
//! (`f(){ g|g& }; g(){ f|f& }; f`), and by loops without end (`while :; do x & done`).

use std::collections::{HashMap, HashSet};

use shellgate_syntax::{Construct, Findings, Invocation};

use super::supposed::function_of;

/// If a text has more functions, cycles among them aren't looked for.
const MAX_FUNCTIONS: usize = 100;

/// A call of one function in the body of another.
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    at: usize,
    /// Whether it leaves a process behind: in the background, or as a stage of a pipeline.
    multiplies: bool,
}

/// Commands that a loop or a function may end by, or that make it wait.
const ENDING: [&str; 7] = ["return", "exit", "exec", "wait", "sleep", "break", "read"];

/// The invocations by which processes are started without end, by their places.
pub(super) fn forking(findings: &Findings, source: &str) -> HashSet<usize> {
    let mut all = recursive(findings);
    all.extend(endless_loops(&findings.invocations, source));
    all
}

/// The invocations that a loop without end starts in the background, unless something in it waits or ends it.
fn endless_loops<'a>(
    invocations: &'a [Invocation],
    source: &'a str,
) -> impl Iterator<Item = usize> + use<'a> {
    let name = |one: &Invocation| one.words.first().and_then(|word| word.value.known().map(str::to_owned));
    let before = |one: &Invocation| source.get(..one.span.start).unwrap_or_default().trim_end();
    let is_endless = invocations.iter().filter(|one| one.repeated).any(|one| match name(one).as_deref() {
        Some(":" | "true") => before(one).ends_with("while"),
        Some("false") => before(one).ends_with("until"),
        // `[ 1 ]` is true of any word.
        Some("[" | "test") => {
            let words: Vec<Option<&str>> = one.words.iter().skip(1).map(|word| word.value.known()).collect();
            matches!(words.as_slice(), [Some(_)] | [Some(_), Some("]")]) && before(one).ends_with("while")
        }
        _ => false,
    }) || source
        .split("((")
        .skip(1)
        .any(|rest| rest.trim_start().starts_with(";;") && source.contains("for"));
    let is_left = |one: &Invocation| {
        let first = one.constructs.iter().position(|construct| *construct == Construct::Conditional);
        let last = one.constructs.iter().rposition(|construct| *construct == Construct::Background);
        one.repeated && first.is_some_and(|first| last.is_some_and(|last| last > first))
    };
    // A `sleep` that is left behind makes nothing wait.
    let ends = |one: &Invocation| {
        one.repeated && !is_left(one) && name(one).is_some_and(|name| ENDING.contains(&name.as_str()))
    };
    let goes_on = is_endless && !invocations.iter().any(ends);
    invocations.iter().enumerate().filter(move |(_, one)| goes_on && is_left(one)).map(|(at, _)| at)
}

/// The invocations by which functions start themselves without end.
fn recursive(findings: &Findings) -> HashSet<usize> {
    let names: HashSet<&str> = findings.functions.iter().map(|function| function.name.as_str()).collect();
    if names.is_empty() || names.len() > MAX_FUNCTIONS {
        return HashSet::new();
    }
    let called =
        |one: &'_ Invocation| one.words.first().and_then(|word| word.value.known().map(str::to_owned));
    // Functions that may end: a part of them has a condition.
    let mut may_end: HashSet<&str> = HashSet::new();
    let mut edges: Vec<Edge<'_>> = Vec::new();
    for (at, invocation) in findings.invocations.iter().enumerate() {
        let from = function_of(invocation);
        if from.is_empty() {
            continue;
        }
        let name = called(invocation);
        let has = |wanted: &Construct| invocation.constructs.contains(wanted);
        let is_conditional = has(&Construct::Conditional);
        let multiplies = has(&Construct::Background) || has(&Construct::Pipeline);
        let to = name.as_deref().and_then(|name| names.get(name).copied());
        // A call without arguments is the same each time, so a condition doesn't end it.
        let is_same = to.is_some() && invocation.words.len() == 1 && multiplies;
        let is_true = invocation.words.is_empty() || matches!(name.as_deref(), Some(":" | "true"));
        let ends = name.as_deref().is_some_and(|name| ENDING.contains(&name));
        if ends || is_conditional && !is_same && !is_true {
            may_end.insert(from);
        }
        if let Some(to) = to.filter(|_| !is_conditional || is_same && invocation.repeated) {
            edges.push(Edge { from, to, at, multiplies });
        }
    }
    let mut next: HashMap<&str, HashSet<&str>> = HashMap::new();
    for edge in &edges {
        next.entry(edge.from).or_default().insert(edge.to);
    }
    let reached: HashMap<&str, HashSet<&str>> =
        names.iter().map(|name| (*name, reachable(name, &next))).collect();
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|reached| reached.contains(to));
    // All ways back lead through functions that lead to each other.
    let multiplying: HashSet<&str> = edges
        .iter()
        .filter(|edge| edge.multiplies && leads(edge.to, edge.from))
        .map(|edge| edge.from)
        .collect();
    let on_cycle = |edge: &&Edge<'_>| {
        let is_beside = |other: &&str| leads(edge.from, other) && leads(other, edge.from);
        leads(edge.to, edge.from)
            && !may_end.iter().any(&is_beside)
            && (edge.from == edge.to || multiplying.iter().any(is_beside))
    };
    edges.iter().filter(on_cycle).map(|edge| edge.at).collect()
}

/// The functions that one of them leads to, itself among them.
fn reachable<'a>(from: &'a str, next: &HashMap<&str, HashSet<&'a str>>) -> HashSet<&'a str> {
    let mut found: HashSet<&str> = HashSet::from([from]);
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        for to in next.get(name).into_iter().flatten() {
            if found.insert(to) {
                open.push(to);
            }
        }
    }
    found
}
