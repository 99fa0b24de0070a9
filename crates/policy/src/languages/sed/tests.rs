//! What is read and what isn't.

use super::super::Does;
use super::{is_open, read};

fn run(text: &str) -> Does {
    Does::Run(Some(text.to_owned()))
}

fn write(text: &str) -> Does {
    Does::Write(Some(text.to_owned()))
}

#[test]
fn plain_scripts_do_nothing_else() {
    for text in [
        "1,2p",
        "s/a/b/g; s/c/d/",
        "/ERROR/,/WARN/p",
        "s|/usr|/opt|g",
        "$!{N;D}",
        ":a;N;$!ba;s/\\n/ /g", // typos: ignore-line
        ":a;/x$/{N;ba}",
        "y/abc/xyz/",
        "/x/{s/e/w/;p}",
        "1i\\\nw file",
        "1i\\  foo",
        "a e id",
        "s/[^/]*$//",
        "s/[/]/x/",
        "s/[]/e id;s/]/x/",
        "/[/]/d",
        "\\,e,d",
        "2q5",
        "/a/!d # e id",
        "s/a/b\\\nc/",
        "2~3d;/a/,+2d;0,/x/I!p",
        "/^## /!p}",
        "s/\\(^\\|[^0-9.]\\)\\([0-9]*\\)\\([0-9]\\{3\\}\\)/\\1\\2,\\3/g",
        "s/.*github.com[:\\/]//; s/\\.git$//",
        "s/[[:space:]]*$//",
        "#n\np",
        "",
    ] {
        assert_eq!(read(text), Some(Vec::new()), "{text}");
    }
}

#[test]
fn commands_that_run_write_and_read_are_found_anywhere() {
    for (text, does) in [
        ("1e rm x", vec![run("rm x")]),
        ("e", vec![Does::Run(None)]),
        ("s/b/B/e", vec![Does::Run(None)]),
        ("s,b,B,gw out", vec![write("out")]),
        ("/a/{p;w out\n}", vec![write("out")]),
        ("a text\ne id", vec![run("id")]),
        (":a\ne id", vec![run("id")]),
        ("r x\nW y", vec![Does::Read(Some("x".to_owned())), write("y")]),
        ("p;$e id", vec![run("id")]),
        ("s/[/]/x/;e id", vec![run("id")]),
    ] {
        assert_eq!(read(text), Some(does), "{text}");
    }
}

#[test]
fn what_versions_may_read_differently_is_not_read() {
    for text in [
        "s/a",
        "k",
        "a x\\\\\ne id",
        "s/a/b/k",
        "s/a\nb/c/",
        "s/[/]e/x/;s/[/]p/",
        "s/[[:alpha:]/]/x/",
        "s/[\\]/e id;s/]/x/",
        "p # c\\\ne id",
        ":a}s/x;e id;/y/",
        ":a;i\\\ne id",
        "ba;s/x/y\\\ne id#/",
        "i\\",
        "i\\\\\nex",
        "$a\\",
        "a",
        "w a;b",
        "w a }",
        "r",
        "dp",
        "y/[/]/xyz/",
        "sxaxbx",
        "s a b ",
        "s\\a\\b\\",
        "s/\u{e9}\\/e/",
        "p\r\ne id",
        "s/a/b\\\\\n/",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_piece_may_end_in_the_middle_of_a_text() {
    for text in ["$a\\", "1i\\", "p;$a\\"] {
        assert!(is_open(text), "{text}");
    }
    for text in ["$a\\\\", "w a\\", "s/a/a\\", "a", "e a\\", "\\"] {
        assert!(!is_open(text), "{text}");
    }
}
