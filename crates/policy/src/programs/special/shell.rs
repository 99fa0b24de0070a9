//! Calls of shells: `-c` in any bundle, `-s`, scripts, standard input.
//!
//! Options of shells are a bundle of letters after `-` or `+`, `-o NAME` and a few long ones. `-c` takes no value of
//! its own: the first operand is the text.

use super::super::EffectKind;
use super::super::ShellGrammar;
use super::super::collector::{Collector, with_text};
use super::super::form::Entry;
use super::super::operand;
use super::super::words;
use shellgate_syntax::{Value, Word};
use std::slice::Iter;

const UNKNOWN: &str = "has an option that isn't known for this shell";
const CHANGES: &str = "sets an option of the shell that changes how text is read";

/// Reads a call of a shell.
pub(crate) fn shell(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let mut call = Call { language: entry.language, words: words.iter(), says: Says::default() };
    let operand = call.options(collector);
    if let Some(word) = operand {
        collector.word(word.value.clone());
    }
    call.words.for_each(|word| collector.word(word.value.clone()));
    let says = call.says;
    if says.interactive {
        collector.call_effect(EffectKind::Unusual(
            "is an interactive shell, which reads its own start files and expands history",
        ));
    }
    match operand {
        Some(text) if says.command => {
            collector.effect(text, EffectKind::Shell(text.clone()));
            if says.input {
                // Some shells read standard input afterwards.
                collector.call_effect(EffectKind::ShellInput(None));
            }
        }
        // With `-n` a script is read and not run. An interactive shell ignores `-n`.
        Some(script) if says.checks && !says.interactive && !says.input && !says.text => {
            collector.effect(script, EffectKind::Reads(script.clone()));
        }
        Some(script) if !says.input && !says.text => {
            collector.effect(script, EffectKind::ShellInput(Some(script.clone())))
        }
        // Small shells don't know `--version`, and read on.
        _ if says.prints && entry.grammar == Some(ShellGrammar::Posix) => {
            collector.call_effect(EffectKind::ShellInput(None))
        }
        _ if says.command || says.prints || says.text => {}
        _ => collector.call_effect(EffectKind::ShellInput(None)),
    }
}

/// The options that decide what a shell reads.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option that is there or not")]
struct Says {
    /// `-c`: the first operand is the text.
    command: bool,
    /// `-s`: the text is standard input.
    input: bool,
    interactive: bool,
    /// `-n`: the text is checked and not run.
    checks: bool,
    /// `--version`, `--help`.
    prints: bool,
    /// The value of an option is the text.
    text: bool,
}

/// A call that is being read.
struct Call<'w> {
    language: &'static str,
    words: Iter<'w, Word>,
    says: Says,
}

impl<'w> Call<'w> {
    /// Reads the options. The word after them, if there is one, is the text or the script.
    fn options(&mut self, collector: &mut Collector) -> Option<&'w Word> {
        while let Some(word) = self.words.next() {
            let lead = word.value.lead();
            match word.value.known() {
                Some("--" | "-") => return self.words.next(),
                Some(text) if text.starts_with("--") => self.long(text, word, collector),
                Some(text) if text.len() > 1 && text.starts_with(['-', '+']) => {
                    self.letters(text, word, collector)
                }
                None if lead.is_empty() || lead.starts_with(['-', '+']) || operand::splits(word) => {
                    // Behind `-c` it is the text, and its own effect says that it isn't known.
                    if !self.says.command {
                        collector.effect(word, EffectKind::MaybeOption(word.clone()));
                    }
                    return Some(word);
                }
                _ => return Some(word),
            }
        }
        None
    }

    fn long(&mut self, text: &str, word: &'w Word, collector: &mut Collector) {
        let (name, glued) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let mut value = || match glued {
            Some(value) => Some(with_text(word, value)),
            None => self.words.next().cloned(),
        };
        if words::SHELL_FILE_OPTIONS.contains(&name) {
            if let Some(file) = value() {
                collector.option(name, Some(file.value.clone()));
                collector.effect(&file, EffectKind::ShellInput(Some(file.clone())));
            }
        } else if words::SHELL_TEXT_OPTIONS.contains(&name) {
            if let Some(text) = value() {
                self.says.text |= name == "--command";
                collector.option(name, Some(text.value.clone()));
                collector.effect(&text, EffectKind::Shell(text.clone()));
            }
        } else {
            collector.option(text, None);
            self.says.prints |= name == "--help" || name == "--version";
            if !words::SHELL_LONG_OPTIONS.contains(&name) {
                collector.effect(word, EffectKind::Unusual(UNKNOWN));
            }
        }
    }

    /// Reads a bundle of letters.
    fn letters(&mut self, text: &str, word: &'w Word, collector: &mut Collector) {
        let plus = text.starts_with('+');
        // Bash takes long options with one dash too, `-norc`. Other shells take it for letters.
        let long = format!("-{text}");
        let is_long = |names: &[&str]| names.contains(&long.as_str());
        if is_long(words::SHELL_LONG_OPTIONS) || is_long(words::SHELL_FILE_OPTIONS) {
            collector.effect(word, EffectKind::Unusual(UNKNOWN));
        }
        let mut letters = text.chars();
        letters.next();
        while let Some(letter) = letters.next() {
            let name = format!("{}{letter}", if plus { '+' } else { '-' });
            let glued = letters.as_str();
            match letter {
                'C' | 'c' if self.language == "fish" => {
                    let value = Some(glued).filter(|text| !text.is_empty()).map(|text| with_text(word, text));
                    if let Some(text) = value.or_else(|| self.words.next().cloned()) {
                        self.says.text |= letter == 'c';
                        collector.option(&name, Some(text.value.clone()));
                        collector.effect(&text, EffectKind::Shell(text.clone()));
                    }
                    return;
                }
                // `-o NAME`; bash reads the name from the next word, zsh also glued.
                'o' | 'O' if self.language != "fish" => {
                    let in_word = self.language == "zsh" && !glued.is_empty();
                    let value = if in_word {
                        Some(Value::Known(glued.to_owned()))
                    } else {
                        self.words.next().map(|word| word.value.clone())
                    };
                    let known = value.as_ref().and_then(Value::known);
                    // `+o noexec` undoes `-n`.
                    self.says.checks &= !plus;
                    if known.is_none_or(|name| !words::SET_HARMLESS_NAMES.contains(&name)) {
                        collector.effect(word, EffectKind::Unusual(CHANGES));
                    }
                    collector.option(&name, value);
                    if in_word {
                        return;
                    }
                }
                _ => {
                    self.says.command |= letter == 'c' && !plus;
                    self.says.input |= letter == 's' && !plus;
                    if letter == 'n' {
                        self.says.checks = !plus;
                    }
                    self.says.interactive |= letter == 'i' && !plus;
                    collector.option(&name, None);
                    // `+c` and `+s` mean something else in each shell.
                    let is_unclear = plus && matches!(letter, 'c' | 's');
                    if !words::SHELL_LETTERS.contains(letter) || is_unclear {
                        collector.effect(word, EffectKind::Unusual(UNKNOWN));
                    }
                }
            }
        }
    }
}
