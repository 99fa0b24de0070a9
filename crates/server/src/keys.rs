//! Keys to the HTTP server, and other random secrets.
//!
//! The keys are in a file of the state folder. Each line is the holder's name, a blank and the key. The first start of the
//! server makes the file with one key.

use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::client::Principal;

/// The name of the file.
const FILE_NAME: &str = "mcp-keys";
/// The holder of the key that the first start makes.
const FIRST_HOLDER: &str = "default";
/// The longest name of a holder. It becomes part of a session's name.
const MAX_NAME_CHARS: usize = 64;
/// The shortest key.
const MIN_KEY_CHARS: usize = 32;

/// Why the keys can't be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each says it itself")]
pub enum KeysError {
    #[error("`{}` can't be used: {error}", file.display())]
    Unusable { file: PathBuf, error: io::Error },
    #[error("other users may read or change `{}`: make it yours alone with `chmod 600`", .0.display())]
    Open(PathBuf),
    #[error("line {line} of `{}` isn't a name, a blank and a key of {MIN_KEY_CHARS} characters or more", file.display())]
    Line { file: PathBuf, line: usize },
    #[error("line {line} of `{}` has a name of more than {MAX_NAME_CHARS} characters", file.display())]
    LongName { file: PathBuf, line: usize },
    #[error("line {line} of `{}` has the same key as line {first}: each holder needs a key of its own", file.display())]
    SameKey { file: PathBuf, line: usize, first: usize },
    #[error("`{}` has no key: write one there, or remove the file and the server makes one", .0.display())]
    None(PathBuf),
}

/// The keys, with their holders.
#[derive(Debug)]
pub(crate) struct Keys {
    file: PathBuf,
    /// Digests: the time of a comparison tells nothing about the key.
    holders: Vec<([u8; 32], Arc<str>)>,
}

impl Keys {
    /// Reads the file, and makes it with one key if there is none.
    pub(crate) fn open(folder: &Path) -> Result<Self, KeysError> {
        let file = folder.join(FILE_NAME);
        let unusable = |error| KeysError::Unusable { file: file.clone(), error };
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file) {
            Ok(mut new) => {
                new.write_all(format!("{FIRST_HOLDER} {}\n", random_hex()).as_bytes()).map_err(unusable)?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unusable(error)),
        }
        let metadata = std::fs::metadata(&file).map_err(unusable)?;
        if metadata.mode() & 0o077 != 0 || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(KeysError::Open(file));
        }
        let text = std::fs::read_to_string(&file).map_err(unusable)?;
        let mut holders: Vec<([u8; 32], Arc<str>)> = Vec::new();
        let mut lines = Vec::new();
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let (name, key) = line
                .trim()
                .split_once(' ')
                .map(|(name, key)| (name, key.trim()))
                .filter(|(name, key)| key.len() >= MIN_KEY_CHARS && !key.contains(' ') && is_name(name))
                .ok_or_else(|| KeysError::Line { file: file.clone(), line: number })?;
            if name.len() > MAX_NAME_CHARS {
                return Err(KeysError::LongName { file, line: number });
            }
            let key = digest(key);
            let mut earlier = holders.iter().zip(&lines);
            if let Some((_, first)) = earlier.find(|((known, _), _)| *known == key) {
                return Err(KeysError::SameKey { file, line: number, first: *first });
            }
            holders.push((key, name.into()));
            lines.push(number);
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

    /// The holder of `key`. Takes the same time for a wrong key as for a right one.
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

/// Whether a holder may have this name: it becomes part of a session's name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key).into()
}

/// 256 random bits of the system, in hexadecimal.
pub(crate) fn random_hex() -> String {
    let mut bytes = [0_u8; 32];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        // With these flags it only fails when a signal interrupts it.
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()).unwrap_or(0);
    }
    hex(&bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn opened(text: &str) -> Result<Keys, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        Keys::open(folder.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_that_can_not_be_used_is_named() {
        let (one, other) = ("1".repeat(32), "2".repeat(32));
        assert_eq!(opened(&format!("ann {one}\n\nbob {other}\n")).unwrap().holders.len(), 2);
        let twice = opened(&format!("ann {one}\n\nbob {other}\ncarl {one}\n")).unwrap_err();
        assert!(twice.starts_with("line 4 of `") && twice.contains("same key as line 1"), "{twice}");
        let long = opened(&format!("ann {one}\n{} {other}\n", "x".repeat(65))).unwrap_err();
        assert!(long.starts_with("line 2 of `") && long.contains("more than 64 characters"), "{long}");
        assert!(opened(&format!("{} {other}\n", "x".repeat(64))).is_ok());
        assert!(opened("ann short\n").unwrap_err().starts_with("line 1 of `"));
    }
}
