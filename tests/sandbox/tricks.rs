//! Ways out that a hostile tester found: a place that looks like another, or that a command put there for the next one.

use std::os::unix::fs::{chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{for_each_user, is_refused, run, succeeds, write};
use crate::support::{Place, give, mark};

fn settings(place: &Place, text: &str) {
    let file = place.home().join(".config/shellgate/config.toml");
    std::fs::write(&file, format!("[approval]\nmode = \"allow\"\n{text}")).unwrap();
    chown(&file, place.user, place.user).unwrap();
}

#[test]
fn a_forged_worktree_opens_no_other_folder() {
    for_each_user(|place| {
        write(place, "victim/HEAD", "ref: refs/heads/main");
        write(place, "victim/objects/x", "");
        write(place, "victim/refs/x", "");
        write(place, "root/.git", "gitdir: g/w\n");
        write(place, "root/g/w/gitdir", "../../.git\n");
        write(place, "root/g/w/HEAD", "ref: refs/heads/main\n");
        for shared in ["../../../victim", "../../../home", "/"] {
            write(place, "root/g/w/commondir", shared);
            let answer = run(place, "workspace", "echo x > ../victim/new; echo x > ../home/new");
            assert_eq!(answer["status"], "failed", "{shared}: {answer}");
        }
        assert!(!place.home().join("new").exists());
        assert!(!place.home().with_file_name("victim").join("new").exists());
    });
}

#[test]
fn the_settings_of_shellgate_cannot_be_written_in_any_root() {
    for_each_user(|place| {
        let file = place.home().join(".config/shellgate/config.toml");
        let before = std::fs::read_to_string(&file).unwrap();
        let parent = place.home().parent().unwrap().to_owned();
        // The judge would refuse the name, so a script puts it together.
        let attack = format!(
            "import os\nfolder = {:?} + '/.con' + 'fig/shell' + 'gate'\n\
             for deed in [lambda: open(folder + '/con' + 'fig.toml', 'w').write('x'),\n\
                          lambda: os.rename(folder, folder + '2'),\n\
                          lambda: os.rename(os.path.dirname(folder), folder[:-9] + '2'),\n\
                          lambda: open(folder + '/new', 'w')]:\n\
             \x20   try:\n\x20       deed()\n\x20       print('done')\n\x20   except OSError:\n\x20       print('refused')\n",
            place.home()
        );
        write(place, "attack.py", &attack);
        for root in [&parent, &place.home(), &place.home().join(".config")] {
            let flags = ["--sandbox", "workspace", "--root", root.to_str().unwrap()];
            let script = parent.join("attack.py");
            let answer =
                place.call_with(&flags, &json!({"command": format!("python3 {}", script.display())}));
            assert_eq!(answer["stdout"], "refused\n".repeat(4), "{root:?}: {answer}");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    });
}

#[test]
fn a_grant_does_not_follow_links_of_commands() {
    for_each_user(|place| {
        write(place, "outside/file", "kept");
        write(place, "home/.ssh/key", "secret");
        settings(
            place,
            "[[policy.rule]]\nprefix = [\"tee\"]\ndecision = \"allow\"\ngrants = { write = [\"open\"], read = [\"open\"] }\n",
        );
        succeeds(place, "workspace", "mkdir open && tee open/file <<< x");
        let outside = place.home().with_file_name("outside");
        for target in [&outside, &place.home().join(".ssh")] {
            let _ = std::fs::remove_dir_all(place.root().join("open"));
            let _ = std::fs::remove_file(place.root().join("open"));
            succeeds(place, "workspace", &format!("ln -s {} open", target.display()));
            assert_eq!(run(place, "workspace", "tee open/new <<< x")["status"], "failed");
            assert!(!target.join("new").exists());
        }
    });
}

#[test]
fn covers_of_unreadable_files_cannot_be_changed() {
    for_each_user(|place| {
        write(place, "home/.netrc", "secret");
        for attack in [
            "rm -f /dev/.hidden",
            "rm -rf /dev/.hidden.d",
            "chmod 644 /dev/.hidden",
            "chmod 755 /dev/.unlisted.d",
            "rm /dev/fd",
            "touch /dev/new",
            "ln -sf / /dev/stdout",
        ] {
            is_refused(place, "workspace", attack);
        }
        let work =
            "echo x > /dev/shm/mine && cat < /dev/shm/mine > /dev/null && cat <(echo ok) && rm /dev/shm/mine";
        assert_eq!(succeeds(place, "workspace", work), "ok\n");
    });
}

#[test]
fn a_folder_for_temporary_files_opens_no_home() {
    for_each_user(|place| {
        let call = json!({"command": "touch ~/made"}).to_string();
        for temp in [place.home(), "/".into()] {
            let mut shellgate = place.shellgate(["call", "--sandbox", "workspace", &call]);
            shellgate.env("TMPDIR", &temp).output().unwrap();
            assert!(!place.home().join("made").exists(), "{temp:?}");
        }
        let temp = place.home().join("tmp");
        std::fs::create_dir(&temp).unwrap();
        chown(&temp, place.user, place.user).unwrap();
        let call = json!({"command": "touch ~/tmp/made"}).to_string();
        place.shellgate(["call", "--sandbox", "workspace", &call]).env("TMPDIR", &temp).output().unwrap();
        assert!(temp.join("made").exists());
    });
}

#[test]
fn credentials_of_the_systems_home_folder_are_hidden() {
    assert!(crate::support::is_root(), "root has an entry in /etc/passwd");
    let place = Place::new(None);
    let script = format!(
        "mount -t tmpfs tmpfs /root && mkdir /root/.ssh && echo secret > /root/.ssh/key && exec {} run --approve allow 'cat /root/.ssh/key'",
        crate::support::for_all(&crate::support::shellgate()).display()
    );
    let mut confined = place.program("unshare");
    let output = confined.args(["-m", "-p", "-f", "--mount-proc", "bash", "-c", &script]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.is_empty() && said.contains("Permission denied"), "{said}");
}

/// A command in a root, with a folder for temporary files.
fn run_in(place: &Place, root: &Path, temp: &Path, mode: &str, command: &str) -> Value {
    let call = json!({"command": command}).to_string();
    let words = ["call", "--sandbox", mode, "--root", root.to_str().unwrap(), &call];
    let output = place.shellgate(words).env("TMPDIR", temp).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Places that every command can write: a cache, the folder for temporary files, and what the settings name. A command that can
/// write a folder above one of them could put a link there for the next command.
#[test]
fn a_link_of_a_command_opens_no_place_to_the_next_one() {
    for_each_user(|place| {
        settings(place, "[sandbox]\nwritable = [\"~/go/out\"]\n");
        let target = write(place, "home/target/kept", "").parent().unwrap().to_owned();
        let go = write(place, "home/go/kept", "").parent().unwrap().to_owned();
        write(place, "home/.cache/kept", "");
        let shared = std::path::PathBuf::from(format!("/tmp/shellgate-{}", mark()));
        let temp = shared.join("temp");
        let (root, home) = (place.root(), place.home());
        // A link of the user's, to a place that another command can replace.
        symlink(shared.join("pip"), home.join(".cache/pip")).unwrap();
        for (root, path) in [
            (&go, go.join("pkg/mod")),
            (&go, go.join("out")),
            (&root, temp.clone()),
            (&root, shared.join("pip")),
        ] {
            let folder = path.parent().unwrap().display().to_string();
            let make = format!(
                "mkdir -p {folder} && cd {folder} && ln -s {} {}",
                target.display(),
                path.file_name().unwrap().display()
            );
            let made = run_in(place, root, Path::new("/tmp"), "workspace", &make);
            assert_eq!(made["status"], "completed", "{path:?}: {made}");
            for attack in [format!("touch {}/new", target.display()), format!("touch {}/new", path.display())]
            {
                let answer = run_in(place, root, &temp, "workspace", &attack);
                assert_eq!(answer["status"], "failed", "{attack}: {answer}");
            }
            assert!(!target.join("new").exists(), "{path:?}");
            let control = run_in(place, root, &temp, "off", &format!("touch {}/new", path.display()));
            assert_eq!(control["status"], "completed", "without a sandbox: {control}");
            std::fs::remove_file(target.join("new")).unwrap();
            std::fs::remove_file(&path).unwrap();
        }
        std::fs::remove_dir_all(shared).unwrap();
        // A link where no command can write is the user's own.
        let own = home.join(".cache/pip");
        std::fs::remove_file(&own).unwrap();
        symlink(&target, &own).unwrap();
        succeeds(place, "workspace", "touch ~/.cache/pip/new");
        assert!(target.join("new").exists());
    });
}

/// The home folder, and with it its credentials, may be mounted in a second place.
#[test]
fn credentials_are_hidden_under_every_name_that_mounts_give_them() {
    for_each_user(|place| {
        write(place, "home/.ssh/key", "secret\n");
        write(place, "home/plain", "plain\n");
        for name in ["whole/x", "keys/x"] {
            write(place, name, "");
        }
        let script = "mount --bind .. ../whole && mount --bind ../home/.ssh ../keys && exec \"$@\"";
        let run = |mode: &str, command: &str| {
            let mut apart = place.program("unshare");
            apart.args([if place.user.is_some() { "-Urm" } else { "-m" }, "bash", "-c", script, "bash"]);
            apart.arg(crate::support::shellgate()).args(["run", "--sandbox", mode, command]);
            String::from_utf8(apart.output().unwrap().stdout).unwrap()
        };
        for attack in ["cat ../whole/home/.ssh/key", "cat ../keys/key", "cat ~/.ssh/key", "ls ../whole/state"]
        {
            assert_eq!(run("workspace", attack), "", "{attack}");
            assert_ne!(run("off", attack), "", "without a sandbox: {attack}");
        }
        assert_eq!(run("workspace", "cat ../whole/home/plain"), "plain\n");
    });
}

/// Makes and removes a socket again and again (`make`), and gives its name to another one (`give`), until one of the sockets
/// that were made is that one.
const SWAPS_SOCKETS: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
int is(const char *path) { struct stat found; return stat(path, &found) == 0; }
int with(int (*what)(int, const struct sockaddr *, socklen_t), const char *path) {
    struct sockaddr_un address = {AF_UNIX};
    strcpy(address.sun_path, path);
    int handle = socket(AF_UNIX, SOCK_STREAM, 0), result = what(handle, (void *)&address, sizeof address);
    close(handle);
    return result;
}
int main(int count, char **words) {
    if (strcmp(words[1], "give") == 0) {
        for (long tries = 0; !is("done") && tries < 100000000; tries++) { unlink("name"); link("foreign", "name"); }
        return 0;
    }
    int made = 0, reached = 0;
    for (int tries = 0; tries < 20000 && !reached; tries++) {
        unlink("name");
        made += with(bind, "name") == 0;
        if (tries % 50 == 49) reached = with(connect, "foreign") == 0;
    }
    close(creat("done", 0600));
    printf("%s %s\n", made > 40 ? "made" : "none", reached ? "reached" : "unreached");
    return 0;
}
"#;

#[test]
fn two_sessions_reach_no_foreign_socket_by_swapping_names() {
    for_each_user(|place| {
        let source = write(place, "swaps.c", SWAPS_SOCKETS);
        let program = place.root().join("swaps");
        assert!(Command::new("cc").arg("-o").arg(&program).arg(source).status().unwrap().success());
        let foreign = place.root().join("foreign");
        let server = UnixListener::bind(&foreign).unwrap();
        server.set_nonblocking(true).unwrap();
        give(&foreign, place.user);
        let call = |session: &str, what: &str| {
            json!({"command": format!("./swaps {what}"), "session": session}).to_string()
        };
        let gives = place.start(["call", "--sandbox", "workspace", &call("two", "give")]);
        let makes = place.output(["call", "--sandbox", "workspace", &call("one", "make")]);
        let answer: Value = serde_json::from_slice(&makes.stdout).unwrap();
        assert_eq!(answer["stdout"], "made unreached\n", "{answer}");
        assert!(gives.wait_with_output().unwrap().status.success());
        assert!(server.accept().is_err(), "nothing connected");
        let control = run(place, "off", "rm -f name done; ./swaps make");
        assert_eq!(control["stdout"], "made reached\n", "without a sandbox: {control}");
    });
}
