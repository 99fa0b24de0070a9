//! Judges programs that no table lists, by a generic reading of their words.
//!
//! Such a program may run what it is given. So its words must not hold a command: the name of an excluded program, a shell
//! or another program that runs commands, signs of a shell's grammar, or a word that can't be known. Words that are plainly
//! paths, options or data stay as free as they are for every program.

use shellgate_syntax::{Unknown, Value, Why, Word};

use super::word_shapes::{
    candidates, has_escapes, hides_name, in_command_position, is_plainly_path, is_url, names_language,
    plain_path_candidates, redirects_to_path, runs_commands,
};
use super::{Basis, Judge};
use crate::calls::{Call, Stdin};
use crate::machine::Found;
use crate::programs::{Effect, EffectKind, ProgramKind, base_name, kind_of, understand};
use crate::verdict::ReasonCode;

/// Signs by which a shell starts a command within a text.
const SHELL_SIGNS: [&str; 10] = [";", "|", "&", "$(", "${", "`", "{}", "<(", ">(", "\n"];

/// So many names of programs among the words of an unlisted program are looked at as the beginning of a command.
const MAX_INNER_COMMANDS: usize = 8;

/// A command that an unlisted program starts is among its first words.
const MAX_WORDS_BEFORE_COMMAND: usize = 64;

/// What a word of an unlisted program may be.
pub(super) struct Suspicion {
    pub(super) message: String,
    pub(super) rule: Option<String>,
}

impl Suspicion {
    /// A suspicion that no rule has caused.
    pub(super) fn new(message: String) -> Self {
        Self { message, rule: None }
    }
}

impl Judge<'_> {
    /// Judges the words and the standard input of a program that no table lists.
    pub(super) fn judge_unlisted(&mut self, call: &Call, basis: Basis) {
        if call.meaning.kind.is_some() {
            return self.judge_loose(call, basis);
        }
        let names_secret = call.words.iter().skip(1).any(|word| {
            // `--file=PATH`
            let value = word.value.known().and_then(|text| text.split_once('='));
            let value =
                value.map(|(_, value)| Word { value: Value::Known(value.to_owned()), ..word.clone() });
            self.judge_secret(call, value.as_ref().unwrap_or(word), call.span)
        });
        let named = match basis {
            _ if names_secret => return,
            Basis::Named(words) => words.max(1),
            Basis::Everything if self.rules.restrict_something() => 1,
            Basis::Everything | Basis::NotNeeded | Basis::None => return,
        };
        let is_named = named > 1 || matches!(basis, Basis::Named(_));
        let is_held = self.rules.holds_any_code();
        if !is_named && self.is_outside_program_folders(call) {
            let message =
                "it runs a program that isn't in a folder of programs: nothing is known of it".to_owned();
            self.ask(ReasonCode::Unknown, call.span, message);
            return;
        }
        let before = call.words.iter().skip(named - 1).map(|word| word.value.lead());
        let words = call.words.iter().skip(named).zip(before).map(|(word, before)| {
            if self.names_descriptor(word) {
                let message = "it may obey a text that the command gives it as a file";
                return Some(Suspicion::new(format!("{message}: nothing is known of this program")));
            }
            match &word.value {
                Value::Known(text) if names_language(text, before) => self.excluded_in(text),
                // What it runs is held, but not where it writes.
                Value::Known(text) if is_held => self.suspicion_of_write(text),
                Value::Unknown(_) if is_held => self.suspicion_of_unknown_write(word),
                Value::Known(text) => self
                    .suspicion_of_word(text, is_named)
                    .or_else(|| self.suspicion_of_response(text))
                    .or_else(|| self.suspicion_of_file(text, before))
                    .or_else(|| self.suspicion_of_write(text).filter(|_| is_named)),
                Value::Unknown(unknown) if is_plainly_path(unknown) && !self.may_be_program(unknown) => {
                    self.suspicion_of_unknown_write(word).filter(|_| is_named)
                }
                Value::Unknown(_) => Some(Suspicion::new(
                    "it may run a word that can't be known: nothing is known of this program".to_owned(),
                )),
            }
        });
        let command = call.words.iter().skip_while(|word| word.value.known() != Some("--")).nth(1);
        let command = command.and_then(|word| word.value.known()).filter(|_| is_named);
        let command = command.filter(|name| !matches!(self.machine.find(base_name(name)), Found::Nowhere));
        let command = command.map(|name| Suspicion {
            message: format!("it may start `{name}`: nothing is known of this program"),
            rule: None,
        });
        let is_added = call.more_words && !(is_held && self.adds_names_inside(call));
        let added = is_added.then(|| Suspicion {
            message: "it may run a word that is added to it: nothing is known of this program".to_owned(),
            rule: None,
        });
        let input = match &call.stdin {
            Stdin::Text(text) => self.excluded_in(text),
            Stdin::Empty | Stdin::Unknown | Stdin::Fetched => None,
        };
        let outside = is_named.then(|| self.suspicion_of_surroundings(call)).flatten();
        let inner = self.inner_command(call).map(|name| {
            Suspicion::new(format!(
                "it may start `{name}`, which runs commands: nothing is known of this program"
            ))
        });
        let found = words.chain([command, added, input, inner, outside]).flatten().next();
        if let Some(Suspicion { message, rule }) = found {
            self.ask(ReasonCode::Unknown, call.span, message).rule = rule;
        }
    }

    /// Whether a call names a file that isn't in a folder of programs, and gives it words or a text: a module of a language, a
    /// tool of a package.
    fn is_outside_program_folders(&self, call: &Call) -> bool {
        let has_words = call.words.len() > 1 || call.more_words || matches!(call.stdin, Stdin::Text(_));
        let folder = call.program().and_then(|name| name.rsplit_once('/')).map(|(folder, _)| folder);
        has_words && folder.is_some_and(|folder| !self.machine.has_programs(folder))
    }

    /// A program that the words of a call name and that runs something by the words behind its name, if it is started.
    fn inner_command<'c>(&self, call: &'c Call) -> Option<&'c str> {
        let starts =
            call.words.iter().enumerate().take(MAX_WORDS_BEFORE_COMMAND).skip(1).filter_map(|(at, word)| {
                let name = word.value.known()?;
                let kind = kind_of(name).filter(|kind| *kind != ProgramKind::Builtin)?;
                // A build tool is the same as an unlisted one.
                (kind != ProgramKind::Builder
                    && !matches!(self.machine.find(base_name(name)), Found::Nowhere))
                .then_some((at, name))
            });
        starts.take(MAX_INNER_COMMANDS).find_map(|(at, name)| {
            let meaning = understand(call.words.get(at..)?);
            let runs = |effect: &Effect| {
                matches!(
                    effect.kind,
                    EffectKind::Argv { .. }
                        | EffectKind::Shell(_)
                        | EffectKind::ShellInput(_)
                        | EffectKind::Inline(..)
                        | EffectKind::Opaque(..)
                )
            };
            meaning.effects.iter().any(runs).then_some(name)
        })
    }

    /// Whether a pattern looks in a folder of programs.
    pub(super) fn may_be_program(&self, unknown: &Unknown) -> bool {
        let folder = unknown.lead.rsplit_once('/').map(|(folder, _)| folder);
        unknown.why == Why::Glob && folder.is_some_and(|folder| self.machine.has_programs(folder))
    }

    /// Why a word may be a command or hold one. `is_named`: a rule names the program, so that others may be forbidden.
    pub(super) fn suspicion_of_word(&self, text: &str, is_named: bool) -> Option<Suspicion> {
        if let Some(found) = self.excluded_in(text) {
            return Some(found);
        }
        let suspicion = |message: String| {
            let message = format!("{message}: nothing is known of this program");
            Some(Suspicion { message, rule: None })
        };
        let shell = candidates(text).find(|name| kind_of(name) == Some(ProgramKind::Shell));
        if let Some(name) = shell.or_else(|| in_command_position(text).find(|name| runs_commands(name))) {
            return suspicion(format!("it may start `{name}`"));
        }
        if !is_url(text) && (SHELL_SIGNS.iter().any(|sign| text.contains(sign)) || redirects_to_path(text)) {
            return suspicion("it may run a word that holds signs of a shell".to_owned());
        }
        if super::perl_opens::is_command(text) {
            return suspicion(super::perl_opens::MESSAGE.to_owned());
        }
        if hides_name(text) {
            return suspicion("it may run a word in which quotes hide a name".to_owned());
        }
        if has_escapes(text) {
            return suspicion("it may run a word in which escapes stand for other characters".to_owned());
        }
        // A path of a program, or a text that begins with the name of one: words of one word are too often something else.
        let is_program = |name: &&str| match self.machine.find(base_name(name)) {
            Found::Trusted(file) | Found::Untrusted(file) if name.starts_with('/') => {
                file.to_str() == Some(name)
            }
            Found::Trusted(_) | Found::Untrusted(_) => !name.contains('/') && begins_command(text, name),
            Found::Nowhere => false,
        };
        match candidates(text).find(|name| is_named && is_program(name)) {
            Some(name) => suspicion(format!("it may start `{name}`")),
            None => None,
        }
    }

    /// Why a word may name a file that the program starts or loads: one of the project that can be run, one that the text may
    /// make into one, or a library. `before` is the word before it.
    pub(super) fn suspicion_of_file(&self, text: &str, before: &str) -> Option<Suspicion> {
        if text.starts_with("-J-") {
            let message =
                "it may be a tool of Java and load code: nothing is known of this program".to_owned();
            return Some(Suspicion { message, rule: None });
        }
        // Some programs split a word at its blanks.
        let parts = text.split([' ', '\t']).filter(|part| *part != text).flat_map(plain_path_candidates);
        let found = plain_path_candidates(text).chain(parts).find(|path| {
            let is_value = before.starts_with('-') || text.starts_with('-');
            let name = base_name(path);
            if name.ends_with(".so") || name.contains(".so.") {
                return is_value || path.contains('/');
            }
            let folders = self.state.directories.as_deref().unwrap_or_default().iter();
            let mut places = folders.map(|from| self.machine.cached_destination(from, path));
            places.any(|place| match self.machine.is_program_file(&place) {
                Some(is_program) => {
                    is_program && (place.starts_with(self.machine.root()) || path.starts_with("./"))
                }
                None => path.contains('/') && !name.contains('.') && self.writing_calls > 1,
            })
        });
        found.map(|path| Suspicion {
            message: format!("it may start or load `{path}`: nothing is known of this program"),
            rule: None,
        })
    }

    /// Why a word may name a file of further words: `@FILE`.
    fn suspicion_of_response(&self, text: &str) -> Option<Suspicion> {
        let path = text.strip_prefix('@').filter(|path| !path.is_empty())?;
        let folders = self.state.directories.as_deref().unwrap_or_default().iter();
        let mut places = folders.map(|from| self.machine.cached_destination(from, path));
        let may_be_file = self.writing_calls > 1 || places.any(|place| place.is_file());
        let message = format!("it may take further words from `{path}`: nothing is known of this program");
        may_be_file.then(|| Suspicion::new(message))
    }

    /// The excluded program that a text names.
    pub(super) fn excluded_in(&self, text: &str) -> Option<Suspicion> {
        let (name, rule) = candidates(text).find_map(|name| self.excluded_by_name(name))?;
        let message = format!("it may run `{name}`, which is excluded: nothing is known of this program");
        Some(Suspicion { message, rule: Some(rule) })
    }
}

/// Whether a text has a command that begins with this name: at its beginning, or behind a sign that some programs take for the
/// beginning of a command.
fn begins_command(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().trim_end_matches(' ');
        let after = text.get(at + name.len()..).unwrap_or_default();
        // `system("ls")`
        let is_called = before.len() == at && (before.ends_with("(\"") || before.ends_with("('"));
        match before.chars().next_back() {
            Some(_) if is_called && after.starts_with(['"', '\'']) => true,
            None => after.starts_with(' '),
            Some('!' | '|') => after.is_empty() || after.starts_with([' ', '"', '\'', ')']),
            Some(sign) => "\"'(`=".contains(sign) && after.starts_with(' ') && before.len() == at,
        }
    })
}
