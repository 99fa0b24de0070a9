//! The settings file: links, modes, owner.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::{case, complaint};
use crate::support::{Place, for_each_user};

#[test]
fn a_link_is_followed_and_stays() {
    let place = Place::new(None);
    let gemini = case("gemini");
    let real = place.home().join("dotfiles/gemini.json");
    std::fs::create_dir_all(real.parent().unwrap()).unwrap();
    std::fs::create_dir_all(place.home().join(".gemini")).unwrap();
    symlink("../dotfiles/gemini.json", gemini.path(&place)).unwrap();
    for before in [None, Some(gemini.full)] {
        if let Some(text) = before {
            std::fs::write(&real, text).unwrap();
        }
        gemini.done(&place, &["--yes"]);
        assert!(gemini.path(&place).is_symlink());
        assert!(std::fs::read_to_string(&real).unwrap().contains("shellgate"));
        gemini.done(&place, &["--undo", "--yes"]);
        assert!(gemini.path(&place).is_symlink());
        assert_eq!(std::fs::read_to_string(&real).ok().as_deref(), before);
    }
    std::fs::remove_file(&real).unwrap();
    symlink("gemini.json", &real).unwrap();
    let endless = gemini.setup(&place, &["--yes"]);
    assert_eq!(endless.status.code(), Some(2), "{endless:?}");
    assert!(complaint(&endless).contains("too many links"), "{endless:?}");
}

#[test]
fn mode_and_owner_stay() {
    for_each_user(|place| {
        let qwen = case("qwen");
        qwen.write(place, qwen.full);
        let path = qwen.path(place);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        for path in [path.as_path(), path.parent().unwrap()] {
            std::os::unix::fs::chown(path, place.user, place.user).unwrap();
        }
        // While the file is open, no other file gets its inode number.
        let old = std::fs::File::open(&path).unwrap();
        for flags in [["--yes"].as_slice(), &["--undo", "--yes"]] {
            qwen.done(place, flags);
            let metadata = std::fs::metadata(&path).unwrap();
            assert_eq!(metadata.mode() & 0o7777, 0o640);
            assert_eq!(metadata.uid(), place.user.unwrap_or(metadata.uid()));
        }
        assert_ne!(
            std::fs::metadata(&path).unwrap().ino(),
            old.metadata().unwrap().ino(),
            "replaced as a whole"
        );
        let left: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "no draft is left: {left:?}");
    });
}

#[test]
fn root_leaves_a_file_to_its_owner() {
    if !crate::support::is_root() {
        return;
    }
    let place = Place::new(None);
    let codex = case("codex");
    codex.write(&place, codex.full);
    std::os::unix::fs::chown(codex.path(&place), Some(12345), Some(12345)).unwrap();
    codex.done(&place, &["--yes"]);
    assert_eq!(std::fs::metadata(codex.path(&place)).unwrap().uid(), 12345);
}

#[test]
fn a_new_file_is_for_its_user_alone() {
    let place = Place::new(None);
    let claude = case("claude");
    claude.done(&place, &["--yes"]);
    let mode = |path: std::path::PathBuf| std::fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!(mode(claude.path(&place)), 0o600, "only the owner may read it, because it may hold keys");
    claude.done(&place, &["--yes", "--project"]);
    assert_eq!(mode(place.root().join(".mcp.json")), 0o644, "a project's file keeps the default mode");
}

#[test]
fn a_file_that_is_not_text_is_left_alone() {
    let place = Place::new(None);
    let gemini = case("gemini");
    gemini.write(&place, "");
    std::fs::write(gemini.path(&place), b"{\"a\": \"\xff\"}").unwrap();
    let output = gemini.setup(&place, &["--yes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaint(&output).contains("it is not UTF-8 text"), "{output:?}");
    assert_eq!(std::fs::read(gemini.path(&place)).unwrap(), b"{\"a\": \"\xff\"}");
}

#[test]
fn the_name_that_the_agent_reads_is_taken() {
    let place = Place::new(None);
    let folder = place.home().join(".config/opencode");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("opencode.jsonc"), "{\n  // mine\n}\n").unwrap();
    case("opencode").done(&place, &["--yes"]);
    assert!(!folder.join("opencode.json").exists());
    assert!(std::fs::read_to_string(folder.join("opencode.jsonc")).unwrap().contains("shellgate"));

    let elsewhere = place.root().join("codex");
    let status = place.shellgate(["setup", "codex", "--yes"]).env("CODEX_HOME", &elsewhere).status().unwrap();
    assert!(status.success() && elsewhere.join("config.toml").exists());
    assert!(!case("codex").path(&place).exists());
}

#[test]
fn a_home_that_is_no_whole_path_is_named() {
    let place = Place::new(None);
    let run = |home: &str| place.shellgate(["setup", "gemini", "--yes"]).env("HOME", home).output().unwrap();
    let output = run("relative");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(complaint(&output).contains("HOME is `relative`, which is not an absolute path"), "{output:?}");
    assert!(!complaint(&output).contains("not set"), "{output:?}");
    assert_eq!(std::fs::read_dir(place.root()).unwrap().count(), 0, "nothing is made there");
    let home = place.home().display().to_string();
    assert_eq!(run(&home).status.code(), Some(0), "and with a whole one it works");
}

#[test]
fn a_file_that_is_read_only_stays_as_it_is() {
    for_each_user(|place| {
        let claude = case("claude");
        let mode = |path: &std::path::Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        claude.write(place, claude.full);
        let servers = claude.path(place);
        let settings = place.home().join(".claude/settings.json");
        std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
        std::fs::write(&settings, "{}").unwrap();
        for path in [servers.as_path(), settings.as_path(), settings.parent().unwrap()] {
            std::os::unix::fs::chown(path, place.user, place.user).unwrap();
        }
        let refused = |path: &std::path::Path, flags: &[&str]| {
            mode(path, 0o444);
            let before = [&servers, &settings].map(|path| std::fs::read(path).unwrap());
            let output = claude.setup(place, flags);
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            let said = complaint(&output);
            assert!(said.contains("is read-only") && said.contains("chmod u+w"), "{said}");
            assert!(said.contains(&path.display().to_string()), "{said}");
            let after = [&servers, &settings].map(|path| std::fs::read(path).unwrap());
            assert_eq!(before, after, "neither of the two is changed");
            mode(path, 0o644);
        };
        refused(&servers, &["--yes", "--shell-off"]);
        refused(&settings, &["--yes", "--shell-off"]);
        claude.done(place, &["--yes", "--shell-off"]);
        mode(&servers, 0o444);
        let again = claude.done(place, &["--yes", "--shell-off"]);
        assert!(again.contains("nothing to do"), "looking needs no permission: {again}");
        mode(&servers, 0o644);
        refused(&settings, &["--yes", "--undo"]);
        claude.done(place, &["--yes", "--undo"]);
        assert_eq!(claude.read(place), claude.full);
    });
}
