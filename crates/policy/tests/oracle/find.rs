//! Expressions of find, with variables whose values end commands and begin actions.

use super::mutate::quoted;
use super::random::Random;

const VALUES: &[&str] = &[
    "';'",
    "+",
    "-exec",
    "'; -exec touch P ;'",
    "a",
    "'('",
    "'!'",
    "-fprint",
    "P",
    "'{}'",
    "-delete",
    "a\\ b",
    "''",
    "-o",
    ",",
];

const WORDS: &[&str] = &[
    "\"$x\"",
    "$x",
    "{}",
    "+",
    "';'",
    "';'",
    "-exec",
    "touch",
    "P",
    "echo",
    "echo",
    "true",
    "-print",
    "-o",
    "'('",
    "')'",
    "!",
    ",",
    "-name",
    "'*'",
    "-fprint",
    "-execdir",
    "-ok",
    "a",
    ".",
    "x{}",
    "\"a$x\"",
    "\"$x;\"",
    "-type",
    "f",
    "-not",
    "-true",
    "-newer",
    "in.txt",
    "-quit",
    "-prune",
    "-maxdepth",
    "1",
    "*",
    "\"$(echo ';')\"",
    "-printf",
    "'%p'",
    "-delete",
];

/// A call of find, perhaps with a variable before it.
pub(crate) fn command(random: &mut Random) -> String {
    let mut words: Vec<String> = vec![random.pick(&[".", ".", "in.txt", ". d", "", "\"$x\""]).to_owned()];
    for _ in 0..random.below(3) + 1 {
        words.push(part(random));
    }
    let mut words: Vec<String> =
        words.join(" ").split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    if random.chance(60) {
        for _ in 0..random.below(2) + 1 {
            let at = random.below(words.len() + 1);
            match random.below(3) {
                0 if at < words.len() => {
                    words.remove(at);
                }
                1 if at < words.len() => words[at] = random.pick(WORDS).to_owned(),
                _ => words.insert(at, random.pick(WORDS).to_owned()),
            }
        }
    }
    let before = if words.iter().any(|word| word.contains("$x")) {
        format!("x={}; ", random.pick(VALUES))
    } else {
        String::new()
    };
    format!("{before}find {}", words.join(" "))
}

fn part(random: &mut Random) -> String {
    match random.below(12) {
        0 => format!("-name {}", quoted(random.pick(&["*", "a*", "in.txt", "-exec", "P"]))),
        1 => format!("-type {}", random.pick(&["f", "d"])),
        2 => random
            .pick(&["-print", "-print0", "-true", "-empty", "-prune", "-quit", "-depth", "-ls"])
            .to_owned(),
        3 => random.pick(&["-o", "-a", "!", "-not", ","]).to_owned(),
        4 => "'(' -name a -o -name b ')'".to_owned(),
        5 => format!(
            "-exec echo {} ';'",
            random.pick(&["{}", "a", "{} +", "\"$x\"", "\"$x\" {}", "{} \"$x\"", "$x"])
        ),
        6 => format!("-exec echo {} +", random.pick(&["{}", "{} x", "\"$x\" {}", "x{}"])),
        7 => format!(
            "-exec {} ';'",
            random.pick(&[
                "true",
                "touch P",
                "\"$x\" P",
                "{} P",
                "echo \"$x\" -exec touch P",
                "echo {} x + -exec touch P"
            ])
        ),
        8 => format!("-{} echo {{}} ';'", random.pick(&["execdir", "ok", "okdir"])),
        9 => random
            .pick(&[
                "-maxdepth 1",
                "-mindepth 1",
                "-mtime -1",
                "-size +1k",
                "-newer in.txt",
                "-perm -u+r",
                "-newermt 2020-01-01",
            ])
            .to_owned(),
        10 => format!("{} P", random.pick(&["-fprint", "-fprint0", "-fls", "-name"])),
        _ => format!("-printf {}", quoted(random.pick(&["%p\\n", "%s", "-exec"]))),
    }
}
