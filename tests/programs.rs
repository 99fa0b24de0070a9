//! The programs that tests start: all of them declared in `programs.tsv`, and no other one on the tests' PATH.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::json;

use crate::support::{for_each_user, programs};

/// Command and Debian package of each row.
fn declared() -> BTreeMap<&'static str, &'static str> {
    let rows = include_str!("programs.tsv").lines().filter(|line| !line.starts_with('#'));
    let cells = rows.map(|line| line.split('\t').collect::<Vec<_>>());
    // A module of Python is no program.
    let cells = cells.filter(|cells| !cells[0].starts_with("python3:"));
    let mut table = BTreeMap::new();
    for cells in cells {
        let [command, package, why] = cells.as_slice() else { panic!("three columns: {cells:?}") };
        assert!(!why.is_empty(), "{command}: says what it is for");
        assert_eq!(table.insert(*command, *package), None, "{command}: one row each");
    }
    table
}

fn names_in(folder: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn the_path_has_what_is_declared_and_nothing_else() {
    let found = names_in(&programs());
    let declared = declared();
    let missing: BTreeSet<&str> = declared
        .iter()
        .filter(|(command, _)| !found.contains(**command))
        .map(|(_, package)| *package)
        .collect();
    assert!(
        missing.is_empty(),
        "install these packages, or run `scripts/test-programs install`: {missing:?}"
    );
    let undeclared: Vec<&String> =
        found.iter().filter(|name| !declared.contains_key(name.as_str())).collect();
    assert!(undeclared.is_empty(), "{undeclared:?}");
}

#[test]
fn what_is_not_declared_is_not_found_though_the_machine_has_it() {
    const UNDECLARED: &str = "tac";
    assert!(!declared().contains_key(UNDECLARED), "take another one for this test");
    let installed = Path::new("/usr").join("bin").join(UNDECLARED);
    assert!(installed.exists(), "it belongs to the same package as `cat`");
    let error = Command::new(UNDECLARED).arg("--version").output().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    for_each_user(|place| {
        let found = |program: &str| place.program(program).arg("--version").output().is_ok();
        assert_eq!((found(UNDECLARED), found("cat")), (false, true));
        let exit_code = |program: &str| {
            place.call(&json!({"command": format!("{program} --version")}))["exit_code"].clone()
        };
        assert_eq!((exit_code(UNDECLARED), exit_code("cat")), (json!(127), json!(0)));
    });
}

/// Every file below a folder that is code or a table of commands.
fn sources(folder: PathBuf) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    let is_source = |path: &PathBuf| path.extension().is_some_and(|end| end == "rs" || end == "toml");
    files.into_iter().filter(is_source).chain(folders.into_iter().flat_map(sources)).collect()
}

/// A program's absolute path, or a PATH with the machine's folders, would let a test start undeclared programs.
#[test]
fn sources_name_no_undeclared_path() {
    let program = Regex::new(r"(?:^|[^\w.}-])(?:/usr)?(?:/local)?/s?bin/([\w.+-]+)").unwrap();
    let folder = Regex::new(r#"(?:^|[\s"'=:])(?:/usr)?(?:/local)?/s?bin(?:[\s"':]|$)"#).unwrap();
    let declared = declared();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for below in ["tests", "crates/syntax/tests", "benches/src"] {
        for file in sources(workspace.join(below)) {
            let text = std::fs::read_to_string(&file).unwrap();
            for found in program.captures_iter(&text) {
                seen += 1;
                assert!(
                    declared.contains_key(&found[1]),
                    "{}: {} is not declared",
                    file.display(),
                    &found[0]
                );
            }
            let found = folder.find(&text).map(|found| found.as_str());
            assert_eq!(found, None, "{}: the tests' PATH is `programs()`", file.display());
        }
    }
    assert!(seen > 10, "paths are found: {seen}");
}
