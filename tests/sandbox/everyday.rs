//! Everyday work, in the modes `workspace` and `strict`, in a home folder that is empty: nothing is fetched from a network.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use super::{OUTSIDE, for_each_user, run};
use crate::support::{Place, give, is_root, processes_with, programs, wait_until};

/// A user that has an entry in `/etc/passwd`, which `ssh` wants.
const NOBODY: u32 = 65534;

/// A folder in the root with the tests' programs: the machine's folder of them is not readable in the mode `strict`.
fn link_programs(place: &Place) {
    let folder = place.root().join("bin");
    std::fs::create_dir(&folder).unwrap();
    for entry in std::fs::read_dir(programs()).unwrap().flatten() {
        symlink(std::fs::read_link(entry.path()).unwrap(), folder.join(entry.file_name())).unwrap();
    }
}

/// Runs a script in a mode and asserts what it prints at last.
fn works(place: &Place, mode: &str, script: &str, last_line: &str) {
    place.write("work.sh", &format!("set -e\nPATH=$PWD/bin\n{script}"));
    let answer = run(place, mode, ". ./work.sh");
    let printed = answer["stdout"].as_str().unwrap_or_default().lines().next_back().unwrap_or_default();
    assert_eq!((answer["status"].as_str(), printed), (Some("completed"), last_line), "{mode}: {answer:#}");
}

/// Asserts that a script works in these modes, as each user, in a root of its own.
fn works_in(modes: &[&str], script: &str, last_line: &str) {
    for mode in modes {
        for_each_user(|place| {
            link_programs(place);
            works(place, mode, script, last_line);
        });
    }
}

const BOTH: [&str; 2] = ["workspace", "strict"];

/// A repository beside which others are cloned, and a command with a name for commits.
const GIT: &str = "
git() { command git -c user.name=a -c user.email=a@b -c init.defaultBranch=main \"$@\"; }
mkdir source && cd source && git init -q . && echo x > a && git add a && git commit -qm one && cd ..
";

#[test]
fn git_clones_fetches_and_rebases() {
    let script = format!(
        "{GIT}
git clone -q source copy && cd copy && git checkout -qb side && echo y > b && git add b && git commit -qm two
(cd ../source && echo z > c && git add c && git commit -qm three)
git fetch -q && git rebase -q origin/main && git tag v1 && git stash list && git gc -q
echo more >> a && git stash -q && git stash pop -q && git commit -qam four && git merge -q origin/main
git log --format=%s | tr '\\n' ' '"
    );
    works_in(&BOTH, &script, "four two three one ");
}

/// A package in a folder, installed into a new environment.
const PIP: &str = "
mkdir package && echo 'print(6 * 7)' > package/answer.py
echo 'from setuptools import setup; setup(name=\"answer\", version=\"1\", py_modules=[\"answer\"])' > package/setup.py
python3 -m venv venv
venv/bin/python -m pip install -q --no-index --no-build-isolation --disable-pip-version-check ./package >&2
venv/bin/python -c 'import answer'";

#[test]
fn python_packages_are_installed_into_a_venv() {
    works_in(&["workspace"], PIP, "42");
}

#[test]
fn python_packages_are_installed_in_strict() {
    works_in(&["strict"], PIP, "42");
}

/// A package with a dependency that lies beside it, packed: npm unpacks it by way of its cache.
const NPM: &str = r#"
mkdir -p work/dependency && cd work
echo '{"name": "dependency", "version": "1.0.0"}' > dependency/package.json
echo '{"name": "work", "version": "1.0.0", "scripts": {"test": "node test.js"}}' > package.json
echo 'console.log(require("dependency/package.json").version)' > test.js
export npm_config_offline=true npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false
npm pack ./dependency >&2 && npm install ./dependency-1.0.0.tgz >&2 && npm test --silent
"#;

#[test]
fn npm_installs_and_tests() {
    works_in(&["workspace"], NPM, "1.0.0");
}

/// The home folder is not there in the mode `strict`, so the cache has to be elsewhere.
#[test]
fn npm_works_in_strict_with_a_cache_elsewhere() {
    works_in(&["strict"], &format!("export npm_config_cache=/tmp/npm\n{NPM}"), "1.0.0");
}

#[test]
fn make_and_compilers_work() {
    let script = "
echo 'int main(void) { return 0; }' > main.c
printf 'main: main.o\\n\\tcc -o main main.o\\nmain.o: main.c\\n\\tcc -c main.c\\n' > Makefile
make -j2 >&2 && ./main && echo built";
    works_in(&BOTH, script, "built");
}

#[test]
fn interpreters_work() {
    let script = "
python3 -c 'import multiprocessing, subprocess, tempfile, sqlite3; sqlite3.connect(\"data.db\").execute(\"create table t (a)\")
with tempfile.TemporaryDirectory() as at: open(at + \"/file\", \"w\").close()
print(multiprocessing.Pool(2).map(abs, [-1]), file=__import__(\"sys\").stderr)'
node -e 'new (require(\"worker_threads\").Worker)(\"console.log(6 * 7)\", {eval: true})'";
    works_in(&BOTH, script, "42");
}

#[test]
fn archives_with_other_owners_are_unpacked() {
    let script = "
python3 -c '
import io, tarfile
with tarfile.open(\"archive.tar\", \"w\") as archive:
    entry = tarfile.TarInfo(\"folder/file\"); entry.uid = entry.gid = 777; entry.size = 5
    archive.addfile(entry, io.BytesIO(b\"words\"))'
tar xf archive.tar --no-same-owner && cat folder/file";
    works_in(&BOTH, script, "words");
}

#[test]
fn a_development_server_is_reached_by_the_next_call() {
    for mode in BOTH {
        for_each_user(|place| {
            let python = std::fs::canonicalize(crate::support::program_file("python3")).unwrap();
            let python = python.display();
            place.write("page.html", "hello");
            // The server chooses its port.
            let serve = format!(
                "{python} -u -m http.server --bind 127.0.0.1 0 > log 2>&1 & until read line < log; do :; done"
            );
            let started = place.call_with(&["--sandbox", mode], &json!({"command": serve}));
            let log = std::fs::read_to_string(place.root().join("log")).unwrap();
            let port = log.split(' ').nth(5).unwrap_or_else(|| panic!("{started} {log}")).to_owned();
            let fetch = format!(
                "{python} -c 'import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:{port}/page.html\").read())'"
            );
            assert_eq!(run(place, mode, &fetch)["stdout"], "b'hello'\n", "{mode}");
            let pid = started["background"][0]["pid"].clone();
            assert_eq!(run(place, mode, &format!("kill {pid}"))["status"], "completed");
            let folder = place.root().display().to_string();
            wait_until("it is gone", || processes_with(&folder).is_empty());
        });
    }
}

#[test]
fn keys_for_ssh_are_made_and_its_settings_read() {
    let users = if is_root() { vec![None, Some(NOBODY)] } else { vec![None] };
    let script = "
ssh-keygen -q -t ed25519 -N '' -f key && ssh-keygen -lf key.pub >&2
printf 'Host short\\n  HostName long.example\\n' > settings
ssh -F settings -G short | grep ^hostname";
    for (mode, user) in BOTH.iter().flat_map(|mode| users.iter().map(move |user| (mode, user))) {
        let place = Place::below(Path::new(OUTSIDE), *user);
        link_programs(&place);
        works(&place, mode, script, "hostname long.example");
        place.assert_nothing_is_left();
    }
}

/// Links the files of a folder, and of those below it.
fn link_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            link_all(&from, &to);
        } else {
            std::fs::hard_link(&from, &to).or_else(|_| std::fs::copy(&from, &to).map(drop)).unwrap();
        }
    }
}

/// The toolchain by hard links: it may be in a home folder that other users can't enter.
fn link_toolchain(to: &Path) {
    let from = Path::new(env!("CARGO")).ancestors().nth(2).unwrap();
    for folder in ["bin", "lib"] {
        link_all(&from.join(folder), &to.join(folder));
    }
}

/// In the mode `strict` the toolchain has to be where it can be read: with the system's programs, or in the root.
#[test]
fn cargo_builds_and_tests() {
    for mode in BOTH {
        for_each_user(|place| {
            link_programs(place);
            let above =
                if mode == "strict" { place.root() } else { place.root().parent().unwrap().to_owned() };
            let toolchain = above.join("toolchain");
            std::fs::create_dir(&toolchain).unwrap();
            give(&toolchain, place.user);
            link_toolchain(&toolchain);
            let script = format!(
                "
PATH={}/bin:$PATH
mkdir -p crate/src && cd crate
printf '[package]\\nname = \"answer\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n[workspace]\\n' > Cargo.toml
echo 'fn main() {{ println!(\"{{}}\", 6 * 7) }} #[test] fn counts() {{ assert_eq!(1 + 1, 2) }}' > src/main.rs
cargo build -q && cargo test -q >&2 && cargo run -q",
                toolchain.display()
            );
            works(place, mode, &script, "42");
        });
    }
}
