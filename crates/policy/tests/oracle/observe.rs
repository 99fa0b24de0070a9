//! Runs texts under `strace`, in namespaces of their own and as an ordinary user, and tells what they started and wrote.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One text under one version of its program.
pub(crate) struct Run {
    pub(crate) text: String,
    /// The folder of programs that it finds first.
    pub(crate) version: String,
    /// The programs that it may start.
    pub(crate) programs: BTreeSet<String>,
}

/// What texts did, compared with their verdicts.
#[derive(Default)]
pub(crate) struct Observed {
    /// What the verdicts didn't name, a line each.
    pub(crate) unforeseen: Vec<String>,
    /// How many texts started exactly the programs that their verdicts named, and wrote nothing else.
    pub(crate) exact: usize,
}

/// Versions of programs: the folder, the name that texts use, the program.
const VERSIONS: &[(&str, &str, &str)] = &[
    ("mawk", "awk", "mawk"),
    ("gawk", "awk", "gawk"),
    ("posix-gawk", "awk", "gawk"),
    ("busybox", "awk", "busybox"),
    ("original-awk", "awk", "original-awk"),
    ("gnu", "sed", "sed"),
    ("posix-gnu", "sed", "sed"),
    ("busybox", "sed", "busybox"),
    ("gnu", "find", "find"),
    ("busybox", "find", "busybox"),
    ("gnu", "sqlite3", "sqlite3"),
];

const CALLS: &str = "trace=execve,execveat,open,openat,creat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,\
    link,linkat,symlink,symlinkat,mknod,mknodat,truncate,chmod,fchmodat,chown,fchownat,connect,bind,utimensat";

/// Runs all texts of a folder, each with its own files. A text that doesn't end has used its time after a second.
const DRIVER: &str = r#"
ulimit -t 1 -f 2000
for case in "$1"/*; do
    rm -rf work; mkdir -p work/d; cd work; printf 'a\nb a/b\n' > in.txt; printf x > d/a
    read -r version < "$case/version"
    export PATH="$2/$version:$OLD_PATH"
    case $version in posix-*) export POSIXLY_CORRECT=1;; *) unset POSIXLY_CORRECT;; esac
    strace -f --seccomp-bpf -qq -s 200 -o "$case/log" -e "$3" bash "$case/text" < /dev/null > /dev/null 2>&1
    cd ..
done
"#;

pub(crate) struct Observer {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Observer {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("root");
        for path in [&base, &root, &base.join("cases"), &base.join("versions"), &root.join("work")] {
            fs::create_dir_all(path).unwrap();
            fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
        }
        for (version, name, program) in VERSIONS {
            let folder = base.join("versions").join(version);
            fs::create_dir_all(&folder).unwrap();
            symlink(find_program(program), folder.join(name)).unwrap();
        }
        Self { folder, root }
    }

    /// The folder that texts are judged in.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Runs the texts.
    pub(crate) fn observe(&self, runs: &[Run]) -> Observed {
        let mut observed = Observed::default();
        if runs.is_empty() {
            return observed;
        }
        let base = self.folder.path().canonicalize().unwrap();
        let cases = tempfile::tempdir_in(base.join("cases")).unwrap();
        fs::set_permissions(cases.path(), Permissions::from_mode(0o777)).unwrap();
        for (at, run) in runs.iter().enumerate() {
            let case = cases.path().join(format!("{at:05}"));
            fs::create_dir(&case).unwrap();
            fs::set_permissions(&case, Permissions::from_mode(0o777)).unwrap();
            fs::write(case.join("text"), &run.text).unwrap();
            fs::write(case.join("version"), format!("{}\n", run.version)).unwrap();
        }
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", "600"]);
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            command.args(["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]);
        }
        command.args([
            "unshare",
            "--user",
            "--map-current-user",
            "--mount",
            "--pid",
            "--fork",
            "--mount-proc",
        ]);
        command.args(["--net", "--kill-child", "bash", "-c", DRIVER, "driver"]);
        command.arg(cases.path()).arg(base.join("versions")).arg(CALLS);
        command.current_dir(&self.root).env("OLD_PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", &base).env("LC_ALL", "C.UTF-8").env_remove("BASH_ENV");
        let output = command.stdin(Stdio::null()).output().unwrap();
        for (at, run) in runs.iter().enumerate() {
            let log = fs::read(cases.path().join(format!("{at:05}/log")));
            assert!(log.is_ok(), "no trace of {:?}: {output:?}", run.text);
            let log = log.unwrap();
            let log = String::from_utf8_lossy(&log);
            assert!(log.contains("execve("), "nothing was traced: {log} {output:?}");
            // The first start is that of bash.
            let mut lines = log.lines();
            let before: Vec<&str> = lines.by_ref().take_while(|line| !line.contains(" execve(")).collect();
            let lines: Vec<&str> = before.into_iter().chain(lines).collect();
            let unforeseen = lines.iter().filter(|line| is_unforeseen(line, &run.programs));
            let unforeseen: Vec<String> =
                unforeseen.map(|line| format!("{}: {}\n    {line}", run.version, run.text)).collect();
            let started: BTreeSet<&str> = lines.iter().filter_map(|line| started(line)).collect();
            let all_started = run.programs.iter().all(|name| started.contains(name.as_str()));
            observed.exact += usize::from(unforeseen.is_empty() && all_started);
            observed.unforeseen.extend(unforeseen);
        }
        observed
    }
}

fn find_program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.exists());
    assert!(found.is_some(), "{name} is not installed");
    found.unwrap().canonicalize().unwrap()
}

/// The name of the program that a line of the trace starts.
fn started(line: &str) -> Option<&str> {
    let (before, arguments) = line.split_once('(')?;
    before
        .ends_with(" execve")
        .then(|| arguments.split('"').nth(1))?
        .map(|path| path.rsplit('/').next().unwrap_or(path))
}

/// Whether a line of the trace shows a start or a write that isn't foreseen. Attempts count.
fn is_unforeseen(line: &str, programs: &BTreeSet<String>) -> bool {
    let Some((before, arguments)) = line.split_once('(') else { return false };
    let call = before.rsplit(' ').next().unwrap_or_default();
    let path = arguments.split('"').nth(1).unwrap_or_default();
    match call {
        "execve" | "execveat" => !programs.contains(path.rsplit('/').next().unwrap_or_default()),
        "open" | "openat" => {
            let writes =
                ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| arguments.contains(flag));
            writes && !["/dev/null", "/dev/tty", "/dev/stderr", "/dev/stdout"].contains(&path)
        }
        // The C library looks up users.
        "connect" => path != "/var/run/nscd/socket",
        "" => false,
        _ => before.chars().next().is_some_and(|c| c.is_ascii_digit()),
    }
}
