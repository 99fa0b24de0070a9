//! Rules from files: several layers, files of other agents, the long form, and an untrusted project file.

use serde_json::json;

use super::{call, decided, settings};
use crate::support::for_each_user;

#[test]
fn an_untrusted_project_can_only_make_it_stricter() {
    for_each_user(|place| {
        let allows = settings(place, "allows.toml", "[policy]\ncore = [\"touch\", \"echo\"]\n");
        let denies = settings(place, "denies.toml", "[policy]\ncore = [\"git\"]\nexclude = [\"touch\"]\n");
        let asks = settings(place, "asks.toml", "");
        let verdict = |project: &str, file: &str| {
            place.write(".shellgate.toml", project);
            decided(place, &["--config", file], "touch ran")
        };
        assert_eq!(verdict("", &allows), "ran");
        for looser in [
            "[policy]\ncore = [\"*\"]\n",
            "[policy]\ncore = [\"touch\"]\n",
            "[policy]\ndefault = \"allow\"\n",
            "[approval]\nmode = \"allow\"\n",
            "[[policy.rule]]\nprefix = [\"touch\"]\ndecision = \"allow\"\n",
        ] {
            assert_eq!(verdict(looser, &denies), "denied_by_policy", "{looser}");
            assert_eq!(verdict(looser, &asks), "approval_unavailable", "{looser}");
            assert_eq!(verdict(looser, &allows), "ran", "{looser}");
        }
        for (stricter, wanted) in [
            ("[policy]\nexclude = [\"touch\"]\n", "denied_by_policy"),
            ("[policy]\ncore = [\"echo\"]\n", "denied_by_policy"),
            ("[policy]\ncore = []\ndefault = \"deny\"\n", "denied_by_policy"),
            ("[[policy.rule]]\nprefix = [\"touch\"]\ndecision = \"ask\"\n", "approval_unavailable"),
            ("[[policy.rule]]\nprefix = [\"touch\"]\ndecision = \"deny\"\n", "denied_by_policy"),
        ] {
            assert_eq!(verdict(stricter, &allows), wanted, "{stricter}");
        }
        place.write(".shellgate.toml", "[policy]\nexclude = [\"touch\"]\n");
        let refused = call(place, &["--config", &allows], &json!({"command": "touch ran"}));
        let rule = refused.answer["error"]["rule"].as_str().unwrap();
        assert!(rule.ends_with("/root/.shellgate.toml:2:12)"), "{rule}");
    });
}

#[test]
fn exclude_lists_add_up_and_the_last_core_list_counts() {
    for_each_user(|place| {
        let one = settings(place, "one.toml", "[policy]\ncore = [\"touch\", \"echo\"]\nexclude = [\"rm\"]\n");
        let two = settings(place, "two.toml", "[policy]\ncore = [\"cat\"]\nexclude = [\"dd\"]\n");
        let verdict = |flags: &[&str], command: &str| decided(place, flags, command);
        assert_eq!(verdict(&["--config", &one], "touch ran; echo"), "ran");
        assert_eq!(verdict(&["--config", &one, "--config", &two], "touch ran"), "denied_by_policy");
        let flags = ["--config", &one, "--config", &two, "--core", "touch"];
        assert_eq!(verdict(&flags, "touch ran; cat"), "ran", "flags add to it");
        assert_eq!(verdict(&flags, "touch ran; echo"), "denied_by_policy");
        let wild = ["--config", &one, "--config", &two, "--core", "*"];
        assert_eq!(verdict(&wild, "touch ran; echo"), "ran");
        for excluded in ["rm x", "dd", "sudo dd", "xargs rm"] {
            assert_eq!(verdict(&wild, &format!("touch ran; {excluded}")), "denied_by_policy", "{excluded}");
        }
        // `*` in `exclude` denies everything.
        assert_eq!(verdict(&["--core", "touch", "--exclude", "*"], "touch ran"), "denied_by_policy");
    });
}

#[test]
fn the_long_form_has_reasons() {
    for_each_user(|place| {
        let file = settings(
            place,
            "rules.toml",
            "[policy]\ndefault = \"deny\"\n\
             [[policy.rule]]\nprefix = [\"touch\"]\ndecision = \"allow\"\nreason = \"harmless\"\n\
             [[policy.rule]]\nprefix = [\"touch\", \"-d\"]\ndecision = \"ask\"\nreason = \"changes times\"\n\
             [[policy.rule]]\nprefix = [\"touch\", \"-c\"]\ndecision = \"deny\"\nreason = \"does nothing\"\n",
        );
        let verdict = |command: &str| call(place, &["--config", &file], &json!({"command": command}));
        assert_eq!(verdict("touch ran").code(), "ran");
        let asked = verdict("touch -d now ran");
        assert_eq!(asked.code(), "approval_unavailable");
        assert!(
            asked.answer["error"]["message"].as_str().unwrap().contains("changes times"),
            "{}",
            asked.answer
        );
        assert_eq!(asked.answer["error"]["rule"], json!(format!("rule: touch -d ({file}:7:1)")));
        let denied = verdict("touch ran; touch -c x");
        assert_eq!(denied.code(), "denied_by_policy");
        assert!(
            denied.answer["error"]["message"].as_str().unwrap().contains("does nothing"),
            "{}",
            denied.answer
        );
        assert_eq!(verdict("touch ran; echo").code(), "denied_by_policy", "the default");
    });
}

#[test]
fn settings_of_other_agents_are_applied_as_they_are() {
    for_each_user(|place| {
        let verdict = |content: &str, command: &str| {
            let file = settings(place, "settings.json", content);
            decided(place, &["--config", &file], command)
        };
        let gemini = r#"{"tools": {"core": ["run_shell_command(touch)", "run_shell_command(git log)"], "exclude": ["run_shell_command(touch -c)"]}}"#;
        assert_eq!(verdict(gemini, "touch ran"), "ran");
        assert_eq!(verdict(gemini, "touch ran; git push"), "denied_by_policy");
        assert_eq!(verdict(gemini, "touch ran; touch --no-create x"), "denied_by_policy");
        let qwen = r#"{"coreTools": ["run_shell_command"], "excludeTools": ["ShellTool(rm)"]}"#;
        assert_eq!(verdict(qwen, "touch ran; make --version"), "ran");
        assert_eq!(verdict(qwen, "touch ran; rm x"), "denied_by_policy");
        assert_eq!(verdict(qwen, "touch ran && /bin/rm x"), "denied_by_policy");
        assert_eq!(verdict(r#"{"excludeTools": ["run_shell_command"]}"#, "touch ran"), "denied_by_policy");
        assert_eq!(verdict(r#"{"tools": {"core": ["read_file"]}}"#, "touch ran"), "denied_by_policy");
        assert_eq!(verdict(r#"{"theme": "dark"}"#, "touch ran"), "approval_unavailable");
    });
}
