//! What the text of a word looks like, whatever program it is given to: names, paths, addresses, quotes.

use shellgate_syntax::{Unknown, Why};

use super::effects::names;
use crate::programs::words::LANGUAGE_OPTIONS;
use crate::programs::{ProgramKind, kind_of};

/// The parts of a word that may be names of programs. A name may be glued to the letter of an option.
pub(super) fn candidates(text: &str) -> impl Iterator<Item = &str> {
    let glued = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| {
        let mut letters = rest.chars();
        letters.next().map(|_| letters.as_str())
    });
    names(text).chain(glued.into_iter().flat_map(names))
}

/// The parts of a word that may be a path: the word itself, the value of a long option, and the value glued to a letter.
pub(super) fn plain_path_candidates(text: &str) -> impl Iterator<Item = &str> {
    let value = text.split_once('=').map(|(_, value)| value);
    let glued = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| {
        let mut letters = rest.chars();
        letters.next().map(|_| letters.as_str())
    });
    let whole = (!text.starts_with('-')).then_some(text);
    whole.into_iter().chain(value).chain(glued).filter(|path| !path.is_empty())
}

/// The parts of a word that may be a path, and the text behind each `=`, `,`, quote or prefix: `if=a,of=PATH`, `file:PATH`.
pub(super) fn path_candidates(text: &str) -> impl Iterator<Item = &str> {
    let is_address =
        is_url(text) && !text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let signs = text.char_indices().filter(|(_, sign)| matches!(sign, '=' | ',' | ':' | '"' | '\''));
    let values = signs.filter_map(|(at, _)| text.get(at + 1..)).flat_map(|rest| {
        let local = rest.strip_prefix("//").unwrap_or(rest);
        [local, local.split([',', '"', '\'']).next().unwrap_or(local)]
    });
    plain_path_candidates(text).chain(values.filter(move |path| !is_address && !path.is_empty()))
}

/// Signs that end a path within a text.
const PATH_ENDS: &[char] = &[' ', '\t', '\n', ',', ';', '|', '&', '<', '>', '(', ')', '"', '\'', '`'];

/// Signs behind which a path may begin.
const PATH_STARTS: &[char] = &[
    ' ', '\t', '\n', '\r', '=', ',', ':', ';', '|', '&', '<', '>', '(', '[', '{', '"', '\'', '`', '@', '#',
    '!', '$', '^', '%', '\\',
];

/// A part of a text that may be a path.
pub(super) struct PathSuffix<'t> {
    pub(super) path: &'t str,
    /// Whether it begins in the middle of a name, so that it is one only if the name is an option's.
    pub(super) is_glued: bool,
}

/// The parts of a text that may be paths which lead out of the folder: from each `/`, `~` or `..` where a path may begin. In an
/// option that is anywhere: `-fo../x`.
pub(super) fn path_suffixes(text: &str) -> impl Iterator<Item = PathSuffix<'_>> {
    let mut before = None;
    // Whether a path has begun already, so that a slash is a part of it.
    let mut is_in_path = false;
    text.char_indices().filter_map(move |(at, sign)| {
        let last = before.replace(sign);
        let is_behind_sign = last.is_none_or(|c| PATH_STARTS.contains(&c));
        if is_behind_sign {
            is_in_path = false;
        }
        let rest = text.get(at..)?;
        let leads_out = sign == '/' || sign == '~' || leads_up(rest);
        let is_glued = text.starts_with('-') && !is_in_path && last != Some('.');
        let begins = leads_out && (is_behind_sign || is_glued);
        is_in_path |= leads_out || sign == '/';
        let path = begins.then(|| rest.split(PATH_ENDS).next()).flatten()?;
        (!matches!(path, "/" | "~")).then_some(PathSuffix { path, is_glued: !is_behind_sign })
    })
}

/// Whether a text begins with `..` as a path: what follows is a slash, or blanks to the end.
fn leads_up(text: &str) -> bool {
    // Looked at only behind the dots: for each character of a text it would be too much.
    text.strip_prefix("..").is_some_and(|rest| rest.starts_with('/') || rest.trim_start().is_empty())
}

/// Whether a text redirects to a path outside of its folder, if a shell reads it: `x>../y`.
pub(super) fn redirects_to_path(text: &str) -> bool {
    let targets = text.split('>').skip(1).map(|rest| rest.trim_start_matches([' ', '|', '&']));
    targets.into_iter().any(|target| target.starts_with(['/', '~', '$']) || target.starts_with(".."))
}

/// Whether a text holds `\x63`, `\143` or `\u0063`, which many small languages read as other characters.
pub(super) fn has_escapes(text: &str) -> bool {
    text.split('\\').skip(1).any(|rest| {
        let mut characters = rest.chars();
        match characters.next() {
            Some('x' | 'u' | 'U') => characters.next().is_some_and(|c| c.is_ascii_hexdigit() || c == '{'),
            Some(digit) => digit.is_digit(8) && characters.next().is_some_and(|c| c.is_digit(8)),
            None => false,
        }
    })
}

/// Whether a text has a name that a shell reads without the quotes inside it: `to""uch`, `t\ouch`.
pub(super) fn hides_name(text: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase());
    let between = |at: usize, sign: &str| {
        let after = text.get(at + sign.len()..).and_then(|rest| rest.chars().next());
        (text.get(..at).and_then(|before| before.chars().next_back()), after)
    };
    let pairs = ["\"\"", "''"]
        .into_iter()
        .flat_map(|sign| text.match_indices(sign).map(move |(at, _)| between(at, sign)));
    // These letters stand for other characters, or for a class of them, in most languages.
    let is_escape = |c: Option<char>| c.is_some_and(|c| "nrtbfvdwsxuzpk".contains(c));
    let escaped =
        text.match_indices('\\').map(|(at, sign)| between(at, sign)).filter(|(_, c)| !is_escape(*c));
    pairs.chain(escaped).any(|(before, after)| is_letter(before) && is_letter(after))
}

/// The names in a word that a command would begin with: at its beginning, or behind a sign. A word may also be a sentence.
pub(super) fn in_command_position(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || "._-/+ ".contains(c)));
    parts.filter_map(|part| part.split(' ').find(|name| !name.is_empty()))
}

/// Whether a program of this name runs commands or code that it is given.
pub(super) fn runs_commands(name: &str) -> bool {
    // A builtin is none of the programs that another one can start.
    matches!(
        kind_of(name),
        Some(ProgramKind::Shell | ProgramKind::Interpreter | ProgramKind::Wrapper | ProgramKind::Workbench)
    )
}

/// Whether a word is the value of an option that names a language: `--platform=node`, `--lang python`.
pub(super) fn names_language(text: &str, before: &str) -> bool {
    let (option, value) = text.split_once('=').unwrap_or((before, text));
    LANGUAGE_OPTIONS.contains(&option)
        && value.chars().all(|c| c.is_alphanumeric() || "+#-.".contains(c))
        && kind_of(value) != Some(ProgramKind::Shell)
}

/// Whether a text is an address, in which `&` and `;` are plain.
pub(super) fn is_url(text: &str) -> bool {
    let address = text.split_once("://").is_some_and(|(scheme, _)| scheme.chars().all(char::is_alphanumeric));
    address && !text.contains(['$', '`', '|', '<', '>', ' ', '\'', '"', '\\'])
}

/// Whether a word that can't be known is a path, a number or a name of a file, whatever its value.
pub(super) fn is_plainly_path(unknown: &Unknown) -> bool {
    let Unknown { lead, splits, why, .. } = unknown;
    match why {
        Why::Glob | Why::Tilde { .. } | Why::Process => !lead.starts_with('-'),
        Why::Parameter(name) if ["HOME", "PWD"].contains(&name.as_str()) => lead.is_empty() && !splits,
        Why::Arithmetic => lead.is_empty(),
        _ => !splits && !lead.starts_with('-') && lead.contains('/'),
    }
}
