//! Where the command to judge comes from: words, a file or standard input.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::Path;

use shellgate::ErrorObject;
use shellgate::request::{Action, MAX_ARGUMENT_BYTES};

use crate::args::CheckArgs;

/// The command. The inner error is a reason to refuse the command; the outer one means that there is no command.
pub(super) type Input = Result<Result<Action, ErrorObject>, ErrorObject>;

pub(super) fn action(args: &CheckArgs) -> Input {
    let is_stdin = args.argv.is_empty() && args.text.as_ref().is_some_and(|text| text == "-");
    match &args.file {
        Some(file) => read_file(file),
        None if is_stdin => read(io::stdin().lock(), "standard input"),
        None => Ok(words(args)),
    }
}

fn words(args: &CheckArgs) -> Result<Action, ErrorObject> {
    let mut words = args.text.iter().chain(&args.argv).map(text).collect::<Result<Vec<_>, _>>()?;
    Ok(match words.as_mut_slice() {
        [only] => Action::Shell(std::mem::take(only)),
        _ => Action::Program(words),
    })
}

fn text(word: &OsString) -> Result<String, ErrorObject> {
    word.to_str().map(str::to_owned).ok_or_else(|| not_utf8("the command"))
}

fn read_file(path: &Path) -> Input {
    let shown = format!("`{}`", path.display());
    let trouble = |error: io::Error| {
        ErrorObject::invalid(format!("{shown} can't be opened: {error}")).hint("`-` reads standard input")
    };
    read(std::fs::File::open(path).map_err(trouble)?, &shown)
}

fn read(source: impl io::Read, shown: &str) -> Input {
    let mut bytes = Vec::new();
    // One byte more than a command may have, so that a longer one is recognised.
    let limit = u64::try_from(MAX_ARGUMENT_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    source
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| ErrorObject::invalid(format!("{shown} can't be read: {error}")))?;
    if bytes.len() > MAX_ARGUMENT_BYTES {
        let message =
            format!("{shown} is longer than {MAX_ARGUMENT_BYTES} bytes, the most that the system takes");
        return Ok(Err(ErrorObject::invalid(message).hint("judge the call of a script, or its parts")));
    }
    Ok(String::from_utf8(bytes).map(Action::Shell).map_err(|_| not_utf8(shown)))
}

fn not_utf8(what: &str) -> ErrorObject {
    ErrorObject::invalid(format!("{what} is not UTF-8"))
        .hint("put it into a script and judge the call of that")
}
