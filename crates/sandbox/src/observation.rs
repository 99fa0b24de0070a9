//! What a command was refused, as data.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// An operation that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// What was tried.
    pub operation: Operation,
    /// The file or socket, as an absolute path. An abstract socket begins with `@`. Some rules are about other things.
    pub path: PathBuf,
    /// What a confinement has to allow for the operation to succeed: the file, its folder if the file has to be made, the
    /// protected place that it lies in, or the socket. It is the path or the beginning of the path.
    pub grant: PathBuf,
    /// The error that the command got.
    pub errno: i32,
    /// Why.
    pub rule: RefusalRule,
    /// The tag of the process that tried it ([`Tag`](crate::spawn::Tag)), as a number.
    pub tag: u64,
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
    /// To remove a file or folder.
    Remove,
    /// To change the mode, owner, times, length or attributes of a file, or to ask whether it can be written.
    Change,
    /// To send a signal.
    Signal,
    /// To trace another process.
    Trace,
}

/// Why an operation was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RefusalRule {
    /// The path is protected, or a folder above a protected path.
    Protected,
    /// The socket was neither made by the session nor granted.
    ForeignSocket,
    /// The path is outside the writable places.
    ReadOnly,
    /// There is no network. The path is the address, as `HOST:PORT`. Told only of trials.
    NoNetwork,
    /// There is no such process in the pod. The path is its number. Told only of trials.
    NoProcess,
    /// No debugger was granted. There is no path: `ptrace` stands for it.
    Debugger,
}

impl Operation {
    const ALL: [Self; 13] = [
        Self::Open,
        Self::MakeFolder,
        Self::MakeNode,
        Self::MakeLink,
        Self::Link,
        Self::Rename,
        Self::Bind,
        Self::Connect,
        Self::Send,
        Self::Remove,
        Self::Change,
        Self::Signal,
        Self::Trace,
    ];
}

impl RefusalRule {
    const ALL: [Self; 6] = [
        Self::Protected,
        Self::ForeignSocket,
        Self::ReadOnly,
        Self::NoNetwork,
        Self::NoProcess,
        Self::Debugger,
    ];
}

/// The place of `value` in `all`. The lists have every value.
fn number_of<T: PartialEq>(value: &T, all: &[T]) -> u8 {
    all.iter().position(|known| known == value).and_then(|number| u8::try_from(number).ok()).unwrap_or(0)
}

/// Operation, rule, length of the grant, error and tag. The path follows.
const HEADER_BYTES: usize = 16;

impl Observation {
    /// The observation as a message between processes of the same program.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let grant = u16::try_from(self.grant.as_os_str().len()).unwrap_or(u16::MAX);
        let mut bytes =
            vec![number_of(&self.operation, &Operation::ALL), number_of(&self.rule, &RefusalRule::ALL)];
        bytes.extend_from_slice(&grant.to_ne_bytes());
        bytes.extend_from_slice(&self.errno.to_ne_bytes());
        bytes.extend_from_slice(&self.tag.to_ne_bytes());
        bytes.extend_from_slice(self.path.as_os_str().as_bytes());
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (header, path) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let [operation, rule, g0, g1, e0, e1, e2, e3, tag @ ..] = *header;
        let grant = path.get(..usize::from(u16::from_ne_bytes([g0, g1]))).unwrap_or(path);
        let as_path = |bytes| PathBuf::from(std::ffi::OsStr::from_bytes(bytes));
        Some(Self {
            operation: *Operation::ALL.get(usize::from(operation))?,
            path: as_path(path),
            grant: as_path(grant),
            errno: i32::from_ne_bytes([e0, e1, e2, e3]),
            rule: *RefusalRule::ALL.get(usize::from(rule))?,
            tag: u64::from_ne_bytes(tag),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Observation, Operation, RefusalRule};

    #[test]
    fn an_observation_survives_its_way_to_the_keeper() {
        for (operation, rule) in Operation::ALL.into_iter().zip(RefusalRule::ALL.into_iter().cycle()) {
            let (path, grant) = ("/a/é/b".into(), "/a/é".into());
            let sent = Observation { operation, path, grant, errno: 13, rule, tag: 77 << 40 };
            assert_eq!(Observation::decode(&sent.encode()), Some(sent));
        }
        assert_eq!(Observation::decode(b"short"), None);
    }
}
