//! Modules that come with python, run by `python -m`.

use super::super::collector::Collector;
use super::super::form::Role;
use super::super::{Canonical, EffectKind, read, words};
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

/// The module that serves files. By one of its options it runs scripts of the folder `cgi-bin`.
const SERVER: &str = "http.server";

/// Reads the words behind [`SERVER`]: options that aren't listed may run what it serves.
fn server_arguments(words: &[Word], collector: &mut Collector) {
    for word in words {
        let is_option = word.value.lead().starts_with('-');
        let name = word.value.known().map(|text| text.split_once('=').map_or(text, |(name, _)| name));
        let is_listed = name.is_some_and(|name| words::PYTHON_SERVER_OPTIONS.contains(&name));
        if is_option && !is_listed {
            collector.role(Role::Module, word, "");
        } else if !is_option && read::may_be_an_option(word) {
            collector.effect(word, EffectKind::MaybeOption(word.clone()));
        }
    }
}

/// Reads the words behind a module that comes with python: some of them are files that it writes, or make it run something.
pub(crate) fn python_arguments(words: &[Word], collector: &mut Collector) {
    let module = collector.meaning.canonical.last().and_then(|last| match last {
        Canonical::Option(name, Some(value)) if name == "-m" => value.known().map(str::to_owned),
        _ => None,
    });
    if let Some(module) = module {
        module_arguments(&module, words, collector);
    }
}

/// Reads the words behind a module of this name.
pub(crate) fn module_arguments(module: &str, words: &[Word], collector: &mut Collector) {
    if module == SERVER {
        server_arguments(words, collector);
    }
    if !words::PYTHON_WRITING_MODULES.contains(&module) {
        return;
    }
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
