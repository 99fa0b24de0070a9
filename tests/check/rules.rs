//! Presets, lists and rules by effect, from settings to the verdict.

use serde_json::Value;

use super::text;
use crate::support::{Place, for_each_user};

/// The verdict with nothing configured but these flags.
fn verdict(place: &Place, words: &[&str]) -> Value {
    let output = place.unconfigured(["check", "--json"]).args(words).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{words:?}: {}", text(&output.stderr)))
}

fn decided(place: &Place, words: &[&str]) -> String {
    verdict(place, words)["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn with_nothing_configured_reading_is_free_and_the_sandbox_frees_work_inside_the_root() {
    for_each_user(|place| {
        for (words, wanted) in [
            (["ls"].as_slice(), "allow"),
            (&["touch x"], "allow"),
            (&["echo a > x"], "allow"),
            (&["touch /etc/x"], "ask"),
            (&["--sandbox", "off", "ls"], "allow"),
            (&["--sandbox", "off", "touch x"], "ask"),
            (&["--preset", "none", "ls"], "ask"),
            (&["--default", "ask", "ls"], "ask"),
            (&["--core", "git", "ls"], "deny"),
            (&["--core", "git", "--default", "ask", "ls"], "ask"),
            (&["--core", "git", "--preset", "cautious", "ls"], "allow"),
            (&["--dialect", "gemini", "ls"], "ask"),
            (&["--dialect", "gemini", "--preset", "cautious", "ls"], "allow"),
            (&["--deny", "ls", "ls"], "deny"),
            (&["--preset", "none", "--allow", "npm run *", "npm run x"], "allow"),
        ] {
            assert_eq!(decided(place, words), wanted, "{words:?}");
        }
    });
}

#[test]
fn an_untrusted_project_can_only_tighten_presets_and_lists() {
    for_each_user(|place| {
        for (project, words, wanted) in [
            ("preset = \"cautious\"", ["touch x"].as_slice(), "ask"),
            ("preset = \"cautious\"", &["ls"], "allow"),
            ("preset = \"cautious\"", &["--dialect", "gemini", "ls"], "ask"),
            ("preset = \"open\"", &["--preset", "cautious", "touch x"], "ask"),
            ("allow = [\"touch\"]", &["--preset", "cautious", "touch x"], "ask"),
            ("deny = [\"touch *\"]", &["touch x"], "deny"),
            ("ask = [\"ls\"]", &["ls"], "ask"),
        ] {
            place.write(".shellgate.toml", &format!("[policy]\n{project}\n"));
            assert_eq!(decided(place, words), wanted, "{project} {words:?}");
        }
        place.write(".shellgate.toml", "[[policy.rule]]\neffect = \"write\"\ndecision = \"allow\"\n");
        assert_eq!(decided(place, &["--preset", "cautious", "touch x"]), "ask");
    });
}

#[test]
fn what_a_command_does_is_in_the_json() {
    for_each_user(|place| {
        let found = verdict(place, &["rm a b; git fetch https://a.example.org/x"]);
        let effects = |at: usize| found["commands"][at]["effects"].as_array().unwrap().clone();
        let deleted = effects(0);
        assert_eq!((&deleted[0]["effect"], &deleted[0]["target"]), (&"delete".into(), &"a".into()));
        assert_eq!((&deleted[1]["known"], deleted[1].get("sends")), (&true.into(), None));
        let fetched = effects(1);
        let network = fetched.iter().find(|effect| effect["effect"] == "network").unwrap();
        assert_eq!((&network["target"], &network["sends"]), (&"a.example.org".into(), &false.into()));
    });
}
