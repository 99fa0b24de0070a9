//! Names of sessions and their chats, and the keys by which their keepers are found.
//!
//! A session without a name belongs to its root. `A/b` is the chat `b` of the session `A`. A name may be any text, so the name
//! of a keeper's socket consists of digests: short ones of the sessions above, then the long one of the session itself. To stop
//! `A` and its chats, the sockets that begin with the short digest of `A` are found. No list is needed that could be wrong.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use shellgate_exec::SessionKey;
use shellgate_journal::session_contains;

use crate::ErrorObject;

const MAX_NAME_BYTES: usize = 256;
/// The name of a socket has one digest per level, and a socket's path has at most 108 bytes.
const MAX_LEVELS: usize = 3;
/// Length of the short digest of a session above, in hexadecimal digits.
const SHORT_DIGEST_DIGITS: usize = 16;

/// The beginning of a level that is a root.
const ROOT_KIND: &[u8] = b"root:";

/// The name of a session or a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionName {
    /// The text that is digested for each level, outermost first. There is at least one.
    levels: Vec<Vec<u8>>,
    /// How people see it: its name, or its root.
    shown: String,
}

impl SessionName {
    /// The session of a root, without a name.
    pub(crate) fn of_root(root: &Path) -> Self {
        let levels = vec![[ROOT_KIND, root.as_os_str().as_bytes()].concat()];
        Self { levels, shown: root.display().to_string() }
    }

    /// The session called `name`. The name of a chat follows a `/`.
    ///
    /// # Errors
    /// `invalid_input` when `name` is not a valid name.
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
        if self.levels.len() > MAX_LEVELS {
            return Err(ErrorObject::invalid(format!(
                "the session's name has more than {MAX_LEVELS} levels"
            ))
            .token(name)
            .hint("use fewer `/`: `work/chat-1` is the chat `chat-1` of the session `work`"));
        }
        Ok(self)
    }

    /// The session that the record calls `shown`, for an execution with this root.
    ///
    /// # Errors
    /// As [`named`](Self::named).
    pub(crate) fn recorded(shown: &str, root: &Path) -> Result<Self, ErrorObject> {
        let of_root = Self::of_root(root);
        match shown.strip_prefix(of_root.shown()) {
            Some("") => Ok(of_root),
            Some(rest) if rest.starts_with('/') => of_root.chat(rest.trim_start_matches('/')),
            _ => Self::named(shown),
        }
    }

    /// Whether an execution that the record has with this session and root belongs to this session or to a chat of it. All
    /// that keeps the jobs of one client from another depends on this.
    pub(crate) fn contains(&self, session: &str, root: Option<&str>) -> bool {
        // A session without a name is called by its root. A root below that root is another session, not a chat of it.
        self.root().is_none_or(|own| root == Some(&*own)) && session_contains(&self.shown, session)
    }

    /// The sessions that a person may mean by `name`: the session or chat of this name, the session of this root, and chats of
    /// the roots above. Their shown names are all the same.
    ///
    /// # Errors
    /// `invalid_input` when no session can have this name.
    pub(crate) fn meant(name: &str) -> Result<Vec<Self>, ErrorObject> {
        let path = Path::new(name);
        if !path.is_absolute() {
            return Self::named(name).map(|named| vec![named]);
        }
        let mut meant: Vec<Self> = Self::named(name).into_iter().chain([Self::of_root(path)]).collect();
        let chats = path.ancestors().skip(1).take(MAX_LEVELS - 1).filter_map(|root| {
            let chat = path.strip_prefix(root).ok()?.to_str()?;
            Self::of_root(root).chat(chat).ok()
        });
        meant.extend(chats);
        Ok(meant)
    }

    /// Whether an execution that the record has with this session and root belongs to a session that a person means by
    /// `name`, or to a chat of it. A root below a root is another session.
    pub(crate) fn is_meant(name: &str, session: &str, root: Option<&str>) -> bool {
        let is_path = Path::new(name).is_absolute();
        let Some(root) = root else {
            // The content of a forgotten execution, and with it the root, is removed.
            return if is_path { session == name } else { session_contains(name, session) };
        };
        let Ok(recorded) = Self::recorded(session, Path::new(root)) else { return false };
        let meant = Self::meant(name).unwrap_or_default();
        meant.iter().any(|meant| recorded.levels.starts_with(&meant.levels))
    }

    /// The root, if the session has no name.
    fn root(&self) -> Option<Cow<'_, str>> {
        self.levels.first()?.strip_prefix(ROOT_KIND).map(String::from_utf8_lossy)
    }

    /// The name for people.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The key by which its keepers are found.
    pub(crate) fn key(&self) -> SessionKey {
        let mut above = String::new();
        let mut own = String::new();
        let mut hash = Sha256::new();
        for level in &self.levels {
            if !own.is_empty() {
                above.extend(own.chars().take(SHORT_DIGEST_DIGITS));
                above.push('-');
            }
            // The length distinguishes `ab`, `c` from `a`, `bc`.
            hash.update(level.len().to_be_bytes());
            hash.update(level);
            own = hash.clone().finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        }
        let short: String = own.chars().take(SHORT_DIGEST_DIGITS).collect();
        SessionKey { own: format!("{above}{own}"), below: format!("{above}{short}-") }
    }
}

fn check(name: &str) -> Result<(), ErrorObject> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        return Err(ErrorObject::invalid(
            "the session's name is empty, too long or contains control characters",
        )
        .token(name)
        .hint(format!("use up to {MAX_NAME_BYTES} printable characters, such as `work` or `work/chat-1`")));
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

    /// The record goes by names, keepers by keys. Both must agree on what belongs to a session.
    #[test]
    fn a_session_contains_the_sessions_whose_keepers_it_stops() {
        let root = Path::new("/r");
        let of_root = SessionName::of_root(root);
        let mut names: Vec<SessionName> =
            ["A", "A/b", "A/b/c", "A/bc", "AB", "AB/b", "A/", "/A", "r", "/r", "/r/b"]
                .map(|name| SessionName::named(name).unwrap())
                .into();
        names.extend([of_root.clone(), of_root.chat("b").unwrap(), of_root.chat("b/c").unwrap()]);
        names.push(SessionName::of_root(Path::new("/r/b")));
        names.push(SessionName::of_root(Path::new("/r/b/c")));
        for above in &names {
            for below in &names {
                // The record has only the text: a session that is named like a root looks like that root's.
                let root = below.root().map(Cow::into_owned);
                let looks_alike = above.root().is_none() != below.root().is_none();
                let (above_key, below_key) = (above.key(), below.key());
                let by_key = below_key.own == above_key.own || below_key.own.starts_with(&above_key.below);
                let by_name = above.contains(below.shown(), root.as_deref());
                assert!(by_name == by_key || (looks_alike && by_name), "{above:?} {below:?}");
            }
        }
    }

    #[test]
    fn a_root_below_a_root_is_another_session() {
        let root = SessionName::of_root(Path::new("/r"));
        assert!(root.contains("/r", Some("/r")) && root.contains("/r/chat", Some("/r")));
        assert!(!root.contains("/r/below", Some("/r/below")));
        assert!(!root.contains("/r", None), "an execution without a request belongs to no root");
        let chat = root.chat("http-ann").unwrap();
        assert!(chat.contains("/r/http-ann", Some("/r")) && chat.contains("/r/http-ann/x", Some("/r")));
        for other in ["/r", "/r/http-anna", "/r/http-bob", "/r/http-an"] {
            assert!(!chat.contains(other, Some("/r")), "{other}");
        }
        assert!(!chat.contains("/r/http-ann", Some("/r/http-ann")), "a root that is called like a chat");
    }

    #[test]
    fn a_person_means_a_session_or_a_root_with_its_chats() {
        for (name, session, root) in [
            ("A", "A", "/r"),
            ("A", "A/b", "/r"),
            ("/r", "/r", "/r"),
            ("/r", "/r/chat", "/r"),
            ("/r/sub", "/r/sub", "/r/sub"),
            ("/r/chat", "/r/chat", "/r"),
            ("/r/chat", "/r/chat/x", "/r"),
            ("/n", "/n", "/r"),
        ] {
            assert!(SessionName::is_meant(name, session, Some(root)), "{name} {session} {root}");
        }
        for (name, session, root) in [
            ("/r", "/r/sub", "/r/sub"),
            ("/r", "/r/sub/chat", "/r/sub"),
            ("/r", "/rs", "/rs"),
            ("A", "AB", "/r"),
            ("A/b", "A", "/r"),
        ] {
            assert!(!SessionName::is_meant(name, session, Some(root)), "{name} {session} {root}");
        }
        assert!(SessionName::is_meant("/r", "/r", None) && !SessionName::is_meant("/r", "/r/sub", None));
        assert!(SessionName::is_meant("A", "A/b", None));
    }

    #[test]
    fn a_recorded_name_is_read_back() {
        let root = Path::new("/r");
        let of_root = SessionName::of_root(root);
        for name in [of_root.clone(), of_root.chat("b/c").unwrap(), SessionName::named("A/b").unwrap()] {
            assert_eq!(SessionName::recorded(name.shown(), root).unwrap(), name);
        }
    }

    #[test]
    fn a_chat_of_a_session_is_the_session_with_the_joined_name() {
        let session = SessionName::named("A").unwrap();
        assert_eq!(session.chat("b/c").unwrap(), SessionName::named("A/b/c").unwrap());
        let root = SessionName::of_root(Path::new("/a/b"));
        assert!(root.chat("b").unwrap().key().own.starts_with(&root.key().below));
        assert_ne!(root.key(), SessionName::named("/a/b").unwrap().key());
    }

    #[test]
    fn a_name_with_the_most_levels_fits_into_the_path_of_a_socket() {
        let path = format!("/proc/self/fd/99/{}.0123456789abcdef.99", key("a/b/c").own);
        assert!(path.len() < 108, "{}", path.len());
        assert!(SessionName::named("a/b/c/d").is_err());
        assert!(SessionName::of_root(Path::new("/r")).chat("a/b").is_ok());
        assert!(SessionName::of_root(Path::new("/r")).chat("a/b/c").is_err());
        assert!(SessionName::named("").is_err());
        assert!(SessionName::named("a\nb").is_err());
    }
}
