//! Whether a call is one that a rule is about. Deny matches loosely, allow matches strictly.
//!
//! Both sides are brought into one canonical form by the program's own grammar first, so that `rm -rf` is also `rm -f -r`
//! and `git push` is also `git -C d --no-pager push`.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;

use shellgate_syntax::{Span, Value, Word};

use crate::programs::{Canonical, Kind, Property, Understood, What, base_name, has, understand};
use crate::world::{Found, World};

/// Whether a rule that denies or asks is about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loosely {
    Yes,
    /// Words that can't be known decide.
    Maybe,
    No,
}

/// Whether a rule that allows is about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Strictly {
    Yes,
    /// It would be, but for this.
    Nearly(String),
    No,
}

/// A call with what is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) words: &'a [Word],
    pub(crate) understood: &'a Understood,
    pub(crate) world: &'a World,
    /// Whether words are added when it runs.
    pub(crate) more: bool,
}

impl Candidate<'_> {
    fn program(&self) -> Option<&str> {
        self.words.first()?.value.known()
    }

    /// Whether `prefix` forbids it.
    pub(crate) fn is_loosely(&self, prefix: &[String]) -> Loosely {
        let (Some(program), Some(wanted)) = (self.program(), prefix.first()) else { return Loosely::No };
        // `git-push` is what `git push` starts.
        if let [program_of_rule, subcommand, ..] = prefix
            && has(program_of_rule, Property::DashedSubcommands)
            && base_name(program)
                .strip_prefix(program_of_rule.as_str())
                .and_then(|rest| rest.strip_prefix('-'))
                == Some(subcommand)
        {
            return Loosely::Yes;
        }
        if !is_program(program, wanted, self.world) {
            return Loosely::No;
        }
        let wanted = canonical(prefix);
        let ours = rest(&self.understood.canonical);
        let words = |all: &[Canonical]| -> Vec<Value> {
            let words = all.iter().filter_map(|one| match one {
                Canonical::Word(value) => Some(value.clone()),
                Canonical::Option(..) => None,
            });
            words.collect()
        };
        let by_words = if self.understood.kind.is_some() {
            by_position(&words(rest(&wanted)), &words(ours), self.more)
        } else {
            by_skipping(&words(rest(&wanted)), &words(ours), self.more)
        };
        let unsure = || {
            let effects = &self.understood.effects;
            self.more
                || effects.iter().any(|effect| matches!(effect.what, What::MaybeOption(_)))
                || self
                    .words
                    .iter()
                    .any(|word| matches!(&word.value, Value::Unknown(unknown) if unknown.splits))
        };
        let has_options = rest(&wanted).iter().all(|one| match one {
            Canonical::Word(_) => true,
            Canonical::Option(name, None) => {
                ours.iter().any(|ours| matches!(ours, Canonical::Option(other, _) if other == name))
            }
            Canonical::Option(..) => ours.contains(one),
        });
        match (by_words, has_options) {
            (Loosely::No, _) => Loosely::No,
            (found, true) => found,
            (_, false) if unsure() => Loosely::Maybe,
            (_, false) => Loosely::No,
        }
    }

    /// Whether `prefix` allows it.
    pub(crate) fn is_strictly(&self, prefix: &[String]) -> Strictly {
        let (Some(program), Some(wanted)) = (self.program(), prefix.first()) else { return Strictly::No };
        let literally = self.words.len() >= prefix.len()
            && self.words.iter().zip(prefix).skip(1).all(|(word, wanted)| word.value.known() == Some(wanted));
        if !literally {
            return match self.is_loosely(prefix) {
                Loosely::Yes => {
                    Strictly::Nearly("options or unknown words stand between its words".to_owned())
                }
                _ => Strictly::No,
            };
        }
        if program == wanted && wanted.contains('/') {
            return Strictly::Yes;
        }
        let builtin = self.understood.kind == Some(Kind::Builtin);
        match (program == wanted, self.world.find(wanted)) {
            (true, _) if builtin => Strictly::Yes,
            (true, Found::Trusted(_) | Found::Nowhere) => Strictly::Yes,
            (true, Found::Untrusted(file)) => Strictly::Nearly(format!(
                "`{program}` is `{}`, and that folder or one before it on PATH is inside the root or can be \
                 written by others",
                file.display()
            )),
            (false, Found::Trusted(file)) if !wanted.contains('/') && file.to_str() == Some(program) => {
                Strictly::Yes
            }
            (false, _) if base_name(program) == wanted => {
                Strictly::Nearly(format!("`{program}` is not the `{wanted}` that is found on PATH"))
            }
            (false, _) => Strictly::No,
        }
    }
}

/// The canonical form of a rule's words.
fn canonical(prefix: &[String]) -> Vec<Canonical> {
    let word = |text: &String| Word { span: Span::default(), value: Value::Known(text.clone()) };
    understand(&prefix.iter().map(word).collect::<Vec<_>>()).canonical
}

fn rest(canonical: &[Canonical]) -> &[Canonical] {
    canonical.get(1..).unwrap_or_default()
}

/// Whether a program is the one that a rule names: by name, by the name at the end of its links, or by being the same
/// file. A file that serves many names (busybox) is not each of them.
fn is_program(program: &str, wanted: &str, world: &World) -> bool {
    let name = base_name(wanted);
    if base_name(program) == name {
        return true;
    }
    let file = if program.contains('/') {
        world.program_file(program)
    } else {
        match world.find(program) {
            Found::Trusted(file) | Found::Untrusted(file) => file.canonicalize().ok(),
            Found::Nowhere => None,
        }
    };
    let Some(file) = file else { return false };
    if file.file_name().is_some_and(|end| end == name) {
        return true;
    }
    let (Found::Trusted(forbidden) | Found::Untrusted(forbidden)) = world.find(name) else { return false };
    let Ok(forbidden) = forbidden.canonicalize() else { return false };
    let same = |one: &std::fs::Metadata, other: &std::fs::Metadata| {
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    };
    forbidden.file_name().is_some_and(|end| end == name)
        && matches!((file.metadata(), forbidden.metadata()), (Ok(one), Ok(other)) if same(&one, &other))
}

/// Subcommands and operands of a program whose options are known: the first of ours are the rule's.
fn by_position(wanted: &[Value], ours: &[Value], more: bool) -> Loosely {
    let mut found = Loosely::Yes;
    let mut ours = ours.iter();
    for wanted in wanted {
        match (wanted.known(), ours.next()) {
            (_, None) => return if more { Loosely::Maybe } else { Loosely::No },
            (Some(wanted), Some(Value::Known(word))) if wanted != word => return Loosely::No,
            (Some(_), Some(Value::Known(_))) => {}
            (Some(wanted), Some(Value::Unknown(unknown))) => {
                if !unknown.splits && !wanted.starts_with(&unknown.lead) {
                    return Loosely::No;
                }
                if unknown.splits {
                    return Loosely::Maybe;
                }
                found = Loosely::Maybe;
            }
            (None, Some(_)) => found = Loosely::Maybe,
        }
    }
    found
}

/// The same where no grammar says which options take a value: a word with a dash may be skipped, and one more after it.
fn by_skipping(wanted: &[Value], ours: &[Value], more: bool) -> Loosely {
    let mut at: BTreeSet<usize> = BTreeSet::from([0]);
    for wanted in wanted.iter().filter_map(Value::known) {
        let mut next = BTreeSet::new();
        let mut open_ended = false;
        let mut open: Vec<usize> = at.iter().copied().collect();
        let mut seen = at.clone();
        while let Some(position) = open.pop() {
            let Some(value) = ours.get(position) else {
                open_ended |= more;
                continue;
            };
            match value {
                Value::Known(word) if word == wanted => {
                    next.insert(position + 1);
                }
                Value::Unknown(unknown) if unknown.splits || wanted.starts_with(&unknown.lead) => {
                    return Loosely::Maybe;
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
            return if open_ended { Loosely::Maybe } else { Loosely::No };
        }
        at = next;
    }
    Loosely::Yes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(words: &[&str]) -> Vec<Value> {
        words.iter().map(|word| Value::Known((*word).to_owned())).collect()
    }

    #[test]
    fn options_nobody_knows_are_skipped_with_and_without_a_value() {
        let found = |wanted: &[&str], ours: &[&str]| by_skipping(&values(wanted), &values(ours), false);
        assert_eq!(found(&["push"], &["push", "x"]), Loosely::Yes);
        assert_eq!(found(&["push"], &["-C", "d", "--v", "push"]), Loosely::Yes);
        assert_eq!(found(&["a", "b"], &["a", "-x", "b"]), Loosely::Yes);
        assert_eq!(found(&["push"], &["pull", "push"]), Loosely::No);
        assert_eq!(found(&["push"], &vec!["-x"; 5000]), Loosely::No);
    }
}
