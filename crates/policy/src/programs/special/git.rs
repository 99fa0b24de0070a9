//! Settings of `git -c KEY=VALUE`. Many of git's settings name programs, so only those that are known to be data are
//! data.

use super::super::What;
use super::super::sink::{Sink, after};
use super::super::words;
use shellgate_syntax::Word;

/// `KEY=VALUE`, or `KEY` alone for true.
pub(crate) fn git_config(word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    let (key, value) = match lead.split_once('=') {
        Some((key, _)) => (key, after(word, key.len() + 1)),
        None if word.value.known().is_some() => (lead, None),
        None => {
            sink.effect(word, What::Opaque(word.clone(), "a setting of git that isn't known"));
            return;
        }
    };
    let key = key.to_ascii_lowercase();
    if is_data(&key) {
        return;
    }
    if let Some(value) = value {
        if key == "core.worktree" {
            sink.effect(word, What::Directory(Some(value)));
            return;
        }
        if key.starts_with("alias.") && value.value.lead().starts_with('!') {
            if let Some(command) = after(&value, 1) {
                sink.effect(word, What::Shell(command));
            }
            return;
        }
        if key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path")) {
            sink.effect(word, What::Reads(value.clone()));
            sink.effect(word, What::Opaque(value, "settings that can name programs"));
            return;
        }
        if words::GIT_COMMAND_SETTINGS.iter().any(|pattern| fits(pattern, &key)) {
            sink.effect(word, What::Opaque(value.clone(), "a setting of git that names a program"));
            sink.effect(word, What::Shell(value));
            return;
        }
    }
    sink.effect(word, What::Unusual("sets something in git that isn't known to be harmless"));
}

/// Whether this setting is only data.
pub(super) fn is_data(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    words::GIT_DATA_SETTINGS.iter().any(|data| key == *data || (data.ends_with('.') && key.starts_with(data)))
}

fn fits(pattern: &str, key: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => {
            key.len() >= begin.len() + end.len() && key.starts_with(begin) && key.ends_with(end)
        }
        None => pattern == key,
    }
}
