//! Checks of the state folder, of its journal, and of a keeper that runs a command.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use shellgate_exec::{
    Confinement, ExecId, Failure, Follow, Limits, Mode, Session, SessionKey, SoftLimits, Spec, Starter,
    State, StateFolder,
};
use shellgate_journal::Journal;

use super::{Check, Health};
use crate::confine::{self, Places};
use crate::locations::open_state;
use crate::settings::SandboxMode;

pub(super) fn checks(chosen: Option<PathBuf>, shell: Option<&Path>) -> Vec<Check> {
    let state = match open_state(chosen) {
        Ok(state) => state,
        Err(error) => {
            let check =
                Check::new("state", Health::Missing, format!("No command can run: {}.", error.message));
            return vec![check.hint(error.hint.map(|hint| hint.to_string()).unwrap_or_default())];
        }
    };
    let unwritable = write_probe(&state).err().map(|error| shellgate_exec::plain(&error));
    let mut checks = match &unwritable {
        Some(why) => vec![not_writable(&state, why), not_recorded(why), leftovers(&state)],
        None => vec![folder(&state), journal(&state), leftovers(&state)],
    };
    checks.extend(shell.map(|shell| keeper(&state, shell)));
    checks.extend(shell.into_iter().flat_map(|shell| sandbox(&state, shell)));
    checks
}

/// File systems on which sockets, locks or SQLite may not work, with the kernel's numbers for them (`f_type`).
const UNRELIABLE_FILE_SYSTEMS: [(u64, &str); 9] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x517b, "SMB"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x6573_5546, "FUSE"),
    (0x7375_7245, "Coda"),
];

/// The kernel's number for a file system in memory.
const TMPFS_TYPE: u64 = 0x0102_1994;

fn folder(state: &StateFolder) -> Check {
    let path = state.path().display();
    let kind = rustix::fs::statfs(state.path()).ok().and_then(|found| u64::try_from(found.f_type).ok());
    if let Some((_, name)) = UNRELIABLE_FILE_SYSTEMS.iter().find(|(number, _)| Some(*number) == kind) {
        let said = format!(
            "The state folder `{path}` is on {name}: sockets, locks and the journal may not work there, or only on one machine."
        );
        return Check::new("state", Health::Warning, said)
            .hint("set SHELLGATE_HOME to a folder on a disk of this machine");
    }
    if kind == Some(TMPFS_TYPE) {
        let said =
            format!("The state folder `{path}` is in memory: a restart of the machine deletes the record.");
        return Check::new("state", Health::Warning, said).hint("set SHELLGATE_HOME to a folder on a disk");
    }
    Check::new("state", Health::Ok, format!("The state folder is `{path}`."))
}

/// How much must fit: what a command's entries in the journal and its other files take at least. SQLite writes whole pages.
const PROBE_BYTES: usize = 64 << 10;

/// Writes a file and removes it. Opening the journal shows only that it can be read: a full disk is noticed by writing.
fn write_probe(state: &StateFolder) -> io::Result<()> {
    let probe = state.path().join(format!(".doctor-{}", std::process::id()));
    let file = File::options().write(true).create_new(true).mode(0o600).open(&probe);
    let written = file.and_then(|mut file| {
        file.write_all(&vec![0x5a; PROBE_BYTES])?;
        file.sync_all()
    });
    // When it could not be made there is none.
    let _ = std::fs::remove_file(&probe);
    written
}

fn not_writable(state: &StateFolder, why: &str) -> Check {
    let path = state.path().display();
    Check::new("state", Health::Missing, format!("The state folder `{path}` can't be written: {why}."))
        .hint("free some space or make the folder writable, or set SHELLGATE_HOME to another one")
}

fn not_recorded(why: &str) -> Check {
    Check::new("journal", Health::Missing, format!("Commands can't be recorded, so none runs: {why}."))
}

fn journal(state: &StateFolder) -> Check {
    match Journal::open(state.path()).and_then(|journal| journal.head()) {
        Ok(head) => {
            let said = format!("The journal can be written; its last entry has number {}.", head.seq);
            Check::new("journal", Health::Ok, said)
        }
        Err(error) => Check::new("journal", Health::Missing, format!("Commands can't be recorded: {error}."))
            .hint("free some space or make the state folder writable"),
    }
}

/// Control groups that killed keepers left behind. Other commands, which read the record, remove them; this one doesn't.
fn leftovers(state: &StateFolder) -> Check {
    let notes = shellgate_exec::group_notes(state);
    let held = shellgate_exec::held_executions(state).ok().flatten();
    let stale = held.map_or(0, |held| notes.stale(&held));
    match stale {
        0 => Check::new("leftovers", Health::Ok, "There are no leftovers of killed keepers."),
        count => {
            let said = format!("There are control groups of {count} executions whose keepers were killed.");
            Check::new("leftovers", Health::Warning, said).hint("`shellgate jobs` removes them")
        }
    }
}

/// Has a keeper run an empty command in each mode of the sandbox, with everything that the mode puts up.
fn sandbox(state: &StateFolder, shell: &Path) -> Vec<Check> {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let real = shell.canonicalize().unwrap_or_else(|_| shell.to_owned());
    let places = Places { home: home.as_deref(), ..Places::new(Path::new("/usr"), state.path()) };
    let modes = [
        ("sandbox_read_only", SandboxMode::ReadOnly),
        ("sandbox_workspace", SandboxMode::Workspace),
        ("sandbox_strict", SandboxMode::Strict),
    ];
    let check = |(name, mode): (&'static str, SandboxMode)| {
        let settings = shellgate_settings::Sandbox { mode, ..Default::default() };
        let begun = Instant::now();
        let free = confine::free_places(&settings, &places);
        match run(state, &real, confine::confinement(&settings, &places, &free)) {
            Ok(State::Completed) => {
                let took = begun.elapsed().as_millis();
                Check::new(name, Health::Ok, format!("A command ran in the sandbox `{mode}`, in {took} ms."))
            }
            Ok(other) => {
                let said = format!("An empty command in the sandbox `{mode}` ended as `{other}`.");
                Check::new(name, Health::Warning, said)
            }
            Err(why) => Check::new(name, Health::Warning, format!("No sandbox `{mode}`: {why}.")).hint(
                "the rows about the kernel say what is missing; `--sandbox off` runs without a sandbox",
            ),
        }
    };
    modes.into_iter().map(check).collect()
}

/// Has a keeper run an empty command in the shell.
fn keeper(state: &StateFolder, shell: &Path) -> Check {
    let begun = Instant::now();
    match run(state, shell, None) {
        Ok(State::Completed) => {
            let said = format!("A keeper started and ran a command in {} ms.", begun.elapsed().as_millis());
            Check::new("keeper", Health::Ok, said)
        }
        Ok(other) => {
            let said = format!("A keeper started, but its empty command ended as `{other}`.");
            Check::new("keeper", Health::Missing, said).hint("try `bash -c true` by hand")
        }
        Err(why) => Check::new("keeper", Health::Missing, format!("No command can run: {why}."))
            .hint("look at `sessions` in the state folder, and try again"),
    }
}

/// Has a keeper run an empty command, and removes its output files.
fn run(state: &StateFolder, shell: &Path, confinement: Option<Confinement>) -> Result<State, String> {
    let id = ExecId::generate();
    let ended = run_as(state, shell, id, confinement);
    let (stdout, stderr) = state.spool_files(id);
    for file in [stdout, stderr] {
        // When the keeper didn't start there are none.
        let _ = std::fs::remove_file(file);
    }
    ended
}

fn run_as(
    state: &StateFolder,
    shell: &Path,
    id: ExecId,
    confinement: Option<Confinement>,
) -> Result<State, String> {
    let own = format!("doctor-{}", std::process::id());
    let key = SessionKey { below: format!("{own}-"), own };
    let session = Session::new(state.clone(), key, Starter::Fork, u64::MAX);
    let text = |bytes: &[u8]| CString::new(bytes).map_err(|error| error.to_string());
    let confinement = confinement.as_ref().map(confine::encoded).transpose();
    let confinement = confinement.map_err(|error| error.message)?;
    let spec = Spec {
        id,
        program: text(shell.as_os_str().as_bytes())?,
        argv: vec![c"bash".into(), c"-c".into(), c":".into()],
        env: Vec::new(),
        directory: c"/".into(),
        umask: 0o077,
        soft_limits: SoftLimits::current(),
        mode: Mode::FOREGROUND,
        timeout: Some(std::time::Duration::from_secs(10)),
        idle_timeout: None,
        capture_bytes: 1 << 20,
        max_running: u32::MAX,
        max_jobs: u32::MAX,
        limits: Limits::default(),
        follow: Follow::Quietly,
        confinement,
        guard: None,
        observe: false,
        may_be_unconfined: false,
        terminal: None,
    };
    let mut execution = session.start(spec, None).map_err(|error| error.to_string())?;
    let outcome = execution.wait().map_err(|error| error.to_string())?;
    execution.recorded();
    match outcome.failure {
        Some(Failure::NotConfined { mechanism, message }) => Err(format!("{mechanism}: {message}")),
        _ => Ok(outcome.state),
    }
}
