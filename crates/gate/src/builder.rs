//! Builds a gate from root, settings, state folder, session and keeper.

use std::ffi::{CString, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use shellgate_exec::{Confinement, Debugging, Observing, Session, SoftLimits, Starter, StateFolder, Tracing};
use shellgate_policy::Protected;

use crate::admit::approval::Approver;
use crate::admit::earlier_approval::CheckedSession;
use crate::admit::inside::{self, Chosen};
use crate::admit::judge::Judge;
use crate::admit::trust::{ProjectFile, RecordedTrust};
use crate::confine::guard::GuardSet;
use crate::environment::{self, Rules};
use crate::gate::Gate;
use crate::intake::dialect::{DefaultApproval, DefaultPreset, DefaultRoot};
use crate::record::Recorder;
use crate::root::Root;
use crate::run::environment_entry;
use crate::session_name::SessionName;
use crate::settings::{
    Flags, LayerFile, LayerName, LayerState, Loaded, LogLevel, RootSource, Settings, Sources, Trust,
    Word as _,
};
use crate::{Code, ErrorObject};
use crate::{confine, locations};

/// Starts a log by the settings, in a folder.
pub type StartLog = fn(&Settings, &Path);

/// Builds a [`Gate`]. Everything has a default.
#[derive(Debug, Default)]
pub struct GateBuilder {
    root: Option<PathBuf>,
    session: Option<String>,
    config: Vec<PathBuf>,
    flags: Flags,
    state: Option<PathBuf>,
    starter: Option<Starter>,
    default_root: DefaultRoot,
    default_preset: DefaultPreset,
    default_approval: DefaultApproval,
    approver: Option<Box<dyn Approver>>,
    one_shot: bool,
    tidy_later: bool,
    start_log: Option<StartLog>,
    unrecorded: bool,
}

impl Gate {
    /// A builder with all defaults.
    #[must_use]
    pub fn builder() -> GateBuilder {
        GateBuilder::default()
    }
}

impl GateBuilder {
    /// The root: commands run in it and in folders below it. Default: `workspace.working_directory` of the settings, a trusted
    /// project file included, else the current folder.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// The root when neither [`root`](Self::root) nor a setting names one. Default: the current folder.
    #[must_use]
    pub fn default_root(mut self, default_root: DefaultRoot) -> Self {
        self.default_root = default_root;
        self
    }

    /// The preset when no setting names one. Default: that of our own dialect, by how commands are confined.
    #[must_use]
    pub fn default_preset(mut self, default_preset: DefaultPreset) -> Self {
        self.default_preset = default_preset;
        self
    }

    /// What happens to a command that needs approval when `approval.mode` isn't set. Default: as in our own dialect.
    #[must_use]
    pub fn default_approval(mut self, default_approval: DefaultApproval) -> Self {
        self.default_approval = default_approval;
        self
    }

    /// The name of the session. Default: `$SHELLGATE_SESSION`, else the session of the root.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Adds a settings file. It wins over those in the standard places.
    #[must_use]
    pub fn config(mut self, file: impl Into<PathBuf>) -> Self {
        self.config.push(file.into());
        self
    }

    /// Settings that win over every file.
    #[must_use]
    pub fn flags(mut self, flags: Flags) -> Self {
        self.flags = flags;
        self
    }

    /// The state folder. Default: `$SHELLGATE_HOME`, else `shellgate` in the XDG state folder.
    #[must_use]
    pub fn state_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// The program to run as keeper. Default: `shellgate` beside the running program, else on PATH. A program that
    /// calls [`keeper_hook`](crate::keeper_hook) first thing in `main` may name itself.
    #[must_use]
    pub fn keeper_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.starter = Some(Starter::Exec { program: program.into(), log: None });
        self
    }

    /// Asks a person when the policy says `ask`. Without an approver such commands are refused.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Box::new(approver));
        self
    }

    /// Has `start` called when the settings are known and before a keeper is started: for a program that logs events as
    /// `log.level` says. The library itself emits events with `tracing` and writes none.
    #[must_use]
    pub fn log_with(mut self, start: StartLog) -> Self {
        self.start_log = Some(start);
        self
    }

    /// Leaves tidying the journal to a later call of [`Gate::tidy`].
    #[must_use]
    pub fn tidy_later(mut self) -> Self {
        self.tidy_later = true;
        self
    }

    /// For a small program with one thread that makes one call: the keeper is forked, and its connection isn't kept open.
    #[must_use]
    pub fn one_shot(mut self) -> Self {
        self.starter = Some(Starter::Fork);
        self.one_shot = true;
        self
    }

    /// Writes nothing to the journal, for programs that keep their own record. There is no history then, nothing to audit, and
    /// no queue in which another terminal could answer a question. An approval for the session holds for one call only.
    #[must_use]
    pub fn without_record(mut self) -> Self {
        self.unrecorded = true;
        self
    }

    /// Builds only the judge. It creates no files and can't run commands.
    ///
    /// # Errors
    /// `config` when a settings file is broken or the root is not a folder, `invalid_input` when the session can't have its
    /// name.
    pub fn judge(mut self) -> Result<Judge, ErrorObject> {
        let (mut judge, environment) = self.judge_and_environment()?;
        let name = session_name(self.session, judge.root.path())?.shown().to_owned();
        let state = locations::state_path(self.state).ok();
        judge.writable =
            with_places(&judge, (state.as_deref().unwrap_or(Path::new("/")), None), &environment, |places| {
                confine::writable_places(&judge.settings.sandbox, places)
            });
        judge.session = state.map(|state| CheckedSession { name, state });
        Ok(judge)
    }

    /// The project's settings file, for a person to read before trusting it.
    ///
    /// # Errors
    /// `config` when it, or another settings file, is broken.
    pub fn project_file(mut self) -> Result<Option<ProjectFile>, ErrorObject> {
        let (judge, _) = self.judge_and_environment()?;
        let mut found = judge.files.iter().rev().filter(|file| file.state != LayerState::Absent);
        let found = found.find(|file| file.layer == LayerName::Project);
        found.map_or(Ok(None), |file| ProjectFile::read(&file.path))
    }

    /// Makes the judge and the environment that commands inherit.
    fn judge_and_environment(&mut self) -> Result<(Judge, Vec<CString>), ErrorObject> {
        inside::check(Chosen {
            config: &self.config,
            flags: &self.flags,
            state: self.state.as_deref(),
            unrecorded: self.unrecorded,
        })?;
        let mut sources = locations::settings_sources()?;
        sources.extra = std::mem::take(&mut self.config);
        sources.flags = std::mem::take(&mut self.flags);
        let state = locations::state_path(self.state.clone()).ok();
        sources.trust = match state.clone() {
            Some(state) => Trust::Recorded(Arc::new(RecordedTrust { state })),
            None => Trust::Untrusted,
        };
        let default_root = || match self.default_root {
            DefaultRoot::Current => std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            // The current folder is no replacement: a person might not expect it to be the root.
            DefaultRoot::Home => std::env::home_dir().unwrap_or_default(),
        };
        let loaded = Settings::load_for_root(&sources, self.root.take(), default_root)?;
        let Loaded { root, root_source, settings, files } = loaded;
        // A root that the user's own settings name needs no check.
        if root_source != RootSource::Settings {
            inside::check_root(&root, root_source != RootSource::Default)?;
        }
        let root = Root::open(&root)?;
        let built = environment::build(std::env::vars_os(), &Rules::from(&settings.environment));
        let search_path = variable(&built.vars, "PATH");
        let environment = built.vars.iter().filter_map(|(name, value)| environment_entry(name, value));
        let environment = environment.collect();
        let protected = protected(&sources, state.as_deref());
        let mut judge = Judge::new(settings, root, search_path, protected, self.default_preset);
        judge.settings_places = settings_places(&sources, &files);
        judge.default_approval = self.default_approval;
        (judge.files, judge.root_source) = (files, root_source);
        Ok((judge, environment))
    }

    /// Builds the gate.
    ///
    /// # Errors
    /// `config` when a settings file is broken, the root is not a folder, or the state folder can't be used.
    pub fn build(mut self) -> Result<Gate, ErrorObject> {
        let (mut judge, environment) = self.judge_and_environment()?;
        let state_name = locations::state_path(self.state.clone())?;
        let state = locations::open_state(self.state)?;
        let starter = match self.starter {
            Some(starter) => starter,
            None => Starter::Exec { program: keeper_program()?, log: None },
        };
        if let Some(start_log) = self.start_log {
            start_log(&judge.settings, &state.log());
        }
        let starter = with_log_level(starter, judge.settings.log.level);
        let session_name = session_name(self.session, judge.root.path())?;
        let keep_bytes = match judge.settings.journal.keep_mb {
            0 => u64::MAX,
            mb => mb.saturating_mul(1 << 20),
        };
        let session = Session::new(state.clone(), session_name.key(), starter.clone(), keep_bytes);
        let session = if self.one_shot { Ok(session) } else { session.kept() };
        let session = session.map_err(|error| crate::gate::session_error(&error))?;
        let recorder = match self.unrecorded {
            true => Recorder::none(),
            false => Recorder::open(&state, judge.settings.journal.required, self.one_shot),
        };
        // Of the one-shot programs, only one in 64 tidies: that is often enough.
        let tidy = !self.tidy_later && (!self.one_shot || std::process::id().is_multiple_of(64));
        if tidy {
            recorder.tidy(&state, &judge.settings.journal);
        }
        let (mut confinement, free_places) = confinement(&judge, (&state, &state_name), &environment);
        judge.writable = confinement.iter().flat_map(|confinement| confinement.writable.clone()).collect();
        let guard = match &mut confinement {
            Some(confinement) => {
                // A process has one tracer: either the guard's, or a debugger.
                let debug = judge.settings.sandbox.debug;
                confinement.debugging = if debug { Debugging::Allowed } else { Debugging::No };
                let guard = match debug {
                    true => None,
                    false => GuardSet::new(judge.program_rules(), judge.search_path.as_deref())?,
                };
                confinement.observing = match judge.settings.sandbox.observe {
                    true => Observing::Effects,
                    false => Observing::Refusals,
                };
                confinement.tracing = if guard.is_some() { Tracing::Programs } else { Tracing::No };
                guard
            }
            None => None,
        };
        let encoded = confinement.as_ref().map(confine::encoded).transpose()?;
        let umask = if self.one_shot { umask_of_one_thread() } else { umask_of_many_threads() };
        Ok(Gate {
            judge,
            state,
            state_name,
            session,
            recorder,
            session_name,
            keep_bytes,
            starter,
            environment,
            umask,
            soft_limits: SoftLimits::current(),
            confinement: confinement.zip(encoded),
            free_places,
            guard,
            approver: self.approver,
            always: Mutex::default(),
            shell: OnceLock::new(),
        })
    }
}

/// What commands may reach, and the folders for temporary files and caches among it.
fn confinement(
    judge: &Judge,
    (state, state_name): (&StateFolder, &Path),
    environment: &[CString],
) -> (Option<Confinement>, Vec<PathBuf>) {
    with_places(judge, (state.path(), Some(state_name)), environment, |places| {
        let free = confine::free_places(&judge.settings.sandbox, places);
        (confine::confinement(&judge.settings.sandbox, places, &free), free)
    })
}

/// Gives `take` the folders that a confinement is made for.
fn with_places<T>(
    judge: &Judge,
    (state, state_name): (&Path, Option<&Path>),
    environment: &[CString],
    take: impl FnOnce(&confine::Places<'_>) -> T,
) -> T {
    let real = |path: PathBuf| path.canonicalize().ok();
    let variable = |entry: &CString| entry.to_str().ok()?.strip_prefix("TMPDIR=").map(PathBuf::from);
    let temp = environment.iter().find_map(variable).filter(|temp| temp.is_absolute());
    let home = std::env::home_dir().and_then(real);
    let other_home = confine::own::home_of_user();
    take(&confine::Places {
        root: judge.root.path(),
        home: home.as_deref(),
        state,
        state_name,
        temp: temp.as_deref(),
        search_path: judge.search_path.as_deref(),
        other_home: other_home.as_deref().filter(|other| Some(*other) != home.as_deref()),
        settings: &judge.settings_places,
    })
}

/// A keeper that is a program of its own logs as much as its front end.
fn with_log_level(starter: Starter, level: LogLevel) -> Starter {
    match starter {
        Starter::Exec { program, .. } if level != LogLevel::Off => {
            Starter::Exec { program, log: Some(level.name()) }
        }
        starter => starter,
    }
}

fn session_name(requested: Option<String>, root: &Path) -> Result<SessionName, ErrorObject> {
    if let Some(name) = inside::session(requested.as_deref())? {
        return Ok(name);
    }
    let by_environment = || std::env::var("SHELLGATE_SESSION").ok().filter(|name| !name.is_empty());
    match requested.or_else(|| by_environment().filter(|_| !inside::is_inside())) {
        Some(name) => SessionName::named(&name),
        None => Ok(SessionName::of_root(root)),
    }
}

/// The files and folders that the settings come from. The places above the root where a project's file was looked for count,
/// too: a new file there would hide one further up.
fn settings_places(sources: &Sources, files: &[LayerFile]) -> Vec<PathBuf> {
    let standard = [&sources.system, &sources.user].into_iter().flatten();
    // A folder and its file: the file may be a link.
    let folders = standard.flat_map(|file| [file.parent(), Some(file)]).flatten().map(Path::to_owned);
    let extra = sources.extra.iter().filter_map(|file| std::path::absolute(file).ok());
    let project = files.iter().filter(|file| file.layer == LayerName::Project).map(|file| file.path.clone());
    folders.chain(extra).chain(project).collect()
}

/// The paths that commands may not use: shellgate's settings and state. Only the spool folder, which holds their output, may be
/// read.
fn protected(sources: &Sources, state: Option<&Path>) -> Protected {
    let files = [&sources.system, &sources.user].into_iter().flatten();
    let folders = files.filter_map(|file| file.parent()).map(Path::to_owned);
    let state = state.into_iter().map(Path::to_owned);
    let spool = state.clone().map(|state| state.join("spool"));
    Protected::new(folders.chain(state)).readable(spool)
}

/// The keeper's program: this program if it calls `keeper_hook`, else `shellgate` in its folder or the folder above (cargo puts
/// examples and tests one level deeper), else on PATH.
fn keeper_program() -> Result<PathBuf, ErrorObject> {
    if crate::run::hook::is_installed()
        && let Ok(own) = std::env::current_exe()
    {
        return Ok(own);
    }
    let own = std::env::current_exe().unwrap_or_default();
    let beside = own.ancestors().skip(1).take(2).map(|folder| folder.join("shellgate"));
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&on_path).filter(|folder| folder.is_absolute());
    let mut places = beside.chain(on_path.map(|folder| folder.join("shellgate")));
    places.find(|place| place.is_file()).ok_or_else(|| {
        ErrorObject::new(Code::Config, "the program `shellgate` was not found; it is needed as keeper")
            .hint("install it, name it with `keeper_program`, or call `shellgate::keeper_hook` first thing in `main`")
    })
}

fn variable(vars: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    vars.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// The umask of this process, which its commands inherit. The system call that reads it also changes it for a moment, for every
/// thread, so this is only for programs with one thread.
fn umask_of_one_thread() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    rustix::process::umask(mask);
    mask.as_raw_mode()
}

/// The umask of this process, from its status file. That is thirty times as slow, and safe with many threads.
fn umask_of_many_threads() -> u32 {
    shellgate_exec::proc::own().status().and_then(|status| status.umask()).unwrap_or(0o022)
}
