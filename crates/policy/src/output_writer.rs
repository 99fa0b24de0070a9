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

/// Programs that print lines of their standard input, if they name no file.
const LINE_PASSERS: &[&str] = &["cat", "head", "tail", "tee"];

/// A call that writes output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputCall {
    /// Its words; one that can't be known is empty.
    pub argv: Vec<String>,
    /// Whether the output of another call is piped to it.
    pub reads_pipe: bool,
}

/// The calls that write the output of `text`. `parts` are what the judge found in
/// it. Nothing: it can't be told, because it is in a loop, a condition or the background.
#[must_use]
pub fn output_writers(text: &str, parts: &[Part]) -> Vec<OutputCall> {
    let mut pipelines = Vec::new();
    let all_known = shellgate_syntax::read_script(text)
        .is_ok_and(|script| collect(&script.list, &mut pipelines).is_some());
    if !all_known {
        return Vec::new();
    }
    let call = |span: &Span| Some(innermost(parts.iter().position(|part| part.span == *span)?, parts));
    let calls: Vec<OutputCall> = pipelines.iter().filter_map(|pipeline| writer(pipeline, call)).collect();
    let loud =
        |call: &OutputCall| call.argv.first().is_some_and(|name| !NEARLY_SILENT.contains(&name.as_str()));
    if calls.iter().any(loud) { calls.into_iter().filter(loud).collect() } else { calls }
}

/// The call that a program without a shell makes.
#[must_use]
pub fn output_writers_of_argv(parts: &[Part]) -> Vec<OutputCall> {
    if parts.is_empty() {
        return Vec::new();
    }
    vec![OutputCall { argv: innermost(0, parts), reads_pipe: false }]
}

/// A pipeline of simple commands.
struct Pipeline {
    /// Where its commands are, the last first, as far as they are simple.
    spans: Vec<Span>,
    /// How many there are.
    stages: usize,
}

/// The call whose lines a pipeline prints.
fn writer(pipeline: &Pipeline, call: impl Fn(&Span) -> Option<Vec<String>>) -> Option<OutputCall> {
    let calls: Vec<Vec<String>> = pipeline.spans.iter().map_while(call).collect();
    let passing = calls.iter().take_while(|call| passes_lines(call)).count();
    // Only what stands before it can pass lines on.
    let at = passing.min(calls.len().checked_sub(1)?);
    Some(OutputCall { argv: calls.get(at)?.clone(), reads_pipe: at + 1 < pipeline.stages })
}

/// Whether a call prints lines of its standard input as they are: it names no file.
fn passes_lines(call: &[String]) -> bool {
    let is_option =
        |word: &String| word.starts_with(['-', '+']) || word.bytes().all(|byte| byte.is_ascii_digit());
    call.split_first().is_some_and(|(name, words)| {
        LINE_PASSERS.contains(&name.as_str()) && words.iter().all(|word| !word.is_empty() && is_option(word))
    })
}

/// Adds the pipelines of a list. `None`: it can't be told which commands run.
fn collect(list: &List, pipelines: &mut Vec<Pipeline>) -> Option<()> {
    for item in &list.items {
        if item.background {
            return None;
        }
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)) {
            let (last, before) = pipeline.stages.split_last()?;
            match &last.command.kind {
                CommandKind::Simple(simple) if simple.words.is_empty() => {}
                CommandKind::Simple(_) => {
                    let simple = |command: &Command| matches!(command.kind, CommandKind::Simple(_));
                    let stages =
                        before.iter().rev().map(|stage| &stage.command).take_while(|one| simple(one));
                    let spans = std::iter::once(&last.command).chain(stages).map(|one| one.span).collect();
                    pipelines.push(Pipeline { spans, stages: pipeline.stages.len() });
                }
                CommandKind::Subshell(list) | CommandKind::Group(list) => collect(list, pipelines)?,
                _ => return None,
            }
        }
    }
    Some(())
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
        let piped = |call: &OutputCall| if call.reads_pipe { "| " } else { "" };
        let calls = output_writers(text, verdict.parts());
        calls.into_iter().map(|call| format!("{}{}", piped(&call), call.argv.join(" "))).collect()
    }

    #[test]
    fn the_last_program_of_a_pipeline_writes() {
        for (text, expected) in [
            ("cargo test", vec!["cargo test"]),
            ("cd sub && cargo test 2>&1", vec!["cargo test"]),
            ("cargo test 2>&1 | tail -5", vec!["cargo test"]),
            ("cargo test | head -n 50 | cat", vec!["cargo test"]),
            ("cargo test | tail -5 log", vec!["| tail -5 log"]),
            ("cargo test | grep -v ok | cat", vec!["| grep -v ok"]),
            ("git log | sort", vec!["| sort"]),
            ("for i in 1 2; do echo $i; done | cat", vec!["| cat"]),
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
