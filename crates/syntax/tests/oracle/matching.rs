//! Whether what bash started is among the findings.

#![expect(clippy::indexing_slicing, reason = "a test may")]

use shellgate_syntax::{Findings, Invocation, Unreadable, Value, Why};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    /// An invocation has these words.
    Found,
    /// The reader refused the text: nothing of it would be run.
    Refused,
    /// The reader said that it isn't certain.
    Doubted,
    /// A program that only running can tell, or one that runs its arguments.
    Unknown,
    /// None of these.
    Missed,
}

impl Judged {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Refused => "in a refused text",
            Self::Doubted => "in a text with doubts",
            Self::Unknown => "in a text with unknown programs",
            Self::Missed => "missed",
        }
    }
}

/// Builtins that run text or words they are given. What they run is the judge's business.
const RUNS_MORE: &[&str] =
    &["eval", "exec", "command", "builtin", "trap", "source", ".", "alias", "let", "declare"];

pub(crate) fn judge(result: Result<&Findings, &Unreadable>, argv: &[String]) -> Judged {
    let Ok(findings) = result else { return Judged::Refused };
    if findings.invocations.iter().any(|one| fits(one, argv)) {
        return Judged::Found;
    }
    if !findings.doubts.is_empty() || !findings.hazards.is_empty() {
        return Judged::Doubted;
    }
    let open = findings.invocations.iter().any(|one| match one.words.first().map(|word| &word.value) {
        Some(Value::Known(name)) => RUNS_MORE.contains(&name.as_str()),
        Some(Value::Unknown(_)) => true,
        None => false,
    });
    if open { Judged::Unknown } else { Judged::Missed }
}

fn fits(invocation: &Invocation, argv: &[String]) -> bool {
    let values: Vec<&Value> = invocation.words.iter().map(|word| &word.value).collect();
    let Some(Value::Known(_)) = values.first() else { return false };
    words_fit(&values, argv)
}

fn words_fit(values: &[&Value], argv: &[String]) -> bool {
    let Some((first, rest)) = values.split_first() else { return argv.is_empty() };
    match first {
        Value::Known(text) => argv.first() == Some(text) && words_fit(rest, &argv[1..]),
        Value::Unknown(unknown) => {
            let begins =
                |word: &String| word.starts_with(&unknown.lead) || matches!(unknown.why, Why::Tilde { .. });
            if !unknown.splits {
                return argv.first().is_some_and(begins) && words_fit(rest, &argv[1..]);
            }
            (0..=argv.len()).any(|taken| {
                argv.first().is_none_or(|word| taken == 0 || begins(word)) && words_fit(rest, &argv[taken..])
            })
        }
    }
}
