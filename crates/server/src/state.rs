//! What a client of the newer generation takes along between two calls, while it asks its user.
//!
//! It is a random word that means something to us only: the question, and the call and client that it is for. It is good
//! for one use, and as long as the question waits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::asking::Held;
use crate::asking::form::Form;
use crate::client::Principal;
use crate::limits::MOST_QUESTIONS;

/// States that were given out and not used.
#[derive(Debug, Default)]
pub(crate) struct States {
    given: Mutex<HashMap<String, Given>>,
}

/// What one stands for.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) call: CallDigest,
    pub(crate) principal: Principal,
    pub(crate) question: Held,
    pub(crate) form: Form,
    /// The word of the session that the call makes.
    pub(crate) made: Option<String>,
}

/// Exactly this call, in whatever order its client writes the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallDigest([u8; 32]);

impl CallDigest {
    pub(crate) fn of(tool: &str, arguments: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(tool.len().to_be_bytes());
        hash.update(tool);
        match serde_json::from_str(arguments) {
            Ok(arguments) => update(&mut hash, &arguments),
            Err(_) => hash.update(arguments),
        }
        Self(hash.finalize().into())
    }
}

/// A value, with the keys in order and everything marked by its kind and length.
fn update(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Object(entries) => {
            hash.update(b"{");
            hash.update(entries.len().to_be_bytes());
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            for (key, value) in entries {
                hash.update(key.len().to_be_bytes());
                hash.update(key);
                update(hash, value);
            }
        }
        Value::Array(values) => {
            hash.update(b"[");
            hash.update(values.len().to_be_bytes());
            values.iter().for_each(|value| update(hash, value));
        }
        // A string in quotes, a number, a word: none looks like another.
        other => {
            let text = other.to_string();
            hash.update(text.len().to_be_bytes());
            hash.update(text);
        }
    }
}

impl States {
    /// Gives one out.
    pub(crate) fn give(&self, one: Given) -> String {
        let word = crate::token::random();
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.retain(|_, given| !given.question.is_settled());
        if given.len() < MOST_QUESTIONS {
            given.insert(word.clone(), one);
        }
        word
    }

    /// Takes one back: it is used up, whether it fits or not.
    pub(crate) fn take(&self, word: &str, call: &CallDigest, principal: &Principal) -> Option<Given> {
        let mut all = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        // What somebody else tries costs its holder nothing.
        all.get(word).filter(|given| given.principal == *principal)?;
        all.remove(word).filter(|given| given.call == *call)
    }
}
