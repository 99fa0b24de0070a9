//! Tests of files that can't be read or must not be used.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    os::unix::net::UnixListener,
};

use super::Folder;
use crate::{Settings, Sources, Trust};

#[test]
fn files_that_do_not_exist_are_no_layer() {
    let folder = Folder::new();
    folder.write("file", "");
    for missing in [folder.path("none/config.toml"), folder.path("file/config.toml")] {
        let sources = Sources {
            system: Some(missing.clone()),
            user: Some(missing.clone()),
            project: Some(missing),
            ..Sources::default()
        };
        let settings = Settings::load(&sources).unwrap();
        assert!(settings.origins.is_empty());
        assert_eq!(settings.limits, Settings::default().limits);
    }
}

#[test]
fn a_named_file_must_exist() {
    let mut folder = Folder::new();
    folder.sources.extra.push(folder.path("none.toml"));
    insta::assert_snapshot!(folder.error(), @r"
    none.toml: this settings file does not exist
      check the path after `--config`
    ");
}

#[test]
fn a_folder() {
    let mut folder = Folder::new();
    fs::create_dir(folder.path("config.toml")).unwrap();
    folder.sources.user = Some(folder.path("config.toml"));
    insta::assert_snapshot!(folder.error(), @"
    config.toml: a settings file must be a regular file, found a folder
      move it away, or put the settings file there
    ");
}

#[test]
fn a_named_pipe_does_not_block() {
    let mut folder = Folder::new();
    let path = folder.path("config.toml");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    folder.sources.project = Some(path);
    insta::assert_snapshot!(folder.error(), @"
    config.toml: a settings file must be a regular file, found a named pipe
      move it away, or put the settings file there
    ");
}

#[test]
fn a_socket() {
    let mut folder = Folder::new();
    let _listener = UnixListener::bind(folder.path("config.toml")).unwrap();
    folder.sources.user = Some(folder.path("config.toml"));
    insta::assert_snapshot!(folder.error(), @"
    config.toml: a settings file must be a regular file, found a socket
      move it away, or put the settings file there
    ");
}

#[test]
fn a_device_without_end() {
    let mut folder = Folder::new();
    std::os::unix::fs::symlink("/dev/zero", folder.path(".shellgate.toml")).unwrap();
    folder.sources.project = Some(folder.path(".shellgate.toml"));
    insta::assert_snapshot!(folder.error(), @"
    .shellgate.toml: a settings file must be a regular file, found a device
      move it away, or put the settings file there
    ");
}

#[test]
fn a_symlink_is_followed() {
    let mut folder = Folder::new();
    let real = folder.write("real.toml", "[limits]\ntimeout_ms = 5\n");
    std::os::unix::fs::symlink(real, folder.path("config.toml")).unwrap();
    folder.sources.user = Some(folder.path("config.toml"));
    assert_eq!(folder.load().unwrap().limits.timeout_ms, 5);
}

#[test]
fn too_large() {
    let comment = |length: usize| format!("#{}", "x".repeat(length - 1));
    assert!(Folder::new().user(&comment(1 << 20)).load().is_ok());
    insta::assert_snapshot!(Folder::new().user(&comment((1 << 20) + 1)).error(), @"
    user.toml: a settings file must not be larger than 1048576 bytes
      check that this is the right file
    ");
}

#[test]
fn not_utf8() {
    let mut folder = Folder::new();
    folder.sources.user = Some(folder.write("user.toml", b"# caf\xe9\n"));
    insta::assert_snapshot!(folder.error(), @r"
    user.toml:1:6: a settings file must be UTF-8 text, found the byte 0xe9
      save it as UTF-8
    ");
}

#[test]
fn a_file_that_others_may_write_is_refused() {
    for (mode, accepted) in
        [(0o600, true), (0o644, true), (0o444, true), (0o664, false), (0o646, false), (0o666, false)]
    {
        for project in [true, false] {
            let mut folder = Folder::new().user("");
            if project {
                folder = folder.project(Trust::Untrusted, "");
            }
            let path = folder.path(if project { ".shellgate.toml" } else { "user.toml" });
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            share(&path);
            assert_eq!(folder.load().is_ok(), accepted, "{mode:o} {project}");
            if mode == 0o664 {
                // The hint has the whole path, so that it can be run.
                let hint = folder.load().unwrap_err().hint().unwrap();
                assert_eq!(hint, format!("run `chmod go-w {}`", path.display()));
                let text = folder.plain(&folder.load().unwrap_err().to_string());
                assert!(
                    text.ends_with(": a settings file must be writable by its owner only, found mode 0664"),
                    "{text}"
                );
            }
        }
    }
}

/// Gives a file to a group that may have others in it. Without root, the test's own group is expected to be one.
fn share(path: &std::path::Path) {
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(path, None, Some(12345)).unwrap();
    }
}

#[test]
fn the_owner_s_private_group_may_write_a_file() {
    let folder = Folder::new().user("[limits]\ntimeout_ms = 5\n");
    let path = folder.path("user.toml");
    let metadata = fs::metadata(&path).unwrap();
    let (user, group) = (metadata.uid(), metadata.gid());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    let is_private = super::super::private_group::is_private(user, group);
    assert_eq!(folder.load().is_ok(), is_private, "user {user}, group {group}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(folder.load().is_err(), "everybody may write it");
}

/// Gives a file to another user. `false`: only root may do that.
fn give_away(path: &std::path::Path) -> bool {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not run: only root can give a file to another user");
        return false;
    }
    std::os::unix::fs::chown(path, Some(12345), None).unwrap();
    true
}

#[test]
fn another_user_owns_it() {
    for name in ["system", "user", "named"] {
        let folder = Folder::new();
        let path = folder.write("config.toml", "[limits]\ntimeout_ms = 5\n");
        let mut folder = folder;
        match name {
            "system" => folder.sources.system = Some(path.clone()),
            "user" => folder.sources.user = Some(path.clone()),
            _ => folder.sources.extra.push(path.clone()),
        }
        assert_eq!(folder.load().unwrap().limits.timeout_ms, 5);
        if !give_away(&path) {
            return;
        }
        insta::allow_duplicates! {
            insta::assert_snapshot!(folder.error(), @"
            config.toml: a settings file must belong to you (user 0) or to root, found user 12345
              read it, and if you agree with it, make your own copy
            ");
        }
    }
}

#[test]
fn any_user_may_own_a_project_file() {
    let folder = Folder::new().project(Trust::Untrusted, "[limits]\ntimeout_ms = 5\n");
    if give_away(&folder.path(".shellgate.toml")) {
        assert_eq!(folder.load().unwrap().limits.timeout_ms, 5);
    }
}

#[test]
fn no_permission_to_read() {
    let folder = Folder::new().user("");
    fs::set_permissions(folder.path("user.toml"), fs::Permissions::from_mode(0o000)).unwrap();
    if rustix::process::geteuid().is_root() {
        eprintln!("not run: root can read everything");
        return;
    }
    assert_eq!(
        folder.error(),
        "user.toml: this settings file can't be read: Permission denied (os error 13)"
    );
}

#[test]
fn a_loop_of_symlinks_is_an_error_and_not_a_missing_file() {
    let mut folder = Folder::new();
    std::os::unix::fs::symlink("config.toml", folder.path("config.toml")).unwrap();
    folder.sources.user = Some(folder.path("config.toml"));
    insta::assert_snapshot!(folder.error(), @"config.toml: this settings file can't be read: Too many levels of symbolic links (os error 40)");
}
