//! Scripts of sed. Patterns, texts, labels and comments hold commands, so a version that sees another end of them runs them.

use super::mutate::{mutate, quoted, some};
use super::random::Random;
use super::sed_traps;

const IN_PATTERNS: &[&str] = &[
    "a",
    "b",
    "[^D]",
    "[a-z]",
    "[[:alpha:]]",
    "[[:alpha:]D]",
    "\\D",
    "[D]",
    "[]D]",
    "[\\]",
    "[",
    "]",
    "\\[",
    ".*",
    "^",
    "$",
    "\\n",
    ";",
    "e touch P",
    ";w P;",
    "\n",
    "\\\\",
    "}",
    "{",
    "#",
    "&",
    "\\1",
    "\\(a\\)",
    "\u{e9}",
    " ",
    "e",
    "w P",
];

const TEXTS: &[&str] = &[
    "x",
    "e touch P",
    "w P",
    "x\\",
    "x\\\\",
    "x\\\ny",
    "}",
    "x}",
    "x;p",
    "\\\nx",
    "\\x",
    "\\\n  x\\\ny",
    "\\",
];

const SIGNS: &[&str] = &[
    "/",
    "\\",
    "[",
    "]",
    "\n",
    ";",
    "}",
    "{",
    "e",
    "w",
    " ",
    "#",
    "s",
    "y",
    "a",
    "i\\\n",
    "\\\n",
    ":",
    "b",
    "!",
    ",",
    "1",
    "$",
    "p",
    "g",
    "\t",
    "e touch P",
    "w P",
    "\\\\",
    "^",
    "|",
];

/// A call of sed.
pub(crate) fn command(random: &mut Random) -> String {
    let mut pieces = Vec::new();
    for _ in 0..if random.chance(15) { 2 } else { 1 } {
        let mut script = if random.chance(45) { sed_traps::script(random) } else { script(random) };
        if random.chance(40) {
            script = mutate(random, &script, SIGNS);
        }
        pieces.push(quoted(&script));
    }
    let options = random.pick(&["", "", "-n ", "-E ", "-s ", "-z "]);
    match pieces.as_slice() {
        [script] => format!("sed {options}{script} in.txt"),
        pieces => format!("sed {options}-e {} in.txt", pieces.join(" -e ")),
    }
}

fn script(random: &mut Random) -> String {
    let mut script = String::new();
    for _ in 0..random.below(4) + 1 {
        script += &address(random);
        script += &one(random);
        script += random.pick(&[";", "\n", ";", " ; ", "", " "]);
    }
    script
}

fn address(random: &mut Random) -> String {
    match random.below(9) {
        0 => "1".to_owned(),
        1 => "$!".to_owned(),
        2 => format!("/{}/", pattern(random, "/")),
        3 => format!("\\,{},", pattern(random, ",")),
        4 => format!("1,/{}/", pattern(random, "/")),
        5 => random.pick(&["1~2", "2,+1", "1,$", "0,/a/I", "1!"]).to_owned(),
        _ => String::new(),
    }
}

fn pattern(random: &mut Random, mark: &str) -> String {
    some(random, IN_PATTERNS, 4).replace('D', mark)
}

fn one(random: &mut Random) -> String {
    match random.below(12) {
        0..=3 => {
            let mark = random.pick(&["/", "/", "/", "|", ",", "#", "@", "x", ";"]);
            let flags = random.pick(&["", "g", "p", "2", "gI", "e", "w P", "gm", " ", "}"]);
            format!("s{mark}{}{mark}{}{mark}{flags}", pattern(random, mark), pattern(random, mark))
        }
        4 => format!(
            "{}{}{}",
            random.pick(&["a", "i", "c"]),
            random.pick(&["", " ", "\\", "\\\n"]),
            random.pick(TEXTS)
        ),
        5 => format!(
            "{}{}",
            random.pick(&[":", "b", "t", ": ", "b ", "T"]),
            random.pick(&["a", "a}", "", "a ", "a;p", "a}s/x", "e"])
        ),
        6 => format!("#{}", random.pick(&["", " c", "n", "\\", "e touch P", " c\\"])),
        7 => format!(
            "y/{}/{}/",
            random.pick(&["ab", "[/", "a\\/", "[a]"]),
            random.pick(&["xy", "]e", "x\\/", "xyz"])
        ),
        8 => random.pick(&["{p;p}", "{", "}", "{s/a/b/;n}", "$!{N;D}", "{a x\n}"]).to_owned(),
        9 => {
            random.pick(&["r in.txt", "w P", "e touch P", "e", "R in.txt", "q", "q5", "l 3", "="]).to_owned()
        }
        _ => random.pick(&["p", "d", "n", "N", "D", "P", "g", "G", "h", "H", "x", "z", "F", "="]).to_owned(),
    }
}
