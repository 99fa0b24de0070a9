//! Words of braces and quotes, made at random: bash and we make the same words of them, in the same number.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::process::{Command, Stdio};

use shellgate_syntax::{Value, Why};

use crate::oracle::random::Random;

/// Parts that words are made of. The variable `x` isn't set, and `y` is `v`.
const PARTS: [&str; 30] = [
    "{",
    "}",
    ",",
    "..",
    ".",
    "\"",
    "'",
    "\\",
    "$x",
    "$y",
    "${x:-",
    "${y}",
    "${y+",
    "}",
    "a",
    "b",
    "1",
    "3",
    "{",
    ",",
    "}",
    "{1..3}",
    "{a,b}",
    "-",
    "$(echo c)",
    "`echo d`",
    "$((1))",
    "\"\"",
    "~",
    "=",
];

/// Prints the words of each text that bash takes, between characters that no text has.
const SCRIPT: &str = r#"
f() { printf '\x1d'; for word; do printf '%s\x1e' "$word"; done; }
set -f
y=v HOME=/h
for text; do (eval "f $text") 2>/dev/null; printf '\x1f'; done"#;

#[test]
fn words_of_braces_and_quotes_are_those_of_bash() {
    let mut random = Random::new(seed());
    let count = std::env::var("SHELLGATE_ORACLE_CASES").map_or(1_500, |text| text.parse().unwrap());
    let texts: Vec<String> = std::iter::repeat_with(|| {
        let parts = 3 + random.below(9);
        std::iter::repeat_with(|| random.pick(&PARTS)).take(parts).collect::<String>()
    })
    .filter(|text| shellgate_syntax::read(&format!("f {text}")).is_ok_and(|read| read.invocations.len() <= 4))
    .take(count)
    .collect();
    let mut compared = 0;
    let mut wrong = Vec::new();
    for some in texts.chunks(1_000) {
        let output = Command::new("bash")
            .args(["-c", SCRIPT, "bash"])
            .args(some)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        for (text, said) in some.iter().zip(said.split('\x1f')) {
            if let (Some(ours), Some(said)) = (ours(text), said.strip_prefix('\x1d')) {
                let real: Vec<&str> = said.split_terminator('\x1e').collect();
                compared += 1;
                if !agree(&ours, &real) {
                    wrong.push(format!("{text:?}: bash {real:?}, we {ours:?}"));
                }
            }
        }
    }
    println!("{compared} of {} texts compared", texts.len());
    assert!(compared > texts.len() / 5, "too few texts are certain: {compared}");
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
}

fn seed() -> u64 {
    std::env::var("SHELLGATE_SEED").map_or(7, |text| text.parse().unwrap())
}

/// The values of the words, if their number is certain.
fn ours(text: &str) -> Option<Vec<Value>> {
    let findings = shellgate_syntax::read(&format!("f {text}")).ok()?;
    let first = findings.invocations.first().filter(|_| findings.doubts.is_empty())?;
    let values: Vec<Value> = first.words.iter().skip(1).map(|word| word.value.clone()).collect();
    let is_one = |value: &Value| match value {
        Value::Known(_) => true,
        // `set -f`: a pattern stays as it is.
        Value::Unknown(unknown) => !unknown.splits || unknown.why == Why::Glob,
    };
    (first.words.first()?.value == Value::Known("f".into()) && values.iter().all(is_one)).then_some(values)
}

fn agree(ours: &[Value], real: &[&str]) -> bool {
    ours.len() == real.len()
        && ours.iter().zip(real).all(|(ours, real)| match ours {
            Value::Known(text) => text == real,
            Value::Unknown(unknown) => real.starts_with(&unknown.lead),
        })
}
