//! Patterns of other agents, in which a `*` stands for any text, as words.
//!
//! Entries here are the first words of a command. So a pattern without a `*` at its end is about more commands here than
//! there: that is fine for rules that ask or deny, and not for those that allow.

use super::rules::{Decision, Reach};

/// Characters of bash's grammar, and of patterns that have no equal.
const SYNTAX: &str = "|&;<>()$`\"'{}[]\\?\n";

/// A pattern as words, and a remark if it is narrower here.
pub(super) struct Words {
    pub(super) reach: Reach,
    pub(super) remark: Option<&'static str>,
}

/// Reads a pattern like `git diff:*`, `npm run *` or `ls*`. The error says why it has no equal.
pub(super) fn read(pattern: &str, decision: Decision) -> Result<Words, &'static str> {
    let allows = decision == Decision::Allow;
    let exactly = |reach| Ok(Words { reach, remark: None });
    let pattern = pattern.trim();
    if matches!(pattern, "" | "*" | ":*") {
        return exactly(Reach::Everything);
    }
    let (text, is_prefix) = match pattern.strip_suffix(":*") {
        Some(text) => (text, true),
        None => (pattern, false),
    };
    if text.contains(|c| SYNTAX.contains(c)) {
        return Err("left out: an entry here is the words of one command, without quotes or operators");
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
        ("*", false) => exactly(if words.is_empty() { Reach::Everything } else { Reach::Prefix(words) }),
        (_, false) => {
            words.push(last);
            exactly(Reach::Prefix(words))
        }
        (_, true) => {
            let whole =
                last.strip_suffix('*').filter(|word| word.ends_with(|c: char| c.is_ascii_alphanumeric()));
            match whole {
                Some(word) if !word.contains('*') && words.iter().all(|word| !word.contains('*')) => {
                    words.push(word.to_owned());
                    let remark =
                        Some("stricter: only the whole word is allowed, not words that begin with it");
                    Ok(Words { reach: Reach::Prefix(words), remark })
                }
                _ => Err("left out: it would allow longer commands, too"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pattern: &str, decision: Decision) -> String {
        match read(pattern, decision) {
            Ok(Words { reach, remark }) => {
                let more = if remark.is_some() { " (stricter)" } else { "" };
                match reach {
                    Reach::Everything => format!("everything{more}"),
                    Reach::Prefix(words) => format!("{}…{more}", words.join(" ")),
                    Reach::Exact(words) => format!("{}{more}", words.join(" ")),
                }
            }
            Err(reason) => reason.split(':').next().unwrap_or_default().to_owned(),
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
