//! Finds every program call that a command leads to: those in its text, and those that wrappers, shells and builtins in
//! it start, to any depth.
//!
//! [`of_text`] reads the text, [`of_argv`] takes a program with its arguments. For each call [`follow`] asks the tables
//! what it does; if it runs another command, that command is the next call in the list. Where the text doesn't say
//! enough (a script, a variable), the call gets a [`Problem`]. The other modules say what the shell makes of the words:
//! [`context`] collects the variables and functions of a text, [`arithmetic`] follows values that are evaluated again,
//! [`known_values`], [`numbers`] and [`attributes`] know about variables, [`resolve`] puts that into the words of a call,
//! [`shadowing`] and [`forwarders`] know about functions, [`stdin`] and [`pipes`] about pipes and redirects, [`remembered`] about texts that were read before, [`tied_files`] about descriptors that are written by their names, [`foreign_shells`] about shells that read a text otherwise than bash, [`hazards`] about what isn't followed, [`inner_texts`] about texts inside a call, [`supposed`] about commands that are put
//! together when the text runs.
//!
//! Nothing is decided here: the judge decides what a call and its problems mean. No call is left out silently. What is
//! too deep or too much is an unreadable problem, and that denies.

mod arithmetic;
mod attributes;
mod context;
mod downloads;
mod fetched_files;
mod follow;
mod foreign_shells;
mod forks;
mod forwarders;
mod hazards;
mod inner_texts;
mod known_values;
mod numbers;
mod pipes;
mod remembered;
mod resolve;
mod shadowing;
mod stdin;
mod supposed;
mod tied_files;

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use shellgate_syntax::{
    self as syntax, Assignment, Construct, Doubt, Findings, Invocation, Redirect, RedirectOperator,
    RedirectTarget, Span, Unknown, Unreadable, Value, Why, Word,
};

use context::TextContext;
pub(crate) use downloads::downloads_in;
pub(crate) use inner_texts::UNREAD_COMMANDS;
pub(crate) use pipes::Pipes;
pub(crate) use remembered::of_text_again;
pub(crate) use shadowing::Shadowed;
pub(crate) use stdin::Stdin;
pub(crate) use supposed::{Origin, behind_runner, runs_its_input};

use crate::machine::Machine;
use crate::matching::Candidate;
use crate::program_names::ProgramNames;
use crate::programs::{CallMeaning, base_name};

/// How deep texts and wrappers may be inside each other.
const MAX_DEPTH: usize = 40;

/// How many calls one command may have.
const MAX_CALLS: usize = 8_000;

/// How many words the calls of one command may have in all. What wrappers run counts once for each wrapper.
const MAX_WORDS: usize = 80_000;

/// How many words the calls of one command may have that copy, move or link files: each word leads to folders and links.
const MAX_LINKING_WORDS: usize = 16_000;

/// How much text the shells inside one command may read in all. Nested text counts more.
const MAX_INNER_BYTES: usize = 1 << 20;

/// Stands for the name of a variable that can't be known.
const ANY_VARIABLE: &str = "";

/// One program call, or assignments and redirects without one.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) words: Vec<Word>,
    /// Its own text.
    pub(crate) text: String,
    /// Where it is in the command; a call inside a quoted text is where that text is.
    pub(crate) span: Span,
    /// What the tables say about it.
    pub(crate) meaning: CallMeaning,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) redirects: Vec<Redirect>,
    /// The constructs of the shell around it, from the outside in.
    pub(crate) constructs: Arc<[Construct]>,
    /// Whether a function of this name is what runs.
    pub(crate) shadowed: Shadowed,
    /// What could not be followed from here.
    pub(crate) problems: Vec<Problem>,
    /// Whether a wrapper runs it. Redirects and assignments are the wrapper's then, and are judged there.
    pub(crate) in_wrapper: bool,
    /// Whether words are added when it runs.
    pub(crate) more_words: bool,
    /// What it reads from its standard input.
    pub(crate) stdin: Stdin,
    /// When it runs.
    pub(crate) when: When,
    /// How it was found.
    pub(crate) origin: Origin,
    /// What is known of it by the commands around it.
    pub(crate) around: Surroundings,
    /// The folders that programs around it change to before it runs, one from the other. `None`: an unknown one.
    pub(crate) folders: Rc<[Option<Word>]>,
    /// Where its words are in its text. A call may have many words, so it is found out once.
    pub(crate) places: OnceCell<WordPlaces>,
    /// What follows from the rest, and is asked for several times.
    pub(crate) derived: Derived,
}

/// What is found out about a call when it is first needed. A text that was read before has it already.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    pub(crate) sets_by_words: OnceCell<bool>,
    pub(crate) unpacks_text: OnceCell<bool>,
    pub(crate) may_unpack: OnceCell<bool>,
    /// The call of the program that a runner starts.
    pub(crate) inner: OnceCell<Option<Box<Call>>>,
}

/// Where the words of a call are in its text.
#[derive(Debug)]
pub(crate) enum WordPlaces {
    /// The text is a part of the command that begins here.
    Behind(usize),
    /// The words stand one behind the other, with a blank between.
    Each(HashMap<Span, usize>),
}

/// When a call runs, compared with the calls around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum When {
    /// Once at most, behind what is before it in the text.
    Once,
    /// Once at most, beside what is behind it in the text: in the background.
    Beside,
    /// Any number of times, whatever is around it: in a loop or a function, by a trap.
    Anytime,
}

impl Call {
    /// A word of the call as it is written.
    pub(crate) fn written(&self, word: &Word) -> Option<&str> {
        let start = match self.places.get_or_init(|| self.word_places()) {
            WordPlaces::Behind(base) => word.span.start.checked_sub(*base)?,
            WordPlaces::Each(starts) => *starts.get(&word.span)?,
        };
        self.text.get(start..start + (word.span.end - word.span.start))
    }

    /// Another part of the call as it is written. What a wrapper runs has only its words.
    pub(crate) fn written_at(&self, span: Span) -> Option<&str> {
        match self.places.get_or_init(|| self.word_places()) {
            WordPlaces::Behind(base) => {
                let start = span.start.checked_sub(*base)?;
                self.text.get(start..start + (span.end - span.start))
            }
            WordPlaces::Each(_) => None,
        }
    }

    fn word_places(&self) -> WordPlaces {
        if !self.in_wrapper {
            let words = self.words.iter().map(|word| word.span.start);
            let others = self.assignments.iter().map(|one| one.span.start);
            let all = words.chain(others).chain(self.redirects.iter().map(|one| one.span.start));
            return WordPlaces::Behind(all.min().unwrap_or(usize::MAX));
        }
        // The text of such a call has its words with one blank between, each once.
        let (mut at, mut last) = (0, None);
        let mut starts = HashMap::new();
        for span in self.words.iter().map(|word| word.span) {
            if last != Some(span) {
                starts.insert(span, at);
                at += span.end - span.start + 1;
                last = Some(span);
            }
        }
        WordPlaces::Each(starts)
    }

    /// The call as rules are compared with it.
    pub(crate) fn candidate<'a>(&'a self, machine: &'a Machine) -> Candidate<'a> {
        Candidate { words: &self.words, meaning: &self.meaning, machine, more_words: self.more_words }
    }

    /// The first name of the program's entry in the tables, or its name without a folder.
    pub(crate) fn name(&self) -> Option<&str> {
        self.meaning.entry.or_else(|| self.program().map(base_name))
    }

    /// The program's name as it is written, if that can be known.
    pub(crate) fn program(&self) -> Option<&str> {
        self.words.first()?.value.known()
    }
}

/// Something that could not be followed, or not read.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) span: Span,
    pub(crate) message: String,
    /// Whether it is code in the program's own language.
    pub(crate) is_code: bool,
}

impl Problem {
    fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), is_code: false }
    }
}

/// Everything that a command can start.
#[derive(Debug, Default)]
pub(crate) struct FoundCalls {
    /// A call that runs another one comes before it.
    pub(crate) calls: Vec<Call>,
    /// Calls with what their words may be, for which only ruin counts. Each with the number of calls that come before it.
    pub(crate) respelled: Vec<(usize, Call)>,
    /// Where the text could not be read with certainty.
    pub(crate) doubts: Vec<Doubt>,
    /// What can run text that is nowhere in the tree.
    pub(crate) hazards: Vec<Problem>,
    /// What isn't followed, and may change what the text runs.
    pub(crate) unfollowed: Vec<Problem>,
    /// Texts inside the command that bash would not read, or that are too much.
    pub(crate) unreadable: Vec<Problem>,
    /// Where the first substitution is, if there is one.
    pub(crate) substitution: Option<Span>,
    /// Whether a text defines functions.
    pub(crate) defines_functions: bool,
    /// Whether a builtin runs a text in this shell: that text shares its variables with the texts around it.
    shares_variables: bool,
    /// Whether the value of a variable is evaluated as an expression somewhere.
    evaluates_variables: bool,
    /// How many expressions were looked at.
    evaluations: usize,
    /// Finds the entry of a program by the file that it leads to.
    programs: ProgramNames,
    /// How many words the calls have so far.
    words: usize,
    /// How many of them are of calls that may make links.
    linking_words: usize,
    /// How much text inside the command was read so far.
    inner_bytes: usize,
    input: InputUse,
    /// How much may still be supposed.
    fuel: Fuel,
    /// What comes before some calls in their pipelines.
    pub(crate) pipes: Pipes,
    /// The variables that hold what `mktemp` makes, and where they are set.
    pub(crate) made_temporary: HashMap<String, usize>,
}

/// How many steps may still be done for suppositions.
#[derive(Debug)]
struct Fuel(Cell<usize>);

impl Default for Fuel {
    fn default() -> Self {
        Self(Cell::new(supposed::FUEL))
    }
}

/// What the calls of a command do with standard input.
#[derive(Debug, Default)]
struct InputUse {
    /// Whether a text inside the command gives its shell another standard input.
    replaced: bool,
    /// Whether a program was taken to read a standard input that is known.
    trusted: bool,
}

/// A call that was found and not yet followed.
struct PendingCall {
    invocation: Invocation,
    text: String,
    stdin: Stdin,
    in_wrapper: bool,
    more_words: bool,
    /// When it runs, as far as its own words and what runs it say.
    when: When,
    folders: Rc<[Option<Word>]>,
    around: Surroundings,
}

/// What is known of an invocation by those around it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surroundings {
    /// Whether what comes in by its pipe is from another machine.
    pub(crate) fetched: bool,
    /// Whether it runs a file that the text fetched before.
    pub(crate) runs_fetched: bool,
    /// Whether processes are started by it without end.
    pub(crate) forks: bool,
}

/// The calls of a text for bash.
pub(crate) fn of_text(source: &str, stdin: Stdin, programs: ProgramNames) -> Result<FoundCalls, Unreadable> {
    let mut found = FoundCalls { programs, ..FoundCalls::default() };
    let findings = syntax::read(source)?;
    found.pipes = Pipes::find(&findings.invocations);
    found.made_temporary = pipes::made_temporary(source, &findings);
    let context = TextContext::of_command(source, stdin, &findings);
    found.follow_findings(findings, &context);
    if found.shares_variables && found.evaluates_variables {
        let message = "a text that is run here may set what is evaluated as an expression elsewhere";
        found.hazards.push(Problem::new(Span::new(0, source.len()), message));
    }
    if found.input.trusted && found.calls.iter().any(names_descriptors) {
        let message = "a program may write to the standard input of a shell that reads its commands there";
        found.unfollowed.push(Problem::new(Span::new(0, source.len()), message));
    }
    if found.input.replaced && found.input.trusted {
        let message = "a text that is run here may change the standard input of the commands behind it";
        found.hazards.push(Problem::new(Span::new(0, source.len()), message));
    }
    found.note_spent_fuel(Span::new(0, source.len()));
    found.set_respelled_apart();
    tied_files::replace_descriptors(&mut found);
    Ok(found)
}

/// Whether a call may name a descriptor as a file: `/dev/stdin`, `/proc/1/fd/0`.
fn names_descriptors(call: &Call) -> bool {
    let targets = call.redirects.iter().filter_map(|redirect| match &redirect.target {
        RedirectTarget::Word(word) if redirect.operator != RedirectOperator::HereString => Some(word),
        _ => None,
    });
    call.words.iter().chain(targets).any(|word| {
        let text = word.value.lead();
        let may_go_on = text.starts_with('/') && word.value.known().is_none();
        may_go_on || ["stdin", "fd/", "/fd", "proc"].iter().any(|part| text.contains(part))
    })
}

/// The calls of a program and its arguments, without a shell. `shown` is how people see them.
pub(crate) fn of_argv(argv: &[String], shown: &str, stdin: Stdin, programs: ProgramNames) -> FoundCalls {
    let mut found = FoundCalls { programs, ..FoundCalls::default() };
    let span = Span::new(0, shown.len());
    let words = argv.iter().map(|word| Word { span, value: Value::Known(word.clone()) }).collect();
    let invocation = Invocation { words, span, ..Invocation::default() };
    let context = TextContext::of_command(shown, stdin, &Findings::default());
    found.follow_invocation(invocation, Surroundings::default(), &context);
    found.suppose_for_argv(argv, span, &context);
    found.set_respelled_apart();
    found
}

impl FoundCalls {
    /// Takes the calls for which only ruin counts out of the others.
    fn set_respelled_apart(&mut self) {
        let all = std::mem::take(&mut self.calls);
        for call in all {
            match call.origin {
                Origin::Respelled => self.respelled.push((self.calls.len(), call)),
                Origin::Written | Origin::Supposed => self.calls.push(call),
            }
        }
    }
}

/// A word that may be anything, and any number of words.
pub(crate) fn unknown_value() -> Value {
    let why = Why::Parameter(ANY_VARIABLE.to_owned());
    Value::Unknown(Unknown { lead: String::new(), splits: true, why, tail: None })
}
