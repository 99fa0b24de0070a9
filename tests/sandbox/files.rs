//! Files: what can be written and read in each mode.

use super::{fails_confined, for_each_user, is_refused, run, succeeds, write};
use crate::support::program_file;

#[test]
fn a_workspace_can_be_written_and_nothing_outside() {
    for_each_user(|place| {
        assert_eq!(succeeds(place, "workspace", "mkdir -p a/b && echo x > a/b/c && cat a/b/c"), "x\n");
        for attack in [
            "echo x > ../home/new",
            "chmod 700 ../home/file",
            "touch -d yesterday ../home/file",
            "ln ../home/file hard",
            "ln -sf ../home/file soft && echo x > soft",
            "python3 -c 'import os; os.setxattr(\"../home/file\", \"user.a\", b\"b\")'",
            "python3 -c 'import os; os.chown(\"../home/file\", os.getuid(), os.getgid())'",
            "python3 -c 'import os; os.truncate(\"../home/file\", 1)'",
            "rm ../home/file",
        ] {
            write(place, "home/file", "kept");
            let _ = std::fs::remove_file(place.root().join("hard"));
            fails_confined(place, "workspace", attack);
        }
    });
}

#[test]
fn a_read_only_sandbox_writes_only_its_own_temp() {
    for_each_user(|place| {
        place.write("file", "text\n");
        assert_eq!(
            succeeds(place, "read-only", "cat file; echo x > /tmp/only-mine && cat /tmp/only-mine"),
            "text\nx\n"
        );
        assert!(!std::path::Path::new("/tmp/only-mine").exists(), "it was the session's own");
        for attack in ["echo x > new", "echo x >> file", "chmod 600 file", "rm file"] {
            place.write("file", "text\n");
            fails_confined(place, "read-only", attack);
        }
    });
}

#[test]
fn a_strict_sandbox_reads_the_root_and_the_system() {
    for_each_user(|place| {
        write(place, "home/file", "line\n");
        // Folders of programs outside the system can't be read, and the tests' own is one.
        let python = std::fs::canonicalize(program_file("python3")).unwrap();
        let work = format!("echo x > file; read y < file; echo $y; {} -c 'print(6 * 7)'", python.display());
        assert_eq!(succeeds(place, "strict", &work), "x\n42\n");
        for attack in ["read x < ../home/file", "cd ../home", "echo x > ../home/new", "cd /home"] {
            fails_confined(place, "strict", attack);
        }
    });
}

#[test]
fn credentials_cannot_be_read() {
    for_each_user(|place| {
        write(place, "home/.ssh/id_ed25519", "secret");
        write(place, "home/.netrc", "secret");
        write(place, "home/.config/gh/hosts.yml", "secret");
        write(place, "home/.bash_history", "secret");
        for attack in [
            "cat ~/.ssh/id_ed25519",
            "ls ~/.ssh",
            "cat ~/.netrc",
            "cat ~/.config/gh/hosts.yml",
            "cat ~/.bash_history",
            "python3 -c 'open(\"/proc/self/root\" + __import__(\"os\").path.expanduser(\"~/.netrc\"))'",
        ] {
            for mode in ["workspace", "read-only", "strict"] {
                let answer = run(place, mode, attack);
                assert_eq!(answer["status"], "failed", "{mode}: {answer}");
                assert!(!answer.to_string().contains("\"secret"), "{answer}");
            }
            assert_eq!(run(place, "off", attack)["status"], "completed", "without a sandbox: {attack}");
        }
    });
}

#[test]
fn a_credential_that_appears_later_cannot_be_read_either() {
    for_each_user(|place| {
        let server = place.start([
            "run",
            "--sandbox",
            "workspace",
            "echo > up; until [ -e down ]; do sleep 0.05; done",
        ]);
        crate::support::wait_until("the session has a launcher", || place.root().join("up").exists());
        write(place, "home/.netrc", "secret");
        assert_eq!(run(place, "workspace", "cat ~/.netrc")["status"], "failed");
        assert_eq!(run(place, "off", "cat ~/.netrc")["stdout"], "secret");
        place.write("down", "");
        assert!(server.wait_with_output().unwrap().status.success());
    });
}

#[test]
fn files_that_make_programs_run_something_are_protected() {
    for_each_user(|place| {
        for (file, text) in [
            ("root/.git/hooks/pre-commit", "hook"),
            ("root/.git/config", "config"),
            ("root/.vscode/tasks.json", "tasks"),
            ("root/.mcp.json", "{}"),
            ("root/.github/workflows/ci.yml", "on: push"),
        ] {
            write(place, file, text);
        }
        assert_eq!(succeeds(place, "workspace", "echo x > .git/index; cat .git/config"), "config");
        for attack in [
            "echo x > .git/hooks/pre-commit",
            "echo x > .git/hooks/new",
            "echo x > .git/config",
            "rm .git/config",
            "touch new && mv new .git/config",
            "ln -sf /etc/passwd .mcp.json",
            "mv .vscode other",
            "mv .github other",
            "mv .git other",
            "echo x > .github/workflows/new.yml",
        ] {
            is_refused(place, "workspace", attack);
        }
        let control =
            run(place, "off", "x=.git; echo x > $x/hooks/new && mv .vscode other && mv .github more");
        assert_eq!(control["status"], "completed", "{control}");
    });
}

#[test]
fn the_state_folder_cannot_be_read() {
    for_each_user(|place| {
        assert_eq!(succeeds(place, "workspace", "echo hi"), "hi\n");
        // The judge refuses the plain name, in a sandbox or not.
        for attack in
            ["ls ../${x}ate", "ls ../${x}ate/spool", "cat ../${x}ate/journal.db", "echo y > ../${x}ate/new"]
        {
            fails_confined(place, "workspace", &format!("x=$(printf st); {attack}"));
        }
        fails_confined(place, "strict", "x=$(printf st); echo ../${x}ate/* | grep spool");
    });
}

#[test]
fn kept_output_can_be_read_by_its_name_alone() {
    for_each_user(|place| {
        let name = run(place, "workspace", "echo kept")["stdout_file"].as_str().unwrap().to_owned();
        for mode in ["workspace", "read-only", "strict"] {
            // The tests' own folder of programs can't be read in `strict`.
            assert_eq!(succeeds(place, mode, &format!("/usr/bin/tail -n 1 {name}")), "kept\n");
            let answer =
                run(place, mode, &format!("x={}; echo y >> $x", name.replace("/state/", "/st'ate'/")));
            assert_eq!(answer["status"], "failed", "{answer}");
        }
    });
}

#[test]
fn protected_files_that_do_not_exist_cannot_be_made() {
    for_each_user(|place| {
        for attack in [
            "echo x > .mcp.json",
            "mkdir .vscode",
            "ln -s /etc/passwd .envrc",
            "touch new && mv new .pre-commit-config.yaml",
            "mkdir -p .github/workflows",
            "python3 -c 'import os; os.mkfifo(\".husky\")'",
            "x=.git; mkdir $x; echo x > $x/config",
        ] {
            is_refused(place, "workspace", attack);
            assert_eq!(run(place, "off", attack)["status"], "completed", "without a sandbox: {attack}");
            succeeds(
                place,
                "off",
                "x=.git; rm -rf .mcp.json .vscode .envrc .pre-commit-config.yaml .github .husky $x",
            );
        }
        assert_eq!(
            succeeds(
                place,
                "workspace",
                "mkdir -p sub/.vscode && echo x > sub/.mcp.json && cat sub/.mcp.json"
            ),
            "x\n"
        );
    });
}

#[test]
fn sockets_outside_the_session_cannot_be_reached() {
    use std::io::Write as _;
    for_each_user(|place| {
        let outside = place.root().with_file_name("outside.socket");
        let listener = std::os::unix::net::UnixListener::bind(&outside).unwrap();
        std::os::unix::fs::chown(&outside, place.user, place.user).unwrap();
        let serving = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"hi").unwrap());
        let call = format!(
            "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"{}\"); print(s.recv(2))'",
            outside.display()
        );
        for mode in ["workspace", "read-only", "strict"] {
            is_refused(place, mode, &call);
        }
        assert_eq!(succeeds(place, "off", &call), "b'hi'\n", "without a sandbox");
        serving.join().unwrap();
        let own = "python3 -c 'import socket, threading; l = socket.socket(socket.AF_UNIX); l.bind(\"own\"); l.listen(); \
                   c = socket.socket(socket.AF_UNIX); c.connect(\"own\"); l.accept()[0].send(b\"yo\"); print(c.recv(2))'";
        assert_eq!(succeeds(place, "workspace", own), "b'yo'\n", "its own can");
    });
}
