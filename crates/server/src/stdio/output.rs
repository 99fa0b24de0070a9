//! Messages to the client, one after the other, and the requests that wait for an answer.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use tokio::sync::Notify;

use super::standard_stream::StandardStream;
use crate::call_completion::CallCompletion;
use crate::limits::{MAX_OPEN_REQUESTS, MAX_UNSENT_BYTES};
use crate::open_requests::OpenRequests;

/// Standard output.
#[derive(Debug)]
pub(super) struct Output {
    stream: tokio::sync::Mutex<StandardStream>,
    /// Bytes that the client has not read yet.
    unsent: AtomicUsize,
    /// Requests without an answer.
    requests: Mutex<OpenRequests>,
    /// Notified when a message was sent or a request is over.
    sent: Notify,
}

impl Output {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            stream: tokio::sync::Mutex::new(StandardStream::output()?),
            unsent: AtomicUsize::new(0),
            requests: Mutex::default(),
            sent: Notify::new(),
        })
    }

    /// A request has arrived.
    ///
    /// # Errors
    /// Why its id can't be used.
    pub(super) fn begin(&self, id: &RequestId) -> Result<CallCompletion, &'static str> {
        self.requests().begin(id.clone())
    }

    /// The client cancels a request: it gets no answer, unless that is being sent.
    pub(super) fn cancel(&self, id: &RequestId) {
        let completion = self.requests().get(id).cloned();
        if completion.is_some_and(|completion| completion.cancel()) {
            self.requests().finish_canceled(id);
            self.sent.notify_waiters();
        }
    }

    fn finish(&self, id: &RequestId) {
        self.requests().finish(id);
        self.sent.notify_waiters();
    }

    /// Writes `message` after those before it. An answer finishes its request; that of a canceled request isn't written.
    pub(super) fn send(
        self: Arc<Self>,
        message: &TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let is_wanted = |id: &RequestId| self.requests().get(id).is_some_and(CallCompletion::mark_answered);
        let write = answered.as_ref().is_none_or(is_wanted).then(|| self.write(message, answered));
        async move {
            match write {
                Some(write) => write.await,
                None => Ok(()),
            }
        }
    }

    /// Writes `message` after those before it, and finishes the request `answered`.
    pub(super) fn write(
        self: Arc<Self>,
        message: &TxJsonRpcMessage<RoleServer>,
        answered: Option<RequestId>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let line = serde_json::to_vec(message).map(|mut line| {
            line.push(b'\n');
            // The client may take long to read it.
            line.shrink_to_fit();
            line
        });
        let length = line.as_ref().map_or(0, Vec::len);
        self.unsent.fetch_add(length, Ordering::Relaxed);
        async move {
            let written = match line {
                Ok(line) => self.stream.lock().await.write(&line).await,
                Err(error) => Err(error.into()),
            };
            self.unsent.fetch_sub(length, Ordering::Relaxed);
            match answered {
                Some(id) => self.finish(&id),
                None => self.sent.notify_waiters(),
            }
            written
        }
    }

    /// Waits until the client has read enough of our output.
    pub(super) async fn has_room(&self) {
        self.wait_until(|| {
            self.unsent.load(Ordering::Relaxed) <= MAX_UNSENT_BYTES
                && self.requests().len() < MAX_OPEN_REQUESTS
        })
        .await;
    }

    /// Waits until every request is answered.
    pub(super) async fn all_answered(&self) {
        self.wait_until(|| self.requests().is_empty() && self.unsent.load(Ordering::Relaxed) == 0).await;
    }

    async fn wait_until(&self, condition: impl Fn() -> bool) {
        loop {
            let sent = self.sent.notified();
            if condition() {
                return;
            }
            sent.await;
        }
    }

    fn requests(&self) -> MutexGuard<'_, OpenRequests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
