//! What comes in on standard input, as far as pipes and redirects tell.

use shellgate_syntax::{Descriptor, Input, Redirect, RedirectOperator, RedirectTarget, Value};

/// What comes in on standard input.
#[derive(Clone, Debug)]
pub(crate) enum Feed {
    /// End of file at once.
    Nothing,
    /// This text.
    Text(String),
    /// Something that can't be known.
    Unknown,
}

/// Where the standard input of a call comes from.
pub(super) fn feed(redirects: &[Redirect], input: &Input, inherited: &Feed) -> Feed {
    redirected(redirects, 0).unwrap_or_else(|| match input {
        Input::Inherited => inherited.clone(),
        Input::Redirect(redirect) => redirected(std::slice::from_ref(redirect), 0).unwrap_or(Feed::Unknown),
        Input::Pipe(_) | Input::Other => Feed::Unknown,
    })
}

/// What the last redirect of a descriptor gives to read.
pub(super) fn redirected(redirects: &[Redirect], number: u32) -> Option<Feed> {
    let reads = |redirect: &&Redirect| {
        use RedirectOperator as Op;
        match (&redirect.descriptor, redirect.operator) {
            (Descriptor::Number(other), _) => *other == number,
            (Descriptor::Variable(_), _) => false,
            (
                Descriptor::Default,
                Op::Read | Op::ReadWrite | Op::DuplicateIn | Op::HereDocument | Op::HereString,
            ) => number == 0,
            (Descriptor::Default, _) => false,
        }
    };
    let redirect = redirects.iter().rfind(reads)?;
    let word = match &redirect.target {
        RedirectTarget::Word(word) | RedirectTarget::Body(word) => word,
    };
    Some(match (redirect.operator, &word.value) {
        (RedirectOperator::HereDocument | RedirectOperator::HereString, Value::Known(text)) => {
            Feed::Text(text.clone())
        }
        (RedirectOperator::Read, Value::Known(path)) if path == "/dev/null" => Feed::Nothing,
        _ => Feed::Unknown,
    })
}

/// The number of the descriptor that a path names.
pub(super) fn descriptor(path: &str) -> Option<u32> {
    if matches!(path, "-" | "/dev/stdin") {
        return Some(0);
    }
    let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"))?;
    number.parse().ok()
}
