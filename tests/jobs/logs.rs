//! `logs`: all output, a part of it, and following it.

use std::io::Read as _;
use std::time::UNIX_EPOCH;

use serde_json::json;

use super::{json_of, run, start};
use crate::support::{Place, for_each_user, wait_until};

#[test]
fn parts_are_cut_as_asked() {
    for_each_user(|place| {
        let id = start(place, "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done");
        run(place, &["wait", &id]);
        let stdout = "out 1\nout 2\nout 3\nout 4\nout 5\n";
        let cases: &[(&[&str], &str)] = &[
            (&[], stdout),
            (&["-n", "2"], "out 4\nout 5\n"),
            (&["--lines", "0"], ""),
            (&["--grep", "[24]"], "out 2\nout 4\n"),
            (&["--grep", "[24]", "-n", "3"], "out 4\n"),
            (&["--bytes", "6-12"], "out 2\n"),
            (&["--bytes", "24-"], "out 5\n"),
            (&["--bytes", "-6"], "out 1\n"),
            (&["--stream", "stderr"], ""),
            (&["-f"], stdout),
            (&["--since", "1h"], stdout),
        ];
        for (args, expected) in cases {
            let args = [&["logs", id.as_str()][..], args].concat();
            assert_eq!(run(place, &args), ((*expected).to_owned(), Some(0)), "{args:?}");
        }
        let output = place.output(["logs", &id, "--stream", "stderr", "-n", "1"]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "err 5\n", "each stream on its own");
        let answer = json_of(place, &["logs", &id, "--json", "-n", "1"]);
        assert_eq!(
            (&answer["stdout"], &answer["stderr"], &answer["stdout_bytes"]),
            (&json!("out 5\n"), &json!("err 5\n"), &json!([24, 30]))
        );
        for bad in [&["--bytes", "9-3"][..], &["--bytes", "x"], &["--grep", "("], &["--lines", "-1"]] {
            let args = [&["logs", id.as_str()][..], bad].concat();
            assert_eq!(run(place, &args).1, Some(2), "{bad:?}");
        }
    });
}

#[test]
fn a_command_that_never_ran_has_a_reason_in_place_of_output() {
    for_each_user(|place| {
        for (flags, code) in [
            (&["--default", "ask"][..], "approval_unavailable"),
            (&["--exclude", "touch"], "denied_by_policy"),
        ] {
            let args = ["call"].iter().chain(flags).chain(&[r#"{"command": "touch never"}"#]);
            let output = place.strictly(args).output().unwrap();
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(answer["error"]["code"], code, "{answer}");
            for more in [&[][..], &["--json"], &["-f"]] {
                let args = [&["logs", answer["id"].as_str().unwrap()][..], more].concat();
                let output = place.output(&args);
                let said = String::from_utf8_lossy(&output.stderr);
                assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0), "{args:?}: {said}");
                assert!(said.starts_with(&format!("{code}: execution `")), "{said}");
                assert!(said.contains("` never ran: "), "{said}");
            }
        }
        let failed = place.call(&json!({"command": "no-such-program", "args": []}));
        let output = place.output(["logs", failed["id"].as_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with("spawn_failed: ") && said.contains("` never ran: "), "{said}");
        let id = start(place, "echo printed");
        run(place, &["wait", &id]);
        assert_eq!(run(place, &["logs", &id]).0, "printed\n");
        for entry in std::fs::read_dir(place.state().join("spool")).unwrap().flatten() {
            std::fs::remove_file(entry.path()).unwrap();
        }
        let output = place.output(["logs", &id]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4));
        assert!(said.contains("is not kept any more"), "{said}");
    });
}

#[test]
fn following_misses_nothing_and_ends_with_the_job() {
    for_each_user(|place| {
        place.write("go", "");
        let id = start(
            place,
            "for i in $(seq 200); do echo line $i; [ $i = 100 ] && while [ -e go ]; do sleep 0.01; done; done; echo last >&2",
        );
        wait_until("half of it is there", || run(place, &["logs", &id]).0.ends_with("line 100\n"));
        let mut follower = place
            .shellgate(["logs", "-f", &id])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 7];
        follower.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        std::fs::remove_file(place.root().join("go")).unwrap();
        let output = follower.wait_with_output().unwrap();
        let all = [&first[..], &output.stdout].concat();
        let expected: String = (1..=200).map(|i| format!("line {i}\n")).collect();
        assert_eq!(String::from_utf8_lossy(&all), expected);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "last\n");
        assert_eq!(output.status.code(), Some(0));
    });
}

#[test]
fn output_since_a_given_time_is_found() {
    for_each_user(|place| {
        place.write("go", "");
        let id = start(
            place,
            "echo early; while [ -e go ]; do sleep 0.05; done; echo late; while [ ! -e stop ]; do sleep 0.05; done",
        );
        wait_until("the first is there", || run(place, &["logs", &id]).0 == "early\n");
        // A time between the two lines. Times are given in whole seconds.
        let now = || u64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
        let between = (now() / 1000 + 1) * 1000;
        wait_until("the next second begins", || now() >= between);
        std::fs::remove_file(place.root().join("go")).unwrap();
        wait_until("the second is there", || run(place, &["logs", &id]).0.ends_with("late\n"));
        let between = shellgate::journal::calendar::exact(i64::try_from(between).unwrap());
        let between = between.split_once('.').unwrap().0;
        assert_eq!(run(place, &["logs", &id, "--since", between]).0, "late\n");
        assert_eq!(run(place, &["logs", &id, "--since", "1h"]).0, "early\nlate\n");
        place.write("stop", "");
        assert_eq!(run(place, &["wait", &id]).1, Some(0));
        assert_eq!(run(place, &["logs", &id, "--since", "1h"]).0, "early\nlate\n", "after its end too");
    });
}

#[test]
fn following_takes_no_end_and_no_json() {
    let place = Place::new(None);
    let id = start(&place, "echo one; sleep 0.4");
    for more in [["--json", ""], ["--bytes", "1-5"]] {
        let words: Vec<&str> =
            ["logs", "-f", &id].into_iter().chain(more).filter(|word| !word.is_empty()).collect();
        let output = place.output(&words);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    assert_eq!(run(&place, &["logs", "-f", &id, "--bytes", "1-"]), ("ne\n".to_owned(), Some(0)));
    assert_eq!(run(&place, &["logs", &id, "--since", "600000ms"]), ("one\n".to_owned(), Some(0)));
}
