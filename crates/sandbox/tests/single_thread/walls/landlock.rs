//! `landlock`: files.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use shellgate_sandbox::probe;
use shellgate_sandbox::walls::landlock::{Applied, LandlockError, PathRules, Ruleset, Scope, Scopes};
use shellgate_sandbox::walls::verify::{PROBE_FILE, refuses_writing};

use crate::Test;
use crate::users::{Folder, User, as_each_user, is_real_root, run_as};

pub(crate) const TESTS: &[Test] = &[
    ("files_change_in_writable_places_only", files_change_in_writable_places_only),
    ("a_single_file_can_be_writable", a_single_file_can_be_writable),
    ("readable_places_bound_reading_and_executing", readable_places_bound_reading_and_executing),
    ("a_path_that_is_missing_is_an_error", a_path_that_is_missing_is_an_error),
    ("devices_that_are_not_named_take_no_control", devices_that_are_not_named_take_no_control),
    ("devices_can_be_made_nowhere", devices_can_be_made_nowhere),
    (
        "what_is_reached_is_reported_and_seen_by_its_effect",
        what_is_reached_is_reported_and_seen_by_its_effect,
    ),
];

const OPEN: Scopes = Scopes { abstract_sockets: Scope::Everything, signals: Scope::Everything };

fn confine(writable: &[&Path], readable: Option<&[&Path]>) -> Applied {
    let owned = |paths: &[&Path]| paths.iter().map(|path| path.to_path_buf()).collect::<Vec<PathBuf>>();
    let rules = PathRules { writable: owned(writable), readable: readable.map(owned) };
    Ruleset::prepare(&rules, OPEN).unwrap().apply().unwrap()
}

/// Every way to change files below `folder`, which has a file `old` and folders `a` and `b`: the names of those that work.
fn changes(folder: &Path) -> Vec<&'static str> {
    let at = |name: &str| folder.join(name);
    let ways: [(&str, &dyn Fn() -> std::io::Result<()>); 11] = [
        ("append", &|| File::options().append(true).open(at("old")).map(drop)),
        ("truncate", &|| rustix_truncate(&at("old"))),
        ("create", &|| File::create_new(at("a/new")).map(drop)),
        ("mkdir", &|| fs::create_dir(at("a/folder"))),
        ("symlink", &|| std::os::unix::fs::symlink("x", at("a/symlink"))),
        ("fifo", &|| {
            Ok(rustix::fs::mknodat(
                rustix::fs::CWD,
                at("a/fifo"),
                rustix::fs::FileType::Fifo,
                0o600.into(),
                0,
            )?)
        }),
        ("socket", &|| std::os::unix::net::UnixListener::bind(at("a/socket")).map(drop)),
        ("link", &|| fs::hard_link(at("old"), at("b/link"))),
        ("rename", &|| fs::rename(at("old"), at("b/moved"))),
        ("unlink", &|| fs::remove_file(at("a/file"))),
        ("rmdir", &|| fs::remove_dir(at("a/empty"))),
    ];
    let works = |(name, way): &(&'static str, &dyn Fn() -> std::io::Result<()>)| match way() {
        Ok(()) => Some(*name),
        Err(error) => {
            let kind = error.kind();
            assert!(
                matches!(kind, ErrorKind::PermissionDenied | ErrorKind::CrossesDevices),
                "{name}: {error}"
            );
            None
        }
    };
    ways.iter().filter_map(works).collect()
}

fn rustix_truncate(path: &Path) -> std::io::Result<()> {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the path ends in NUL.
    match unsafe { libc::truncate(path.as_ptr(), 1) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

fn fill(folder: &Folder, name: &str) -> PathBuf {
    let path = folder.folder(name);
    for inner in ["a", "b", "a/empty"] {
        folder.folder(&format!("{name}/{inner}"));
    }
    folder.file(&format!("{name}/old"), "old");
    folder.file(&format!("{name}/a/file"), "file");
    path
}

fn files_change_in_writable_places_only() {
    for user in [User::Root, User::Ordinary, User::Namespaced] {
        let folder = Folder::new("changes");
        let inside = fill(&folder, "inside");
        let outside = fill(&folder, "outside");
        let control = fill(&folder, "control");
        run_as(user, || {
            // Files of others can't be linked by everyone, and only those of the user are as in real life.
            for path in [&inside, &outside, &control] {
                fs::copy(path.join("old"), path.join("own")).unwrap();
                fs::rename(path.join("own"), path.join("old")).unwrap();
            }
            let all = changes(&control);
            assert_eq!(all.len(), 11, "the control: {all:?}");
            confine(&[&inside], None);
            assert_eq!(changes(&outside), Vec::<&str>::new());
            assert_eq!(changes(&inside), all);
            assert_eq!(fs::read_to_string(outside.join("old")).unwrap(), "old", "it can be read");
            // A link that leads out doesn't help.
            std::os::unix::fs::symlink(&outside, inside.join("way-out")).unwrap();
            assert!(File::create(inside.join("way-out/new")).is_err());
            fs::rename(inside.join("b"), outside.join("taken")).unwrap_err();
        });
        assert_eq!(fs::read_to_string(outside.join("old")).unwrap(), "old");
        assert_eq!(fs::read_dir(outside.join("b")).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(inside.join("b/moved")).unwrap(), "o", "truncated, then moved");
    }
}

fn a_single_file_can_be_writable() {
    let folder = Folder::new("file");
    let (named, other) = (folder.file("named", "x"), folder.file("other", "x"));
    as_each_user(|_| {
        confine(&[&named], None);
        fs::write(&named, "written").unwrap();
        assert_eq!(fs::write(&other, "written").unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert!(fs::remove_file(&named).is_err());
        assert!(File::create(folder.path().join("new")).is_err());
    });
    assert_eq!(
        (fs::read_to_string(named).unwrap(), fs::read_to_string(other).unwrap()),
        ("written".into(), "x".into())
    );
}

fn readable_places_bound_reading_and_executing() {
    let folder = Folder::new("readable");
    let (writable, secret) = (folder.folder("writable"), folder.folder("secret"));
    folder.file("secret/key", "key");
    for place in ["writable", "secret"] {
        fs::copy("/bin/true", folder.path().join(place).join("program")).unwrap();
    }
    let system: Vec<&Path> =
        ["/usr", "/lib", "/lib64", "/bin", "/etc", "/proc"].iter().map(Path::new).collect();
    let system: Vec<&Path> = system.into_iter().filter(|path| path.exists()).collect();
    as_each_user(|_| {
        let runs = |program: PathBuf| Command::new(program).status().map(|status| status.success());
        assert_eq!(fs::read_to_string(secret.join("key")).unwrap(), "key", "the control");
        assert!(runs(secret.join("program")).unwrap());
        confine(&[&writable], Some(&system));
        assert_eq!(fs::read(secret.join("key")).unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert!(fs::read_dir(&secret).is_err() && fs::read_dir(folder.path()).is_err());
        assert_eq!(runs(secret.join("program")).unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert!(runs("/bin/true".into()).unwrap() && runs(writable.join("program")).unwrap());
        assert!(fs::write("/etc/shellgate-walls", "").is_err());
        fs::write(writable.join("file"), "x").unwrap();
        assert_eq!(
            fs::read_to_string(writable.join("file")).unwrap(),
            "x",
            "what can be written can be read"
        );
        fs::remove_file(writable.join("file")).unwrap();
    });
}

fn a_path_that_is_missing_is_an_error() {
    as_each_user(|_| {
        let missing = PathBuf::from("/no/such/folder");
        for rules in [
            PathRules { writable: vec!["/tmp".into(), missing.clone()], readable: None },
            PathRules { writable: vec![], readable: Some(vec![missing.clone()]) },
        ] {
            match Ruleset::prepare(&rules, OPEN).unwrap_err() {
                LandlockError::Path { path, source } => {
                    assert_eq!((path, source.kind()), (missing.clone(), ErrorKind::NotFound));
                }
                other => panic!("{other}"),
            }
        }
        assert_eq!(refuses_writing(PROBE_FILE), Ok(false), "nothing is confined");
    });
}

/// The error of a request that means something to terminals only.
fn control_error(device: &str) -> i32 {
    let file = File::open(device).unwrap();
    let mut size = [0_u8; 8];
    // SAFETY: the buffer is as large as a window size.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), libc::TIOCGWINSZ, size.as_mut_ptr()) };
    assert_eq!(answer, -1);
    std::io::Error::last_os_error().raw_os_error().unwrap()
}

fn devices_that_are_not_named_take_no_control() {
    as_each_user(|_| {
        assert_eq!(control_error("/dev/zero"), libc::ENOTTY, "the control: it is no terminal");
        confine(&[Path::new("/dev/null")], None);
        assert_eq!(control_error("/dev/zero"), libc::EACCES);
        assert_eq!(control_error("/dev/null"), libc::ENOTTY);
        fs::write("/dev/null", "written").unwrap();
        assert!(File::options().write(true).open("/dev/zero").is_err());
    });
}

/// Only root of the machine can make devices, so only it can show that Landlock keeps it from that.
fn devices_can_be_made_nowhere() {
    let folder = Folder::new("devices");
    run_as(User::Root, || {
        let make = |name: &str| {
            let kind = rustix::fs::FileType::CharacterDevice;
            let null = rustix::fs::makedev(1, 3);
            rustix::fs::mknodat(rustix::fs::CWD, folder.path().join(name), kind, 0o600.into(), null)
        };
        assert_eq!(make("before").is_ok(), is_real_root(), "the control");
        confine(&[folder.path()], None);
        assert!(make("after").is_err());
    });
    assert!(!folder.path().join("after").exists());
}

fn what_is_reached_is_reported_and_seen_by_its_effect() {
    as_each_user(|_| {
        assert_eq!(refuses_writing(PROBE_FILE), Ok(false));
        let applied = confine(&[], None);
        assert_eq!(applied.abi, probe::landlock().unwrap().min(7));
        assert_eq!(applied.missing.is_empty(), applied.abi >= 6);
        assert_eq!(refuses_writing(PROBE_FILE), Ok(true));
        assert_eq!(refuses_writing(c"/no/such/file"), Err(rustix::io::Errno::NOENT));
    });
}
