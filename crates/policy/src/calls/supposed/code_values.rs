//! Values in code that another word stands for when they are used: `d = '.git'; rmtree(d)`, `from shutil import rmtree as r`,
//! `c = ['git', 'reset', '--hard']; run(c)`, `system qw(rm -rf .git)`.
//!
//! Which value a name has isn't followed. Code that deletes by a name is taken to delete each string that stands elsewhere in it,
//! and code that runs programs is taken to run each list of strings. `code` has only `'` as a quote.

use super::code_deeds::{done_to, group_end, is_part, place, split};
use super::code_texts::delimited;
use crate::programs::{base_name, words};

/// How many strings and lists of one text are looked at.
const MAX_VALUES: usize = 48;

/// A list isn't read further.
const MAX_LIST_BYTES: usize = 400;

/// What the function does whose argument counts, also by another name.
const DELETES_ALL: &str = "rm -rf";

/// Signs of a list of words as Perl and Ruby write it.
const WORD_LISTS: [&str; 4] = ["qw", "%w", "%W", "%i"];

/// The code with lists of bare words as lists of strings: `qw(rm -rf x)` is `('rm','-rf','x')`.
pub(super) fn with_plain_lists(code: &str) -> String {
    let mut all = String::new();
    let mut rest = code;
    while let Some((at, sign)) = first_of(rest, &WORD_LISTS) {
        let (before, from) = rest.split_at(at);
        let inner = from.get(sign.len()..).unwrap_or_default();
        let is_name = sign == "qw" && before.ends_with(is_part);
        let open = inner.trim_start().chars().next().filter(|c| c.is_ascii_punctuation() && !is_name);
        let close = open.map(|open| match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            c => c,
        });
        let body = inner.trim_start().get(1..).zip(close).and_then(|(body, close)| body.split_once(close));
        all.push_str(before);
        match body {
            Some((words, behind)) => {
                let words: Vec<String> = words.split_whitespace().map(|word| format!("'{word}'")).collect();
                all.push_str(&format!("({})", words.join(",")));
                rest = behind;
            }
            None => {
                all.push_str(sign);
                rest = inner;
            }
        }
    }
    all.push_str(rest);
    all
}

fn first_of<'s>(text: &str, signs: &[&'s str]) -> Option<(usize, &'s str)> {
    signs.iter().filter_map(|sign| Some((text.find(sign)?, *sign))).min()
}

/// What functions delete that are called by another name, or with one.
pub(super) fn loose_deeds(code: &str) -> Vec<String> {
    let deletes = words::RUIN_CODE_DEEDS.iter().filter_map(|row| row.split_once(" = "));
    let deletes = deletes.filter(|(_, command)| *command == DELETES_ALL).map(|(name, _)| name);
    let mut is_loose = false;
    let mut told: Vec<(usize, usize)> = Vec::new();
    for name in deletes {
        for (at, _) in code.match_indices(name).take(MAX_VALUES) {
            let behind = code.get(at + name.len()..).unwrap_or_default();
            let is_whole = !code.get(..at).is_some_and(|before| before.ends_with(is_part))
                && !behind.starts_with(is_part);
            if !is_whole {
                continue;
            }
            let argument = behind.trim_start().strip_prefix('(');
            let arguments = argument.map(|inner| inner.get(..group_end(inner, &[')'])).unwrap_or_default());
            if let Some(arguments) = arguments {
                let start = at + name.len();
                told.push((start, start + arguments.len() + 2));
            }
            let first = arguments.map(split).and_then(|all| all.first().copied()).and_then(place);
            // Perl and Ruby need no brackets.
            is_loose |= first.is_none() && !behind.trim_start().starts_with('\'');
        }
    }
    if !is_loose {
        return Vec::new();
    }
    let is_told = |at: usize| told.iter().any(|(start, end)| (*start..*end).contains(&at));
    let mut all = Vec::new();
    for (at, string) in strings(code).into_iter().filter(|(at, _)| !is_told(*at)) {
        // What only separates or ends names is no name.
        let before = code.get(..at).unwrap_or_default().trim_end();
        let is_given = before.ends_with(['=', '[', ',', '('])
            && !before.ends_with("split(")
            && !before.ends_with("strip(");
        let is_joining = code.get(at + string.len() + 2..).is_some_and(|behind| behind.starts_with('.'));
        if string.contains(|c: char| c.is_ascii_alphanumeric()) || is_given && !is_joining {
            all.extend(done_to(DELETES_ALL, &format!("'{string}'")));
            let is_home = string.starts_with('~');
            all.extend(
                is_home
                    .then(|| format!("{DELETES_ALL} {string}"))
                    .filter(|one| !one.contains([';', '$', '`'])),
            );
        }
    }
    // `p = Path.home(); rmtree(p)`
    let places = words::RUIN_CODE_PLACES.iter().filter_map(|row| row.split_once(" = "));
    let assigned = places.filter(|(text, stands_for)| {
        let is_value = |at: usize| {
            let ends = code
                .get(at + text.len()..)
                .is_none_or(|rest| rest.is_empty() || rest.starts_with([';', '\n', ' ']));
            ends && code.get(..at).is_some_and(|before| before.trim_end().ends_with('='))
        };
        stands_for.starts_with('$') && code.match_indices(text).any(|(at, _)| is_value(at))
    });
    all.extend(assigned.map(|(_, stands_for)| format!("{DELETES_ALL} \"{stands_for}\"")));
    all.truncate(MAX_VALUES);
    all
}

/// The strings in code, each with the place of its quote.
fn strings(code: &str) -> Vec<(usize, &str)> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(start) = code.get(at..).and_then(|rest| rest.find('\'')).map(|found| at + found) {
        let Some((string, _)) = code.get(start + 1..).and_then(|rest| delimited(rest, '\'')) else { break };
        all.push((start, string));
        at = start + string.len() + 2;
        if all.len() >= MAX_VALUES {
            break;
        }
    }
    all
}

/// The lists of strings in code that runs programs, as commands. The name of a program may stand there twice: as the file to
/// run, and as what the program is told as its name.
pub(super) fn listed_commands(code: &str) -> Vec<String> {
    if !words::RUIN_CODE_SHELLS.iter().chain(words::RUIN_CODE_STARTERS).any(|name| code.contains(name)) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (at, _) in code.match_indices(['[', '(']).take(MAX_VALUES) {
        let rest = code.get(at + 1..).unwrap_or_default();
        let mut end = rest.len().min(MAX_LIST_BYTES);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let rest = rest.get(..end).unwrap_or_default();
        let items = split(rest.get(..group_end(rest, &[')', ']'])).unwrap_or_default());
        let known = items.iter().skip_while(|item| !item.trim().starts_with('\''));
        let is_string = |item: &&&str| item.trim().starts_with('\'') && item.trim().ends_with('\'');
        let known: Vec<String> = known.take_while(is_string).map_while(|item| place(item)).collect();
        if let [first, second, others @ ..] = known.as_slice()
            && !first.starts_with('-')
        {
            let is_twice = base_name(first) == base_name(second) && !others.is_empty();
            let command = if is_twice { known.get(1..).unwrap_or_default() } else { known.as_slice() };
            all.push(command.join(" "));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{listed_commands, loose_deeds, with_plain_lists};

    #[test]
    fn what_is_used_by_another_name_is_found() {
        for (code, wanted) in [
            ("d='.git'; shutil.rmtree(d)", &["rm -rf .git"][..]),
            ("from shutil import rmtree as r; r('.git')", &["rm -rf .git"]),
            ("['.git'].forEach(d=>fs.rmSync(d,{recursive:true}))", &["rm -rf .git"]),
            ("p=Path.home(); rmtree(p)", &["rm -rf \"$HOME\""]),
            ("shutil.rmtree('.git'); print('x')", &[]),
            ("shutil.rmtree(os.path.join(base, '.git'))", &[]),
            ("p='/'.join(parts); rmtree(p)", &[]),
            ("print('.git')", &[]),
        ] {
            assert_eq!(loose_deeds(code), wanted, "{code}");
        }
    }

    #[test]
    fn lists_of_words_are_commands() {
        for (code, wanted) in [
            ("c=['git','reset','--hard']; subprocess.run(c)", &["git reset --hard"][..]),
            ("os.execlp('rm','rm','-rf','x')", &["rm -rf x"]),
            ("os.spawnvp(os.P_WAIT,'rm',['rm','-rf','x'])", &["rm -rf x"]),
            ("print(['git','reset','--hard'])", &[]),
        ] {
            assert_eq!(listed_commands(code).last().map(String::as_str), wanted.first().copied(), "{code}");
        }
        assert_eq!(
            with_plain_lists("system qw(rm -rf x); qwerty('a')"),
            "system ('rm','-rf','x'); qwerty('a')"
        );
        assert_eq!(with_plain_lists("system(*%w[rm x])"), "system(*('rm','x'))");
    }
}
