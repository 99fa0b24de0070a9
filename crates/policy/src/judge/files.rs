//! What the rules decide about the files that a call writes or reads, by its words or its redirects.

use shellgate_syntax::{Redirect, RedirectOperator, RedirectTarget, Span, Word};

use super::links::has_option;
use super::{Basis, Judge};
use crate::calls::Call;
use crate::effect::EffectName;
use crate::programs::{Canonical, ProgramKind, words};
use crate::redirects::{self, FileAccess};
use crate::rules::Redirects;
use crate::secrets;
use crate::verdict::ReasonCode;

pub(super) const WRITES_GIT_FOLDER: &str =
    "it writes into `.git`, whose files can name programs that git runs";

impl Judge<'_> {
    /// Judges a file that the program writes.
    pub(super) fn judge_write(&mut self, call: &Call, basis: Basis, word: &Word, span: Span) {
        if self.is_in_git_folder(word) {
            self.ask(ReasonCode::Write, span, WRITES_GIT_FOLDER.to_owned());
            return;
        }
        if self.judge_secret(call, word, span) || self.asks_about_startup_file(call, word, span) {
            return;
        }
        let path = redirects::known_path(&word.value, self.machine);
        if let Some(path) = path.filter(|path| self.restricts(basis) && self.may_follow_link(path)) {
            let message =
                format!("it writes `{path}`, which may lead anywhere: through a link that the command makes");
            self.ask(ReasonCode::Outside, span, message);
            return;
        }
        let access = match self.inside_by_pattern(call, word).or_else(|| self.in_made_folder(word)) {
            Some(shown) => FileAccess::WriteInside(shown),
            None => {
                let directories = self.state.directories.as_deref();
                self.with_links(redirects::access_to(word, directories, self.machine, true), None)
            }
        };
        let access = match self.with_temporary(access) {
            FileAccess::WriteOutside(path) if self.fills_temporary(call, &path) => {
                FileAccess::WriteInside(path)
            }
            access => access,
        };
        if self.asks_about_instructions(&access, span) {
            return;
        }
        // What it deletes is a write to the tables.
        if [EffectName::Write, EffectName::Delete]
            .into_iter()
            .any(|effect| self.foretells(call, effect, word) && self.rule_allows_file(effect, word))
        {
            return;
        }
        // `gnupg-ring:../x`
        let access = match access {
            FileAccess::WriteInside(path) if self.is_outside_behind_prefix(&path) => {
                FileAccess::WriteOutside(path)
            }
            access => access,
        };
        // A rule that allows a program whose purpose is writing allows that it writes. The purpose is its operands and what
        // the tables call an output. A builder runs what writes anything inside the root.
        let is_side_file = call.meaning.side_files.contains(word);
        let is_inside = matches!(access, FileAccess::WriteInside(_));
        let is_purpose = match call.meaning.kind {
            Some(ProgramKind::Writer) => !is_side_file || is_inside && matches!(basis, Basis::Everything),
            Some(ProgramKind::Builder) => !is_side_file || is_inside,
            _ => false,
        };
        match (access, basis, is_purpose) {
            (FileAccess::None | FileAccess::WriteInside(_), Basis::Named(_), true) => {}
            (_, Basis::Everything, true) => {}
            (FileAccess::WriteInside(_), Basis::Everything, false) if edits_in_place(call, word) => {}
            (FileAccess::WriteInside(_), _, false) if runs_writing_module(call) => {}
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
    pub(super) fn judge_secret(&mut self, call: &Call, word: &Word, span: Span) -> bool {
        let named = self.secret_named(call, word);
        self.ask_about_secret(named, word, span)
    }

    /// The same for a file that is read: it may also be one that the text names elsewhere, or hold some.
    pub(super) fn judge_secret_read(&mut self, call: &Call, word: &Word, span: Span) -> bool {
        let named = self.secret_read(call, word);
        self.ask_about_secret(named, word, span)
    }

    fn ask_about_secret(&mut self, named: Option<String>, word: &Word, span: Span) -> bool {
        let named = named.or_else(|| self.secret_behind_link(word));
        let Some(path) = named else { return false };
        if self.rule_allows_file(EffectName::Secret, word) {
            return false;
        }
        self.ask(ReasonCode::Outside, span, format!("it touches `{path}`, which holds secrets"));
        true
    }

    /// The secret that a word may name through a link that the text makes: `h/.ssh/id_rsa` behind `ln -s ~ h`.
    fn secret_behind_link(&self, word: &Word) -> Option<String> {
        let path = secrets::path_of(&word.value, self.machine).filter(|path| self.may_follow_link(path))?;
        secrets::ends_like_one(&path, self.machine).then_some(path)
    }

    /// Judges a folder that a program is told to work in: files in it may say what the program does.
    pub(super) fn judge_directory(&mut self, call: &Call, word: &Word, span: Span) {
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
    pub(super) fn is_in_git_folder(&self, word: &Word) -> bool {
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

    /// The access to a file, where what is below the folder for temporary files is as free as what is inside the root.
    fn with_temporary(&self, access: FileAccess) -> FileAccess {
        match access {
            FileAccess::WriteOutside(path) if self.is_temporary(&path) => FileAccess::WriteInside(path),
            access => access,
        }
    }

    /// Judges a redirect of a call.
    pub(super) fn judge_redirect(&mut self, call: &Call, redirect: &Redirect) {
        let span = call.span;
        if let RedirectTarget::Word(word) = &redirect.target
            && !matches!(redirect.operator, RedirectOperator::HereString | RedirectOperator::HereDocument)
            && {
                let named = self.secret_redirected(call, redirect);
                self.ask_about_secret(named, word, span)
            }
        {
            return;
        }
        let access = redirects::access_of(redirect, self.state.directories.as_deref(), self.machine);
        let reads = match (&redirect.target, redirect.operator) {
            (RedirectTarget::Word(word), RedirectOperator::Read) => Some(word),
            _ => None,
        };
        let access = match &redirect.target {
            RedirectTarget::Word(word) if reads.is_none() && access != FileAccess::None => {
                self.in_made_folder(word).map_or(access, FileAccess::WriteInside)
            }
            _ => access,
        };
        // `wc -l < "$f"` in a loop over names.
        let is_looped = |word: &Word| {
            let written = call.written(word).unwrap_or_default();
            written.contains('$') && self.loop_stays(call, written)
        };
        let access = match reads {
            Some(word) if is_looped(word) => FileAccess::None,
            _ => self.with_temporary(self.with_links(access, reads)),
        };
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
        let is_allowed = match (&redirect.target, &access) {
            (RedirectTarget::Word(word), FileAccess::WriteInside(_) | FileAccess::WriteOutside(_)) => {
                self.rule_allows_file(EffectName::Write, word)
            }
            (RedirectTarget::Word(word), FileAccess::ReadOutside(_)) => {
                self.rule_allows_file(EffectName::Read, word)
            }
            _ => false,
        };
        if !self.asks_about_instructions(&access, span) && !is_allowed {
            self.judge_access(access, span);
        }
    }

    /// Whether a call does this to the file that a word names.
    fn foretells(&self, call: &Call, effect: EffectName, word: &Word) -> bool {
        let path = redirects::known_path(&word.value, self.machine);
        !self.effect_rules.is_empty()
            && path.is_some()
            && self.foretell(call).iter().any(|one| one.effect == effect && one.target == path)
    }

    fn judge_access(&mut self, access: FileAccess, span: Span) {
        let writes = |path: &str| format!("it writes the file `{path}`");
        match (access, self.rules.output()) {
            (FileAccess::None, _)
            | (FileAccess::WriteInside(_), Redirects::InsideRoot | Redirects::Allow)
            | (FileAccess::WriteOutside(_), Redirects::Allow) => {}
            // A preset frees reading, and the most open one everything.
            (FileAccess::ReadOutside(_), _) if self.rules.preset.is_some() => {}
            (FileAccess::Connect(_), _) if self.rules.frees_everything() => {}
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
}

/// Whether a call runs a module of python whose purpose is writing: `python3 -m venv d`.
fn runs_writing_module(call: &Call) -> bool {
    call.meaning.canonical.iter().any(|one| match one {
        Canonical::Option(name, Some(value)) if name == "-m" => {
            value.known().is_some_and(|module| words::PYTHON_WRITING_MODULES.contains(&module))
        }
        _ => false,
    })
}

/// Whether a word of a call is a file that an option has it edit in place: `sed -i s/a/b/ x`.
fn edits_in_place(call: &Call, word: &Word) -> bool {
    call.meaning.entry == Some("sed")
        && has_option(call, words::SED_IN_PLACE_OPTIONS)
        && word.value.known().is_some()
        && call.words.contains(word)
}
