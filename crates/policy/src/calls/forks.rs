//! Functions that start themselves again without end, also through each other: `f(){ g|g& }; g(){ f|f& }; f`.

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

/// The invocations by which functions start themselves without end, by their places.
pub(super) fn forking(findings: &Findings) -> HashSet<usize> {
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
        let is_conditional = invocation.constructs.contains(&Construct::Conditional);
        if is_conditional || matches!(name.as_deref(), Some("return" | "exit" | "exec" | "wait" | "sleep")) {
            may_end.insert(from);
        }
        let to = name.and_then(|name| names.get(name.as_str()).copied());
        if let Some(to) = to.filter(|_| !is_conditional) {
            let has = |wanted: &Construct| invocation.constructs.contains(wanted);
            let multiplies = has(&Construct::Background) || has(&Construct::Pipeline);
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
