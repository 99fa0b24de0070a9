//! Statements of SQL that drop data.

use crate::programs::words::{RUIN_STATEMENTS, RUIN_TRUE_CONDITIONS};

/// How much of a statement is shown.
const SHOWN_CHARS: usize = 60;

/// Words that begin a statement with another one in it, and those that begin the inner one.
const HOLDERS: [&str; 5] = ["WITH", "DO", "EXPLAIN", "BEGIN", "START"];
const BEGINS: [&str; 4] = ["DELETE", "DROP", "TRUNCATE", "ALTER"];

/// How many inner statements are looked at.
const MAX_PARTS: usize = 16;

/// What a table may lose without a column.
const NO_COLUMNS: [&str; 15] = [
    "CONSTRAINT",
    "INDEX",
    "KEY",
    "PRIMARY",
    "FOREIGN",
    "CHECK",
    "NOT",
    "DEFAULT",
    "IDENTITY",
    "EXPRESSION",
    "PARTITION",
    "PROJECTION",
    "STATISTICS",
    "UNIQUE",
    "SYSTEM",
];

/// The first statement in a text that drops data.
pub(super) fn dropping(text: &str) -> Option<String> {
    let found = dropping_statement(&without_strings(text));
    let runs_strings = || text.to_ascii_lowercase().contains("exec");
    // `EXECUTE 'DROP …'`
    found.or_else(|| {
        text.split('\'').skip(1).step_by(2).filter(|_| runs_strings()).find_map(dropping_statement)
    })
}

fn dropping_statement(plain: &str) -> Option<String> {
    plain.split(';').find_map(|statement| {
        let words: Vec<&str> = statement.split_whitespace().collect();
        let drops = parts(&words).any(|words| {
            drops_column(words) || RUIN_STATEMENTS.iter().any(|listed| begins_like(words, listed))
        });
        drops.then(|| words.join(" ").chars().take(SHOWN_CHARS).collect())
    })
}

/// A statement, and what stands behind the words of another one around it: `WITH … DELETE`, `DO $$ BEGIN DROP …`.
fn parts<'w>(words: &'w [&'w str]) -> impl Iterator<Item = &'w [&'w str]> {
    let is_one = |word: &&str, list: &[&str]| list.iter().any(|one| one.eq_ignore_ascii_case(word));
    let holds = words.first().is_some_and(|word| is_one(word, &HOLDERS));
    // `WITH x AS (DELETE …) SELECT …` is a query of what is deleted.
    let is_named = move |at: usize| at > 0 && words.get(at - 1).is_some_and(|word| is_one(word, &["AS"]));
    let inner = words.iter().enumerate().skip(1).filter(move |(_, word)| holds && is_one(word, &BEGINS));
    let inner = inner.filter(move |(at, _)| !is_named(*at));
    std::iter::once(words).chain(inner.take(MAX_PARTS).filter_map(|(at, _)| words.get(at..)))
}

/// Whether a statement drops a column: `ALTER TABLE x DROP y`, and not a constraint or a default.
fn drops_column(words: &[&str]) -> bool {
    let is = |at: usize, wanted: &str| words.get(at).is_some_and(|word| word.eq_ignore_ascii_case(wanted));
    let dropped = words.iter().position(|word| word.eq_ignore_ascii_case("DROP"));
    let dropped = dropped.and_then(|at| words.get(at + 1));
    is(0, "ALTER")
        && is(1, "TABLE")
        && dropped.is_some_and(|word| !NO_COLUMNS.iter().any(|other| other.eq_ignore_ascii_case(word)))
}

/// Whether a statement is a listed one: `DELETE FROM without WHERE`.
fn begins_like(words: &[&str], listed: &str) -> bool {
    let (begin, without) = listed.split_once(" without ").unwrap_or((listed, ""));
    let mut own = words.iter();
    let is_same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
    let narrows = || {
        let at = words.iter().position(|word| is_same(word, without));
        at.is_some_and(|at| !is_always_true(words.get(at + 1..).unwrap_or_default()))
    };
    begin.split(' ').all(|wanted| own.next().is_some_and(|word| wanted == "*" || is_same(word, wanted)))
        && (without.is_empty() || words.len() > begin.split(' ').count() && !narrows())
}

/// Whether a condition leaves nothing out: `1 = 1`, `true`, `id = id`.
fn is_always_true(condition: &[&str]) -> bool {
    let text = condition.concat().to_ascii_uppercase();
    let is_same = |(one, other): (&str, &str)| !one.is_empty() && one == other;
    RUIN_TRUE_CONDITIONS.contains(&text.as_str()) || text.split_once('=').is_some_and(is_same)
}

/// The text without comments, and with empty strings.
fn without_strings(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = |rest: &'_ str, end: &str| rest.find(end).map_or(rest.len(), |at| at + end.len());
        let skipped = match c {
            '\'' => {
                plain.push_str("''");
                rest.get(1..).map_or(1, |inner| 1 + after(inner, "'"))
            }
            _ if rest.starts_with("--") => {
                plain.push(' ');
                after(rest, "\n")
            }
            // MySQL runs what is in such a comment: `/*!50000 DROP … */`.
            _ if rest.starts_with("/*!") || rest.starts_with("/*M!") => {
                plain.push(' ');
                let number = rest
                    .trim_start_matches(['/', '*', 'M', '!'])
                    .trim_start_matches(|c: char| c.is_ascii_digit());
                rest.len() - number.len()
            }
            _ if rest.starts_with("*/") => {
                plain.push(' ');
                2
            }
            _ if rest.starts_with("/*") => {
                plain.push(' ');
                after(rest, "*/")
            }
            '(' | ')' => {
                plain.push(' ');
                1
            }
            c => {
                plain.push(c);
                c.len_utf8()
            }
        };
        rest = rest.get(skipped..).unwrap_or_default();
    }
    plain
}

/// Whether a text drops something by its first words, whatever follows.
pub(super) fn names_drop(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    ["DROP ", "TRUNCATE "].iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::dropping;

    #[test]
    fn statements_that_drop_data_are_found() {
        for text in [
            "DROP TABLE users",
            "select 1; drop  database if exists x;",
            "/* x */ TRUNCATE users",
            "-- x\nDELETE FROM users",
            "delete from users;",
            "SELECT 'a;b'; DELETE\nFROM users -- WHERE 1",
            "/*!50000 drop database x */",
            "/*!drop database x*/",
            "DO $$ BEGIN EXECUTE 'drop database x'; END $$",
            "DELETE FROM users WHERE 1=1",
            "delete from users where true;",
            "DELETE FROM users WHERE id = id",
            "DELETE FROM users WHERE 'a' = 'a'",
            "ALTER TABLE users DROP COLUMN email",
        ] {
            assert!(dropping(text).is_some(), "{text}");
        }
        for text in [
            "SELECT 1",
            "DELETE FROM users WHERE id = 1",
            "DELETE FROM users where(id = 1)",
            "UPDATE users SET a = 1",
            "ALTER TABLE users DROP CONSTRAINT c",
            "INSERT INTO t VALUES ('DROP TABLE users')",
            "SELECT '; DROP TABLE users'",
            "CREATE TABLE drop_table (x)",
            "-- DROP TABLE users",
            "x.db",
        ] {
            assert_eq!(dropping(text), None, "{text}");
        }
    }
}
