//! PowerShell: options in any case, cut to any length, with `-` or `/`.

use super::super::EffectKind;
use super::super::collector::{Collector, joined};
use super::super::form::Entry;
use super::super::words;
use shellgate_syntax::Word;

/// Names of the options with code, and how many letters of each are enough.
const COMMAND: &[(&str, usize)] = &[
    ("commandwithargs", 8),
    ("command", 1),
    ("encodedcommand", 1),
    ("encodedarguments", 8),
    ("enc", 2),
    ("ec", 2),
    ("cwa", 3),
];

/// Reads a call of PowerShell.
pub(crate) fn powershell(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    words.iter().for_each(|word| collector.word(word.value.clone()));
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        let lead = word.value.lead();
        let name = lead.trim_start_matches(['-', '/']).to_ascii_lowercase();
        if !lead.starts_with(['-', '/']) || lead.starts_with("/") && lead.contains('.') {
            let script = lead.to_ascii_lowercase().ends_with(".ps1");
            match joined(rest) {
                _ if script => collector.effect(word, EffectKind::Opaque(word.clone(), "a script")),
                Some(text) => collector.effect(word, EffectKind::Inline(text, entry.language)),
                None => {}
            }
            return;
        }
        let cut = |full: &str, least: usize| name.len() >= least && full.starts_with(&name);
        if COMMAND.iter().any(|(full, least)| cut(full, *least)) {
            match joined(behind) {
                Some(text) if text.value.known() == Some("-") => {
                    collector.call_effect(EffectKind::OpaqueInput(entry.language))
                }
                Some(text) => collector.effect(&text, EffectKind::Inline(text.clone(), entry.language)),
                None => {}
            }
            return;
        }
        if cut("file", 1) {
            if let Some(file) = behind.first() {
                collector.effect(file, EffectKind::Opaque(file.clone(), "a script"));
            }
            return;
        }
        if ["v", "version", "h", "help", "?"].contains(&name.as_str()) {
            return;
        }
        let value = words::POWERSHELL_OPTIONS_WITH_VALUE.iter().any(|full| cut(full, 2))
            || name == "o"
            || name == "w";
        let settings = cut("configurationname", 4)
            || cut("settingsfile", 4)
            || cut("configurationfile", 4)
            || cut("custompipename", 3);
        if !value && !words::POWERSHELL_FLAGS.iter().any(|full| cut(full, 3)) {
            collector.effect(word, EffectKind::Unusual("has an option that isn't known for this program"));
        }
        let skip = usize::from(value || settings);
        rest = behind.get(skip..).unwrap_or_default();
    }
    collector.call_effect(EffectKind::OpaqueInput(entry.language));
}
