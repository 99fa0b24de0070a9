//! What comes before a call in its pipeline, and variables that hold folders which `mktemp` makes: both say where the words of a call
//! lead that no text holds.

use std::collections::HashMap;

use shellgate_syntax::{Assigned, Findings, Input, Invocation, Span, Unknown, Value, Why, Word};

use crate::programs::words;

/// Longer pipelines aren't looked at.
const MAX_STAGES: usize = 6;
/// How many pipelines are remembered.
const MAX_PIPES: usize = 64;
/// How many words a stage may have.
const MAX_STAGE_WORDS: usize = 64;

/// The stages before some calls of a text, each with its words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipes {
    all: Vec<(Span, Vec<Vec<Word>>)>,
}

impl Pipes {
    /// The pipelines of a text that end in a program which takes names or texts from its input.
    pub(super) fn find(invocations: &[Invocation]) -> Self {
        let takes = |one: &&Invocation| {
            let name = one.words.first().and_then(|word| word.value.known());
            name.is_some_and(|name| words::PIPE_READERS.contains(&name))
        };
        let all = invocations
            .iter()
            .filter(takes)
            .filter_map(|one| Some((one.span, stages_before(one, invocations)?)));
        Self { all: all.take(MAX_PIPES).collect() }
    }

    /// The stages before the call at a place, from the first on.
    pub(crate) fn before(&self, place: Span) -> Option<&[Vec<Word>]> {
        let holds = |span: &Span| span.start <= place.start && place.end <= span.end;
        self.all.iter().find(|(span, _)| holds(span)).map(|(_, stages)| stages.as_slice())
    }
}

fn stages_before(one: &Invocation, all: &[Invocation]) -> Option<Vec<Vec<Word>>> {
    let mut stages = Vec::new();
    let mut input = &one.input;
    while let Input::Pipe(sources) = input {
        let [source] = sources.as_ref() else { return None };
        let stage = all.get(*source)?;
        // A redirect of its output leaves nothing for the pipe, one of its input is another source.
        if !stage.redirects.iter().all(is_of_errors)
            || stage.words.len() > MAX_STAGE_WORDS
            || stages.len() >= MAX_STAGES
        {
            return None;
        }
        stages.push(stage.words.clone());
        input = &stage.input;
    }
    stages.reverse();
    (!stages.is_empty() && *input == Input::Inherited).then_some(stages)
}

/// Whether a redirect sends errors elsewhere: `2>/dev/null`.
fn is_of_errors(redirect: &shellgate_syntax::Redirect) -> bool {
    redirect.descriptor == shellgate_syntax::Descriptor::Number(2)
}

/// The variables that are set to what `mktemp` makes and to nothing else, each with the place behind which that has happened.
pub(super) fn made_temporary(source: &str, findings: &Findings) -> HashMap<String, usize> {
    let mut made: HashMap<String, Option<usize>> = HashMap::new();
    for invocation in &findings.invocations {
        for assignment in &invocation.assignments {
            let is_certain = invocation.words.is_empty() && invocation.constructs.is_empty();
            let is_output = matches!(
                &assignment.value,
                Assigned::Scalar(Value::Unknown(Unknown { why: Why::Substitution, lead, tail: Some(tail), .. })) if lead.is_empty() && tail.is_empty()
            );
            let value = assignment
                .span
                .of(source)
                .strip_prefix(assignment.name.as_str())
                .and_then(|rest| rest.strip_prefix('='));
            let is_made = is_output && is_certain && value.is_some_and(makes_temporary);
            let known = made.entry(assignment.name.clone()).or_insert(Some(invocation.span.end));
            if !is_made {
                *known = None;
            }
        }
    }
    made.into_iter().filter_map(|(name, place)| Some((name, place?))).collect()
}

/// Whether a value is the output of `mktemp`, which makes a new file or folder where temporary files are.
fn makes_temporary(value: &str) -> bool {
    let plain = value.trim_matches('"');
    let inner = plain.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    let inner = inner.or_else(|| plain.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')));
    let Some(mut words) = inner.map(str::split_ascii_whitespace) else { return false };
    let is_plain = |word: &str| {
        word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c)) && !word.contains("..")
    };
    let is_harmless = |word: &str| {
        let is_option = ["-d", "-q", "-dq", "-qd", "-t", "-dt", "-td", "--directory", "--quiet", "--tmpdir"]
            .contains(&word);
        let is_name =
            !word.starts_with('-') && is_plain(word) && (word.starts_with("/tmp/") || !word.contains('/'));
        is_option || is_name
    };
    let all: Vec<&str> = words.by_ref().collect();
    let names_folder =
        |word: &&str| word.starts_with("/tmp/") || ["-t", "-dt", "-td", "--tmpdir"].contains(word);
    match all.split_first() {
        Some((&"mktemp", rest)) => {
            let has_name = rest.iter().any(|word| !word.starts_with('-'));
            rest.iter().all(|word| is_harmless(word)) && (!has_name || rest.iter().any(names_folder))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mktemp_makes_temporary_files() {
        for (value, expected) in [
            ("$(mktemp)", true),
            ("\"$(mktemp -d)\"", true),
            ("`mktemp -d`", true),
            ("$(mktemp -d /tmp/build.XXXX)", true),
            ("$(mktemp -t x.XXXX)", true),
            ("$(mktemp x.XXXX)", false),
            ("$(mktemp -d ../x.XXXX)", false),
            ("$(mktemp -p / -d)", false),
            ("$(mktemp -u)", false),
            ("$(mktemp -d /tmp/../x.XXXX)", false),
            ("$(echo /; mktemp)", false),
            ("/etc", false),
        ] {
            assert_eq!(makes_temporary(value), expected, "{value}");
        }
    }
}
