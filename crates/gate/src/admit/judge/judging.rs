//! The judge: it needs settings, a root and PATH, but no state folder, session or keeper.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use shellgate_policy::Protected;

use super::{Decision, Granted, Preset, RuleSet, Verdict, Where, check_scope};
use crate::admit::earlier_approval::CheckedSession;
use crate::admit::trial::has_trials;
use crate::confine;
use crate::confine::guard::ProgramRules;
use crate::intake::dialect::{DefaultApproval, DefaultPreset};
use crate::intake::request::{Action, Request, Words};
use crate::root::{Root, WorkingDirectory};
use crate::settings::{ApprovalMode, LayerFile, Origin, RootSource, Settings};
use crate::sys::shell;
use crate::views::SettingsView;
use crate::{Code, ErrorObject};

/// Decides whether a request may run. A [`Gate`](crate::Gate) has one;
/// [`GateBuilder::judge`](crate::GateBuilder::judge) makes one alone.
#[derive(Debug)]
pub struct Judge {
    pub(crate) settings: Settings,
    pub(crate) root: Root,
    pub(crate) search_path: Option<OsString>,
    /// The files and folders that the settings come from.
    pub(crate) settings_places: Vec<PathBuf>,
    /// The places that commands can write, without links.
    pub(crate) writable: Vec<PathBuf>,
    /// The session whose grants count, for a judge without a gate.
    pub(crate) session: Option<CheckedSession>,
    /// The settings files that were looked for.
    pub(crate) files: Vec<LayerFile>,
    /// What named the root.
    pub(crate) root_source: RootSource,
    /// What happens to a command that needs approval when the settings don't say it.
    pub(crate) default_approval: DefaultApproval,
    book: RuleSet,
    protected: Protected,
}

impl Judge {
    pub(crate) fn new(
        settings: Settings,
        root: Root,
        search_path: Option<OsString>,
        protected: Protected,
        default_preset: DefaultPreset,
    ) -> Self {
        let book = RuleSet::new(&settings, default_preset);
        Self {
            settings,
            root,
            search_path,
            settings_places: Vec::new(),
            writable: Vec::new(),
            session: None,
            files: Vec::new(),
            root_source: RootSource::Default,
            default_approval: DefaultApproval::default(),
            book,
            protected,
        }
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What is in force, for a person.
    #[must_use]
    pub fn settings_view(&self) -> SettingsView {
        SettingsView::new(&self.settings, self.preset(), &self.files, self.root.path(), self.root_source)
    }

    /// The preset in force: what is allowed where no rule says anything.
    #[must_use]
    pub fn preset(&self) -> Option<Preset> {
        self.book.rules.preset
    }

    /// The rules about programs, for the guard.
    pub(crate) fn program_rules(&self) -> ProgramRules {
        self.book.program_rules()
    }

    /// What the rules say about `request`.
    ///
    /// # Errors
    /// When there is nothing to judge: `invalid_input`, `out_of_scope`, `inline_eval`.
    pub fn judge(&self, request: &Request) -> Result<Verdict, ErrorObject> {
        request.check()?;
        let directory = self.root.directory(request.directory.as_deref())?;
        self.check_words(request, &directory)?;
        Ok(self.judge_in(request, &directory))
    }

    /// The decision of `approval.mode` in place of a person, and where it is set. `None`: a person decides, or nothing has
    /// to be decided.
    #[must_use]
    pub fn decision_by_mode(&self, verdict: &Verdict) -> Option<(Decision, String)> {
        let decision = match (verdict.decision(), self.settings.approval.mode?) {
            (Decision::Ask, ApprovalMode::Allow) => Decision::Allow,
            (Decision::Ask, ApprovalMode::Deny) => Decision::Deny,
            _ => return None,
        };
        let origin = self.settings.origin("approval.mode").map(ToString::to_string).unwrap_or_default();
        Some((decision, format!("approval.mode = {} ({origin})", decision.name())))
    }

    /// Whether a command that a person would be asked about is tried first.
    pub(crate) fn tries_first(&self) -> bool {
        let sandbox = &self.settings.sandbox;
        let is_chosen = match self.settings.approval.mode {
            Some(mode) => mode == ApprovalMode::OnNeed,
            None => self.default_approval == DefaultApproval::OnNeed,
        };
        is_chosen && has_trials(sandbox.mode) && confine::holds(sandbox)
    }

    /// Whether a rule is about reading or code, which a trial doesn't hold.
    pub(crate) fn restricts_reading(&self) -> bool {
        self.book.restricts_reading()
    }

    /// Where `approval.mode` is set, in parentheses. Empty: nowhere.
    pub(crate) fn mode_origin(&self) -> String {
        let origin = self.settings.origin("approval.mode").filter(|origin| **origin != Origin::BuiltIn);
        origin.map(|origin| format!(" ({origin})")).unwrap_or_default()
    }

    pub(crate) fn judge_in(&self, request: &Request, directory: &WorkingDirectory) -> Verdict {
        self.book.judge(request, self.place(directory))
    }

    /// What the rules and the grants say about `request`.
    pub(crate) fn judge_with(
        &self,
        request: &Request,
        directory: &WorkingDirectory,
        granted: &Granted,
    ) -> Verdict {
        self.book.with(granted).judge(request, self.place(directory))
    }

    fn place<'a>(&'a self, directory: &'a WorkingDirectory) -> Where<'a> {
        let search_path = self.search_path.as_deref();
        let (root, protected, writable) = (self.root.path(), &self.protected, &*self.writable);
        Where { root, directory: directory.path(), search_path, protected, writable }
    }

    /// Refuses a program or an argument outside the root, for a dialect whose words must be in scope.
    pub(crate) fn check_words(
        &self,
        request: &Request,
        directory: &WorkingDirectory,
    ) -> Result<(), ErrorObject> {
        let (Words::InScope, Action::Program(argv)) = (request.words, &request.action) else { return Ok(()) };
        let name = argv.first().map_or("", String::as_str);
        let found = shell::find(name, self.search_path.as_deref(), directory.path());
        if let Some(program) = found.as_ref().ok().filter(|_| name.contains('/')) {
            self.check_place(name, program)?;
        }
        match (found, check_scope(argv, self.place(directory), &self.root)) {
            // A program that doesn't exist does no harm, and starting it gives the better error.
            (Err(_), Err(error)) if error.code == Code::OutOfScope => Ok(()),
            (_, checked) => checked,
        }
    }

    /// Whether a program that was named by its path is inside the root or in a folder of PATH.
    fn check_place(&self, name: &str, program: &Path) -> Result<(), ErrorObject> {
        let Some(folder) = program.parent().and_then(|folder| folder.canonicalize().ok()) else {
            return Ok(());
        };
        let on_path = self.search_path.as_deref().is_some_and(|path| {
            std::env::split_paths(path)
                .filter(|entry| entry.is_absolute())
                .any(|entry| entry.canonicalize().is_ok_and(|entry| entry == folder))
        });
        if on_path { Ok(()) } else { self.root.check(name, program) }
    }
}
