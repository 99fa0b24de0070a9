//! Attacks on files.

use serde_json::{Value, json};

use super::{assert_attacks_fail, for_each_user, run, write};
use crate::support::Place;

#[test]
fn files_outside_cannot_be_changed() {
    for_each_user(|place| {
        let file = write(place, "outside/file", "");
        let outside = file.parent().unwrap();
        let plan = json!({"outside": outside, "watched": [outside]});
        assert_attacks_fail(place, include_str!("writes.py"), &["workspace", "read-only", "strict"], plan);
    });
}

/// Adds an unreadable file in the root to the settings.
fn hide(place: &Place, path: &str) {
    let hidden = place.root().join(path);
    let settings =
        format!("[approval]\nmode = \"allow\"\n[sandbox]\nunreadable = [\"{}\"]\n", hidden.display());
    write(place, "home/.config/shellgate/config.toml", &settings);
}

#[test]
fn unreadable_files_cannot_be_read() {
    for_each_user(|place| {
        hide(place, "deep/er/secret");
        let plan: Value = json!({"home": place.home()});
        assert_attacks_fail(place, include_str!("reads.py"), &["workspace", "read-only", "strict"], plan);
    });
}

/// The kernel moves a cover with its folder. A later command would have a cover at the old name.
#[test]
fn a_folder_above_an_unreadable_file_cannot_be_renamed() {
    for_each_user(|place| {
        hide(place, "deep/er/secret");
        write(place, "root/deep/er/secret", "secret");
        for attack in ["mv deep other", "mv deep/er deep/other", "rm -rf deep"] {
            assert_eq!(run(place, "workspace", attack)["status"], "failed", "{attack}");
        }
        assert_eq!(run(place, "workspace", "cat */*/secret")["status"], "failed");
        assert_eq!(run(place, "off", "mv deep other && cat other/er/secret")["stdout"], "secret");
    });
}

#[test]
fn protected_names_cannot_be_changed() {
    for_each_user(|place| {
        let existing = [".git", ".github", ".vscode", ".mcp.json", ".bashrc", "githooks"];
        let absent = [".envrc", ".Envrc", ".husky", ".HUSKY", ".idea", ".claude", ".gemini", ".codex"];
        let more = [".cursor", ".shellgate.toml", ".zshrc", ".gitconfig", ".pre-commit-config.yaml"];
        let watched = [&existing[..], &absent, &more, &[".config/fish"]].concat();
        let watched: Vec<_> = watched.into_iter().map(|name| place.root().join(name)).collect();
        let plan = json!({"watched": watched});
        assert_attacks_fail(place, include_str!("protected.py"), &["workspace", "strict"], plan);
    });
}
