//! What xargs and parallel run for the words that they read.

use shellgate_syntax::{Value, Word};

use super::respelled::{MAX_WORDS, Supposition};
use super::spelling::{Spelling, quoted};
use super::values::{KnownText, MAX_VALUES};
use crate::programs::{Canonical, EffectKind, understand};

/// Options of xargs and parallel that a file with words follows.
const LIST_FILE_OPTIONS: [&str; 2] = ["-a", "--arg-file"];

impl KnownText<'_> {
    /// What xargs runs, with the words that it reads.
    pub(super) fn by_xargs(&self, at: usize, words: &[Word]) -> Vec<Supposition> {
        let meaning = understand(words);
        let command = meaning.effects.iter().find_map(|effect| match &effect.kind {
            EffectKind::Argv { words, .. } => words.first().map(|word| word.span),
            _ => None,
        });
        let Some(command) = command else { return Vec::new() };
        let from = words.iter().position(|word| word.span == command).unwrap_or(words.len());
        let template = words.get(from..).unwrap_or_default();
        let option = |names: &[&str]| {
            meaning.canonical.iter().find_map(|part| match part {
                Canonical::Option(name, value) if names.contains(&name.as_str()) => Some(value.clone()),
                _ => None,
            })
        };
        let mark = option(&["-I", "-i"]);
        let mark = mark.map(|mark| mark.as_ref().and_then(Value::known).unwrap_or("{}").to_owned());
        let mut all = Vec::new();
        for input in self.listed_in_file(words, at).unwrap_or_else(|| self.inputs(at, 0)) {
            let own_end = option(&["-d"]).and_then(|end| end?.known()?.chars().next().filter(|c| *c != '\\'));
            let is_plain = option(&["-0", "-d"]).is_some();
            let items: Vec<Spelling> = match (own_end, is_plain || mark.is_some()) {
                (Some(end), _) => input.split(|c| c == end || c == '\n'),
                (None, true) => input.lines(),
                (None, false) => input.split(char::is_whitespace),
            };
            // xargs takes quotes off unless an option says what ends an item.
            let items: Vec<Spelling> =
                items.into_iter().map(|one| if is_plain { one } else { one.unquoted() }).collect();
            let items = items.get(..items.len().min(MAX_WORDS)).unwrap_or_default();
            let texts: Vec<String> = match &mark {
                Some(mark) => {
                    let fill = |item: &Spelling| self.filled(template, mark, item);
                    items.iter().take(MAX_VALUES).map(fill).collect()
                }
                None => {
                    let items: Vec<String> = items.iter().map(Spelling::as_word).collect();
                    vec![format!("{} {}", self.as_written(template), items.join(" "))]
                }
            };
            let is_known = input.known().is_some();
            all.extend(texts.into_iter().map(|text| match is_known {
                true => Supposition::commands(text),
                false => Supposition::respelled(text),
            }));
        }
        all
    }

    /// What is in the file that xargs or parallel reads its words from: `xargs -a <(…)`. `None`: none is named.
    fn listed_in_file(&self, words: &[Word], at: usize) -> Option<Vec<Spelling>> {
        let named = |pair: &&[Word]| {
            pair.first().is_some_and(|option| LIST_FILE_OPTIONS.contains(&option.value.lead()))
        };
        let file = words.windows(2).take(MAX_WORDS).find(named)?.last()?;
        Some(self.content(file, at, 0))
    }

    /// The words of a template with an item in place of a mark.
    fn filled(&self, template: &[Word], mark: &str, item: &Spelling) -> String {
        // In a text for a shell or in code it stands as it is, and is read with the rest.
        let text = item.as_commands();
        let words = template.iter().map(|word| match word.value.known() {
            Some(own) if own == mark => item.as_word(),
            Some(own) if !mark.is_empty() && own.contains(mark) => quoted(&own.replace(mark, &text)),
            _ => word.span.of(self.source).to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// What GNU parallel runs, for words behind `:::` or lines that it reads.
    pub(super) fn by_parallel(&self, at: usize, words: &[Word]) -> Vec<Supposition> {
        let starts = |word: &Word| matches!(word.value.known(), Some(":::" | "::::" | ":::+" | "::::+"));
        let end = words.iter().position(starts).unwrap_or(words.len());
        let mut options = 0;
        while let Some(option) = words.get(1 + options).filter(|word| word.value.lead().starts_with('-')) {
            options += 1 + usize::from(LIST_FILE_OPTIONS.contains(&option.value.lead()));
        }
        let template = words.get(1 + options..end).unwrap_or_default();
        let items: Vec<Spelling> = match words.get(end + 1..) {
            Some(items) => {
                items.iter().take(MAX_VALUES).flat_map(|word| self.word(word, at, 1).all).collect()
            }
            None => {
                let inputs = self.listed_in_file(words, at).unwrap_or_else(|| self.inputs(at, 0));
                inputs.iter().flat_map(Spelling::lines).collect()
            }
        };
        let texts = items.iter().take(MAX_VALUES).map(|item| {
            if template.is_empty() {
                return item.as_commands();
            }
            let has_mark = template.iter().any(|word| word.value.lead().contains("{}"));
            if has_mark {
                self.filled(template, "{}", item)
            } else {
                format!("{} {}", self.as_written(template), item.as_word())
            }
        });
        texts.map(Supposition::respelled).collect()
    }
}
