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

/// Reads the words behind a module that comes with python: some of them are files that it writes.
pub(crate) fn python_arguments(words: &[Word], collector: &mut Collector) {
    let module = collector.meaning.canonical.last().and_then(|last| match last {
        Canonical::Option(name, Some(value)) if name == "-m" => value.known(),
        _ => None,
    });
    let Some(module) = module.filter(|module| words::PYTHON_WRITING_MODULES.contains(module)) else { return };
    // `json.tool` writes its second operand, the others all.
    let inputs = usize::from(module == "json.tool");
    let mut operands = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let lead = word.value.lead();
        if words::PYTHON_MODULE_VALUE_OPTIONS.contains(&lead) {
            words.next();
        } else if word.value.known().is_none() || lead == "-" || !lead.starts_with('-') {
            operands.push(word);
        }
    }
    for word in operands.into_iter().skip(inputs) {
        collector.role(Role::Write, word, "");
    }
}
