//! Which calls read what comes from another machine: through a pipe (`curl … | sh`), or by a substitution (`sh <(curl …)`).

use std::collections::HashSet;

use shellgate_syntax::{self as syntax, Input, Invocation, Redirect, RedirectOperator};

use crate::programs::{ProgramKind, base_name, kind_of, words};

/// The invocations whose standard input is fetched by one that is before them in their pipeline, by their places.
pub(super) fn fetched_inputs(invocations: &[Invocation]) -> HashSet<usize> {
    let mut fetched: HashSet<usize> = HashSet::new();
    if !invocations.iter().any(downloads) {
        return fetched;
    }
    // A stage passes on what it reads. Each round follows one stage more.
    loop {
        let before = fetched.len();
        for (at, invocation) in invocations.iter().enumerate() {
            let Input::Pipe(sources) = &invocation.input else { continue };
            let comes_from =
                |source: &usize| fetched.contains(source) || invocations.get(*source).is_some_and(downloads);
            if sources.iter().any(comes_from) {
                fetched.insert(at);
            }
        }
        if fetched.len() == before {
            return fetched;
        }
    }
}

/// Whether a redirect gives standard input that a substitution in it fetches: `< <(curl …)`, `<<< "$(curl …)"`.
pub(super) fn is_fetched(redirects: &[Redirect], source: &str) -> bool {
    let reads = |redirect: &&Redirect| {
        matches!(
            redirect.operator,
            RedirectOperator::Read | RedirectOperator::HereString | RedirectOperator::HereDocument
        )
    };
    redirects.iter().filter(reads).any(|redirect| downloads_in(redirect.span.of(source)))
}

/// Whether a substitution in a word fetches something.
pub(crate) fn downloads_in(word: &str) -> bool {
    let has_substitution = ["$(", "`", "<("].iter().any(|sign| word.contains(sign));
    has_substitution
        && syntax::read(&format!(": {word}")).is_ok_and(|found| found.invocations.iter().any(downloads))
}

/// Whether an invocation fetches something, by itself or through a wrapper.
fn downloads(invocation: &Invocation) -> bool {
    let is_download = |name: &str| words::RUIN_DOWNLOADS.iter().any(|listed| base_name(name) == *listed);
    let Some(program) = invocation.words.first().and_then(|word| word.value.known()) else { return false };
    is_download(program)
        || kind_of(program) == Some(ProgramKind::Wrapper)
            && invocation.words.iter().skip(1).filter_map(|word| word.value.known()).any(is_download)
}
