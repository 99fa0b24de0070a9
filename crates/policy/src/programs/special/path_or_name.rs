//! Words that may be a path or something else: packages and revisions, `host:path`, mounts, response files.

use super::super::EffectKind;
use super::super::collector::{Collector, after, with_text};
use super::super::form::Role;
use super::super::words;
use shellgate_syntax::{Value, Why, Word};

/// Reads a word of one of the roles in this file.
pub(crate) fn place(role: Role, word: &Word, collector: &mut Collector) {
    match role {
        Role::Name => name(word, collector),
        Role::Package => package(word, collector),
        Role::Loose | Role::Harmless => loose(word, collector),
        Role::PerlFile => perl_file(word, collector),
        Role::LooseWrite => loose_write(word, collector),
        Role::Source if runs_by_scheme(word) => {
            collector.effect(word, EffectKind::Opaque(word.clone(), "a command in an address"));
        }
        Role::Source if word.value.lead().contains("://") => collector.role(Role::Url, word, ""),
        Role::Source => collector.role(Role::Path, word, ""),
        Role::HostPath if !is_remote(word) => collector.role(Role::Path, word, ""),
        Role::HostWrite if is_file_address(word) => {
            let lead = word.value.lead();
            let prefix = if lead.get(5..).is_some_and(|rest| rest.starts_with("//")) { 7 } else { 5 };
            if let Some(path) = after(word, prefix) {
                collector.role(Role::Write, &path, "");
            }
        }
        Role::HostWrite if !is_remote(word) => collector.role(Role::Write, word, ""),
        Role::Volume => volume(word, collector),
        Role::Mount => mount(word, collector),
        Role::Response => response(word, collector),
        _ => {}
    }
}

/// Whether a text can only be a path: absolute, from the home folder, or with a part that begins with a dot.
fn is_path(text: &str) -> bool {
    text.starts_with(['/', '~', '.']) || text.split('/').any(|part| part == "..")
}

/// Reads a name of something. If it looks like a path, it is one.
pub(super) fn name(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    if is_file_address(word) {
        collector.role(Role::Url, word, "");
    } else if is_path(lead) || is_home(word) {
        collector.effect(word, EffectKind::Reads(word.clone()));
    }
}

/// Reads the value in an option that the table doesn't list: `--name=VALUE`, or a letter with its value.
fn loose(word: &Word, collector: &mut Collector) {
    if let Some(value) = loose_value(word) {
        name(&value, collector);
    }
}

/// The same, where the program may write the file that the value names.
fn loose_write(word: &Word, collector: &mut Collector) {
    if let Some(value) = loose_value(word).filter(|value| is_home(value) || value.value.lead().contains('/'))
    {
        collector.effect(word, EffectKind::Writes(value));
    }
}

/// Reads a file that Perl opens by its name alone. A name that can't be known may be a command.
fn perl_file(word: &Word, collector: &mut Collector) {
    let may_be_command = match &word.value {
        Value::Known(_) => false,
        Value::Unknown(unknown) if matches!(unknown.why, Why::Process | Why::Tilde { rest: Some(_), .. }) => {
            false
        }
        // If its beginning and its end are known, the judge sees whether Perl takes them for signs of a command.
        Value::Unknown(unknown) => {
            let ends_plainly =
                unknown.tail.as_ref().is_some_and(|tail| tail.ends_with(char::is_alphanumeric));
            unknown.splits && unknown.why != Why::Glob || unknown.lead.is_empty() || !ends_plainly
        }
    };
    if may_be_command {
        let why = "a command, if the name of the file ends with `|`";
        collector.effect(word, EffectKind::Opaque(word.clone(), why));
    }
    collector.role(Role::Write, word, "");
}

fn loose_value(word: &Word) -> Option<Word> {
    let lead = word.value.lead();
    let letter = lead.chars().next().map_or(0, char::len_utf8);
    after(word, lead.find('=').map_or(letter, |at| at + 1))
}

/// Reads a package. If it isn't just a name in an index, its setup is code that runs.
fn package(word: &Word, collector: &mut Collector) {
    name(word, collector);
    let lead = word.value.lead();
    let elsewhere = is_path(lead) || lead.contains("://") || lead.contains('@') && lead.contains('/');
    // `name[extra]` without quotes is a pattern for the shell. The files that fit it begin with the name, too.
    let named = word.value.known().is_some() || has_extras(word) && !lead.is_empty() && !lead.contains('/');
    if elsewhere || !named || lead.ends_with(".whl") || lead.ends_with(".tar.gz") {
        collector.effect(word, EffectKind::Opaque(word.clone(), "a package that is not from the index"));
    }
}

/// Whether all that isn't known of a word is `[extra]`.
fn has_extras(word: &Word) -> bool {
    matches!(&word.value, Value::Unknown(unknown)
        if unknown.why == Why::Glob && unknown.tail.as_ref().is_some_and(|tail| tail.starts_with('[')))
}

fn is_home(word: &Word) -> bool {
    matches!(&word.value, Value::Unknown(unknown) if matches!(unknown.why, Why::Tilde { .. }))
}

fn is_file_address(word: &Word) -> bool {
    word.value.lead().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// Whether an address holds a command for the browser that opens it: `lynxexec:COMMAND`.
fn runs_by_scheme(word: &Word) -> bool {
    let scheme = word.value.lead().split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| words::RUNNING_SCHEMES.contains(&scheme.as_str()))
}

/// Whether a path is on another machine: `host:path`, `user@host:path`, `rsync://host/path` have a colon before the first
/// slash.
fn is_remote(word: &Word) -> bool {
    let lead = word.value.lead();
    let colon = lead.find(':');
    colon.is_some_and(|colon| lead.find('/').is_none_or(|slash| colon < slash))
}

/// Reads `SOURCE:TARGET[:OPTIONS]` of a container. A source that is a path is a folder of this machine.
fn volume(word: &Word, collector: &mut Collector) {
    match word.value.known() {
        Some(text) => {
            let source = text.split(':').next().unwrap_or(text);
            if is_path(source) && text.contains(':') {
                collector.effect(word, EffectKind::Writes(with_text(word, source)));
            }
        }
        None => collector.effect(word, EffectKind::Writes(word.clone())),
    }
}

/// Reads `type=bind,src=PATH,dst=…` of a container.
fn mount(word: &Word, collector: &mut Collector) {
    let Some(text) = word.value.known() else {
        collector.effect(word, EffectKind::Writes(word.clone()));
        return;
    };
    for part in text.split(',') {
        let source = part.strip_prefix("src=").or_else(|| part.strip_prefix("source="));
        if let Some(source) = source.filter(|source| is_path(source)) {
            collector.effect(word, EffectKind::Writes(with_text(word, source)));
        }
    }
}

/// Reads `@FILE`, which holds further options. Anything else is a file to read.
fn response(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    match lead.strip_prefix('@').and_then(|_| after(word, 1)) {
        Some(file) => {
            collector.effect(word, EffectKind::Reads(file.clone()));
            collector.effect(word, EffectKind::Opaque(file, "options that it reads from a file"));
        }
        None => collector.role(Role::Path, word, ""),
    }
}
