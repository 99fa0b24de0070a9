//! Detects secrets by value.

use super::{
    pairs,
    tables::{self, Class, Shape},
};

/// Shorter values are skipped: every secret in the table is longer.
const MIN_SECRET_BYTES: usize = 8;

/// The longest part of a secret. Without a limit, a value that repeats the beginning of a secret would take quadratic
/// time.
const MAX_PART_BYTES: usize = 2048;

/// The kind of secret that a value contains, if any. One pass over the value: rows are compared where a word begins.
pub(super) fn find(value: &[u8]) -> Option<&'static str> {
    if value.len() < MIN_SECRET_BYTES {
        return None;
    }
    for (at, pair) in value.windows(2).enumerate() {
        let &[first, second] = pair else { break };
        if pairs::VALUE_STARTS.may_contain(first, second) && begins_word(value, at) {
            let kind = find_at_start(value.get(at..).unwrap_or_default());
            if kind.is_some() {
                return kind;
            }
        }
        if first == b':' && second == b'/' && has_password(value.get(at..).unwrap_or_default()) {
            return Some(tables::URL_PASSWORD);
        }
    }
    None
}

fn begins_word(value: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| value.get(before)).is_none_or(|before| !is_word(*before))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn find_at_start(rest: &[u8]) -> Option<&'static str> {
    // The first byte decides nearly always, and is cheaper to compare than the whole start.
    let first = rest.first();
    let mut rows = tables::VALUES.iter().filter(|row| row.start.as_bytes().first() == first);
    rows.find(|row| matches(row.start, &row.shape, rest)).map(|row| row.kind)
}

fn matches(start: &str, shape: &Shape, rest: &[u8]) -> bool {
    let Some(body) = rest.strip_prefix(start.as_bytes()) else { return false };
    match *shape {
        Shape::Run(class, least) => run_length(class, body, least) >= least,
        Shape::Mixed(class, least) => {
            let length = run_length(class, body, MAX_PART_BYTES);
            length >= least && body.iter().take(length).any(u8::is_ascii_digit)
        }
        Shape::Jwt => is_jwt(body),
        Shape::PrivateKey => {
            let line = body.get(..body.len().min(40)).unwrap_or_default();
            memchr::memmem::find(line, b"PRIVATE KEY").is_some()
        }
    }
}

/// How many characters of the class `body` begins with, at most `limit`.
fn run_length(class: Class, body: &[u8], limit: usize) -> usize {
    body.iter().take(limit).take_while(|byte| class.contains(**byte)).count()
}

impl Class {
    fn contains(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Letters => byte.is_ascii_alphanumeric(),
            Self::Base64Url => is_word(byte) || byte == b'-',
            Self::Dotted => is_word(byte) || byte == b'-' || byte == b'.',
            Self::Any => byte.is_ascii_graphic(),
        }
    }
}

/// Whether this is the rest of a JSON web token: three parts of base64 with dots between them.
fn is_jwt(body: &[u8]) -> bool {
    let mut rest = body;
    for part in 0..3 {
        let length = run_length(Class::Base64Url, rest, MAX_PART_BYTES);
        if length < 8 {
            return false;
        }
        let after = rest.get(length..).unwrap_or_default();
        match after.split_first() {
            Some((b'.', next)) => rest = next,
            _ => return part == 2,
        }
    }
    true
}

/// Whether this is the rest of `scheme://user:password@host`.
fn has_password(rest: &[u8]) -> bool {
    let Some(rest) = rest.strip_prefix(b"://") else { return false };
    let end = rest.iter().position(|byte| b"/?#\"' \t\n".contains(byte)).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    let Some(login) = memchr::memrchr(b'@', authority).and_then(|at| authority.get(..at)) else {
        return false;
    };
    memchr::memchr(b':', login).is_some_and(|colon| colon + 1 < login.len())
}
