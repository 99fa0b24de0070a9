//! The functions that read a text: they check its size, read it on a stack that is large enough, and have the result
//! compared with what other readers find.

use crate::parse::{self, Stop};
use crate::{Findings, Script, Unreadable, check, walk};

/// The large stack: enough for the deepest text that is read, also in a build without optimization.
const LARGE_STACK_BYTES: usize = 64 << 20;

/// Reads `text` as `bash -c` does: without aliases, history expansion and extended patterns.
///
/// # Errors
/// When bash would refuse it, or it is too long or too deep.
pub fn read(text: &str) -> Result<Findings, Unreadable> {
    parse::guard(text)?;
    with_stack(text, |limit| {
        let reading = parse::script(text, limit)?;
        // The other readers need much memory, which is free again when the findings take theirs.
        let doubt = check::doubt(text, &reading);
        let mut findings = walk::findings(text, &reading).ok_or(Stop::Work)?;
        findings.doubts.extend(doubt);
        Ok(findings)
    })
}

/// Reads `text` like [`read`], without comparing the result with what other readers find: for texts that are put together
/// by guessing, of which some may be no bash at all.
///
/// # Errors
/// When bash would refuse it, or it is too long or too deep.
pub fn read_alone(text: &str) -> Result<Findings, Unreadable> {
    parse::guard(text)?;
    with_stack(text, |limit| {
        let reading = parse::script(text, limit)?;
        walk::findings(text, &reading).ok_or(Stop::Work)
    })
}

/// Reads `text` as bash reads an arithmetic expression, such as an argument of `let`.
///
/// # Errors
/// When an expansion in it isn't closed, or it is too long or too deep.
pub fn read_arithmetic(text: &str) -> Result<Findings, Unreadable> {
    parse::guard(text)?;
    with_stack(text, |limit| {
        let (expression, warnings) = parse::expression(text, limit)?;
        walk::expression(text, &expression, &warnings).ok_or(Stop::Work)
    })
}

/// Reads `text` into a tree, to show it. For judging there is [`read`].
///
/// # Errors
/// When bash would refuse it, or it is too long or too deep.
pub fn read_script(text: &str) -> Result<Script, Unreadable> {
    parse::guard(text)?;
    with_stack(text, |limit| Ok(parse::script(text, limit)?.script))
}

/// Longer texts are read on the large stack at once: the other readers go deeper with every command of a list.
const SMALL_STACK_MAX_BYTES: usize = 4096;

/// Reads on this thread's stack, and again on the large one if the text is deep.
fn with_stack<T: Send>(text: &str, read: impl Fn(usize) -> Result<T, Stop> + Sync) -> Result<T, Unreadable> {
    let first = if text.len() <= SMALL_STACK_MAX_BYTES {
        read(parse::SMALL_STACK_MAX_DEPTH)
    } else {
        Err(Stop::Deep)
    };
    let stop = match first {
        Ok(result) => return Ok(result),
        Err(stop) => stop,
    };
    let stop = match stop {
        Stop::Deep => match on_large_stack(|| read(parse::MAX_DEPTH)) {
            Some(Ok(result)) => return Ok(result),
            Some(Err(stop)) => stop,
            None => return Err(Unreadable::Budget("there is no memory to read a text this deep".into())),
        },
        stop @ (Stop::Syntax { .. } | Stop::Work) => stop,
    };
    Err(match stop {
        Stop::Deep => {
            Unreadable::Budget(format!("the text is nested more than {} levels deep", parse::MAX_DEPTH))
        }
        Stop::Work => Unreadable::Budget("the text takes too much work to read".into()),
        Stop::Syntax { span, message } => Unreadable::Syntax { span, message },
    })
}

fn on_large_stack<T: Send>(read: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().stack_size(LARGE_STACK_BYTES).spawn_scoped(scope, read).ok()?;
        thread.join().ok()
    })
}
