//! Text that is typed at shells and interpreters is judged like a command.

use std::process::Output;

use serde_json::Value;

use super::job::Job;
use crate::support::{Place, for_each_user, wait_until};

/// Types with rules that allow everything but `rm`, and without a person to ask.
pub(crate) fn send(place: &Place, job: &Job<'_>, args: &[&str]) -> Output {
    let flags = ["send", &job.id, "--approve", "ask", "--default", "allow", "--exclude", "rm"];
    place.output(flags.iter().chain(args))
}

pub(crate) fn passes(place: &Place, job: &Job<'_>, args: &[&str]) {
    let output = send(place, job, args);
    assert!(output.status.success(), "{args:?}: {output:?}");
}

pub(crate) fn is_refused(place: &Place, job: &Job<'_>, args: &[&str], code: &str) {
    let output = send(place, job, args);
    assert_eq!(output.status.code(), Some(3), "{args:?}: {output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with(code), "{args:?}: {said}");
}

/// Shells that read commands from the terminal.
const SHELLS: &[&str] = &[
    "bash --norc",
    "dash",
    "sh",
    "bash --norc -s",
    "cat | bash --norc",
    "bash /dev/tty",
    "exec -a cat bash --norc",
];

#[test]
fn lines_for_a_shell_are_judged_however_they_are_typed() {
    for_each_user(|place| {
        for shell in SHELLS {
            place.write("x", "");
            let job = Job::start(place, shell);
            is_refused(place, &job, &["rm x"], "denied_by_policy: the command is denied: `rm` is excluded");
            passes(place, &job, &["--no-newline", "r"]);
            is_refused(place, &job, &["m x"], "denied_by_policy");
            passes(place, &job, &["--no-newline", "m x"]);
            is_refused(place, &job, &["--key", "Enter"], "denied_by_policy");
            passes(place, &job, &["--key", "C-u"]);
            for line in
                ["true; rm x", "env rm x", "bash -c 'rm x'", "if true\nthen rm x\nfi", "cat <<E\n$(rm x)\nE"]
            {
                is_refused(place, &job, &[line], "denied_by_policy");
            }
            assert!(place.root().join("x").exists(), "{shell}");
            passes(place, &job, &["touch y"]);
            wait_until("y is there", || place.root().join("y").exists());
            std::fs::remove_file(place.root().join("y")).unwrap();
        }
    });
}

#[test]
fn text_that_can_not_be_judged_is_not_typed_at_a_shell() {
    for_each_user(|place| {
        let job = Job::start(place, "bash --norc");
        for keys in
            [["--key", "Tab"], ["--key", "Up"], ["--key", "Backspace"], ["--key", "C-w"], ["--key", "Esc"]]
        {
            is_refused(place, &job, &keys, "denied_by_policy: keys that edit");
        }
        for text in ["echo 'a", "cat <<E", "for i in 1", "echo a \\", "f() {"] {
            is_refused(place, &job, &[text], "denied_by_policy: the line is not a whole command");
        }
        for text in [
            "alias ls=date",
            "trap date EXIT",
            "PROMPT_COMMAND=date",
            "source f",
            "enable -n cd",
            "bind -x a:b",
            "!!",
            "^a^b",
            "PATH=/tmp",
            "PS1='$(date)'",
        ] {
            is_refused(place, &job, &[text], "approval_unavailable");
        }
        is_refused(
            place,
            &job,
            &["echo a; echo \\\n b"],
            "denied_by_policy: the line is not a whole command",
        );
        passes(place, &job, &["echo a; echo b"]);
        job.prints("a\r\n");
    });
}

#[test]
fn an_answer_is_not_a_command() {
    for_each_user(|place| {
        place.write("s.sh", "read x; echo \"script got $x\"\n");
        for command in ["read x; echo \"got $x\"", "bash s.sh", "cat", "python3 -c 'print(\"got\", input())'"]
        {
            let job = Job::start(place, command);
            passes(place, &job, &["rm x"]);
            job.prints("rm x\r\n");
            wait_until("it has read it", || job.printed().matches("rm x").count() == 2);
        }
    });
}

/// After a program has read its answer, a shell may read the rest of the text.
#[test]
fn the_rest_of_a_text_is_judged_for_the_program_that_reads_it() {
    for_each_user(|place| {
        for (command, text) in [
            ("read a; bash --norc", "answer\nrm x"),
            ("cat; bash --norc", "line\n\u{4}rm x"),
            ("head -n 1; dash", "line\nrm x"),
            ("sleep 0.5; bash --norc", "rm x"),
            ("less /etc/passwd; bash --norc", "qrm x"),
        ] {
            place.write("x", "");
            let job = Job::start(place, command);
            is_refused(place, &job, &[text], "denied_by_policy");
            passes(place, &job, &["touch y"]);
            wait_until("y is there", || place.root().join("y").exists());
            assert!(place.root().join("x").exists(), "{command}");
            std::fs::remove_file(place.root().join("y")).unwrap();
        }
    });
}

#[test]
fn an_interpreter_runs_nothing_unasked() {
    for_each_user(|place| {
        for command in ["python3 -q", "node", "bash --norc"] {
            let job = Job::start(place, command);
            if command == "bash --norc" {
                passes(place, &job, &["python3 -q"]);
                job.prints(">>>");
            }
            is_refused(place, &job, &["1+1"], "approval_unavailable");
            // `types` uses settings that allow everything, so nothing is asked.
            job.types(&["40+2"]);
            job.prints("42");
            passes(place, &job, &["--eof"]);
        }
    });
}

#[test]
fn an_editor_edits_and_is_asked_about_commands() {
    for_each_user(|place| {
        let job = Job::start(place, "vim --clean text");
        passes(place, &job, &["--no-newline", "ihello: world!"]);
        passes(place, &job, &["--key", "Esc"]);
        is_refused(place, &job, &[":!touch y"], "approval_unavailable");
        is_refused(place, &job, &[":r !touch y"], "approval_unavailable");
        passes(place, &job, &[":wq"]);
        assert_eq!(job.ends(), Some(0));
        assert_eq!(std::fs::read_to_string(place.root().join("text")).unwrap(), "hello: world!\n");
        assert!(!place.root().join("y").exists());
    });
}

#[test]
fn a_shell_is_judged_where_it_is_and_all_is_recorded() {
    for_each_user(|place| {
        std::fs::create_dir(place.root().join("sub")).unwrap();
        let job = Job::start(place, "bash --norc");
        passes(place, &job, &["cd sub"]);
        passes(place, &job, &["pwd"]);
        is_refused(place, &job, &["rm x"], "denied_by_policy");
        let output = place.output(["history", "--json"]);
        let history: Value = serde_json::from_slice(&output.stdout).unwrap();
        let all = history["executions"].as_array().or(history.as_array()).unwrap();
        let of = |text: &str| {
            let found = all.iter().find(|one| one["command"] == text || one["text"] == text);
            found.unwrap_or_else(|| panic!("{text}: {history}")).clone()
        };
        assert_eq!(of("rm x")["status"], "refused");
        assert_eq!(of("cd sub")["status"], "completed");
        assert_eq!((&of("cd sub")["directory"], &of("pwd")["directory"]), (&".".into(), &"sub".into()));
        let output = place.output(["audit", "verify"]);
        assert!(output.status.success(), "{output:?}");
    });
}

/// Two callers type halves of one line at the same time.
#[test]
fn halves_of_a_line_from_two_callers_run_nothing_unjudged() {
    for_each_user(|place| {
        place.write("x", "");
        let job = Job::start(place, "bash --norc");
        for _ in 0..8 {
            std::thread::scope(|scope| {
                let (place, job) = (&place, &job);
                scope.spawn(move || send(place, job, &["--no-newline", "r"]));
                scope.spawn(move || send(place, job, &["m x"]));
                scope.spawn(move || send(place, job, &["--no-newline", "rm"]));
                scope.spawn(move || send(place, job, &[" x"]));
            });
            passes(place, &job, &["--key", "C-c"]);
        }
        assert!(place.root().join("x").exists(), "{}", job.printed());
    });
}

/// Tricks that once made a shell run a command that had not been judged.
const TRICKS: &[(&str, &[&str])] = &[
    ("bash --norc", &["head -c1", "xrm x"]),
    ("dash", &["dd bs=1 count=1 of=/dev/null status=none", "xrm x"]),
    ("bash --norc", &["read -n1 y", "xrm x"]),
    ("bash --norc", &["builtin read -n1 y", "xrm x"]),
    ("bash --norc", &["exec < script"]),
    ("bash --norc", &["exec <<< 'rm x'"]),
    ("bash --norc", &["exec python3\n: '\nimport os; os.system(\"rm x\")\n'"]),
    ("bash --norc", &["stty erase Z", "xxxxZZZZrm x"]),
    ("dash", &["stty iuclc", "RM X"]),
    ("bash --norc", &[": rm x", ": \"'\"; !-1:1-2 # '"]),
    ("bash --norc", &[": rm x", ": # it's\n!-2:1-2\n: # it's"]),
    ("bash --norc", &[": \"'\" !zzz 'a\nrm x\n' # '"]),
    ("dash", &[": &>/dev/null rm x"]),
    ("dash", &["echo $'\\'; rm x; #'"]),
    ("dash", &["[[ -n x || rm == x ]]"]),
];

#[test]
fn tricks_of_shells_and_terminals_run_nothing_unjudged() {
    for_each_user(|place| {
        place.write("script", "rm x\n");
        for (shell, texts) in TRICKS {
            place.write("x", "");
            let job = Job::start(place, shell);
            let sent: Vec<Output> = texts.iter().map(|text| send(place, &job, &[text])).collect();
            assert!(sent.iter().any(|output| output.status.code() == Some(3)), "{texts:?}: {sent:?}");
            drop(job);
            assert!(place.root().join("x").exists(), "{texts:?}");
        }
    });
}

/// A program may have changed the terminal's control keys. Then no text is typed at a shell.
#[test]
fn a_terminal_whose_keys_were_changed_takes_no_commands() {
    for_each_user(|place| {
        let job = Job::start(place, "stty erase Z; exec bash --norc");
        is_refused(place, &job, &["ls"], "denied_by_policy: the control keys of the terminal");
    });
}
