//! Programs of awk. Strings, regular expressions and comments hold code, so a version that sees another end of them runs it.

use super::awk_traps;
use super::mutate::{mutate, quoted, some};
use super::random::Random;

const PAYLOADS: &[&str] = &[
    "system(\"touch P\")",
    ";system(\"touch P\");",
    "};BEGIN{system(\"touch P\")}#",
    "print 1>\"P\"",
    ";print 1 > \"P\";",
    "\"touch P\"|getline",
    "print|\"touch P\"",
];

/// Signs that send output elsewhere in other places.
const COMPARISONS: &[&str] = &[
    "print a[x > c]",
    "print f(x > c)",
    "print (x > c)",
    "print (x)(y > c)",
    "print(x, y > c)",
    "printf(\"%s\", x > c)",
    "printf \"%s\", (x > c) ? 1 : 2",
    "x = y > c",
    "print -x;y > c",
    "print x\ny > c",
    "if (x > c) print x",
    "while (x > c) x--",
    "getline x < \"in.txt\"",
    "while ((getline x < \"in.txt\") > 0) n++",
    "print length; x > c",
    "print x,\ny",
    "x = y ||\n z",
    "print x > \"/dev/null\"",
    "print \\\n x",
    "print $1, $2 # c > c",
    "delete a[1]; exit x > c",
];

/// Code without a quote, for inside strings.
const IN_STRINGS: &[&str] = &[
    "system(c)",
    ";print 1>c;",
    "a",
    " ",
    "/",
    "\\\"",
    "\\\\",
    "#",
    "%s",
    "\\/",
    "[",
    "]",
    "}",
    "{",
    "\u{e9}",
];

const IN_REGEXES: &[&str] = &[
    "a",
    "b",
    "[a-z]",
    "[^0-9]",
    "[[:alpha:]]",
    "\\/",
    "\\[",
    "\"",
    ";system(c)",
    "}",
    "#",
    "=",
    "|",
    "(a|b)",
    "\\\\",
    ".*",
    "^",
    "$",
    "\u{e9}",
];

/// Brackets whose end versions see at different places.
const ODD_BRACKETS: &[&str] =
    &["[", "]", "[]", "[^]]", "[/]", "[^/]", "[\\]]", "[[.a.]]", "[[]", "[\u{e9}]", "[\\/]", "[a\\"];

const SIGNS: &[&str] = &[
    "/", "\"", "\\", "#", "\n", "[", "]", "(", ")", "{", "}", ";", ",", " ", "=", ">", "|", "~", "!", "+",
    "++", "--", "$", "1", "x", "case ", "length", "getline ", "in ", "\\\n", "in", "switch", "func ", "**",
    "?", ":", "&&", "\t", "e", ".", "0x", "@", "::", "&",
];

/// A call of awk.
pub(crate) fn command(random: &mut Random) -> String {
    let mut program = if random.chance(40) { awk_traps::program(random) } else { program(random) };
    if random.chance(45) {
        program = mutate(random, &program, SIGNS);
    }
    let options = random.pick(&["", "", "", "-v c=touch\\ P ", "-F/ ", "-F: "]);
    format!("awk {options}{} {}", quoted(&program), random.pick(&["in.txt", "c=touch\\ P in.txt", ""]))
        .trim_end()
        .to_owned()
}

fn program(random: &mut Random) -> String {
    let mut program = String::new();
    for _ in 0..random.below(3) + 1 {
        program += &item(random);
        program += random.pick(&["\n", ";", " ", "\n\n", ""]);
    }
    if random.chance(25) {
        program += &comment(random);
    }
    program
}

fn item(random: &mut Random) -> String {
    match random.below(7) {
        0 | 1 => format!("BEGIN{{{}}}", statements(random, 2)),
        2 => format!("{}{{{}}}", regex(random), statements(random, 2)),
        3 => format!("{} {{{}}}", expression(random, 2), statements(random, 1)),
        4 => format!("{},{}", regex(random), regex(random)),
        5 => format!("function f(a, b){{{}}}{{print f(1, 2)}}", statements(random, 1)),
        _ => format!("{{{}}}", statements(random, 2)),
    }
}

fn statements(random: &mut Random, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..random.below(3) + 1 {
        text += &statement(random, depth);
        text += random.pick(&[";", "\n", "; ", " ; ", "\n  "]);
    }
    text
}

fn statement(random: &mut Random, depth: usize) -> String {
    let deeper = depth.saturating_sub(1);
    match random.below(if depth == 0 { 5 } else { 10 }) {
        _ if random.chance(2) => random.pick(PAYLOADS).to_owned(),
        _ if random.chance(12) => random.pick(COMPARISONS).to_owned(),
        0 => format!("print {}", list(random)),
        1 => format!("x = {}", expression(random, 2)),
        2 => format!("printf {}, {}", string(random), expression(random, 1)),
        3 => expression(random, 2),
        4 => format!("print({}){}", list(random), random.pick(&["", "", "(1)", ", 2"])),
        5 => format!("if ({}) {}", expression(random, 1), statement(random, deeper)),
        6 => format!("for (k in a) {}", statement(random, deeper)),
        7 => format!("for (i=0;i<2;i++) {}", statement(random, deeper)),
        8 => format!("{{ {} }}", statements(random, deeper)),
        _ => format!(
            "{} {}",
            random.pick(&["delete a;", "next;", "n++;", "if (x) n--; else", "do n++; while (n<3);"]),
            statement(random, deeper)
        ),
    }
}

fn list(random: &mut Random) -> String {
    let items: Vec<String> = (0..random.below(3) + 1).map(|_| expression(random, 2)).collect();
    items.join(random.pick(&[",", ", ", ",\n", " , "]))
}

fn expression(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return operand(random);
    }
    let deeper = depth - 1;
    let (left, right) = (expression(random, deeper), expression(random, deeper));
    match random.below(10) {
        0 | 1 => operand(random),
        2 | 3 => {
            let (left, right) = (plain(random), plain(random));
            format!("{left}{}{right}", random.pick(&["/", " / ", "/ ", " /", "/", " /= "]))
        }
        4 => format!("({left})"),
        5 => format!("{left} {} {}", random.pick(&["~", "!~"]), regex(random)),
        6 => format!("{left} {right}"),
        7 => format!("{left} ? {right} : 1"),
        8 => format!(
            "{}({left}, {right})",
            random.pick(&["substr", "index", "split", "sprintf", "atan2", "match"])
        ),
        _ => format!(
            "{left}{}{right}",
            random.pick(&["+", "-", "*", "==", "<", " > ", "&&", "||", " ", "%", "^"])
        ),
    }
}

fn operand(random: &mut Random) -> String {
    match random.below(40) {
        0 => regex(random),
        1 => {
            random.pick(&["f(1, 2)", "case", "getline x", "(getline line)", "switch", "length()"]).to_owned()
        }
        2..=6 => random.pick(&["x++", "--x", "-x", "!x", "length", "length($0)", "toupper(x)"]).to_owned(),
        7..=16 => string(random),
        _ => plain(random),
    }
}

/// An operand that may be divided.
fn plain(random: &mut Random) -> String {
    random
        .pick(&[
            "x",
            "y",
            "NR",
            "NF",
            "c",
            "n",
            "FS",
            "1",
            "2.5",
            ".5",
            "1e3",
            "10",
            "$1",
            "$NF",
            "$(NF-1)",
            "a[1]",
            "a[x,1]",
            "(x)",
            "substr(x,1)",
            "int(x)",
        ])
        .to_owned()
}

fn string(random: &mut Random) -> String {
    format!("\"{}\"", some(random, IN_STRINGS, 4))
}

fn regex(random: &mut Random) -> String {
    let odd = if random.chance(6) { random.pick(ODD_BRACKETS) } else { "" };
    format!("/{}{odd}{}/", some(random, IN_REGEXES, 2), some(random, IN_REGEXES, 1))
}

fn comment(random: &mut Random) -> String {
    format!(
        "#{}{}{}",
        random.pick(&["", " c", "\"", "/", "'"]),
        random.pick(PAYLOADS),
        random.pick(&["\n", "\\\n", ""])
    )
}
