//! Settings of `git -c KEY=VALUE`. Many of git's settings name programs, so a setting counts as data only if a list has it.

use super::super::EffectKind;
use super::super::collector::{Collector, after};
use super::super::words;
use shellgate_syntax::Word;

pub(super) const SIGNS: &str = "signs with gpg";

/// Reads a setting: `KEY=VALUE`, or `KEY` alone for true.
pub(crate) fn git_config(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    let (key, value) = match lead.split_once('=') {
        Some((key, _)) => (key, after(word, key.len() + 1)),
        None if word.value.known().is_some() => (lead, None),
        None => {
            collector.effect(word, EffectKind::Opaque(word.clone(), "a setting of git that isn't known"));
            return;
        }
    };
    let key = key.to_ascii_lowercase();
    if is_data(&key) {
        let is_off = value.as_ref().and_then(|value| value.value.known()).is_some_and(is_false);
        if is_signing(&key) && !is_off {
            collector.effect(word, EffectKind::Unusual(SIGNS));
        }
        return;
    }
    if let Some(value) = value {
        if key == "core.worktree" {
            collector.effect(word, EffectKind::Directory(Some(value)));
            return;
        }
        if key.starts_with("alias.") && value.value.lead().starts_with('!') {
            if let Some(command) = after(&value, 1) {
                collector.effect(word, EffectKind::Shell(command));
            }
            return;
        }
        if key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path")) {
            collector.effect(word, EffectKind::Reads(value.clone()));
            collector.effect(word, EffectKind::Opaque(value, "settings that can name programs"));
            return;
        }
        if words::GIT_COMMAND_SETTINGS.iter().any(|pattern| fits(pattern, &key)) {
            collector
                .effect(word, EffectKind::Opaque(value.clone(), "a setting of git that names a program"));
            collector.effect(word, EffectKind::Shell(value));
            return;
        }
    }
    collector.effect(word, EffectKind::Unusual("sets something in git that isn't known to be harmless"));
}

/// Whether this setting is only data.
pub(super) fn is_data(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    words::GIT_DATA_SETTINGS.iter().any(|data| key == *data || (data.ends_with('.') && key.starts_with(data)))
}

/// Whether this setting starts gpg unless it is off.
pub(super) fn is_signing(key: &str) -> bool {
    words::GIT_SIGNING_SETTINGS.contains(&key.to_ascii_lowercase().as_str())
}

/// Whether git takes this value for false.
pub(super) fn is_false(value: &str) -> bool {
    ["", "0", "false", "no", "off"].contains(&value.to_ascii_lowercase().as_str())
}

fn fits(pattern: &str, key: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => {
            key.len() >= begin.len() + end.len() && key.starts_with(begin) && key.ends_with(end)
        }
        None => pattern == key,
    }
}
