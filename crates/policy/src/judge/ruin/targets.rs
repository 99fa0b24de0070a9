//! The targets of a call: the words that a row of the table is about, and what they are.

use shellgate_syntax::{Construct, Span, Value, Why, Word};

use super::super::Judge;
use super::{branches, processes, statements};
use crate::calls::{Call, Stdin};
use crate::programs::{Canonical, EffectKind, RuinRow, TargetClass, fits_pattern};

/// If a call has more words, only so many are looked at: the others are of the same kind.
const MAX_TARGETS: usize = 4000;

/// A target that makes a call ruin.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// What it is, for people.
    pub(super) shown: String,
    /// The word, if it is known.
    pub(super) text: Option<String>,
}

impl Target {
    pub(super) fn new(shown: String, word: &Word) -> Self {
        Self { shown, text: word.value.known().map(str::to_owned) }
    }
}

impl Judge<'_> {
    /// The targets of a call that make it ruin.
    pub(super) fn targets(&self, row: &RuinRow, call: &Call) -> Vec<Target> {
        if row.targets.contains(&TargetClass::SharedBranch) {
            return branches::shared(self, call);
        }
        if row.targets.contains(&TargetClass::Session) {
            return processes::of_session(call);
        }
        let words = words_of(row, call);
        words.iter().take(MAX_TARGETS).filter_map(|word| self.target(row, call, word)).collect()
    }

    fn target(&self, row: &RuinRow, call: &Call, word: &Word) -> Option<Target> {
        let known = word.value.known();
        let of_class = |class: &TargetClass| match class {
            TargetClass::Statement => {
                // Of a statement with a variable in it, the beginning says what it drops.
                let begin = || Some(word.value.lead()).filter(|text| statements::names_drop(text));
                let text = known.or_else(begin);
                text.and_then(statements::dropping).map(|statement| Target::new(statement, word))
            }
            // Code may have blanks anywhere: `deleteMany( {} )`.
            TargetClass::Text => known
                .filter(|text| {
                    let fits = |text: &str| row.texts.iter().any(|pattern| fits_pattern(pattern, text));
                    fits(text) || text.contains(' ') && fits(&text.replace(' ', ""))
                })
                .map(|text| Target::new(format!("`{text}`"), word)),
            TargetClass::SessionName => known
                .filter(|name| {
                    let is_pattern = call.name() == Some("pkill")
                        || call.words.iter().any(|word| word.value.known() == Some("-r"));
                    processes::is_of_session(name) || is_pattern && processes::hits_session(name)
                })
                .map(|name| Target::new(format!("`{name}`"), word)),
            TargetClass::Work => self.names_work(call, word).then(|| {
                let shown = call.written(word).unwrap_or(word.value.lead());
                Target::new(format!("`{shown}`"), word)
            }),
            _ => None,
        };
        row.targets
            .iter()
            .find_map(of_class)
            .or_else(|| self.place_target(call, word, &row.targets, row.unknown))
    }
}

/// The words of a call that a row is about.
fn words_of(row: &RuinRow, call: &Call) -> Vec<Word> {
    let effects = call.meaning.effects.iter();
    match row.of {
        "<files>" if call.meaning.kind.is_none() => plain_words(call).collect(),
        "<files>" => effects
            .filter_map(|effect| match &effect.kind {
                EffectKind::Writes(word) => Some(word.clone()),
                _ => None,
            })
            .collect(),
        "<starts>" => {
            let starts: Vec<Word> = effects
                .filter_map(|effect| match &effect.kind {
                    EffectKind::Reads(word) => Some(word.clone()),
                    _ => None,
                })
                .collect();
            if starts.is_empty() { vec![known_word(".")] } else { starts }
        }
        "<packed>" if call.meaning.kind.is_some() => effects
            .filter_map(|effect| match &effect.kind {
                EffectKind::Reads(word) => Some(word.clone()),
                _ => None,
            })
            .collect(),
        "<packed>" => plain_words(call).collect(),
        // What comes in isn't in a file that could be applied again.
        "<pipe>" => {
            let is_piped = call.constructs.contains(&Construct::Pipeline);
            let is_unknown = matches!(call.stdin, Stdin::Unknown | Stdin::Fetched);
            (is_piped && is_unknown).then(|| known_word("*")).into_iter().collect()
        }
        // The same as a file that is only there for the call.
        "<made>" => {
            let is_made = |word: &&Word| match &word.value {
                Value::Known(text) => text == "-",
                Value::Unknown(unknown) => unknown.why == Why::Process,
            };
            call.words.iter().skip(1).find(is_made).map(|_| known_word("*")).into_iter().collect()
        }
        "<words>" => {
            // `--query=DROP …`
            let value = |word: &Word| {
                let (_, value) = word.value.known()?.strip_prefix("--")?.split_once('=')?;
                Some(Word { value: Value::Known(value.to_owned()), ..word.clone() })
            };
            let words = || call.words.iter().skip(1).take(MAX_TARGETS);
            words().cloned().chain(words().filter_map(value)).collect()
        }
        "<input>" => match &call.stdin {
            Stdin::Text(text) => vec![known_word(text)],
            Stdin::Empty | Stdin::Unknown | Stdin::Fetched => Vec::new(),
        },
        "<sources>" => {
            let mut all: Vec<Word> = operands(row, call).collect();
            let names_folder = |part: &Canonical| matches!(part, Canonical::Option(name, _) if name == "-t");
            if !call.meaning.canonical.iter().any(names_folder) {
                all.pop();
            }
            all
        }
        "<last>" => operands(row, call).last().into_iter().collect(),
        "<*>" => operands(row, call).collect(),
        option => {
            let name = option.trim_matches(['<', '>']);
            if call.meaning.kind.is_none() {
                return values_of_option(call, name);
            }
            let values = call.meaning.canonical.iter().filter_map(|part| match part {
                Canonical::Option(own, Some(value)) if own == name => Some(word_of(call, value)),
                _ => None,
            });
            values.collect()
        }
    }
}

/// The values of an option of a program without an entry: `--basetemp=x`, `--basetemp x`.
fn values_of_option(call: &Call, name: &str) -> Vec<Word> {
    let mut all = Vec::new();
    let mut words = call.words.iter().skip(1).take(MAX_TARGETS).peekable();
    while let Some(word) = words.next() {
        if word.value.known() == Some(name) {
            all.extend(words.peek().map(|word| (*word).clone()));
        } else if let Some(value) =
            word.value.known().and_then(|text| text.strip_prefix(name)?.strip_prefix('='))
        {
            all.push(Word { value: Value::Known(value.to_owned()), ..word.clone() });
        }
    }
    all
}

/// The operands behind the words that the row names.
fn operands<'c>(row: &RuinRow, call: &'c Call) -> impl Iterator<Item = Word> + 'c {
    let skip = call.meaning.subcommands.len().max(row.words.len());
    let words = call.meaning.canonical.iter().skip(1).filter_map(|part| match part {
        Canonical::Word(value) => Some(value),
        Canonical::Option(..) => None,
    });
    let is_plain = |value: &&Value| call.meaning.kind.is_some() || !value.lead().starts_with('-');
    words.filter(is_plain).skip(skip).map(|value| word_of(call, value))
}

fn plain_words(call: &Call) -> impl Iterator<Item = Word> + '_ {
    call.words.iter().skip(1).filter(|word| !word.value.lead().starts_with('-')).cloned()
}

/// The word of a call with this value.
fn word_of(call: &Call, value: &Value) -> Word {
    let found = call.words.iter().find(|word| word.value == *value);
    found.cloned().unwrap_or_else(|| Word { span: Span::default(), value: value.clone() })
}

fn known_word(text: &str) -> Word {
    Word { span: Span::default(), value: Value::Known(text.to_owned()) }
}
