//! Programs of awk that do nothing in one reading and run or write in another: what follows a slash, bracket, backslash or
//! line break is code only for a version that sees an end there.

use super::random::Random;

const CODE: &[&str] = &[
    "system(\"touch P\")",
    "print 1>\"P\"",
    "\"touch P\"|getline",
    "print|\"touch P\"",
    "printf(\"x\")>>\"P\"",
];

/// What stands before a slash.
const BEFORE: &[&str] = &[
    "case",
    "switch",
    "default",
    "length",
    "x++",
    "x--",
    "\"a\"",
    "1",
    "x",
    "$1",
    "a[1]",
    "(x)",
    "f(1)",
    "if(x)",
    "while(0)",
    "for(;0;)",
    "getline",
    "getline x",
    "in",
    "func",
    "print",
    "return",
    "exit",
    "x in a",
    "delete a",
    "else",
    "!",
    "~",
    ",",
    "+",
    "-",
    "=",
    "?",
    ":",
    "nextfile",
    "and",
    "or",
    "substr",
    "/a/",
    "toupper",
    "int",
    ".5",
    "1e",
    "NF",
    "systime",
    "$",
    "++x",
    "\\\n",
    "&&",
    "||",
    "(",
    "[",
    "{",
    "}",
    ";",
    "do",
    "function",
    "printf",
    "close",
    "fflush",
    "gensub",
    "mktime",
    "strtonum",
    "typeof",
    "length()",
    "length($0)",
    "x=",
    "x /=",
    "!x",
    "BEGIN",
    "NR==1",
    "intdiv",
    "eval",
    "$NF",
    "$(1)",
    "(x)++",
    "a[1]++",
    "-1",
    "1 ",
    "x\n",
    "x;",
    "x,\n",
    "x&&\n",
    "{}",
    "#c\n",
];

const BRACKETS: &[&str] = &[
    "[/]",
    "[^/]",
    "[]/]",
    "[^]/]",
    "[[:alpha:]/]",
    "[[.a.]/]",
    "[\\]/]",
    "[\\/]",
    "[[]/]",
    "[a\\]/]",
    "[/",
    "[",
    "]",
    "[]",
    "\\[/]",
    "[[:alpha:]]",
    "[\u{e9}]",
    "\u{e9}[/]",
    "[[=a=]/]",
    "[a-z]",
    "=",
    "\\/",
    "[:a:]",
    "[[:a:]/]",
];

const ENDS: &[&str] = &[
    "\\", "\\\\", "\\\"", "\u{e9}\\", "\\x", "\\\"\\\\", "\n", "\\\n", "\\012", "\\0", "\\u", "a\r", "\\\\\\",
];

const JOINTS: &[&str] = &[
    ",\n", ",\n\n", ", # c\n", " \\\n", "\n", ";", "&&\n", "||\n", "?\n", " in\n", ",\\\n", " ", "(1)", ", ",
    "\\\n", ",\t\n", ", \\\n ", "# c\\\n", "\r\n", ")", "]",
];

pub(crate) fn program(random: &mut Random) -> String {
    let code = random.pick(CODE);
    let close = random.pick(&["", "}", "\n}", "\n"]);
    match random.below(8) {
        0 | 1 => {
            let before = random.pick(BEFORE);
            let space = random.pick(&["", " ", "\n"]);
            let start = random.pick(&["x=", "", "x=x ", "print ", "y ", "if (x) "]);
            format!("BEGIN{{{start}{before}{space}/1;{code}}} #/{close}")
        }
        2 => {
            let before = random.pick(BEFORE);
            format!("{before} /1/{{x}};BEGIN{{{code}}} #/{close}")
        }
        3 => {
            format!("/{}\"/{{}};BEGIN{{{code}}}#\"{close}{}", random.pick(BRACKETS), random.pick(&["", "/"]))
        }
        4 => format!("{{x=\"{}\";{code}#\"{close}\n}}", random.pick(ENDS)),
        5 => format!("#{}\\\nBEGIN{{{code}}}{close}", random.pick(&["", " c", "\\", "\"", "/"])),
        6 => format!("BEGIN{{print \"a\"{}\"b\" > \"P\"}}", random.pick(JOINTS)),
        _ => format!(
            "BEGIN{{x=1{}{code}}}",
            random.pick(&["", "e", "x", ".", "_", "e1", " ", "0x", "1.", "\n", ".e"])
        ),
    }
}
