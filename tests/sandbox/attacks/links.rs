//! Attacks on links: a path of ours, or of the user, that passes a link in the root leads where a command wants if the command can
//! replace that link.
//!
//! The first attack of each is the control: on what the path leads to, which was protected before its links were.

use serde_json::{Value, json};

use super::git::prepare;
use super::{for_each_user, write};
use crate::support::Place;

/// Runs a command, also where the settings that allow it are gone.
fn run(place: &Place, mode: &str, command: &str) -> Value {
    place.call_with(&["--sandbox", mode, "--approve", "allow"], &json!({"command": command}))
}

/// The same in a script: the judge refuses the plain names of shellgate's own places.
fn run_script(place: &Place, mode: &str, script: &str) -> Value {
    place.write("attack.sh", script);
    run(place, mode, "bash attack.sh")
}

/// Asserts that after `script` each attack fails in these modes and succeeds without a sandbox, and that ordinary work goes on.
fn attacks_fail_in(modes: &[&str], script: &str, attacks: &[&str]) {
    for_each_user(|place| {
        prepare(place, script);
        for mode in modes {
            for attack in attacks {
                let answer = run_script(place, mode, attack);
                assert_eq!(answer["status"], "failed", "{mode}: {attack}: {answer}");
                assert!(answer["error"].is_null(), "the sandbox refuses, not the judge: {answer}");
            }
        }
        let work = "mkdir -p v1 && touch v1/new && mkdir free && ln -s free other && mv other own && ln -sfn v1 own && rm own && mv free f && rmdir f";
        let answer = run(place, "workspace", work);
        assert_eq!(answer["status"], "completed", "other links: {answer}");
        for attack in attacks {
            let control = run_script(place, "off", attack);
            assert_eq!(control["status"], "completed", "without a sandbox: {attack}: {control}");
        }
    });
}

fn attacks_fail(script: &str, attacks: &[&str]) {
    attacks_fail_in(&["workspace", "strict"], script, attacks);
}

#[test]
fn settings_are_behind_links_that_stay() {
    attacks_fail(
        "mkdir -p v1 e/sg && mv ~/.config/shellgate v1/sg && cp v1/sg/* e/sg/ && ln -s v1 cur && ln -s $PWD/cur/sg ~/.config/shellgate",
        &["touch v1/sg/new", "ln -sfn e cur", "rm cur && ln -s v1 cur", "mv cur c2 && mv c2 cur", "mv v1 v2"],
    );
    attacks_fail(
        "mkdir conf && mv ~/.config/shellgate/config.toml conf/c && ln -s conf/c c1 && ln -s $PWD/c1 ~/.config/shellgate/config.toml",
        &["echo >> conf/c", "cp conf/c e && ln -sf e c1"],
    );
    attacks_fail(
        "mkdir -p conf e && mv ~/.config conf/d && ln -s conf dotc && ln -s $PWD/dotc/d ~/.config",
        &["echo >> conf/d/shellgate/config.toml", "ln -sfn e dotc"],
    );
}

#[test]
fn settings_cannot_be_made_where_a_link_leads() {
    let script = "rm -r ~/.config/shellgate && ln -s $PWD/sgc ~/.config/shellgate";
    attacks_fail(script, &["mkdir sgc", "rmdir sgc; ln -s /tmp sgc", "rm sgc; mkdir -p e && mv e sgc"]);
    let script = "rm -r ~/.config && ln -s l2 l1 && ln -s $PWD/l1 ~/.config";
    attacks_fail(script, &["mkdir -p l2/shellgate && touch l2/shellgate/config.toml", "ln -sfn e l1"]);
}

#[test]
fn the_state_folder_is_behind_links_that_stay() {
    attacks_fail(
        "rm -rf ../state && mkdir -m 700 -p v1 v1/sg e e/sg && ln -s v1 cur && ln -s $PWD/cur/sg ../state",
        &["x=$(printf v1); ls $x/s?/journal.db", "ln -sfn e cur"],
    );
}

#[test]
fn credentials_are_behind_links_that_stay() {
    let script = "mkdir -p v1/ssh e && echo SECRET | tee v1/ssh/id > v1/netrc && ln -s v1 cur \
                  && ln -s $PWD/cur/ssh ~/.ssh && ln -s $PWD/cur/netrc ~/.netrc && ln -s $PWD/later ~/.aws";
    let attacks = ["cat v1/ssh/id", "cat v1/netrc", "ln -sfn e cur", "mkdir later"];
    attacks_fail(script, &attacks);
    for_each_user(|place| {
        let named = place.root().join("cur/secrets");
        let settings = format!("[sandbox]\nunreadable = [{named:?}]\n");
        write(place, "home/.config/shellgate/config.toml", &settings);
        prepare(place, "mkdir -p v1/secrets e && echo SECRET > v1/secrets/k && ln -s v1 cur");
        for attack in ["cat v1/secrets/k", "ln -sfn e cur"] {
            assert_eq!(run(place, "workspace", attack)["status"], "failed", "{attack}");
            assert_eq!(run(place, "read-only", attack)["status"], "failed", "{attack}");
        }
        assert_eq!(run(place, "off", "ln -sfn e cur && cat v1/secrets/k")["stdout"], "SECRET\n");
    });
}

#[test]
fn protected_names_are_behind_links_that_stay() {
    attacks_fail(
        "mkdir b && echo good > b/t && ln -s b a && ln -s a .vscode \
         && mkdir -p c1/d && echo good > c1/d/envrc && ln -s c1 conf && ln -s conf/d/envrc .envrc \
         && ln -s l2 l1 && ln -s l1 .mcp.json",
        &[
            "echo evil > b/t",
            "ln -sfn c1 a",
            "echo evil > c1/d/envrc",
            "ln -sfn b conf",
            "echo evil > l2",
            "ln -sf t l1",
        ],
    );
}

#[test]
fn what_links_in_protected_folders_lead_to_is_protected() {
    attacks_fail(
        "git init -q . && mkdir -p scripts ci .github/workflows .husky skills/one .claude/skills && echo good | tee scripts/pc > ci/a \
         && ln -s ../../scripts/pc .git/hooks/pre-commit && ln -s ../../cur/a .github/workflows/a && ln -s ci cur \
         && ln -s ../scripts/later .husky/pre-push && ln -s ../../skills/one .claude/skills/one && ln -s ../.. .claude/skills/up",
        &[
            "echo evil > .husky/new",
            "echo evil > scripts/pc",
            "echo evil > ci/a",
            "ln -sfn scripts cur",
            "echo evil > scripts/later",
            "touch skills/one/SKILL.md",
            "mv scripts other",
        ],
    );
}
