//! Folders that a command can't start in.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::json;

use super::{assert_errors, assert_refused, assert_runs, call, shown};
use crate::support::{Place, for_each_user, is_root};

fn make_folder(place: &Place, path: &Path) {
    std::fs::create_dir(path).unwrap();
    std::os::unix::fs::chown(path, place.user, place.user).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_must_exist_and_lie_inside_the_root() {
    for_each_user(|place| {
        let root = place.root();
        let outside = root.with_file_name("root-outside");
        for folder in [&root.join("sub"), &root.join("sub/deep"), &root.join("blank name"), &outside] {
            make_folder(place, folder);
        }
        place.write("file", "");
        for (link, target) in [
            ("in", "sub"),
            ("out", "/etc"),
            ("up", ".."),
            ("dangling", "nowhere"),
            ("dangling-out", "/nowhere/at/all"),
            ("dangling-up", "../nowhere"),
            ("private-out", "/proc/1/cwd"),
            ("loop", "loop"),
            ("to-file", "file"),
            ("twice", "in/deep"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let input = |directory: &str| json!({"command": "touch ran", "directory": directory}).to_string();
        let mut errors = Vec::new();
        let absolute = [root.join("nope"), root.join("file"), outside];
        let absolute = absolute.each_ref().map(|path| path.to_str().unwrap());
        let relative = [
            "nope",
            "nope/..",
            "sub/nope",
            "file",
            "file/",
            "file/x",
            "to-file",
            "a\0b",
            "dangling",
            "loop",
            "~",
            "$HOME",
            "*",
            "..",
            "../root-outside",
            "../nope",
            "sub/../..",
            "/",
            "/etc",
            "/nope",
            "out",
            "out/ssl",
            "out/nope",
            "up",
            "up/root-outside",
            "dangling-out",
            "dangling-out/x",
            "dangling-up",
            "private-out",
            "/proc/self/cwd/..",
        ];
        for directory in relative.into_iter().chain(absolute) {
            let error = assert_refused(place, &call(place, &[], input(directory).as_bytes()), directory);
            assert_eq!(error["token"], directory);
            errors.push(shown(&format!("{directory:?}"), &error));
        }
        assert_errors("directory", &errors);

        let inside = root.join("sub");
        for (directory, shown) in [
            (".", "."),
            ("sub", "sub"),
            ("./sub//deep/", "sub/deep"),
            ("sub/deep/..", "sub"),
            ("in", "sub"),
            ("in/deep", "sub/deep"),
            ("twice", "sub/deep"),
            ("up/root", "."),
            ("blank name", "blank name"),
            ("../root", "."),
            (inside.to_str().unwrap(), "sub"),
        ] {
            let answer = assert_runs(place, &[], input(directory).as_bytes(), directory);
            assert_eq!(answer["directory"], shown, "{directory}");
        }
        let answer = assert_runs(place, &["-C", "sub"], br#"{"command": "touch ran"}"#, "-C");
        assert_eq!(answer["directory"], "sub", "-C counts where the call says nothing");
        let answer = assert_runs(place, &["-C", "sub"], input("sub/deep").as_bytes(), "-C");
        assert_eq!(answer["directory"], "sub/deep", "the call's own word wins");
    });
}

#[test]
fn a_folder_must_let_us_in() {
    for_each_user(|place| {
        let closed = place.root().join("closed");
        make_folder(place, &closed);
        make_folder(place, &closed.join("below"));
        set_mode(&closed, 0o000);
        let input = |directory: &str| json!({"command": "touch ran", "directory": directory}).to_string();
        let all_powerful = place.user.is_none() && is_root();
        if all_powerful {
            // In a sandbox root has no more rights than others.
            assert_runs(place, &["--sandbox", "off"], input("closed").as_bytes(), "root goes everywhere");
            let confined = call(place, &[], input("closed").as_bytes());
            let error = &serde_json::from_slice::<serde_json::Value>(&confined.stdout).unwrap()["error"];
            assert_eq!(error["code"], "spawn_failed", "{error}");
        } else {
            let errors = ["closed", "closed/below", "closed/nope"].map(|directory| {
                let error = assert_refused(place, &call(place, &[], input(directory).as_bytes()), directory);
                assert_eq!(error["code"], "invalid_input");
                shown(directory, &error)
            });
            assert_errors("permission", &errors);
        }
        set_mode(&closed, 0o700);
        assert_runs(place, &[], input("closed").as_bytes(), "opened");
        assert_runs(place, &[], input("closed/below").as_bytes(), "opened, below");
    });
}
