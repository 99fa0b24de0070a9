//! Credentials that a call is told in ways that no role of its words explains: arguments of code, names and code on its standard input,
//! addresses of files.

use shellgate_syntax::{Unknown, Value, Why};

use super::Judge;
use crate::calls::{Call, Stdin};
use crate::effect::{CallEffect, EffectName};
use crate::programs::words::CODE_READERS;
use crate::programs::{EffectKind, ProgramKind};
use crate::shapes::{self, ANY};

/// How many names on a standard input are looked at.
const MAX_LISTED: usize = 1000;

/// How many parts of a path in code are put together.
const MAX_JOINED: usize = 4;

/// What may stand between the parts of a path in code.
const BETWEEN_PARTS: [char; 9] = [' ', ',', '/', '+', '(', ')', '\n', '\t', '\\'];

/// How the address of a file begins.
const FILE_SCHEME: &str = "file:";

impl Judge<'_> {
    /// The secrets that a call is told.
    pub(super) fn told_secrets(&self, call: &Call) -> Vec<CallEffect> {
        let mut all: Vec<String> = self.secrets_in_addresses(call);
        if runs_code(call) {
            all.extend(self.secrets_in_arguments(call));
            all.extend(self.secret_in_input(call));
        }
        all.into_iter().map(|path| CallEffect::new(EffectName::Secret, Some(path), true)).collect()
    }

    /// The secrets among the arguments of code: `python3 x.py ~/.ssh/id_rsa`, `--key=../.ssh/id_rsa`.
    fn secrets_in_arguments(&self, call: &Call) -> Vec<String> {
        let is_explained = |kind: &EffectKind| match kind {
            EffectKind::Uses(word) | EffectKind::Inline(word, _) => Some(word.span),
            _ => None,
        };
        let explained: Vec<_> =
            call.meaning.effects.iter().filter_map(|effect| is_explained(&effect.kind)).collect();
        let words = call.words.iter().skip(1).filter(|word| !explained.contains(&word.span));
        let secret = |word: &shellgate_syntax::Word| {
            let value = word.value.known().map(|text| text.split_once('=').map_or(text, |(_, value)| value));
            let named =
                value.filter(|value| value.contains('/') && self.is_secret_token(value)).map(str::to_owned);
            named.or_else(|| self.secret_named(call, word))
        };
        words.filter_map(secret).collect()
    }

    /// The secret that code on the standard input of a call names.
    fn secret_in_input(&self, call: &Call) -> Option<String> {
        let reads_code = |kind: &EffectKind| matches!(kind, EffectKind::OpaqueInput(_));
        match &call.stdin {
            Stdin::Text(text) => self.secret_in_code(text),
            // What comes in by a pipe may be what the text says elsewhere.
            Stdin::Unknown if call.meaning.effects.iter().any(|effect| reads_code(&effect.kind)) => {
                self.named_secret.clone()
            }
            _ => None,
        }
    }

    /// The first secret that code names, also in parts: `Path.home() / '.ssh' / 'id_rsa'`.
    pub(super) fn secret_in_code(&self, code: &str) -> Option<String> {
        self.secret_in(code).or_else(|| {
            let parts: Vec<&str> = code
                .split(['"', '\'', '`'])
                .map(|part| part.trim_matches(BETWEEN_PARTS))
                .filter(|part| !part.is_empty())
                .collect();
            let begins = |part: &str| part.starts_with('.') && part.len() > 2 && !part.contains(' ');
            parts.iter().enumerate().filter(|(_, part)| begins(part)).find_map(|(at, _)| {
                let joined = |count: usize| parts.get(at..at + count).map(|parts| parts.join("/"));
                (1..=MAX_JOINED).filter_map(joined).find(|path| {
                    !path.contains(' ') && self.machine.secrets().may_be(&format!("{ANY}/{path}"))
                })
            })
        })
    }

    /// The secrets that addresses of files lead to, as clients read them: `file:///home/me/.s%73h/x`, `file:///home/me/.{ssh,x}/y`.
    fn secrets_in_addresses(&self, call: &Call) -> Vec<String> {
        let address = |text: &str| {
            let lower = text.to_ascii_lowercase();
            let at = lower
                .find(FILE_SCHEME)
                .filter(|at| *at == 0 || lower.as_bytes().get(at - 1) == Some(&b'='))?;
            let rest = text.get(at + FILE_SCHEME.len()..)?;
            let path = rest.strip_prefix("//").map_or(Some(rest), |rest| rest.get(rest.find('/')?..))?;
            path.contains(['%', '[', '{']).then(|| shapes::without_parents(&shape_of_address(path)))
        };
        let words = call.words.iter().skip(1).map(|word| word.value.lead());
        let named =
            words.filter(|text| address(text).is_some_and(|shape| self.machine.secrets().may_be(&shape)));
        named.map(str::to_owned).collect()
    }

    /// The secret among the names of files that a call reads from its standard input.
    pub(super) fn secret_listed(&self, call: &Call) -> Option<String> {
        match &call.stdin {
            Stdin::Text(text) => {
                let mut lines = text.split(['\n', '\0']).take(MAX_LISTED);
                lines.find(|line| self.is_secret_token(line)).map(str::to_owned)
            }
            Stdin::Empty => None,
            _ => self.named_secret.clone(),
        }
    }

    /// The secret that a list of files may name which the text itself makes: `--files0-from=<(printf ~/.ssh/id_rsa)`.
    pub(super) fn secret_in_list(&self, kind: &EffectKind) -> Option<String> {
        let EffectKind::Opaque(word, _) = kind else { return None };
        let is_made = matches!(&word.value, Value::Unknown(Unknown { why: Why::Process, .. }));
        self.named_secret.clone().filter(|_| is_made)
    }
}

/// Whether a call runs code, or compiles what can take in files.
fn runs_code(call: &Call) -> bool {
    let is_code = |kind: &EffectKind| {
        matches!(kind, EffectKind::Inline(..) | EffectKind::Opaque(..) | EffectKind::OpaqueInput(_))
    };
    matches!(call.meaning.kind, Some(ProgramKind::Interpreter | ProgramKind::Builder))
        || call.meaning.effects.iter().any(|effect| is_code(&effect.kind))
        || call.name().is_some_and(|name| CODE_READERS.contains(&name))
}

/// The path of an address with `%73` decoded; `[a-z]` and `{a,b}` may be anything.
fn shape_of_address(path: &str) -> String {
    let mut shape = String::new();
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        let byte = rest.get(1..3).filter(|_| c == '%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let close = match c {
            '[' => rest.find(']'),
            '{' => rest.find('}'),
            _ => None,
        };
        let (put, taken) = match (byte, close) {
            (Some(byte), _) => (char::from(byte), 3),
            (None, Some(end)) => (ANY, end + 1),
            (None, None) => (c, c.len_utf8()),
        };
        shape.push(put);
        rest = rest.get(taken..).unwrap_or_default();
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_decoded() {
        for (path, expected) in [
            ("/h/.s%73h/x", "/h/.ssh/x"),
            ("/h/.ss[h-h]", "/h/.ss$"),
            ("/h/.{ssh,x}/y", "/h/.$/y"),
            ("/h/100%/x%zz", "/h/100%/x%zz"),
            ("/h/[x", "/h/[x"),
        ] {
            assert_eq!(shape_of_address(path).replace(ANY, "$"), expected, "{path}");
        }
    }
}
