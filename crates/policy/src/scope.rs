//! Checks that the words of a program call name only paths inside the root, and no code.
//!
//! The program's grammar says which words are paths. Where the tables have no grammar, or say that a word is only data, a
//! word that looks like a path out of the root counts as one. A path is also read as other systems would read it: percent
//! signs decoded, slashes and dots of other scripts made plain, quotes and patterns as a shell would take them. It is
//! in scope only if every reading leads into the root.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Span, Value, Word};

use crate::machine::Machine;
use crate::programs::{CallMeaning, Effect, EffectKind, ProgramKind, Property, has, understand};

/// Why a call is not in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutOfScope {
    /// This word leads out of the root, or may lead out.
    Path(String),
    /// This word is code, in this language.
    Code(String, String),
}

/// How deep wrappers may be inside each other.
const MAX_DEPTH: usize = 40;

/// The longest name of a file. No system has a file with a longer one.
const MAX_NAME_BYTES: usize = 255;

/// Paths that are in scope everywhere: the null device and the standard streams.
const ALWAYS_IN_SCOPE: [&str; 4] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// Checks a program and its arguments.
///
/// # Errors
/// The first word that is not in scope.
pub fn check_scope(argv: &[String], machine: &Machine) -> Result<(), OutOfScope> {
    let words: Vec<Word> = argv
        .iter()
        .enumerate()
        .map(|(at, word)| Word { span: Span::new(at, at + 1), value: Value::Known(word.clone()) })
        .collect();
    ScopeCheck { machine, from: machine.directory().to_owned() }.call(&words, 0)
}

struct ScopeCheck<'a> {
    machine: &'a Machine,
    from: PathBuf,
}

impl ScopeCheck<'_> {
    fn call(&self, words: &[Word], depth: usize) -> Result<(), OutOfScope> {
        let meaning = understand(words);
        if depth > MAX_DEPTH {
            return Err(OutOfScope::Path(shown(words.first())));
        }
        for Effect { kind, .. } in &meaning.effects {
            match kind {
                EffectKind::Inline(word, language) => return Err(code(word, language)),
                EffectKind::Shell(word) => return Err(code(word, "shell")),
                EffectKind::Opaque(word, _) if word.value.known().is_none() => {
                    return Err(OutOfScope::Path(shown(Some(word))));
                }
                EffectKind::Reads(word)
                | EffectKind::Uses(word)
                | EffectKind::Opaque(word, _)
                | EffectKind::ShellInput(Some(word)) => self.check_path(word)?,
                EffectKind::Directory(Some(word)) => self.check_path(word)?,
                EffectKind::Writes(word) => self.check_written(word)?,
                EffectKind::Argv { words: inner, more_words } => {
                    // What `find` adds lies below its starting points, and those are checked.
                    if *more_words
                        && !meaning.entry.is_some_and(|name| has(name, Property::AddsPathsBelowOperands))
                    {
                        return Err(OutOfScope::Path(shown(inner.first())));
                    }
                    self.call(inner, depth + 1)?;
                }
                _ => {}
            }
        }
        self.check_unlisted(words, &meaning)
    }

    /// Checks words that no grammar calls a path, unless the program is known to take its paths only where the grammar says.
    fn check_unlisted(&self, words: &[Word], meaning: &CallMeaning) -> Result<(), OutOfScope> {
        let has_full_grammar = matches!(
            meaning.kind,
            Some(
                ProgramKind::Reader
                    | ProgramKind::Writer
                    | ProgramKind::Builtin
                    | ProgramKind::Wrapper
                    | ProgramKind::Shell
                    | ProgramKind::Interpreter
            )
        );
        if has_full_grammar {
            return Ok(());
        }
        let leads_out = |word: &&Word| word.value.known().is_some_and(|text| self.may_lead_out(text));
        match words.iter().skip(1).find(leads_out) {
            Some(word) => Err(OutOfScope::Path(shown(Some(word)))),
            None => Ok(()),
        }
    }

    /// Whether a word, or a part of it, looks like a path that leads out.
    fn may_lead_out(&self, text: &str) -> bool {
        if let Some(path) = file_url(text) {
            return !self.is_inside(&path);
        }
        if is_url(text) {
            return false;
        }
        let glued = text.strip_prefix('-').and_then(|option| {
            let mut letters = option.chars();
            letters.next().filter(char::is_ascii_alphabetic).map(|_| letters.as_str())
        });
        let value = text.split_once('=').map(|(_, value)| value);
        let at = text.strip_prefix('@');
        let whole = (!text.starts_with('-')).then_some(text);
        let candidates = [whole, value, at, glued].into_iter().flatten();
        let parts = candidates.flat_map(|text| text.split([':', ',', ';', '=']).chain([text]));
        parts.into_iter().any(|part| self.looks_outside(part))
    }

    /// Whether a text goes up, or begins at a folder that exists, and isn't inside.
    fn looks_outside(&self, text: &str) -> bool {
        let up = text.split('/').any(|part| part == "..");
        let home = text == "~" || text.starts_with("~/");
        let mut parts = text.split('/');
        let rooted = text.starts_with('/')
            && parts.find(|part| !part.is_empty()).is_none_or(|first| Path::new("/").join(first).exists());
        (up || home || rooted && !text.starts_with("//")) && !self.is_inside(text)
    }

    fn check_path(&self, word: &Word) -> Result<(), OutOfScope> {
        let Some(text) = word.value.known() else { return Err(OutOfScope::Path(shown(Some(word)))) };
        let in_scope = text == "-"
            || ALWAYS_IN_SCOPE.contains(&text)
            || is_url(text)
            || readings(text).iter().all(|path| self.is_inside(path));
        if in_scope && !is_odd(text) { Ok(()) } else { Err(OutOfScope::Path(text.to_owned())) }
    }

    /// Checks a path that is written. Files in `.git` can name programs that git runs.
    fn check_written(&self, word: &Word) -> Result<(), OutOfScope> {
        self.check_path(word)?;
        let text = word.value.known().unwrap_or_default();
        let place = self.machine.destination(&self.from, text);
        let inside = place.strip_prefix(self.machine.root()).unwrap_or(&place);
        let in_git_folder = inside.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
        if in_git_folder { Err(OutOfScope::Path(text.to_owned())) } else { Ok(()) }
    }

    fn is_inside(&self, path: &str) -> bool {
        let home = || self.machine.home().map(Path::to_owned).unwrap_or_default();
        let place = match path.strip_prefix('~') {
            Some("") => home(),
            Some(rest) if rest.starts_with('/') => home().join(rest.trim_start_matches('/')),
            // Another user's home.
            Some(rest) if rest.contains('/') => return false,
            _ => PathBuf::from(path),
        };
        self.machine.destination(&self.from, &place.to_string_lossy()).starts_with(self.machine.root())
    }
}

fn shown(word: Option<&Word>) -> String {
    word.map(|word| word.value.known().unwrap_or("…").to_owned()).unwrap_or_default()
}

fn code(word: &Word, language: &str) -> OutOfScope {
    OutOfScope::Code(shown(Some(word)), language.to_owned())
}

/// The path of a `file:` address, whatever its host.
fn file_url(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => format!("/{}", rest.split_once('/').map_or("", |(_, path)| path)),
        None => rest.to_owned(),
    };
    Some(decoded(&path))
}

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && !scheme.eq_ignore_ascii_case("file")
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    })
}

/// Whether a path leads elsewhere on some system, or nowhere on any.
fn is_odd(text: &str) -> bool {
    text.contains(['\n', '\0', '$', '`'])
        || text.contains("::")
        || text.split('/').any(|name| name.len() > MAX_NAME_BYTES)
}

/// The paths that a word may be read as: decoded, folded, unquoted.
fn readings(text: &str) -> Vec<String> {
    let mut readings = vec![text.to_owned(), decoded(text), folded(text)];
    let unquoted: String = text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    readings.push(patterns_up(&unquoted));
    readings.push(unquoted);
    if let Some(path) = file_url(text) {
        readings.push(path);
    }
    readings
}

/// The text with percent signs decoded.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let hex = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (byte, hex(ahead.next()), hex(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                bytes.extend(u8::try_from(high * 16 + low));
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text with slashes and dots of other scripts made plain, without invisible characters, and without blanks at the end of
/// names.
fn folded(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        match c {
            '\\' | '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0f}' | '\u{ff3c}' => plain.push('/'),
            '\u{2024}' | '\u{fe52}' | '\u{ff0e}' => plain.push('.'),
            '\u{2025}' => plain.push_str(".."),
            '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
            c => plain.push(c),
        }
    }
    plain.split('/').map(str::trim_end).collect::<Vec<_>>().join("/")
}

/// The text with `..` in place of names that a shell could expand to `..`.
fn patterns_up(text: &str) -> String {
    let up = |name: &str| {
        let pattern = name.contains(['[', '{', '?', '*']);
        let dots = name.chars().filter(|c| *c == '.').count();
        let rest = name.chars().all(|c| ".[]{},?*".contains(c));
        pattern && rest && dots > 0
    };
    text.split('/').map(|name| if up(name) { ".." } else { name }).collect::<Vec<_>>().join("/")
}
