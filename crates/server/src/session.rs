//! The session that a call belongs to.
//!
//! The program that started us has the session of its root, and may name chats of it. An HTTP client has a chat of its own,
//! and may have more below it: a call with `session: "new"` makes one, and its answer has the handle, which only that
//! client can use.

use sha2::{Digest as _, Sha256};
use shellgate::{ErrorObject, Scope};

use crate::client::Principal;
use crate::keys::hex;

/// The argument by which a call makes a session.
const NEW: &str = "new";
/// Bytes of the seal in a handle.
const SEAL_BYTES: usize = 12;

/// The chat that a call runs in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chat {
    /// Its name, below the gate's session. `None`: the gate's session itself.
    pub(crate) name: Option<String>,
    /// Its handle, when the call made it.
    pub(crate) new_handle: Option<String>,
}

impl Principal {
    /// The chat of a call of this client, whose argument `session` is `asked`.
    ///
    /// # Errors
    /// `invalid_input` for a handle that we didn't make for this client.
    pub(crate) fn chat(&self, asked: Option<&str>) -> Result<Chat, ErrorObject> {
        let new_id = || ulid::Ulid::generate().to_string().to_ascii_lowercase();
        match (self, asked) {
            (Self::Parent, Some(NEW)) => {
                let id = new_id();
                Ok(Chat { name: Some(id.clone()), new_handle: Some(id) })
            }
            (Self::Parent, asked) => Ok(Chat { name: asked.map(str::to_owned), new_handle: None }),
            (Self::Bearer { .. }, None) => Ok(Chat { name: self.own_chat(), new_handle: None }),
            (Self::Bearer { .. }, Some(NEW)) => {
                let id = new_id();
                let handle = format!("{id}-{}", self.seal(&id));
                Ok(Chat { name: self.own_chat().map(|own| format!("{own}/{id}")), new_handle: Some(handle) })
            }
            (Self::Bearer { .. }, Some(handle)) => {
                let sealed = handle.split_once('-').filter(|(id, seal)| *seal == self.seal(id));
                let Some((id, _)) = sealed else {
                    return Err(ErrorObject::invalid("`session` is no session of yours")
                        .token(handle)
                        .hint("leave it out, or use `new` to make one"));
                };
                Ok(Chat { name: self.own_chat().map(|own| format!("{own}/{id}")), new_handle: None })
            }
        }
    }

    /// What this client may see and control.
    pub(crate) fn scope(&self) -> Scope {
        self.own_chat().map_or(Scope::Session, Scope::Chat)
    }

    fn own_chat(&self) -> Option<String> {
        match self {
            Self::Parent => None,
            Self::Bearer { name, .. } => Some(format!("http-{name}")),
        }
    }

    /// A digest over an id and this client's key, which no other client can make.
    fn seal(&self, id: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(b"shellgate session");
        if let Self::Bearer { name, secret } = self {
            hash.update(secret);
            hash.update(name.as_bytes());
        }
        hash.update(id);
        hex(hash.finalize().get(..SEAL_BYTES).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer(name: &str, secret: u8) -> Principal {
        Principal::Bearer { name: name.into(), secret: [secret; 32] }
    }

    #[test]
    fn only_the_client_that_made_a_session_can_use_its_handle() {
        let (ann, bob) = (bearer("ann", 1), bearer("bob", 2));
        let made = ann.chat(Some("new")).unwrap();
        let handle = made.new_handle.unwrap();
        assert_eq!(ann.chat(Some(&handle)).unwrap().name, made.name);
        assert!(made.name.unwrap().starts_with("http-ann/"));
        for other in [bob, bearer("ann", 2), bearer("bob", 1)] {
            assert!(other.chat(Some(&handle)).is_err());
        }
        for handle in ["", "x", "http-bob", "../http-bob", "a-b"] {
            assert!(ann.chat(Some(handle)).is_err(), "{handle}");
        }
        assert_eq!(ann.chat(None).unwrap().name.unwrap(), "http-ann");
    }

    #[test]
    fn the_parent_may_name_any_chat() {
        assert_eq!(Principal::Parent.chat(None).unwrap(), Chat { name: None, new_handle: None });
        assert_eq!(Principal::Parent.chat(Some("x")).unwrap().name.unwrap(), "x");
    }
}
