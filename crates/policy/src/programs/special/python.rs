//! Modules that come with python, run by `python -m`.

use super::super::collector::Collector;
use super::super::role::Role;
use super::super::{Canonical, EffectKind, words};
use shellgate_syntax::Word;

/// Reads the module behind `-m`.
pub(crate) fn python_module(word: &Word, collector: &mut Collector) {
    match word.value.known() {
        Some(name)
            if words::PYTHON_SHOWING_MODULES.contains(&name)
                || words::PYTHON_BUILDING_MODULES.contains(&name) =>
        {
            collector.names_code = true;
            // With these options, the folder isn't searched.
            let is_isolated =
                |one: &Canonical| matches!(one, Canonical::Option(name, _) if name == "-I" || name == "-P");
            if !collector.meaning.canonical.iter().any(is_isolated) {
                collector.effect(word, EffectKind::Imports(word.clone()));
            }
        }
        _ => collector.role(Role::Module, word, ""),
    }
}
