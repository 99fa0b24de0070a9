//! Words that may be a path or something else: packages and revisions, `host:path`, mounts, response files.

use super::super::What;
use super::super::role::Role;
use super::super::sink::{Sink, after, with_text};
use shellgate_syntax::{Value, Why, Word};

/// A word of one of the roles that this file knows.
pub(crate) fn place(role: Role, word: &Word, sink: &mut Sink) {
    match role {
        Role::Name => name(word, sink),
        Role::Package => package(word, sink),
        Role::Loose => loose(word, sink),
        Role::Source if word.value.lead().contains("://") => sink.role(Role::Url, word, ""),
        Role::Source => sink.role(Role::Path, word, ""),
        Role::HostPath if !is_remote(word) => sink.role(Role::Path, word, ""),
        Role::HostWrite if !is_remote(word) => sink.role(Role::Write, word, ""),
        Role::Volume => volume(word, sink),
        Role::Mount => mount(word, sink),
        Role::Response => response(word, sink),
        _ => {}
    }
}

/// Whether a text can only be a path: absolute, from the home folder, or with a part that begins with a dot.
fn is_path(text: &str) -> bool {
    text.starts_with(['/', '~', '.']) || text.split('/').any(|part| part == "..")
}

/// A name of something, unless it looks like a path.
pub(super) fn name(word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    if lead.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
        sink.role(Role::Url, word, "");
    } else if is_path(lead) || is_home(word) {
        sink.effect(word, What::Reads(word.clone()));
    }
}

/// An option of which only the word is known: `--name=VALUE`, or a letter with its value.
fn loose(word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    let letter = lead.chars().next().map_or(0, char::len_utf8);
    let from = lead.find('=').map_or(letter, |at| at + 1);
    if let Some(value) = after(word, from) {
        name(&value, sink);
    }
}

/// A package. One that isn't just a name in an index is code that its setup runs.
fn package(word: &Word, sink: &mut Sink) {
    name(word, sink);
    let lead = word.value.lead();
    let elsewhere = is_path(lead) || lead.contains("://") || lead.contains('@') && lead.contains('/');
    // `name[extra]` without quotes is a pattern for the shell; what it finds begins with the name, too.
    let named = word.value.known().is_some() || has_extras(word) && !lead.is_empty() && !lead.contains('/');
    if elsewhere || !named || lead.ends_with(".whl") || lead.ends_with(".tar.gz") {
        sink.effect(word, What::Opaque(word.clone(), "a package that is not from the index"));
    }
}

/// `[extra]` and nothing else that isn't known.
fn has_extras(word: &Word) -> bool {
    matches!(&word.value, Value::Unknown(unknown)
        if unknown.why == Why::Glob && unknown.tail.as_ref().is_some_and(|tail| tail.starts_with('[')))
}

fn is_home(word: &Word) -> bool {
    matches!(&word.value, Value::Unknown(unknown) if matches!(unknown.why, Why::Tilde { .. }))
}

/// `host:path`, `user@host:path`, `rsync://host/path`: a colon before the first slash.
fn is_remote(word: &Word) -> bool {
    let lead = word.value.lead();
    let colon = lead.find(':');
    colon.is_some_and(|colon| lead.find('/').is_none_or(|slash| colon < slash))
}

/// `SOURCE:TARGET[:OPTIONS]` of a container. A source that is a path is a folder of this machine.
fn volume(word: &Word, sink: &mut Sink) {
    match word.value.known() {
        Some(text) => {
            let source = text.split(':').next().unwrap_or(text);
            if is_path(source) && text.contains(':') {
                sink.effect(word, What::Writes(with_text(word, source)));
            }
        }
        None => sink.effect(word, What::Writes(word.clone())),
    }
}

/// `type=bind,src=PATH,dst=…` of a container.
fn mount(word: &Word, sink: &mut Sink) {
    let Some(text) = word.value.known() else {
        sink.effect(word, What::Writes(word.clone()));
        return;
    };
    for part in text.split(',') {
        let source = part.strip_prefix("src=").or_else(|| part.strip_prefix("source="));
        if let Some(source) = source.filter(|source| is_path(source)) {
            sink.effect(word, What::Writes(with_text(word, source)));
        }
    }
}

/// `@FILE` holds further options; anything else is a file to read.
fn response(word: &Word, sink: &mut Sink) {
    let lead = word.value.lead();
    match lead.strip_prefix('@').and_then(|_| after(word, 1)) {
        Some(file) => {
            sink.effect(word, What::Reads(file.clone()));
            sink.effect(word, What::Opaque(file, "options that it reads from a file"));
        }
        None => sink.role(Role::Path, word, ""),
    }
}
