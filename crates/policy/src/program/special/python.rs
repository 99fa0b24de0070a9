//! Modules that come with python, run by `python -m`.

use super::super::role::Role;
use super::super::sink::Sink;
use shellgate_syntax::Word;

/// Those that show or check what they are given.
const SHOW: &[&str] = &[
    "ast",
    "calendar",
    "compileall",
    "dis",
    "json.tool",
    "keyword",
    "mimetypes",
    "platform",
    "py_compile",
    "pyclbr",
    "site",
    "symtable",
    "sysconfig",
    "tabnanny",
    "this",
    "tokenize",
    "uuid",
];

/// Those that work on the project, as build tools do. Tools with a program of the same name (`pytest`, `pip`) aren't here:
/// a rule about that program would miss them.
const BUILD: &[&str] = &["http.server", "unittest", "venv"];

/// The module behind `-m`.
pub(crate) fn python_module(word: &Word, sink: &mut Sink) {
    match word.value.known() {
        Some(name) if SHOW.contains(&name) || BUILD.contains(&name) => sink.names_code = true,
        _ => sink.role(Role::Module, word, ""),
    }
}
