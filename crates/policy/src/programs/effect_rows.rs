//! What calls do that the roles of their words don't say, from `tables/effects.toml`: `git push` publishes, `apt-get install`
//! changes the machine, `rm` deletes what it is told to write.

use shellgate_syntax::Value;

use super::{CallMeaning, Canonical, base_name};
use crate::effect::EffectName;

include!(concat!(env!("OUT_DIR"), "/effects.rs"));

/// A row of the table. Its program is the key that it is found by.
#[derive(Debug)]
pub(crate) struct EffectRow {
    /// Subcommands, or the first operands of a program without any; `*` stands for anything inside a word.
    words: &'static [&'static str],
    /// Options by their first names, all of which the call must have. `-X=POST`: with this value; `*` stands for anything.
    options: &'static [&'static str],
    /// Options with which the call doesn't do it (`--dry-run`).
    unless: &'static [&'static str],
    /// What the call does.
    pub(crate) effect: EffectName,
    /// What it does it to: `<1>` the first operand, `<*>` every operand, `<host>` the host in its first address, `<files>` the
    /// files that it writes; any other text is itself.
    pub(crate) target: &'static str,
    /// Whether it sends something, and doesn't only fetch.
    pub(crate) sends: bool,
}

/// The rows of a call. Of rows with the same effect only the ones with the most words count, so that a row for `gh pr view`
/// takes the place of one for `gh`.
pub(crate) fn effect_rows(program: &str, meaning: &CallMeaning) -> Vec<&'static EffectRow> {
    let name = meaning.entry.unwrap_or_else(|| base_name(program));
    let Ok(at) = EFFECTS.binary_search_by(|(other, _)| (*other).cmp(name)) else { return Vec::new() };
    let rows = EFFECTS.get(at).map_or(&[][..], |(_, rows)| rows);
    let matching: Vec<&EffectRow> = rows.iter().filter(|row| row.is_about(meaning)).collect();
    let most = matching.iter().map(|row| row.words.len()).max().unwrap_or_default();
    matching.into_iter().filter(|row| row.words.len() == most).collect()
}

impl EffectRow {
    fn is_about(&self, meaning: &CallMeaning) -> bool {
        let words = words_of(meaning);
        let begins = words.len() >= self.words.len()
            && words
                .iter()
                .zip(self.words)
                .all(|(own, wanted)| own.is_some_and(|own| super::fits_pattern(wanted, own)));
        let has = |wanted: &&str| meaning.canonical.iter().any(|part| is_option(part, wanted));
        begins && self.options.iter().all(has) && !self.unless.iter().any(|option| has(&option))
    }
}

/// The subcommands of a call and its operands behind them, as far as they are known.
pub(super) fn words_of(meaning: &CallMeaning) -> Vec<Option<&str>> {
    let subcommands = meaning.subcommands.iter().map(|name| Some(*name));
    let operands = meaning.canonical.iter().skip(1).filter_map(|part| match part {
        Canonical::Word(value) => Some(value),
        Canonical::Option(..) => None,
    });
    let skip = meaning.subcommands.len();
    let is_plain = |value: &&Value| meaning.kind.is_some() || !value.lead().starts_with('-');
    subcommands.chain(operands.filter(is_plain).skip(skip).map(Value::known)).collect()
}

/// Whether a part of a call is an option that a row names: `-d`, `-X=POST`.
pub(super) fn is_option(part: &Canonical, wanted: &str) -> bool {
    let (name, pattern) = wanted.split_once('=').map_or((wanted, None), |(name, value)| (name, Some(value)));
    match part {
        Canonical::Option(own, value) => {
            let value = value.as_ref().and_then(Value::known);
            own == name
                && pattern
                    .is_none_or(|pattern| value.is_some_and(|value| super::fits_pattern(pattern, value)))
        }
        // The words of a program without an entry.
        Canonical::Word(value) => value.known() == Some(wanted),
    }
}
