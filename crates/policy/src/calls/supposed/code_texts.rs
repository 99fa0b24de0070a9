//! Commands for a shell inside the languages of other programs: recipes of make, `s///e` of sed, `.shell` of sqlite3, `\!` of
//! psql, `spawn` of expect.
//!
//! Only what certainly looks like such a command is taken. What a text does besides stays unknown.

use super::composed::COMPOSED;
use crate::programs::words;

/// How many commands are taken from one text.
const MAX_COMMANDS: usize = 64;

/// The language of a program's code that can hold commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeLanguage {
    Make,
    Sed,
    Sql,
    Expect,
    Ed,
}

/// The language that a program reads.
pub(super) fn language_of(program: &str) -> Option<CodeLanguage> {
    match program {
        "make" | "gmake" | "remake" => Some(CodeLanguage::Make),
        "sed" | "gsed" | "ssed" => Some(CodeLanguage::Sed),
        "expect" => Some(CodeLanguage::Expect),
        "ed" | "red" => Some(CodeLanguage::Ed),
        name if words::RUIN_SQL_SHELLS.contains(&name) => Some(CodeLanguage::Sql),
        _ => None,
    }
}

/// The commands for a shell in a text of this language. `input`: what sed reads.
pub(super) fn commands_in(language: CodeLanguage, text: &str, input: Option<&str>) -> Vec<String> {
    let mut found: Vec<String> = match language {
        CodeLanguage::Make => recipes(text),
        CodeLanguage::Sed => replacements(text, input),
        CodeLanguage::Sql => text.lines().flat_map(of_database).collect(),
        // `!command`, `r !command`, `w !command`
        CodeLanguage::Ed => {
            let commands = text.lines().filter_map(|line| line.split_once('!'));
            commands
                .filter(|(before, _)| before.trim().len() < 8)
                .map(|(_, command)| command.to_owned())
                .collect()
        }
        CodeLanguage::Expect => {
            let parts = text.split(['\n', ';', '{', '}', '[', ']']).map(str::trim);
            let started = parts.filter_map(|part| {
                let started =
                    ["spawn ", "exec ", "system "].iter().find_map(|name| part.strip_prefix(name))?;
                Some(started.trim_start_matches("-noecho ").to_owned())
            });
            started.collect()
        }
    };
    found.retain(|command| !command.trim().is_empty());
    found.truncate(MAX_COMMANDS);
    found
}

/// The strings in code that may be commands for a shell: they have a blank, and begin with a name. Adjacent strings are also
/// put together, as awk does: `"rm" " -rf ~"`.
pub(super) fn quoted_commands(code: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut joined = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (before, from) = rest.split_at(at);
        let mut from = from.chars();
        let Some(mark) = from.next() else { break };
        let Some((text, behind)) = delimited(from.as_str(), mark) else { break };
        if !before.trim().is_empty() {
            joined.clear();
        }
        let text = text.replace(&format!("\\{mark}"), &mark.to_string());
        joined.push_str(&text);
        all.extend((joined != text).then(|| joined.clone()));
        // A string may have another one inside.
        if text.contains(['"', '\'']) && text.len() < code.len() {
            all.extend(quoted_commands(&text));
        }
        all.push(text);
        rest = behind;
        if all.len() > MAX_COMMANDS {
            break;
        }
    }
    let is_command = |text: &String| {
        let text = text.trim();
        text.contains(' ') && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
    };
    all.retain(is_command);
    all
}

/// What make has a shell run: lines behind a tab, what is behind `;` of a rule, `$(shell …)`, `x != …`.
fn recipes(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in text.replace("\\\n", " ").lines() {
        let recipe = match line.strip_prefix('\t') {
            Some(recipe) => Some(recipe),
            None => line.split_once(':').and_then(|(_, rest)| rest.split_once(';')).map(|(_, recipe)| recipe),
        };
        let recipe = recipe.or_else(|| line.split_once("!=").map(|(_, command)| command));
        if let Some(recipe) = recipe {
            let bare = recipe.trim_start().trim_start_matches(['@', '-', '+', ' ']);
            all.push(bare.replace("$$", "$"));
        }
        let mut rest = line;
        while let Some((_, inner)) = rest.split_once("$(shell ") {
            let end = inner.rfind(')').unwrap_or(inner.len());
            all.extend(inner.get(..end).map(|command| command.replace("$$", "$")));
            rest = inner;
        }
    }
    all
}

/// What `s/…/REPLACEMENT/e` runs.
fn replacements(text: &str, input: Option<&str>) -> Vec<String> {
    let mut all = Vec::new();
    // `e` alone runs each line.
    if input.is_none() && text.trim_start_matches(|c: char| c.is_ascii_digit() || "$,!".contains(c)) == "e" {
        all.push(COMPOSED.to_owned());
    }
    for (at, _) in text.match_indices('s') {
        let Some(rest) = text.get(at + 1..) else { continue };
        let Some(mark) = rest.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\') else {
            continue;
        };
        let Some((pattern, behind)) = delimited(rest.get(1..).unwrap_or_default(), mark) else { continue };
        let Some((replacement, flags)) = delimited(behind, mark) else { continue };
        let end = flags.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(flags.len());
        if flags.get(..end).is_some_and(|flags| flags.contains('e') && !flags.contains('w')) {
            let takes_all = matches!(pattern, ".*" | "^.*" | ".*$" | "^.*$");
            let has_groups =
                replacement.split('\\').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            if !takes_all && input.is_none() || has_groups || replacement.contains('&') && input.is_none() {
                all.push(COMPOSED.to_owned());
            }
            let whole = input.map(|input| input.trim_end().replace('\\', "")).unwrap_or_default();
            all.push(replacement.replace('&', &whole).replace('\\', ""));
        }
        if all.len() > MAX_COMMANDS {
            break;
        }
    }
    all
}

/// The text up to a mark that no backslash hides, and what is behind that.
pub(super) fn delimited(text: &str, mark: char) -> Option<(&str, &str)> {
    let mut is_hidden = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_hidden => is_hidden = false,
            '\\' => is_hidden = true,
            c if c == mark => return Some((text.get(..at)?, text.get(at + c.len_utf8()..)?)),
            _ => {}
        }
    }
    None
}

/// What a line for the shell of a database has a shell run.
fn of_database(line: &str) -> Vec<String> {
    let bare = line.trim_start();
    let begins = |name: &&str| {
        bare.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name))
            && bare.get(name.len()..).is_some_and(|rest| rest.starts_with(' '))
    };
    let by_name = words::RUIN_SQL_SHELL_COMMANDS.iter().find(|name| begins(name));
    let by_name = by_name.and_then(|name| bare.get(name.len()..));
    let by_sign = bare.split_once("\\!").map(|(_, command)| command).filter(|_| by_name.is_none());
    let program = bare.to_ascii_lowercase().find(" program '").and_then(|at| bare.get(at + 10..));
    let program = program.and_then(|rest| rest.split_once('\'')).map(|(command, _)| command);
    // `.once |sh`, `.import "|sh" t`, and short forms of `.shell`.
    let is_dotted = bare.starts_with('.');
    let piped =
        bare.split_once('|').filter(|_| is_dotted).map(|(_, command)| command.trim_end_matches(['"', '\'']));
    let short = bare.split_once(' ').filter(|(name, _)| {
        is_dotted && name.len() > 2 && [".shell", ".system"].iter().any(|whole| whole.starts_with(*name))
    });
    let short = short.map(|(_, command)| command).filter(|_| by_name.is_none());
    by_name.into_iter().chain(by_sign).chain(program).chain(piped).chain(short).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{CodeLanguage, commands_in, quoted_commands};

    #[test]
    fn strings_that_may_be_commands_are_found() {
        for (code, wanted) in [
            ("import os; os.system(\"rm -rf ~\")", &["rm -rf ~"][..]),
            ("execSync('git push')", &["git push"]),
            ("BEGIN{system(\"git\" \" push\")}", &["git push"]),
            ("system(\"sh -c 'rm x'\")", &["rm x", "sh -c 'rm x'"]),
            ("print(\"x\", \"(a b)\")", &[]),
            ("it's", &[]),
        ] {
            assert_eq!(quoted_commands(code), wanted, "{code}");
        }
    }

    #[test]
    fn commands_in_other_languages_are_found() {
        for (language, text, wanted) in [
            (CodeLanguage::Make, "all:; rm -rf x", &["rm -rf x"][..]),
            (CodeLanguage::Make, "all:\n\t@-rm x\n\techo $$y", &["rm x", "echo $y"]),
            (CodeLanguage::Make, "x := $(shell rm x)", &["rm x"]),
            (CodeLanguage::Make, "x != rm x", &["rm x"]),
            (CodeLanguage::Make, "CFLAGS = -O2\nall: a.o", &[]),
            (CodeLanguage::Sed, "1s/.*/rm x/e", &["rm x"]),
            (CodeLanguage::Sed, "s,a,rm x,ge;p", &["commands-put-together", "rm x"]),
            (CodeLanguage::Sed, "1e", &["commands-put-together"]),
            (CodeLanguage::Sed, "s/e/x/g", &[]),
            (CodeLanguage::Sed, "s/a/rm x/w e", &[]),
            (CodeLanguage::Sql, ".shell rm x", &["rm x"]),
            (CodeLanguage::Sql, "\\! rm x", &["rm x"]),
            (CodeLanguage::Sql, ".sy rm x", &["rm x"]),
            (CodeLanguage::Sql, ".once |rm x", &["rm x"]),
            (CodeLanguage::Sql, ".import \"|rm x\"", &["rm x"]),
            (CodeLanguage::Sql, "SELECT 1;\nsystem rm x", &["rm x"]),
            (CodeLanguage::Sql, "COPY t TO PROGRAM 'rm x'", &["rm x"]),
            (CodeLanguage::Sql, "SELECT system FROM t", &[]),
            (CodeLanguage::Expect, "spawn git push; expect eof", &["git push"]),
            (CodeLanguage::Ed, "1,3d\n!rm x\nr !rm y", &["rm x", "rm y"]),
            (CodeLanguage::Ed, "a\nIt is what it is, and so on!\n.", &[]),
        ] {
            let found: Vec<String> =
                commands_in(language, text, None).iter().map(|one| one.trim().to_owned()).collect();
            assert_eq!(found, wanted, "{text}");
        }
        assert_eq!(commands_in(CodeLanguage::Sed, "s/.*/&/e", Some("rm x\n")), ["rm x"]);
    }
}
