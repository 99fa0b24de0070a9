//! The `requestState` that a client of the newer generation carries from one call to the next while it asks its user.
//!
//! It is a random id. Here we keep what it stands for: the question, and the call and client that it belongs to. It works
//! once, and only while the question waits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::client::Principal;
use crate::limits::MAX_QUESTIONS;
use crate::questions::WaitingQuestion;
use crate::questions::form::Form;

/// Request states that were handed out and not used yet.
#[derive(Debug, Default)]
pub(crate) struct RequestStates {
    unused: Mutex<HashMap<String, RequestState>>,
}

/// What one request state stands for.
#[derive(Debug)]
pub(crate) struct RequestState {
    pub(crate) call: CallDigest,
    pub(crate) principal: Principal,
    pub(crate) question: WaitingQuestion,
    pub(crate) form: Form,
    /// The handle of the session that the call makes.
    pub(crate) new_session: Option<String>,
}

/// A digest of exactly this call. The order of the arguments doesn't matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallDigest([u8; 32]);

impl CallDigest {
    pub(crate) fn of(tool: &str, arguments: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(tool.len().to_be_bytes());
        hash.update(tool);
        match serde_json::from_str(arguments) {
            Ok(arguments) => hash_value(&mut hash, &arguments),
            Err(_) => hash.update(arguments),
        }
        Self(hash.finalize().into())
    }
}

/// Hashes a value with its keys in order. Kind and length come before the content, so that no two values collide.
fn hash_value(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Object(entries) => {
            hash.update(b"{");
            hash.update(entries.len().to_be_bytes());
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            for (key, value) in entries {
                hash.update(key.len().to_be_bytes());
                hash.update(key);
                hash_value(hash, value);
            }
        }
        Value::Array(values) => {
            hash.update(b"[");
            hash.update(values.len().to_be_bytes());
            values.iter().for_each(|value| hash_value(hash, value));
        }
        // The JSON text of a string, a number, a boolean and null differ.
        other => {
            let text = other.to_string();
            hash.update(text.len().to_be_bytes());
            hash.update(text);
        }
    }
}

impl RequestStates {
    /// Hands one out: its id.
    pub(crate) fn insert(&self, state: RequestState) -> String {
        let id = crate::keys::random_hex();
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        unused.retain(|_, state| !state.question.is_settled());
        if unused.len() < MAX_QUESTIONS {
            unused.insert(id.clone(), state);
        }
        id
    }

    /// Takes one for this call. It is used up, even if it is for another call.
    pub(crate) fn take(&self, id: &str, call: &CallDigest, principal: &Principal) -> Option<RequestState> {
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        // Another client's attempt doesn't use it up.
        unused.get(id).filter(|state| state.principal == *principal)?;
        unused.remove(id).filter(|state| state.call == *call)
    }
}
