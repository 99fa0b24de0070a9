//! Attacks on repositories: what a command writes must not run when a person uses git in the root.

use std::path::Path;

use serde_json::json;

use super::{for_each_user, give_folders, run};
use crate::support::Place;

const GIT: &str =
    "git() { command git -c user.name=a -c user.email=a@b -c protocol.file.allow=always \"$@\"; }; ";

/// Runs a script outside the sandbox, as the place's user, in its root.
pub(super) fn prepare(place: &Place, script: &str) {
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

/// Makes a hook in a folder.
fn hook(folder: &str) -> String {
    format!(
        "mkdir -p {folder} && printf '#!/bin/sh\\ntouch $HOME/MARK\\n' > {folder}/pre-commit && chmod +x {folder}/pre-commit"
    )
}

/// Makes a file of settings that name a program.
fn settings(file: &str) -> String {
    format!("printf '[core]\\n\\tfsmonitor = touch $HOME/MARK; false\\n' > {file}")
}

/// Each: what the user has set up, what a command does, and what the user does then.
fn written_settings() -> Vec<(String, String, &'static str)> {
    const BY_COMMIT: &str = "git commit -q --allow-empty -m y";
    const BY_STATUS: &str = "git status";
    let append = |text: &str| format!("printf '%b' '{text}' >> .git/config");
    let hooks = [
        // The control.
        r#"[core]\n\thooksPath = gh\n"#,
        r#"[core] hooksPath = gh\n"#,
        r#"[core]\n\thooksPath = gh # ours\n"#,
        r#"[core]\n\thooksPath = gh ; ours\n"#,
        r#"[core]\n\thooksPath = g"h"\n"#,
        r#"[core]\n\thooksPath = g\\\nh\n"#,
    ];
    let hooks = hooks.map(|text| (append(text), hook("gh"), BY_COMMIT));
    let included = [
        r#"[include]\n\tpath = ../inc1\n"#,
        r#"[include] path = ../inc1\n"#,
        r#"[includeIf "gitdir:**"] path = ../inc1\n"#,
    ];
    let included = included.map(|text| (append(text), settings("inc1"), BY_STATUS));
    let add = "git submodule add -q ../library s && git commit -qm s";
    let worktree = "git worktree add -q ../linked && git config extensions.worktreeConfig true && git -C ../linked config --worktree";
    let nested =
        |text: &str| format!("printf '{text}' > inc1; {}", append(r#"[include]\n\tpath = ../inc1\n"#));
    let more = [
        (nested("[include]\\n\\tpath = inc2\\n"), settings("inc2"), BY_STATUS),
        (nested("[core]\\n\\thooksPath = gh\\n"), hook("gh"), BY_COMMIT),
        ("printf '[core] hooksPath = gh\\n' > ~/.gitconfig".to_owned(), hook("gh"), BY_COMMIT),
        (
            format!("{add} && git -C s config core.hooksPath gh"),
            hook("s/gh"),
            "cd s && git commit -q --allow-empty -m y",
        ),
        (format!("{add} && git -C s config include.path inc"), settings(".git/modules/s/inc"), BY_STATUS),
        (
            add.to_owned(),
            format!(
                "mkdir e && cp -r .git/modules/s/. e/ && {} && echo 'gitdir: ../e' > s/.git",
                settings("e/config")
            ),
            BY_STATUS,
        ),
        (
            format!("{worktree} core.hooksPath $PWD/gh"),
            hook("gh"),
            "git -C ../linked commit -q --allow-empty -m y",
        ),
        (
            format!("{worktree} include.path inc"),
            settings(".git/worktrees/linked/inc"),
            "git -C ../linked status",
        ),
        ("mkdir gh && ln -s ../../gh/pre-commit .git/hooks/pre-commit".to_owned(), hook("gh"), BY_COMMIT),
    ];
    hooks.into_iter().chain(included).chain(more).collect()
}

const AGAIN: &str = "rm -rf .git s gh e inc1 inc2 ../linked ../library ~/.gitconfig ~/MARK; mkdir ../library; \
                     (cd ../library && git init -q . && touch x && git add x && git commit -qm one); \
                     git init -q . && touch x && git add x && git commit -qm one";

/// What settings name is protected in whatever way git lets people write it.
#[test]
fn what_git_finds_by_its_settings_cannot_be_written() {
    for_each_user(|place| {
        let is_marked = || Path::new(&place.home().join("MARK")).exists();
        for (set_up, attack, then) in written_settings() {
            prepare(place, &format!("{AGAIN}\n{set_up}"));
            let answer = run(place, "workspace", &attack);
            assert_eq!(answer["status"], "failed", "{set_up}: {attack}: {answer}");
            prepare(place, &format!("({then}) || true"));
            assert!(!is_marked(), "{set_up}: {attack}");
            let work =
                run(place, "workspace", &format!("{GIT}git branch more && {COMMIT} && git rebase -q more"));
            assert_eq!(work["status"], "completed", "ordinary work: {set_up}: {work}");
            prepare(place, &format!("{AGAIN}\n{set_up}"));
            assert_eq!(run(place, "off", &attack)["status"], "completed", "{set_up}: {attack}");
            prepare(place, &format!("({then}) || true"));
            assert!(is_marked(), "without a sandbox: {set_up}: {attack}");
        }
    });
}

#[test]
fn submodules_and_worktrees_in_the_root_can_be_worked_in() {
    for_each_user(|place| {
        prepare(place, &format!("{AGAIN}; git submodule add -q ../library s && git commit -qm s"));
        for work in [
            "cd s && echo y > y && git add y && git commit -qm more && git fetch -q && cd .. && git add s && git commit -qm more",
            "git status && git diff --submodule HEAD~1 && git -C s log && git -C s checkout -q -b topic",
            "git worktree add -q wt && cd wt && touch z && git add z && git commit -qm z && cd .. && git worktree remove --force wt",
            "git checkout -q -b other HEAD~1 && git checkout -q - && git stash -q; git gc -q",
        ] {
            let answer = run(place, "workspace", &format!("{GIT}{work}"));
            assert_eq!(answer["status"], "completed", "{work}: {answer}");
        }
        // The folder of the repository behind links.
        prepare(place, &format!("{AGAIN}; mv .git dotgit; ln -s dotgit cur; ln -s cur .git"));
        for attack in ["ln -sfn e cur", "ln -sfn e .git", "echo evil >> dotgit/config", "mv dotgit other"] {
            assert_eq!(run(place, "workspace", attack)["status"], "failed", "{attack}");
        }
        let work = format!("{GIT}{COMMIT} && git checkout -q -b other && git rebase -q HEAD~1");
        assert_eq!(run(place, "workspace", &work)["status"], "completed");
    });
}
