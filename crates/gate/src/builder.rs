//! Making a gate: root, settings, state folder, session, keeper.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use shellgate_exec::{Session, Starter, StateFolder};

use crate::dialect::DefaultRoot;
use crate::environment::{self, Rules};
use crate::gate::{Gate, environment_entry};
use crate::root::Root;
use crate::session_name::SessionName;
use crate::settings::{Environment, Flags, Settings, Sources};
use crate::{Code, ErrorObject};

/// What a [`Gate`] is made of. Everything has a default.
#[derive(Debug, Default)]
pub struct GateBuilder {
    root: Option<PathBuf>,
    session: Option<String>,
    config: Vec<PathBuf>,
    flags: Flags,
    state: Option<PathBuf>,
    starter: Option<Starter>,
    default_root: DefaultRoot,
    once: bool,
}

impl GateBuilder {
    /// The folder that commands run in and below. Default: `workspace.working_directory`, else the current folder.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// Where the root is when neither [`root`](Self::root) nor a setting says it. Default: the current folder.
    #[must_use]
    pub fn default_root(mut self, default_root: DefaultRoot) -> Self {
        self.default_root = default_root;
        self
    }

    /// The session. Default: `$SHELLGATE_SESSION`, else one per root.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// One more settings file, over those in the standard places.
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

    /// Where state is kept. Default: `$SHELLGATE_HOME`, else `shellgate` in the XDG state folder.
    #[must_use]
    pub fn state_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// The program to run as keeper. Default: `shellgate` beside the running program, else on PATH. A program that
    /// calls [`keeper_hook`](crate::keeper_hook) first thing in `main` may name itself.
    #[must_use]
    pub fn keeper_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.starter = Some(Starter::Exec(program.into()));
        self
    }

    /// For a small program of one thread that makes one call: the keeper is forked off, and not kept for later calls.
    #[must_use]
    pub fn one_shot(mut self) -> Self {
        self.starter = Some(Starter::Fork);
        self.once = true;
        self
    }

    /// Makes the gate.
    ///
    /// # Errors
    /// `config` when a settings file is broken, the root is no folder, or the state folder can't be used.
    pub fn build(self) -> Result<Gate, ErrorObject> {
        let mut sources = Sources::standard();
        sources.extra = self.config;
        sources.flags = self.flags;
        let default_root = || match self.default_root {
            DefaultRoot::Current => std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            // Not the current folder instead: nobody chose that.
            DefaultRoot::Home => std::env::home_dir().unwrap_or_default(),
        };
        let (root, settings) = Settings::load_for_root(&sources, |configured| {
            let chosen = self.root.or_else(|| configured.map(Path::to_owned)).unwrap_or_else(default_root);
            chosen.canonicalize().unwrap_or(chosen)
        })?;
        let root = Root::open(&root)?;
        let state = open_state(self.state)?;
        let starter = match self.starter {
            Some(starter) => starter,
            None => Starter::Exec(keeper_program()?),
        };
        let named =
            self.session.or_else(|| std::env::var("SHELLGATE_SESSION").ok().filter(|name| !name.is_empty()));
        let session_name = match named {
            Some(name) => SessionName::named(&name)?,
            None => SessionName::of_root(root.path()),
        };
        let keep_bytes = match settings.journal.keep_mb {
            0 => u64::MAX,
            mb => mb.saturating_mul(1 << 20),
        };
        let session = Session::new(state.clone(), session_name.key(), starter.clone(), keep_bytes);
        let built = environment::build(std::env::vars_os(), &rules(&settings.environment));
        let search_path = variable(&built.vars, "PATH");
        let environment =
            built.vars.iter().filter_map(|(name, value)| environment_entry(name, value)).collect();
        let session = if self.once { Ok(session) } else { session.kept() };
        let session = session.map_err(|error| crate::gate::session_error(&error))?;
        let umask = if self.once { umask_of_one_thread() } else { umask_of_many_threads() };
        Ok(Gate {
            settings,
            root,
            state,
            session,
            session_name,
            keep_bytes,
            starter,
            environment,
            search_path,
            umask,
            shell: OnceLock::new(),
        })
    }
}

fn open_state(chosen: Option<PathBuf>) -> Result<StateFolder, ErrorObject> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let named = || std::env::var_os("SHELLGATE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let standard = || {
        let folder =
            absolute("XDG_STATE_HOME").or_else(|| Some(std::env::home_dir()?.join(".local/state")))?;
        Some(folder.join("shellgate"))
    };
    let path = chosen.or_else(named).or_else(standard).ok_or_else(|| {
        ErrorObject::new(Code::Config, "there is no place for state: HOME is not set")
            .hint("set SHELLGATE_HOME to a folder of your own")
    })?;
    let path = std::path::absolute(&path).unwrap_or(path);
    StateFolder::open(&path).map_err(|error| {
        ErrorObject::new(Code::Config, error.to_string())
            .token(path.display().to_string())
            .hint("make it writable for you alone, or name another folder with SHELLGATE_HOME")
    })
}

/// `shellgate` beside the running program or in the folder above (where cargo puts examples and tests), else on PATH.
fn keeper_program() -> Result<PathBuf, ErrorObject> {
    if crate::hook::is_installed()
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
        ErrorObject::new(Code::Config, "the `shellgate` program, which keeps commands running, was not found")
            .hint("install it, name it with `keeper_program`, or call `shellgate::keeper_hook` first thing in `main`")
    })
}

fn rules(settings: &Environment) -> Rules {
    let names =
        |list: &[crate::settings::Sourced<String>]| list.iter().map(|name| name.value.clone()).collect();
    Rules {
        inherit: match settings.inherit {
            crate::settings::Inherit::All => environment::Inherit::All,
            crate::settings::Inherit::Core => environment::Inherit::Core,
        },
        quiet: settings.quiet,
        hide_secrets: settings.hide_secrets,
        keep: names(&settings.keep),
        set: settings.set.iter().map(|(name, value)| (name.clone(), value.value.clone())).collect(),
        remove: names(&settings.remove),
    }
}

fn variable(vars: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    vars.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// Our own mask, which a command inherits as if we had started it ourselves. The system call that tells it also
/// changes it, for a moment and for every thread; reading the status file doesn't, and takes thirty times as long.
fn umask_of_one_thread() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    rustix::process::umask(mask);
    mask.as_raw_mode()
}

fn umask_of_many_threads() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|value| u32::from_str_radix(value.trim(), 8).ok()).unwrap_or(0o022)
}
