//! What goes to the client, whole messages one after the other, and which requests wait for one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use tokio::sync::Notify;

use super::descriptor::Descriptor;
use crate::fate::Fate;
use crate::limits::{MOST_REQUESTS, MOST_UNSENT};

/// Standard output.
#[derive(Debug)]
pub(super) struct Output {
    descriptor: tokio::sync::Mutex<Descriptor>,
    /// Bytes that wait for the client to read.
    unsent: AtomicUsize,
    /// Requests without an answer.
    requests: Mutex<HashMap<RequestId, Fate>>,
    /// Something was sent.
    sent: Notify,
}

impl Output {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            descriptor: tokio::sync::Mutex::new(Descriptor::standard_output()?),
            unsent: AtomicUsize::new(0),
            requests: Mutex::default(),
            sent: Notify::new(),
        })
    }

    /// A request has come. `None`: one with this id is there already.
    pub(super) fn begin(&self, id: &RequestId) -> Option<Fate> {
        match self.requests().entry(id.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(place.insert(Fate::default()).clone()),
        }
    }

    /// It gets no answer any more, unless that is on its way.
    pub(super) fn take_back(&self, id: &RequestId) {
        let fate = self.requests().get(id).cloned();
        if fate.is_some_and(|fate| fate.take_back()) {
            self.finish(id);
        }
    }

    fn finish(&self, id: &RequestId) {
        self.requests().remove(id);
        self.sent.notify_waiters();
    }

    /// Writes `message`, in its turn. An answer finishes its request, and isn't written if that was taken back.
    pub(super) fn send(
        self: Arc<Self>,
        message: &TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let goes_out = |id: &RequestId| self.requests().get(id).is_some_and(Fate::answer);
        let write = answered.as_ref().is_none_or(goes_out).then(|| self.write(message, answered));
        async move {
            match write {
                Some(write) => write.await,
                None => Ok(()),
            }
        }
    }

    /// Writes `message`, in its turn, and finishes the request `answered`.
    pub(super) fn write(
        self: Arc<Self>,
        message: &TxJsonRpcMessage<RoleServer>,
        answered: Option<RequestId>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let line = serde_json::to_vec(message).map(|mut line| {
            line.push(b'\n');
            // It may wait for long.
            line.shrink_to_fit();
            line
        });
        let length = line.as_ref().map_or(0, Vec::len);
        self.unsent.fetch_add(length, Ordering::Relaxed);
        async move {
            let written = match line {
                Ok(line) => self.descriptor.lock().await.write(&line).await,
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

    /// Waits until the client has read enough of what it got.
    pub(super) async fn has_room(&self) {
        let is_so =
            || self.unsent.load(Ordering::Relaxed) <= MOST_UNSENT && self.requests().len() < MOST_REQUESTS;
        self.until(is_so).await;
    }

    /// Waits until no request is without an answer.
    pub(super) async fn all_answered(&self) {
        self.until(|| self.requests().is_empty() && self.unsent.load(Ordering::Relaxed) == 0).await;
    }

    async fn until(&self, is_so: impl Fn() -> bool) {
        loop {
            let sent = self.sent.notified();
            if is_so() {
                return;
            }
            sent.await;
        }
    }

    fn requests(&self) -> MutexGuard<'_, HashMap<RequestId, Fate>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
