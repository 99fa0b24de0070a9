//! Values of curl's options that hold paths.

use super::super::EffectKind;
use super::super::collector::{Collector, after};
use super::super::form::Role;
use shellgate_syntax::Word;

/// Reads a value of one of curl's own roles.
pub(crate) fn curl_value(role: Role, word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    let path = match role {
        // `@FILE`, `name@FILE`; `=text` and `name=text` are text.
        Role::CurlData => {
            lead.find(['@', '=']).filter(|at| lead.get(*at..).is_some_and(|rest| rest.starts_with('@')))
        }
        // Without `=` it is a file.
        Role::CurlCookie if !lead.contains('=') && !lead.is_empty() => {
            collector.effect(word, EffectKind::Reads(word.clone()));
            None
        }
        // `#1` stands for what the first pattern of the address fits.
        Role::CurlOutput => {
            let mut signs = lead.chars().peekable();
            let has_part = std::iter::from_fn(|| Some((signs.next()?, signs.peek().copied())))
                .any(|(sign, next)| sign == '#' && next.is_some_and(|next| next.is_ascii_digit()));
            if has_part {
                collector.effect(word, EffectKind::Unusual("writes a file that the address names"));
            }
            collector.role(Role::Write, word, "");
            None
        }
        // `{a,b}`, `[1-3]`
        Role::CurlUpload => {
            if lead.contains(['{', '[']) {
                collector.effect(word, EffectKind::Unusual("reads files that a pattern names"));
            }
            collector.role(Role::Path, word, "");
            None
        }
        Role::CurlFormat => {
            if lead.contains("%output{") || word.value.known().is_none() {
                collector.effect(word, EffectKind::Unusual("has a format that can write files"));
            }
            lead.starts_with('@').then_some(0)
        }
        _ => None,
    };
    if let Some(file) = path.and_then(|at| after(word, at + 1)) {
        collector.effect(word, EffectKind::Reads(file));
    }
}
