//! `zip`: options of one or two letters in bundles (`-rTT` is `-r -TT`).

use super::super::collector::{Collector, after, with_text};
use super::super::form::{Entry, ValueForm};
use super::super::read;
use shellgate_syntax::Word;

/// Reads a call of zip: takes bundles apart, then reads them by the table.
pub(crate) fn zip(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
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
    read::by_table(entry, &apart, collector);
}

/// Takes a bundle apart, two letters before one, as zip does. A dash behind an option switches it off.
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
            // The table says that this letter is unknown.
            apart.push(with_text(word, &format!("-{left}")));
            return;
        };
        at += name.len() - 1;
        apart.push(with_text(word, &name));
        if option.value_form == ValueForm::Required {
            let glued = lead.get(at..).unwrap_or_default();
            let skip = usize::from(glued.starts_with('='));
            if !glued.is_empty() {
                apart.extend(after(word, at + skip));
            }
            return;
        }
    }
}
