//! Which session a call belongs to.
//!
//! The program that started us has the session of its root, and may name chats of it. Whoever comes over HTTP has a chat of
//! their own, and in it such that we made: `session: "new"` makes one, and its word in the answer is good for its holder only.

use sha2::{Digest as _, Sha256};
use shellgate::{ErrorObject, Gate};

use crate::client::Principal;
use crate::token::hex;

/// What a call says to get a session of its own.
const NEW: &str = "new";
/// How much of a digest stands in a word.
const SHORT: usize = 12;

/// The chat that a call runs in, and the word for it if it is new.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chat {
    pub(crate) name: Option<String>,
    pub(crate) made: Option<String>,
}

impl Principal {
    /// The chat that a call of this client runs in, when it asks for `asked`.
    ///
    /// # Errors
    /// `invalid_input` for a word that we didn't make for them.
    pub(crate) fn chat(&self, asked: Option<&str>) -> Result<Chat, ErrorObject> {
        let fresh = || ulid::Ulid::generate().to_string().to_ascii_lowercase();
        match (self, asked) {
            (Self::Parent, Some(NEW)) => {
                let made = fresh();
                Ok(Chat { name: Some(made.clone()), made: Some(made) })
            }
            (Self::Parent, asked) => Ok(Chat { name: asked.map(str::to_owned), made: None }),
            (Self::Bearer { .. }, None) => Ok(Chat { name: self.own(), made: None }),
            (Self::Bearer { .. }, Some(NEW)) => {
                let id = fresh();
                let word = format!("{id}-{}", self.seal(&id));
                Ok(Chat { name: self.own().map(|own| format!("{own}/{id}")), made: Some(word) })
            }
            (Self::Bearer { .. }, Some(word)) => {
                let ours = word.split_once('-').filter(|(id, seal)| *seal == self.seal(id));
                let Some((id, _)) = ours else {
                    return Err(ErrorObject::invalid("`session` is no session of yours")
                        .token(word)
                        .hint("leave it out, or use `new` to get one"));
                };
                Ok(Chat { name: self.own().map(|own| format!("{own}/{id}")), made: None })
            }
        }
    }

    /// The session above all of this client's, as the record names it. `None`: all of the gate's.
    pub(crate) fn session(&self, gate: &Gate) -> Option<String> {
        self.own().map(|own| format!("{}/{own}", gate.session()))
    }

    fn own(&self) -> Option<String> {
        match self {
            Self::Parent => None,
            Self::Bearer { name, .. } => Some(format!("http-{name}")),
        }
    }

    /// What only we can add to an id, for this client.
    fn seal(&self, id: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(b"shellgate session");
        if let Self::Bearer { name, secret } = self {
            hash.update(secret);
            hash.update(name.as_bytes());
        }
        hash.update(id);
        hex(hash.finalize().get(..SHORT).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer(name: &str, secret: u8) -> Principal {
        Principal::Bearer { name: name.into(), secret: [secret; 32] }
    }

    #[test]
    fn a_word_is_good_for_its_holder_only() {
        let (ann, bob) = (bearer("ann", 1), bearer("bob", 2));
        let made = ann.chat(Some("new")).unwrap();
        let word = made.made.unwrap();
        assert_eq!(ann.chat(Some(&word)).unwrap().name, made.name);
        assert!(made.name.unwrap().starts_with("http-ann/"));
        for other in [bob, bearer("ann", 2), bearer("bob", 1)] {
            assert!(other.chat(Some(&word)).is_err());
        }
        for word in ["", "x", "http-bob", "../http-bob", "a-b"] {
            assert!(ann.chat(Some(word)).is_err(), "{word}");
        }
        assert_eq!(ann.chat(None).unwrap().name.unwrap(), "http-ann");
    }

    #[test]
    fn our_parent_names_chats_as_it_likes() {
        assert_eq!(Principal::Parent.chat(None).unwrap(), Chat { name: None, made: None });
        assert_eq!(Principal::Parent.chat(Some("x")).unwrap().name.unwrap(), "x");
    }
}
