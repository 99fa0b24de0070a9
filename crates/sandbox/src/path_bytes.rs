//! Paths in messages, as their bytes: a path need not be text, and serde's own form of paths must be.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};
use serde_bytes::{ByteBuf, Bytes};

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(path.as_os_str().as_bytes())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    ByteBuf::deserialize(deserializer).map(from_bytes)
}

fn from_bytes(bytes: ByteBuf) -> PathBuf {
    OsString::from_vec(bytes.into_vec()).into()
}

/// The same for a list.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| Bytes::new(path.as_os_str().as_bytes())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let all = Vec::<ByteBuf>::deserialize(deserializer)?;
        Ok(all.into_iter().map(from_bytes).collect())
    }
}
