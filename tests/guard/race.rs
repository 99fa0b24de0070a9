//! A thread that swaps the path of an `execve` while the kernel reads it.

use std::process::Command;

use super::{for_each_user, refused};
use crate::support::{Place, give};
use serde_json::json;

/// Tries to run a path that another thread changes all the time, and counts what became of it.
const RACE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile char *path;
static void *flip(void *at) {
    volatile char *byte = at;
    for (;;) { *byte = 'b'; *byte = 'a'; }
    return 0;
}
int main(int argc, char **argv) {
    int tries = atoi(argv[1]), good = 0, ran = 0, refused = 0, killed = 0, other = 0;
    path = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    strcpy((char *)path, "./link-a");
    pthread_t thread;
    pthread_create(&thread, 0, flip, (void *)(path + 7));
    for (int i = 0; i < tries; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            char *const words[] = {"x", 0};
            execve((char *)path, words, 0);
            _exit(errno == EACCES ? 13 : 14);
        }
        int status;
        waitpid(pid, &status, 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) == 9) killed++;
        else if (!WIFEXITED(status)) other++;
        else if (WEXITSTATUS(status) == 0) good++;
        else if (WEXITSTATUS(status) == 42) ran++;
        else if (WEXITSTATUS(status) == 13) refused++;
        else other++;
    }
    printf("{\"good\":%d,\"ran\":%d,\"refused\":%d,\"killed\":%d,\"other\":%d}\n", good, ran, refused, killed, other);
    return 0;
}
"#;

/// Leaves a trace with its first instructions.
const FORBIDDEN: &str = r#"
#include <fcntl.h>
#include <unistd.h>
int main(void) { write(open("trace", O_CREAT | O_WRONLY | O_APPEND, 0600), "x", 1); _exit(42); }
"#;

const GOOD: &str = "#include <unistd.h>\nint main(void) { _exit(0); }\n";

fn compile(place: &Place, name: &str, text: &str) {
    let source = place.write(&format!("{name}.c"), text);
    let program = place.root().join(name);
    let status = Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(&source).status();
    assert!(status.unwrap().success());
    give(&program, place.user);
}

#[test]
fn a_forbidden_program_that_is_swapped_in_runs_no_instruction() {
    for_each_user(|place| {
        compile(place, "race", RACE);
        compile(place, "forbidden", FORBIDDEN);
        compile(place, "good", GOOD);
        std::os::unix::fs::symlink("good", place.root().join("link-a")).unwrap();
        std::os::unix::fs::symlink("forbidden", place.root().join("link-b")).unwrap();
        let race = |flags: &[&str], tries: u32| {
            let flags = [&["--sandbox", "workspace"], flags].concat();
            let command = json!({"command": format!("./race {tries}"), "timeout_ms": 170_000});
            let answer = place.call_with(&flags, &command);
            let counts = serde_json::from_str(answer["stdout"].as_str().unwrap());
            (counts.unwrap_or_else(|error| panic!("{error}: {answer}")), answer)
        };
        let (counts, answer): (serde_json::Value, _) =
            race(&["--exclude", "forbidden"], if place.user.is_some() { 10_000 } else { 3000 });
        println!("{:?}: {counts}", place.user);
        let count = |name: &str| counts[name].as_u64().unwrap();
        assert_eq!((count("ran"), count("other")), (0, 0), "{counts}");
        assert!(!place.root().join("trace").exists(), "{counts}");
        assert!(count("good") > 100 && count("refused") > 100 && count("killed") > 0, "{counts}");
        assert!(!refused(&answer).is_empty(), "{answer}");
        let (control, _): (serde_json::Value, _) = race(&[], 200);
        assert!(control["ran"].as_u64().unwrap() > 0 && place.root().join("trace").exists(), "{control}");
    });
}
