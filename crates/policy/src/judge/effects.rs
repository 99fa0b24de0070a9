//! What the rules decide about the effects of a call, one after the other: code that it runs is judged here, files in
//! [`super::files`], variables in [`super::variables`].

use shellgate_syntax::{Span, Unknown, Value, Why, Word};

use super::{Basis, Judge, perl_opens};
use crate::calls::Call;
use crate::matching;
use crate::programs::{Effect, EffectKind, ProgramKind, Property, base_name, has, listed_name};
use crate::redirects::{self, FileAccess};
use crate::verdict::ReasonCode;

/// What the tables call code in the program's own language: a file of it, or a module that it finds.
const OWN_CODE: [&str; 2] = ["a script", "a module that it finds and runs"];

/// What the tables call a command line that is a word of the call, and can't be split.
const OWN_COMMAND_LINES: [&str; 3] = [
    "a command line that can't be split with certainty",
    "a command that can't be known",
    "a command line for the linker",
];

/// Code that a call runs and that we can't read.
struct OpaqueCode<'a> {
    span: Span,
    message: String,
    /// The word that names the code, or is it.
    word: Option<&'a Word>,
    /// Whether it is in the program's own language.
    is_own_language: bool,
    /// Whether the text itself says it, and no file of the project: a word, standard input, another descriptor.
    is_of_text: bool,
}

impl Judge<'_> {
    /// Judges what the call does besides what its name says.
    pub(super) fn judge_effects(&mut self, call: &Call, basis: Basis) {
        if basis == Basis::None {
            return;
        }
        let may_be_any = match basis {
            Basis::Everything => self.rules.restrict_something() && self.is_project_file(call),
            Basis::Named(_) => self.is_elsewhere(call),
            Basis::NotNeeded | Basis::None => false,
        };
        if may_be_any && !self.rules.holds_any_code() {
            let message = "it runs a program of the project, which may do anything".to_owned();
            self.ask(ReasonCode::Unknown, call.span, message);
        }
        self.judge_unlisted(call, basis);
        self.judge_repository(call, basis);
        self.judge_patch(call, basis);
        self.judge_place(call, basis);
        self.judge_build(call, basis);
        self.judge_content(call, basis);
        for problem in &call.problems {
            if self.is_named_script(call, basis, &problem.message) {
                continue;
            }
            let (span, message) = (problem.span, problem.message.clone());
            let is_own_language = problem.is_code;
            let code = OpaqueCode { span, message, word: None, is_own_language, is_of_text: true };
            self.judge_opaque(basis, call, &code);
        }
        for secret in self.secrets_in_code(call) {
            let message = format!("its code names `{secret}`, which holds secrets");
            self.ask(ReasonCode::Outside, call.span, message);
        }
        for effect in &call.meaning.effects {
            let span = if call.in_wrapper { call.span } else { effect.span };
            // Some programs take `|command` as a file, and start the command.
            if let EffectKind::Writes(word) | EffectKind::Reads(word) | EffectKind::Uses(word) = &effect.kind
                && (perl_opens::may_be_command(word)
                    // dvips
                    || matches!(effect.kind, EffectKind::Writes(_)) && word.value.lead().starts_with('!'))
            {
                self.ask(ReasonCode::Unknown, span, perl_opens::MESSAGE.to_owned());
                continue;
            }
            match &effect.kind {
                EffectKind::Opaque(word, what) => {
                    self.judge_secret(call, word, span);
                    if self.is_named_elsewhere(call, basis, word, what) {
                        continue;
                    }
                    let shown = word.value.known().unwrap_or("…");
                    let message = format!("it runs {what}: `{shown}`");
                    let code = OpaqueCode {
                        span,
                        message,
                        word: Some(word),
                        is_own_language: OWN_CODE.contains(what),
                        is_of_text: OWN_COMMAND_LINES.contains(what) || self.names_descriptor(word),
                    };
                    self.judge_opaque(basis, call, &code);
                }
                EffectKind::Inline(word, language) => {
                    let message = format!("it runs inline {language} code");
                    let (word, is_own_language) = (Some(word), true);
                    let code = OpaqueCode { span, message, word, is_own_language, is_of_text: true };
                    self.judge_opaque(basis, call, &code);
                }
                // What builtins do to the shell matters only if there is something that it may not run.
                EffectKind::Unusual(_)
                    if call.meaning.kind == Some(ProgramKind::Builtin) && !self.rules.forbid_something() => {}
                EffectKind::Unusual(_) if basis == Basis::Everything && self.rules.frees_everything() => {}
                EffectKind::Unusual(why) => {
                    self.ask(ReasonCode::Unusual, span, (*why).to_owned());
                }
                EffectKind::MaybeOption(_)
                    if basis == Basis::Everything && !self.rules.restrict_something() => {}
                EffectKind::MaybeOption(word) if self.is_plain_pattern(call, word) => {}
                EffectKind::MaybeOption(word)
                    if self.is_listed_inside(call, word) || self.is_plain_listed(call, word) => {}
                EffectKind::MaybeOption(word) => {
                    let message = "a word that can't be known may be an option".to_owned();
                    self.ask(ReasonCode::Unknown, span, message).token = Some(word.value.lead().to_owned());
                }
                EffectKind::Assigns { name, value } => {
                    self.judge_assigning_word(call, name, value.as_ref(), span);
                }
                EffectKind::Writes(word) => self.judge_write(call, basis, word, span),
                EffectKind::Imports(word) => self.judge_import(call, basis, word, span),
                EffectKind::ShellInput(Some(word)) => {
                    self.judge_secret(call, word, span);
                }
                EffectKind::Reads(word) if call.meaning.kind != Some(ProgramKind::Builtin) => {
                    self.judge_secret_read(call, word, span);
                }
                EffectKind::Directory(Some(word)) if matches!(basis, Basis::Named(_)) => {
                    self.judge_directory(call, word, span)
                }
                _ => {}
            }
        }
    }

    /// Whether the program is a file that agents may write: one inside the root, or one that doesn't exist yet.
    fn is_project_file(&self, call: &Call) -> bool {
        let name = call.program().filter(|name| name.contains('/'));
        name.is_some_and(|name| match self.machine.program_file(name) {
            Some(file) => file.starts_with(self.machine.root()),
            None => true,
        }) || self.is_elsewhere(call)
    }

    /// Whether the program is named by a path that starts from another folder than the command does.
    fn is_elsewhere(&self, call: &Call) -> bool {
        let is_relative = |name: &str| name.contains('/') && !name.starts_with('/');
        let is_start =
            matches!(self.state.directories.as_deref(), Some([one]) if one == self.machine.directory());
        call.program().is_some_and(is_relative) && !is_start
    }

    /// Whether a call may make files.
    pub(super) fn may_write(&self, call: &Call) -> bool {
        let writes = |effect: &Effect| {
            matches!(effect.kind, EffectKind::Writes(_) | EffectKind::Opaque(..) | EffectKind::Inline(..))
        };
        let harmless = call.words.is_empty()
            || matches!(
                call.meaning.kind,
                Some(ProgramKind::Reader | ProgramKind::Builtin | ProgramKind::Wrapper)
            ) && !call.meaning.effects.iter().any(writes);
        let access =
            |redirect| redirects::access_of(redirect, self.state.directories.as_deref(), self.machine);
        !harmless
            || call.redirects.iter().any(|redirect| {
                matches!(access(redirect), FileAccess::WriteInside(_) | FileAccess::WriteOutside(_))
            })
    }

    /// Whether a pattern can't become an option (`sort *.txt`): no name in the folder begins with a dash, and no other call
    /// of the command makes files.
    pub(super) fn is_plain_pattern(&self, call: &Call, word: &Word) -> bool {
        let Value::Unknown(Unknown { lead, why: Why::Glob, .. }) = &word.value else { return false };
        let Some([directory]) = self.state.directories.as_deref() else { return false };
        // Among the words of a wrapper or a shell, a pattern that becomes none or several moves what it runs.
        let runs_words = matches!(
            call.meaning.kind,
            Some(ProgramKind::Wrapper | ProgramKind::Shell | ProgramKind::Interpreter | ProgramKind::Builtin)
        ) || call.meaning.has_subcommands;
        if runs_words && call.words.last() != Some(word) {
            return false;
        }
        let dashed = |entry: &std::fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b"-");
        self.writing_calls == usize::from(self.may_write(call))
            && lead.is_empty()
            && std::fs::read_dir(directory)
                .is_ok_and(|entries| !entries.flatten().any(|entry| dashed(&entry)))
    }

    /// Whether code that can't be read may run where everything may: nothing is forbidden that it could run. A rule that
    /// allows a build tool allows what its project runs, but no code that the text brings.
    fn is_held(&self, kind: Option<ProgramKind>, code: &OpaqueCode<'_>) -> bool {
        !self.rules.restrict_something()
            || kind == Some(ProgramKind::Builder) && !code.is_own_language && !code.is_of_text
    }

    /// Whether the code is what its program is for: a makefile of the project for make, a tool for npx.
    fn runs_project_file(&self, call: &Call, code: &OpaqueCode<'_>) -> bool {
        let path = code.word.and_then(|word| word.value.known());
        let is = |property| call.meaning.entry.is_some_and(|name| has(name, property));
        let is_file = is(Property::BuildsByFile) && path.is_some_and(|path| self.is_inside(path));
        let is_plain_name = |name: &str| !name.contains(['/', ':', '\\']);
        let is_tool = is(Property::RunsTools) && code.is_own_language && path.is_some_and(is_plain_name);
        (is_file || is_tool) && !code.is_of_text && self.writing_calls <= 1
    }

    /// Judges code that can't be read: a rule that allows its program may allow it too.
    fn judge_opaque(&mut self, basis: Basis, call: &Call, code: &OpaqueCode<'_>) {
        let kind = call.meaning.kind;
        let allowed = match basis {
            Basis::Named(words) => {
                let named = call.words.iter().take(words);
                kind == Some(ProgramKind::Interpreter) && code.is_own_language
                    || self.runs_project_file(call, code)
                    || code.word.is_some_and(|word| named.clone().any(|named| named.span == word.span))
            }
            Basis::Everything => self.is_held(kind, code),
            Basis::NotNeeded | Basis::None => false,
        };
        let is_free = self.rules.frees_code() && (!self.rules.deny_programs() || self.is_held(kind, code));
        if !allowed && !is_free {
            self.ask(ReasonCode::Unknown, code.span, code.message.clone());
        }
    }

    /// Whether a name is the one that a rule has, or another name of the same file: `cc` of `gcc`.
    fn is_program(&self, name: &str, wanted: &str) -> bool {
        base_name(name) == base_name(wanted)
            || !name.contains('/')
                && listed_name(name).is_some_and(|own| Some(own) == listed_name(wanted))
                && self
                    .machine
                    .remember_match(name, wanted, || matching::is_program(name, wanted, self.machine))
    }

    /// The rule that excludes a program of this name.
    pub(super) fn excluded_by_name(&self, name: &str) -> Option<(String, String)> {
        let excluded = self
            .rules
            .exclude
            .iter()
            .find(|entry| entry.prefix.words().first().is_some_and(|word| self.is_program(name, word)));
        excluded.map(|entry| (name.to_owned(), entry.shown.clone()))
    }
}

/// The words of a text that may be names of programs.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "._-/+".contains(c))).filter(|name| !name.is_empty())
}
