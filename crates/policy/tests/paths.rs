//! Paths resolved by us and by `realpath -m`, in random trees of folders, files and links.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use shellgate_policy::paths::resolve;

/// Something in a tree.
#[derive(Clone, Debug)]
enum Node {
    Folder,
    File,
    /// A link to this target.
    Link(String),
}

/// Few names, so that paths meet what is there.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c", "d", "e"])
}

/// A path of names, dots and empty parts: `a/../b//.`, `missing/c`.
fn relative_path() -> impl Strategy<Value = String> {
    let part = prop_oneof![6 => name(), 2 => Just(".."), 1 => Just("."), 1 => Just(""), 1 => Just("missing")];
    prop::collection::vec(part, 1..7).prop_map(|parts| parts.join("/").trim_start_matches('/').to_owned())
}

/// A target of a link. `ROOT` stands for the tree's own folder.
fn target() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => relative_path().prop_filter("a link needs a target", |path| !path.is_empty()),
        2 => relative_path().prop_map(|path| format!("ROOT/{path}")),
        1 => Just("/".to_owned()),
        1 => Just("/no/such/../folder".to_owned()),
    ]
}

fn tree() -> impl Strategy<Value = Vec<(String, Node)>> {
    let place = prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"));
    let node =
        prop_oneof![2 => Just(Node::Folder), 1 => Just(Node::File), 3 => target().prop_map(Node::Link)];
    prop::collection::vec((place, node), 0..10)
}

/// Makes what can be made of a tree: a node is left out where another one is in its way. Nothing is made through a link,
/// which may lead out of the tree.
fn make(root: &Path, tree: &[(String, Node)]) {
    for (place, node) in tree {
        let path = root.join(place);
        if !make_parents(root, place) || path.symlink_metadata().is_ok() {
            continue;
        }
        match node {
            Node::Folder => fs::create_dir(&path).unwrap(),
            Node::File => fs::write(&path, "").unwrap(),
            Node::Link(target) => symlink(target.replace("ROOT", root.to_str().unwrap()), &path).unwrap(),
        }
    }
}

/// Makes the folders above a place. False if one of them is a file or a link.
fn make_parents(root: &Path, place: &str) -> bool {
    let mut folder = root.to_owned();
    let parents = Path::new(place).parent().unwrap();
    parents.iter().all(|name| {
        folder.push(name);
        match folder.symlink_metadata() {
            Ok(metadata) => metadata.is_dir(),
            Err(_) => fs::create_dir(&folder).is_ok(),
        }
    })
}

/// What `realpath -m` says about each path.
fn realpath(paths: &[PathBuf]) -> Vec<PathBuf> {
    let output = Command::new("realpath").args(["-m", "-z", "--"]).args(paths).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut lines: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
    assert_eq!(lines.pop(), Some(b"".as_slice()));
    lines.into_iter().map(|line| PathBuf::from(std::ffi::OsString::from_vec(line.to_vec()))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn paths_lead_where_realpath_says(tree in tree(), paths in prop::collection::vec(relative_path(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        make(&root, &tree);
        let mut resolved = Vec::new();
        for path in paths {
            let path = root.join(path);
            match resolve(&path) {
                Ok(place) => resolved.push((path, place)),
                // Only where the kernel opens nothing either.
                Err(links) => prop_assert!(fs::metadata(&path).is_err(), "{path:?}: {links:?}"),
            }
        }
        let (paths, places): (Vec<_>, Vec<_>) = resolved.into_iter().unzip();
        if !paths.is_empty() {
            prop_assert_eq!(places, realpath(&paths), "{:?}", paths);
        }
    }
}

#[test]
fn links_in_a_circle_lead_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for (link, target) in [("self", "self"), ("one", "two"), ("two", "one"), ("grows", "grows/x")] {
        symlink(target, root.join(link)).unwrap();
    }
    for path in ["self", "self/x", "one", "two/..", "grows", "missing/../self"] {
        assert!(resolve(&root.join(path)).is_err(), "{path}");
    }
    assert_eq!(resolve(&root.join("self")).unwrap_err().at, root.join("self"));
}

#[test]
fn as_many_links_are_followed_as_the_kernel_follows() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::write(root.join("0"), "").unwrap();
    for number in 1..=41 {
        symlink((number - 1).to_string(), root.join(number.to_string())).unwrap();
    }
    for (number, opens) in [(1, true), (40, true), (41, false)] {
        let path = root.join(number.to_string());
        assert_eq!(fs::metadata(&path).is_ok(), opens, "{number}");
        assert_eq!(resolve(&path).is_ok(), opens, "{number}");
    }
    // The same limit where the kernel can't tell us, because the end is missing.
    fs::remove_file(root.join("0")).unwrap();
    assert_eq!(resolve(&root.join("40")), Ok(root.join("0")));
    assert!(resolve(&root.join("41")).is_err());
}
