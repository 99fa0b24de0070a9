//! Names of sessions and their chats, and the words by which their keepers are found.
//!
//! A session is one per root unless it has a name; `A/b` is a chat of `A`. A name may be any text, so a keeper's socket is
//! called by digests: short ones of the sessions above, then the long one of its own. Whoever stops `A` finds `A/b` by
//! the short digest of `A` in front, without a list that could be wrong.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use shellgate_exec::SessionKey;

use crate::ErrorObject;

/// The longest name.
const LONGEST: usize = 256;
/// A digest per level is in the name of a socket, whose path has 108 bytes in all.
const DEEPEST: usize = 3;
/// Hexadecimal digits of the digest of a session above.
const SHORT: usize = 16;

/// Which session something belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionName {
    /// What is digested for each level, outermost first; at least one.
    levels: Vec<Vec<u8>>,
    /// As people know it: its name, or the root.
    shown: String,
}

impl SessionName {
    /// The session of a root that nobody gave a name.
    pub(crate) fn of_root(root: &Path) -> Self {
        let levels = vec![[b"root:", root.as_os_str().as_bytes()].concat()];
        Self { levels, shown: root.display().to_string() }
    }

    /// The session called `name`; after a `/` stands the name of a chat.
    ///
    /// # Errors
    /// `invalid_input` when nothing can be called that.
    pub(crate) fn named(name: &str) -> Result<Self, ErrorObject> {
        check(name)?;
        Self { levels: Vec::new(), shown: name.to_owned() }.with(b"name:", name)
    }

    /// The chat called `name` of this session.
    ///
    /// # Errors
    /// As [`named`](Self::named).
    pub(crate) fn chat(&self, name: &str) -> Result<Self, ErrorObject> {
        check(name)?;
        let shown = format!("{}/{name}", self.shown);
        Self { shown, ..self.clone() }.with(b"chat:", name)
    }

    fn with(mut self, first: &[u8], name: &str) -> Result<Self, ErrorObject> {
        for (at, part) in name.split('/').enumerate() {
            let kind: &[u8] = if at == 0 { first } else { b"chat:" };
            self.levels.push([kind, part.as_bytes()].concat());
        }
        if self.levels.len() > DEEPEST {
            return Err(ErrorObject::invalid(format!("the session's name has more than {DEEPEST} levels"))
                .token(name)
                .hint("use fewer `/`: `work/chat-1` is the chat `chat-1` of the session `work`"));
        }
        Ok(self)
    }

    /// As people know it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The words by which its keepers are found.
    pub(crate) fn key(&self) -> SessionKey {
        let mut above = String::new();
        let mut own = String::new();
        let mut hash = Sha256::new();
        for level in &self.levels {
            if !own.is_empty() {
                above.extend(own.chars().take(SHORT));
                above.push('-');
            }
            // The length keeps `ab`, `c` and `a`, `bc` apart.
            hash.update(level.len().to_be_bytes());
            hash.update(level);
            own = hash.clone().finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        }
        let short: String = own.chars().take(SHORT).collect();
        SessionKey { own: format!("{above}{own}"), below: format!("{above}{short}-") }
    }
}

fn check(name: &str) -> Result<(), ErrorObject> {
    if name.is_empty() || name.len() > LONGEST || name.chars().any(char::is_control) {
        return Err(ErrorObject::invalid(
            "the session's name is empty, too long or holds control characters",
        )
        .token(name)
        .hint(format!("use up to {LONGEST} printable characters, such as `work` or `work/chat-1`")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> SessionKey {
        SessionName::named(name).unwrap().key()
    }

    #[test]
    fn chats_are_found_below_their_session_and_nowhere_else() {
        for (above, below) in [("A", "A/b"), ("A", "A/b/c"), ("A/b", "A/b/c"), ("A", "A/")] {
            assert!(key(below).own.starts_with(&key(above).below), "{above} {below}");
        }
        for (one, other) in [("A", "AB/b"), ("A/b", "A/c/b"), ("A/b", "A"), ("A/b", "A/bc"), ("/A", "A/b")] {
            assert!(!key(other).own.starts_with(&key(one).below), "{one} {other}");
        }
        assert_ne!(key("A/b").own, key("A").own);
    }

    #[test]
    fn a_chat_by_a_call_is_the_chat_by_its_name() {
        let session = SessionName::named("A").unwrap();
        assert_eq!(session.chat("b/c").unwrap(), SessionName::named("A/b/c").unwrap());
        let root = SessionName::of_root(Path::new("/a/b"));
        assert!(root.chat("b").unwrap().key().own.starts_with(&root.key().below));
        assert_ne!(root.key(), SessionName::named("/a/b").unwrap().key());
    }

    #[test]
    fn the_deepest_name_still_fits_into_the_path_of_a_socket() {
        let path = format!("/proc/self/fd/99/{}.0123456789abcdef.99", key("a/b/c").own);
        assert!(path.len() < 108, "{}", path.len());
        assert!(SessionName::named("a/b/c/d").is_err());
        assert!(SessionName::of_root(Path::new("/r")).chat("a/b").is_ok());
        assert!(SessionName::of_root(Path::new("/r")).chat("a/b/c").is_err());
        assert!(SessionName::named("").is_err());
        assert!(SessionName::named("a\nb").is_err());
    }
}
