//! Settings of the sandbox.

use std::os::unix::fs::chown;

use serde_json::json;

use super::{for_each_user, is_refused, run, succeeds, write};

#[test]
fn settings_widen_and_narrow_a_workspace() {
    for_each_user(|place| {
        let free = write(place, "home/free/file", "free");
        let secret = write(place, "home/secret", "secret");
        let settings = format!(
            "[approval]\nmode = \"allow\"\n[sandbox]\nmode = \"workspace\"\nwritable = [\"~/free\"]\nunreadable = [\"{}\"]\n",
            secret.display()
        );
        let file = place.home().join(".config/shellgate/config.toml");
        std::fs::write(&file, settings).unwrap();
        chown(&file, place.user, place.user).unwrap();
        let answer = place.call(&json!({"command": "echo more > ~/free/file; cat ~/secret"}));
        assert_eq!((&answer["status"], &answer["stdout"]), (&json!("failed"), &json!("")), "{answer}");
        assert_eq!(std::fs::read_to_string(&free).unwrap(), "more\n");
        assert_eq!(run(place, "off", "cat ~/secret")["stdout"], "secret");
    });
}

#[test]
fn a_network_cannot_be_denied_without_a_sandbox() {
    for_each_user(|place| {
        let answer =
            place.call_with(&["--sandbox", "off", "--network", "deny"], &json!({"command": "echo hi"}));
        assert_eq!(answer["error"]["code"], "sandbox_unavailable", "{answer}");
    });
}

#[test]
fn a_missing_mechanism_refuses_or_warns() {
    for_each_user(|place| {
        // No mounts of its own: as on machines that forbid namespaces.
        let without_mounts = |flags: &str| {
            let shellgate = crate::support::shellgate();
            let script = format!(
                "echo 0 > /proc/sys/user/max_mnt_namespaces && exec {} run {flags} 'echo ran'",
                shellgate.display()
            );
            place.program("unshare").args(["-Ur", "--", "bash", "-c", &script]).output().unwrap()
        };
        let refused = without_mounts("");
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!((refused.status.code(), &*refused.stdout), (Some(125), &b""[..]), "{said}");
        assert!(
            said.starts_with("sandbox_unavailable: the sandbox needs mount, process and IPC namespaces"),
            "{said}"
        );
        assert!(said.contains("`--on-missing warn`") && said.contains("shellgate doctor"), "{said}");
        let warned = without_mounts("--on-missing warn");
        let said = String::from_utf8(warned.stderr).unwrap();
        assert_eq!((warned.status.code(), &*warned.stdout), (Some(0), &b"ran\n"[..]), "{said}");
        assert!(
            said.starts_with(
                "shellgate: it ran without a sandbox, for lack of mount, process and IPC namespaces"
            ),
            "{said}"
        );
        let warned = without_mounts("--on-missing warn --json");
        let said = String::from_utf8(warned.stdout).unwrap();
        assert!(said.contains("sandbox.on_missing = warn: not confined"), "{said}");
    });
}

/// Runs its arguments on a machine without one system call.
const WITHOUT_A_CALL: &str = r"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
    execv(words[1], words + 1);
    return 98;
}
";

#[test]
fn each_mechanism_that_is_missing_is_named() {
    for_each_user(|place| {
        let source = write(place, "without.c", WITHOUT_A_CALL);
        let namespaces = match place.user {
            None => "mount, process and IPC namespaces",
            Some(_) => "user namespaces",
        };
        for (call, modes, mechanism) in [
            ("SYS_landlock_create_ruleset", &["workspace", "read-only", "strict"][..], "Landlock"),
            ("SYS_seccomp", &["workspace", "read-only", "strict"], "seccomp filters"),
            ("SYS_unshare", &["workspace", "read-only", "strict"], namespaces),
            ("SYS_fsopen", &["workspace"], "a private `/dev`"),
            ("SYS_pidfd_getfd", &["workspace"], "the broker process"),
        ] {
            let program = place.root().with_file_name(call);
            let mut compiler = std::process::Command::new("cc");
            let built = compiler.arg(format!("-DCALL={call}")).arg("-o").arg(&program).arg(&source).status();
            assert!(built.unwrap().success());
            let run = |flags: &[&str]| {
                // A keeper that is there already has all calls.
                place.assert_nothing_is_left();
                let mut run = place.program(&program);
                run.arg(crate::support::shellgate()).arg("run").args(flags).arg("echo ran").output().unwrap()
            };
            for mode in modes {
                let refused = run(&["--sandbox", mode]);
                let said = String::from_utf8(refused.stderr).unwrap();
                assert_eq!((refused.status.code(), &*refused.stdout), (Some(125), &b""[..]), "{call} {mode}");
                let begins = format!("sandbox_unavailable: the sandbox needs {mechanism}");
                assert!(said.starts_with(&begins), "{call} {mode}: {said}");
                let warned = run(&["--sandbox", mode, "--on-missing", "warn"]);
                let said = String::from_utf8(warned.stderr).unwrap();
                assert_eq!(
                    (warned.status.code(), &*warned.stdout),
                    (Some(0), &b"ran\n"[..]),
                    "{call} {mode}"
                );
                let begins = format!("shellgate: it ran without a sandbox, for lack of {mechanism}");
                assert!(said.starts_with(&begins), "{call} {mode}: {said}");
            }
        }
        // A network namespace is needed only where the network is denied.
        let script = "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$@\"";
        let without_networks = |flags: &[&str]| {
            place.assert_nothing_is_left();
            let mut apart = place.program("unshare");
            apart.args(["-Ur", "--", "bash", "-c", script, "bash"]).arg(crate::support::shellgate());
            apart.arg("run").args(flags).arg("echo ran").output().unwrap()
        };
        assert_eq!(without_networks(&["--sandbox", "workspace"]).stdout, b"ran\n");
        for flags in [&["--sandbox", "workspace", "--network", "deny"][..], &["--sandbox", "strict"]] {
            let refused = without_networks(flags);
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(said.starts_with("sandbox_unavailable: the sandbox needs network namespaces"), "{said}");
        }
    });
}

#[test]
fn a_confined_shellgate_can_do_nothing_to_shellgate() {
    for_each_user(|place| {
        let own = crate::support::shellgate();
        let own = own.display();
        for attack in [
            format!("{own} run --sandbox off 'touch ../home/escaped'"),
            format!(
                "SHELLGATE_HOME=/tmp/other-state-$$ {own} run --sandbox off --approve allow 'touch ../home/escaped'"
            ),
            format!("{own} approvals list"),
            format!("{own} stop --all"),
        ] {
            is_refused(place, "workspace", &attack);
        }
        assert!(!place.home().join("escaped").exists());
        assert_eq!(succeeds(place, "workspace", &format!("{own} --version | head -c 9")), "shellgate");
    });
}

#[test]
fn a_root_that_is_the_home_folder_keeps_its_hidden_entries() {
    for_each_user(|place| {
        write(place, "home/.profile", "kept");
        let home = place.home();
        let flags = ["--sandbox", "workspace", "--root", home.to_str().unwrap()];
        let answer = place.call_with(&flags, &json!({"command": "echo x > made; echo x > .profile"}));
        assert_eq!(answer["status"], "failed", "{answer}");
        assert_eq!(std::fs::read_to_string(home.join("made")).unwrap(), "x\n");
        assert_eq!(std::fs::read_to_string(home.join(".profile")).unwrap(), "kept");
    });
}

#[test]
fn a_root_that_was_replaced_is_the_new_one() {
    for_each_user(|place| {
        let hold = place.start([
            "run",
            "--sandbox",
            "workspace",
            "echo > up; until [ -e down ]; do sleep 0.05; done",
        ]);
        crate::support::wait_until("the session has a launcher", || place.root().join("up").exists());
        let old = place.root().with_file_name("old");
        std::fs::rename(place.root(), &old).unwrap();
        std::fs::create_dir(place.root()).unwrap();
        chown(place.root(), place.user, place.user).unwrap();
        succeeds(place, "workspace", "echo new > made");
        assert!(place.root().join("made").exists() && !old.join("made").exists());
        std::fs::write(old.join("down"), "").unwrap();
        assert!(hold.wait_with_output().unwrap().status.success());
    });
}
