//! Statements for sqlite's shell, with functions and commands that reach files in all places.

use super::mutate::{mutate, quoted};
use super::random::Random;

const CALLS: &[&str] = &[
    "abs(1)",
    "count(*)",
    "max(a)",
    "coalesce(a, 1)",
    "writefile('P','x')",
    "\"writefile\"('P','x')",
    "edit('x','touch P;:')",
    "load_extension('./x')",
    "writefile ('P', 'x')",
    "(writefile)('P','x')",
    "length('writefile(1)')",
    "`writefile`('P','x')",
    "readfile('in.txt')",
    "shell_add_schema(1)",
    "replace('a','b','c')",
    "printf('%s', 1)",
    "date('now')",
];

const PLACES: &[&str] =
    &["a", "1", "'x'", "\"a\"", "a = 1", "a in (1, 2)", "a || 'x'", "-1", "a.b", "null", "t.a"];

const SIGNS: &[&str] = &[
    "'",
    "\"",
    "`",
    ";",
    "\n",
    "\n.shell touch P\n",
    "--",
    "/*",
    "*/",
    "(",
    ")",
    ",",
    ".",
    " ",
    "\\",
    "into ",
    "as ",
    "on ",
    "table ",
    "exists ",
    "select ",
    "x",
    "!",
    "1",
];

/// A call of sqlite3.
pub(crate) fn command(random: &mut Random) -> String {
    let mut texts = Vec::new();
    for _ in 0..if random.chance(20) { 2 } else { 1 } {
        let mut text = statement(random);
        if random.chance(30) {
            text += random.pick(&["; ", ";", ";\n", "\n"]);
            text += &statement(random);
        }
        if random.chance(40) {
            text = mutate(random, &text, SIGNS);
        }
        texts.push(quoted(&text));
    }
    format!("sqlite3 :memory: {}", texts.join(" "))
}

fn statement(random: &mut Random) -> String {
    let (one, two) = (expression(random), expression(random));
    match random.below(14) {
        0..=2 => format!("select {one} from (select 1 a) where {two}"),
        3 => format!("create table t(a, b default 1); insert into t(a) values ({one})"),
        4 => format!("create table if not exists u (a check ({one}))"),
        5 => format!("create view v as select {one} x; select * from v"),
        6 => format!("with x as (select {one} a) select {two} from x"),
        7 => format!("create table w(a); create index i on w({one}); insert into w values (1)"),
        8 => random
            .pick(&[
                ".tables",
                ".shell touch P",
                ".mode csv",
                ".output P",
                ".schema",
                ".once P",
                ".print x",
                ".sh",
                ".help",
            ])
            .to_owned(),
        9 => random
            .pick(&[
                "vacuum into 'P'",
                "attach 'P' as p; create table p.t(a)",
                "vacuum",
                "pragma table_info(t)",
                "pragma user_version = 2",
            ])
            .to_owned(),
        10 => format!("select 1 a union select 2 order by {one} limit 1"),
        11 => format!("create table z as select {one} y; update z set y = {two}; delete from z where {one}"),
        12 => format!("explain select {one}"),
        _ => format!("select case when {one} then {two} else 1 end, 'x'"),
    }
}

fn expression(random: &mut Random) -> String {
    match random.below(5) {
        0 => random.pick(CALLS).to_owned(),
        1 => format!("{} and {}", random.pick(PLACES), random.pick(PLACES)),
        2 => format!("({})", random.pick(PLACES)),
        _ => random.pick(PLACES).to_owned(),
    }
}
