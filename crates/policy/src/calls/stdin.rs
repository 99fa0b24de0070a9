//! What a call reads from its standard input, as far as pipes and redirects tell.

use shellgate_syntax::{Descriptor, Input, Redirect, RedirectOperator, RedirectTarget, Value};

/// What comes in on standard input.
#[derive(Clone, Debug)]
pub(crate) enum Stdin {
    /// Nothing: end of file at once.
    Empty,
    /// This text.
    Text(String),
    /// Something that can't be known.
    Unknown,
}

/// The standard input of a call with these redirects. `inherited` is the standard input of the text around it.
pub(super) fn stdin_of(redirects: &[Redirect], input: &Input, inherited: &Stdin) -> Stdin {
    redirected(redirects, 0).unwrap_or_else(|| match input {
        Input::Inherited => inherited.clone(),
        Input::Redirect(redirect) => redirected(std::slice::from_ref(redirect), 0).unwrap_or(Stdin::Unknown),
        Input::Pipe(_) | Input::Other => Stdin::Unknown,
    })
}

/// What the last redirect of the descriptor `number` gives to read. `None`: no redirect is about it.
pub(super) fn redirected(redirects: &[Redirect], number: u32) -> Option<Stdin> {
    let is_about = |redirect: &&Redirect| {
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
    let redirect = redirects.iter().rfind(is_about)?;
    let word = match &redirect.target {
        RedirectTarget::Word(word) | RedirectTarget::Body(word) => word,
    };
    Some(match (redirect.operator, &word.value) {
        (RedirectOperator::HereDocument | RedirectOperator::HereString, Value::Known(text)) => {
            Stdin::Text(text.clone())
        }
        (RedirectOperator::Read, Value::Known(path)) if path == "/dev/null" => Stdin::Empty,
        _ => Stdin::Unknown,
    })
}

/// The number of the descriptor that a path names: 3 for `/dev/fd/3`.
pub(super) fn descriptor_of_path(path: &str) -> Option<u32> {
    if matches!(path, "-" | "/dev/stdin") {
        return Some(0);
    }
    let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"))?;
    number.parse().ok()
}
