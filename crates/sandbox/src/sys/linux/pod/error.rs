//! Why a command can't be confined.

use std::fmt;
use std::io;

use rustix::io::Errno;

/// A kernel feature that confinement needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// A process could not be started, or did not answer.
    Process,
    /// User namespaces, for users who aren't root.
    UserNamespace,
    /// Mount, process and IPC namespaces.
    Namespaces,
    /// A network namespace.
    NetworkNamespace,
    /// A `/proc` of the pod's own.
    Proc,
    /// A `/dev` of the pod's own.
    Devices,
    /// Read-only mounts.
    Mounts,
    /// Dropping all capabilities.
    Capabilities,
    /// Landlock.
    Landlock,
    /// Seccomp filters.
    Seccomp,
    /// What holds was checked, and something didn't.
    Verification,
    /// The process that answers held calls.
    Broker,
}

impl Mechanism {
    const ALL: [Self; 12] = [
        Self::Process,
        Self::UserNamespace,
        Self::Namespaces,
        Self::NetworkNamespace,
        Self::Proc,
        Self::Devices,
        Self::Mounts,
        Self::Capabilities,
        Self::Landlock,
        Self::Seccomp,
        Self::Verification,
        Self::Broker,
    ];

    /// Its number in a message.
    pub(crate) fn number(self) -> u8 {
        Self::ALL.iter().zip(0..).find(|(known, _)| **known == self).map_or(0, |(_, number)| number)
    }

    /// The mechanism with this number in a message.
    pub(crate) fn numbered(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Process)
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Process => "a launcher process",
            Self::UserNamespace => "user namespaces",
            Self::Namespaces => "mount, process and IPC namespaces",
            Self::NetworkNamespace => "network namespaces",
            Self::Proc => "a private `/proc`",
            Self::Devices => "a private `/dev`",
            Self::Mounts => "read-only mounts",
            Self::Capabilities => "dropping capabilities",
            Self::Landlock => "Landlock",
            Self::Seccomp => "seccomp filters",
            Self::Verification => "the check of what holds",
            Self::Broker => "the broker process",
        })
    }
}

/// Why a command can't be confined.
#[derive(Debug, thiserror::Error)]
#[error("{mechanism}: {detail}: {source}")]
pub struct ConfineError {
    /// What is missing.
    pub mechanism: Mechanism,
    /// What was tried.
    pub detail: String,
    /// What the kernel said.
    pub source: io::Error,
}

impl ConfineError {
    pub(crate) fn new(mechanism: Mechanism, detail: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self { mechanism, detail: detail.into(), source: source.into() }
    }

    /// The kernel's error number.
    pub(crate) fn errno(&self) -> Errno {
        Errno::from_io_error(&self.source).unwrap_or(Errno::IO)
    }
}

/// Says which mechanism an operation belongs to.
pub(crate) trait Context<T> {
    fn context(self, mechanism: Mechanism, detail: impl Into<String>) -> Result<T, ConfineError>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, mechanism: Mechanism, detail: impl Into<String>) -> Result<T, ConfineError> {
        self.map_err(|error| ConfineError::new(mechanism, detail, error))
    }
}

#[cfg(test)]
mod tests {
    use super::Mechanism;

    #[test]
    fn a_mechanism_keeps_its_number() {
        for (mechanism, number) in Mechanism::ALL.into_iter().zip(0_u8..) {
            assert_eq!((mechanism.number(), Mechanism::numbered(number)), (number, mechanism));
        }
        assert_eq!(Mechanism::numbered(200), Mechanism::Process);
    }
}
