//! `printf` of bash, whose format can set variables: `%n` puts the number of printed bytes into the variable that an operand
//! names.

use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::{EffectKind, read, variable};
use shellgate_syntax::{Value, Word};

const SETS: &str = "has a format that sets a variable";
const MAY_SET: &str = "has a format that can't be known, and may set a variable";

/// Reads a call of `printf`.
pub(crate) fn printf(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    read::by_table(entry, words, collector);
    let is_end = |word: &Word| word.value.known() == Some("--");
    let skipped = match words {
        [first, ..] if is_end(first) => 1,
        [option, _, third, ..] if option.value.known() == Some("-v") => 2 + usize::from(is_end(third)),
        _ => 0,
    };
    let Some((format, operands)) = words.get(skipped..).and_then(<[Word]>::split_first) else { return };
    let may_name = |word: &Word| word.value.known().is_none_or(|name| variable(name).is_some());
    match &format.value {
        Value::Known(text) if sets_variable(text) => collector.effect(format, EffectKind::Unusual(SETS)),
        Value::Unknown(unknown) if sets_variable(&unknown.lead) => {
            collector.effect(format, EffectKind::Unusual(SETS));
        }
        Value::Unknown(_) if operands.iter().any(may_name) => {
            collector.effect(format, EffectKind::Unusual(MAY_SET));
        }
        _ => {}
    }
}

/// Whether a format has `%n`, with whatever flags, width and length.
fn sets_variable(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, directive)) = rest.split_once('%') {
        let conversion =
            directive.trim_start_matches(|c: char| c.is_ascii_digit() || "#'-+ .*hjlLtz".contains(c));
        if conversion.starts_with('n') {
            return true;
        }
        // `%%` is one sign, and `%(…)T` has a format for times inside.
        let time = conversion.strip_prefix('(').and_then(|format| format.split_once(")T"));
        rest = time.map_or(conversion.strip_prefix('%').unwrap_or(conversion), |(_, behind)| behind);
    }
    false
}
