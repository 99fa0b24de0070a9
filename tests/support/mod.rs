//! A place to test in: a root, a state folder and a home of its own, for a given user.

pub(crate) mod dice;
pub(crate) mod interrupt;
pub(crate) mod pane;
mod place_processes;
pub(crate) mod terminal;

use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// An ordinary user. Not 65534, which hides mistakes about ownership.
pub(crate) const ORDINARY: u32 = 12345;

/// The folder below a place's home with settings that ask.
const ASKING: &str = "nothing";

/// The timeout for events that must happen, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The tests' PATH: a folder with the programs that `tests/programs.tsv` declares.
pub(crate) fn programs() -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let declared = std::env::var("SHELLGATE_TEST_PROGRAMS").unwrap_or_default();
    let how = "start tests with `cargo nextest run`, or with `PATH` and `SHELLGATE_TEST_PROGRAMS` set to what \
               `scripts/test-programs folder` prints";
    assert!(!path.is_empty() && path == declared, "{how}");
    path
}

/// Where the tests' PATH has a program.
pub(crate) fn program_file(name: &str) -> String {
    format!("{}/{name}", programs())
}

/// The program under test, where every user can run it.
pub(crate) fn shellgate() -> PathBuf {
    for_all(Path::new(env!("CARGO_BIN_EXE_shellgate")))
}

/// A program where every user can run it.
pub(crate) fn for_all(built: &Path) -> PathBuf {
    let open_to_all = built.ancestors().skip(1).all(|folder| {
        std::fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
    });
    if open_to_all { built.to_owned() } else { copy_for_all(built) }
}

/// A copy of a program from a private checkout, which other users can't read. The first test of a build makes the copy, and
/// removes the copies of builds that are two hours old: each takes 75 MB.
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
    // Another test may have made the copy already. It must stay, because that test starts keepers from it.
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
pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) user: Option<u32>,
}

impl Drop for Place {
    /// Stops the commands of a failed test. A test that passes has stopped its own.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.strictly(["stop", "--all", "--now"]).output();
        }
    }
}

/// Runs `test` as ourselves and, when we are root, as an ordinary user.
pub(crate) fn for_each_user(test: impl Fn(&Place)) {
    for_each_user_below(&std::env::temp_dir(), test);
}

/// Runs `test` as ourselves and, when we are root, as an ordinary user, in places below a folder.
pub(crate) fn for_each_user_below(folder: &Path, test: impl Fn(&Place)) {
    let users: &[Option<u32>] = if is_root() { &[None, Some(ORDINARY)] } else { &[None] };
    for user in users {
        let place = Place::below(folder, *user);
        test(&place);
        place.assert_nothing_is_left();
    }
}

/// Makes a file belong to a user of a test.
pub(crate) fn give(file: &Path, user: Option<u32>) {
    chown(file, user, user).unwrap();
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Place {
    pub(crate) fn new(user: Option<u32>) -> Self {
        Self::below(&std::env::temp_dir(), user)
    }

    /// A place below a folder. Confined commands can write the folder for temporary files, so a test of what they can't
    /// write needs another one.
    pub(crate) fn below(folder: &Path, user: Option<u32>) -> Self {
        let folder = tempfile::Builder::new().prefix("shellgate-test-").tempdir_in(folder).unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let place = Self { folder, user };
        for path in [place.root(), place.state(), place.home()] {
            std::fs::create_dir(&path).unwrap();
            if let Some(user) = user {
                chown(&path, Some(user), Some(user)).unwrap();
            }
        }
        // Commands run without asking, unless the test chooses other settings. No preset: most tests are about rules.
        for (folder, text) in [
            (".config", "[approval]\nmode = \"allow\"\n[policy]\npreset = \"none\"\n"),
            (ASKING, "[approval]\nmode = \"ask\"\n[policy]\npreset = \"none\"\n"),
        ] {
            let settings = place.home().join(folder).join("shellgate");
            std::fs::create_dir_all(&settings).unwrap();
            let file = settings.join("config.toml");
            std::fs::write(&file, text).unwrap();
            // The user may add rules.
            for path in [place.home().join(folder), settings, file] {
                chown(&path, user, user).unwrap();
            }
        }
        place
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Writes a file below the root.
    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.root().join(name);
        std::fs::write(&path, content).unwrap();
        if let Some(user) = self.user {
            chown(&path, Some(user), Some(user)).unwrap();
        }
        path
    }

    /// `program` in this place: as its user, in its root, with a clean environment.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Command {
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
    pub(crate) fn shellgate<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.program(shellgate());
        command.args(args);
        command
    }

    /// `shellgate ARGS` in this place, with nothing configured.
    pub(crate) fn unconfigured<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.shellgate(args);
        command.env("XDG_CONFIG_HOME", self.home().join("unset"));
        command
    }

    /// `shellgate ARGS` in this place, with a question about everything that no rule covers.
    pub(crate) fn strictly<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.shellgate(args);
        command.env("XDG_CONFIG_HOME", self.home().join(ASKING));
        command
    }

    /// `shellgate ARGS`, to its end.
    pub(crate) fn output<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Output {
        self.shellgate(args).output().unwrap()
    }

    /// `shellgate call`, to its answer.
    pub(crate) fn call(&self, arguments: &Value) -> Value {
        self.call_with(&[], arguments)
    }

    /// `shellgate call FLAGS`, to its answer.
    pub(crate) fn call_with(&self, flags: &[&str], arguments: &Value) -> Value {
        let text = arguments.to_string();
        let output = self.output(["call"].iter().chain(flags).copied().chain([text.as_str()]));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// Starts `shellgate ARGS`, with its output in pipes.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Child {
        self.shellgate(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A gate of the library in this place, for the user we are.
    pub(crate) fn gate(&self) -> shellgate::Gate {
        assert_eq!(self.user, None, "the library runs as we do");
        let builder = shellgate::Gate::builder().root(self.root()).state_folder(self.state());
        builder.keeper_program(shellgate()).flags(unasked()).build().unwrap()
    }

    /// Waits until no keeper is left: a keeper removes its socket when it ends.
    pub(crate) fn assert_nothing_is_left(&self) {
        let sessions = self.state().join("sessions");
        wait_until("the keepers are gone", || {
            std::fs::read_dir(&sessions).is_ok_and(|mut entries| entries.next().is_none())
                || !sessions.exists()
        });
    }
}

/// Flags for gates of the library: they read the settings of the user who runs the tests, and must not ask.
pub(crate) fn unasked() -> shellgate::settings::Flags {
    shellgate::settings::Flags {
        approve: Some(shellgate::settings::ApprovalMode::Allow),
        ..shellgate::settings::Flags::default()
    }
}

/// Waits until `happens` is true. The poll interval grows, because a check may start a process.
pub(crate) fn wait_until(what: &str, happens: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(2);
    while !happens() {
        assert!(Instant::now() < until, "waited in vain until {what}");
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Waits until all threads of a process sleep and nothing wakes them for half a second.
pub(crate) fn wait_until_idle(pid: u32) {
    wait_until_woken_at_most(0, pid);
}

/// Waits until all threads of a process sleep and are woken no more often than this in half a second.
pub(crate) fn wait_until_woken_at_most(times: u64, pid: u32) {
    wait_until("its threads sleep", || {
        let (before, asleep) = (wakeups(pid), is_asleep(pid));
        std::thread::sleep(Duration::from_millis(500));
        asleep && wakeups(pid) <= before + times
    });
}

/// How often the threads of a process have been given the CPU.
fn wakeups(pid: u32) -> u64 {
    let status = status_of_threads(pid);
    let counts = status.lines().filter(|line| line.contains("ctxt_switches:"));
    counts.map(|line| line.rsplit_once('\t').unwrap().1.parse::<u64>().unwrap()).sum()
}

fn is_asleep(pid: u32) -> bool {
    let status = status_of_threads(pid);
    status.lines().filter(|line| line.starts_with("State:")).all(|line| line.contains("sleeping"))
}

fn status_of_threads(pid: u32) -> String {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok()).collect()
}

/// Waits until an unread pipe is full. How many bytes fit depends on how they were written.
pub(crate) fn wait_until_full(pipe: &impl std::os::fd::AsFd) {
    let held = || rustix::io::ioctl_fionread(pipe).unwrap();
    wait_until("the pipe is full", || {
        let before = held();
        std::thread::sleep(Duration::from_millis(300));
        before > 4096 && before == held()
    });
}

/// Whether a process with this pid is alive. A zombie is not.
pub(crate) fn is_alive(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// The living processes whose command line contains `mark`.
pub(crate) fn processes_with(mark: &str) -> Vec<u64> {
    let own = u64::from(std::process::id());
    pids().filter(|pid| *pid != own && command_line(*pid).contains(mark) && is_alive(*pid)).collect()
}

/// The words of a process, joined by blanks. In the middle of an `exec` a process has no words for a moment: without
/// another look, a shell that becomes a `sleep` would count as gone.
fn command_line(pid: u64) -> String {
    let until = Instant::now() + Duration::from_millis(200);
    loop {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        // Kernel threads and zombies never have words, and no program file either.
        let has_program = || std::fs::read_link(format!("/proc/{pid}/exe")).is_ok();
        if !line.is_empty() || !has_program() || Instant::now() > until {
            return String::from_utf8_lossy(&line).replace('\0', " ");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The pids of all processes.
pub(crate) fn pids() -> impl Iterator<Item = u64> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A number that no other test uses, to recognise processes by: `sleep 3600.NNNN`.
pub(crate) fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("3600.{}{number:03}", std::process::id())
}

pub(crate) fn kill(pid: u64) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}
