//! What git runs because of its settings: aliases, helpers and addresses that are commands.

use shellgate_syntax::{Invocation, Word};

use super::respelled::{MAX_WORDS, Supposition};
use super::values::{KnownText, MAX_VALUES};
use crate::programs::base_name;

impl KnownText<'_> {
    /// `git -c alias.z='reset --hard' z`, and an alias that the text itself sets.
    pub(super) fn by_alias(&self, words: &[Word]) -> Vec<Supposition> {
        let setting = |text: &str| {
            let (key, value) = text.split_once('=')?;
            Some((key.to_ascii_lowercase().strip_prefix("alias.")?.to_owned(), value.to_owned()))
        };
        let mut aliases: Vec<(String, String)> = Vec::new();
        for pair in words.windows(2).take(MAX_WORDS) {
            if let [option, value] = pair
                && option.value.known() == Some("-c")
            {
                aliases.extend(value.value.known().and_then(setting));
            }
        }
        let sets = |one: &Invocation| {
            let words: Vec<&str> = one.words.iter().filter_map(|word| word.value.known()).collect();
            let is_config =
                words.first().map(|name| base_name(name)) == Some("git") && words.contains(&"config");
            let at = words.iter().position(|word| word.starts_with("alias.")).filter(|_| is_config)?;
            setting(&format!("{}={}", words.get(at)?, words.get(at + 1)?))
        };
        if self.names_aliases {
            aliases.extend(self.invocations.iter().take(MAX_WORDS).filter_map(sets));
        }
        let mut all = git_commands(words);
        for (name, value) in aliases.iter().take(MAX_VALUES) {
            let is_it = |word: &Word| word.value.known() == Some(name);
            let Some(at) = words.iter().position(is_it) else { continue };
            let rest = self.as_written(words.get(at + 1..).unwrap_or_default());
            all.push(Supposition::respelled(match value.strip_prefix('!') {
                Some(command) => format!("{command} {rest}"),
                None => format!("git {value} {rest}"),
            }));
        }
        all
    }
}

/// What git has a shell run for a setting (`-c credential.helper='!…'`) or an address (`ext::…`).
fn git_commands(words: &[Word]) -> Vec<Supposition> {
    let known = words.iter().take(MAX_WORDS).filter_map(|word| word.value.known());
    let commands = known.filter_map(|word| {
        if let Some(command) = word.strip_prefix("ext::") {
            return Some(command.replace("% ", " ").replace("%S", "").replace("%%", "%"));
        }
        let (key, value) = word.split_once('=')?;
        let is_key = key.contains('.') && !key.starts_with('-') && !key.contains(' ');
        value.strip_prefix('!').filter(|_| is_key).map(str::to_owned)
    });
    commands.map(Supposition::respelled).collect()
}
