//! Ordinary work under all walls at once.

use std::path::{Path, PathBuf};
use std::process::Command;

use shellgate_sandbox::walls::capabilities;
use shellgate_sandbox::walls::landlock::{PathRules, Ruleset, Scope, Scopes};
use shellgate_sandbox::walls::seccomp::{Arch, Program, load, rules};
use shellgate_sandbox::walls::verify::{Held, PROBE_FILE, refuses_writing};

use crate::Test;
use crate::users::{Folder, User, run_as};

pub(crate) const TESTS: &[Test] = &[
    ("the_walls_hold_for_a_command_and_its_children", the_walls_hold_for_a_command_and_its_children),
    ("shells_work_behind_the_walls", shells_work_behind_the_walls),
    ("threads_and_processes_of_python_work", threads_and_processes_of_python_work),
    ("node_and_make_and_a_compiler_work", node_and_make_and_a_compiler_work),
];

/// As a launcher does it.
fn confine(writable: &Path) {
    // What a pod gives every command, and its own folder.
    let common = ["/dev/null", "/dev/ptmx", "/dev/pts", "/dev/shm"].map(PathBuf::from);
    let writable = common.into_iter().chain([writable.to_path_buf()]).collect();
    let paths = PathRules { writable, readable: None };
    let scopes = Scopes { abstract_sockets: Scope::Domain, signals: Scope::Domain };
    let ruleset = Ruleset::prepare(&paths, scopes).unwrap();
    let program = Program::compile(Arch::CURRENT.unwrap(), &rules(&[]), u64::MAX).unwrap();
    assert_eq!(refuses_writing(PROBE_FILE), Ok(false));
    capabilities::drop_all().unwrap();
    ruleset.apply().unwrap();
    load(&program).unwrap();
    assert!(Held::read().unwrap().is_confined());
    assert_eq!(refuses_writing(PROBE_FILE), Ok(true));
}

/// What a command prints that runs confined in a folder of its own, as each user.
fn outputs(program: &str, arguments: &[&str]) -> Vec<String> {
    let mut outputs = Vec::new();
    for user in [User::Root, User::Ordinary, User::Namespaced] {
        let folder = Folder::new("everyday");
        let home = folder.folder("home");
        run_as(user, || {
            confine(&home);
            let said = Command::new(program)
                .args(arguments)
                .current_dir(&home)
                .env("HOME", &home)
                .env("TMPDIR", &home)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&said.stdout);
            let errors = String::from_utf8_lossy(&said.stderr);
            assert!(said.status.success(), "{user:?}: {} {text} {errors}", said.status);
            std::fs::write(home.join("said"), text.as_bytes()).unwrap();
        });
        outputs.push(std::fs::read_to_string(home.join("said")).unwrap());
    }
    outputs
}

fn assert_says(program: &str, arguments: &[&str], expected: &str) {
    for said in outputs(program, arguments) {
        assert_eq!(said, expected);
    }
}

fn the_walls_hold_for_a_command_and_its_children() {
    let text = "bash -c \"grep -E '^(NoNewPrivs|Seccomp|CapEff)' /proc/self/status\"; \
                (: > /tmp/shellgate-walls-outside) 2>&1 | grep -c denied; unshare -r true 2>&1 | grep -c permitted";
    for said in outputs("bash", &["-c", text]) {
        let lines: Vec<String> = said.lines().map(|line| line.replace('\t', " ")).collect();
        assert_eq!(
            lines,
            ["CapEff: 0000000000000000", "NoNewPrivs: 1", "Seccomp: 2", "Seccomp_filters: 1", "1", "1"],
        );
    }
    assert!(!Path::new("/tmp/shellgate-walls-outside").exists());
}

fn shells_work_behind_the_walls() {
    let text = "seq 1000 | sort -rn | head -n 2 | tr '\\n' ' '; for i in 1 2 3; do (exit $i) & done; wait; \
                echo \"$(cat <(echo one) <<< two)\"; sleep 1000 & kill $!; wait $! 2>/dev/null; echo $?; \
                mkdir -p a/b && echo x > a/b/c && cp a/b/c a/d && ln -s d a/e && cat a/e && rm -r a; \
                timeout 5 sh -c 'echo in time'";
    assert_says("bash", &["-c", text], "1000 999 one\n143\nx\nin time\n");
}

fn threads_and_processes_of_python_work() {
    let program = "
import threading, subprocess, multiprocessing, socket, os, pty, tempfile, time, concurrent.futures
done = []
threads = [threading.Thread(target=done.append, args=(i,)) for i in range(20)]
for t in threads: t.start()
for t in threads: t.join()
print(len(done))
print(subprocess.run(['sh', '-c', 'echo sub; exit 3'], capture_output=True, text=True))
with concurrent.futures.ProcessPoolExecutor(2) as pool: print(sum(pool.map(abs, range(-5, 5))))
print('lo' in [name for _, name in socket.if_nameindex()])
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(server.getsockname())
accepted, _ = server.accept()
client.sendall(b'tcp'); print(accepted.recv(3))
one, other = socket.socketpair(); one.send(b'pair'); print(other.recv(4))
with tempfile.TemporaryDirectory() as d: open(d + '/x', 'w').write('x')
pid, fd = pty.fork()
if pid == 0: os.execvp('tty', ['tty'])
try: said = os.read(fd, 100)
except OSError: said = b''
print(said.startswith(b'/dev/pts/'), os.waitpid(pid, 0)[1])
";
    let expected = "20\nCompletedProcess(args=['sh', '-c', 'echo sub; exit 3'], returncode=3, stdout='sub\\n', stderr='')\n\
                    25\nTrue\nb'tcp'\nb'pair'\nTrue 0\n";
    assert_says("python3", &["-c", program], expected);
}

fn node_and_make_and_a_compiler_work() {
    let program = "const { execFileSync } = require('child_process'); const { Worker } = require('worker_threads');
        console.log(execFileSync('echo', ['from node']).toString().trim(), Object.keys(require('os').networkInterfaces()).length >= 0);
        new Worker('require(\"worker_threads\").parentPort.postMessage(7)', { eval: true }).on('message', (m) => {
            require('fs').promises.writeFile('file', 'x').then(() => console.log(m)); });";
    assert_says("node", &["-e", program], "from node true\n7\n");
    let text = "printf 'all: a b c d\\n%%:\\n\\t@touch $@\\n' > Makefile && make -j2 && ls; \
                printf '#include <pthread.h>\\n#include <stdio.h>\\nvoid *f(void *x){return x;}\\n\
                int main(){pthread_t t;int r=pthread_create(&t,0,f,0);pthread_join(t,0);printf(\"%%d\\\\n\",r);}' > x.c; \
                cc -pthread x.c -o x && ./x";
    assert_says("bash", &["-c", text], "Makefile\na\nall\nb\nc\nd\n0\n");
}
