//! Texts that were changed at random: most of what goes wrong in a reader is one byte away from what goes right.

use super::random::Random;

/// What is put in. No slash and no dot: nothing outside the folder can be named.
const BITS: &[&str] = &[
    " ",
    "\n",
    "\t",
    ";",
    "&",
    "|",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "'",
    "\"",
    "`",
    "\\",
    "$",
    "#",
    "=",
    "!",
    "*",
    "?",
    "~",
    "+",
    "-",
    "@",
    ":",
    ",",
    "%",
    "^",
    "$(",
    "${",
    "$((",
    "))",
    "<(",
    ">(",
    "((",
    ";;",
    "&&",
    "||",
    "<<",
    "<<E\n",
    "\nE\n",
    ">&",
    "&>",
    "\\\n",
    "$'",
    "$\"",
    "c1",
    "x1",
    "a=",
    "a=(",
    "a[",
    "]=",
    "[[ ",
    " ]]",
    "if ",
    "then ",
    "fi",
    "do ",
    "done",
    "case ",
    "esac",
    " in ",
    "{ ",
    "; }",
    "! ",
    "time ",
    "# ",
    "function f ",
    "f() ",
    "coproc ",
    "for i in ",
    "while ",
    "..",
    "\r",
    "\u{a0}",
    "é",
    "2>",
    "$a",
    "\"$a\"",
    "EOF",
    "E",
];

pub(crate) fn mutate(random: &mut Random, text: &str, other: &str) -> String {
    let mut chars: Vec<String> = text.chars().map(String::from).collect();
    for _ in 0..=random.below(3) {
        let at = random.below(chars.len() + 1);
        match random.below(7) {
            0 | 1 => chars.insert(at, random.pick(BITS).to_owned()),
            2 if at < chars.len() => chars[at] = random.pick(BITS).to_owned(),
            3 if at < chars.len() => {
                chars.remove(at);
            }
            4 => {
                let end = (at + random.below(8)).min(chars.len());
                let copy: Vec<_> = chars[at..end].to_vec();
                let to = random.below(chars.len() + 1);
                chars.splice(to..to, copy);
            }
            5 => {
                let end = (at + random.below(8)).min(chars.len());
                chars.drain(at..end);
            }
            _ => {
                let other: Vec<_> = other.chars().map(String::from).collect();
                let start = random.below(other.len() + 1);
                let end = (start + random.below(20)).min(other.len());
                chars.splice(at..at, other[start..end].iter().cloned());
            }
        }
    }
    chars.concat()
}
