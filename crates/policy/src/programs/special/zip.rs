//! `zip`: options of one or two letters in bundles (`-rTT` is `-r -TT`).

use super::super::entry::{Entry, Takes};
use super::super::read;
use super::super::sink::{Sink, after, with_text};
use shellgate_syntax::Word;

/// Takes bundles apart, then reads by the table.
pub(crate) fn zip(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    let mut apart = Vec::new();
    let mut rest = words.iter();
    for word in rest.by_ref() {
        let lead = word.value.lead();
        if lead == "--" {
            apart.push(word.clone());
            break;
        }
        if lead.starts_with("--") || !lead.starts_with('-') || word.value.known().is_none() || lead.len() < 2
        {
            apart.push(word.clone());
        } else {
            bundle(entry, word, &mut apart);
        }
    }
    apart.extend(rest.cloned());
    read::plainly(entry, &apart, sink);
}

/// Two letters first, as zip does. A dash behind an option switches it off.
fn bundle(entry: &'static Entry, word: &Word, apart: &mut Vec<Word>) {
    let lead = word.value.lead();
    let mut at = 1;
    while let Some(left) = lead.get(at..).filter(|left| !left.is_empty()) {
        if left.starts_with('-') && at > 1 {
            at += 1;
            continue;
        }
        let found = [2, 1].into_iter().filter_map(|length| left.get(..length)).find_map(|letters| {
            let name = format!("-{letters}");
            let option = entry.option(&name)?;
            Some((name, option))
        });
        let Some((name, option)) = found else {
            // An unknown letter: the table says so.
            apart.push(with_text(word, &format!("-{left}")));
            return;
        };
        at += name.len() - 1;
        apart.push(with_text(word, &name));
        if option.takes == Takes::Required {
            let glued = lead.get(at..).unwrap_or_default();
            let skip = usize::from(glued.starts_with('='));
            if !glued.is_empty() {
                apart.extend(after(word, at + skip));
            }
            return;
        }
    }
}
