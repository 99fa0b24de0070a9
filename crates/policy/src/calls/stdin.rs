//! What a call reads from its standard input, as far as pipes and redirects tell.
//!
//! A text on standard input is known to a program only if nothing reads a part of it before, and `exec` gives the shell no
//! other input.

use std::collections::HashSet;

use shellgate_syntax::{
    Assigned, Assignment, Descriptor, Findings, Input, Invocation, Redirect, RedirectOperator,
    RedirectTarget, Value, Word,
};

use crate::programs::{Property, has, is_listed};

/// What comes in on standard input.
#[derive(Clone, Debug)]
pub(crate) enum Stdin {
    /// Nothing: end of file at once.
    Empty,
    /// This text.
    Text(String),
    /// Something that can't be known.
    Unknown,
    /// The same, from another machine: a program before it in the pipeline fetches it.
    Fetched,
}

/// The standard input of a call with these redirects. `inherited` is the standard input of the text around it.
pub(super) fn stdin_of(redirects: &[Redirect], input: &Input, inherited: &Stdin) -> Stdin {
    redirected(redirects, 0).unwrap_or_else(|| match input {
        Input::Inherited => inherited.clone(),
        // Other commands in the same construct may read a part of a text.
        Input::Redirect(redirect) => match redirected(std::slice::from_ref(redirect), 0) {
            Some(Stdin::Empty) => Stdin::Empty,
            _ => Stdin::Unknown,
        },
        Input::Pipe(_) | Input::Other => Stdin::Unknown,
    })
}

/// What the calls of a text read that inherit `stdin`: the text as a whole doesn't say which call reads which part.
pub(super) fn inherited_in(findings: &Findings, outer: &HashSet<String>, stdin: Stdin) -> Stdin {
    if findings.invocations.iter().any(replaces_input) {
        return Stdin::Unknown;
    }
    match stdin {
        Stdin::Text(_) => {
            let readers = findings.invocations.iter().filter(|one| may_read_input(one, findings, outer));
            let is_written = findings.invocations.iter().flat_map(|one| &one.redirects).any(names_input);
            if readers.count() > 1 || is_written { Stdin::Unknown } else { stdin }
        }
        stdin => stdin,
    }
}

/// Whether an invocation gives this shell another standard input: `exec < file`, also behind `command` and `builtin`.
pub(super) fn replaces_input(invocation: &Invocation) -> bool {
    let name = |word: &Word| word.value.known().map(str::to_owned);
    let runs_builtin = |word: &Word| name(word).is_some_and(|name| has(&name, Property::RunsBuiltins));
    let replaces = |word: &Word| name(word).is_none_or(|name| has(&name, Property::ReplacesDescriptors));
    let wrapped = invocation.words.first().is_some_and(runs_builtin);
    let words = invocation.words.iter().take(if wrapped { usize::MAX } else { 1 });
    redirected(&invocation.redirects, 0).is_some() && words.into_iter().any(replaces)
}

/// Whether an invocation may read the standard input that it inherits. `outer` are the functions of the texts around it.
pub(super) fn may_read_input(invocation: &Invocation, findings: &Findings, outer: &HashSet<String>) -> bool {
    // `select` asks, and `read x <&0` and `read -u 3 x 3<&0` read it by another name.
    let asks = |assignment: &Assignment| {
        assignment.name == "REPLY" && matches!(assignment.value, Assigned::ByShell(_))
    };
    if invocation.assignments.iter().any(asks) || invocation.redirects.iter().any(duplicates_input) {
        return true;
    }
    let inherits = matches!(invocation.input, Input::Inherited | Input::Other)
        && redirected(&invocation.redirects, 0).is_none();
    let Some(program) = invocation.words.first().filter(|_| inherits) else { return false };
    let is_function = |name: &str| findings.functions.iter().any(|function| function.name == name);
    let reads_nothing = |name: &str| match is_function(name) {
        // What its body reads is found there. It may be defined too late or not at all.
        true => !is_listed(name) && !outer.contains(name),
        false => has(name, Property::ReadsNoInput) && !outer.contains(name),
    };
    !program.value.known().is_some_and(reads_nothing)
}

/// Whether a redirect may give standard input another descriptor.
fn duplicates_input(redirect: &Redirect) -> bool {
    let RedirectTarget::Word(word) = &redirect.target else { return false };
    match redirect.operator {
        // `2>&1` has nothing to do with it.
        RedirectOperator::DuplicateIn | RedirectOperator::DuplicateOut => {
            !matches!(word.value.known(), Some("1" | "2" | "-"))
        }
        RedirectOperator::Read | RedirectOperator::ReadWrite => names_input(redirect),
        _ => false,
    }
}

/// Whether a redirect may open standard input by its name.
fn names_input(redirect: &Redirect) -> bool {
    let RedirectTarget::Word(word) = &redirect.target else { return false };
    word.value.known().is_none_or(|path| path.contains("stdin") || path.contains("/fd/"))
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
