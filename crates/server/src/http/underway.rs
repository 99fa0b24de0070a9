//! Calls under way, and whether their clients hear the answers.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use rmcp::model::RequestId;

use super::guard::Answer;
use crate::fate::Fate;

/// The calls of one session that wait for their answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls(Arc<Mutex<HashMap<RequestId, Fate>>>);

impl Calls {
    /// The client doesn't want this answer any more.
    pub(super) fn take_back(&self, id: &RequestId) {
        let fate = self.open().get(id).cloned();
        if let Some(fate) = fate {
            fate.take_back();
        }
    }

    /// The client has gone for good.
    pub(super) fn take_all_back(&self) {
        let fates: Vec<Fate> = self.open().drain().map(|(_, fate)| fate).collect();
        for fate in fates.iter().filter(|fate| fate.is_shared()) {
            fate.take_back();
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<RequestId, Fate>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call under way.
pub(super) struct Underway {
    pub(super) fate: Fate,
    in_session: bool,
}

impl Underway {
    /// A call with this id, in this session if its client has one.
    pub(super) fn new(id: RequestId, session: Option<&Calls>) -> Self {
        let fate = Fate::default();
        if let Some(calls) = session {
            let mut open = calls.open();
            // Those that are over.
            open.retain(|_, fate| fate.is_shared());
            open.insert(id, fate.clone());
        }
        Self { fate, in_session: session.is_some() }
    }

    /// The same answer, watched until its end.
    pub(super) fn watching(self, answer: Answer) -> Answer {
        answer.map(|body| Watched { body, call: self }.boxed())
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        // A client with a session may come back for the answer: it says itself when it doesn't want it.
        if !self.in_session {
            self.fate.take_back();
        }
    }
}

/// The body of an answer.
struct Watched {
    body: BoxBody<Bytes, Infallible>,
    call: Underway,
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || (polled.is_ready() && self.body.is_end_stream()) {
            self.call.fate.answer();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
