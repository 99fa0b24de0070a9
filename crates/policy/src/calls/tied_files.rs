//! Files behind descriptors. On Linux, opening `/dev/stdin` opens the file anew that the descriptor is tied to, for writing
//! too, even if a redirect opened it for reading: `echo x < file > /dev/stdin` writes the file.
//!
//! Which redirect holds when a call runs isn't followed: any of the text may. What the calls write by the name of a descriptor
//! is replaced by the file, or by an unknown one, so that everything behind here judges the file.

use std::collections::BTreeMap;

use shellgate_syntax::{Descriptor, Redirect, RedirectOperator, RedirectTarget, Unknown, Value, Why, Word};

use super::{ANY_VARIABLE, Call, FoundCalls};
use crate::programs::{EffectKind, Property, has};
use crate::redirects::is_descriptor;

/// The names of the standard descriptors, by their numbers. Other descriptors are outside the root for the judge.
const STANDARD_NAMES: [&[&str]; 3] =
    [&["/dev/stdin", "/dev/fd/0"], &["/dev/stdout", "/dev/fd/1"], &["/dev/stderr", "/dev/fd/2"]];

/// If a text copies descriptors more often, any of them may be any file.
const MAX_COPIES: usize = 64;

/// What a descriptor may be tied to, besides what the text writes anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tied {
    /// This file.
    File(Value),
    /// A file that can't be known.
    Unknown,
}

/// What the redirects of a text do to descriptors.
#[derive(Debug, Default)]
struct Descriptors {
    tied: BTreeMap<u32, Tied>,
    /// Descriptors that are copied: from, to. From `None`: from any.
    copies: Vec<(Option<u32>, u32)>,
    /// Whether a file has a descriptor whose number the shell chooses.
    chosen: bool,
    /// Whether relative paths may start from several folders.
    moves: bool,
}

/// Puts files in the place of the descriptors that are tied to them.
pub(super) fn replace_descriptors(found: &mut FoundCalls) {
    if !found.calls.iter().any(writes_descriptor) {
        return;
    }
    let descriptors = Descriptors::of(&found.calls);
    for call in &mut found.calls {
        for redirect in call.redirects.iter_mut().filter(|redirect| opens_for_writing(redirect)) {
            if let RedirectTarget::Word(word) = &mut redirect.target {
                descriptors.replace(word);
            }
        }
        for effect in &mut call.meaning.effects {
            if let EffectKind::Writes(word) = &mut effect.kind {
                descriptors.replace(word);
            }
        }
        if call.meaning.kind.is_none() {
            call.words.iter_mut().skip(1).for_each(|word| descriptors.replace(word));
        }
    }
}

/// The number of the standard descriptor that a value names as a file.
fn standard_number(value: &Value) -> Option<u32> {
    let path = value.known()?;
    let at = STANDARD_NAMES.iter().position(|names| names.contains(&path))?;
    u32::try_from(at).ok()
}

/// Whether a call may write a standard descriptor by its name.
fn writes_descriptor(call: &Call) -> bool {
    let target = |redirect: &Redirect| match &redirect.target {
        RedirectTarget::Word(word) => opens_for_writing(redirect) && standard_number(&word.value).is_some(),
        RedirectTarget::Body(_) => false,
    };
    let effects = call.meaning.effects.iter();
    let mut written = effects.filter_map(|effect| match &effect.kind {
        EffectKind::Writes(word) => Some(word),
        _ => None,
    });
    let mut unlisted = call.words.iter().skip(1).filter(|_| call.meaning.kind.is_none());
    let is_named = |word: &Word| standard_number(&word.value).is_some();
    call.redirects.iter().any(target) || written.any(is_named) || unlisted.any(is_named)
}

fn opens_for_writing(redirect: &Redirect) -> bool {
    use RedirectOperator as Op;
    matches!(
        redirect.operator,
        Op::Write
            | Op::Append
            | Op::Clobber
            | Op::ReadWrite
            | Op::WriteBoth
            | Op::AppendBoth
            | Op::DuplicateOut
    )
}

impl Descriptors {
    fn of(calls: &[Call]) -> Self {
        let mut all = Self::default();
        let changes = |call: &Call| {
            !call.folders.is_empty()
                || call.program().is_none_or(|name| has(name, Property::ChangesDirectory))
                    && !call.words.is_empty()
        };
        all.moves = calls.iter().any(changes);
        calls.iter().flat_map(|call| &call.redirects).for_each(|redirect| all.note(redirect));
        all.follow_copies();
        all
    }

    fn note(&mut self, redirect: &Redirect) {
        use RedirectOperator as Op;
        let RedirectTarget::Word(word) = &redirect.target else { return };
        let number = match (&redirect.descriptor, redirect.operator) {
            (Descriptor::Number(number), _) => Some(*number),
            (Descriptor::Variable(_), _) => None,
            (Descriptor::Default, Op::Read | Op::ReadWrite | Op::DuplicateIn) => Some(0),
            (Descriptor::Default, _) => Some(1),
        };
        match redirect.operator {
            Op::Read | Op::ReadWrite => self.open(number, &word.value),
            Op::DuplicateIn | Op::DuplicateOut => {
                // `>&word` writes a file if the word is no number; that is judged by itself.
                let writes = redirect.operator == Op::DuplicateOut
                    && word.value.known().is_some()
                    && !is_descriptor(word);
                if let Some(to) = number.filter(|_| !writes) {
                    self.copy(&word.value, to);
                } else if number.is_none() {
                    self.chosen = true;
                }
            }
            // What is opened for writing is judged by itself, and a here-document has no name.
            _ => {}
        }
    }

    /// Notes that a descriptor is opened for reading.
    fn open(&mut self, number: Option<u32>, value: &Value) {
        let Some(number) = number else {
            self.chosen = true;
            return;
        };
        if let Some(from) = standard_number(value) {
            self.copies.push((Some(from), number));
            return;
        }
        let tied = match value {
            // A device, or a pipe.
            Value::Known(path) if path == "/dev/null" => return,
            Value::Unknown(Unknown { why: Why::Process, .. }) => return,
            Value::Known(path) if path.starts_with("/dev/") || path.starts_with("/proc/") => Tied::Unknown,
            Value::Known(path) if path.starts_with('/') || !self.moves => Tied::File(value.clone()),
            Value::Unknown(Unknown { why: Why::Tilde { user, rest: Some(_) }, .. }) if user.is_empty() => {
                Tied::File(value.clone())
            }
            _ => Tied::Unknown,
        };
        self.tie(number, tied);
    }

    fn tie(&mut self, number: u32, tied: Tied) {
        let entry = self.tied.entry(number).or_insert_with(|| tied.clone());
        if *entry != tied {
            *entry = Tied::Unknown;
        }
    }

    /// Notes `to<&value`. A closed descriptor is the next file that a program opens.
    fn copy(&mut self, value: &Value, to: u32) {
        match value.known() {
            Some("-") => self.tie(to, Tied::Unknown),
            Some(text) => {
                let from = text.strip_suffix('-').unwrap_or(text).parse().ok();
                self.copies.push((from, to));
            }
            None => self.copies.push((None, to)),
        }
    }

    /// Ties each descriptor to what those are tied to that it may be a copy of.
    fn follow_copies(&mut self) {
        self.copies.sort_unstable();
        self.copies.dedup();
        if self.copies.len() > MAX_COPIES {
            let all: Vec<u32> = self.copies.iter().map(|(_, to)| *to).collect();
            all.into_iter().for_each(|number| self.tie(number, Tied::Unknown));
        }
        let copies: Vec<(Option<u32>, u32)> = self.copies.drain(..).take(MAX_COPIES).collect();
        for _ in 0..copies.len() {
            for (from, to) in &copies {
                match from {
                    Some(from) => {
                        if let Some(tied) = self.tied.get(from).cloned() {
                            self.tie(*to, tied);
                        }
                    }
                    None if self.chosen || !self.tied.is_empty() => self.tie(*to, Tied::Unknown),
                    None => {}
                }
            }
        }
    }

    /// Replaces a word that names a descriptor by the file that it is tied to.
    fn replace(&self, word: &mut Word) {
        let tied = standard_number(&word.value).and_then(|number| self.tied.get(&number));
        match tied {
            Some(Tied::File(value)) => word.value = value.clone(),
            Some(Tied::Unknown) => {
                let why = Why::Parameter(ANY_VARIABLE.to_owned());
                word.value = Value::Unknown(Unknown { lead: String::new(), splits: false, why, tail: None });
            }
            None => {}
        }
    }
}
