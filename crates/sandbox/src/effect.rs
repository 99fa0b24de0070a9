//! What a command did, as data.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Something that a process of a command did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// What it did.
    pub kind: EffectKind,
    /// The file as an absolute path, the address as `HOST:PORT`, or the program's file with its words behind it, a NUL byte
    /// before each.
    pub target: PathBuf,
    /// The process, and its parent.
    pub process: (u32, u32),
    /// The tag of the process ([`Tag`](crate::spawn::Tag)), as a number.
    pub tag: u64,
}

/// What a process did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EffectKind {
    /// Opened a file for writing, made it, or gave it this name.
    Write,
    /// Removed a file or folder, or took its name away.
    Delete,
    /// Connected to an address.
    Connect,
    /// Started a program.
    Program,
    /// The broker dropped effects, because the keeper didn't read them in time. The first number of `process` counts them.
    Lost,
}

impl EffectKind {
    const ALL: [Self; 5] = [Self::Write, Self::Delete, Self::Connect, Self::Program, Self::Lost];
}

/// How a message with an effect begins: no refusal begins so.
const MARK: u8 = 0x80;

/// Mark and kind, the two processes and the tag. The target follows.
const HEADER_BYTES: usize = 17;

impl Effect {
    /// The effect as a message between processes of the same program.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let kind = EffectKind::ALL
            .iter()
            .zip(0..)
            .find(|(kind, _)| **kind == self.kind)
            .map_or(0, |(_, number)| number);
        let mut bytes = vec![MARK | kind];
        bytes.extend_from_slice(&self.process.0.to_ne_bytes());
        bytes.extend_from_slice(&self.process.1.to_ne_bytes());
        bytes.extend_from_slice(&self.tag.to_ne_bytes());
        bytes.extend_from_slice(self.target.as_os_str().as_bytes());
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote. `None`: it is another message.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (header, target) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let [mark, p0, p1, p2, p3, q0, q1, q2, q3, tag @ ..] = *header;
        let number = usize::from(mark.checked_sub(MARK)?);
        Some(Self {
            kind: *EffectKind::ALL.get(number)?,
            target: PathBuf::from(std::ffi::OsStr::from_bytes(target)),
            process: (u32::from_ne_bytes([p0, p1, p2, p3]), u32::from_ne_bytes([q0, q1, q2, q3])),
            tag: u64::from_ne_bytes(tag),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Effect, EffectKind};

    #[test]
    fn an_effect_survives_its_way_to_the_keeper() {
        for kind in EffectKind::ALL {
            let sent = Effect { kind, target: "/a/é\0-x".into(), process: (7, 5), tag: 77 << 40 };
            assert_eq!(Effect::decode(&sent.encode()), Some(sent));
        }
        assert_eq!((Effect::decode(b"short"), Effect::decode(&[0; 40])), (None, None));
    }
}
