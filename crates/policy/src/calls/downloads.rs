//! Which calls read or run what comes from another machine: through a pipe (`curl … | sh`), by a substitution (`sh <(curl …)`), a
//! variable, a descriptor, or a file that the text makes (`wget …/x.sh && bash x.sh`).

use std::collections::{HashMap, HashSet};

use shellgate_syntax::{
    self as syntax, Assigned, Construct, Descriptor, Input, Invocation, Redirect, RedirectOperator,
    RedirectTarget, Span, Value, Why, Word,
};

use super::fetched_files::{cloned_folder, enters, fetched_files, redirected, written_by_words};
use super::supposed::{function_of, plain_path};
use crate::programs::{EffectKind, ProgramKind, base_name, kind_of, understand, words};
use crate::spelled::{Piece, pieces};

/// The words that name what a call fetches are among the first.
pub(super) const MAX_WORDS: usize = 12;

/// How many programs that run others may be around one that is run.
const MAX_WRAPPERS: usize = 6;

/// What comes from another machine in a text.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    /// The invocations whose standard input is fetched, by their places.
    inputs: HashSet<usize>,
    /// The invocations that run a file which the text fetched before, by their places.
    runs: HashSet<usize>,
}

impl Fetched {
    /// Looks through a text.
    pub(super) fn find(invocations: &[Invocation], source: &str) -> Self {
        if !invocations.iter().any(|one| downloads(one) || cloned_folder(one).is_some()) {
            return Self::default();
        }
        let mut carriers = Carriers::find(invocations, source);
        let inputs = fetched_inputs(invocations, source, &carriers);
        carriers.note_passed_on(invocations, &inputs);
        let runs = invocations.iter().enumerate().filter(|(at, one)| carriers.is_run_by(one, *at));
        let runs = runs.map(|(at, _)| at).collect();
        // What comes out of a file again that was filled by a pipe.
        let inputs = fetched_inputs(invocations, source, &carriers);
        Self { inputs, runs }
    }

    pub(super) fn is_input_of(&self, at: usize) -> bool {
        self.inputs.contains(&at)
    }

    pub(super) fn is_run_by(&self, at: usize) -> bool {
        self.runs.contains(&at)
    }
}

/// What carries fetched text from one command of a text to another.
#[derive(Debug, Default)]
struct Carriers<'t> {
    variables: HashSet<&'t str>,
    /// Functions that print it.
    functions: HashSet<&'t str>,
    /// Files, with the first invocation that writes each.
    files: HashMap<String, usize>,
    /// Folders that are fetched as a whole, and each `cd` into one, with the invocation.
    folders: Vec<(String, usize)>,
    entered: Vec<usize>,
    /// Whether a descriptor of the shell has it: `exec 3< <(curl …)`, `exec 3<>/dev/tcp/…`, `coproc curl …`.
    by_descriptor: bool,
    /// From which invocation on the shell's own standard input has it: `exec < <(curl …)`.
    input_from: Option<usize>,
}

impl<'t> Carriers<'t> {
    fn find(invocations: &'t [Invocation], source: &str) -> Self {
        let mut all = Self::default();
        for (at, invocation) in invocations.iter().enumerate() {
            let is_download = downloads(invocation);
            if is_download {
                let function = function_of(invocation);
                all.functions.extend(Some(function).filter(|name| !name.is_empty()));
                all.by_descriptor |= invocation.constructs.contains(&Construct::Coprocess);
                for file in fetched_files(invocation) {
                    all.files.entry(file).or_insert(at);
                }
            }
            all.folders.extend(cloned_folder(invocation).map(|folder| (folder, at)));
            if enters(invocation).is_some_and(|folder| all.folders.iter().any(|(own, _)| own == folder)) {
                all.entered.push(at);
            }
            for assignment in &invocation.assignments {
                if matches!(assignment.value, Assigned::Scalar(_)) && downloads_in(assignment.span.of(source))
                {
                    all.variables.insert(&assignment.name);
                }
            }
            let is_exec = invocation.words.first().and_then(|word| word.value.known()) == Some("exec");
            for redirect in invocation.redirects.iter().filter(|_| is_exec && invocation.words.len() == 1) {
                let has_it = connects(redirect) || downloads_in(redirect.span.of(source));
                let is_input = matches!(redirect.descriptor, Descriptor::Default | Descriptor::Number(0));
                all.by_descriptor |= has_it;
                if has_it && is_input {
                    all.input_from.get_or_insert(at);
                }
            }
        }
        all
    }

    /// Notes the files that are filled with what comes in by a pipe, or by what a function prints.
    fn note_passed_on(&mut self, invocations: &[Invocation], inputs: &HashSet<usize>) {
        for (at, invocation) in invocations.iter().enumerate() {
            let name = invocation.words.first().and_then(|word| word.value.known());
            let is_filled = inputs.contains(&at);
            if !is_filled && !name.is_some_and(|name| self.functions.contains(name)) {
                continue;
            }
            let mut files: Vec<String> = redirected(invocation).map(str::to_owned).collect();
            if is_filled {
                files.extend(written_by_words(invocation));
            }
            for file in files {
                self.files.entry(plain_path(&file).to_owned()).or_insert(at);
            }
        }
    }

    /// Whether a path is of what was fetched before the invocation at `at`.
    fn is_fetched_before(&self, path: &str, at: usize) -> bool {
        let path = plain_path(path);
        let is_below = |(folder, from): &(String, usize)| {
            let rest = path.strip_prefix(folder.as_str()).and_then(|rest| rest.strip_prefix('/'));
            *from < at && rest.is_some_and(|rest| !rest.is_empty())
        };
        self.files.get(path).is_some_and(|writer| *writer < at)
            || self.folders.iter().any(is_below)
            || !path.starts_with(['/', '~']) && self.entered.iter().any(|entered| *entered < at)
    }

    /// Whether an invocation prints what was fetched.
    fn is_printed_by(&self, invocation: &Invocation, source: &str) -> bool {
        let Some(name) = invocation.words.first().and_then(|word| word.value.known()) else { return false };
        let prints = matches!(base_name(name), "echo" | "printf");
        let copies = |one: &Redirect| one.operator == RedirectOperator::DuplicateIn;
        self.functions.contains(name)
            || self.by_descriptor && invocation.redirects.iter().any(copies)
            || prints && invocation.words.iter().any(|word| self.is_in(word, source))
            || words::RUIN_PASSING_PROGRAMS.contains(&base_name(name)) && {
                let mut operands = invocation.words.iter().skip(1).filter_map(|word| word.value.known());
                operands.any(|path| self.files.contains_key(plain_path(path)))
            }
    }

    /// Whether a word has what was fetched in it.
    fn is_in(&self, word: &Word, source: &str) -> bool {
        match &word.value {
            Value::Known(_) => false,
            Value::Unknown(unknown) => match &unknown.why {
                Why::Parameter(name) => self.variables.contains(name.as_str()),
                Why::Substitution => downloads_in(word.span.of(source)),
                _ => false,
            },
        }
    }

    /// Whether a redirect of standard input has what was fetched.
    fn is_read_by(&self, redirect: &Redirect, source: &str) -> bool {
        let RedirectTarget::Word(word) = &redirect.target else { return false };
        match redirect.operator {
            RedirectOperator::HereString => self.is_in(word, source),
            RedirectOperator::DuplicateIn => self.by_descriptor,
            RedirectOperator::Read => {
                word.value.known().is_some_and(|path| self.files.contains_key(plain_path(path)))
            }
            _ => false,
        }
    }

    /// Whether the invocation at `at` runs a file that was fetched before it: as a program, or as a script.
    fn is_run_by(&self, invocation: &Invocation, at: usize) -> bool {
        if self.files.is_empty() && self.folders.is_empty() {
            return false;
        }
        let is_fetched =
            |word: &Word| word.value.known().is_some_and(|path| self.is_fetched_before(path, at));
        let mut open = vec![invocation.words.clone()];
        for _ in 0..MAX_WRAPPERS {
            let Some(words) = open.pop() else { break };
            let is_path = |word: &&Word| word.value.lead().contains('/');
            if words.first().filter(is_path).is_some_and(is_fetched) {
                return true;
            }
            for effect in understand(&words).effects {
                match effect.kind {
                    EffectKind::Argv { words, .. } => open.push(words),
                    EffectKind::ShellInput(Some(word)) | EffectKind::Opaque(word, _) if is_fetched(&word) => {
                        return true;
                    }
                    _ => {}
                }
            }
        }
        false
    }
}

/// The invocations whose standard input is fetched by one that is before them in their pipeline, by their places. Functions
/// read what their callers do, and `>( … )` reads what the command around it prints.
fn fetched_inputs(invocations: &[Invocation], source: &str, carriers: &Carriers<'_>) -> HashSet<usize> {
    let mut fetched: HashSet<usize> = HashSet::new();
    let prints = |one: &Invocation| downloads(one) || carriers.is_printed_by(one, source);
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
                |source: &usize| fetched.contains(source) || invocations.get(*source).is_some_and(&prints);
            let is_fetched = invocation.redirects.iter().any(|one| carriers.is_read_by(one, source))
                || match &invocation.input {
                    Input::Pipe(sources) => sources.iter().any(comes_from),
                    Input::Redirect(redirect) => *redirected.entry(redirect.span).or_insert_with(|| {
                        is_fetched(std::slice::from_ref(redirect), source)
                            || carriers.is_read_by(redirect, source)
                    }),
                    Input::Inherited | Input::Other => {
                        fed.contains(function_of(invocation))
                            || carriers.input_from.is_some_and(|from| from < at)
                            || invocation.constructs.contains(&Construct::Process)
                                && is_written_to(invocation)
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
    let program = base_name(program);
    words::RUIN_DOWNLOADS.iter().any(|listed| {
        let behind =
            listed.strip_prefix(program).filter(|behind| behind.is_empty() || behind.starts_with(' '));
        let mut rest = rest.iter();
        behind.is_some_and(|behind| {
            behind.split_ascii_whitespace().all(|wanted| rest.any(|own| *own == wanted))
        })
    })
}
