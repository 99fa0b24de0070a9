//! Redirects are file operations, judged by their target.

use std::path::PathBuf;

use shellgate_syntax::{Redirect, RedirectOperator, RedirectTarget, Unknown, Value, Why, Word};

use crate::world::World;

/// What a redirect does to the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touches {
    /// Nothing that matters: a copy of a descriptor, a here-document, `/dev/null`, input from inside the root.
    Nothing,
    /// It writes a file inside the root.
    WritesInside(String),
    /// It writes a file elsewhere, or somewhere unknown.
    WritesElsewhere(String),
    /// It reads a file elsewhere, or somewhere unknown.
    ReadsElsewhere(String),
    /// It opens a connection: bash does that by itself for `/dev/tcp`.
    Connects(String),
}

/// Files that are no files.
const FREE: [&str; 7] =
    ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/1", "/dev/fd/2"];

/// What `redirect` touches. Relative paths start from any of `directories`; `None`: from anywhere.
pub(crate) fn touches(redirect: &Redirect, directories: Option<&[PathBuf]>, world: &World) -> Touches {
    use RedirectOperator as Op;
    let RedirectTarget::Word(word) = &redirect.target else { return Touches::Nothing };
    match redirect.operator {
        Op::HereDocument | Op::HereString => Touches::Nothing,
        Op::DuplicateIn => Touches::Nothing,
        // `>&word` is a copy only if the word is a number or `-`.
        Op::DuplicateOut if is_descriptor(word) => Touches::Nothing,
        Op::Read => file(word, directories, world, false),
        Op::DuplicateOut
        | Op::Write
        | Op::Append
        | Op::Clobber
        | Op::ReadWrite
        | Op::WriteBoth
        | Op::AppendBoth => file(word, directories, world, true),
    }
}

fn is_descriptor(word: &Word) -> bool {
    word.value.known().is_some_and(|text| {
        let number = text.strip_suffix('-').unwrap_or(text);
        number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// What it means that a program or a redirect reads or writes `word`.
pub(crate) fn file(word: &Word, directories: Option<&[PathBuf]>, world: &World, writes: bool) -> Touches {
    if matches!(&word.value, Value::Unknown(Unknown { why: Why::Process, lead, .. }) if lead.is_empty()) {
        return Touches::Nothing;
    }
    let Some(path) = path(&word.value, world) else {
        let shown = word.value.lead().to_owned();
        return if writes { Touches::WritesElsewhere(shown) } else { Touches::ReadsElsewhere(shown) };
    };
    if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
        return Touches::Connects(path);
    }
    if FREE.contains(&path.as_str()) {
        return Touches::Nothing;
    }
    let inside = world.is_inside(&path, directories);
    match (inside, writes) {
        (true, false) => Touches::Nothing,
        (true, true) => Touches::WritesInside(path),
        (false, true) => Touches::WritesElsewhere(path),
        (false, false) => Touches::ReadsElsewhere(path),
    }
}

/// The path that a word names, if that can be known: as text, or below the user's home.
pub(crate) fn path(value: &Value, world: &World) -> Option<String> {
    match value {
        Value::Known(text) => Some(text.clone()),
        Value::Unknown(Unknown { why: Why::Tilde { user, rest: Some(rest) }, .. }) if user.is_empty() => {
            Some(format!("{}{rest}", world.home()?.to_str()?))
        }
        Value::Unknown(_) => None,
    }
}
