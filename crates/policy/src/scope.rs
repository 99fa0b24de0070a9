//! Whether the words of a program call name only places inside the root, and no code.
//!
//! Which words are paths is known from the program's grammar. Where there is none, or a word is only data to it, words that
//! look like a way out are paths. A path is also looked at as other systems would read it: percent signs decoded, odd
//! slashes and dots made plain, quotes and patterns as a shell would take them.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Span, Value, Word};

use crate::programs::{Effect, Kind, Property, Understood, What, has, understand};
use crate::world::World;

/// Why a call is not in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutOfScope {
    /// This word leads out of the root, or may.
    Path(String),
    /// This word is code, in this language.
    Code(String, String),
}

/// How deep wrappers may be inside each other.
const DEEPEST: usize = 40;

/// The longest name of a file. No system has a file with a longer one.
const LONGEST_NAME: usize = 255;

/// Files that belong to nobody.
const FREE: [&str; 4] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// Looks through a program and its arguments.
///
/// # Errors
/// The first word that is the trouble.
pub fn check_scope(argv: &[String], world: &World) -> Result<(), OutOfScope> {
    let words: Vec<Word> = argv
        .iter()
        .enumerate()
        .map(|(at, word)| Word { span: Span::new(at, at + 1), value: Value::Known(word.clone()) })
        .collect();
    Scope { world, from: world.directory().to_owned() }.call(&words, 0)
}

struct Scope<'a> {
    world: &'a World,
    from: PathBuf,
}

impl Scope<'_> {
    fn call(&self, words: &[Word], depth: usize) -> Result<(), OutOfScope> {
        let understood = understand(words);
        if depth > DEEPEST {
            return Err(OutOfScope::Path(shown(words.first())));
        }
        for Effect { what, .. } in &understood.effects {
            match what {
                What::Inline(word, language) => return Err(code(word, language)),
                What::Shell(word) => return Err(code(word, "shell")),
                What::Opaque(word, _) if word.value.known().is_none() => {
                    return Err(OutOfScope::Path(shown(Some(word))));
                }
                What::Reads(word) | What::Opaque(word, _) | What::ShellInput(Some(word)) => {
                    self.path(word)?
                }
                What::Directory(Some(word)) => self.path(word)?,
                What::Writes(word) => self.written(word)?,
                What::Argv { words: inner, more } => {
                    // What `find` adds lies below its starting points, which are checked.
                    if *more
                        && !understood.entry.is_some_and(|name| has(name, Property::AddsPathsBelowOperands))
                    {
                        return Err(OutOfScope::Path(shown(inner.first())));
                    }
                    self.call(inner, depth + 1)?;
                }
                _ => {}
            }
        }
        self.guessed(words, &understood)
    }

    /// Words that no grammar calls a path.
    fn guessed(&self, words: &[Word], understood: &Understood) -> Result<(), OutOfScope> {
        let plain = matches!(
            understood.kind,
            Some(
                Kind::Reader | Kind::Writer | Kind::Builtin | Kind::Wrapper | Kind::Shell | Kind::Interpreter
            )
        );
        if plain {
            return Ok(());
        }
        let suspicious = |word: &&Word| word.value.known().is_some_and(|text| self.is_way_out(text));
        match words.iter().skip(1).find(suspicious) {
            Some(word) => Err(OutOfScope::Path(shown(Some(word)))),
            None => Ok(()),
        }
    }

    /// Whether a word, or a part of it, looks like a path and leads out.
    fn is_way_out(&self, text: &str) -> bool {
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

    /// A path that goes up, or begins at a place that exists, and isn't inside.
    fn looks_outside(&self, text: &str) -> bool {
        let up = text.split('/').any(|part| part == "..");
        let home = text == "~" || text.starts_with("~/");
        let mut parts = text.split('/');
        let rooted = text.starts_with('/')
            && parts.find(|part| !part.is_empty()).is_none_or(|first| Path::new("/").join(first).exists());
        (up || home || rooted && !text.starts_with("//")) && !self.is_inside(text)
    }

    fn path(&self, word: &Word) -> Result<(), OutOfScope> {
        let Some(text) = word.value.known() else { return Err(OutOfScope::Path(shown(Some(word)))) };
        let fine = text == "-"
            || FREE.contains(&text)
            || is_url(text)
            || readings(text).iter().all(|path| self.is_inside(path));
        if fine && !is_odd(text) { Ok(()) } else { Err(OutOfScope::Path(text.to_owned())) }
    }

    /// What is written must not become code that somebody else's program runs.
    fn written(&self, word: &Word) -> Result<(), OutOfScope> {
        self.path(word)?;
        let text = word.value.known().unwrap_or_default();
        let place = self.world.destination(&self.from, text);
        let inside = place.strip_prefix(self.world.root()).unwrap_or(&place);
        let of_git = inside.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
        if of_git { Err(OutOfScope::Path(text.to_owned())) } else { Ok(()) }
    }

    fn is_inside(&self, path: &str) -> bool {
        let home = || self.world.home().map(Path::to_owned).unwrap_or_default();
        let place = match path.strip_prefix('~') {
            Some("") => home(),
            Some(rest) if rest.starts_with('/') => home().join(rest.trim_start_matches('/')),
            // Somebody else's home.
            Some(rest) if rest.contains('/') => return false,
            _ => PathBuf::from(path),
        };
        self.world.destination(&self.from, &place.to_string_lossy()).starts_with(self.world.root())
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

/// Names that lead elsewhere on some system, or to nothing anywhere.
fn is_odd(text: &str) -> bool {
    text.contains(['\n', '\0', '$', '`'])
        || text.contains("::")
        || text.split('/').any(|name| name.len() > LONGEST_NAME)
}

/// The paths that a word is, for those who decode, unquote or fold it.
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

/// Slashes and dots of other scripts made plain, invisible characters left out, blanks and dots at the end of names too.
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

/// Names that a shell could expand to `..`, as `..`.
fn patterns_up(text: &str) -> String {
    let up = |name: &str| {
        let pattern = name.contains(['[', '{', '?', '*']);
        let dots = name.chars().filter(|c| *c == '.').count();
        let rest = name.chars().all(|c| ".[]{},?*".contains(c));
        pattern && rest && dots > 0
    };
    text.split('/').map(|name| if up(name) { ".." } else { name }).collect::<Vec<_>>().join("/")
}
