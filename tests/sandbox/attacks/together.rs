//! Many commands at once, sandboxes beside each other, and commands that take all they can get.

use serde_json::{Value, json};

use super::{for_each_user, run, write};
use crate::mcp::talk::Talk;
use crate::support::{Place, mark, processes_with, wait_until};

const AT_ONCE: usize = 200;

#[test]
fn two_hundred_commands_at_once_are_confined() {
    for_each_user(|place| {
        let mut talk = Talk::begin(place.shellgate(["mcp", "--sandbox", "workspace"]), &json!({}));
        // Each waits until all have started, then tries to leave the sandbox.
        let command = |at: usize| {
            format!(
                "echo > started.{at}; until [ -e go ]; do sleep 0.2; done; echo {at} > made.{at}; echo > ../home/escaped"
            )
        };
        let calls: Vec<u64> = (0..AT_ONCE).map(|at| talk.call(json!({"command": command(at)}))).collect();
        let count = |start: &str| {
            let names = std::fs::read_dir(place.root()).unwrap().flatten();
            names.filter(|entry| entry.file_name().to_string_lossy().starts_with(start)).count()
        };
        wait_until("all run at once", || count("started.") == AT_ONCE);
        place.write("go", "");
        for call in calls {
            let answer = talk.answer(call)["result"]["structuredContent"].clone();
            assert_eq!(answer["exit_code"], 1, "{answer}");
            assert!(answer["stderr"].as_str().unwrap().contains("Read-only file system"), "{answer}");
        }
        assert_eq!((count("made."), place.home().join("escaped").exists()), (AT_ONCE, false));
        assert_eq!(run(place, "off", "echo > ../home/escaped")["status"], "completed", "without a sandbox");
        talk.leave();
    });
}

/// What one sandbox leaves for others to find, until `down` is there.
const LEAVES: &str = r#"
import os, socket, sys, time
name, port = sys.argv[1], int(sys.argv[2])
open("/tmp/" + name, "w").close()
open("/dev/shm/" + name, "w").close()
abstract = socket.socket(socket.AF_UNIX); abstract.bind("\0" + name); abstract.listen()
server = socket.create_server(("127.0.0.1", port))
open("up." + name, "w").close()
while not os.path.exists("down"): time.sleep(0.05)
"#;

/// What finds it: the names of what can be reached.
const FINDS: &str = r#"
import ctypes, os, socket, sys
name, port, mark = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def reaches(family, address):
    try: socket.socket(family).connect(address); return True
    except OSError: return False
found = [place for place in ("/tmp/", "/dev/shm/") if os.path.exists(place + name)]
found += ["abstract"] * reaches(socket.AF_UNIX, "\0" + name)
found += ["localhost"] * reaches(socket.AF_INET, ("127.0.0.1", port))
for pid in filter(str.isdigit, os.listdir("/proc")):
    try: words = open("/proc/%s/cmdline" % pid).read()
    except OSError: continue
    found += ["process"] * (mark in words and "leaves.py" in words)
print(*found)
"#;

#[test]
fn two_sandboxes_do_not_see_each_other() {
    for_each_user(|place| {
        write(place, "root/leaves.py", LEAVES);
        write(place, "root/finds.py", FINDS);
        let python = std::fs::canonicalize(crate::support::program_file("python3")).unwrap();
        let python = python.display();
        let mark = mark();
        let name = format!("shellgate-{mark}");
        let port = 40_000 + std::process::id() % 20_000;
        let call = |session: &str, mode: &str, command: String| {
            place.call_with(&["--sandbox", mode], &json!({"command": command, "session": session}))
        };
        let leave = format!("{python} leaves.py {name} {port} {mark}");
        let find = || format!("{python} finds.py {name} {port} {mark}");
        let arguments = json!({"command": leave, "session": "one"}).to_string();
        let one = place.start(["call", "--sandbox", "strict", &arguments]);
        wait_until("the first one is ready", || place.root().join(format!("up.{name}")).exists());
        for (session, mode) in [("two", "strict"), ("two", "read-only"), ("three", "workspace")] {
            let answer = call(session, mode, find());
            assert_eq!(
                (&answer["status"], &answer["stdout"]),
                (&json!("completed"), &json!("\n")),
                "{answer}"
            );
        }
        let own = call("one", "strict", find());
        assert_eq!(own["stdout"], "/tmp/ /dev/shm/ abstract localhost process\n", "its own session: {own}");
        place.write("down", "");
        let ended: Value = serde_json::from_slice(&one.wait_with_output().unwrap().stdout).unwrap();
        assert_eq!(ended["status"], "completed", "{ended}");
    });
}

/// Sets limits in the user's settings.
fn limit(place: &Place, limits: &str) {
    write(
        place,
        "home/.config/shellgate/config.toml",
        &format!("[approval]\nmode = \"allow\"\n[limits]\n{limits}\n"),
    );
}

/// A command that takes too much, and one that takes less, with the limit in force. Nothing here runs without a limit.
#[test]
fn bombs_are_stopped_by_limits() {
    let grow = |mb: u32| format!("python3 -c 'x = b\"a\" * ({mb} << 20); import time; time.sleep(1)'");
    let fill = |path: &str, mb: u32| {
        format!("head -c {}m /dev/zero > {path}; status=$?; sleep 1; rm -f {path}; exit $status", mb)
    };
    let fork = |depth: u32, mark: &str| {
        format!(
            "cat > bomb.sh <<'EOF'\n[ $1 -gt 0 ] || {{ sleep {mark} & wait; exit; }}\nbash bomb.sh $(($1 - 1)) & bash bomb.sh $(($1 - 1)) & wait\nEOF\n\
             timeout -s KILL 3 bash bomb.sh {depth}"
        )
    };
    for_each_user(|place| {
        limit(place, "memory_mb = 150\nprocesses = 40\ndisk_mb = 8");
        let mark = mark();
        let bomb = run(place, "workspace", &fork(12, &mark));
        assert_ne!(bomb["status"], "completed", "{bomb}");
        assert!(processes_with(&mark).len() <= 40, "{bomb}");
        assert!(place.output(["stop", "--all", "--now"]).status.success());
        wait_until("nothing is left of it", || processes_with(&mark).is_empty());
        for (mode, takes_less, takes_more, key) in [
            ("workspace", grow(20), grow(600), "memory_mb"),
            ("strict", grow(20), grow(600), "memory_mb"),
            ("workspace", fill("file", 2), fill("file", 64), "disk_mb"),
        ] {
            // The folder of the tests' programs can't be read there.
            let bash = |command: &str| match mode {
                "strict" => command.replace("python3", "/usr/bin/python3"),
                _ => command.to_owned(),
            };
            let less = run(place, mode, &bash(&takes_less));
            assert_eq!(less["status"], "completed", "{mode} {key}: {less}");
            let more = run(place, mode, &bash(&takes_more));
            assert_eq!(
                more["error"]["rule"].as_str().map(|rule| rule.contains(key)),
                Some(true),
                "{mode} {key}: {more}"
            );
        }
        // A private folder for temporary files is memory.
        let more = run(place, "read-only", &fill("/tmp/file", 600));
        assert_ne!(more["status"], "completed", "{more}");
        assert_eq!(run(place, "workspace", "echo on")["stdout"], "on\n", "the session goes on");
    });
}
