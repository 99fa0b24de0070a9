//! Modules that come with python, run by `python -m`.

use super::super::role::Role;
use super::super::sink::Sink;
use super::super::words;
use shellgate_syntax::Word;

/// The module behind `-m`.
pub(crate) fn python_module(word: &Word, sink: &mut Sink) {
    match word.value.known() {
        Some(name)
            if words::PYTHON_SHOWING_MODULES.contains(&name)
                || words::PYTHON_BUILDING_MODULES.contains(&name) =>
        {
            sink.names_code = true
        }
        _ => sink.role(Role::Module, word, ""),
    }
}
