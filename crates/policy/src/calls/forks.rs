//! Functions that start themselves again without end, also through each other: `f(){ g|g& }; g(){ f|f& }; f`.

use std::collections::{HashMap, HashSet};

use shellgate_syntax::{Construct, Findings, Invocation};

use super::supposed::function_of;

/// If a text has more functions, cycles among them aren't looked for.
const MAX_FUNCTIONS: usize = 200;

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
    let mut next: HashMap<&str, Vec<&Edge<'_>>> = HashMap::new();
    for edge in &edges {
        next.entry(edge.from).or_default().push(edge);
    }
    // A call counts if the way leads back to where it is, and either leaves a process behind somewhere or has no end at all.
    let on_cycle = |edge: &&Edge<'_>| {
        let reached = reachable(edge.to, &next);
        let comes_back = reached.contains(edge.from);
        let back: Vec<&Edge<'_>> = edges
            .iter()
            .filter(|other| {
                (other.from == edge.to || reached.contains(other.from))
                    && reachable(other.to, &next).contains(edge.from)
            })
            .collect();
        let multiplies = edge.multiplies || back.iter().any(|other| other.multiplies);
        let is_endless =
            !may_end.contains(edge.from) && back.iter().all(|other| !may_end.contains(other.from));
        comes_back && is_endless && (multiplies || edge.from == edge.to)
    };
    edges.iter().filter(on_cycle).map(|edge| edge.at).collect()
}

/// The functions that one of them leads to, itself among them.
fn reachable<'a>(from: &'a str, next: &HashMap<&str, Vec<&Edge<'a>>>) -> HashSet<&'a str> {
    let mut found: HashSet<&str> = HashSet::from([from]);
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        for edge in next.get(name).into_iter().flatten() {
            if found.insert(edge.to) {
                open.push(edge.to);
            }
        }
    }
    found
}
