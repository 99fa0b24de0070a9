//! What the keeper is told of refusals.

use std::path::PathBuf;

use shellgate_sandbox::launcher::Launcher;
use shellgate_sandbox::spawn::Tag;
use shellgate_sandbox::{Operation, RefusalRule};

use super::{fail, protecting, succeed};
use crate::Test;
use crate::place::{Place, as_each_user, finish, launcher, start_tagged, told};

pub(crate) const TESTS: &[Test] = &[
    ("a_refusal_is_told_to_the_keeper", a_refusal_is_told_to_the_keeper),
    ("what_read_only_mounts_refuse_is_told", what_read_only_mounts_refuse_is_told),
    ("other_errors_are_no_refusals", other_errors_are_no_refusals),
    ("a_refusal_has_the_tag_of_its_process", a_refusal_has_the_tag_of_its_process),
    ("many_refusals_cost_the_keeper_little", many_refusals_cost_the_keeper_little),
];

fn a_refusal_is_told_to_the_keeper() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&protecting(place, &[".vscode", ".envrc", ".git/config*"]));
        assert_eq!(told(&launcher), []);
        fail(
            &mut launcher,
            place,
            "mkdir -p .git free; mkdir .vscode; echo > .git/config.lock; mv file .envrc",
        );
        let expected = [
            (Operation::MakeFolder, ".vscode", ".vscode"),
            (Operation::Open, ".git/config.lock", ".git/config"),
            (Operation::Rename, ".envrc", ".envrc"),
        ];
        let told = told(&launcher);
        assert_eq!(told.len(), expected.len(), "{told:?}");
        for (told, (operation, path, grant)) in told.iter().zip(expected) {
            let root = place.path("root");
            assert_eq!(
                (told.operation, &told.path, &told.grant),
                (operation, &root.join(path), &root.join(grant))
            );
            assert_eq!((told.errno, told.rule), (libc::EACCES, RefusalRule::Protected));
        }
    });
}

fn what_read_only_mounts_refuse_is_told() {
    as_each_user(|place| {
        place.write("outside/folder/file", "");
        let (mut launcher, _pod) = launcher(&place.confinement());
        let outside = |path: &str| place.path("outside").join(path);
        let folder = || place.path("outside");
        let cases = [
            ("echo x > ../outside/file", Operation::Open, "file", outside("file")),
            ("ln -s ../outside/file link; echo x >> link", Operation::Open, "file", outside("file")),
            (
                "exec 4< ../outside/folder/file; echo x > /dev/fd/4",
                Operation::Open,
                "folder/file",
                outside("folder/file"),
            ),
            ("touch ../outside/new", Operation::Open, "new", folder()),
            ("mkdir ../outside/made", Operation::MakeFolder, "made", folder()),
            ("mkfifo ../outside/pipe", Operation::MakeNode, "pipe", folder()),
            ("ln -s x ../outside/link", Operation::MakeLink, "link", folder()),
            ("ln ../outside/file ../outside/hard", Operation::Link, "hard", folder()),
            ("mv ../outside/file ../outside/moved", Operation::Rename, "moved", folder()),
            (
                "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"../outside/socket\")'",
                Operation::Bind,
                "socket",
                folder(),
            ),
        ];
        for (number, (text, operation, path, grant)) in (0..).zip(cases) {
            // Each is a command of its own: what was told of one is not told again.
            run_tagged(&mut launcher, place, &format!("{text} && exit 1; true"), Tag::new(number));
            let told = told(&launcher);
            let [told] = told.as_slice() else { panic!("{text}: {told:?}") };
            assert_eq!(
                (told.operation, &told.path, &told.grant),
                (operation, &outside(path), &grant),
                "{text}"
            );
            assert_eq!((told.errno, told.rule), (libc::EROFS, RefusalRule::ReadOnly), "{text}");
        }
        // A rename between two folders needs both.
        fail(&mut launcher, place, "mv ../outside/folder/file ../outside/moved-up");
        let grants: Vec<PathBuf> = told(&launcher).into_iter().map(|told| told.grant).collect();
        assert_eq!(grants, [outside("folder"), folder()]);
        assert_eq!(std::fs::read(outside("file")).unwrap(), b"outside");
    });
}

fn other_errors_are_no_refusals() {
    as_each_user(|place| {
        place.write("root/locked/file", "");
        let (mut launcher, _pod) = launcher(&protecting(place, &[".vscode"]));
        for text in [
            "chmod 400 file; echo x > file",
            "chmod 500 locked; touch locked/new",
            "mkdir locked/file",
            "echo x > ../outside",
            "echo x > missing/new",
            "mkdir ../outside",
            "cat ../outside/missing",
        ] {
            fail(&mut launcher, place, text);
            assert_eq!(told(&launcher), [], "{text}");
        }
        succeed(&mut launcher, place, "echo x > new; mkdir -p a/b; mv new a; cat ../outside/file; ls -la /");
        assert_eq!(told(&launcher), []);
        succeed(&mut launcher, place, "chmod 700 locked file");
    });
}

fn run_tagged(launcher: &mut Launcher, place: &Place, text: &str, tag: Tag) {
    let (code, output) = finish(start_tagged(launcher, &place.path("root"), text, Some(tag)));
    assert_eq!(code, 0, "{text}: {output}");
}

fn a_refusal_has_the_tag_of_its_process() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        // Not only the first process: also a child that has lost its parent, and one that ends at once.
        let text = "touch ../outside/first 2>&-; (setsid env -i touch ../outside/second 2>&- & ) | cat; true";
        for number in [7, 8] {
            run_tagged(&mut launcher, place, text, Tag::new(number));
            let told: Vec<(u64, PathBuf)> =
                told(&launcher).into_iter().map(|told| (told.tag, told.path)).collect();
            let tag = Tag::new(number).get();
            assert_eq!(
                told,
                [(tag, place.path("outside/first")), (tag, place.path("outside/second"))],
                "the same refusal of another command is told again"
            );
        }
    });
}

/// More than this never wait for a keeper that doesn't read.
const MAX_WAITING: usize = 2000;

fn many_refusals_cost_the_keeper_little() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let refused = |path: &str| {
            format!(
                "python3 -c '
import os
refused = 0
for number in range(5000):
    try:
        os.mkdir({path})
    except OSError:
        refused += 1
assert refused == 5000'"
            )
        };
        run_tagged(&mut launcher, place, &refused("\"../outside/same\""), Tag::new(1));
        assert_eq!(told(&launcher).len(), 1);
        run_tagged(&mut launcher, place, &refused("f\"../outside/{number}\""), Tag::new(2));
        let waiting = told(&launcher).len();
        assert!((1..MAX_WAITING).contains(&waiting), "{waiting}");
        // It is told again once there is room.
        run_tagged(&mut launcher, place, "touch ../outside/later 2>&-; true", Tag::new(3));
        assert_eq!(told(&launcher).len(), 1);
    });
}
