//! A command's variables, standard input and redirects are judged with its text.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use super::{call, has_run, text};
use crate::support::for_each_user;

#[test]
fn variables_of_a_call_are_judged_like_assignments() {
    for_each_user(|place| {
        let with = |env: &serde_json::Value| {
            let arguments = json!({"command": "touch ran", "env": env});
            call(place, &["--core", "touch"], &arguments).code().to_owned()
        };
        for env in [
            json!({"LD_PRELOAD": "./x.so"}),
            json!({"LD_LIBRARY_PATH": "."}),
            json!({"PATH": "."}),
            json!({"BASH_ENV": "x"}),
            json!({"GIT_SSH_COMMAND": "x"}),
            json!({"FINE": "1", "PAGER": "x"}),
        ] {
            assert_eq!(with(&env), "approval_unavailable", "{env}");
        }
        for env in [json!({}), json!({"FINE": "1", "RUST_LOG": "debug"})] {
            assert_eq!(with(&env), "ran", "{env}");
        }
        let refused =
            call(place, &["--core", "touch"], &json!({"command": "touch ran", "env": {"LD_PRELOAD": "x"}}));
        assert!(
            refused.answer["error"]["message"].as_str().unwrap().contains("LD_PRELOAD"),
            "{}",
            refused.answer
        );
        // An assignment in the text is judged in the same way.
        let typed = call(place, &["--core", "touch"], &json!({"command": "LD_PRELOAD=./x.so touch ran"}));
        assert_eq!(typed.code(), "approval_unavailable");
        // `--approve allow` allows it.
        let flags = ["--core", "touch", "--approve", "allow"];
        let allowed = call(place, &flags, &json!({"command": "touch ran", "env": {"PAGER": "less"}}));
        assert_eq!(allowed.code(), "ran");
    });
}

#[test]
fn the_standard_input_of_a_shell_is_judged_as_commands() {
    for_each_user(|place| {
        place.write("script", "touch ran\n");
        let with = |flags: &[&str], command: &str, stdin: &str| {
            let arguments = json!({"command": command, "stdin": stdin});
            call(place, flags, &arguments)
        };
        let denies: &[&str] = &["--default", "allow", "--exclude", "rm"];
        for command in ["bash", "sh -s", "bash -s x y", "env bash", "bash -"] {
            let refused = with(denies, command, "touch ran; rm x");
            assert_eq!(refused.code(), "denied_by_policy", "{command}");
            assert_eq!(refused.answer["error"]["rule"], "exclude: rm (`--exclude`)");
        }
        // `cat` takes some of the input, so what the shell gets isn't known.
        assert_eq!(with(denies, "cat; bash", "touch ran; rm x").code(), "approval_unavailable");
        assert_eq!(with(denies, "bash", "touch ran; if").code(), "parse_error");
        assert_eq!(with(denies, "bash", "touch ran").code(), "ran");
        assert_eq!(with(denies, "touch ran; cat", "rm x; if").code(), "ran", "for `cat` it is text");
        assert_eq!(with(&["--core", "bash", "--core", "touch"], "bash", "touch ran").code(), "ran");
        assert_eq!(with(&["--core", "bash"], "bash", "touch ran").code(), "denied_by_policy");
        // This holds for a program with arguments, too.
        let arguments = json!({"command": "bash", "args": ["-s"], "stdin": "touch ran; rm x"});
        assert_eq!(call(place, denies, &arguments).code(), "denied_by_policy");
        // Commands from a file are not read, so they need approval.
        let unread = call(place, denies, &json!({"command": "bash < script"}));
        assert_eq!(unread.code(), "approval_unavailable");
        let piped = |words: &[&str]| {
            let mut command = place.program("setsid");
            command.args(["--wait"]).arg(crate::support::shellgate()).arg("run").args(words);
            command.env("XDG_CONFIG_HOME", place.home().join("nothing"));
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            // A `run` that refuses may have exited already.
            let _ = child.stdin.take().unwrap().write_all(b"touch ran");
            let output = child.wait_with_output().unwrap();
            (output.status.code(), has_run(place), text(&output.stderr).to_owned())
        };
        let (code, ran, said) = piped(&["--default", "allow", "--exclude", "rm", "bash"]);
        assert_eq!((code, ran), (Some(125), false), "{said}");
        assert!(said.starts_with("approval_unavailable: "), "{said}");
        let (code, ran, said) = piped(&["--default", "allow", "bash"]);
        assert_eq!((code, ran), (Some(0), true), "{said}");
        let (code, ran, said) = piped(&["--default", "allow", "--exclude", "rm", "cat >ran"]);
        assert_eq!((code, ran), (Some(125), false), "{said}");
    });
}

#[test]
fn redirects_are_judged_by_their_target() {
    for_each_user(|place| {
        let outside = place.home().join("outside");
        let outside = outside.to_str().unwrap();
        place.write("input", "x\n");
        let verdict = |setting: &str, command: &str| {
            let content =
                format!("[policy]\ncore = [\"touch\", \"cat\", \"echo\"]\nredirects = \"{setting}\"\n");
            let file = super::settings(place, "redirects.toml", &content);
            super::decided(place, &["--config", &file], &format!("touch ran; {command}"))
        };
        for setting in ["ask", "scope", "allow"] {
            for free in
                ["cat <input", "cat <<<x", "cat <<E\nx\nE", "echo x >/dev/null", "echo x >&2 2>&1", "cat <&-"]
            {
                assert_eq!(verdict(setting, free), "ran", "{setting}: {free}");
            }
            assert_eq!(verdict(setting, "cat </etc/hostname"), "approval_unavailable", "{setting}");
            assert_eq!(verdict(setting, "cat <>/dev/tcp/localhost/1"), "approval_unavailable", "{setting}");
        }
        for inside in ["echo x >out", "echo x >>./out", "echo x &>out", "echo x >|out", "cat 3<>out"] {
            assert_eq!(verdict("ask", inside), "approval_unavailable", "{inside}");
            assert!(!place.root().join("out").exists());
            assert_eq!(verdict("scope", inside), "ran", "{inside}");
            assert_eq!(verdict("allow", inside), "ran", "{inside}");
            std::fs::remove_file(place.root().join("out")).unwrap();
        }
        for elsewhere in [
            format!("echo x >{outside}"),
            "echo x >../home/outside".to_owned(),
            "d=../home; echo x >$d/outside".to_owned(),
        ] {
            assert_eq!(verdict("ask", &elsewhere), "approval_unavailable", "{elsewhere}");
            assert_eq!(verdict("scope", &elsewhere), "approval_unavailable", "{elsewhere}");
            assert!(!std::fs::exists(outside).unwrap());
            assert_eq!(verdict("allow", &elsewhere), "ran", "{elsewhere}");
            std::fs::remove_file(outside).unwrap();
        }
    });
}
