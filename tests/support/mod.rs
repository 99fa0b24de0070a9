//! A place to test in: a root, a state folder and a home of its own, for a given user.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::unwrap_used,
    clippy::panic,
    reason = "test support, of which each file uses its own part"
)]

use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// An ordinary user. Not 65534, which hides mistakes about ownership.
pub const ORDINARY: u32 = 12345;

/// Long enough for anything that happens at all, on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The tests' PATH: a folder with the programs that `tests/programs.tsv` declares.
pub fn programs() -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let declared = std::env::var("SHELLGATE_TEST_PROGRAMS").unwrap_or_default();
    let how = "start tests with `cargo nextest run`, or with `PATH` and `SHELLGATE_TEST_PROGRAMS` set to what \
               `scripts/test-programs folder` prints";
    assert!(!path.is_empty() && path == declared, "{how}");
    path
}

/// Where the tests' PATH has a program.
pub fn program_file(name: &str) -> String {
    format!("{}/{name}", programs())
}

/// The program under test, where every user can run it.
pub fn shellgate() -> PathBuf {
    for_all(Path::new(env!("CARGO_BIN_EXE_shellgate")))
}

/// A program where every user can run it.
pub fn for_all(built: &Path) -> PathBuf {
    let open_to_all = built.ancestors().skip(1).all(|folder| {
        std::fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
    });
    if open_to_all { built.to_owned() } else { copy_for_all(built) }
}

/// A checkout in a private folder: other users need a copy. Made once per build, by whoever comes first; copies of builds
/// that nobody can still be testing go then: each takes 75 MB.
fn copy_for_all(built: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(built).unwrap();
    let copies = std::env::temp_dir().join("shellgate-test-binaries");
    let copy = copies
        .join(format!("{}-{}-{}", metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
        .join(built.file_name().unwrap());
    if copy.exists() {
        return copy;
    }
    let folder = copy.parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    for path in [copies.as_path(), folder] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let draft = tempfile::NamedTempFile::new_in(folder).unwrap().into_temp_path();
    std::fs::copy(built, &draft).unwrap();
    std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o755)).unwrap();
    // The first one stays: whoever runs it already starts its keeper from there.
    let kept = draft.persist_noclobber(&copy);
    assert!(kept.is_ok() || copy.exists(), "{kept:?}");
    let is_old = |other: &std::fs::DirEntry| {
        let age = other.metadata().ok().and_then(|metadata| metadata.modified().ok()?.elapsed().ok());
        age.is_some_and(|age| age > Duration::from_secs(2 * 3600))
    };
    for other in std::fs::read_dir(&copies).unwrap().flatten().filter(is_old) {
        let _ = std::fs::remove_dir_all(other.path());
    }
    copy
}

/// A root, a state folder and a home for one user.
pub struct Place {
    folder: tempfile::TempDir,
    pub user: Option<u32>,
}

impl Drop for Place {
    /// A test that passed has seen to it that nothing is left. One that failed has not.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.strictly(["stop", "--all", "--now"]).output();
        }
    }
}

/// Runs `test` as ourselves and, when we are root, as an ordinary user.
pub fn for_each_user(test: impl Fn(&Place)) {
    let users: &[Option<u32>] = if is_root() { &[None, Some(ORDINARY)] } else { &[None] };
    for user in users {
        let place = Place::new(*user);
        test(&place);
        place.assert_nothing_is_left();
    }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Place {
    pub fn new(user: Option<u32>) -> Self {
        let folder = tempfile::Builder::new().prefix("shellgate-test-").tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let place = Self { folder, user };
        for path in [place.root(), place.state(), place.home()] {
            std::fs::create_dir(&path).unwrap();
            if let Some(user) = user {
                chown(&path, Some(user), Some(user)).unwrap();
            }
        }
        // What a test runs is nobody's question, unless the test says otherwise.
        let settings = place.home().join(".config/shellgate");
        std::fs::create_dir_all(&settings).unwrap();
        let file = settings.join("config.toml");
        std::fs::write(&file, "[approval]\nmode = \"allow\"\n").unwrap();
        chown(&file, user, user).unwrap();
        place
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Writes a file below the root.
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.root().join(name);
        std::fs::write(&path, content).unwrap();
        if let Some(user) = self.user {
            chown(&path, Some(user), Some(user)).unwrap();
        }
        path
    }

    /// `program` in this place: as its user, in its root, with a clean environment.
    pub fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root()).env_clear();
        command.env("PATH", programs()).env("LANG", "C.UTF-8").env("HOME", self.home());
        command.env("SHELLGATE_HOME", self.state()).stdin(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// `shellgate ARGS` in this place.
    pub fn shellgate<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.program(shellgate());
        command.args(args);
        command
    }

    /// `shellgate ARGS` in this place, with the questions that a user would be asked.
    pub fn strictly<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.shellgate(args);
        command.env("XDG_CONFIG_HOME", self.home().join("nothing"));
        command
    }

    /// `shellgate ARGS`, to its end.
    pub fn output<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Output {
        self.shellgate(args).output().unwrap()
    }

    /// `shellgate call`, to its answer.
    pub fn call(&self, arguments: &Value) -> Value {
        self.call_with(&[], arguments)
    }

    /// `shellgate call FLAGS`, to its answer.
    pub fn call_with(&self, flags: &[&str], arguments: &Value) -> Value {
        let text = arguments.to_string();
        let output = self.output(["call"].iter().chain(flags).copied().chain([text.as_str()]));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// Starts `shellgate ARGS`, with its output in pipes.
    pub fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Child {
        self.shellgate(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A gate of the library in this place, for the user we are.
    pub fn gate(&self) -> shellgate::Gate {
        assert_eq!(self.user, None, "the library runs as we do");
        let builder = shellgate::Gate::builder().root(self.root()).state_folder(self.state());
        builder.keeper_program(shellgate()).flags(unasked()).build().unwrap()
    }

    /// The keepers of this place.
    pub fn keepers(&self) -> Vec<u64> {
        self.holders("shellgate-keep")
    }

    /// Processes of this name that hold something in the state folder: the folder of sockets, or files of output.
    pub fn holders(&self, comm: &str) -> Vec<u64> {
        let state = self.state();
        let state = state.canonicalize().unwrap_or(state);
        let holds = |pid: &u64| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            let mut targets = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
            name.trim() == comm && targets.any(|target| target.starts_with(&state))
        };
        pids().filter(holds).collect()
    }

    /// No keeper stays when its work is done: its socket goes with it.
    pub fn assert_nothing_is_left(&self) {
        let sessions = self.state().join("sessions");
        wait_until("the keepers are gone", || {
            std::fs::read_dir(&sessions).is_ok_and(|mut entries| entries.next().is_none())
                || !sessions.exists()
        });
    }
}

/// For gates of the library, which read the settings of whoever tests.
pub fn unasked() -> shellgate::settings::Flags {
    shellgate::settings::Flags {
        approve: Some(shellgate::settings::ApprovalMode::Allow),
        ..shellgate::settings::Flags::default()
    }
}

/// Waits for something that must happen.
pub fn wait_until(what: &str, happens: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !happens() {
        assert!(Instant::now() < until, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a pipe that nobody reads takes no more: how many bytes that are depends on how they were written.
pub fn wait_until_full(pipe: &impl std::os::fd::AsFd) {
    let held = || rustix::io::ioctl_fionread(pipe).unwrap();
    wait_until("the pipe is full", || {
        let before = held();
        std::thread::sleep(Duration::from_millis(300));
        before > 4096 && before == held()
    });
}

/// Whether a process with this number lives; one that is dead and not reaped doesn't count.
pub fn is_alive(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// The living processes whose command line contains `mark`.
pub fn processes_with(mark: &str) -> Vec<u64> {
    let own = u64::from(std::process::id());
    pids()
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            *pid != own && String::from_utf8_lossy(&line).replace('\0', " ").contains(mark) && is_alive(*pid)
        })
        .collect()
}

/// All processes there are.
pub fn pids() -> impl Iterator<Item = u64> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A number that no other test uses, to recognise processes by: `sleep 3600.NNNN`.
pub fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("3600.{}{number:03}", std::process::id())
}

pub fn kill(pid: u64) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}
