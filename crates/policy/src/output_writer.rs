//! Which programs write the output of a text: the last one of each pipeline, behind `timeout`, `env` and their like.

use shellgate_syntax::Span;
use shellgate_syntax::tree::{Command, CommandKind, List};

use crate::verdict::Part;

/// Programs and builtins that print nothing, or just a line of the text's own.
const NEARLY_SILENT: &[&str] = &[
    ".", ":", "[", "cd", "cp", "date", "declare", "echo", "exit", "export", "local", "ln", "mkdir", "mv",
    "printf", "pwd", "read", "rm", "set", "shopt", "sleep", "source", "test", "touch", "trap", "true",
    "umask", "unset", "wait",
];

/// The calls that write the output of `text`, as words; a word that can't be known is empty. `parts` are what the judge found in
/// it. Nothing: it can't be told, because it is in a loop, a condition or the background.
#[must_use]
pub fn output_writers(text: &str, parts: &[Part]) -> Vec<Vec<String>> {
    let mut spans = Vec::new();
    let all_known =
        shellgate_syntax::read_script(text).is_ok_and(|script| collect(&script.list, &mut spans).is_some());
    if !all_known {
        return Vec::new();
    }
    let calls = spans.into_iter().filter_map(|span| parts.iter().position(|part| part.span == span));
    let calls: Vec<Vec<String>> = calls.map(|at| innermost(at, parts)).collect();
    let loud = |call: &Vec<String>| call.first().is_some_and(|name| !NEARLY_SILENT.contains(&name.as_str()));
    if calls.iter().any(loud) { calls.into_iter().filter(loud).collect() } else { calls }
}

/// The call that a program without a shell makes.
#[must_use]
pub fn output_writers_of_argv(parts: &[Part]) -> Vec<Vec<String>> {
    if parts.is_empty() { Vec::new() } else { vec![innermost(0, parts)] }
}

/// Adds where the last command of each pipeline is. `None`: it can't be told which commands run.
fn collect(list: &List, spans: &mut Vec<Span>) -> Option<()> {
    for item in &list.items {
        if item.background {
            return None;
        }
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)) {
            collect_command(&pipeline.stages.last()?.command, spans)?;
        }
    }
    Some(())
}

fn collect_command(command: &Command, spans: &mut Vec<Span>) -> Option<()> {
    match &command.kind {
        CommandKind::Simple(simple) => {
            if !simple.words.is_empty() {
                spans.push(command.span);
            }
            Some(())
        }
        CommandKind::Subshell(list) | CommandKind::Group(list) => collect(list, spans),
        _ => None,
    }
}

/// The call that the call at `at` starts, if that only prepares it: its words are the last words of the outer call.
fn innermost(at: usize, parts: &[Part]) -> Vec<String> {
    let Some(mut outer) = parts.get(at) else { return Vec::new() };
    for inner in parts.iter().skip(at + 1) {
        let is_inside = outer.span.start <= inner.span.start && inner.span.end <= outer.span.end;
        if is_inside && inner.argv.len() < outer.argv.len() && outer.argv.ends_with(&inner.argv) {
            outer = inner;
        }
    }
    outer.argv.iter().map(|word| word.clone().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{CommandContext, Machine, Rules, judge};

    fn writers(text: &str) -> Vec<String> {
        let root = Path::new("/");
        let machine = Machine::new(root, root, None, "/usr/bin".into());
        let verdict = judge(text, &CommandContext::default(), &Rules::default(), &machine);
        output_writers(text, verdict.parts()).into_iter().map(|call| call.join(" ")).collect()
    }

    #[test]
    fn the_last_program_of_a_pipeline_writes() {
        for (text, expected) in [
            ("cargo test", vec!["cargo test"]),
            ("cd sub && cargo test 2>&1", vec!["cargo test"]),
            ("cargo test 2>&1 | tail -5", vec!["tail -5"]),
            ("timeout 60 env A=1 nice make -j4 2>&1", vec!["make -j4"]),
            ("(cd a; uv run pytest -x)", vec!["pytest -x"]),
            ("cargo build && cargo test", vec!["cargo build", "cargo test"]),
            ("echo start; time git log -3", vec!["git log -3"]),
            ("cargo test $(cat x)", vec!["cargo test "]),
            ("echo hi", vec!["echo hi"]),
            ("for i in 1 2; do cargo test; done", vec![]),
            ("./server & sleep 1; curl localhost", vec![]),
            ("if true; then make; fi", vec![]),
            ("x=1", vec![]),
            ("(", vec![]),
        ] {
            assert_eq!(writers(text), expected, "{text}");
        }
    }
}
