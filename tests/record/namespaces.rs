//! `shellgate` from inside a command that hides its keeper, by namespaces or by mounts over `/proc`. The commands are not
//! confined: in a sandbox they can make neither.

use super::approvals::{asking, number};
use super::{json, text};
use crate::support::{Place, for_each_user, shellgate};

/// Ways to hide the keeper from the words `CALL`.
const WAYS: [&str; 7] = [
    "unshare -Ur -p -f CALL",
    "unshare -Ur -p -f --mount-proc CALL",
    "unshare -Ur -p -f --mount-proc -m CALL",
    "ulimit -S -x unlimited; unshare -U --map-current-user -p -f --mount-proc CALL",
    // The limit that marks commands can be lowered, but not taken off.
    "ulimit -x 7; unshare -U --map-current-user -p -f --mount-proc CALL",
    "unshare -Ur -m bash -c 'mount -t tmpfs none /proc && exec \"$@\"' - CALL",
    // Another parent is shown for the shell that is ours.
    "unshare -Ur -m bash -c 'mkdir -p fake && sed \"s/) \\(.\\) [0-9]*/) \\1 1/\" /proc/$$/stat > fake/stat && \
     mount --bind fake/stat /proc/$$/stat && \"$@\"; exit $?' - CALL",
];

/// Runs shellgate with `words` in each way, in a command. Returns what each printed, with its exit code at last.
fn inside(place: &Place, words: &str) -> Vec<String> {
    let home = place.state().display().to_string();
    let call = format!("env SHELLGATE_HOME={home} {} {words}", shellgate().display());
    let run = |way: &&str| {
        // The judge would see the state folder in the text of a command.
        place.write("script", &format!("({}) 2>&1; echo code $?", way.replace("CALL", &call)));
        text(&place.output(["run", "--sandbox", "off", "bash script"]))
    };
    WAYS.iter().map(run).collect()
}

#[test]
fn a_hidden_keeper_still_binds_its_commands() {
    for_each_user(|place| {
        let (mut child, question) = asking(place, &["run", "--ask", "queue", "touch made"]);
        let question = number(&question);
        for words in [
            format!("approvals approve {question}"),
            "stop --all".to_owned(),
            "run --core '*' 'touch made'".to_owned(),
            "run --approve allow 'touch made'".to_owned(),
            "check --sandbox off 'touch made'".to_owned(),
        ] {
            for (came, way) in inside(place, &words).iter().zip(WAYS) {
                assert!(
                    came.contains("denied_by_policy: a command that shellgate runs may not"),
                    "{way}: {came}"
                );
                assert!(!came.contains("code 0"), "{way}: {came}");
            }
        }
        assert!(!place.root().join("made").exists());
        let pending = json(place, &["approvals", "list"]);
        assert_eq!(pending.as_array().unwrap().len(), 1, "{pending}");
        assert!(place.output(["approvals", "approve", &question]).status.success());
        assert!(child.wait().unwrap().success());
        assert!(place.root().join("made").exists());
    });
}

#[test]
fn a_look_from_another_namespace_withdraws_no_question() {
    for_each_user(|place| {
        let (mut child, question) = asking(place, &["run", "--ask", "queue", "touch made"]);
        let question = number(&question);
        // As a container that shares the state folder would.
        let mut elsewhere = place.program("unshare");
        elsewhere.args(["-U", "--map-current-user", "-p", "-f", "--mount-proc"]).arg(shellgate());
        let seen = elsewhere.args(["approvals", "list", "--json"]).output().unwrap();
        assert!(text(&seen).contains(&question), "{seen:?}");
        assert!(place.output(["approvals", "approve", &question]).status.success());
        assert!(child.wait().unwrap().success());
        assert!(place.root().join("made").exists());
    });
}
