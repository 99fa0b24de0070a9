//! `run` passes bytes in and out unchanged.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::Value;

use super::{run, text};
use crate::support::{Place, for_each_user, mark, processes_with, shellgate, wait_until};

/// Every pair of bytes.
fn all_bytes() -> Vec<u8> {
    (0..=255).flat_map(|first| (0..=255).flat_map(move |second| [first, second])).collect()
}

/// `run` with `input` in a pipe.
fn piped(place: &Place, words: &[&str], input: &[u8]) -> std::process::Output {
    let mut command = place.shellgate(["run"]);
    let command = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).unwrap());
        child.wait_with_output().unwrap()
    })
}

fn write_bytes(place: &Place, name: &str, bytes: &[u8]) {
    let path = place.root().join(name);
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
}

#[test]
fn output_is_what_the_command_wrote_byte_for_byte() {
    for_each_user(|place| {
        let bytes = all_bytes();
        let backwards: Vec<u8> = bytes.iter().rev().copied().collect();
        write_bytes(place, "bytes", &bytes);
        write_bytes(place, "backwards", &backwards);
        let output = run(place, ["cat bytes; cat backwards >&2"]);
        assert!(output.stdout == bytes, "standard output differs");
        assert!(output.stderr == backwards, "standard error differs");
        let output = run(place, ["printf 'no end of line'"]);
        assert_eq!(text(&output.stdout), "no end of line");
        let output = run(place, ["printf '\\033[31mred\\033[0m\\r\\n'"]);
        assert_eq!(text(&output.stdout), "\x1b[31mred\x1b[0m\r\n", "colours are the command's own business");
    });
}

#[test]
fn a_run_without_problems_says_nothing_of_its_own() {
    for_each_user(|place| {
        for mode in ["off", "read-only", "workspace", "strict"] {
            let output = run(place, ["--sandbox", mode, "echo out; echo err >&2"]);
            assert_eq!(text(&output.stderr), "err\n", "{mode}");
        }
        let output = place.output(["call", r#"{"command": "echo out"}"#]);
        assert_eq!(text(&output.stderr), "", "a call says what it has to say in its answer");
    });
}

#[test]
fn standard_input_is_passed_on() {
    for_each_user(|place| {
        let bytes = all_bytes();
        write_bytes(place, "bytes", &bytes);
        assert!(piped(place, &["cat"], &bytes).stdout == bytes, "from a pipe");
        assert!(piped(place, &["--", "cat", "-"], &bytes).stdout == bytes, "to a program without a shell");
        let file = std::fs::File::open(place.root().join("bytes")).unwrap();
        let output = place.shellgate(["run", "cat"]).stdin(file).output().unwrap();
        assert!(output.stdout == bytes, "from a file");
        for (what, redirect) in [("/dev/null", "</dev/null"), ("closed", "<&-")] {
            let script = format!("exec \"$0\" run 'cat; echo end' {redirect}");
            let output = place.program("sh").args(["-c", &script]).arg(shellgate()).output().unwrap();
            assert_eq!(text(&output.stdout), "end\n", "{what}: {output:?}");
        }
        // The command reads from the current position, and later programs read from where the command stopped.
        let script = "printf '1\\n2\\n3\\n' | { read a; \"$0\" run 'read b; echo b=$b'; cat; echo a=$a; }";
        let output = place.program("sh").args(["-c", script]).arg(shellgate()).output().unwrap();
        assert_eq!(text(&output.stdout), "b=2\n3\na=1\n");
    });
}

#[test]
fn an_end_of_input_that_never_comes_does_not_keep_a_command_that_has_ended() {
    for_each_user(|place| {
        let mut child = place
            .shellgate(["run", "echo done"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let open = child.stdin.take().unwrap();
        assert_eq!(text(&child.wait_with_output().unwrap().stdout), "done\n");
        drop(open);
    });
}

#[test]
fn megabytes_come_through_in_both_directions() {
    for_each_user(|place| {
        let bytes: Vec<u8> = all_bytes().into_iter().cycle().take(3_000_000).collect();
        let output = piped(place, &["cat"], &bytes);
        assert!(output.stdout == bytes, "{} bytes came", output.stdout.len());
        let output = piped(place, &["tee /dev/stderr"], &bytes);
        assert!(output.stdout == bytes, "{} bytes came", output.stdout.len());
        assert!(output.stderr == bytes);
    });
}

#[test]
fn a_reader_that_goes_away_ends_the_command() {
    for_each_user(|place| {
        let mark = mark();
        for command in [format!("exec yes {mark}"), format!("trap '' PIPE; yes {mark}")] {
            let mut child = place.start(["run", &command]);
            let mut stdout = child.stdout.take().unwrap();
            let mut start = [0; 5];
            stdout.read_exact(&mut start).unwrap();
            assert_eq!(&start, b"3600.");
            drop(stdout);
            assert_eq!(child.wait().unwrap().code(), Some(141), "{command}");
            wait_until("no process of the command is left", || processes_with(&mark).is_empty());
        }
        let script = format!("\"$0\" run 'yes {mark}' 2>/dev/null | head -1");
        let output = place.program("sh").args(["-c", &script]).arg(shellgate()).output().unwrap();
        assert_eq!(text(&output.stdout), format!("{mark}\n"));
        wait_until("no process of the command is left", || processes_with(&mark).is_empty());
    });
}

#[test]
fn with_json_the_result_has_standard_output_for_itself() {
    for_each_user(|place| {
        let parse = |bytes: &[u8]| -> Value {
            let line = text(bytes).strip_suffix('\n').unwrap();
            assert!(!line.contains('\n'), "one line: {line}");
            serde_json::from_str(line).unwrap()
        };
        let output = run(place, ["--json", "echo out; echo err >&2; exit 3"]);
        let result = parse(&output.stdout);
        assert_eq!(output.status.code(), Some(3));
        assert_eq!((&result["stdout"], &result["stderr"]), (&"out\n".into(), &"err\n".into()));
        assert_eq!((&result["exit_code"], &result["status"]), (&3.into(), &"failed".into()));
        let mut said: Vec<&str> = text(&output.stderr).lines().collect();
        // The order of bytes from two pipes is not defined.
        said.sort_unstable();
        assert_eq!(said, ["err", "out"]);

        let broken = place.write("broken.toml", "[limits\n");
        let cases: [(&[&str], &str); 4] = [
            (&["--sandbox", "off", "--network", "deny"], "sandbox_unavailable"),
            (&["-C", ".."], "out_of_scope"),
            (&["--config", broken.to_str().unwrap()], "config"),
            (&["--root", "/no/such/folder"], "config"),
        ];
        for (flags, code) in cases {
            let output = run(place, ["--json"].iter().chain(flags).chain(&["touch ran"]));
            assert_eq!(output.status.code(), Some(125), "{flags:?}");
            let result = parse(&output.stdout);
            assert_eq!((&result["error"]["code"], &result["status"]), (&code.into(), &"failed".into()));
            assert!(!place.root().join("ran").exists());
        }
    });
}

#[test]
fn a_state_folder_whose_name_is_no_text_costs_no_answer() {
    use std::os::unix::ffi::OsStringExt as _;
    for_each_user(|place| {
        let state = place.state().join(std::ffi::OsString::from_vec(b"\xff".to_vec()));
        let output = place
            .shellgate(["call", r#"{"command": "echo hi"}"#])
            .env("SHELLGATE_HOME", &state)
            .output()
            .unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&answer["status"], &answer["stdout"]), (&"completed".into(), &"hi\n".into()));
        wait_until("the keeper is gone", || {
            std::fs::read_dir(state.join("sessions")).is_ok_and(|mut entries| entries.next().is_none())
        });
    });
}

#[test]
fn an_answer_that_cannot_be_written_is_no_success() {
    for_each_user(|place| {
        let cases: [(&[&str], i32); 4] = [
            (&["run", "echo out"], 125),
            (&["run", "--json", "echo out"], 125),
            (&["call", r#"{"command": "echo out"}"#], 1),
            (&["completions", "bash"], 1),
        ];
        for (words, code) in cases {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let output = place.shellgate(words).stdout(full).output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
            let said = text(&output.stderr);
            let is_told = said.contains("can't be written") && said.contains("No space left on device");
            assert!(is_told, "{words:?}: {output:?}");
        }
    });
}

#[test]
fn words_of_a_command_in_an_error_do_not_act_on_a_terminal() {
    let place = Place::new(None);
    let words = ["--color", "always", "--default", "deny", "--", "\u{1b}[31mfrob\u{202e}\nhint: none", "x"];
    let output = run(&place, words);
    let said = text(&output.stderr);
    assert!(!said.contains(['\u{1b}', '\u{202e}']) && !said.contains("\nhint"), "{said:?}");
    assert!(said.contains("`‹ESC›[31mfrob‹U+202E›‹LF›hint: none`"), "{said:?}");
}
