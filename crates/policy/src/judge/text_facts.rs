//! What the calls of a text do together, in whatever order.

use shellgate_syntax::{Value, Why, Word};

use super::state::is_in_pipeline;
use super::writers::{has_hiding_word, has_text_redirect, is_plain_reader, moves_files, obeys_files};
use crate::calls::{Call, FoundCalls};
use crate::programs::{ProgramKind, Property, base_name, has, words};

/// If the programs of a text that obey files have more words, they may name any file.
const MAX_TOOL_WORDS: usize = 200;

/// Facts about all calls of a text.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct TextFacts {
    /// Whether a call puts changes away as a stash.
    pub(super) stashes: bool,
    /// Whether a stage of a pipeline makes content, other than showing what a file holds or what a build tool says.
    pub(super) pipes_content: bool,
    /// Whether a call copies, renames, links or unpacks files.
    pub(super) moves_files: bool,
    /// Whether a stage of a pipeline writes content of the text.
    pub(super) writes_in_pipeline: bool,
    /// Whether plain edits of files are no content of the text: there is only one, and no program reads a language in which
    /// any sign can be a quote.
    pub(super) trusts_edits: bool,
    /// Words of programs that obey files. `None`: some aren't known.
    tool_words: Option<Vec<String>>,
    /// Whether git may keep words of the text in files, and a call goes to a folder that a pattern names: that may be git's.
    pub(super) goes_to_git: bool,
}

impl TextFacts {
    pub(super) fn of(found: &FoundCalls) -> Self {
        let is_plain = |call: &Call| {
            let is_tool = call.meaning.kind == Some(ProgramKind::Builder) && !has_hiding_word(call);
            !has_text_redirect(call) && (call.words.is_empty() || is_tool || is_plain_reader(call))
        };
        let piped = found.calls.iter().filter(|call| is_in_pipeline(call));
        let mut tool_words = Some(Vec::new());
        for call in found.calls.iter().filter(|call| obeys_files(call)) {
            if call.more_words {
                tool_words = None;
            }
            let assigned = call.assignments.iter().map(|one| match &one.value {
                shellgate_syntax::Assigned::Scalar(value) => value.known(),
                _ => None,
            });
            for word in call.words.iter().skip(1).map(|word| word.value.known()).chain(assigned) {
                match (word, &mut tool_words) {
                    (Some(word), Some(all)) if all.len() < MAX_TOOL_WORDS => all.push(word.to_owned()),
                    _ => tool_words = None,
                }
            }
        }
        Self {
            pipes_content: piped.clone().any(|call| !is_plain(call))
                || found.calls.iter().any(keeps_words_in_git) && piped.clone().any(reads_git),
            moves_files: found.calls.iter().any(moves_files),
            writes_in_pipeline: false,
            trusts_edits: found.calls.iter().filter(|call| call.name() == Some("sed")).count() <= 1
                && !found.calls.iter().any(reads_terse_language),
            tool_words,
            stashes: found.calls.iter().any(stashes),
            goes_to_git: found.calls.iter().any(keeps_words_in_git)
                && found.calls.iter().any(goes_by_pattern),
        }
    }

    /// Whether a program that obeys files is told a file of this name.
    pub(super) fn names(&self, name: &str) -> bool {
        let is_it = |word: &String| {
            let value = word.rsplit(['=', '@', ':', ',']).next().unwrap_or(word);
            base_name(value) == name || word.starts_with('-') && word.ends_with(name)
        };
        self.tool_words.as_ref().is_none_or(|words| words.iter().any(is_it))
    }

    /// Whether a program that obeys files may be told the name of this one.
    pub(super) fn may_name(&self, name: &str) -> bool {
        self.tool_words.as_ref().is_none_or(|words| words.iter().any(|word| word.contains(name)))
    }
}

/// Whether a call puts changes away as a stash.
fn stashes(call: &Call) -> bool {
    let words: Vec<&str> = call.words.iter().filter_map(|word| word.value.known()).collect();
    let of_stash = words.iter().skip_while(|word| **word != "stash").nth(1);
    call.meaning.entry == Some("git")
        && words.contains(&"stash")
        && of_stash.is_none_or(|word| word.starts_with('-') || matches!(*word, "push" | "save" | "store"))
}

/// Whether a call is one of git that may keep words in its files: messages, names.
fn keeps_words_in_git(call: &Call) -> bool {
    let subcommand = call.meaning.subcommands.first();
    call.meaning.entry == Some("git")
        && !subcommand.is_some_and(|name| words::GIT_READING_SUBCOMMANDS.contains(name))
}

/// Whether a program runs files of a language in which any sign can be a quote.
fn reads_terse_language(call: &Call) -> bool {
    call.name().is_some_and(|name| words::RUNNERS_OF_TERSE_LANGUAGES.contains(&name))
}

fn reads_git(call: &Call) -> bool {
    call.meaning.entry == Some("git")
}

/// Whether a call goes to a folder that a pattern names.
fn goes_by_pattern(call: &Call) -> bool {
    let is_pattern = |word: &Word| matches!(&word.value, Value::Unknown(unknown) if unknown.why == Why::Glob);
    call.program().is_some_and(|name| has(name, Property::ChangesDirectory))
        && call.words.iter().skip(1).any(is_pattern)
}
