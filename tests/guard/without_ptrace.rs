//! A machine that forbids tracing: `doctor` says so, commands under rules about programs are refused, and with
//! `on_missing = "warn"` they run in the sandbox without the guard, which the answer says.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::for_each_user;
use crate::support::{Place, give, shellgate};

/// Runs its arguments where `ptrace` fails with `EPERM`, as in a container without that capability.
const FORBID: &str = r#"
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
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
    execv(words[1], words + 1);
    return 98;
}
"#;

fn forbid(place: &Place) -> PathBuf {
    let source = place.write("forbid.c", FORBID);
    let program = place.root().with_file_name("forbid");
    let status = Command::new("cc").arg("-o").arg(&program).arg(source).status();
    assert!(status.unwrap().success());
    give(&program, place.user);
    program
}

fn output(place: &Place, forbid: &PathBuf, words: &[&str]) -> Output {
    place.program(forbid).arg(shellgate()).args(words).output().unwrap()
}

fn call(place: &Place, forbid: &PathBuf, flags: &[&str]) -> Value {
    let call = json!({"command": "python3 script.py"}).to_string();
    let output = output(place, forbid, &[&["call", "--sandbox", "workspace"], flags, &[&call]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Removes a file by `rm`, and says which file outside it could write.
const SCRIPT: &str = r#"
import subprocess
try:
    print(subprocess.call(["rm", "victim"]))
except OSError as error:
    print(error.strerror)
try:
    open("../outside", "w")
    print("written")
except OSError as error:
    print(error.strerror)
"#;

#[test]
fn rules_about_programs_are_refused_or_given_up_aloud() {
    for_each_user(|place| {
        let forbid = forbid(place);
        place.write("script.py", SCRIPT);
        place.write("victim", "x");
        let rule = ["--exclude", "rm"];
        // Where tracing is possible, the guard refuses the program.
        let control = place.call_with(
            &[&["--sandbox", "workspace"], &rule[..]].concat(),
            &json!({"command": "python3 script.py"}),
        );
        assert!(control["stdout"].as_str().unwrap().starts_with("Permission denied\n"), "{control}");
        assert!(place.root().join("victim").exists());
        place.output(["stop", "--all"]);

        let refused = call(place, &forbid, &rule);
        assert_eq!(refused["error"]["code"], "sandbox_unavailable", "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("ptrace"), "{refused}");
        assert!(place.root().join("victim").exists());

        let warned = call(place, &forbid, &[&rule[..], &["--on-missing", "warn"]].concat());
        assert_eq!(warned["stdout"], "0\nRead-only file system\n", "{warned}");
        assert!(!place.root().join("victim").exists());
        let remark = warned["verdict"].to_string() + &warned["unconfined"].to_string();
        assert!(remark.contains("ptrace"), "{warned}");
        let told = String::from_utf8(
            output(
                place,
                &forbid,
                &["run", "--sandbox", "workspace", "--exclude", "rm", "--on-missing", "warn", "true"],
            )
            .stderr,
        )
        .unwrap();
        assert!(told.contains("shellgate: it ran without the guard, for lack of tracing (ptrace"), "{told}");

        // Without such rules nothing is missing.
        let plain = call(place, &forbid, &[]);
        assert_eq!((&plain["exit_code"], &plain["unconfined"]), (&json!(0), &Value::Null), "{plain}");
        assert!(plain["effects"]["programs"].as_array().unwrap().contains(&json!("python3")), "{plain}");
    });
}

#[test]
fn doctor_says_that_tracing_is_forbidden() {
    for_each_user(|place| {
        let forbid = forbid(place);
        let found = |output: Output| -> Value {
            let found: Value = serde_json::from_slice(&output.stdout).unwrap();
            let checks = found["checks"].as_array().unwrap();
            checks.iter().find(|check| check["name"] == "ptrace").unwrap().clone()
        };
        let check = found(output(place, &forbid, &["doctor", "--json"]));
        assert_eq!(check["status"], "warning", "{check}");
        assert!(
            check["message"].as_str().unwrap().contains("where rules deny programs, commands are refused")
        );
        assert!(check["hint"].as_str().unwrap().contains("ptrace_scope"), "{check}");
        assert_eq!(found(place.output(["doctor", "--json"]))["status"], "ok");
    });
}
