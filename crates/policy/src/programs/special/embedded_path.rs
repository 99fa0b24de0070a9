//! Paths inside other words: `file:///etc/x`, `@FILE`, `name=@FILE`, `key=PATH`.

use super::super::collector::{after, with_text};
use super::super::form::Role;
use shellgate_syntax::Word;

/// The path in a word of this role, if there is one.
pub(crate) fn path_in(role: Role, word: &Word) -> Option<Word> {
    let lead = word.value.lead();
    match role {
        Role::Url => file_url(word),
        Role::AtFile => lead.starts_with('@').then(|| after(word, 1)).flatten(),
        Role::Form => {
            let at = lead.find('=')? + 1;
            let path = lead
                .get(at..)
                .filter(|rest| rest.starts_with(['@', '<']))
                .and_then(|_| after(word, at + 1))?;
            // `name=@FILE;type=text/plain`
            match path.value.known().and_then(|text| text.split_once(';')) {
                Some((file, _)) => Some(with_text(word, file)),
                None => Some(path),
            }
        }
        Role::KeyPath => match lead.find('=') {
            Some(at) => after(word, at + 1),
            None => Some(word.clone()),
        },
        _ => None,
    }
}

/// Whether an address has a pattern before its scheme ends, so that it may be a `file:` address: `fil{e,x}:///y`.
pub(crate) fn hides_scheme(word: &Word) -> bool {
    let lead = word.value.lead();
    lead.split(':').next().unwrap_or(lead).contains(['{', '['])
}

/// The path of a `file:` address: `file:/x`, `file:///x`, `FILE://localhost/x`.
fn file_url(word: &Word) -> Option<Word> {
    let lead = word.value.lead();
    let scheme = lead.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:"))?;
    let rest = lead.get(scheme.len()..)?;
    let host = rest.strip_prefix("//").map_or(0, |rest| 2 + rest.find('/').unwrap_or(rest.len()));
    after(word, scheme.len() + host)
}
