//! The gate itself: requests in, executions out.

use std::ffi::{CString, OsStr, OsString};
use std::io::{Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::fs::MemfdFlags;
use shellgate_exec::{
    ExecId, Follow, Mode, Session, SessionError, SoftLimits, Spec, Starter, StateFolder, Urgency,
};

use crate::artifacts;
use crate::builder::GateBuilder;
use crate::dialect::Dialect;
use crate::execution::Execution;
use crate::judge::{Verdict, judge};
use crate::report::{Asked, Report};
use crate::request::{Action, Detail, Format, Programs, Request, Stdin};
use crate::root::{Inside, Root};
use crate::session_name::SessionName;
use crate::settings::{Network, SandboxMode, Settings};
use crate::sys::shell::{self, NotFound};
use crate::{Code, ErrorObject, SpawnTrouble};

/// How long a background start waits for an early end.
const EARLY: Duration = Duration::from_millis(300);

/// The gate that commands pass. Cheap to call from several threads at once.
#[derive(Debug)]
pub struct Gate {
    pub(crate) settings: Settings,
    pub(crate) root: Root,
    pub(crate) state: StateFolder,
    pub(crate) session: Session,
    pub(crate) session_name: SessionName,
    pub(crate) keep_bytes: u64,
    pub(crate) starter: Starter,
    /// What every command's environment begins with.
    pub(crate) environment: Vec<CString>,
    pub(crate) search_path: Option<OsString>,
    pub(crate) umask: u32,
    /// Where the shell was found.
    pub(crate) shell: OnceLock<PathBuf>,
}

/// A request that didn't become an execution, with the answer to give.
pub type Refused = Box<Report>;

impl Gate {
    /// Says where the root is, which settings count and how a keeper is started.
    #[must_use]
    pub fn builder() -> GateBuilder {
        GateBuilder::default()
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// One tool call, from its arguments as JSON to what the model gets. Never fails: an error is an answer too.
    #[must_use]
    pub fn call(&self, dialect: &Dialect, arguments: &str) -> String {
        let report = match dialect.read(arguments) {
            Ok(request) => self.run(request),
            Err(error) => dialect.refused(arguments, error),
        };
        dialect.write(&report)
    }

    /// Runs `request` to its answer.
    #[must_use]
    pub fn run(&self, request: Request) -> Report {
        let (detail, action) = (request.detail, request.action.clone());
        match self.submit(request, Follow::Quietly) {
            Ok(mut execution) => execution.wait().unwrap_or_else(|error| {
                let asked = Asked { action, detail, ..Asked::unread() };
                let message = format!("the keeper can't be understood: {error}");
                Report::refused(&asked, ErrorObject::new(Code::KeeperLost, message))
            }),
            Err(refused) => *refused,
        }
    }

    /// Judges `request` and hands it to the session's keeper.
    ///
    /// # Errors
    /// The answer, when nothing was started.
    pub fn submit(&self, request: Request, follow: Follow) -> Result<Execution, Refused> {
        let id = ExecId::generate();
        let mut asked = Asked {
            id: id.to_string(),
            action: request.action.clone(),
            directory: request.directory.clone().unwrap_or_else(|| ".".to_owned()),
            detail: request.detail,
            format: request.format,
            speaks: request.speaks,
            artifacts: request.artifacts.clone(),
            verdict: None,
        };
        match self.start(id, request, follow, &mut asked) {
            Ok((inner, chat)) => {
                let (limits, root) = (self.settings.limits.clone(), self.root.clone());
                Ok(Execution { inner, asked, limits, root, _chat: chat })
            }
            Err(error) => Err(Box::new(Report::refused(&asked, error))),
        }
    }

    fn start(
        &self,
        id: ExecId,
        request: Request,
        follow: Follow,
        asked: &mut Asked,
    ) -> Result<(shellgate_exec::Execution, Option<Session>), ErrorObject> {
        let chat = request.chat.as_deref().map(|name| self.session_name.chat(name)).transpose()?;
        let chat = chat.map(|name| self.session_called(&name));
        let (spec, stdin) = self.prepare(id, request, follow, asked)?;
        let session = chat.as_ref().unwrap_or(&self.session);
        let execution = session.start(spec, stdin).map_err(|error| session_error(&error))?;
        Ok((execution, chat))
    }

    /// Stops everything that this gate's session and its chats run, and returns when it has ended: how many executions
    /// that were.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn stop_session(&self, urgency: Urgency) -> Result<u32, ErrorObject> {
        self.session.stop(urgency).map_err(|error| session_error(&error))
    }

    /// The same for another session of this user, by its name.
    ///
    /// # Errors
    /// `invalid_input` when no session can be called that; else when its keeper can't be reached.
    pub fn stop_other_session(&self, name: &str, urgency: Urgency) -> Result<u32, ErrorObject> {
        let session = self.session_called(&SessionName::named(name)?);
        session.stop(urgency).map_err(|error| session_error(&error))
    }

    fn session_called(&self, name: &SessionName) -> Session {
        Session::new(self.state.clone(), name.key(), self.starter.clone(), self.keep_bytes)
    }

    fn prepare(
        &self,
        id: ExecId,
        request: Request,
        follow: Follow,
        asked: &mut Asked,
    ) -> Result<(Spec, Option<OwnedFd>), ErrorObject> {
        request.check()?;
        let directory = self.root.directory(request.directory.as_deref())?;
        directory.shown().clone_into(&mut asked.directory);
        artifacts::check(&request.artifacts, &self.root)?;
        self.check_sandbox()?;
        let verdict: Verdict = judge(&request, &self.settings);
        asked.verdict = Some(verdict);
        let (program, argv) = self.program(&request.action, &directory)?;
        if request.programs == Programs::InsideOrOnPath {
            self.check_place(&request.action, &program)?;
        }
        let limits = &self.settings.limits;
        let foreground = !request.background;
        let clock = |asked: Option<Duration>, ms: u64| {
            asked.or_else(|| (ms > 0 && foreground).then(|| Duration::from_millis(ms)))
        };
        let spec = Spec {
            id,
            program,
            argv,
            env: self.environment(&request, &asked.id, &directory)?,
            directory: c_string(directory.path().as_os_str().as_bytes())?,
            umask: self.umask,
            soft_limits: SoftLimits::current(),
            mode: if foreground { Mode::Foreground } else { Mode::Background { answer_after: EARLY } },
            timeout: clock(request.timeout, limits.timeout_ms),
            idle_timeout: clock(request.idle_timeout, limits.idle_timeout_ms),
            capture_bytes: limits.capture_bytes,
            max_running: u32::try_from(limits.max_running).unwrap_or(u32::MAX),
            follow,
        };
        Ok((spec, stdin(request.stdin)?))
    }

    /// A sandbox that was asked for and isn't there is an error, never a silent nothing.
    fn check_sandbox(&self) -> Result<(), ErrorObject> {
        let sandbox = &self.settings.sandbox;
        let (key, asked) = match (sandbox.mode, sandbox.network) {
            (SandboxMode::Off, Network::Allow) => return Ok(()),
            (SandboxMode::Off, network) => ("sandbox.network", network.to_string()),
            (mode, _) => ("sandbox.mode", mode.to_string()),
        };
        let origin = self.settings.origin(key).map(ToString::to_string).unwrap_or_default();
        let message = format!("`{key} = \"{asked}\"` was asked for, and confinement is not built yet");
        Err(ErrorObject::new(Code::SandboxUnavailable, message)
            .token(asked.clone())
            .rule(format!("{key} = {asked} ({origin})"))
            .hint("`--sandbox off --network allow` runs the command unconfined"))
    }

    fn program(&self, action: &Action, directory: &Inside) -> Result<(CString, Vec<CString>), ErrorObject> {
        let (name, words): (&str, Vec<OsString>) = match action {
            Action::Shell(text) => (shell::SHELL, shell::arguments(text)),
            Action::Program(argv) => {
                (argv.first().map_or("", String::as_str), argv.iter().map(OsString::from).collect())
            }
        };
        let path = self.find(action, name, directory).map_err(|error| not_found(action, name, &error))?;
        let argv = words.into_iter().map(|word| c_string(word.as_bytes()));
        Ok((c_string(path.as_os_str().as_bytes())?, argv.collect::<Result<_, _>>()?))
    }

    /// Whether a program that was named by its path lies inside the root or in a folder of PATH.
    fn check_place(&self, action: &Action, program: &CString) -> Result<(), ErrorObject> {
        let Action::Program(argv) = action else { return Ok(()) };
        let Some(name) = argv.first().filter(|name| name.contains('/')) else { return Ok(()) };
        let program = Path::new(OsStr::from_bytes(program.as_bytes()));
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

    /// Finds a program. The shell is looked for once, as long as it stays where it is.
    fn find(&self, action: &Action, name: &str, directory: &Inside) -> Result<PathBuf, NotFound> {
        let search = || shell::find(name, self.search_path.as_deref(), directory.path());
        match (action, self.shell.get()) {
            (Action::Shell(_), Some(known)) if shell::is_executable(known) => Ok(known.clone()),
            (Action::Shell(_), None) => search().inspect(|path| drop(self.shell.set(path.clone()))),
            _ => search(),
        }
    }

    fn environment(
        &self,
        request: &Request,
        id: &str,
        directory: &Inside,
    ) -> Result<Vec<CString>, ErrorObject> {
        let mut env = self.environment.clone();
        let folder = directory.path().to_string_lossy();
        let asked = request.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        // Last, so that nothing above can forge them.
        let marks = [("PWD", &*folder), ("SHELLGATE", "1"), ("SHELLGATE_EXEC_ID", id)];
        for (name, value) in asked.chain(request.marks.iter().copied()).chain(marks) {
            set_variable(&mut env, name, value)?;
        }
        Ok(env)
    }
}

impl Asked {
    /// For an answer to something that could not be read as a request.
    pub(crate) fn unread() -> Self {
        Self {
            id: ExecId::generate().to_string(),
            action: Action::default(),
            directory: ".".to_owned(),
            detail: Detail::Minimal,
            format: Format::Json,
            speaks: false,
            artifacts: Vec::new(),
            verdict: None,
        }
    }
}

fn set_variable(env: &mut Vec<CString>, name: &str, value: &str) -> Result<(), ErrorObject> {
    let is_it = |entry: &CString| {
        entry.as_bytes().strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
    };
    env.retain(|entry| !is_it(entry));
    env.push(c_string(format!("{name}={value}").as_bytes())?);
    Ok(())
}

fn not_found(action: &Action, name: &str, error: &NotFound) -> ErrorObject {
    let message = match error {
        NotFound::Nowhere if name.contains('/') => format!("`{name}` does not exist"),
        NotFound::Nowhere => format!("`{name}` was not found on PATH"),
        NotFound::NotExecutable(path) => format!("`{}` is not executable", path.display()),
    };
    let hint = match action {
        Action::Shell(_) => "install bash, or put its folder on PATH",
        Action::Program(_) => "check the name; builtins, pipes and other shell syntax need a shell",
    };
    let trouble = match (action, error) {
        (Action::Shell(_), _) => SpawnTrouble::NoShell,
        (Action::Program(_), NotFound::Nowhere) => SpawnTrouble::NotFound,
        (Action::Program(_), NotFound::NotExecutable(_)) => SpawnTrouble::NotExecutable,
    };
    ErrorObject::spawn_failed(trouble, message).token(name).hint(hint)
}

pub(crate) fn session_error(error: &SessionError) -> ErrorObject {
    let hint = match error {
        SessionError::State(_) | SessionError::Spool { .. } => {
            "make it writable, free some space, or name another folder with SHELLGATE_HOME"
        }
        SessionError::Keeper(_) | SessionError::Connection(_) => {
            "look at the state folder's `sessions`, and try again"
        }
    };
    ErrorObject::new(Code::Config, error.to_string()).hint(hint)
}

/// Standard input as a descriptor. A text becomes a file in memory: no writer that could block, no thread to feed it.
fn stdin(stdin: Stdin) -> Result<Option<OwnedFd>, ErrorObject> {
    let trouble = |error: std::io::Error| {
        ErrorObject::spawn_failed(SpawnTrouble::Other, format!("`stdin` can't be passed on: {error}"))
    };
    match stdin {
        Stdin::Closed => Ok(None),
        Stdin::Descriptor(descriptor) => Ok(Some(descriptor.try_clone().map_err(trouble)?)),
        Stdin::Text(text) => {
            let memory = rustix::fs::memfd_create(c"stdin", MemfdFlags::CLOEXEC)
                .map_err(|errno| trouble(errno.into()))?;
            let mut file = std::fs::File::from(memory);
            file.write_all(text.as_bytes()).map_err(trouble)?;
            file.rewind().map_err(trouble)?;
            Ok(Some(file.into()))
        }
    }
}

fn c_string(bytes: &[u8]) -> Result<CString, ErrorObject> {
    CString::new(bytes).map_err(|_| ErrorObject::invalid("a NUL character can't be passed to a program"))
}

pub(crate) fn environment_entry(name: &OsStr, value: &OsStr) -> Option<CString> {
    CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok()
}
