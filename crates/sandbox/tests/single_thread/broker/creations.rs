//! Protected names that don't exist can't be made.

use super::{fail, protecting, succeed};
use crate::Test;
use crate::place::{Place, as_each_user, launcher, run};

pub(crate) const TESTS: &[Test] = &[
    ("absent_protected_names_cannot_be_made", absent_protected_names_cannot_be_made),
    ("folders_above_protected_names_cannot_be_replaced", folders_above_protected_names_cannot_be_replaced),
    ("other_names_can_be_made", other_names_can_be_made),
    ("a_path_that_changes_during_the_call_makes_nothing", a_path_that_changes_during_the_call_makes_nothing),
];

const PROTECTED: [&str; 8] = [
    ".git/hooks",
    ".git/config*",
    ".git/modules/*/config",
    ".git/modules/*/hooks",
    ".vscode",
    ".mcp.json",
    ".envrc",
    ".github/workflows",
];

/// What must not exist in the end.
const FORBIDDEN: [&str; 8] = [
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/modules/sub/config",
    ".vscode",
    ".mcp.json",
    ".envrc",
    ".github/workflows",
];

fn assert_absent(place: &Place, text: &str) {
    for path in FORBIDDEN {
        let path = place.path("root").join(path);
        assert!(path.symlink_metadata().is_err(), "{text} made {}", path.display());
    }
}

fn absent_protected_names_cannot_be_made() {
    as_each_user(|place| {
        place.write("root/.git/index", "");
        place.write("root/.git/modules/sub/HEAD", "");
        place.write("root/folder/config", "evil");
        std::fs::create_dir(place.path("root/.github")).unwrap();
        let (mut launcher, _pod) = launcher(&protecting(place, &PROTECTED));
        for text in [
            "echo x > .mcp.json",
            "echo x > $PWD/.mcp.json",
            "echo x > ./folder/../.mcp.json",
            "echo x > /proc/self/cwd/.mcp.json",
            "echo x > /proc/self/root$PWD/.mcp.json",
            "echo x >> .envrc",
            "touch .envrc",
            "mkdir .vscode",
            "mkdir -p .vscode/x",
            "mkfifo .vscode",
            "ln -s folder .vscode",
            "ln -s file .envrc",
            "ln file .envrc",
            "mv file .envrc",
            "mv folder .vscode",
            "cp file .envrc",
            "cp -r folder .vscode",
            "ln -s .envrc link1; echo x > link1",
            "ln -s $PWD/.envrc link2; ln -s link2 link3; echo x > link3",
            "ln -s .git gitlink; echo x > gitlink/config",
            "ln -s . here; echo x > here/here/.envrc",
            "echo x > .git/config",
            "echo x > .git/config.worktree",
            "echo x > .git/CONFIG",
            "cd .git && echo x > config",
            "cd folder && echo x > ../.git/config",
            "mv folder/config .git/config",
            "mkdir .git/hooks",
            "mv folder .git/hooks",
            "echo x > .git/modules/sub/config",
            "mkdir .git/modules/sub/hooks",
            "mkdir .git/modules/new && echo x > .git/modules/new/config",
            "mkdir .github/workflows",
            "mv folder .github/workflows",
            "python3 -c 'import os; os.mkdir(\".vscode\")'",
            "python3 -c 'import os; d=os.open(\".git\", os.O_PATH); os.open(\"config\", os.O_CREAT|os.O_WRONLY, dir_fd=d)'",
            "python3 -c 'import os; os.symlink(\"x\", \".envrc\")'",
            "python3 -c 'import os; os.mknod(\".envrc\")'",
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\".envrc\")'",
            "python3 -c 'import os; f=os.open(\".\", os.O_TMPFILE|os.O_RDWR); os.link(\"/proc/self/fd/%d\" % f, \".envrc\", follow_symlinks=True)'",
            "python3 -c 'import ctypes; c=ctypes.CDLL(None); exit(c.renameat2(-100, b\"file\", -100, b\".envrc\", 2) and 1)'",
            "python3 -c 'import ctypes; c=ctypes.CDLL(None); exit(c.renameat2(-100, b\"file\", -100, b\".envrc\", 1) and 1)'",
            "(cd .. && mv root other)",
        ] {
            let output = fail(&mut launcher, place, text);
            assert!(!output.contains("Function not implemented"), "{text}: {output}");
            assert_absent(place, text);
        }
        // What exists has the kernel's answer, and what doesn't has it for reading.
        assert!(fail(&mut launcher, place, "cat .envrc").contains("No such file"));
        assert!(fail(&mut launcher, place, "mv absent .envrc").contains("No such file"));
        assert_eq!(succeed(&mut launcher, place, "cat file folder/config"), "insideevil");
        succeed(&mut launcher, place, "mkdir -p .git/modules .github; echo x > .git/index");
    });
}

fn folders_above_protected_names_cannot_be_replaced() {
    as_each_user(|place| {
        place.write("root/folder/config", "evil");
        place.write("root/folder/workflows/x", "evil");
        let (mut launcher, _pod) = launcher(&protecting(place, &PROTECTED));
        for text in [
            "mv folder .git",
            "mv folder .github",
            "ln -s folder .git",
            "ln -s folder .github",
            "echo 'gitdir: folder' > .git",
            "ln folder/config .git",
            "mkdir .git; mv -T folder .git",
            "python3 -c 'import ctypes; c=ctypes.CDLL(None); exit(c.renameat2(-100, b\"folder\", -100, b\".git\", 2) and 1)'",
            "mkdir .git/modules; mv folder .git/modules/x",
            "mkdir .git/modules; ln -s ../../folder .git/modules/x",
            "mv .git away",
        ] {
            fail(&mut launcher, place, text);
            assert_absent(place, text);
            assert!(!place.path("root/.git").is_symlink() && !place.path("root/.git").is_file(), "{text}");
            assert!(place.path("root/folder/config").exists(), "{text}");
        }
        // An empty folder does no harm, and what is made in it is checked.
        succeed(&mut launcher, place, "mkdir -p .git .github && touch .git/HEAD .github/CODEOWNERS");
        fail(&mut launcher, place, "echo x > .git/config");
        fail(&mut launcher, place, "mkdir .github/workflows");
        assert_absent(place, "");
    });
}

fn other_names_can_be_made() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&protecting(place, &PROTECTED));
        succeed(
            &mut launcher,
            place,
            "mkdir -p sub/.git/hooks sub/.vscode && echo x > sub/.git/config && echo x > sub/.envrc && mv sub/.envrc x",
        );
        let output = succeed(
            &mut launcher,
            place,
            "echo a > /dev/stdout; echo b > /dev/stderr; exec 3>log; echo c > /dev/fd/3; echo d > /proc/self/fd/1; cat log",
        );
        assert_eq!(output, "a\nb\nd\nc\n");
        // A pipe waits for its other end, and others go on meanwhile.
        let output = succeed(
            &mut launcher,
            place,
            "mkfifo pipe; (echo through > pipe) & for i in 1 2 3 4 5 6 7 8; do touch meanwhile$i; done; ls -d meanwhile8; cat pipe",
        );
        assert_eq!(output, "meanwhile8\nthrough\n");
        // A writer that waits can be killed, and handles its signals.
        let (code, _) = run(&mut launcher, place, "timeout -k 1 0.3 bash -c 'echo x > pipe'");
        assert_eq!(code, 124);
        let caught = "import os, signal\ndef stop(*a): print('caught', flush=True); os._exit(7)\nsignal.signal(signal.SIGALRM, stop)\nsignal.setitimer(signal.ITIMER_REAL, 0.2)\nopen('pipe', 'w')";
        let (code, output) = run(&mut launcher, place, &format!("python3 -c \"{caught}\""));
        assert_eq!((code, output.as_str()), (7, "caught\n"));
        let restart = "import ctypes, os, signal, sys\nlibc = ctypes.CDLL(None, use_errno=True)\nsignal.signal(signal.SIGALRM, lambda *a: None)\nsignal.siginterrupt(signal.SIGALRM, sys.argv[1] == '1')\nsignal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)\nos.system('(sleep 2; cat pipe) > /dev/null 2>&1 &')\nprint(libc.open(b'pipe', os.O_CREAT | os.O_WRONLY, 0o600) >= 0, ctypes.get_errno(), flush=True)";
        place.write("root/restart.py", restart);
        assert_eq!(succeed(&mut launcher, place, "python3 restart.py 0"), "True 0\n", "the call goes on");
        assert_eq!(succeed(&mut launcher, place, "python3 restart.py 1"), "False 4\n", "EINTR");
        // Another pipe: a reader of the one above may still be there. Its end is never seen, however late a writer comes.
        let many = "mkfifo other; for i in $(seq 40); do (echo $i > other) & done; sleep 0.2; touch after; exec 3<>other; head -n 40 <&3 | wc -l; wait";
        assert_eq!(succeed(&mut launcher, place, many), "40\n");
        assert_eq!(
            succeed(
                &mut launcher,
                place,
                "umask 077; echo x > private; mkdir own; find private own -printf '%m '"
            ),
            "600 700 "
        );
    });
}

/// One thread changes a byte of the path, again and again, while another makes files by it.
const SWAP: &str = r#"
import ctypes, os, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
path = ctypes.create_string_buffer(b"./xenvrc")
done = False
def swap():
    while not done:
        path[2] = b"."
        path[2] = b"x"
for _ in range(2):
    threading.Thread(target=swap).start()
sys.setswitchinterval(1e-6)
made = refused = 0
calls = [
    lambda: libc.open(path, os.O_CREAT | os.O_WRONLY, 0o600),
    lambda: libc.mkdir(path, 0o700),
    lambda: libc.symlink(b"to", path),
    lambda: libc.rename(b"source", path),
    lambda: libc.link(b"file", path),
    lambda: libc.mknod(path, 0o600, 0),
]
for number in range(2000):
    open("source", "w").close()
    path[2] = b"." if number // len(calls) % 2 else b"x"
    result = calls[number % len(calls)]()
    if result >= 0:
        made += 1
        if number % len(calls) == 0:
            os.close(result)
    else:
        refused += 1
    if os.path.lexists(".envrc"):
        print("MADE", number)
    if os.path.isdir("xenvrc"):
        os.rmdir("xenvrc")
    elif os.path.lexists("xenvrc"):
        os.unlink("xenvrc")
done = True
print("made some", made > 100, "refused some", refused > 100)
"#;

fn a_path_that_changes_during_the_call_makes_nothing() {
    as_each_user(|place| {
        place.write("swap.py", SWAP);
        let (mut launcher, _pod) = launcher(&protecting(place, &PROTECTED));
        let output = succeed(&mut launcher, place, "python3 ../swap.py");
        assert_eq!(output, "made some True refused some True\n");
        assert_absent(place, "");
    });
}
