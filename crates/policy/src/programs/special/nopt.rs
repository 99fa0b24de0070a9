//! npm and pnpm: an option takes the next word as its value only if that isn't an option itself, and a switch can be
//! given `=true` or `=false`.

use super::super::collector::{Collector, with_text};
use super::super::form::{Entry, ValueForm};
use super::super::option::{self, OptionMatch};
use super::super::read;
use shellgate_syntax::Word;

/// Reads a call of npm or pnpm. `--tag --script-shell=x` are two options: the first gets an empty value. `--progress=false`
/// is a switch. The rest is read by the table.
pub(crate) fn nopt(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let is_option = |word: &Word| word.value.lead().starts_with("--") && word.value.lead().len() > 2;
    let mut apart = Vec::with_capacity(words.len());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if word.value.known() == Some("--") {
            apart.push(word.clone());
            break;
        }
        let text = word.value.known().filter(|_| is_option(word)).unwrap_or_default();
        let followed = words.peek().is_some_and(|next| is_option(next));
        apart.push(match text.split_once('=') {
            Some((name, "true" | "false")) if is_switch(entry, &with_text(word, name)) => {
                with_text(word, name)
            }
            None if !text.is_empty() && followed && !is_switch(entry, word) => {
                with_text(word, &format!("{text}="))
            }
            _ => word.clone(),
        });
    }
    apart.extend(words.cloned());
    read::by_table(entry, &apart, collector);
}

/// Whether the word is an option without a value.
fn is_switch(entry: &'static Entry, word: &Word) -> bool {
    matches!(option::find(entry, word, 0), OptionMatch::Found(matched, _) if matched.option.value_form == ValueForm::None)
}
