//! Attacks on repositories: what a command writes must not run when a person uses git in the root.

use serde_json::json;

use super::{for_each_user, give_folders, run};
use crate::support::Place;

const GIT: &str =
    "git() { command git -c user.name=a -c user.email=a@b -c protocol.file.allow=always \"$@\"; }; ";

/// Runs a script outside the sandbox, as the place's user, in its root.
fn prepare(place: &Place, script: &str) {
    give_folders(place);
    let done = place.program("bash").args(["-ec", &format!("{GIT}{script}")]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// Asserts that each attack fails in a workspace, and succeeds without a sandbox.
fn assert_attacks_fail(script: &str, attacks: &[&str], work: &str) {
    for_each_user(|place| {
        prepare(place, script);
        for attack in attacks {
            let answer = run(place, "workspace", attack);
            assert_eq!(answer["status"], "failed", "{attack}: {answer}");
        }
        let answer = run(place, "workspace", &format!("{GIT}{work}"));
        assert_eq!(answer["status"], "completed", "ordinary work: {answer}");
        for attack in attacks {
            let control = run(place, "off", attack);
            assert_eq!(control["status"], "completed", "without a sandbox: {attack}: {control}");
        }
    });
}

const COMMIT: &str = "echo y > y && git add y && git commit -qm more";

#[test]
fn settings_of_another_folder_cannot_be_put_in_place() {
    let attacks = ["echo ../evil > .git/commondir"];
    assert_attacks_fail("git init -q . && touch x && git add x && git commit -qm one", &attacks, COMMIT);
}

#[test]
fn submodules_with_slashes_in_their_names_are_protected() {
    let script = "mkdir ../library && (cd ../library && git init -q . && touch x && git add x && git commit -qm one) \
                  && git init -q . && git submodule add -q ../library vendor/library && git commit -qm two";
    let attacks = [
        "echo evil > .git/modules/vendor/library/hooks/post-checkout",
        "echo evil >> .git/modules/vendor/library/config",
        "echo evil > .git/modules/vendor/library/commondir",
    ];
    assert_attacks_fail(script, &attacks, &format!("cd vendor/library && {COMMIT}"));
}

#[test]
fn a_folder_that_a_file_names_is_protected() {
    let script = "git init -q --separate-git-dir=store .";
    let attacks =
        ["echo evil > store/hooks/post-commit", "echo evil >> store/config", "echo x > store/commondir"];
    assert_attacks_fail(script, &attacks, COMMIT);
}

#[test]
fn hooks_and_settings_elsewhere_are_protected() {
    let script = "git init -q . && git config core.hooksPath .githooks && git config include.path ../common.settings \
                  && mkdir .githooks && touch common.settings";
    let attacks = ["echo evil > .githooks/post-commit", "echo evil > common.settings", "mv .githooks other"];
    assert_attacks_fail(script, &attacks, COMMIT);
}

#[test]
fn folders_of_linked_worktrees_are_protected() {
    let script =
        "git init -q . && touch x && git add x && git commit -qm one && git worktree add -q ../linked";
    let attacks =
        ["echo ../evil > .git/worktrees/linked/commondir", "echo x > .git/worktrees/linked/config.worktree"];
    assert_attacks_fail(script, &attacks, COMMIT);
}

#[test]
fn the_folder_of_a_linked_worktree_names_no_other_settings() {
    let script = "mkdir ../main && cd ../main && git init -q . && touch x && git add x && git commit -qm one \
                  && git worktree add -q -f ../root";
    let attacks =
        ["echo ../evil > ../main/.git/worktrees/root/commondir", "echo ../evil > ../main/.git/commondir"];
    assert_attacks_fail(script, &attacks, COMMIT);
}

/// Git takes a folder with these names for a repository, also below another one, and obeys its `config`.
#[test]
fn a_root_cannot_be_made_a_repository_of_its_own() {
    let attacks = [
        "mkdir -p objects refs; printf '[core]\\n\\tworktree = .\\n\\tfsmonitor = evil\\n' > config; echo 'ref: refs/heads/main' > HEAD",
        "ln -sf refs/heads/main HEAD",
        "mkdir -p new; echo 'ref: refs/heads/main' > new/HEAD; mv new/HEAD HEAD",
    ];
    assert_attacks_fail("true", &attacks, "mkdir below && cd below && git init -q --bare .");
}

#[test]
fn hooks_and_settings_of_a_root_without_a_working_tree_are_protected() {
    let attacks = ["echo evil > hooks/post-update", "echo evil >> config", "echo ../evil > commondir"];
    assert_attacks_fail("git init -q --bare .", &attacks, "git symbolic-ref HEAD refs/heads/other");
}

#[test]
fn a_root_that_is_the_home_folder_gets_no_new_hidden_entries() {
    for_each_user(|place| {
        give_folders(place);
        let home = place.home();
        let call = |mode: &str, command: &str| {
            let flags = ["--sandbox", mode, "--root", home.to_str().unwrap()];
            place.call_with(&flags, &json!({"command": command}))
        };
        for attack in ["mkdir .ssh", "mkdir .new", "echo x > .pam_environment", "touch a && mv a .xprofile"] {
            let answer = call("workspace", attack);
            assert_eq!(answer["status"], "failed", "{attack}: {answer}");
            assert_eq!(call("off", attack)["status"], "completed", "without a sandbox: {attack}");
        }
        assert_eq!(call("workspace", "mkdir seen && touch seen/.hidden")["status"], "completed");
    });
}
