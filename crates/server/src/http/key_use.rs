//! What each key uses of the server, so that no holder of a key can starve the others.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};

use super::guard::Answer;
use crate::client::Principal;
use crate::limits::{MAX_HTTP_REQUESTS_PER_KEY, MAX_UNREAD_BYTES_PER_KEY};

/// An answer is handed on in pieces of this size, so that it is known how much of it the client has read.
const PIECE_BYTES: usize = 64 << 10;

/// What the keys use.
#[derive(Debug, Default)]
pub(super) struct KeyUses(Arc<Mutex<HashMap<Principal, KeyUse>>>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct KeyUse {
    requests: usize,
    unread_bytes: u64,
}

impl KeyUses {
    /// Counts a request as under way until the permit is dropped. `None`: the key has too many.
    pub(super) fn begin(&self, principal: &Principal) -> Option<Permit> {
        let allowed = self.change(principal, |used| {
            used.requests += 1;
            used.requests <= MAX_HTTP_REQUESTS_PER_KEY
        });
        // Dropping it takes the request off again.
        let permit = Permit { uses: Self(Arc::clone(&self.0)), of: principal.clone(), unread_bytes: 0 };
        allowed.then_some(permit)
    }

    fn change<T>(&self, of: &Principal, change: impl FnOnce(&mut KeyUse) -> T) -> T {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let used = uses.entry(of.clone()).or_default();
        let changed = change(used);
        if *used == KeyUse::default() {
            uses.remove(of);
        }
        changed
    }
}

/// One request of a key.
#[derive(Debug)]
pub(super) struct Permit {
    uses: KeyUses,
    of: Principal,
    /// The length of its answer.
    unread_bytes: u64,
}

impl Permit {
    /// Keeps the permit until the client has read the answer. `Err`: the answers that it has not read are too long.
    pub(super) fn until_read(mut self, answer: Answer) -> Result<Answer, TooMuchUnread> {
        let length = answer.body().size_hint().exact().unwrap_or(0);
        let allowed = self.uses.change(&self.of, |used| {
            let allowed = used.unread_bytes == 0 || used.unread_bytes + length <= MAX_UNREAD_BYTES_PER_KEY;
            used.unread_bytes += if allowed { length } else { 0 };
            allowed
        });
        if !allowed {
            return Err(TooMuchUnread);
        }
        self.unread_bytes = length;
        Ok(answer.map(|body| MeteredBody { body, rest: Bytes::new(), _permit: self }.boxed()))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.uses.change(&self.of, |used| {
            used.requests = used.requests.saturating_sub(1);
            used.unread_bytes = used.unread_bytes.saturating_sub(self.unread_bytes);
        });
    }
}

/// The client has too much to read.
#[derive(Debug)]
pub(super) struct TooMuchUnread;

/// An answer in pieces. It is dropped when the last piece was handed on.
struct MeteredBody {
    body: BoxBody<Bytes, Infallible>,
    /// What is left of the last frame.
    rest: Bytes,
    _permit: Permit,
}

impl Body for MeteredBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                other => return other,
            }
        }
        let length = self.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = self.rest.len() as u64;
        hint.set_lower(hint.lower() + rest);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
