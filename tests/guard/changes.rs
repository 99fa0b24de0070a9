//! Calls that change files without opening them, and that give them names: all of them are told, however they are made.

use serde_json::json;

use super::for_each_user;

/// Makes each call by its number, on a file of its own.
const RAW: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
    int own = getuid(), group = getgid();
    syscall(SYS_truncate, "truncate", 1);
    syscall(SYS_chmod, "chmod", 0600);
    syscall(SYS_fchmodat, AT_FDCWD, "fchmodat", 0600);
    syscall(SYS_fchmod, open("fchmod", O_RDONLY), 0600);
    syscall(SYS_chown, "chown", own, group);
    syscall(SYS_lchown, "lchown", own, group);
    syscall(SYS_fchownat, AT_FDCWD, "fchownat", own, group, AT_SYMLINK_NOFOLLOW);
    syscall(SYS_fchown, open("fchown", O_RDONLY), own, group);
    syscall(SYS_utime, "utime", 0);
    syscall(SYS_utimes, "utimes", 0);
    syscall(SYS_utimensat, AT_FDCWD, "utimensat", 0, 0);
    syscall(SYS_utimensat, open("futimens", O_RDONLY), 0, 0, 0);
    syscall(SYS_setxattr, "setxattr", "user.x", "y", 1, 0);
    syscall(SYS_mkdir, "mkdir", 0700);
    syscall(SYS_symlink, "mkdir", "symlink");
    syscall(SYS_link, "chmod", "link");
    syscall(SYS_rename, "link", "renamed");
    syscall(SYS_chmod, "missing", 0600);
    syscall(SYS_chmod, "/dev/null", 0600);
    syscall(SYS_chmod, "../outside/file", 0600);
    return 0;
}
"#;

/// Files that are there before, each changed by the call of its name.
const CHANGED: [&str; 13] = [
    "truncate",
    "chmod",
    "fchmodat",
    "fchmod",
    "chown",
    "lchown",
    "fchownat",
    "fchown",
    "utime",
    "utimes",
    "utimensat",
    "futimens",
    "setxattr",
];

#[test]
fn changes_without_an_open_file_are_told() {
    for_each_user(|place| {
        let outside = super::folder_outside(place);
        super::compile_static(place, "changes", RAW);
        for flags in
            [&["--sandbox", "workspace"][..], &["--sandbox", "workspace", "--exclude", "nosuchprogram"]]
        {
            for name in ["mkdir", "symlink", "renamed"] {
                let path = place.root().join(name);
                let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path));
            }
            CHANGED.iter().for_each(|name| drop(place.write(name, "xyz")));
            let answer = place.call_with(flags, &json!({"command": "./changes"}));
            let wanted: Vec<&str> =
                CHANGED.into_iter().chain(["mkdir", "symlink", "link", "renamed"]).collect();
            assert_eq!(answer["effects"]["writes"], json!(wanted), "{answer}");
            assert_eq!(answer["effects"]["deletes"], json!(["link"]), "{answer}");
            // They did what they should: nothing is told that didn't happen.
            assert_eq!(std::fs::read_to_string(place.root().join("truncate")).unwrap(), "x");
            let denials = answer["denials"].as_array().unwrap();
            let [denial] = denials.as_slice() else { panic!("{answer}") };
            assert_eq!(
                (&denial["operation"], &denial["target"]),
                (&json!("write"), &json!(outside.join("file")))
            );
        }
        // Without observing, the same calls work and nothing is told.
        CHANGED.iter().for_each(|name| drop(place.write(name, "xyz")));
        let file = place.root().with_file_name("off.toml");
        std::fs::write(&file, "[sandbox]\nobserve = false\n").unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let flags = ["--sandbox", "workspace", "--config", file.to_str().unwrap()];
        let answer = place.call_with(&flags, &json!({"command": "./changes"}));
        assert!(answer["effects"].is_null(), "{answer}");
        assert_eq!(std::fs::read_to_string(place.root().join("truncate")).unwrap(), "x");
    });
}

#[test]
fn a_thousand_changes_are_a_few_lines() {
    for_each_user(|place| {
        let command = "mkdir -p many && cd many && touch $(seq 1000) && chmod 600 $(seq 1000)";
        let answer = place.call_with(&["--sandbox", "workspace"], &json!({"command": command}));
        let writes = answer["effects"]["writes"].as_array().unwrap();
        assert!(writes.len() <= 64 && writes.contains(&json!("many/…")), "{answer}");
        assert_eq!(answer["exit_code"], 0, "{answer}");
    });
}
