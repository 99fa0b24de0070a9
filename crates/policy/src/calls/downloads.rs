//! Which calls read what comes from another machine: through a pipe (`curl … | sh`), or by a substitution (`sh <(curl …)`).

use std::collections::{HashMap, HashSet};

use shellgate_syntax::{
    self as syntax, Construct, Input, Invocation, Redirect, RedirectOperator, RedirectTarget, Span,
};

use super::supposed::function_of;
use crate::programs::{ProgramKind, base_name, kind_of, words};
use crate::spelled::{Piece, pieces};

/// The words that name what a call fetches are among the first.
const MAX_WORDS: usize = 12;

/// The invocations whose standard input is fetched by one that is before them in their pipeline, by their places. Functions
/// read what their callers do, and `>( … )` reads what the command around it prints.
pub(super) fn fetched_inputs(invocations: &[Invocation], source: &str) -> HashSet<usize> {
    let mut fetched: HashSet<usize> = HashSet::new();
    if !invocations.iter().any(downloads) {
        return fetched;
    }
    // `exec 3<>/dev/tcp/…; cat <&3 | sh`
    let connects_shell = |one: &Invocation| {
        let name = one.words.first().and_then(|word| word.value.known());
        name == Some("exec") && one.redirects.iter().any(connects)
    };
    let is_connected = invocations.iter().any(connects_shell);
    let copies =
        |one: &Invocation| one.redirects.iter().any(|one| one.operator == RedirectOperator::DuplicateIn);
    let downloads = |one: &Invocation| downloads(one) || is_connected && copies(one);
    // A stage passes on what it reads. Each round follows one stage more.
    let mut fed: HashSet<&str> = HashSet::new();
    let first_process = source.find(">(");
    let is_written_to = |one: &Invocation| first_process.is_some_and(|at| at < one.span.start);
    // The commands in a construct share its redirect.
    let mut redirected: HashMap<Span, bool> = HashMap::new();
    loop {
        let before = fetched.len();
        for (at, invocation) in invocations.iter().enumerate() {
            let comes_from =
                |source: &usize| fetched.contains(source) || invocations.get(*source).is_some_and(&downloads);
            let is_fetched = match &invocation.input {
                Input::Pipe(sources) => sources.iter().any(comes_from),
                Input::Redirect(redirect) => *redirected
                    .entry(redirect.span)
                    .or_insert_with(|| is_fetched(std::slice::from_ref(redirect), source)),
                Input::Inherited | Input::Other => {
                    fed.contains(function_of(invocation))
                        || invocation.constructs.contains(&Construct::Process) && is_written_to(invocation)
                }
            };
            if is_fetched {
                fetched.insert(at);
                fed.extend(invocation.words.first().and_then(|word| word.value.known()));
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
    redirects.iter().filter(reads).any(|redirect| {
        connects(redirect)
            || match &redirect.target {
                // It is expanded like a text between double quotes.
                RedirectTarget::Body(word) => {
                    let body = word.span.of(source).replace('"', "\\\"");
                    let pieces = pieces(&format!("\"{body}\"")).unwrap_or_default();
                    pieces.iter().any(|piece| matches!(piece, Piece::Output(command) if fetches(command)))
                }
                RedirectTarget::Word(_) => downloads_in(redirect.span.of(source)),
            }
    })
}

/// Whether a substitution in a word fetches something.
pub(crate) fn downloads_in(word: &str) -> bool {
    let has_substitution = ["$(", "`", "<("].iter().any(|sign| word.contains(sign));
    has_substitution && fetches(&format!(": {word}"))
}

/// Whether a command in a text fetches something.
fn fetches(text: &str) -> bool {
    syntax::read_alone(text).is_ok_and(|found| found.invocations.iter().any(downloads))
}

/// Whether a redirect reads from a connection that bash makes.
fn connects(redirect: &Redirect) -> bool {
    let RedirectTarget::Word(word) = &redirect.target else { return false };
    let path = word.value.lead();
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

/// Whether an invocation fetches something, by itself or through a wrapper.
pub(super) fn downloads(invocation: &Invocation) -> bool {
    if invocation.redirects.iter().any(connects) {
        return true;
    }
    let words: Vec<&str> = invocation.words.iter().take(MAX_WORDS).map(|word| word.value.lead()).collect();
    let Some(program) = words.first() else { return false };
    let is_wrapper = kind_of(program) == Some(ProgramKind::Wrapper);
    let starts = if is_wrapper { words.len() } else { 1 };
    (0..starts).any(|at| is_download(words.get(at..).unwrap_or_default()))
}

/// Whether words are a call that the table lists: `gh gist view`, with options anywhere between.
fn is_download(words: &[&str]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    words::RUIN_DOWNLOADS.iter().any(|listed| {
        let mut listed = listed.split(' ');
        let mut rest = rest.iter();
        listed.next() == Some(base_name(program)) && listed.all(|wanted| rest.any(|own| *own == wanted))
    })
}
