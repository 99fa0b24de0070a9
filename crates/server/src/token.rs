//! Words that nobody can guess: keys to the HTTP server, and handles.
//!
//! The keys are in a file of the state folder, a line each: the name of who holds it, a blank, the key. The first start
//! makes one.

use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::client::Principal;

/// The name of the file.
const FILE: &str = "mcp-keys";
/// Who holds the first key.
const FIRST: &str = "default";

/// Why the keys can't be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each says it itself")]
pub enum KeysError {
    #[error("`{}` can't be used: {error}", file.display())]
    Unusable { file: PathBuf, error: io::Error },
    #[error("others may read or change `{}`: make it yours alone with `chmod 600`", .0.display())]
    Open(PathBuf),
    #[error("line {line} of `{}` isn't a name, a blank and a key of 32 characters or more", file.display())]
    Line { file: PathBuf, line: usize },
    #[error("no key is in `{}`: write one there, or remove the file to have one made", .0.display())]
    None(PathBuf),
}

/// Who may come.
#[derive(Debug)]
pub(crate) struct Keys {
    file: PathBuf,
    /// Digests: comparing them tells nobody how much of a guess was right.
    holders: Vec<([u8; 32], Arc<str>)>,
}

impl Keys {
    /// Reads them, and makes the first one if there is none.
    pub(crate) fn open(folder: &Path) -> Result<Self, KeysError> {
        let file = folder.join(FILE);
        let unusable = |error| KeysError::Unusable { file: file.clone(), error };
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file) {
            Ok(mut new) => new.write_all(format!("{FIRST} {}\n", random()).as_bytes()).map_err(unusable)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unusable(error)),
        }
        let metadata = std::fs::metadata(&file).map_err(unusable)?;
        if metadata.mode() & 0o077 != 0 || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(KeysError::Open(file));
        }
        let text = std::fs::read_to_string(&file).map_err(unusable)?;
        let mut holders = Vec::new();
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let (name, key) = line
                .trim()
                .split_once(' ')
                .map(|(name, key)| (name, key.trim()))
                .filter(|(name, key)| key.len() >= 32 && !key.contains(' ') && is_name(name))
                .ok_or_else(|| KeysError::Line { file: file.clone(), line: number })?;
            holders.push((digest(key), name.into()));
        }
        if holders.is_empty() {
            return Err(KeysError::None(file));
        }
        Ok(Self { file, holders })
    }

    /// The file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Who holds `key`. Takes as long for a wrong key as for a right one.
    pub(crate) fn holder(&self, key: &str) -> Option<Principal> {
        let given = digest(key);
        let mut found = None;
        for (known, name) in &self.holders {
            let differs = known.iter().zip(&given).fold(0, |differs, (a, b)| differs | (a ^ b));
            if differs == 0 {
                found = Some(Principal::Bearer { name: name.clone(), secret: given });
            }
        }
        found
    }
}

/// A name is part of the name of a session.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key).into()
}

/// 256 bits from the system.
pub(crate) fn random() -> String {
    let mut bytes = [0_u8; 32];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        // Fails only when interrupted: the flags are plain, and the system has one.
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()).unwrap_or(0);
    }
    hex(&bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
