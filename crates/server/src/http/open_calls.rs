//! HTTP calls under way, and whether their clients receive the answers.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use rmcp::model::RequestId;

use super::guard::Answer;
use crate::call_completion::CallCompletion;
use crate::open_requests::OpenRequests;

/// The calls of one session that wait for their answers.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenCalls(Arc<Mutex<OpenRequests>>);

impl OpenCalls {
    /// The client cancels one call.
    pub(super) fn cancel(&self, id: &RequestId) {
        let completion = self.open().get(id).cloned();
        if completion.is_some_and(|completion| completion.cancel()) {
            self.open().finish_canceled(id);
        }
    }

    /// The client ends its session.
    pub(super) fn cancel_all(&self) {
        let open = self.open().drain();
        for completion in open.iter().filter(|completion| completion.is_under_way()) {
            completion.cancel();
        }
    }

    fn open(&self) -> MutexGuard<'_, OpenRequests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call under way. A client without a session cancels it by closing the connection, which drops this.
pub(super) struct OpenCall {
    pub(super) completion: CallCompletion,
    in_session: bool,
}

impl OpenCall {
    /// A call with this id, in this session if its client has one.
    ///
    /// # Errors
    /// Why the id can't be used in this session: the answers of two calls with one id can't be told apart.
    pub(super) fn new(id: RequestId, session: Option<&OpenCalls>) -> Result<Self, &'static str> {
        let completion = match session.map(OpenCalls::open) {
            Some(mut open) => {
                open.forget_ended();
                open.begin(id)?
            }
            None => CallCompletion::default(),
        };
        Ok(Self { completion, in_session: session.is_some() })
    }

    /// The answer, with its body watched to the end.
    pub(super) fn watch(self, answer: Answer) -> Answer {
        answer.map(|body| WatchedBody { body, call: self }.boxed())
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        // A client with a session may reconnect for the answer. It cancels explicitly.
        if !self.in_session {
            self.completion.cancel();
        }
    }
}

/// The body of an answer. The call is answered when its last frame was taken.
struct WatchedBody {
    body: BoxBody<Bytes, Infallible>,
    call: OpenCall,
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || (polled.is_ready() && self.body.is_end_stream()) {
            self.call.completion.mark_answered();
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
