//! Debuggers inside the sandbox: a clear refusal, and a grant that works when it is pasted.

use serde_json::{Value, json};

use super::for_each_user;
use crate::support::Place;

/// A command with a debugger, and what it prints when that works. Where gdb never ran before, it would also try to write the
/// bytecode of its scripts below `/usr`, and be refused.
const DEBUGGERS: [(&str, &str); 2] = [
    ("strace -f -e trace=execve true 2>&1", "execve("),
    ("PYTHONDONTWRITEBYTECODE=1 gdb -q -batch -ex run -ex 'print 40+2' --args true 2>&1", "exited normally"),
];

/// With rules about programs commands have a tracer already: the guard.
const BOTH: [&[&str]; 2] = [&[], &["--exclude", "nosuchprogram"]];

fn run(place: &Place, flags: &[&str], command: &str) -> Value {
    let flags = [&["--sandbox", "workspace"], flags].concat();
    place.call_with(&flags, &json!({"command": command}))
}

#[test]
fn a_debugger_is_refused_by_name_and_the_grant_lets_it_run() {
    for_each_user(|place| {
        for flags in BOTH {
            for (command, works) in DEBUGGERS {
                let answer = run(place, flags, command);
                assert!(!answer["stdout"].as_str().unwrap().contains(works), "{answer}");
                let denials = answer["denials"].as_array().unwrap();
                let [denial] = denials.as_slice() else { panic!("{answer}") };
                assert_eq!(
                    (&denial["operation"], &denial["target"], &denial["rule"]),
                    (&json!("use"), &json!("ptrace"), &json!("sandbox.debug")),
                    "{answer}"
                );
                let file = place.root().with_file_name("granted.toml");
                std::fs::write(&file, denial["grant"].as_str().unwrap()).unwrap();
                std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
                let granted = [flags, &["--config", file.to_str().unwrap()]].concat();
                let answer = run(place, &granted, command);
                assert!(answer["stdout"].as_str().unwrap().contains(works), "{answer}");
                assert_eq!(answer["denials"], json!([]), "{answer}");
                // The rest of the sandbox holds.
                let answer = run(place, &granted, "touch ../outside");
                assert_eq!(
                    (&answer["status"], answer["denials"].as_array().unwrap().len()),
                    (&json!("failed"), 1)
                );
            }
        }
    });
}

#[test]
fn an_untrusted_project_cannot_grant_a_debugger() {
    for_each_user(|place| {
        place.write(".shellgate.toml", "[sandbox]\ndebug = true\n");
        let answer = run(place, &[], DEBUGGERS[0].0);
        assert_eq!(answer["denials"][0]["rule"], "sandbox.debug", "{answer}");
    });
}
