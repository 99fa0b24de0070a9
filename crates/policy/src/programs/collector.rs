//! Collects the meaning of a call while it is read: its canonical form, and its effects.
//!
//! [`Collector::role`] says what effect a word has in its role. Roles with a small language of their own are functions in
//! [`special`].

use super::form::Role;
use super::special;
use super::{CallMeaning, Canonical, Effect, EffectKind};
use shellgate_syntax::{Span, Unknown, Value, Word};

/// Other names of standard input.
const STDIN_PATHS: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Whether a text is only a name or a path of what is loaded, perhaps with a list behind `=`: no code in any language. In Perl a blank,
/// a comma or a plus before the list would do.
fn is_module_name(text: &str, language: &str) -> bool {
    let plain = |part: &str, signs: &str| part.chars().all(|c| c.is_alphanumeric() || signs.contains(c));
    if language == "perl" {
        let (name, list) = text.split_once('=').unwrap_or((text, ""));
        return plain(name, "_:./-") && plain(list, "_:./-,!");
    }
    plain(text, "_:./-+@%,=~ ")
}

/// The meaning of a call, as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) meaning: CallMeaning,
    /// Where the whole call is, for effects that no single word has.
    pub(crate) span: Span,
    /// Options before a subcommand, which are no part of the canonical form.
    pub(crate) globals: Vec<Canonical>,
    /// Whether the call names what to run, so that standard input is only data.
    pub(crate) names_code: bool,
    /// Whether the last piece of a script ends in the middle of a text.
    pub(crate) has_open_text: bool,
    /// Whether the program only prints something and ends.
    pub(crate) prints: bool,
}

impl Collector {
    /// Adds an effect of a word.
    pub(crate) fn effect(&mut self, word: &Word, kind: EffectKind) {
        self.meaning.effects.push(Effect { span: word.span, kind });
    }

    /// Adds an effect of the call as a whole.
    pub(crate) fn call_effect(&mut self, kind: EffectKind) {
        self.meaning.effects.push(Effect { span: self.span, kind });
    }

    /// Adds a plain word to the canonical form.
    pub(crate) fn word(&mut self, value: Value) {
        self.meaning.canonical.push(Canonical::Word(value));
    }

    /// Adds an option to the canonical form.
    pub(crate) fn option(&mut self, name: &str, value: Option<Value>) {
        self.meaning.canonical.push(Canonical::Option(name.to_owned(), value));
    }

    /// Notes that the files that effects from this one on write are named by an option beside the program's purpose.
    pub(crate) fn note_side_files(&mut self, from: usize) {
        let added = self.meaning.effects.iter().skip(from);
        let written = added.filter_map(|effect| match &effect.kind {
            EffectKind::Writes(word) => Some(word.clone()),
            _ => None,
        });
        self.meaning.side_files.extend(written);
    }

    /// Notes the options that words of the call stand for.
    pub(crate) fn find_implied(&mut self) {
        // The program and its subcommands are no operands.
        let names = 1 + self.meaning.subcommands.len();
        let own = self.meaning.canonical.iter().skip(names);
        let is_given = |name: &str| {
            let mut own = self.meaning.canonical.iter();
            own.any(|part| matches!(part, Canonical::Option(given, _) if given == name))
        };
        let synonyms = self.meaning.synonyms.iter();
        let synonyms = synonyms.filter(|synonym| !synonym.unless.iter().any(|name| is_given(name)));
        let synonyms: Vec<_> = synonyms.collect();
        let mut implied: Vec<&'static str> = Vec::new();
        implied
            .extend(synonyms.iter().filter(|synonym| synonym.is_always()).flat_map(|synonym| &synonym.meant));
        for part in own.chain(&self.globals) {
            let fitting = synonyms.iter().filter(|synonym| synonym.fits(part));
            implied.extend(fitting.flat_map(|synonym| &synonym.meant));
        }
        self.meaning.implied.extend(implied);
    }

    /// Adds a command that the call runs. `more_words`: words are added when it runs.
    pub(crate) fn runs(&mut self, words: &[Word], more_words: bool) {
        if let Some(first) = words.first() {
            self.names_code = true;
            let span = span_of(words).unwrap_or(first.span);
            let kind = EffectKind::Argv { words: words.to_vec(), more_words };
            self.meaning.effects.push(Effect { span, kind });
            // No program has a blank in its name. Some wrappers split such a word, or give it to a shell.
            if first.value.known().is_some_and(|name| name.trim().contains([' ', '\t', '\n'])) {
                self.effect(first, EffectKind::Shell(first.clone()));
            }
        }
    }

    /// Adds the effect of all further words, which have one role together.
    pub(crate) fn rest(&mut self, role: Role, words: &[Word]) {
        match role {
            Role::Command => self.runs(words, false),
            Role::CommandMore => self.runs(words, true),
            Role::Shell => {
                if let Some(text) = joined(words) {
                    self.names_code = true;
                    self.effect(&text, EffectKind::Shell(text.clone()));
                }
            }
            Role::Remote => {
                if let Some(text) = joined(words) {
                    self.names_code = true;
                    self.effect(
                        &text,
                        EffectKind::Opaque(text.clone(), "a command that runs in another place"),
                    );
                }
            }
            _ => {}
        }
    }

    /// Adds the effects of a word in its role. `language` is the language of the program's code.
    pub(crate) fn role(&mut self, role: Role, word: &Word, language: &'static str) {
        let own = word.clone();
        let dash = word.value.known() == Some("-");
        match role {
            // `read` puts the words of `env -S` in their place.
            Role::Data | Role::Args | Role::EnvSplit => {}
            Role::CommandUntil => self.runs(&[own], true),
            Role::Path if !dash => self.effect(word, EffectKind::Reads(own)),
            Role::Key => self.effect(word, EffectKind::Uses(own)),
            Role::Write | Role::Output if !dash => self.effect(word, EffectKind::Writes(own)),
            Role::Path | Role::Write | Role::Output => {}
            Role::List => {
                if !dash {
                    self.effect(word, EffectKind::Reads(own.clone()));
                }
                self.effect(word, EffectKind::Opaque(own, "a list of files that isn't known"));
            }
            Role::Paths => self.paths(word),
            Role::Url | Role::WriteUrl if special::hides_scheme(word) => {
                self.effect(word, EffectKind::Unusual("has an address whose beginning is a pattern"));
            }
            Role::Url | Role::AtFile | Role::Form | Role::KeyPath => {
                if let Some(path) = special::path_in(role, word) {
                    self.effect(word, EffectKind::Reads(path));
                }
            }
            Role::KeyWrite => self.key_writes(word),
            Role::Directory => self.effect(word, EffectKind::Directory(Some(own))),
            Role::Program => self.runs(&[own], true),
            Role::Split => self.split(word),
            Role::CommaCommand => self.split_at_commas(word),
            Role::WriteUrl => {
                if let Some(path) = special::path_in(Role::Url, word) {
                    self.effect(word, EffectKind::Writes(path));
                }
            }
            Role::RustCodegen => special::rust_codegen(word, self),
            Role::CargoConfig => special::cargo_config(word, self),
            Role::Shell | Role::Function => {
                self.names_code = true;
                self.effect(word, EffectKind::Shell(own));
            }
            Role::Callback => {
                self.names_code = true;
                let value = match own.value {
                    Value::Known(text) => Value::Known(format!("{text} \"$@\"")),
                    unknown => unknown,
                };
                self.effect(word, EffectKind::Shell(Word { value, ..own }));
            }
            Role::Command | Role::CommandMore | Role::Remote => self.rest(role, &[own]),
            Role::Code => {
                self.names_code = true;
                self.effect(word, EffectKind::Inline(own, language));
            }
            Role::Script => {
                self.names_code = true;
                let kind = if dash {
                    EffectKind::OpaqueInput(language)
                } else {
                    EffectKind::Opaque(own, "a script")
                };
                self.effect(word, kind);
            }
            Role::ShellScript => {
                self.names_code = true;
                self.effect(word, EffectKind::ShellInput((!dash).then_some(own)));
            }
            Role::Module => {
                self.names_code = true;
                self.effect(word, EffectKind::Opaque(own, "a module that it finds and runs"));
            }
            Role::PackageScript => special::package_script(word, self, language),
            Role::PythonModule => special::python_module(word, self),
            Role::Load => {
                // Some programs put the name of what they load into code that they evaluate.
                if word.value.known().is_some_and(|name| !is_module_name(name, language)) {
                    self.effect(word, EffectKind::Inline(own.clone(), language));
                }
                self.effect(word, EffectKind::Opaque(own, "code that it loads"));
            }
            Role::Config if word.value.known() == Some("/dev/null") => {}
            Role::Config if dash || word.value.known().is_some_and(|path| STDIN_PATHS.contains(&path)) => {
                self.effect(word, EffectKind::OpaqueInput("its own"));
            }
            Role::Config => {
                self.effect(word, EffectKind::Reads(own.clone()));
                self.effect(word, EffectKind::Opaque(own, "settings that can name programs"));
            }
            Role::Assign => self.assigns(word),
            Role::Variable => self.variable(word),
            Role::Arithmetic => self.effect(word, EffectKind::Arithmetic(own)),
            Role::Alias => special::alias(word, self),
            Role::TrapText => special::trap_text(word, self),
            Role::Expands => special::expands(word, self),
            Role::SedScript => special::sed_script(word, self),
            Role::VariableName => {
                let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if !word.value.known().is_some_and(is_name) {
                    self.effect(word, EffectKind::Unusual("gives a word to a shell"));
                }
            }
            Role::BackupSuffix => special::backup_suffix(word, self),
            Role::PathPrefix => special::path_prefix(word, self),
            Role::Sql => special::sql(word, self),
            Role::SqliteFile => special::sqlite_file(word, self),
            Role::AwkProgram => special::awk_program(word, self),
            Role::GitConfig => special::git_config(word, self),
            Role::SocatAddress => special::socat_address(word, self),
            Role::SshOption => special::ssh_option(word, self),
            Role::EditorCommand => special::editor_command(word, self),
            Role::Name
            | Role::Package
            | Role::Loose
            | Role::LooseWrite
            | Role::Harmless
            | Role::PerlFile
            | Role::Source
            | Role::HostPath
            | Role::HostWrite
            | Role::Volume
            | Role::Mount
            | Role::Response => {
                special::place(role, word, self);
            }
            Role::GitRemote | Role::GitSource => special::git_remote(role, word, self),
            Role::GitFolder | Role::GitRepository => special::git_place(role, word, self),
            Role::Makefile => special::makefile(word, self),
            Role::JqProgram => special::jq_program(word, self),
            Role::GitFormat => special::git_format(word, self),
            Role::SshJump => special::ssh_jump(word, self),
            Role::Toolchain => special::toolchain(word, self),
            Role::MakeWord => special::make_word(word, self),
            Role::CurlData | Role::CurlCookie | Role::CurlFormat | Role::CurlOutput | Role::CurlUpload => {
                special::curl_value(role, word, self);
            }
            Role::Settings => special::settings(word, self),
            Role::Linker => special::linker_flags(word, self),
            Role::TarAction => special::tar_action(word, self),
            Role::TexWord => special::tex_word(word, self),
            Role::DebuggerCommand => special::debugger_command(word, self),
            Role::NewRoot => special::new_root(word, self),
            Role::Bind => special::bind(word, self),
            Role::BareName => special::bare_name(word, self, language),
            Role::PlainValues => special::plain_values(word, self),
            Role::OutputPlace => special::output_place(word, self),
            Role::PipeOrWrite => special::pipe_or_write(word, self),
            Role::Tape => special::tape(word, self),
            Role::ServerOptions => special::server_options(word, self),
            Role::PgConnection => special::pg_connection(word, self),
            Role::CmakeSetting => special::cmake_setting(word, self),
        }
    }

    /// Adds the files in `key=PATH,key=PATH`, which are written. What can't be known may name one.
    fn key_writes(&mut self, word: &Word) {
        let Some(text) = word.value.known() else {
            return self.effect(word, EffectKind::Writes(word.clone()));
        };
        for (_, path) in text.split(',').filter_map(|part| part.split_once('=')) {
            self.effect(word, EffectKind::Writes(with_text(word, path)));
        }
    }

    /// Adds the effects of paths with `:` between.
    fn paths(&mut self, word: &Word) {
        match word.value.known() {
            Some(text) => {
                for part in text.split(':').filter(|part| !part.is_empty()) {
                    self.effect(word, EffectKind::Reads(with_text(word, part)));
                }
            }
            None => self.effect(word, EffectKind::Reads(word.clone())),
        }
    }

    /// Adds the command of a command line that the program splits at blanks.
    fn split(&mut self, word: &Word) {
        match word.value.known() {
            Some(text) if !text.contains(['"', '\'', '\\']) => {
                let words: Vec<Word> =
                    text.split_ascii_whitespace().map(|part| with_text(word, part)).collect();
                self.runs(&words, true);
            }
            _ => {
                self.names_code = true;
                self.effect(
                    word,
                    EffectKind::Opaque(word.clone(), "a command line that can't be split with certainty"),
                );
            }
        }
    }

    /// Adds the command of a command line with commas between its words.
    fn split_at_commas(&mut self, word: &Word) {
        match word.value.known() {
            Some(text) => {
                let words: Vec<Word> = text.split(',').map(|part| with_text(word, part)).collect();
                self.runs(&words, true);
            }
            None => self.effect(word, EffectKind::Opaque(word.clone(), "a command that can't be known")),
        }
    }

    /// Adds an assignment: `NAME=VALUE`, `NAME+=VALUE`, `NAME[SUBSCRIPT]=VALUE`.
    fn assigns(&mut self, word: &Word) {
        let lead = word.value.lead();
        let Some((left, _)) = lead.split_once('=') else {
            let name = word.value.clone();
            self.effect(word, EffectKind::Assigns { name, value: None });
            return;
        };
        let value = after(word, left.len() + 1).map(|word| word.value);
        let left = left.strip_suffix('+').unwrap_or(left);
        if left.contains('[') {
            // In `a[b=1]=c` the first `=` is part of the subscript.
            let is_whole = left.ends_with(']')
                && left.matches(['[', ']']).count() == 2
                && !left.contains(['$', '`', '"', '\'', '\\']);
            let name = if is_whole { with_text(word, left) } else { word.clone() };
            self.subscript(&name);
        }
        let name = Value::Known(left.split('[').next().unwrap_or(left).to_owned());
        self.effect(word, EffectKind::Assigns { name, value });
    }

    /// Adds a variable that gets a value that isn't in the call. Its name may have a subscript.
    fn variable(&mut self, word: &Word) {
        let name = match &word.value {
            Value::Known(text) => Value::Known(text.split('[').next().unwrap_or(text).to_owned()),
            unknown @ Value::Unknown(_) => unknown.clone(),
        };
        self.subscript(word);
        self.effect(word, EffectKind::Assigns { name, value: None });
    }

    /// Adds the subscript of a variable's name, which the shell evaluates. A name that isn't known may have one.
    pub(crate) fn subscript(&mut self, name: &Word) {
        match name.value.known().map(|text| text.split_once('[')) {
            None => self.effect(name, EffectKind::Arithmetic(name.clone())),
            Some(Some((_, rest))) => {
                let subscript = with_text(name, rest.strip_suffix(']').unwrap_or(rest));
                self.effect(name, EffectKind::Arithmetic(subscript));
            }
            Some(None) => {}
        }
    }
}

/// A word with this text, at the place of `word`.
pub(crate) fn with_text(word: &Word, text: &str) -> Word {
    Word { span: word.span, value: Value::Known(text.to_owned()) }
}

/// The word without its first `bytes`. `None` if so many aren't known.
pub(crate) fn after(word: &Word, bytes: usize) -> Option<Word> {
    let lead = word.value.lead().get(bytes..)?.to_owned();
    let value = match &word.value {
        Value::Known(_) => Value::Known(lead),
        Value::Unknown(unknown) => Value::Unknown(Unknown { lead, ..unknown.clone() }),
    };
    Some(Word { span: word.span, value })
}

/// The span from the first word to the last. Words that were put in from elsewhere may be in any order.
pub(crate) fn span_of(words: &[Word]) -> Option<Span> {
    let start = words.iter().map(|word| word.span.start).min()?;
    let end = words.iter().map(|word| word.span.end).max()?;
    Some(Span::new(start, end))
}

/// The words joined by blanks, as `eval` and `ssh` join them. `None` if there is no word.
pub(crate) fn joined(words: &[Word]) -> Option<Word> {
    let span = span_of(words)?;
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        match &word.value {
            Value::Known(known) => text.push_str(known),
            Value::Unknown(unknown) => {
                text.push_str(&unknown.lead);
                let value = Value::Unknown(Unknown {
                    lead: text,
                    splits: false,
                    why: unknown.why.clone(),
                    tail: None,
                });
                return Some(Word { span, value });
            }
        }
    }
    Some(Word { span, value: Value::Known(text) })
}
