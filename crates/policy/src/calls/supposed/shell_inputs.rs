//! Shells, and other programs that obey what they read, with the texts that come in: by standard input, by a file that the text
//! makes, by parameters.

use shellgate_syntax::{Invocation, RedirectOperator, RedirectTarget, Span, Value, Why, Word};

use super::respelled::{MAX_WORDS, Supposition};
use super::spelling::Spelling;
use super::values::{KnownText, MAX_VALUES, plain_path};
use crate::programs::base_name;

/// Ends a here-document. No text has it.
pub(super) const END: &str = "__SUPPOSED_END__";

/// The commands in a table of cron: behind five fields of time, or behind `@reboot`.
fn scheduled(table: &str) -> Vec<String> {
    let lines = table.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let command = |line: &str| {
        let fields = if line.starts_with('@') { 1 } else { 5 };
        let mut rest = line;
        for _ in 0..fields {
            rest = rest.split_once([' ', '\t'])?.1.trim_start();
        }
        Some(rest.to_owned()).filter(|rest| !rest.is_empty())
    };
    lines.filter_map(command).collect()
}

impl KnownText<'_> {
    /// A shell, or another program that obeys its standard input, with what comes in there.
    pub(super) fn by_input(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let has_own_text = invocation.redirects.iter().any(|redirect| {
            let (RedirectTarget::Body(word) | RedirectTarget::Word(word)) = &redirect.target;
            let is_text =
                matches!(redirect.operator, RedirectOperator::HereDocument | RedirectOperator::HereString);
            is_text && word.value.known().is_some()
        });
        if has_own_text {
            return Vec::new();
        }
        let inputs = self.inputs(at, 0);
        let is_schedule =
            invocation.words.first().and_then(|word| word.value.known()).map(base_name) == Some("crontab");
        let scheduled =
            inputs.iter().filter(|_| is_schedule).flat_map(|input| scheduled(&input.as_commands()));
        let scheduled: Vec<Supposition> = scheduled.take(MAX_VALUES).map(Supposition::respelled).collect();
        let read = inputs.iter().flat_map(|input| self.with_input(invocation, &[], input));
        read.chain(scheduled).collect()
    }

    /// The invocation with a text as its standard input: as the shell reads it that is started, and if it isn't all known, also
    /// as a text that is still expanded.
    pub(super) fn with_input(
        &self,
        invocation: &Invocation,
        given: &[(Span, String)],
        input: &Spelling,
    ) -> Vec<Supposition> {
        // What a command prints that isn't known says nothing: `curl … | sh` is judged as what it is.
        if !input.has_text() {
            return Vec::new();
        }
        let call = self.with_words(invocation, given);
        let text = input.as_commands();
        let text = text.trim_end_matches('\n');
        let expanded = input.known().is_none().then(|| format!("{call} <<{END}\n{text}\n{END}\n"));
        let read = format!("{call} <<'{END}'\n{text}\n{END}\n");
        [Some(read), expanded].into_iter().flatten().map(Supposition::respelled).collect()
    }

    /// A shell with a script that this text makes: `sh x`, `bash <(…)`, `source x`.
    pub(super) fn by_file(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let mut all = Vec::new();
        for word in invocation.words.iter().skip(1).take(MAX_WORDS) {
            let is_file = match &word.value {
                Value::Known(path) => self.files.contains_key(plain_path(path)),
                Value::Unknown(unknown) => unknown.why == Why::Process,
            };
            let contents = if is_file { self.content(word, at, 0) } else { Vec::new() };
            let given = [(word.span, "/dev/stdin".to_owned())];
            all.extend(
                contents
                    .iter()
                    .take(MAX_VALUES)
                    .flat_map(|content| self.with_input(invocation, &given, content)),
            );
        }
        all
    }

    /// A script that this text makes and then starts by its name.
    pub(super) fn by_made_program(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let Some(word) = invocation.words.first() else { return Vec::new() };
        let is_made = word
            .value
            .known()
            .is_some_and(|name| name.contains('/') && self.files.contains_key(plain_path(name)));
        if !is_made {
            return Vec::new();
        }
        let contents = self.content(word, at, 0);
        contents.iter().map(|content| Supposition::commands(content.as_commands())).collect()
    }

    /// `bash -c 'rm -rf "$1"' _ ~`: the text with its parameters set.
    pub(super) fn by_parameters(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let takes = |text: &str| {
            text.split('$').skip(1).any(|rest| {
                rest.trim_start_matches('{').starts_with(|c: char| c.is_ascii_digit() || c == '@' || c == '*')
            })
        };
        let words = invocation.words.get(..invocation.words.len().min(MAX_WORDS)).unwrap_or_default();
        let mut all = Vec::new();
        for (index, word) in words.iter().enumerate().skip(2) {
            let Some(text) = word.value.known().filter(|text| takes(text)) else { continue };
            let rest = words.get(index + 1..).unwrap_or_default();
            let spelled = |word: &Word| self.word(word, at, 0).all.first().map(Spelling::as_word);
            let given: Vec<String> = rest.iter().filter_map(spelled).collect();
            let Some((name, given)) = given.split_first() else { continue };
            let text = text.replace("\"$0\"", name).replace("$0", name);
            all.push(Supposition::respelled(format!("set -- {}\n{text}", given.join(" "))));
        }
        // `bash -s ~ <<< 'rm -rf "$1"'`
        if let Some(from) = words.iter().position(|word| word.value.known() == Some("-s")) {
            let given = self.as_written(words.get(from + 1..).unwrap_or_default());
            let inputs = self.inputs(at, 0).into_iter().filter_map(|input| input.known());
            let texts = inputs.filter(|text| takes(text) && !given.is_empty());
            all.extend(texts.map(|text| Supposition::respelled(format!("set -- {given}\n{text}"))));
        }
        all
    }
}
