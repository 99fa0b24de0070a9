//! Values of curl's options that hold paths.

use super::super::EffectKind;
use super::super::collector::{Collector, after};
use super::super::role::Role;
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
