//! Small changes of a text: they make what a grammar wouldn't.

use super::random::Random;

/// Changes a text at up to three places. `signs` are what is put in.
pub(crate) fn mutate(random: &mut Random, text: &str, signs: &[&str]) -> String {
    let mut characters: Vec<String> = text.chars().map(String::from).collect();
    for _ in 0..random.below(3) + 1 {
        let at = random.below(characters.len() + 1);
        match random.below(4) {
            0 if at < characters.len() => {
                characters.remove(at);
            }
            1 if at < characters.len() => characters[at] = random.pick(signs).to_owned(),
            2 if at < characters.len() => {
                let end = (at + 1 + random.below(12)).min(characters.len());
                let piece = characters[at..end].to_vec();
                let to = random.below(characters.len() + 1);
                characters.splice(to..to, piece);
            }
            _ => characters.insert(at, random.pick(signs).to_owned()),
        }
    }
    characters.concat()
}

/// The text as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Some of the parts, one after another.
pub(crate) fn some(random: &mut Random, from: &[&str], most: usize) -> String {
    (0..random.below(most + 1)).map(|_| random.pick(from)).collect()
}
