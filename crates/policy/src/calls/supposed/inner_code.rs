//! Commands in the code of other languages, and the programs of packages.

use shellgate_syntax::{Invocation, Value, Why};

use super::code_deeds::{deeds_in, handed_to_shells};
use super::code_texts::{CodeLanguage, commands_in, language_of, quoted_commands};
use super::respelled::{MAX_WORDS, MAX_WORDS_BEFORE_PROGRAM, Supposition};
use super::runners::{behind_container_shell, behind_runner};
use super::shell_inputs::END;
use super::spelling::{Spelling, quoted};
use super::values::{KnownText, MAX_VALUES};
use crate::programs::{ProgramKind, base_name, kind_of, words};

impl KnownText<'_> {
    /// Commands in the code of other languages.
    pub(super) fn by_code(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let first = invocation.words.iter().take(MAX_WORDS_BEFORE_PROGRAM);
        let languages = first.enumerate().filter_map(|(index, word)| {
            let language = language_of(base_name(word.value.known()?))?;
            Some((index, language))
        });
        let Some((place, language)) = languages.into_iter().next() else {
            return self.by_quoted_commands(at, invocation);
        };
        let inputs = self.inputs(at, 0);
        let input = inputs.first().map(Spelling::as_commands);
        let words = invocation.words.iter().skip(place + 1).take(MAX_WORDS);
        let mut texts: Vec<String> = Vec::new();
        for word in words {
            texts.extend(self.word(word, at, 1).all.iter().filter_map(Spelling::known));
            texts.extend(self.content(word, at, 0).iter().map(Spelling::as_commands));
        }
        let is_sed = language == CodeLanguage::Sed;
        texts.extend(inputs.iter().filter(|_| !is_sed).map(Spelling::as_commands));
        let found = texts.iter().flat_map(|text| commands_in(language, text, input.as_deref()));
        found.take(MAX_VALUES * 8).map(Supposition::commands).collect()
    }

    /// Commands for a shell in strings of code that is in the text: `python3 -c 'os.system("rm -rf ~")'`. What the code does with
    /// a string isn't followed, so only ruin counts.
    fn by_quoted_commands(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let is_code = |name: &str| {
            kind_of(name) == Some(ProgramKind::Interpreter)
                || words::RUIN_AWKS.contains(&name)
                || words::RUIN_COMMAND_LANGUAGES.contains(&name)
        };
        let first = invocation.words.first().and_then(|word| word.value.known()).map(base_name);
        // `sudo python3 -c …`
        let is_wrapper = first.is_some_and(|name| kind_of(name) == Some(ProgramKind::Wrapper));
        let before = if is_wrapper { MAX_WORDS_BEFORE_PROGRAM } else { 1 };
        let names = invocation.words.iter().take(before).filter_map(|word| word.value.known()).map(base_name);
        let name = names.into_iter().find(|name| is_code(name));
        if name.is_none() {
            return Vec::new();
        }
        let words = invocation.words.iter().skip(1).take(MAX_WORDS);
        let mut texts: Vec<String> = Vec::new();
        for word in words {
            texts.extend(self.word(word, at, 1).all.iter().filter_map(Spelling::known));
            if matches!(&word.value, Value::Unknown(unknown) if unknown.why == Why::Process) {
                texts.extend(self.content(word, at, 0).iter().map(Spelling::as_commands));
            }
        }
        texts.extend(self.inputs(at, 0).iter().filter_map(Spelling::known));
        let is_awk = name.is_some_and(|name| words::RUIN_AWKS.contains(&name));
        // What awk reads may be what it runs: `awk '{system($0)}' <<< 'rm -rf ~'`.
        let runs = |text: &String| text.contains("system(") || text.contains('|');
        // What PowerShell is given are commands.
        let is_commands = name.is_some_and(|name| words::RUIN_COMMAND_LANGUAGES.contains(&name));
        let whole = is_commands || is_awk && texts.iter().any(runs);
        let found = texts.iter().flat_map(|text| {
            let all = whole.then(|| text.clone()).into_iter();
            let by_functions = deeds_in(text).into_iter().chain(handed_to_shells(text));
            all.chain(by_functions).chain(quoted_commands(text))
        });
        found.take(MAX_VALUES * 4).map(Supposition::respelled).collect()
    }

    /// The program of a package, as if it were called by its own name, with what it reads.
    pub(super) fn by_runner(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let place = at;
        let words: Vec<Option<&str>> =
            invocation.words.iter().take(MAX_WORDS).map(|word| word.value.known()).collect();
        let Some((program, at)) = behind_runner(&words) else {
            return behind_container_shell(&words).map(Supposition::respelled).into_iter().collect();
        };
        let rest = self.as_written(invocation.words.get(at..).unwrap_or_default());
        let call = format!("{} {rest}", quoted(&program));
        let inputs = if words::RUIN_INPUT_READERS.contains(&program.as_str()) {
            self.inputs(place, 0)
        } else {
            Vec::new()
        };
        let with_input = inputs.iter().map(|input| {
            let text = input.as_commands();
            format!("{call} <<'{END}'\n{}\n{END}\n", text.trim_end_matches('\n'))
        });
        [call.clone()].into_iter().chain(with_input).map(Supposition::respelled).collect()
    }
}
