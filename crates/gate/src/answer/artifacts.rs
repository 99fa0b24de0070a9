//! Files that a call names as its result: size and SHA-256, without ever leaving the root or waiting for a pipe.
//!
//! A path is checked before the command runs, and again when it is opened: the command may have put anything there. It is
//! opened by its resolved name, beneath the root, with no link followed any more; only a regular file is read, in pieces,
//! up to the size it had when it was opened. A file that can't be hashed has an error and never costs the result.

use std::fs::File;
use std::io::{self, Read as _};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::ErrorObject;
use crate::root::Root;

/// How long the files of one call may take: an answer must not wait for a sparse file of eight terabytes.
const LONGEST: Duration = Duration::from_secs(20);

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Artifact {
    /// Its path, as the call gave it.
    pub path: String,
    /// The hash of its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Why there is no hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Looks whether all `paths` lead to places inside the root, there or not.
pub(crate) fn check(paths: &[String], root: &Root) -> Result<(), ErrorObject> {
    paths.iter().try_for_each(|path| {
        // A name that ends in a slash is a folder's, whatever stands there.
        if path.is_empty() || path.contains('\0') || path.ends_with('/') {
            return Err(ErrorObject::invalid(format!("{path:?} is no file's name"))
                .token(path.clone())
                .hint("name files, relative to the root"));
        }
        root.destination(path).map(drop)
    })
}

/// Hashes the files at `paths`, as they are now.
pub(crate) fn collect(paths: &[String], root: &Root) -> Vec<Artifact> {
    let deadline = Instant::now() + LONGEST;
    let describe = |path: &String| match hash(path, root, deadline) {
        Ok((sha256, bytes)) => {
            Artifact { path: path.clone(), sha256: Some(sha256), bytes: Some(bytes), error: None }
        }
        Err(error) => Artifact { path: path.clone(), sha256: None, bytes: None, error: Some(error) },
    };
    paths.iter().map(describe).collect()
}

fn hash(path: &str, root: &Root, deadline: Instant) -> Result<(String, u64), String> {
    let place = root.destination(path).map_err(|error| error.message)?;
    let below = place.strip_prefix(root.path()).map_err(|_| "it is not inside the root".to_owned())?;
    let file = open(root, below).map_err(|error| shellgate_exec::plain(&error))?;
    let metadata = file.metadata().map_err(|error| shellgate_exec::plain(&error))?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    let mut rest = file.take(metadata.len());
    let mut bytes = 0_u64;
    loop {
        match rest.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                hash.update(buffer.get(..read).unwrap_or_default());
                bytes += read as u64;
                if Instant::now() > deadline {
                    return Err(format!("it is too large to be hashed in {} s", LONGEST.as_secs()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(shellgate_exec::plain(&error)),
        }
    }
    let digest = hash.finalize();
    Ok((digest.iter().map(|byte| format!("{byte:02x}")).collect(), bytes))
}

/// `NONBLOCK`, so that a pipe in its place doesn't make us wait for a writer.
fn open(root: &Root, below: &std::path::Path) -> io::Result<File> {
    let folder =
        rustix::fs::open(root.path(), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(File::from(rustix::fs::openat2(&folder, below, flags, Mode::empty(), resolve)?))
}
