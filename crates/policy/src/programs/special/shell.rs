//! Calls of shells: `-c` in any bundle, `-s`, scripts, standard input.
//!
//! Options of shells are a bundle of letters after `-` or `+`, `-o NAME` and a few long ones. `-c` takes no value of
//! its own: the first operand is the text.

use super::super::What;
use super::super::entry::Entry;
use super::super::sink::{Sink, with_text};
use super::super::words;
use shellgate_syntax::{Value, Word};
use std::slice::Iter;

const UNKNOWN: &str = "has an option that isn't known for this shell";

/// Reads a call of a shell.
pub(crate) fn shell(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    let mut call = Call { language: entry.language, words: words.iter(), says: Says::default() };
    let operand = call.options(sink);
    if let Some(word) = operand {
        sink.word(word.value.clone());
    }
    call.words.for_each(|word| sink.word(word.value.clone()));
    let says = call.says;
    if says.interactive {
        sink.whole(What::Unusual(
            "is an interactive shell, which reads its own start files and expands history",
        ));
    }
    match operand {
        Some(text) if says.command => sink.effect(text, What::Shell(text.clone())),
        // It is read and not run; an interactive shell takes no notice of that.
        Some(script) if says.checks && !says.interactive && !says.input && !says.text => {
            sink.effect(script, What::Reads(script.clone()));
        }
        Some(script) if !says.input && !says.text => {
            sink.effect(script, What::ShellInput(Some(script.clone())))
        }
        _ if says.command || says.prints || says.text => {}
        _ => sink.whole(What::ShellInput(None)),
    }
}

/// What the options say.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option that is there or not")]
struct Says {
    /// `-c`: the operand is the text.
    command: bool,
    /// `-s`: standard input is.
    input: bool,
    interactive: bool,
    /// `-n`: nothing is run.
    checks: bool,
    /// Only the version or help.
    prints: bool,
    /// An option held the text itself.
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
    fn options(&mut self, sink: &mut Sink) -> Option<&'w Word> {
        while let Some(word) = self.words.next() {
            let lead = word.value.lead();
            match word.value.known() {
                Some("--" | "-") => return self.words.next(),
                Some(text) if text.starts_with("--") => self.long(text, word, sink),
                Some(text) if text.len() > 1 && text.starts_with(['-', '+']) => {
                    self.letters(text, word, sink)
                }
                None if lead.is_empty() || lead.starts_with(['-', '+']) => {
                    // Behind `-c` it is text that isn't known, whatever it turns out to be.
                    if !self.says.command {
                        sink.effect(word, What::MaybeOption(word.clone()));
                    }
                    return Some(word);
                }
                _ => return Some(word),
            }
        }
        None
    }

    fn long(&mut self, text: &str, word: &'w Word, sink: &mut Sink) {
        let (name, glued) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let mut value = || match glued {
            Some(value) => Some(with_text(word, value)),
            None => self.words.next().cloned(),
        };
        if words::SHELL_FILE_OPTIONS.contains(&name) {
            if let Some(file) = value() {
                sink.option(name, Some(file.value.clone()));
                sink.effect(&file, What::ShellInput(Some(file.clone())));
            }
        } else if words::SHELL_TEXT_OPTIONS.contains(&name) {
            if let Some(text) = value() {
                self.says.text |= name == "--command";
                sink.option(name, Some(text.value.clone()));
                sink.effect(&text, What::Shell(text.clone()));
            }
        } else {
            sink.option(text, None);
            self.says.prints |= name == "--help" || name == "--version";
            if !words::SHELL_LONG_OPTIONS.contains(&name) {
                sink.effect(word, What::Unusual(UNKNOWN));
            }
        }
    }

    /// A bundle of letters.
    fn letters(&mut self, text: &str, word: &'w Word, sink: &mut Sink) {
        let plus = text.starts_with('+');
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
                        sink.option(&name, Some(text.value.clone()));
                        sink.effect(&text, What::Shell(text.clone()));
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
                    // `+o noexec` takes `-n` back.
                    self.says.checks &= !plus;
                    if known.is_none_or(|name| !words::SET_HARMLESS_NAMES.contains(&name)) {
                        sink.effect(
                            word,
                            What::Unusual("sets an option of the shell that changes how text is read"),
                        );
                    }
                    sink.option(&name, value);
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
                    sink.option(&name, None);
                    if !words::SHELL_LETTERS.contains(letter) {
                        sink.effect(word, What::Unusual(UNKNOWN));
                    }
                }
            }
        }
    }
}
