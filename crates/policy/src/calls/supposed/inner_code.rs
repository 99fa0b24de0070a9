//! Commands in the code of other languages, and the programs of packages.

use shellgate_syntax::{Invocation, Value, Why};

use super::code_deeds::{deeds_in, handed_to_shells};
use super::code_texts::{CodeLanguage, commands_in, language_of, quoted_commands};
use super::composed::run_by_awk;
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
        let is_sed = language == CodeLanguage::Sed;
        let input = match is_sed {
            // Of what isn't known it can't be said what comes out.
            true => inputs.first().and_then(Spelling::known),
            false => inputs.first().map(Spelling::as_commands),
        };
        let words = invocation.words.iter().skip(place + 1).take(MAX_WORDS);
        let mut texts: Vec<String> = Vec::new();
        for word in words {
            texts.extend(self.word(word, at, 1).all.iter().filter_map(Spelling::known));
            texts.extend(self.content(word, at, 0).iter().map(Spelling::as_commands));
        }
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
        let of_awk = texts.iter().filter(|_| is_awk).flat_map(|text| {
            // `-v c='rm -rf ~'`
            let value = text.split_once('=').map(|(_, value)| value.to_owned()).filter(|_| whole);
            run_by_awk(text).into_iter().chain(value)
        });
        let of_awk: Vec<String> = of_awk.take(MAX_VALUES).collect();
        let found = texts.iter().flat_map(|text| {
            let all = whole.then(|| text.clone()).into_iter();
            let by_functions = deeds_in(text).into_iter().chain(handed_to_shells(text));
            all.chain(by_functions).chain(quoted_commands(text))
        });
        of_awk.into_iter().chain(found.take(MAX_VALUES * 4)).map(Supposition::respelled).collect()
    }

    /// The texts that a call sets as scripts of a package: `npm pkg set scripts.x='rm -rf ~'`. A later call runs them.
    pub(super) fn by_set_script(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let mut own = invocation.words.iter().take(MAX_WORDS);
        let name = own.next().and_then(|word| word.value.known()).map(base_name);
        if !name.is_some_and(|name| words::RUIN_SCRIPT_SETTERS.contains(&name)) {
            return Vec::new();
        }
        let texts = own.filter(|word| word.value.lead().starts_with("scripts."));
        let texts = texts.flat_map(|word| self.word(word, at, 1).all).filter_map(|text| {
            let text = text.as_commands();
            Some(text.split_once('=')?.1.to_owned())
        });
        texts.take(MAX_VALUES).map(Supposition::respelled).collect()
    }

    /// The commands in a package's description that this text writes.
    fn by_written_scripts(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let Some(writers) = self.files.get("package.json") else { return Vec::new() };
        let name = invocation.words.first().and_then(|word| word.value.known()).map(base_name);
        if !name.is_some_and(|name| words::RUIN_SCRIPT_SETTERS.contains(&name)) {
            return Vec::new();
        }
        let writers = writers.iter().filter(|writer| **writer != at).take(MAX_VALUES);
        let texts = writers.flat_map(|writer| self.printed(*writer, 1)).map(|text| text.as_commands());
        let commands = texts.flat_map(|text| quoted_commands(&text)).take(MAX_VALUES * 2);
        commands.map(Supposition::respelled).collect()
    }

    /// The program of a package, as if it were called by its own name, with what it reads.
    pub(super) fn by_runner(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let place = at;
        let scripts = self.by_written_scripts(at, invocation);
        if !scripts.is_empty() {
            return scripts;
        }
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
