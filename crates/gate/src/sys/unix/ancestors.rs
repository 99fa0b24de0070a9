//! The keeper above us, and what it holds.

use std::collections::BTreeSet;
use std::path::Path;

/// The short name of every keeper.
const KEEPER: &str = "shellgate-keep";
/// How deep processes are nested at most; a loop can't be, but `/proc` changes while it is read.
const DEEPEST: u32 = 4096;

/// The executions whose output the outermost keeper above us writes, by the names of the files that it has open in
/// `spool`. Nothing below a keeper can open or close a file there in its name.
pub(crate) fn kept_by_outermost(spool: &Path) -> BTreeSet<String> {
    let Some(keeper) = outermost() else { return BTreeSet::new() };
    let open = std::fs::read_dir(format!("/proc/{keeper}/fd")).into_iter().flatten().flatten();
    let files = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    files.filter_map(|file| id_of(&file, spool)).collect()
}

fn id_of(file: &Path, spool: &Path) -> Option<String> {
    let name = file.strip_prefix(spool).ok()?.to_str()?;
    name.split_once('.').map(|(id, _)| id.to_owned())
}

fn outermost() -> Option<u32> {
    let mut pid = std::process::id();
    let mut outermost = None;
    for _ in 0..DEEPEST {
        let Some((parent, name)) = parent_and_name(pid) else { break };
        if name == KEEPER && pid != std::process::id() {
            outermost = Some(pid);
        }
        pid = parent;
    }
    outermost
}

fn parent_and_name(pid: u32) -> Option<(u32, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything.
    let (before, fields) = stat.rsplit_once(") ")?;
    let (_, name) = before.split_once('(')?;
    Some((fields.split(' ').nth(1)?.parse().ok()?, name.to_owned()))
}
