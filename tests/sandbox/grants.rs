//! Grants of rules: for the command that a rule names, and not for the next one.

use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};

use super::{for_each_user, write};
use crate::support::Place;

/// Writes the user's settings: a rule that allows `prefix` with these grants, and approval for everything else.
fn grant(place: &Place, prefix: &str, grants: &str) {
    let words: Vec<String> = prefix.split(' ').map(|word| format!("{word:?}")).collect();
    let text = format!(
        "[approval]\nmode = \"allow\"\n[sandbox]\nmode = \"workspace\"\nnetwork = \"deny\"\n\n[[policy.rule]]\nprefix = [{}]\ndecision = \"allow\"\ngrants = {{ {grants} }}\n",
        words.join(", ")
    );
    let file = place.home().join(".config/shellgate/config.toml");
    std::fs::write(&file, text).unwrap();
    chown(&file, place.user, place.user).unwrap();
}

fn call(place: &Place, command: &str) -> Value {
    place.call(&json!({"command": command}))
}

fn works(place: &Place, command: &str) -> String {
    let answer = call(place, command);
    assert_eq!(answer["status"], "completed", "{command}: {answer}");
    answer["stdout"].as_str().unwrap().to_owned()
}

fn is_refused(place: &Place, command: &str) {
    let answer = call(place, command);
    assert_eq!(answer["status"], "failed", "{command}: {answer}");
}

#[test]
fn a_granted_file_can_be_read_by_that_command_alone() {
    for_each_user(|place| {
        write(place, "home/.ssh/key", "secret\n");
        write(place, "home/.ssh/other", "other\n");
        grant(place, "cat", "read = [\"~/.ssh/key\"]");
        assert_eq!(works(place, "cat ~/.ssh/key"), "secret\n");
        is_refused(place, "head ~/.ssh/key");
        is_refused(place, "cat ~/.ssh/other");
        is_refused(place, "cat ~/.ssh/key > ~/.ssh/copy");
        // All calls of a command run in one sandbox.
        is_refused(place, "head -c 0 /dev/null && cat ~/.ssh/key");
        is_refused(place, "X=1; < ~/.ssh/key cat; . ~/.ssh/key");
        assert_eq!(works(place, "cd . && cat ~/.ssh/key"), "secret\n", "`cd` reaches nothing by itself");
        grant(place, "cat", "read = [\"~/.ssh\"]");
        assert_eq!(works(place, "cat ~/.ssh/other"), "other\n");
        is_refused(place, "ls ~/.ssh");
    });
}

/// Settings of a repository below the root name programs: anybody may have made it.
#[test]
fn a_grant_of_git_is_for_the_repository_that_the_command_starts_in() {
    for_each_user(|place| {
        write(place, "home/.ssh/key", "secret\n");
        let made =
            "git init -q sub && git -C sub config core.fsmonitor '(echo ran; cat ~/.ssh/key) >../out; false'";
        grant(place, "git", "read = [\"~/.ssh/key\"]");
        works(place, made);
        let shows = |command: &str| {
            call(place, command);
            let out = std::fs::read_to_string(place.root().join("out")).unwrap_or_default();
            let _ = std::fs::remove_file(place.root().join("out"));
            out
        };
        assert_eq!(shows("git -C sub status"), "ran\n");
        assert_eq!(shows("cd sub && git status"), "ran\n");
        let own = call(place, "git hash-object ~/.ssh/key");
        assert_eq!(own["status"], "completed", "the control: {own}");
    });
}

/// A program of the same name that a command could have made, in a folder that the text or the user puts before the others.
#[test]
fn a_grant_is_for_the_named_program_alone() {
    for_each_user(|place| {
        write(place, "home/.ssh/key", "secret\n");
        grant(place, "cat", "read = [\"~/.ssh/key\"]");
        let theirs = "#!/bin/sh\nexec /bin/head \"$@\"\n";
        for folder in ["root/bin", "home/builds/bin", "home/bin"] {
            write(place, &format!("{folder}/other"), theirs);
        }
        let executable = |path: &str| {
            let file = write(place, path, theirs);
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        executable("root/bin/cat");
        assert_eq!(works(place, "cat ~/.ssh/key"), "secret\n", "the control");
        for own in ["PATH=bin:$PATH cat", "export PATH=\"$PWD/bin:$PATH\"; cat", "PATH=$PWD/bin:$PATH; cat"] {
            is_refused(place, &format!("{own} ~/.ssh/key"));
        }
        executable("home/builds/bin/cat");
        let link = place.home().join("bin/cat");
        std::os::unix::fs::symlink(place.root().join("bin/cat"), &link).unwrap();
        let settings = place.home().join(".config/shellgate/config.toml");
        let text = std::fs::read_to_string(&settings).unwrap();
        std::fs::write(&settings, text.replace("[sandbox]\n", "[sandbox]\nwritable = [\"~/builds\"]\n"))
            .unwrap();
        let path = std::env::var("PATH").unwrap();
        let first = |folder: &str| {
            let mut call = place.shellgate(["call", r#"{"command": "cat ~/.ssh/key"}"#]);
            call.env("PATH", format!("{}:{path}", place.home().join(folder).display()));
            let answer: Value = serde_json::from_slice(&call.output().unwrap().stdout).unwrap();
            (answer["status"].as_str().unwrap().to_owned(), answer["stdout"].as_str().unwrap().to_owned())
        };
        let refused = ("failed".to_owned(), String::new());
        assert_eq!(first("builds/bin"), refused, "commands can write that folder");
        assert_eq!(first("bin"), refused, "commands can write the file that the link leads to");
        std::fs::remove_file(link).unwrap();
        assert_eq!(first("bin"), ("completed".to_owned(), "secret\n".to_owned()), "the control");
    });
}

#[test]
fn a_granted_folder_can_be_written_by_that_command_alone() {
    for_each_user(|place| {
        let file = write(place, "home/notes/file", "before");
        write(place, "root/.git/hooks/pre-commit", "before");
        grant(place, "tee", "write = [\"~/notes\", \".git/hooks/pre-commit\"]");
        works(place, "tee ~/notes/file ~/notes/new .git/hooks/pre-commit <<< after");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "after\n");
        assert_eq!(std::fs::read_to_string(place.root().join(".git/hooks/pre-commit")).unwrap(), "after\n");
        for refused in
            ["cp /dev/null ~/notes/file", "touch ~/notes/newer", "cp /dev/null .git/hooks/pre-commit"]
        {
            is_refused(place, refused);
        }
        is_refused(place, "tee ~/elsewhere <<< x");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "after\n");
    });
}

#[test]
fn a_granted_network_is_for_that_command_alone() {
    for_each_user(|place| {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let connect =
            format!("import socket; socket.create_connection((\"127.0.0.1\", {port}), 5).send(b\"hi\")");
        write(place, "root/connect.py", &connect);
        grant(place, "python3 connect.py", "network = true");
        works(place, "python3 connect.py");
        let mut told = String::new();
        server.accept().unwrap().0.read_to_string(&mut told).unwrap();
        assert_eq!(told, "hi");
        is_refused(place, "python3 ./connect.py");
        is_refused(place, &format!("python3 connect.py; exec 3<>/dev/tcp/127.0.0.1/{port}"));
        is_refused(place, &format!("echo > /dev/tcp/127.0.0.1/{port}"));
    });
}

#[test]
fn a_granted_socket_is_for_that_command_alone() {
    for_each_user(|place| {
        let path = place.root().parent().unwrap().join("agent.sock");
        let server = UnixListener::bind(&path).unwrap();
        chown(&path, place.user, place.user).unwrap();
        let connect =
            format!("import socket; s = socket.socket(socket.AF_UNIX); s.connect({path:?}); s.send(b\"hi\")");
        write(place, "root/connect.py", &connect);
        grant(place, "python3 connect.py", &format!("sockets = [{path:?}]"));
        works(place, "python3 connect.py");
        let mut told = String::new();
        server.accept().unwrap().0.read_to_string(&mut told).unwrap();
        assert_eq!(told, "hi");
        is_refused(place, "python3 ./connect.py");
    });
}

#[test]
fn a_granted_variable_is_for_that_command_alone() {
    for_each_user(|place| {
        const TOKEN: &str = "ghp_0123456789abcdefghij0123456789abcdef";
        write(place, "root/show.py", "import os\nprint(os.environ.get('GH_TOKEN'))\n");
        grant(place, "python3 show.py", "env = [\"GH_TOKEN\"]");
        let prints = |command: &str| {
            let mut shellgate = place.shellgate(["run", command]);
            String::from_utf8(shellgate.env("GH_TOKEN", TOKEN).output().unwrap().stdout).unwrap()
        };
        assert_eq!(prints("python3 show.py"), format!("{TOKEN}\n"));
        assert_eq!(prints("python3 show.py; :"), format!("{TOKEN}\n"));
        for other in ["python3 ./show.py", "PYTHONPATH=. python3 show.py", "python3 show.py; cat /dev/null"] {
            assert_eq!(prints(other), "None\n", "{other}");
        }
    });
}

#[test]
fn a_command_cannot_look_into_one_with_grants() {
    for_each_user(|place| {
        write(place, "home/.ssh/key", "secret\n");
        write(
            place,
            "root/hold.py",
            "import os, time\nopen('new', 'w').write(str(os.getpid()))\nos.rename('new', 'up')\ntime.sleep(60)\n",
        );
        grant(place, "python3 hold.py", "read = [\"~/.ssh\"], env = [\"GH_TOKEN\"]");
        let mut hold = place.shellgate(["run", "python3 hold.py"]);
        let mut hold = hold.env("GH_TOKEN", "ghp_0123456789abcdefghij0123456789abcdef").spawn().unwrap();
        crate::support::wait_until("the command runs", || place.root().join("up").exists());
        let pid = std::fs::read_to_string(place.root().join("up")).unwrap();
        for attack in [
            format!("cat /proc/{pid}/root/{}/.ssh/key", place.home().display()),
            format!("cat /proc/{pid}/environ"),
            format!("readlink /proc/{pid}/fd/0"),
        ] {
            is_refused(place, &attack);
        }
        works(place, &format!("kill {pid}"));
        hold.wait().unwrap();
    });
}

#[test]
fn a_hook_that_another_command_made_gets_no_grants() {
    for_each_user(|place| {
        write(place, "home/.ssh/id", "SECRETKEY\n");
        write(place, "root/x", "");
        for folder in [place.root(), place.home()] {
            crate::support::give(&folder, place.user);
        }
        let run = |script: &str| {
            let done = place.program("bash").args(["-ec", script]).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        let set_up = |text: &str| {
            let script = "rm -rf .git gh ../home/hub; git init -q -b main .; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; \
                          git init -q --bare ../home/hub; git remote add origin https://example.com/x; git remote add hub ../home/hub";
            run(&format!("{script}; printf '{text}' >> .git/config"));
        };
        grant(place, "git push", "read = [\"~/.ssh\"]");
        let make =
            "mkdir -p gh; printf '#!/bin/sh\\ncat ~/.ssh/id >&2\\n' > gh/pre-push && chmod +x gh/pre-push";
        let push = || call(place, "git push hub main").to_string().contains("SECRETKEY");
        for text in [
            "[core]\\n\\thooksPath = gh\\n",
            "[core]\\n\\thooksPath = gh # team hooks\\n",
            "[core] hooksPath = g\"h\"\\n",
        ] {
            set_up(text);
            is_refused(place, make);
            assert!(!push(), "{text}");
        }
        set_up("[core]\\n\\thooksPath = gh\\n");
        run(make);
        assert!(push(), "a hook of the user's has the grant");
    });
}
