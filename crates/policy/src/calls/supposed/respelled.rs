//! The texts that are supposed for an invocation.

use shellgate_syntax::{Invocation, RedirectOperator, RedirectTarget, Span, Value, Why, Word};

use super::Origin;
use super::code_texts::{commands_in, language_of};
use super::found_files;
use super::runners::behind_runner;
use super::spelling::{Spelling, quoted};
use super::values::{KnownText, MAX_VALUES, plain_path};
use crate::programs::{
    Canonical, EffectKind, ProgramKind, base_name, has_ruin_rows, kind_of, understand, words,
};

/// The program is among the first words, behind wrappers and their options.
const MAX_WORDS_BEFORE_PROGRAM: usize = 8;

/// How many words of one invocation are looked at.
const MAX_WORDS: usize = 64;

/// Ends a here-document. No text has it.
const END: &str = "__SUPPOSED_END__";

/// A text that may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::calls) struct Supposition {
    pub(super) text: String,
    pub(super) origin: Origin,
}

impl Supposition {
    /// A call of the text with what its words may be.
    fn respelled(text: String) -> Self {
        Self { text, origin: Origin::Respelled }
    }

    /// Commands that a shell may come to read.
    fn commands(text: String) -> Self {
        Self { text, origin: Origin::Supposed }
    }
}

impl KnownText<'_> {
    /// What may be run because of the invocation at `at`, besides what it says.
    pub(super) fn suppositions(&self, at: usize) -> Vec<Supposition> {
        let Some(invocation) = self.invocations.get(at) else { return Vec::new() };
        let Some(first) = invocation.words.first() else { return Vec::new() };
        let names = || {
            let first = invocation.words.iter().take(MAX_WORDS_BEFORE_PROGRAM);
            first.filter_map(|word| word.value.known()).map(base_name)
        };
        let reads_commands = |name: &str| {
            kind_of(name) == Some(ProgramKind::Shell) || words::RUIN_INPUT_READERS.contains(&name)
        };
        let mut all = Vec::new();
        let is_reader = names().any(reads_commands);
        if is_reader {
            all.extend(self.by_input(at, invocation));
            all.extend(self.by_file(at, invocation));
            all.extend(self.by_parameters(at, invocation));
        }
        let may_matter = |name: &str| {
            has_ruin_rows(name)
                || matches!(
                    kind_of(name),
                    Some(ProgramKind::Shell | ProgramKind::Interpreter | ProgramKind::Wrapper)
                )
        };
        let writes_unknown = invocation.redirects.iter().any(|redirect| match &redirect.target {
            RedirectTarget::Word(word) => word.value.known().is_none(),
            RedirectTarget::Body(_) => false,
        });
        if first.value.known().is_none() || is_reader || writes_unknown || names().any(may_matter) {
            all.extend(self.by_words(at, invocation));
        }
        if let Some(words) = self.inner_words(invocation, "xargs") {
            all.extend(self.by_xargs(at, words));
        }
        if let Some(words) = self.inner_words(invocation, "parallel") {
            all.extend(self.by_parallel(at, words));
        }
        if let Some(words) = self.inner_words(invocation, "find") {
            let commands = found_files::commands(self, words, at);
            all.extend(commands.into_iter().map(Supposition::respelled));
        }
        if let Some(words) = self.inner_words(invocation, "git") {
            all.extend(self.by_alias(words));
        }
        all.extend(self.by_code(at, invocation));
        all.extend(self.by_runner(at, invocation));
        all.extend(self.by_made_program(at, invocation));
        all.dedup();
        all
    }

    /// The words from the name of this program on, if it is called, also by wrappers.
    fn inner_words<'i>(&self, invocation: &'i Invocation, program: &str) -> Option<&'i [Word]> {
        let first = invocation.words.iter().take(MAX_WORDS_BEFORE_PROGRAM);
        let is_it = |word: &Word| word.value.known().map(base_name) == Some(program);
        let at = first.into_iter().position(is_it)?;
        let is_wrapped = at == 0 || {
            let name = invocation.words.first().and_then(|word| word.value.known());
            name.and_then(kind_of) == Some(ProgramKind::Wrapper)
                || matches!(name, Some("command" | "builtin" | "exec"))
        };
        invocation.words.get(at..).filter(|_| is_wrapped)
    }

    fn as_written(&self, words: &[Word]) -> String {
        let mut last = Span::default();
        let mut all: Vec<&str> = Vec::new();
        for word in words.iter().filter(|word| std::mem::replace(&mut last, word.span) != word.span) {
            all.push(word.span.of(self.source));
        }
        all.join(" ")
    }

    /// The invocation as it is written, with what is given in place of some words.
    fn with_words(&self, invocation: &Invocation, given: &[(Span, String)]) -> String {
        let written = |span: Span| match given.iter().find(|(place, _)| *place == span) {
            Some((_, text)) => text.as_str(),
            None => span.of(self.source),
        };
        let mut last = Span::default();
        let mut all: Vec<String> = Vec::new();
        for word in
            invocation.words.iter().filter(|word| std::mem::replace(&mut last, word.span) != word.span)
        {
            all.push(written(word.span).to_owned());
        }
        for redirect in &invocation.redirects {
            if let RedirectTarget::Word(word) = &redirect.target
                && let Some(sign) = redirect.span.of(self.source).strip_suffix(word.span.of(self.source))
            {
                all.push(format!("{sign}{}", written(word.span)));
            }
        }
        all.join(" ")
    }

    /// A shell, or another program that obeys its standard input, with what comes in there.
    fn by_input(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
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
        inputs.iter().flat_map(|input| self.with_input(invocation, &[], input)).collect()
    }

    /// The invocation with a text as its standard input: as the shell reads it that is started, and if it isn't all known, also
    /// as a text that is still expanded.
    fn with_input(
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
    fn by_file(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
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
    fn by_made_program(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
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
    fn by_parameters(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
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

    /// A call whose words the text says more about than that they aren't known.
    fn by_words(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let may_be_known = |word: &Word| match &word.value {
            Value::Known(_) => true,
            Value::Unknown(_) => word.span.of(self.source).contains(['$', '`', '*', '?']),
        };
        let targets = invocation.redirects.iter().filter_map(|redirect| match &redirect.target {
            RedirectTarget::Word(word) if redirect.operator != RedirectOperator::HereString => Some(word),
            _ => None,
        });
        let mut variants: Vec<Vec<(Span, String)>> = vec![Vec::new()];
        for word in invocation.words.iter().take(MAX_WORDS).chain(targets).filter(|word| may_be_known(word)) {
            let guess = self.word(word, at, 0);
            if !guess.is_better {
                continue;
            }
            let is_quoted = word.span.of(self.source).starts_with('"');
            let spelled = guess.all.iter().map(|value| match is_quoted {
                true => value.as_word(),
                false => value.as_expanded().join(" "),
            });
            let spelled: Vec<String> = spelled.collect();
            let pairs = variants.iter().flat_map(|before| {
                spelled.iter().map(move |text| {
                    let mut all = before.clone();
                    all.push((word.span, text.clone()));
                    all
                })
            });
            variants = pairs.take(MAX_VALUES).collect();
        }
        variants.retain(|given| !given.is_empty());
        let respelled =
            variants.iter().map(|given| Supposition::respelled(self.with_words(invocation, given)));
        respelled.collect()
    }

    /// What xargs runs, with the words that it reads.
    fn by_xargs(&self, at: usize, words: &[Word]) -> Vec<Supposition> {
        let meaning = understand(words);
        let command = meaning.effects.iter().find_map(|effect| match &effect.kind {
            EffectKind::Argv { words, .. } => words.first().map(|word| word.span),
            _ => None,
        });
        let Some(command) = command else { return Vec::new() };
        let from = words.iter().position(|word| word.span == command).unwrap_or(words.len());
        let template = words.get(from..).unwrap_or_default();
        let option = |names: &[&str]| {
            meaning.canonical.iter().find_map(|part| match part {
                Canonical::Option(name, value) if names.contains(&name.as_str()) => Some(value.clone()),
                _ => None,
            })
        };
        let mark = option(&["-I", "-i"]);
        let mark = mark.map(|mark| mark.as_ref().and_then(Value::known).unwrap_or("{}").to_owned());
        let mut all = Vec::new();
        for input in self.inputs(at, 0) {
            let keeps_blanks = mark.is_some() || option(&["-0", "-d"]).is_some();
            let items: Vec<String> = match keeps_blanks {
                true => input.lines().iter().map(Spelling::as_word).collect(),
                false => input.as_words(),
            };
            let items = items.get(..items.len().min(MAX_WORDS)).unwrap_or_default();
            let texts: Vec<String> = match &mark {
                Some(mark) => {
                    let fill = |item: &String| self.filled(template, mark, item);
                    items.iter().take(MAX_VALUES).map(fill).collect()
                }
                None => vec![format!("{} {}", self.as_written(template), items.join(" "))],
            };
            let is_known = input.known().is_some();
            all.extend(texts.into_iter().map(|text| match is_known {
                true => Supposition::commands(text),
                false => Supposition::respelled(text),
            }));
        }
        all
    }

    /// The words of a template with an item in place of a mark.
    fn filled(&self, template: &[Word], mark: &str, item: &str) -> String {
        let words = template.iter().map(|word| match word.value.known() {
            Some(own) if own == mark => item.to_owned(),
            Some(own) if !mark.is_empty() && own.contains(mark) => quoted(&own.replace(mark, item)),
            _ => word.span.of(self.source).to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// What GNU parallel runs, for words behind `:::` or lines that it reads.
    fn by_parallel(&self, at: usize, words: &[Word]) -> Vec<Supposition> {
        let starts = |word: &Word| matches!(word.value.known(), Some(":::" | "::::" | ":::+" | "::::+"));
        let end = words.iter().position(starts).unwrap_or(words.len());
        let is_option = |word: &&Word| word.value.lead().starts_with('-');
        let options = words.iter().take(end).skip(1).take_while(is_option).count();
        let template = words.get(1 + options..end).unwrap_or_default();
        let items: Vec<Spelling> = match words.get(end + 1..) {
            Some(items) => {
                items.iter().take(MAX_VALUES).flat_map(|word| self.word(word, at, 1).all).collect()
            }
            None => self.inputs(at, 0).iter().flat_map(Spelling::lines).collect(),
        };
        let texts = items.iter().take(MAX_VALUES).map(|item| {
            if template.is_empty() {
                return item.as_commands();
            }
            let has_mark = template.iter().any(|word| word.value.lead().contains("{}"));
            let item = item.as_word();
            if has_mark {
                self.filled(template, "{}", &item)
            } else {
                format!("{} {item}", self.as_written(template))
            }
        });
        texts.map(Supposition::respelled).collect()
    }

    /// `git -c alias.z='reset --hard' z`, and an alias that the text itself sets.
    fn by_alias(&self, words: &[Word]) -> Vec<Supposition> {
        let setting = |text: &str| {
            let (key, value) = text.split_once('=')?;
            Some((key.to_ascii_lowercase().strip_prefix("alias.")?.to_owned(), value.to_owned()))
        };
        let mut aliases: Vec<(String, String)> = Vec::new();
        for pair in words.windows(2).take(MAX_WORDS) {
            if let [option, value] = pair
                && option.value.known() == Some("-c")
            {
                aliases.extend(value.value.known().and_then(setting));
            }
        }
        let sets = |one: &Invocation| {
            let words: Vec<&str> = one.words.iter().filter_map(|word| word.value.known()).collect();
            let is_config =
                words.first().map(|name| base_name(name)) == Some("git") && words.contains(&"config");
            let at = words.iter().position(|word| word.starts_with("alias.")).filter(|_| is_config)?;
            setting(&format!("{}={}", words.get(at)?, words.get(at + 1)?))
        };
        if self.names_aliases {
            aliases.extend(self.invocations.iter().take(MAX_WORDS).filter_map(sets));
        }
        let mut all = Vec::new();
        for (name, value) in aliases.iter().take(MAX_VALUES) {
            let is_it = |word: &Word| word.value.known() == Some(name);
            let Some(at) = words.iter().position(is_it) else { continue };
            let rest = self.as_written(words.get(at + 1..).unwrap_or_default());
            all.push(Supposition::respelled(match value.strip_prefix('!') {
                Some(command) => format!("{command} {rest}"),
                None => format!("git {value} {rest}"),
            }));
        }
        all
    }

    /// Commands in the code of other languages.
    fn by_code(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let first = invocation.words.iter().take(MAX_WORDS_BEFORE_PROGRAM);
        let languages = first.enumerate().filter_map(|(index, word)| {
            let language = language_of(base_name(word.value.known()?))?;
            Some((index, language))
        });
        let Some((place, language)) = languages.into_iter().next() else { return Vec::new() };
        let inputs = self.inputs(at, 0);
        let input = inputs.first().map(Spelling::as_commands);
        let words = invocation.words.iter().skip(place + 1).take(MAX_WORDS);
        let mut texts: Vec<String> = Vec::new();
        for word in words {
            texts.extend(self.word(word, at, 1).all.iter().filter_map(Spelling::known));
            texts.extend(self.content(word, at, 0).iter().map(Spelling::as_commands));
        }
        let is_sed = language == super::code_texts::CodeLanguage::Sed;
        texts.extend(inputs.iter().filter(|_| !is_sed).map(Spelling::as_commands));
        let found = texts.iter().flat_map(|text| commands_in(language, text, input.as_deref()));
        found.take(MAX_VALUES * 8).map(Supposition::commands).collect()
    }

    /// The program of a package, as if it were called by its own name, with what it reads.
    fn by_runner(&self, at: usize, invocation: &Invocation) -> Vec<Supposition> {
        let place = at;
        let words: Vec<Option<&str>> =
            invocation.words.iter().take(MAX_WORDS).map(|word| word.value.known()).collect();
        let Some((program, at)) = behind_runner(&words) else { return Vec::new() };
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
