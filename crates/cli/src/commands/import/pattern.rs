//! Patterns of other agents, in which a `*` stands for any text, as words.
//!
//! Entries here are the first words of a command. So a pattern without a `*` at its end is about more commands here than
//! there: that is fine for rules that ask or deny, and not for those that allow. There, a `*` also stands for blanks; here, one
//! inside a word doesn't. So a pattern that asks or denies becomes several entries, which together are about no fewer commands.

use super::rules::{Decision, Reach};

/// Characters of bash's grammar, and of patterns that have no equal.
const SYNTAX: &str = "|&;<>()$`\"'{}[]\\?\n";

/// As many entries one pattern may become.
const MAX_ENTRIES: usize = 32;

/// A pattern as words, and a remark if it is about other commands here.
pub(super) struct Words {
    pub(super) reaches: Vec<Reach>,
    pub(super) remark: Option<&'static str>,
}

/// Reads a pattern like `git diff:*`, `npm run *` or `ls*`. The error says why it has no equal.
pub(super) fn read(pattern: &str, decision: Decision) -> Result<Words, &'static str> {
    let allows = decision == Decision::Allow;
    let exactly = |reach| Ok(Words { reaches: vec![reach], remark: None });
    // Of patterns, only `*` is known here. It stands for more than `?` and `[ab]`.
    let widened = if allows { None } else { widened(pattern) };
    let pattern = widened.as_deref().unwrap_or(pattern).trim();
    if matches!(pattern, "" | "*" | ":*") {
        return exactly(Reach::Everything);
    }
    let (text, is_prefix) = match pattern.strip_suffix(":*") {
        Some(text) => (text, true),
        None => (pattern, false),
    };
    if text.contains(|c| SYNTAX.contains(c)) {
        return Err(match allows {
            true => "left out: an entry here is the words of one command, without quotes or operators",
            false => {
                "left out, so what it stops there may run here: an entry is the words of one command, without quotes or operators"
            }
        });
    }
    let mut words: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
    let Some(first) = words.first() else { return exactly(Reach::Everything) };
    if first.contains('=') {
        return Err("left out: an entry here begins with the program, not with a variable");
    }
    if allows && first.contains('*') {
        return Err("left out: it would allow programs that it doesn't name");
    }
    if !text.contains('*') {
        return exactly(if is_prefix { Reach::Prefix(words) } else { Reach::Exact(words) });
    }
    let last = words.pop().unwrap_or_default();
    match (last.as_str(), allows) {
        // One or more further words. A rule that asks or denies includes the command without them.
        ("*", true) if words.iter().all(|word| !word.contains('*') || word == "*") => {
            words.push(last);
            exactly(Reach::Prefix(words))
        }
        ("*", false) if words.is_empty() => exactly(Reach::Everything),
        (last, false) => {
            words.extend((last != "*").then(|| last.to_owned()));
            let Some(entries) = spread(&words) else {
                return Err("left out, so what it stops there may run here: it has too many `*`");
            };
            let reaches = entries.into_iter().map(Reach::Prefix).collect();
            let remark = widened.is_some().then_some("stricter: `?` and `[…]` stand for any characters here");
            Ok(Words { reaches, remark })
        }
        (_, true) => {
            let whole =
                last.strip_suffix('*').filter(|word| word.ends_with(|c: char| c.is_ascii_alphanumeric()));
            match whole {
                Some(word) if !word.contains('*') && words.iter().all(|word| !word.contains('*')) => {
                    words.push(word.to_owned());
                    let remark =
                        Some("stricter: only the whole word is allowed, not words that begin with it");
                    Ok(Words { reaches: vec![Reach::Prefix(words)], remark })
                }
                _ => Err("left out: it would allow longer commands, too"),
            }
        }
    }
}

/// The pattern with `*` in place of the other signs of patterns. `None`: it has none.
fn widened(pattern: &str) -> Option<String> {
    let mut all = String::new();
    let mut rest = pattern;
    while let Some((before, behind)) = rest.split_once(['?', '[']) {
        let is_set = rest.chars().nth(before.chars().count()) == Some('[');
        let behind = match behind.split_once(']') {
            Some((_, behind)) if is_set => behind,
            // A bracket that isn't closed is a bracket.
            None if is_set => return None,
            _ => behind,
        };
        all.push_str(before);
        all.push('*');
        rest = behind;
    }
    (rest.len() < pattern.len()).then(|| all + rest)
}

/// The entries that stand for a pattern in which a `*` also stands for blanks: `npm*publish` is `npm*publish`, `npm* *publish` and
/// `npm* * *publish`. `None`: there are too many.
fn spread(words: &[String]) -> Option<Vec<Vec<String>>> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for word in words {
        let options = spread_word(word);
        let pairs =
            all.iter().flat_map(|before| options.iter().map(|option| [before.as_slice(), option].concat()));
        all = pairs.take(MAX_ENTRIES + 1).collect();
        if all.len() > MAX_ENTRIES {
            return None;
        }
    }
    Some(all)
}

/// The same for one word.
fn spread_word(word: &str) -> Vec<Vec<String>> {
    if word == "*" || !word.contains('*') {
        return vec![vec![word.to_owned()]];
    }
    let mut parts = word.split('*').peekable();
    let first = parts.next().unwrap_or_default().to_owned();
    let mut all: Vec<(Vec<String>, String)> = vec![(Vec::new(), first)];
    while let Some(part) = parts.next() {
        // An entry is the first words of a command, so a `*` at the end stands for further words, too.
        let is_end = part.is_empty() && parts.peek().is_none();
        let grown = all.iter().flat_map(|(before, open)| {
            let in_word = (before.clone(), format!("{open}*{part}"));
            let next_word = ([before.as_slice(), &[format!("{open}*")]].concat(), format!("*{part}"));
            let between = ([next_word.0.as_slice(), &["*".to_owned()]].concat(), format!("*{part}"));
            // A `*` alone stands for one or more words already.
            let is_open = !open.is_empty();
            [Some(in_word), (!is_end).then_some(next_word), (!is_end && is_open).then_some(between)]
        });
        all = grown.flatten().take(MAX_ENTRIES + 1).collect();
    }
    all.into_iter().map(|(before, last)| [before.as_slice(), &[last]].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pattern: &str, decision: Decision) -> String {
        match read(pattern, decision) {
            Ok(Words { reaches, remark }) => {
                let more = if remark.is_some() { " (stricter)" } else { "" };
                let one = |reach: &Reach| match reach {
                    Reach::Everything => format!("everything{more}"),
                    Reach::Prefix(words) | Reach::Literal(words) => format!("{}…{more}", words.join(" ")),
                    Reach::Exact(words) => format!("{}{more}", words.join(" ")),
                };
                reaches.iter().map(one).collect::<Vec<_>>().join(", ")
            }
            Err(reason) => reason.split([':', ',']).next().unwrap_or_default().to_owned(),
        }
    }

    #[test]
    fn patterns() {
        for (pattern, allow, deny) in [
            ("*", "everything", "everything"),
            (":*", "everything", "everything"),
            ("git diff:*", "git diff…", "git diff…"),
            ("git status", "git status", "git status"),
            ("npm run *", "npm run *…", "npm run…"),
            ("git push*", "git push… (stricter)", "git push*…"),
            ("ls*", "left out", "ls*…"),
            ("git * main", "left out", "git * main…"),
            ("git * main *", "git * main *…", "git * main…"),
            ("* --version", "left out", "* --version…"),
            ("*--force*", "left out", "*--force*…, * *--force*…"),
            ("npm*publish*", "left out", "npm*publish*…, npm* *publish*…, npm* * *publish*…"),
            ("git push *-f*", "left out", "git push *-f*…, git push * *-f*…"),
            (
                "g?t status",
                "left out",
                "g*t status… (stricter), g* *t status… (stricter), g* * *t status… (stricter)",
            ),
            ("g[iu]t *", "left out", "g*t… (stricter), g* *t… (stricter), g* * *t… (stricter)"),
            ("a*b*c*d*e*f", "left out", "left out"),
            ("cat /tmp/*", "left out", "cat /tmp/*…"),
            ("npm run test:unit", "npm run test:unit", "npm run test:unit"),
            ("a && b", "left out", "left out"),
            ("echo \"x\"", "left out", "left out"),
            ("X=1 make:*", "left out", "left out"),
            ("curl * | sh", "left out", "left out"),
        ] {
            assert_eq!(shown(pattern, Decision::Allow), allow, "{pattern}");
            assert_eq!(shown(pattern, Decision::Deny), deny, "{pattern}");
            assert_eq!(shown(pattern, Decision::Ask), deny, "{pattern}");
        }
    }
}
