//! What calls do that the roles of their words don't say, from `tables/effects.toml`: `git push` publishes, `apt-get install`
//! changes the machine, `rm` deletes what it is told to write.
//!
//! A row that would free a call is compared strictly, one that would ask about it loosely: other names of a subcommand count,
//! and every word that looks like an option.

use shellgate_syntax::{Value, Word};

use super::text_table::TextTable;
use super::{CallMeaning, Canonical, base_name, fits_pattern, words};
use crate::effect::EffectName;
use crate::languages::sql;

include!(concat!(env!("OUT_DIR"), "/effects.rs"));

/// What stands in a row for any number of words.
const ANY_WORDS: &str = "**";

/// What stands in a row for the end of the words.
const END: &str = "$";

/// A row of the table. Its program is the key that it is found by.
#[derive(Clone, Debug)]
pub(crate) struct EffectRow {
    /// Subcommands, or the first operands of a program without any; `*` stands for anything inside a word, `**` for words.
    words: Vec<&'static str>,
    /// Options by their first names, all of which the call must have. `-X=POST`: with this value; `*` stands for anything.
    options: Vec<&'static str>,
    /// Options and words with which the call doesn't do it (`--dry-run`).
    unless: Vec<&'static str>,
    /// The option or the first operand whose text is SQL: the row counts if all of it only reads.
    reads_sql: &'static str,
    /// What the call does.
    pub(crate) effect: EffectName,
    /// What it does it to: `<1>` the first operand, `<*>` every operand, `<host>` the host in its first address, `<files>` the
    /// files that it writes; any other text is itself.
    pub(crate) target: &'static str,
    /// Whether it sends something, and doesn't only fetch.
    pub(crate) sends: bool,
    /// Whether it reaches only what runs in the same sandbox.
    pub(crate) held: bool,
}

/// The rows of a call. Only the ones with the most words and options count, so that a row for `gh pr view` takes the place of one for `gh`.
/// A program that shares its entry with others (`podman`) has the rows of the entry's first name, unless it has some of its own.
pub(crate) fn effect_rows(program: &str, meaning: &CallMeaning, words: &[Word]) -> Vec<EffectRow> {
    let rows =
        EFFECTS.rows_of(base_name(program)).or_else(|| EFFECTS.rows_of(meaning.entry?)).unwrap_or_default();
    let written = words_of(meaning, meaning.written_subcommands.iter().map(String::as_str));
    let by = |own: &[Option<&str>], is_alias: bool| -> Vec<EffectRow> {
        let rows = rows.lines().filter(|line| may_begin(line, own)).filter_map(EffectRow::read);
        let rows = rows.filter(|row| !is_alias || row.is_strict());
        rows.filter(|row| row.is_about(meaning, own, words)).collect()
    };
    let mut matching = by(&written, false);
    if matching.is_empty() {
        // By another name of its subcommand.
        matching = by(&words_of(meaning, meaning.subcommands.iter().copied()), true);
    }
    let size = |row: &EffectRow| row.words.len() + row.options.len();
    let most = matching.iter().map(size).max().unwrap_or_default();
    matching.into_iter().filter(|row| size(row) == most).collect()
}

/// The rows of a program.
#[cfg(test)]
fn rows_of(name: &str) -> Option<Vec<EffectRow>> {
    EFFECTS.rows_of(name).map(|rows| rows.lines().filter_map(EffectRow::read).collect())
}

/// Whether a row may be about a call with these words, by the first of its own words. Most rows needn't be read then.
fn may_begin(line: &str, own: &[Option<&str>]) -> bool {
    let end = line.find([' ', '\t']).unwrap_or(line.len());
    let first = line.get(..end).unwrap_or_default();
    first.is_empty() || first.contains(['*', '$']) || own.first() == Some(&Some(first))
}

/// Whether only this table knows a program.
pub(crate) fn is_known_by_effects(program: &str) -> bool {
    words::PROGRAMS_WITHOUT_ENTRY.contains(&base_name(program))
}

impl EffectRow {
    /// A row as it is written in the text. The build writes no other.
    fn read(line: &'static str) -> Option<Self> {
        let mut fields = line.split('\t');
        let mut words =
            || fields.next().map(|field| field.split(' ').filter(|word| !word.is_empty()).collect());
        let (words, options, unless) = (words()?, words()?, words()?);
        let (reads_sql, effect, target, flags) =
            (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        Some(Self {
            words,
            options,
            unless,
            reads_sql,
            effect: EffectName::from_name(effect)?,
            target,
            sends: flags.contains('s'),
            held: flags.contains('h'),
        })
    }

    /// Whether a call with this effect is a question by itself.
    fn is_strict(&self) -> bool {
        match self.effect {
            EffectName::Machine
            | EffectName::Publish
            | EffectName::Delete
            | EffectName::Secret
            | EffectName::Unknown => true,
            EffectName::Network => self.sends,
            EffectName::Code | EffectName::Write | EffectName::Read => false,
        }
    }

    /// Whether the row is about a call with these subcommands and operands.
    fn is_about(&self, meaning: &CallMeaning, own: &[Option<&str>], words: &[Word]) -> bool {
        let exactly = |wanted: &str| {
            meaning.implied.contains(&wanted)
                || meaning.canonical.iter().any(|part| is_option(part, wanted))
                || meaning.kind.is_none() && words.iter().any(|word| looks_like(word, wanted))
        };
        let loosely = |wanted: &str| exactly(wanted) || words.iter().any(|word| looks_like(word, wanted));
        let has_word = |wanted: &str| own.iter().flatten().any(|own| fits_pattern(wanted, own));
        // `-X GET -X POST`
        let always = |wanted: &str| {
            let Some((name, _)) = wanted.split_once('=') else { return true };
            let mut parts = meaning.canonical.iter().filter(|part| is_option(part, name));
            parts.all(|part| is_option(part, wanted))
        };
        let has = |wanted: &&str, is_loose: bool| match (wanted.starts_with('-'), is_loose) {
            (false, _) => has_word(wanted),
            (true, true) => loosely(wanted),
            (true, false) => exactly(wanted),
        };
        begins(&self.words, own)
            && self
                .options
                .iter()
                .all(|wanted| has(wanted, self.is_strict()) && (self.is_strict() || always(wanted)))
            && !self.unless.iter().any(|wanted| has(wanted, !self.is_strict()))
            && (self.reads_sql.is_empty() || only_reads(self.reads_sql, meaning))
    }
}

/// Whether words begin with what a row has.
fn begins(wanted: &[&str], words: &[Option<&str>]) -> bool {
    match (wanted.split_first(), words.split_first()) {
        (None, _) => true,
        (Some((&END, _)), behind) => behind.is_none(),
        (Some((&ANY_WORDS, rest)), _) => {
            begins(rest, words) || words.split_first().is_some_and(|(_, words)| begins(wanted, words))
        }
        (Some((first, rest)), Some((Some(own), words))) => fits_pattern(first, own) && begins(rest, words),
        (Some(_), _) => false,
    }
}

/// The subcommands of a call and its operands behind them, as far as they are known.
pub(super) fn words_of<'m>(
    meaning: &'m CallMeaning,
    subcommands: impl ExactSizeIterator<Item = &'m str>,
) -> Vec<Option<&'m str>> {
    let skip = subcommands.len();
    subcommands.map(Some).chain(operands(meaning).skip(skip).map(Value::known)).collect()
}

/// The words of a call behind its program that aren't options.
fn operands(meaning: &CallMeaning) -> impl Iterator<Item = &Value> {
    let words = meaning.canonical.iter().skip(1).filter_map(|part| match part {
        Canonical::Word(value) => Some(value),
        Canonical::Option(..) => None,
    });
    words.filter(|value| meaning.kind.is_some() || !value.lead().starts_with('-'))
}

/// Whether all SQL of a call only reads. It is the value of an option, or the operands from a place on.
fn only_reads(place: &str, meaning: &CallMeaning) -> bool {
    let is_reading = |value: &Value| value.known().is_some_and(sql::only_reads);
    let number = place.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let mut values: Vec<Option<&Value>> = match number.and_then(|number| number.parse::<usize>().ok()) {
        Some(number) => operands(meaning).skip(number.saturating_sub(1)).map(Some).collect(),
        None => meaning
            .canonical
            .iter()
            .filter_map(|part| match part {
                Canonical::Option(name, value) if name == place => Some(value.as_ref()),
                _ => None,
            })
            .collect(),
    };
    let count = values.len();
    values.retain(|value| value.is_some_and(is_reading));
    count > 0 && values.len() == count
}

/// Whether a part of a call is an option that a row names: `-d`, `-X=POST`.
pub(super) fn is_option(part: &Canonical, wanted: &str) -> bool {
    let (name, pattern) = wanted.split_once('=').map_or((wanted, None), |(name, value)| (name, Some(value)));
    match part {
        Canonical::Option(own, value) => {
            let value = value.as_ref().and_then(Value::known);
            // Options that the entry doesn't list: `--*` and the rest of the word.
            let unlisted = own.strip_suffix('*').zip(value).map(|(start, rest)| format!("{start}{rest}"));
            if let Some(written) = unlisted {
                return written == wanted || pattern.is_none() && written.starts_with(&format!("{name}="));
            }
            own == name
                && pattern.is_none_or(|pattern| value.is_some_and(|value| fits_pattern(pattern, value)))
        }
        Canonical::Word(_) => false,
    }
}

/// Whether a word may be an option that a row names: `--force`, `--force=true`.
fn looks_like(word: &Word, wanted: &str) -> bool {
    let lead = word.value.lead();
    lead == wanted
        || wanted.contains('*') && fits_pattern(wanted, lead)
        || !wanted.contains('=') && lead.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::is_listed;

    #[test]
    fn every_program_is_in_the_tables_or_named_as_missing() {
        for (program, rows) in EFFECTS.programs() {
            assert_eq!(rows.lines().count(), rows_of(program).unwrap().len(), "{program}");
            let is_missing = words::PROGRAMS_WITHOUT_ENTRY.contains(&program);
            assert!(is_listed(program) != is_missing, "{program} is in both or in neither");
        }
        for program in words::PROGRAMS_WITHOUT_ENTRY {
            assert!(rows_of(program).is_some(), "{program} has no rows");
        }
    }

    #[test]
    fn words_are_compared_from_the_first_on() {
        let words = [Some("a"), Some("b"), None];
        for (wanted, fits) in [
            (&[][..], true),
            (&["a"], true),
            (&["a", "b"], true),
            (&["a", "b", "c"], false),
            (&["**", "b"], true),
            (&["a", "$"], false),
            (&["**", "c"], false),
        ] {
            assert_eq!(begins(wanted, &words), fits, "{wanted:?}");
        }
        assert!(begins(&["a", "b", "$"], &words[..2]));
    }
}
