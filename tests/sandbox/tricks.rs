//! Ways out that a hostile tester found: a place that looks like another, or that a command put there for the next one.

use std::os::unix::fs::chown;

use serde_json::json;

use super::{for_each_user, is_refused, run, succeeds, write};
use crate::support::Place;

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
