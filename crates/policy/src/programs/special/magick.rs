//! ImageMagick: a file name may have the name of a coder before it (`msl:x`), and some coders run programs or scripts.

use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::{Canonical, EffectKind, words};
use shellgate_syntax::Word;

/// Reads a call of one of ImageMagick's programs. The last word is written, unless the program only shows something.
pub(crate) fn magick(_: &'static Entry, words: &[Word], collector: &mut Collector) {
    let name = collector.meaning.canonical.first().cloned();
    for word in words {
        let text = word.value.lead();
        let is_option = text.starts_with(['-', '+']);
        // Its own options have one dash.
        let is_unknown = text.starts_with("--") && !["--version", "--help"].contains(&text);
        if is_unknown || !is_option && runs_something(text) || words::MAGICK_RUNNING_OPTIONS.contains(&text) {
            collector.effect(
                word,
                EffectKind::Unusual(
                    "has a file name that can run programs, a script, or an option that isn't known",
                ),
            );
        } else if word.value.known().is_none() {
            collector.effect(word, EffectKind::MaybeOption(word.clone()));
        } else if !is_option && text.contains('/') {
            collector.effect(word, EffectKind::Reads(word.clone()));
        }
        collector.word(word.value.clone());
    }
    let shows = matches!(name, Some(Canonical::Word(value)) if value.known() == Some("identify"));
    if let Some(last) = words.last().filter(|last| !shows && !last.value.lead().starts_with('-')) {
        collector.effect(last, EffectKind::Writes(last.clone()));
    }
}

/// Whether the name of a file runs a program or a script: by its coder, by what stands behind a plain one (`png:|command`), or by
/// its ending.
fn runs_something(text: &str) -> bool {
    let file = text.trim_start();
    let ending = file.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match file.split_once(':') {
        Some((coder, rest)) => !words::MAGICK_PLAIN_CODERS.contains(&coder) || runs_something(rest),
        None => {
            file.starts_with(['@', '|'])
                || ending.is_some_and(|ending| words::MAGICK_SCRIPT_ENDINGS.contains(&ending.as_str()))
        }
    }
}
