//! Statements for the shells of databases (`sqlite3`, `psql`, `mysql`): plain SQL, in the part that all of them share.
//!
//! The shells have commands of their own, which run programs and write files: `.shell`, `\!`, `system`. SQL itself reaches
//! files by statements (`ATTACH`, `COPY`, `INTO OUTFILE`) and by functions (`writefile`, `load_extension`). So every statement
//! must begin with a listed word, every call must be of a listed function, and signs that a shell takes for
//! its own commands, comments or variables are accepted nowhere. What a statement does inside its database is not
//! looked at.

use crate::programs::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'s> {
    Word(&'s str),
    /// A string, a quoted name or a number.
    Literal,
    Sign(char),
}

/// Whether a text does nothing outside its database.
pub(crate) fn is_plain(text: &str) -> bool {
    if let Some(command) = text.trim_end().strip_prefix('.') {
        return shows(command);
    }
    if text.starts_with('\\') {
        return describes(text);
    }
    tokens(text).is_some_and(|tokens| {
        tokens.split(|token| *token == Token::Sign(';')).all(|statement| is_plain_statement(statement))
    })
}

/// Whether a text only reads: it does nothing outside its database, and changes nothing inside it.
pub(crate) fn only_reads(text: &str) -> bool {
    let is_command = text.starts_with(['.', '\\']);
    let reads = |statement: &[Token<'_>]| {
        let begins = match statement.first() {
            None => true,
            first if is_word(first, &["pragma"]) => is_word(statement.get(1), words::SQLITE_READING_PRAGMAS),
            first => is_word(first, words::SQL_READING_STATEMENTS),
        };
        begins && !statement.iter().any(|token| is_word(Some(token), words::SQL_CHANGING_WORDS))
    };
    is_plain(text)
        && (is_command
            || tokens(text).is_some_and(|tokens| tokens.split(|token| *token == Token::Sign(';')).all(reads)))
}

/// Whether this is one command of sqlite's shell that only shows something.
fn shows(command: &str) -> bool {
    let name = command.split(' ').next().unwrap_or_default();
    let is_listed =
        words::SQLITE_SHOWING_COMMANDS.iter().any(|listed| listed.strip_prefix('.') == Some(name));
    is_listed && !command.contains(|c: char| c.is_control())
}

/// Whether the whole text is one command of psql like `\dt users`: a name, and plain words. A backquote would run a
/// program, another backslash would begin another command.
fn describes(text: &str) -> bool {
    let mut words = text.split(' ');
    let name = words.next().unwrap_or_default();
    let of_d = name
        .strip_prefix("\\d")
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphabetic() || c == '+'));
    let plain = |c: char| c.is_alphanumeric() || ['_', '.', '*', '-', '"'].contains(&c);
    (of_d || words::PSQL_SHOWING_COMMANDS.contains(&name)) && words.all(|word| word.chars().all(plain))
}

/// Splits a text. `None` if shells or databases may split it differently.
fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut begins_line = true;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            ' ' | '\t' => 1,
            '\n' => {
                begins_line = true;
                rest = rest.get(1..)?;
                continue;
            }
            '\'' | '"' | '`' => {
                tokens.push(Token::Literal);
                quoted(rest, first)?
            }
            '0'..='9' => {
                tokens.push(Token::Literal);
                word_end(rest)
            }
            'A'..='Z' | 'a'..='z' | '_' => {
                let end = word_end(rest);
                let word = rest.get(..end)?;
                // A shell's own command may begin any line.
                (!begins_line || is_sql_word(word)).then_some(())?;
                tokens.push(Token::Word(word));
                end
            }
            '(' | ')' | ',' | ';' | '*' | '=' | '<' | '>' | '!' | '+' | '-' | '/' | '%' | '|' | '.' => {
                // Comments. In MySQL's some text is run.
                (!["--", "/*", "*/", "!!"].iter().any(|sign| rest.starts_with(sign))).then_some(())?;
                (!(begins_line && "!./".contains(first))).then_some(())?;
                tokens.push(Token::Sign(first));
                1
            }
            // A cast.
            ':' if rest.starts_with("::") && !begins_line => 2,
            _ => return None,
        };
        begins_line &= first == ' ' || first == '\t';
        rest = rest.get(end..)?;
    }
    Some(tokens)
}

fn word_end(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// Where a quoted text ends. Backslashes mean different things, and a line in it might look like a command.
fn quoted(text: &str, mark: char) -> Option<usize> {
    let inside = text.get(1..)?;
    let end = inside.find(mark)?;
    let inside = inside.get(..end)?;
    let plain =
        |c: char| c != '\\' && !c.is_control() && (mark != '`' || c.is_ascii_alphanumeric() || c == '_');
    inside.chars().all(plain).then_some(end + 2)
}

fn is_sql_word(word: &str) -> bool {
    is_in(words::SQL_STATEMENTS, word) || is_in(words::SQL_WORDS, word)
}

fn is_in(list: &[&str], word: &str) -> bool {
    list.iter().any(|listed| listed.eq_ignore_ascii_case(word))
}

fn is_word(token: Option<&Token<'_>>, list: &[&str]) -> bool {
    matches!(token, Some(Token::Word(word)) if is_in(list, word))
}

fn is_plain_statement(statement: &[Token<'_>]) -> bool {
    let Some(Token::Word(first)) = statement.first() else { return statement.is_empty() };
    let behind = statement.get(1..).unwrap_or_default();
    let is_whole = match first.to_ascii_lowercase().as_str() {
        "vacuum" => behind.is_empty(),
        "pragma" => is_word(behind.first(), words::SQLITE_SHOWING_PRAGMAS),
        "create" => creates_plainly(behind),
        "alter" => alters_plainly(behind),
        "explain" => explains_plainly(behind),
        _ => is_in(words::SQL_STATEMENTS, first),
    };
    is_whole && calls_are_plain(statement)
}

/// Skips the words at the beginning that are in `list`.
fn skip<'t, 's>(tokens: &'t [Token<'s>], list: &[&str]) -> &'t [Token<'s>] {
    let end = tokens.iter().position(|token| !is_word(Some(token), list)).unwrap_or(tokens.len());
    tokens.get(end..).unwrap_or_default()
}

/// Whether this follows `CREATE` and makes a table, index or view, with no clause that leads out of the database: modules,
/// stored statements, other folders.
fn creates_plainly(behind: &[Token<'_>]) -> bool {
    let behind = skip(behind, words::SQL_CREATE_WORDS);
    let Some((kind, behind)) = behind.split_first() else { return false };
    if !is_word(Some(kind), &["table", "index", "view"]) {
        return false;
    }
    // A clause of this statement stands outside of parentheses. The query that a table or view shows begins with `AS`.
    let mut depth = 0_usize;
    for (at, token) in behind.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            Token::Word(word) if depth == 0 && word.eq_ignore_ascii_case("as") => {
                return behind.get(at + 1).is_some_and(|next| {
                    *next == Token::Sign('(') || is_word(Some(next), &["select", "with", "values"])
                });
            }
            // The condition of an index.
            Token::Word(word) if depth == 0 && word.eq_ignore_ascii_case("where") => return true,
            Token::Word(word) if depth == 0 && is_in(words::SQL_CREATE_CLAUSES, word) => {}
            // The name of what is made, or of its table, engine or character set.
            Token::Word(_) | Token::Literal if depth == 0 => {
                let before = at.checked_sub(1).and_then(|at| behind.get(at));
                let is_name = before.is_none_or(|before| {
                    matches!(before, Token::Sign('.' | '='))
                        || is_word(Some(before), &["exists", "on", "collate", "concurrently"])
                });
                if !is_name {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// Whether this follows `ALTER` and changes columns or the name of a table.
fn alters_plainly(behind: &[Token<'_>]) -> bool {
    let Some((table, behind)) = behind.split_first() else { return false };
    let behind = skip(behind, &["if", "exists", "only"]);
    let name = behind.iter().take_while(|token| !is_word(Some(token), words::SQL_ALTER_ACTIONS));
    let length = name.clone().count();
    is_word(Some(table), &["table"])
        && length <= 3
        && name.enumerate().all(|(at, token)| (at % 2 == 1) == (*token == Token::Sign('.')))
        && is_word(behind.get(length), words::SQL_ALTER_ACTIONS)
        && actions_are_listed(behind)
}

/// Whether each action that follows a comma outside of parentheses is listed.
fn actions_are_listed(tokens: &[Token<'_>]) -> bool {
    let mut depth = 0_usize;
    tokens.iter().enumerate().all(|(at, token)| {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            Token::Sign(',') if depth == 0 => return is_word(tokens.get(at + 1), words::SQL_ALTER_ACTIONS),
            _ => {}
        }
        true
    })
}

/// Whether this follows `EXPLAIN` and is a plain statement.
fn explains_plainly(behind: &[Token<'_>]) -> bool {
    let mut behind = skip(behind, &["query", "plan", "analyze", "verbose"]);
    if behind.first() == Some(&Token::Sign('(')) {
        let end = behind.iter().position(|token| *token == Token::Sign(')')).unwrap_or(behind.len());
        behind = behind.get(end + 1..).unwrap_or_default();
    }
    // In MySQL, `EXPLAIN t` shows a table.
    behind.len() <= 1 || is_word(behind.first(), words::SQL_EXPLAINED) && is_plain_statement(behind)
}

/// Whether each call is of a listed function, and nothing is written by `INTO`.
fn calls_are_plain(statement: &[Token<'_>]) -> bool {
    let first = statement.first();
    let defines = is_word(first, &["create", "alter"]);
    let queries =
        |end: usize| statement.iter().take(end).any(|token| is_word(Some(token), &["select", "as", "with"]));
    let inserts = is_word(first, &["insert", "replace"]);
    let mut is_first_call = true;
    statement.iter().enumerate().all(|(at, token)| {
        let before = at.checked_sub(1).and_then(|at| statement.get(at));
        // The word before a name, or before the name of its schema.
        let before_name = match before {
            Some(Token::Sign('.')) => at.checked_sub(3).and_then(|at| statement.get(at)),
            before => before,
        };
        let is_called = statement.get(at + 1) == Some(&Token::Sign('('));
        let is_first = is_called && std::mem::take(&mut is_first_call);
        match token {
            Token::Word(word) if word.eq_ignore_ascii_case("into") => {
                is_word(before, &["insert", "replace", "ignore"])
            }
            // `CREATE TABLE t (…)`, `CREATE INDEX i ON t (…)`, `INSERT INTO t (…)`: a name, not a function.
            Token::Word(_) | Token::Literal
                if is_first
                    && !queries(at)
                    && (defines && is_word(before_name, &["table", "exists", "on"])
                        || inserts && is_word(before_name, &["into"])) =>
            {
                true
            }
            Token::Word(_) if is_called && defines && is_word(before, &["references"]) => true,
            Token::Word(word) if is_called => {
                is_in(words::SQL_FUNCTIONS, word)
                    || is_sql_word(word)
                    || is_in(words::SQLITE_SHOWING_PRAGMAS, word)
            }
            // A quoted name before a parenthesis may be a function.
            Token::Literal => !is_called,
            _ => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn plain_statements_and_showing_commands_are_read() {
        for text in [
            "SELECT * FROM users WHERE id > 5 LIMIT 10;",
            "select count(*) from t",
            "PRAGMA table_info(users);",
            ".tables",
            ".schema users",
            "\\dt+ public.users",
            "SHOW DATABASES",
            "select version();",
            "insert into \"t\" (a, b) values (1, 2)",
            "insert into t(a, b) values (1, 'x'), (2, 'it''s');",
            "create table if not exists t (id integer primary key, name varchar(20) references u(id))",
            "select a.id, coalesce(b.n, 0)::int\nfrom a left join b on a.id = b.id\nwhere a.x in (1, 2)\norder by 1 desc",
            "with x as (select 1) select max(y), count(distinct z) from x group by 1 having sum(y) >= 2",
            "update t set a = 1 where b = 'x'; delete from t where c is null",
            "select * from attachments",
            "explain query plan select 1",
            "explain (analyze, buffers) select * from t",
            "explain t",
            "create unique index if not exists i on t (a, b) where c > 1",
            "create or replace view v as select 1",
            "create temp table t as select * from u",
            "create table m.t (a int, b text collate nocase) without rowid, strict",
            "create table t (id int) engine=InnoDB default charset=utf8mb4",
            "alter table t add column a int default 0",
            "alter table if exists only s.t drop column a, rename to b",
            "select program, event, language, server from copy where trigger = 1",
            "",
        ] {
            assert!(is_plain(text), "{text}");
        }
    }

    #[test]
    fn everything_else_is_unknown() {
        for text in [
            ".shell rm x",
            ".tables\n.shell rm x",
            "select 1;\n.shell rm x",
            ".sh",
            "\\! rm x",
            "select 1 \\! rm x",
            "\\dt `rm x`",
            "system rm x",
            "select 1;\nsystem rm x",
            "select 1\nsystem rm x",
            "tee P",
            "pager touch P",
            "source x.sql",
            "attach '/y' as y",
            "vacuum into '/y'",
            "VACUUM main INTO '/y'",
            "select writefile('P', 'x')",
            "select 1 from a join b on writefile('P', 'x')",
            "create view v as select 1 from a join b on writefile('P', 'x')",
            "select \"writefile\"('P', 'x')",
            "insert into t select \"writefile\"('P', 'x')",
            "insert into t values (\"writefile\"('P', 'x'))",
            "create table t as select `writefile`('P', 'x')",
            "select load_extension('./x')",
            "select * from fsdir('.')",
            "select 1 into outfile '/x'",
            "select 1 into dumpfile '/x'",
            "copy t to program 'touch P'",
            "/*! system touch P */",
            "select 1 -- x",
            "select :x",
            "do $$ begin end $$",
            "create virtual table t using csv(filename='x')",
            "load data infile '/x' into table t",
            "select '\\'; \\! touch P'",
            "pragma temp_store_directory = '/x'",
            "edit",
            "create trigger x after insert on t begin select 1; end",
            "create function f() returns int language c",
            "create or replace procedure p() language plpython3u",
            "create extension plpython3u",
            "create server s foreign data wrapper file_fdw",
            "create tablespace x location '/x'",
            "create table t (a int) tablespace x",
            "create table t (a int) data directory='/x'",
            "create table t as execute x",
            "create table t using m as select 1",
            "create temp virtual table t using csv(filename='x')",
            "create foreign table t (a int) server s options (program 'touch P')",
            "alter system set archive_command = 'touch P'",
            "alter extension x update",
            "alter table t set tablespace x",
            "alter table t x set tablespace y",
            "alter table t add a int, set tablespace y",
            "alter database d set local_preload_libraries = 'x'",
            "explain execute x",
            "explain analyze execute x",
            "explain (analyze) execute x",
            "execute x",
            "prepare x from 'select 1'",
            "call x()",
            "load 'x'",
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }
}
