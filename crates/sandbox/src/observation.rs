//! What a command was refused, as data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// An operation that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// What was tried.
    pub operation: Operation,
    /// The file or socket, as an absolute path. An abstract socket begins with `@`.
    pub path: PathBuf,
    /// The error that the command got.
    pub errno: i32,
    /// Why.
    pub rule: RefusalRule,
    /// The thread that tried it, in the machine's process namespace.
    pub thread: u32,
}

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operation {
    /// To open a file and make it, if it doesn't exist.
    Open,
    /// To make a folder.
    MakeFolder,
    /// To make a pipe or another special file.
    MakeNode,
    /// To make a symbolic link.
    MakeLink,
    /// To give a file a second name.
    Link,
    /// To rename a file or folder.
    Rename,
    /// To make a socket with a name.
    Bind,
    /// To connect to a socket.
    Connect,
    /// To send a datagram to a socket.
    Send,
}

/// Why an operation was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RefusalRule {
    /// The path is protected, or a folder above a protected path.
    Protected,
    /// The socket was neither made by the session nor granted.
    ForeignSocket,
}

impl Operation {
    const ALL: [Self; 9] = [
        Self::Open,
        Self::MakeFolder,
        Self::MakeNode,
        Self::MakeLink,
        Self::Link,
        Self::Rename,
        Self::Bind,
        Self::Connect,
        Self::Send,
    ];
}

/// Operation, rule, two bytes that are unused, error and thread. The path follows.
const HEADER_BYTES: usize = 12;

impl Observation {
    /// The observation as a message between processes of the same program.
    pub(crate) fn encode(&self) -> Vec<u8> {
        use std::os::unix::ffi::OsStrExt as _;
        let operation = Operation::ALL.iter().zip(0_u8..).find(|(known, _)| **known == self.operation);
        let rule = u8::from(self.rule == RefusalRule::ForeignSocket);
        let mut bytes = vec![operation.map_or(0, |(_, number)| number), rule, 0, 0];
        bytes.extend_from_slice(&self.errno.to_ne_bytes());
        bytes.extend_from_slice(&self.thread.to_ne_bytes());
        bytes.extend_from_slice(self.path.as_os_str().as_bytes());
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        use std::os::unix::ffi::OsStrExt as _;
        let (header, path) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let [operation, rule, _, _, errno @ .., t0, t1, t2, t3] = *header;
        Some(Self {
            operation: *Operation::ALL.get(usize::from(operation))?,
            path: std::ffi::OsStr::from_bytes(path).into(),
            errno: i32::from_ne_bytes(errno),
            rule: if rule == 0 { RefusalRule::Protected } else { RefusalRule::ForeignSocket },
            thread: u32::from_ne_bytes([t0, t1, t2, t3]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Observation, Operation, RefusalRule};

    #[test]
    fn an_observation_survives_its_way_to_the_keeper() {
        for (operation, rule) in Operation::ALL
            .into_iter()
            .zip([RefusalRule::Protected, RefusalRule::ForeignSocket].into_iter().cycle())
        {
            let sent = Observation { operation, path: "/a/é".into(), errno: 13, rule, thread: 77 };
            assert_eq!(Observation::decode(&sent.encode()), Some(sent));
        }
        assert_eq!(Observation::decode(b"short"), None);
    }
}
