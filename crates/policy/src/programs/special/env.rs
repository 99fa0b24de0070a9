//! `env -S TEXT`: the text is split into words of the call.

use super::super::collector::with_text;
use shellgate_syntax::Word;

/// The words in the text. `None` if it isn't known, or has escapes, variables or comments.
pub(crate) fn env_split(word: &Word) -> Option<Vec<Word>> {
    let text = word.value.known()?;
    if text.contains(['\\', '$', '#']) {
        return None;
    }
    let mut words = Vec::new();
    let mut current: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match quote {
            None if c.is_ascii_whitespace() || c == '\u{b}' => words.extend(current.take()),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                current.get_or_insert_default();
            }
            Some(mark) if mark == c => quote = None,
            _ => current.get_or_insert_default().push(c),
        }
    }
    words.extend(current);
    quote.is_none().then(|| words.iter().map(|text| with_text(word, text)).collect())
}
