//! What the rules decide about the effects of a call: code that it runs, files that it writes, variables that it sets.

use shellgate_syntax::{Redirect, RedirectOperator, RedirectTarget, Span, Unknown, Value, Why, Word};

use super::links::has_option;
use super::{Basis, Judge, perl_opens};
use crate::calls::Call;
use crate::programs::{
    Effect, EffectKind, ProgramKind, Property, VariableRow, base_name, has, variable, words,
};
use crate::redirects::{self, FileAccess};
use crate::rules::{Prefix, Redirects};
use crate::secrets;
use crate::verdict::ReasonCode;

/// What the tables call code in the program's own language: a file of it, or a module that it finds.
const OWN_CODE: [&str; 2] = ["a script", "a module that it finds and runs"];

pub(super) const WRITES_GIT_FOLDER: &str =
    "it writes into `.git`, whose files can name programs that git runs";

/// Code that a call runs and that we can't read.
struct OpaqueCode<'a> {
    span: Span,
    message: String,
    /// The word that names the code, or is it.
    word: Option<&'a Word>,
    /// Whether it is in the program's own language.
    is_own_language: bool,
}

/// Who sees a variable that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// The programs that are started with it.
    Programs,
    /// The shell alone, unless the variable came in from outside.
    Shell,
}

impl Judge<'_> {
    /// Judges what the call does besides what its name says.
    pub(super) fn judge_effects(&mut self, call: &Call, basis: Basis) {
        if basis == Basis::None {
            return;
        }
        if basis == Basis::Everything && self.rules.restrict_something() && self.is_project_file(call) {
            let message = "it runs a program of the project, which may do anything".to_owned();
            self.ask(ReasonCode::Unknown, call.span, message);
        }
        self.judge_unlisted(call, basis);
        self.judge_repository(call, basis);
        self.judge_patch(call, basis);
        self.judge_place(call, basis);
        self.judge_build(call, basis);
        for problem in &call.problems {
            let (span, message) = (problem.span, problem.message.clone());
            let code = OpaqueCode { span, message, word: None, is_own_language: problem.is_code };
            self.judge_opaque(basis, call, &code);
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
                    self.judge_secret(word, span);
                    let shown = word.value.known().unwrap_or("…");
                    let message = format!("it runs {what}: `{shown}`");
                    let code = OpaqueCode {
                        span,
                        message,
                        word: Some(word),
                        is_own_language: OWN_CODE.contains(what),
                    };
                    self.judge_opaque(basis, call, &code);
                }
                EffectKind::Inline(word, language) => {
                    let message = format!("it runs inline {language} code");
                    self.judge_opaque(
                        basis,
                        call,
                        &OpaqueCode { span, message, word: Some(word), is_own_language: true },
                    );
                }
                EffectKind::Unusual(why) => {
                    self.ask(ReasonCode::Unusual, span, (*why).to_owned());
                }
                EffectKind::MaybeOption(_)
                    if basis == Basis::Everything && !self.rules.restrict_something() => {}
                EffectKind::MaybeOption(word) if self.is_plain_pattern(call, word) => {}
                EffectKind::MaybeOption(word) => {
                    let message = "a word that can't be known may be an option".to_owned();
                    self.ask(ReasonCode::Unknown, span, message).token = Some(word.value.lead().to_owned());
                }
                EffectKind::Assigns { name, value } => {
                    let value = value.as_ref().and_then(Value::known);
                    self.judge_variable(name.known(), value, span);
                }
                EffectKind::Writes(word) => self.judge_write(call, basis, word, span),
                EffectKind::Imports(word) => self.judge_import(call, basis, word, span),
                EffectKind::ShellInput(Some(word)) => {
                    self.judge_secret(word, span);
                }
                EffectKind::Reads(word) if call.meaning.kind != Some(ProgramKind::Builtin) => {
                    self.judge_secret(word, span);
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
        })
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
    fn is_plain_pattern(&self, call: &Call, word: &Word) -> bool {
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

    /// Judges code that can't be read: a rule that allows its program may allow it too.
    fn judge_opaque(&mut self, basis: Basis, call: &Call, code: &OpaqueCode<'_>) {
        let kind = call.meaning.kind;
        let allowed = match basis {
            Basis::Named(words) => {
                let named = call.words.iter().take(words);
                kind == Some(ProgramKind::Interpreter) && code.is_own_language
                    || code.word.is_some_and(|word| named.clone().any(|named| named.span == word.span))
            }
            Basis::Everything => {
                // A rule that allows a build tool allows what its project runs, but no code on its command line.
                !self.rules.restrict_something()
                    || kind == Some(ProgramKind::Builder) && !code.is_own_language
            }
            Basis::NotNeeded | Basis::None => false,
        };
        if !allowed {
            self.ask(ReasonCode::Unknown, code.span, code.message.clone());
        }
    }

    /// Judges a file that the program writes.
    fn judge_write(&mut self, call: &Call, basis: Basis, word: &Word, span: Span) {
        if self.is_in_git_folder(word) {
            self.ask(ReasonCode::Write, span, WRITES_GIT_FOLDER.to_owned());
            return;
        }
        if self.judge_secret(word, span) || self.asks_about_startup_file(call, word, span) {
            return;
        }
        let path = redirects::known_path(&word.value, self.machine);
        if let Some(path) = path.filter(|path| self.restricts(basis) && self.may_follow_link(path)) {
            let message =
                format!("it writes `{path}`, which may lead anywhere: through a link that the command makes");
            self.ask(ReasonCode::Outside, span, message);
            return;
        }
        let access = redirects::access_to(word, self.state.directories.as_deref(), self.machine, true);
        let access = self.with_links(access, None);
        if self.asks_about_instructions(&access, span) {
            return;
        }
        // `gnupg-ring:../x`
        let access = match access {
            FileAccess::WriteInside(path) if self.is_outside_behind_prefix(&path) => {
                FileAccess::WriteOutside(path)
            }
            access => access,
        };
        // A rule that allows a program whose purpose is writing allows that it writes.
        let is_purpose = matches!(call.meaning.kind, Some(ProgramKind::Writer | ProgramKind::Builder));
        match (access, basis, is_purpose) {
            (FileAccess::None | FileAccess::WriteInside(_), Basis::Named(_), true) => {}
            (_, Basis::Everything, true) => {}
            (FileAccess::WriteInside(_), Basis::Everything, false) if edits_in_place(call, word) => {}
            (FileAccess::WriteOutside(path), _, true) => {
                self.ask(
                    ReasonCode::Outside,
                    span,
                    format!("it writes `{path}`, outside the root or unknown"),
                );
            }
            (access, _, _) => self.judge_access(access, span),
        }
    }

    /// Whether a path leads outside the root if what stands before its colon is a prefix.
    fn is_outside_behind_prefix(&self, path: &str) -> bool {
        path.split_once(':').is_some_and(|(prefix, rest)| {
            let is_prefix = !prefix.is_empty() && prefix.chars().all(|c| c.is_alphanumeric() || c == '-');
            is_prefix && !rest.is_empty() && !self.is_inside(rest)
        })
    }

    /// Asks if a word names a file that holds secrets. Returns whether it does.
    pub(super) fn judge_secret(&mut self, word: &Word, span: Span) -> bool {
        let written = word.span.of(self.text);
        let named = secrets::named_by(&word.value, written, self.state.directories.as_deref(), self.machine);
        let named = named.or_else(|| self.secret_behind_link(word));
        let Some(path) = named else { return false };
        self.ask(ReasonCode::Outside, span, format!("it touches `{path}`, which holds secrets"));
        true
    }

    /// The secret that a word may name through a link that the text makes: `h/.ssh/id_rsa` behind `ln -s ~ h`.
    fn secret_behind_link(&self, word: &Word) -> Option<String> {
        let path = secrets::path_of(&word.value, self.machine).filter(|path| self.may_follow_link(path))?;
        secrets::ends_like_one(&path, self.machine).then_some(path)
    }

    /// Judges a folder that a program is told to work in: files in it may say what the program does.
    fn judge_directory(&mut self, call: &Call, word: &Word, span: Span) {
        let is_builtin = call.meaning.kind == Some(ProgramKind::Builtin);
        let path = redirects::known_path(&word.value, self.machine);
        if !is_builtin && !path.is_some_and(|path| self.is_inside(&path)) {
            self.ask(
                ReasonCode::Outside,
                span,
                "it works in a folder outside the root, or unknown".to_owned(),
            );
        }
    }

    /// Whether a path leads into a folder that git keeps its settings in, from any of the folders that it may start from.
    fn is_in_git_folder(&self, word: &Word) -> bool {
        let Some(path) = redirects::known_path(&word.value, self.machine) else { return false };
        let start = [self.machine.directory().to_owned()];
        let mut folders = self.state.directories.as_deref().unwrap_or(&start).iter();
        folders.any(|from| self.is_git_folder(from, &path))
    }

    /// The access to a file, if links that the text makes are followed.
    fn with_links(&self, access: FileAccess, reads: Option<&Word>) -> FileAccess {
        let links = &self.state.links;
        match access {
            FileAccess::WriteInside(path) if links.anywhere || self.may_follow_link(&path) => {
                FileAccess::WriteOutside(path)
            }
            FileAccess::None => {
                let path = reads.and_then(|word| redirects::known_path(&word.value, self.machine));
                match path.filter(|path| self.may_follow_link(path)) {
                    Some(path) => FileAccess::ReadOutside(path),
                    None => FileAccess::None,
                }
            }
            access => access,
        }
    }

    /// The rule that excludes a program of this name.
    pub(super) fn excluded_by_name(&self, name: &str) -> Option<(String, String)> {
        self.rules.exclude.iter().find_map(|entry| match &entry.prefix {
            Prefix::Words(words) if words.first().is_some_and(|word| base_name(word) == base_name(name)) => {
                Some((name.to_owned(), entry.shown.clone()))
            }
            _ => None,
        })
    }

    /// Judges a redirect of a call.
    pub(super) fn judge_redirect(&mut self, call: &Call, redirect: &Redirect) {
        let span = call.span;
        if let RedirectTarget::Word(word) = &redirect.target
            && !matches!(redirect.operator, RedirectOperator::HereString | RedirectOperator::HereDocument)
            && self.judge_secret(word, span)
        {
            return;
        }
        let access = redirects::access_of(redirect, self.state.directories.as_deref(), self.machine);
        let reads = match (&redirect.target, redirect.operator) {
            (RedirectTarget::Word(word), RedirectOperator::Read) => Some(word),
            _ => None,
        };
        let access = self.with_links(access, reads);
        if let (RedirectTarget::Word(word), FileAccess::WriteInside(_)) = (&redirect.target, &access)
            && self.is_in_git_folder(word)
        {
            self.ask(ReasonCode::Write, span, WRITES_GIT_FOLDER.to_owned());
            return;
        }
        if let (RedirectTarget::Word(word), FileAccess::WriteInside(_)) = (&redirect.target, &access)
            && self.asks_about_startup_file(call, word, span)
        {
            return;
        }
        if !self.asks_about_instructions(&access, span) {
            self.judge_access(access, span);
        }
    }

    fn judge_access(&mut self, access: FileAccess, span: Span) {
        let writes = |path: &str| format!("it writes the file `{path}`");
        match (access, self.rules.redirects) {
            (FileAccess::None, _)
            | (FileAccess::WriteInside(_), Redirects::InsideRoot | Redirects::Allow)
            | (FileAccess::WriteOutside(_), Redirects::Allow) => {}
            (FileAccess::WriteInside(path), Redirects::Ask) => {
                self.ask(ReasonCode::Write, span, writes(&path)).hint =
                    Some("`redirects = \"scope\"` allows it inside the root".to_owned());
            }
            (FileAccess::WriteOutside(path), _) => {
                self.ask(
                    ReasonCode::Outside,
                    span,
                    format!("{}, outside the root or unknown", writes(&path)),
                );
            }
            (FileAccess::ReadOutside(path), _) => {
                self.ask(
                    ReasonCode::Outside,
                    span,
                    format!("it reads `{path}`, outside the root or unknown"),
                );
            }
            (FileAccess::Connect(path), _) => {
                self.ask(ReasonCode::Outside, span, format!("it opens the network connection `{path}`"));
            }
        }
    }

    /// Judges a variable that programs get. A name or value of `None` can't be known.
    pub(super) fn judge_variable(&mut self, name: Option<&str>, value: Option<&str>, span: Span) {
        self.judge_assignment(name, value, span, Audience::Programs);
    }

    /// Judges a variable that is set for some `audience`.
    pub(super) fn judge_assignment(
        &mut self,
        name: Option<&str>,
        value: Option<&str>,
        span: Span,
        audience: Audience,
    ) {
        let matters = |row: &&VariableRow| {
            let is_seen = audience == Audience::Programs || !row.only_exported;
            is_seen && !value.is_some_and(|value| row.is_harmless(value))
        };
        // A program may run any part of a value. The shell's own variables are mostly texts; one that begins with a command
        // is likely to be run.
        let counted = if audience == Audience::Programs { usize::MAX } else { 1 };
        let excluded = |value: &str| names(value).take(counted).find_map(|name| self.excluded_by_name(name));
        let message = match name {
            None => "which variable it sets can't be known".to_owned(),
            Some(name) => match variable(name).filter(matters) {
                Some(row) => format!("it sets `{name}`: {}", row.about),
                None => match value.and_then(excluded) {
                    Some((program, _)) => format!("it sets `{name}` to `{program}`, which is excluded"),
                    None => return,
                },
            },
        };
        self.ask(ReasonCode::Assignment, span, message).token = name.map(str::to_owned);
    }
}

/// Whether a word of a call is a file that an option has it edit in place: `sed -i s/a/b/ x`.
fn edits_in_place(call: &Call, word: &Word) -> bool {
    call.meaning.entry == Some("sed")
        && has_option(call, words::SED_IN_PLACE_OPTIONS)
        && word.value.known().is_some()
        && call.words.contains(word)
}

/// The words of a text that may be names of programs.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "._-/+".contains(c))).filter(|name| !name.is_empty())
}

/// Whether a call may make the shell export every variable that it sets: `set -a`, `set -o allexport`, or another shell
/// with such an option.
pub(super) fn may_export_all(call: &Call) -> bool {
    let sets = call.program().is_some_and(|name| has(name, Property::SetsShellOptions));
    let may_export = |word: &Word| match word.value.known() {
        Some(text) => text.starts_with('-') && text.contains('a') || text == "allexport",
        None => true,
    };
    sets && call.words.iter().skip(1).any(may_export)
}
