//! Compares the words of a rule with those of a call, without their options.

use std::borrow::Cow;
use std::collections::BTreeSet;

use shellgate_syntax::Value;

use super::LooseMatch;

/// Compares the words of a program whose options are known: the first words of the call must be the rule's. Words from
/// `unordered_from` on may be anywhere among those of the call.
pub(super) fn by_position(
    wanted: &[Value],
    ours: &[Value],
    unordered_from: Option<usize>,
    more_words: bool,
) -> LooseMatch {
    let mut found = LooseMatch::Yes;
    let mut next = ours.iter();
    for (at, wanted) in wanted.iter().enumerate() {
        let operands = unordered_from.filter(|from| at >= *from).and_then(|from| ours.get(from..));
        if let (Some(operands), Some(path)) = (operands, wanted.known()) {
            let is_it = |word: &Value| word.known().is_some_and(|word| normal(word) == normal(path));
            if operands.iter().any(is_it) {
                continue;
            }
            let may_be = |word: &Value| match word {
                Value::Unknown(unknown) => unknown.splits || path.starts_with(&unknown.lead),
                Value::Known(_) => false,
            };
            if !more_words && !operands.iter().any(may_be) {
                return LooseMatch::No;
            }
            found = LooseMatch::Maybe;
            continue;
        }
        match (wanted.known(), next.next()) {
            (_, None) => return if more_words { LooseMatch::Maybe } else { LooseMatch::No },
            (Some(wanted), Some(Value::Known(word))) if normal(wanted) != normal(word) => {
                return LooseMatch::No;
            }
            (Some(_), Some(Value::Known(_))) => {}
            (Some(wanted), Some(Value::Unknown(unknown))) => {
                if !unknown.splits && !wanted.starts_with(&unknown.lead) {
                    return LooseMatch::No;
                }
                if unknown.splits {
                    return LooseMatch::Maybe;
                }
                found = LooseMatch::Maybe;
            }
            (None, Some(_)) => found = LooseMatch::Maybe,
        }
    }
    found
}

/// A word as it is, or as the shortest spelling of the same path: `/` for `//` and `/usr/..`, `.` for `./`.
pub(crate) fn normal(word: &str) -> Cow<'_, str> {
    if !word.contains('/') {
        return Cow::Borrowed(word);
    }
    let is_absolute = word.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for name in word.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            ".." if is_absolute => {}
            name => names.push(name),
        }
    }
    if names.is_empty() && !is_absolute {
        return Cow::Borrowed(".");
    }
    let start = if is_absolute { "/" } else { "" };
    Cow::Owned(format!("{start}{}", names.join("/")))
}

/// Compares the words of a program whose options aren't known: a word with a dash may be skipped, and one more after it,
/// which may be its value.
pub(super) fn by_skipping(wanted: &[Value], ours: &[Value], more_words: bool) -> LooseMatch {
    let mut at: BTreeSet<usize> = BTreeSet::from([0]);
    for wanted in wanted.iter().filter_map(Value::known) {
        let mut next = BTreeSet::new();
        let mut open_ended = false;
        let mut open: Vec<usize> = at.iter().copied().collect();
        let mut seen = at.clone();
        while let Some(position) = open.pop() {
            let Some(value) = ours.get(position) else {
                open_ended |= more_words;
                continue;
            };
            match value {
                Value::Known(word) if word == wanted => {
                    next.insert(position + 1);
                }
                Value::Unknown(unknown) if unknown.splits || wanted.starts_with(&unknown.lead) => {
                    return LooseMatch::Maybe;
                }
                _ => {}
            }
            if value.lead().starts_with('-') {
                for skipped in [position + 1, position + 2] {
                    if seen.insert(skipped) {
                        open.push(skipped);
                    }
                }
            }
        }
        if next.is_empty() {
            return if open_ended { LooseMatch::Maybe } else { LooseMatch::No };
        }
        at = next;
    }
    LooseMatch::Yes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(words: &[&str]) -> Vec<Value> {
        words.iter().map(|word| Value::Known((*word).to_owned())).collect()
    }

    #[test]
    fn unknown_options_are_skipped_with_and_without_a_value() {
        let found = |wanted: &[&str], ours: &[&str]| by_skipping(&values(wanted), &values(ours), false);
        assert_eq!(found(&["push"], &["push", "x"]), LooseMatch::Yes);
        assert_eq!(found(&["push"], &["-C", "d", "--v", "push"]), LooseMatch::Yes);
        assert_eq!(found(&["a", "b"], &["a", "-x", "b"]), LooseMatch::Yes);
        assert_eq!(found(&["push"], &["pull", "push"]), LooseMatch::No);
        assert_eq!(found(&["push"], &vec!["-x"; 5000]), LooseMatch::No);
    }
}
