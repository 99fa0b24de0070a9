//! Tests of untrusted project files.

use super::{Folder, prefixes};
use crate::{Decision, Redirects, Settings, Substitution, Trust};

/// Loads an untrusted project file over a user's file.
fn load(user: &str, project: &str) -> (Folder, Settings) {
    let folder = Folder::new().user(user).project(Trust::Untrusted, project);
    let settings = folder.load().unwrap();
    (folder, settings)
}

#[test]
fn only_towards_the_strict_end() {
    // Key, the user's value ("": none), the project's value, the result.
    let cases = [
        ("limits.timeout_ms", "", "5", "5"),
        ("limits.timeout_ms", "", "600001", "600000"),
        ("limits.timeout_ms", "", "0", "600000"),
        ("limits.timeout_ms", "0", "5", "5"),
        ("limits.timeout_ms", "0", "0", "0"),
        ("limits.idle_timeout_ms", "", "86400000", "86400000"),
        ("limits.memory_mb", "10", "0", "10"),
        ("limits.memory_mb", "10", "9", "9"),
        ("limits.max_running", "", "1", "1"),
        ("limits.max_running", "", "1025", "1024"),
        ("limits.answer_chars", "", "1", "30000"),
        ("limits.capture_bytes", "", "1", "268435456"),
        ("approval.timeout_s", "", "1", "1"),
        ("approval.timeout_s", "", "301", "300"),
        ("approval.mode", "", "\"ask\"", "\"ask\""),
        ("approval.mode", "", "\"deny\"", "\"deny\""),
        ("approval.mode", "\"ask\"", "\"allow\"", "\"ask\""),
        ("approval.mode", "\"ask\"", "\"on-need\"", "\"ask\""),
        ("approval.mode", "\"allow\"", "\"on-need\"", "\"on-need\""),
        ("approval.from", "", "[\"queue\"]", "[\"queue\"]"),
        ("approval.from", "", "[]", "[]"),
        ("approval.from", "[\"queue\"]", "[\"page\"]", "[\"queue\"]"),
        ("approval.from", "[\"queue\", \"page\"]", "[\"queue\", \"terminal\"]", "[\"queue\", \"page\"]"),
        ("policy.substitution", "", "\"deny\"", "\"deny\""),
        ("policy.substitution", "\"ask\"", "\"check\"", "\"ask\""),
        ("policy.redirects", "", "\"allow\"", "\"ask\""),
        ("policy.redirects", "\"allow\"", "\"scope\"", "\"scope\""),
        ("sandbox.mode", "", "\"workspace\"", "\"workspace\""),
        ("sandbox.mode", "\"workspace\"", "\"off\"", "\"workspace\""),
        ("sandbox.mode", "\"read-only\"", "\"strict\"", "\"read-only\""),
        ("sandbox.mode", "\"strict\"", "\"read-only\"", "\"strict\""),
        ("sandbox.network", "", "\"deny\"", "\"deny\""),
        ("sandbox.network", "\"deny\"", "\"allow\"", "\"deny\""),
        ("sandbox.on_missing", "", "\"warn\"", "\"refuse\""),
        ("sandbox.observe", "", "false", "true"),
        ("sandbox.observe", "false", "true", "true"),
        ("sandbox.debug", "", "true", "false"),
        ("sandbox.writable", "", "[\"/\"]", "[]"),
        ("sandbox.unreadable", "[\"/a\"]", "[\"/b\"]", "[\"/a\", \"/b\"]"),
        ("journal.required", "", "false", "true"),
        ("journal.keep_days", "", "1", "30"),
        ("environment.inherit", "", "\"core\"", "\"core\""),
        ("environment.inherit", "\"core\"", "\"all\"", "\"core\""),
        ("environment.hide_secrets", "", "false", "true"),
        ("environment.quiet", "", "false", "true"),
        ("environment.quiet", "false", "false", "false"),
        ("environment.keep", "", "[\"TOKEN\"]", "[]"),
        ("environment.set", "", "{ PATH = \"/evil\" }", "{}"),
        ("environment.remove", "[\"A\"]", "[\"B\"]", "[\"A\", \"B\"]"),
        ("workspace.working_directory", "", "\"/evil\"", "\"\""),
        ("policy.default", "\"deny\"", "\"allow\"", "\"deny\""),
        ("policy.core", "[\"a\"]", "[\"b\"]", "[\"a\"]"),
        ("policy.exclude", "[\"a\"]", "[\"b\"]", "[\"a\", \"b\"]"),
    ];
    for (path, user, project, expected) in cases {
        let user = if user.is_empty() { String::new() } else { format!("{path} = {user}\n") };
        let (folder, settings) = load(&user, &format!("{path} = {project}\n"));
        assert_eq!(settings.shown(path).as_deref(), Some(expected), "{path} = {project} over {user:?}");
        let apart = matches!(path, "policy.default" | "policy.core");
        assert_eq!(settings.project_policy.is_some(), apart, "{path}");
        let from_project = folder.origin(&settings, path).starts_with(".shellgate.toml:1:");
        // There is a notice for each change that was ignored because the file is untrusted, and for no other. Both cases of a
        // policy that is judged apart would allow more.
        let taken = from_project || project == expected;
        let mut notices = settings.notices.iter();
        assert_eq!(
            notices.all(|notice| matches!(notice.why, crate::IgnoredReason::NotBuilt { .. })),
            taken,
            "{path} = {project} over {user:?}: {:?}",
            settings.notices
        );
    }
}

#[test]
fn every_key_is_in_the_cases_above_or_behaves_like_one() {
    // A project file can't set any key to the loosest value of its range.
    for key in crate::keys::all() {
        let loose = match key.path {
            "limits.max_running" | "limits.jobs_per_session" => "65536",
            path if path.starts_with("limits.") => "0",
            _ => continue,
        };
        let folder = Folder::new().project(Trust::Untrusted, &format!("{} = {loose}\n", key.path));
        let Ok(settings) = folder.load() else { continue };
        assert_eq!(settings.shown(key.path), Settings::default().shown(key.path), "{}", key.path);
    }
}

#[test]
fn approval_without_a_value_is_not_loosened() {
    for loose in ["allow", "on-need"] {
        let (_, settings) = load("", &format!("approval.mode = \"{loose}\"\n"));
        assert_eq!(settings.approval.mode, None);
        assert_eq!(settings.notices.len(), 1);
    }
}

#[test]
fn its_policy_is_kept_separate() {
    let project = "[policy]\ncore = [\"make\"]\nexclude = [\"curl\"]\ndefault = \"allow\"\nsubstitution = \"deny\"\n\
                   [[policy.rule]]\nprefix = [\"make\", \"deploy\"]\ndecision = \"deny\"\ngrants = { network = true }\n";
    let (folder, settings) = load("[policy]\ncore = [\"git\"]\ndefault = \"deny\"\n", project);
    assert_eq!(prefixes(&folder, settings.policy.core.as_ref().unwrap()), ["git (user.toml:2:9)"]);
    assert_eq!(prefixes(&folder, &settings.policy.exclude), ["curl (.shellgate.toml:3:12)"]);
    assert_eq!(settings.policy.default, Decision::Deny);
    assert_eq!(settings.policy.substitution, Substitution::Deny);
    assert!(settings.policy.rules.is_empty());
    let apart = settings.project_policy.clone().unwrap();
    assert_eq!(prefixes(&folder, apart.core.as_ref().unwrap()), ["make (.shellgate.toml:2:9)"]);
    assert_eq!(apart.default, Decision::Allow);
    assert_eq!(apart.redirects, Redirects::Allow);
    assert!(apart.exclude.is_empty());
    assert_eq!(apart.rules.len(), 1);
    assert!(apart.rules[0].grants.is_empty());
    insta::assert_snapshot!(folder.notices(&settings), @"
    .shellgate.toml:2:9: policy.core allows nothing by itself, only a trusted project file can loosen rules
    .shellgate.toml:4:1: policy.default allows nothing by itself, only a trusted project file can loosen rules
    .shellgate.toml:6:1: the grants of this policy.rule are ignored, only a trusted project file can grant
    ");
}

#[test]
fn its_policy_allows_what_the_file_does_not_mention() {
    let (_, settings) = load("", "[[policy.rule]]\nprefix = [\"rm\"]\ndecision = \"deny\"\n");
    let apart = settings.project_policy.unwrap();
    assert_eq!((apart.default, apart.core, apart.redirects), (Decision::Allow, None, Redirects::Allow));
}

#[test]
fn notices() {
    let project = "[workspace]\nworking_directory = \"/evil\"\n[limits]\ntimeout_ms = 0\n[approval]\nmode = \"allow\"\n\
                   [sandbox]\non_missing = \"warn\"\nwritable = [\"/\"]\n[environment]\nhide_secrets = false\n";
    let (folder, settings) = load("", project);
    insta::assert_snapshot!(folder.notices(&settings), @r#"
    .shellgate.toml:2:1: workspace.working_directory is ignored, only a trusted project file can set it
    .shellgate.toml:4:1: limits.timeout_ms stays 600000, an untrusted project file can only make it stricter
    .shellgate.toml:6:1: approval.mode stays what the dialect chooses, an untrusted project file can only make it stricter
    .shellgate.toml:8:1: sandbox.on_missing stays "refuse", an untrusted project file can only make it stricter
    .shellgate.toml:9:1: sandbox.writable is ignored, only a trusted project file can set it
    .shellgate.toml:11:1: environment.hide_secrets stays true, an untrusted project file can only make it stricter
    "#);
}

#[test]
fn people_read_one_line_about_an_untrusted_file_that_would_matter() {
    let lines = |user: &str, project: &str| {
        let (folder, settings) = load(user, project);
        let lines = crate::Notice::lines(&settings.notices);
        lines.iter().map(|line| folder.plain(line)).collect::<Vec<_>>().join("\n")
    };
    let loose = "[policy]\ncore = [\"make\"]\n[limits]\ntimeout_ms = 0\n[sandbox]\nwritable = [\"/srv\"]\n";
    insta::assert_snapshot!(lines("[approval]\nmode = \"on-need\"\n", loose), @"
    .shellgate.toml is not trusted and loosens nothing (policy.core, limits.timeout_ms, sandbox.writable); `shellgate trust` shows it and asks
    ");
    for (user, strict) in [
        ("", "[policy]\nexclude = [\"rm\"]\ndefault = \"deny\"\n"),
        ("", "[[policy.rule]]\nprefix = [\"rm\"]\ndecision = \"ask\"\n"),
        ("", "[limits]\ntimeout_ms = 5\n[sandbox]\nnetwork = \"deny\"\n"),
        ("[policy]\ncore = [\"make\", \"git\"]\n", "[policy]\ncore = [\"make\"]\n"),
        ("[policy]\ndefault = \"allow\"\n", "[policy]\ncore = [\"make\"]\n"),
    ] {
        assert_eq!(lines(user, strict), "", "{strict}");
    }
    for (user, loose) in [
        ("", "[[policy.rule]]\nprefix = [\"rm\"]\ndecision = \"allow\"\n"),
        ("[policy]\ndefault = \"deny\"\n", "[[policy.rule]]\nprefix = [\"rm\"]\ndecision = \"ask\"\n"),
        ("[policy]\ncore = [\"git\"]\n", "[policy]\ncore = []\n"),
    ] {
        assert!(lines(user, loose).contains("`shellgate trust`"), "{loose}");
    }
}

#[test]
fn trust_makes_it_a_layer_like_any_other() {
    let project =
        "[policy]\ncore = [\"make\"]\n[limits]\ntimeout_ms = 0\n[workspace]\nworking_directory = \"/w\"\n";
    let folder = Folder::new().user("[policy]\ncore = [\"git\"]\n").project(Trust::Trusted, project);
    let settings = folder.load().unwrap();
    assert_eq!(settings.shown("policy.core").unwrap(), "[\"make\"]");
    assert_eq!(settings.limits.timeout_ms, 0);
    assert_eq!(settings.workspace.working_directory.as_deref(), Some(std::path::Path::new("/w")));
    assert!(settings.project_policy.is_none() && settings.notices.is_empty());
}

#[test]
fn a_broken_untrusted_file_is_an_error() {
    let folder = Folder::new().project(Trust::Untrusted, "[limits]\ntimeout = 5\n");
    insta::assert_snapshot!(folder.error(), @r"
    .shellgate.toml:2:1: there is no setting limits.timeout
      did you mean `limits.timeout_ms`?
    ");
}

#[test]
fn lists_presets_and_rules_by_effect_are_kept_apart() {
    let folder = Folder::new().user("[policy]\npreset = \"cautious\"\n").project(
        Trust::Untrusted,
        "[policy]\npreset = \"open\"\nallow = [\"rm\"]\ndeny = [\"git push\"]\n[[policy.rule]]\neffect = \"write\"\ndecision = \"allow\"\n",
    );
    let settings = folder.load().unwrap();
    assert_eq!(settings.shown("policy.preset").as_deref(), Some("\"cautious\""));
    assert!(settings.policy.allow.is_empty() && settings.policy.effect_rules.is_empty());
    let project = settings.project_policy.unwrap();
    assert_eq!((project.allow.len(), project.deny.len(), project.effect_rules.len()), (1, 1, 1));
}
