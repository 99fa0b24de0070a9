//! Starts an admitted request: makes its specification and hands it to the session's keeper.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::io::{Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::MemfdFlags;
use shellgate_exec::{EncodedConfinement, EncodedGuardRules, ExecId, Follow, Mode, Session, Spec};
use shellgate_journal::Journal;
use tracing::{info, warn};

use crate::admit::Admitted;
use crate::admit::judge::Verdict;
use crate::answer::denials::SandboxContext;
use crate::answer::report::Report;
use crate::confine::{self, Places};
use crate::environment::{self, Rules};
use crate::gate::{Gate, Refused, session_error};
use crate::intake::request::{Action, Request, Stdin};
use crate::record;
use crate::root::WorkingDirectory;
use crate::run::execution::Execution;
use crate::run::startup_files;
use crate::settings::{Grants, OnMissing, Settings};
use crate::sys::shell::{self, NotFound};
use crate::{ErrorObject, SpawnFailure};

/// The `TERM` of a command with a terminal, unless the request names another.
const DEFAULT_TERM: &str = "xterm-256color";

/// How long the start of a background command waits before it is answered: a command that fails at once is reported so.
const EARLY_END_WAIT: Duration = Duration::from_millis(300);

/// Longer texts may take milliseconds to judge.
const MAX_SHORT_TEXT_BYTES: usize = 1024;

impl Admitted<'_> {
    /// The request.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// What did not work of its approval, in words.
    #[must_use]
    pub fn approval_remark(&self) -> Option<&str> {
        self.approval.by.as_ref()?.remark.as_deref()
    }

    /// The rules that its approval has added to the settings.
    #[must_use]
    pub fn written_rules(&self) -> Option<&crate::approval::WrittenRules> {
        self.approval.written.as_ref()
    }

    /// Limits the time until the call is answered. After `wait` the command continues as a job.
    #[must_use]
    pub fn waiting(mut self, wait: Duration) -> Self {
        self.request.wait = Some(wait);
        self
    }

    /// Starts the request in the session's keeper.
    ///
    /// # Errors
    /// The answer to give when nothing was started.
    pub fn start(self, follow: Follow) -> Result<Execution, Refused> {
        let Self { gate, id, request, directory, mut asked, verdict, approval, tried, trial } = self;
        if let Some(mut ended) = trial {
            match follow {
                Follow::Closely => ended.inner.replay(),
                Follow::Quietly => ended.unseen_end = true,
            }
            return Ok(*ended);
        }
        let session = gate.session_of(&request);
        let approved = approval.by.is_some();
        let entry = record::asked(&request, Some(&verdict), gate.judge.root.path(), directory.shown());
        let mode = gate.judge.settings.sandbox.mode;
        let step =
            record::started(approval.by.as_ref(), mode, Some(gate.state.spool_files(id)), Some(&verdict));
        let entry = match approval.entry {
            Some(entry) => entry.append(step).map(|()| Some(entry)),
            None => gate.recorder.begin_new(&asked.id, &session, entry, vec![step]),
        };
        let grants = gate.granted_by_rules(&verdict);
        let guard = gate.guard.as_ref().map(|guard| guard.for_verdict(&verdict, approved));
        let confinement = match tried.as_ref().and_then(|tried| gate.narrowed(tried)) {
            Some(narrow) => Ok(Some(narrow)),
            None => gate.confinement_with(&grants),
        };
        let spent = tried.map_or(Duration::ZERO, |tried| tried.spent);
        let started = confinement.map(|confinement| Start {
            id,
            directory: &directory,
            grants: &grants,
            guard,
            follow,
            confinement,
            spent,
        });
        let started = entry.and_then(|entry| match started.and_then(|start| gate.start(request, &start)) {
            Ok(started) => Ok((started, entry)),
            Err(error) => {
                warn!(id = asked.id, code = ?error.code, "not started");
                if let Some(entry) = entry {
                    entry.not_started(&error);
                }
                Err(error)
            }
        });
        match started {
            Ok(((inner, chat), entry)) => {
                info!(id = asked.id, approved, "handed to the keeper");
                if gate.confinement.is_some() {
                    asked.sandbox = Some(SandboxContext::judged(
                        &mode.to_string(),
                        &gate.judge.root.path().to_string_lossy(),
                        verdict,
                    ));
                }
                Ok(Execution::new(gate, inner, asked, entry, chat))
            }
            Err(error) => Err(Box::new(Report::refused(&asked, error))),
        }
    }
}

/// What is known of a start besides its request.
pub(crate) struct Start<'a> {
    pub(crate) id: ExecId,
    pub(crate) directory: &'a WorkingDirectory,
    pub(crate) grants: &'a Grants,
    pub(crate) guard: Option<&'a EncodedGuardRules>,
    pub(crate) follow: Follow,
    /// What it may reach. `None`: it isn't confined.
    pub(crate) confinement: Option<EncodedConfinement>,
    /// How much of its time a trial has taken.
    pub(crate) spent: Duration,
}

impl Gate {
    /// Whether judging and starting this request takes less than a millisecond: its text is short, its keeper is connected, and no
    /// other process writes the record.
    #[must_use]
    pub fn starts_at_once(&self, request: &Request) -> bool {
        request.chat.is_none()
            && matches!(request.stdin, Stdin::Closed)
            && matches!(&request.action, Action::Shell(text) if text.len() <= MAX_SHORT_TEXT_BYTES)
            && self.session.has_idle_connection()
            && self.recorder.journal().is_none_or(Journal::is_free)
    }

    /// What the rules grant to a command.
    pub(crate) fn granted_by_rules(&self, verdict: &Verdict) -> Grants {
        confine::grants::granted(verdict, &self.judge.settings.policy.rules)
    }

    fn confinement_with(&self, grants: &Grants) -> Result<Option<EncodedConfinement>, ErrorObject> {
        let base = match &self.confinement {
            Some((base, _)) if !grants.is_empty() => base,
            unchanged => return Ok(unchanged.as_ref().map(|(_, encoded)| encoded.clone())),
        };
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        let other_home = confine::own::home_of_user();
        let places = Places {
            home: home.as_deref(),
            other_home: other_home.as_deref().filter(|other| Some(*other) != home.as_deref()),
            state_name: Some(&self.state_name),
            settings: &self.judge.settings_places,
            ..Places::new(self.judge.root.path(), self.state.path())
        };
        let sandbox = &self.judge.settings.sandbox;
        confine::encoded(&confine::grants::widened(base, grants, sandbox, &places)).map(Some)
    }

    fn start(
        &self,
        request: Request,
        start: &Start<'_>,
    ) -> Result<(shellgate_exec::RunHandle, Option<Session>), ErrorObject> {
        let chat = request.chat.as_deref().map(|name| self.session_name.chat(name)).transpose()?;
        let chat = chat.map(|name| self.session_called(&name));
        let (spec, stdin) = self.prepare(request, start)?;
        let session = chat.as_ref().unwrap_or(&self.session);
        let execution = session.start(spec, stdin).map_err(|error| session_error(&error))?;
        Ok((execution, chat))
    }

    pub(crate) fn prepare(
        &self,
        request: Request,
        start: &Start<'_>,
    ) -> Result<(Spec, Option<OwnedFd>), ErrorObject> {
        let Start { id, directory, grants, guard, follow, ref confinement, spent } = *start;
        let (program, argv) = self.program(&request.action, directory)?;
        let mut env = self.environment(&request, &id.to_string(), directory, grants)?;
        let stdin = stdin(request.stdin)?;
        if matches!(request.action, Action::Shell(_)) {
            startup_files::keep_from(&mut env, stdin.as_ref());
        }
        let limits = &self.judge.settings.limits;
        let foreground = !request.background;
        let timeout = |requested: Option<Duration>, ms: u64| {
            requested.or_else(|| (ms > 0 && foreground).then(|| Duration::from_millis(ms)))
        };
        let spec = Spec {
            id,
            program,
            argv,
            env,
            directory: c_string(directory.path().as_os_str().as_bytes())?,
            umask: self.umask,
            soft_limits: self.soft_limits.clone(),
            mode: if foreground {
                Mode::Foreground { answer_after: request.wait }
            } else {
                Mode::Background { answer_after: EARLY_END_WAIT }
            },
            timeout: timeout(request.timeout, limits.timeout_ms).map(|time| time.saturating_sub(spent)),
            idle_timeout: timeout(request.idle_timeout, limits.idle_timeout_ms),
            capture_bytes: limits.capture_bytes,
            max_running: u32::try_from(limits.max_running).unwrap_or(u32::MAX),
            limits: shellgate_exec::Limits {
                memory_mb: limits.memory_mb,
                processes: limits.processes,
                cpu_s: limits.cpu_s,
                disk_mb: limits.disk_mb,
            },
            max_jobs: u32::try_from(limits.jobs_per_session).unwrap_or(u32::MAX),
            follow,
            confinement: confinement.clone(),
            guard: guard.cloned(),
            observe: self.judge.settings.sandbox.observe,
            may_be_unconfined: self.judge.settings.sandbox.on_missing == OnMissing::Warn,
            terminal: request.pty.as_ref().map(|pty| pty.size),
        };
        Ok((spec, stdin))
    }

    fn program(
        &self,
        action: &Action,
        directory: &WorkingDirectory,
    ) -> Result<(CString, Vec<CString>), ErrorObject> {
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

    /// Finds a program. The shell is searched once, and again only if it is no longer there.
    fn find(&self, action: &Action, name: &str, directory: &WorkingDirectory) -> Result<PathBuf, NotFound> {
        let search = || shell::find(name, self.judge.search_path.as_deref(), directory.path());
        match (action, self.shell.get()) {
            (Action::Shell(_), Some(known)) if shell::is_executable(known) => Ok(known.clone()),
            // A confined command may not see the link by which the shell was found.
            (Action::Shell(_), None) => search()
                .map(|path| path.canonicalize().unwrap_or(path))
                .inspect(|path| drop(self.shell.set(path.clone()))),
            _ => search(),
        }
    }

    fn environment(
        &self,
        request: &Request,
        id: &str,
        directory: &WorkingDirectory,
        grants: &Grants,
    ) -> Result<Vec<CString>, ErrorObject> {
        let mut env = match grants.env.as_slice() {
            [] => self.environment.clone(),
            granted => environment_with(&self.judge.settings, granted),
        };
        let folder = directory.path().to_string_lossy();
        let term = request.pty.as_ref().map(|pty| ("TERM", pty.term.as_deref().unwrap_or(DEFAULT_TERM)));
        let requested = request.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        // They come last, so that no other variable can replace them.
        let own = [("PWD", &*folder), ("SHELLGATE", "1"), ("SHELLGATE_EXEC_ID", id)];
        let mut new = BTreeMap::new();
        new.extend(term.into_iter().chain(requested).chain(request.marks.iter().copied()).chain(own));
        env.retain(|entry| {
            let name = entry.as_bytes().split(|byte| *byte == b'=').next().unwrap_or_default();
            !std::str::from_utf8(name).is_ok_and(|name| new.contains_key(name))
        });
        for (name, value) in new {
            env.push(c_string(format!("{name}={value}").as_bytes())?);
        }
        Ok(env)
    }
}

fn not_found(action: &Action, name: &str, error: &NotFound) -> ErrorObject {
    let message = match error {
        NotFound::Nowhere if name.contains('/') => format!("`{name}` does not exist"),
        NotFound::Nowhere => format!("`{name}` was not found on PATH"),
        NotFound::NotExecutable(path) => format!("`{}` is not executable", path.display()),
    };
    let hint = match action {
        Action::Shell(_) => "install bash, or add its folder to PATH",
        Action::Program(_) => "check the name; builtins, pipes and other shell syntax need a shell",
    };
    let failure = match (action, error) {
        (Action::Shell(_), _) => SpawnFailure::NoShell,
        (Action::Program(_), NotFound::Nowhere) => SpawnFailure::NotFound,
        (Action::Program(_), NotFound::NotExecutable(_)) => SpawnFailure::NotExecutable,
    };
    ErrorObject::spawn_failed(failure, message).token(name).hint(hint)
}

/// Standard input as a descriptor. Text becomes a file in memory, so no thread has to write it into a pipe.
fn stdin(stdin: Stdin) -> Result<Option<OwnedFd>, ErrorObject> {
    let to_error = |error: std::io::Error| {
        ErrorObject::spawn_failed(SpawnFailure::Other, format!("`stdin` can't be passed on: {error}"))
    };
    match stdin {
        Stdin::Closed => Ok(None),
        Stdin::Descriptor(descriptor) => Ok(Some(descriptor.try_clone().map_err(to_error)?)),
        Stdin::Text(text) => {
            let memory = rustix::fs::memfd_create(c"stdin", MemfdFlags::CLOEXEC)
                .map_err(|errno| to_error(errno.into()))?;
            let mut file = std::fs::File::from(memory);
            file.write_all(text.as_bytes()).map_err(to_error)?;
            file.rewind().map_err(to_error)?;
            Ok(Some(file.into()))
        }
    }
}

fn c_string(bytes: &[u8]) -> Result<CString, ErrorObject> {
    CString::new(bytes).map_err(|_| ErrorObject::invalid("a NUL character can't be passed to a program"))
}

/// What a command inherits of our own environment, with `granted` variables even if they look like secrets.
fn environment_with(settings: &Settings, granted: &[String]) -> Vec<CString> {
    let mut rules = Rules::from(&settings.environment);
    rules.keep.extend(granted.iter().cloned());
    let built = environment::build(std::env::vars_os(), &rules);
    built.vars.iter().filter_map(|(name, value)| environment_entry(name, value)).collect()
}

pub(crate) fn environment_entry(name: &OsStr, value: &OsStr) -> Option<CString> {
    CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok()
}
