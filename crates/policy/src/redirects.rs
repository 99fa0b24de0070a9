//! What redirects and programs do with files: whether a path is read or written, and whether it is inside the root.

use std::path::PathBuf;

use shellgate_syntax::{Redirect, RedirectOperator, RedirectTarget, Unknown, Value, Why, Word};

use crate::machine::Machine;

/// An access to a file, as far as it matters to the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileAccess {
    /// None that matters: a copy of a descriptor, a here-document, `/dev/null`, reading inside the root.
    None,
    /// Writes a file inside the root.
    WriteInside(String),
    /// Writes a file outside the root, or an unknown one.
    WriteOutside(String),
    /// Reads a file outside the root, or an unknown one.
    ReadOutside(String),
    /// Opens a network connection: bash does that by itself for `/dev/tcp`.
    Connect(String),
}

/// Paths of descriptors and of the null device: using them touches no file.
const NO_FILES: [&str; 7] =
    ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/1", "/dev/fd/2"];

/// The access of a redirect. Relative paths start from any of `directories`; `None`: from anywhere.
pub(crate) fn access_of(
    redirect: &Redirect,
    directories: Option<&[PathBuf]>,
    machine: &Machine,
) -> FileAccess {
    use RedirectOperator as Op;
    let RedirectTarget::Word(word) = &redirect.target else { return FileAccess::None };
    match redirect.operator {
        Op::HereDocument | Op::HereString => FileAccess::None,
        Op::DuplicateIn => FileAccess::None,
        // `>&word` is a copy only if the word is a number or `-`.
        Op::DuplicateOut if is_descriptor(word) => FileAccess::None,
        Op::Read => access_to(word, directories, machine, false),
        Op::DuplicateOut
        | Op::Write
        | Op::Append
        | Op::Clobber
        | Op::ReadWrite
        | Op::WriteBoth
        | Op::AppendBoth => access_to(word, directories, machine, true),
    }
}

/// Whether a redirect reads a file that is known, be it inside the root.
pub(crate) fn reads_file(redirect: &Redirect, machine: &Machine) -> bool {
    let RedirectTarget::Word(word) = &redirect.target else { return false };
    let is_device = |path: &String| NO_FILES.contains(&path.as_str()) || path.starts_with("/dev/fd/");
    redirect.operator == RedirectOperator::Read
        && known_path(&word.value, machine).is_some_and(|path| !is_device(&path))
}

/// Whether `>&word` copies a descriptor, and writes no file.
pub(crate) fn is_descriptor(word: &Word) -> bool {
    word.value.known().is_some_and(|text| {
        let number = text.strip_suffix('-').unwrap_or(text);
        number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The access to the file that `word` names. `writes`: whether it is written, else it is read.
pub(crate) fn access_to(
    word: &Word,
    directories: Option<&[PathBuf]>,
    machine: &Machine,
    writes: bool,
) -> FileAccess {
    if matches!(&word.value, Value::Unknown(Unknown { why: Why::Process, lead, .. }) if lead.is_empty()) {
        return FileAccess::None;
    }
    let Some(path) = known_path(&word.value, machine) else {
        let shown = word.value.lead().to_owned();
        return if writes { FileAccess::WriteOutside(shown) } else { FileAccess::ReadOutside(shown) };
    };
    if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
        return FileAccess::Connect(path);
    }
    if NO_FILES.contains(&path.as_str()) {
        return FileAccess::None;
    }
    let inside = machine.is_inside(&path, directories);
    match (inside, writes) {
        (true, false) => FileAccess::None,
        (true, true) => FileAccess::WriteInside(path),
        (false, true) => FileAccess::WriteOutside(path),
        (false, false) => FileAccess::ReadOutside(path),
    }
}

/// Whether bash opens a connection to a place that can't be known: `/dev/tcp/$host/80`.
pub(crate) fn connects(word: &Word) -> bool {
    let begins = |lead: &str| ["/dev/tcp/", "/dev/udp/"].iter().any(|begin| lead.starts_with(begin));
    matches!(&word.value, Value::Unknown(unknown) if begins(&unknown.lead))
}

/// The path that a word names, if that can be known: from its text, or below the user's home.
pub(crate) fn known_path(value: &Value, machine: &Machine) -> Option<String> {
    match value {
        Value::Known(text) => Some(text.clone()),
        Value::Unknown(Unknown { why: Why::Tilde { user, rest: Some(rest) }, .. }) if user.is_empty() => {
            Some(format!("{}{rest}", machine.home()?.to_str()?))
        }
        Value::Unknown(_) => None,
    }
}
