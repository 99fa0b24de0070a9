//! Removes the oldest finished output when there is too much.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use crate::regular_file::open_regular;

/// What [`prune`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many executions lost their files.
    pub executions: u32,
    /// How many bytes were freed.
    pub bytes: u64,
}

/// Removes the files of the oldest finished executions from `folder` until the rest takes at most `keep_bytes`.
///
/// The files of a running execution are locked and stay. So do those of the newest execution, because its caller was just
/// told their names. Both files of an execution are removed together.
///
/// # Errors
/// When the folder can't be read. A file that can't be removed is skipped.
pub fn prune(folder: &Path, keep_bytes: u64) -> io::Result<Pruned> {
    let mut files: Vec<(String, PathBuf, u64)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Names are ULIDs, which sort by time.
        let Some(id) =
            entry.file_name().to_str().and_then(|name| name.split_once('.')).map(|(id, _)| id.to_owned())
        else {
            continue;
        };
        let Ok(metadata) = entry.metadata() else { continue };
        files.push((id, entry.path(), metadata.blocks() * 512));
    }
    files.sort_unstable();
    let mut used: u64 = files.iter().map(|(_, _, size)| size).sum();
    let mut pruned = Pruned::default();
    let executions: Vec<&[(String, PathBuf, u64)]> = files.chunk_by(|a, b| a.0 == b.0).collect();
    let Some((_newest, older)) = executions.split_last() else { return Ok(pruned) };
    for execution in older {
        if used <= keep_bytes {
            break;
        }
        if !execution.iter().all(|(_, path, _)| is_finished(path)) {
            continue;
        }
        let freed =
            execution.iter().filter(|(_, path, _)| fs::remove_file(path).is_ok()).map(|(_, _, size)| size);
        let freed: u64 = freed.sum();
        used = used.saturating_sub(freed);
        pruned.bytes += freed;
        pruned.executions += 1;
    }
    Ok(pruned)
}

fn is_finished(path: &Path) -> bool {
    open_regular(path)
        .is_ok_and(|file| rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::prune;
    use crate::ExecId;
    use crate::spool::Spool;

    #[test]
    fn oldest_finished_first_never_the_running_or_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let mut spools = Vec::new();
        for _ in 0..5 {
            let mut spool = Spool::create(folder.path(), ExecId::generate()).unwrap();
            spool.files.stdout.write_all(&[b'x'; 64 << 10]).unwrap();
            spools.push(spool);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let running = spools.remove(1);
        let running_paths = running.paths.clone().unwrap();
        let paths: Vec<_> = spools.iter().map(|spool| spool.paths.clone().unwrap()).collect();
        drop(spools);

        let pruned = prune(folder.path(), 200 << 10).unwrap();
        assert_eq!(pruned.executions, 2);
        let there: Vec<bool> = paths.iter().map(|path| path.stdout.exists()).collect();
        assert_eq!(there, [false, false, true, true], "the two oldest finished ones went");
        assert!(running_paths.stdout.exists() && running_paths.stderr.exists());

        assert_eq!(prune(folder.path(), 0).unwrap().executions, 1);
        assert!(paths[3].stdout.exists(), "the newest stays");
        assert!(running_paths.stdout.exists());
    }
}
