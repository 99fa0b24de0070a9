//! Scripts of sed that do nothing in one reading and write in another. sed opens the files of `w` before it runs anything.

use super::random::Random;

const BRACKETS: &[&str] = &[
    "[/]",
    "[^/]",
    "[[:alpha:]/]",
    "[]/]",
    "[^]/]",
    "[\\]/]",
    "[\\/]",
    "[/",
    "[]",
    "[[/]]",
    "[[.-.]/]",
    "[[/]",
    "\\[/]",
    "[a]",
    "[\n/]",
    "[[=a=]/]",
    "[^/]*",
    "\\",
    "[\\\\/]",
    "[[]/]",
    "[[:a/:]]",
    "\u{e9}",
    "\u{e9}\\/",
    "[a-]/]",
];

const MIDDLES: &[&str] = &[
    "x",
    "x/w P\n",
    "w P\n#",
    "]w P\n",
    "]/w P\n",
    ";w P\n;s/",
    "]/x/;w P\n#",
    "]/w P\n;s/]",
    "x\\\n",
    "x\\\\\n",
    "x/g;w P\n",
];

/// Beginnings of lines that may go on behind a backslash.
const HEADS: &[&str] = &[
    "# c",
    "#c\\",
    "p # c",
    ":a",
    "ba",
    "b",
    "r in.txt",
    "w /dev/stdout",
    "s/a/b/",
    "s/a/b",
    "s/a",
    "y/a/b/",
    "y/a",
    "a x",
    "a x\\",
    "i\\",
    "i\\\\",
    "i\\x",
    "c\\\nx",
    "p",
    "}",
    "{",
    "1",
    "q",
    "l 5",
    "=",
    "a",
    "c\\x",
    "$!N",
    "/a/",
    "/a",
    "i\\\nx\\",
    "a\\ x",
    ":a;i\\",
    "ba;s/x/y",
    ":a;a x",
    "n;#",
    "a \\",
    "a  x \\",
    "1,3",
    "1!",
    "s/a/b/g",
    "e",
];

const LABELS: &[&str] = &[
    "}",
    " ",
    "}s/x",
    "}s/x;",
    ";s/x/y\\\n",
    "{",
    "#",
    "\\",
    ";p;",
    "}}",
    " }",
    "} ;",
    "\t",
    "a b",
    ";i\\\n",
    "!",
    ":",
    ",",
    "}#",
    "};#x",
];

pub(crate) fn script(random: &mut Random) -> String {
    match random.below(5) {
        0 | 1 => {
            let end = random.pick(&["", "g", ";p", "\n", "/w P", "/", "w P", "/g;w P"]);
            let (first, second) = (random.pick(BRACKETS), random.pick(MIDDLES));
            match random.below(4) {
                0 => format!("/{first}/{second}{end}"),
                1 => format!("y/{first}/{second}/{end}"),
                _ => format!("s/{first}/{second}/{end}"),
            }
        }
        2 | 3 => {
            let (head, next) = (
                random.pick(HEADS),
                random.pick(&["w P", "w P\n", "x\nw P", ";w P", "\nw P", "}\nw P", "/;w P\n", "/w P\n"]),
            );
            format!("{head}{}\n{next}", random.pick(&["\\", "", "\\\\", "\\ "]))
        }
        _ => {
            let label = random.pick(LABELS);
            format!(
                "{}a{label}{}",
                random.pick(&[":", "b", "t", "{:", "{b", "1b "]),
                random.pick(&["w P", ";w P", "/y/;w P", "\nw P", ";w P;/y/", "\n#\\\nw P"])
            )
        }
    }
}
