//! What answers and the record say that commands did, from the kernel's side.

use serde_json::{Value, json};

use super::for_each_user;
use crate::support::Place;

/// Makes its calls without the C library's functions, and is linked statically.
const RAW: &str = r#"
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    long file = syscall(SYS_openat, AT_FDCWD, "raw", O_CREAT | O_WRONLY, 0600);
    syscall(SYS_write, file, "x", 1);
    syscall(SYS_openat, AT_FDCWD, "kept", O_RDWR);
    syscall(SYS_unlinkat, AT_FDCWD, "gone", 0);
    syscall(SYS_openat, AT_FDCWD, "../outside/file", O_WRONLY | O_TRUNC);
    syscall(SYS_unlinkat, AT_FDCWD, "../outside/file", 0);
    return 0;
}
"#;

fn effects(place: &Place, flags: &[&str], command: &str) -> (Value, Value) {
    let flags = [&["--sandbox", "workspace"], flags].concat();
    let answer = place.call_with(&flags, &json!({"command": command}));
    (answer["effects"].clone(), answer)
}

/// With rules the guard tells of programs, without them the broker: the same is told.
const BOTH: [&[&str]; 2] = [&[], &["--exclude", "nosuchprogram"]];

#[test]
fn programs_files_and_addresses_are_in_the_answer() {
    for_each_user(|place| {
        for flags in BOTH {
            let command = "mkdir -p a/b && echo x > a/b/new && mv a/b/new a/renamed && rm -r a; \
                           env LC_ALL=C true; cat /etc/passwd > /dev/null; nosuch 2>/dev/null; true";
            let (effects, answer) = effects(place, flags, command);
            assert_eq!(
                effects["programs"],
                json!(["bash", "mkdir", "mv", "rm", "env", "true", "cat"]),
                "{answer}"
            );
            assert_eq!(effects["writes"], json!(["a", "a/b", "a/b/new", "a/renamed"]), "{answer}");
            let mut deletes: Vec<&str> =
                effects["deletes"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
            deletes.sort_unstable();
            assert_eq!(deletes, ["a", "a/b", "a/b/new", "a/renamed"], "{answer}");
            assert_eq!((&effects["connects"], &answer["denials"]), (&json!([]), &json!([])), "{answer}");
        }
    });
}

#[test]
fn a_connection_is_told_with_its_address() {
    for_each_user(|place| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let command =
            format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'");
        let (effects, answer) = effects(place, &[], &command);
        assert_eq!(effects["connects"], json!([format!("127.0.0.1:{port}")]), "{answer}");
    });
}

#[test]
fn a_static_program_and_raw_calls_are_seen_too() {
    for_each_user(|place| {
        let outside = super::folder_outside(place);
        super::compile_static(place, "raw-calls", RAW);
        for flags in BOTH {
            place.write("kept", "x");
            place.write("gone", "x");
            let (effects, answer) = effects(place, flags, "./raw-calls");
            assert_eq!(effects["writes"], json!(["raw", "kept"]), "{answer}");
            assert_eq!(effects["deletes"], json!(["gone"]), "{answer}");
            let denied: Vec<(&Value, &Value)> = answer["denials"]
                .as_array()
                .unwrap()
                .iter()
                .map(|denial| (&denial["operation"], &denial["target"]))
                .collect();
            let file = json!(outside.join("file"));
            assert_eq!(denied, [(&json!("write"), &file)], "{answer}");
            assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "kept");
        }
    });
}

#[test]
fn nothing_is_told_when_nothing_was_refused_and_nothing_when_it_is_off() {
    for_each_user(|place| {
        let (_, answer) = effects(place, &[], "ls /sandbox; echo 'permission denied' >&2; false");
        assert_eq!(answer["denials"], json!([]), "{answer}");
        let file = place.root().with_file_name("off.toml");
        std::fs::write(&file, "[sandbox]\nobserve = false\n").unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let (effects, answer) = effects(place, &["--config", file.to_str().unwrap()], "touch x");
        assert_eq!((effects, &answer["exit_code"]), (Value::Null, &json!(0)), "{answer}");
        let answer = place.call_with(&["--sandbox", "off"], &json!({"command": "touch x"}));
        assert_eq!((&answer["effects"], &answer["exit_code"]), (&Value::Null, &json!(0)), "{answer}");
    });
}

#[test]
fn thousands_of_files_are_a_few_lines() {
    for_each_user(|place| {
        let command = "mkdir -p out && cd out && for i in $(seq 3000); do : > $i; done; true";
        let (effects, answer) = effects(place, &[], command);
        let writes = effects["writes"].as_array().unwrap();
        assert!(writes.len() <= 64 && writes.contains(&json!("out/…")), "{answer}");
        assert_eq!(answer["exit_code"], 0);
    });
}

#[test]
fn the_record_has_the_tree_of_programs() {
    for_each_user(|place| {
        for flags in BOTH {
            let (_, answer) = effects(place, flags, "sh -c 'env true; touch made; true'");
            let id = answer["id"].as_str().unwrap();
            let shown = String::from_utf8(place.output(["history", "show", id]).stdout).unwrap();
            let begins = |line: &&str| line.starts_with("runs ") || line.starts_with("writes ");
            let lines = shown.lines().map(str::trim).filter(begins);
            let lines: Vec<&str> =
                lines.map(|line| line.split("  foretold: ").next().unwrap().trim()).collect();
            assert_eq!(
                lines,
                [
                    "runs bash -c sh -c 'env true; touch made; true'",
                    "runs   sh -c env true; touch made; true",
                    "runs     env true",
                    "runs       true",
                    "runs     touch made",
                    "writes made",
                ],
                "{shown}"
            );
            std::fs::remove_file(place.root().join("made")).unwrap();
        }
    });
}
