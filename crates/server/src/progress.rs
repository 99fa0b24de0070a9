//! Progress notifications of a call: the output as it comes, and a heartbeat while there is none.
//!
//! Two agents extend a call's timeout with every notification.

use std::pin::Pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use shellgate::text;
use tokio::time::Instant;

/// The shortest time between two notifications.
const OUTPUT_INTERVAL: Duration = Duration::from_millis(250);
/// The longest: then a heartbeat is sent.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);
/// A notification has at most this much of the output since the last one: its end.
const MAX_SHOWN_BYTES: usize = 4096;
/// How long the answer waits for the last notification to be sent.
const LAST_SEND_TIMEOUT: Duration = Duration::from_secs(1);

type Sending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The progress notifications of one call.
pub(crate) struct Progress {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    begun: Instant,
    last: Instant,
    /// Output that no notification has had yet.
    unsent: Vec<u8>,
    /// A notification that is being sent: the client may be slow.
    sending: Option<Sending>,
}

/// Adds `bytes` to `output`, and drops what a notification can't have from its beginning.
pub(crate) fn append_end(output: &mut Vec<u8>, bytes: &[u8]) {
    let end = bytes.get(bytes.len().saturating_sub(MAX_SHOWN_BYTES)..).unwrap_or_default();
    output.extend_from_slice(end);
    let excess = output.len().saturating_sub(MAX_SHOWN_BYTES);
    output.drain(..excess);
}

impl Progress {
    pub(crate) fn new(peer: Peer<RoleServer>, token: ProgressToken) -> Self {
        let now = Instant::now();
        Self { peer, token, begun: now, last: now, unsent: Vec::new(), sending: None }
    }

    /// Adds output for the next notification.
    pub(crate) fn add_output(&mut self, bytes: &[u8]) {
        append_end(&mut self.unsent, bytes);
    }

    /// The text of the next notification: the end of the output, from a whole character on, or how long the call has waited.
    fn message(&mut self) -> String {
        let output = std::mem::take(&mut self.unsent);
        let start = output.iter().position(|byte| byte & 0xc0 != 0x80).unwrap_or(0);
        let output = output.get(start..).unwrap_or_default();
        if output.contains(&0) {
            return "binary output".to_owned();
        }
        let text = text::rendered(output);
        if text.is_empty() { format!("waiting for {} s", self.begun.elapsed().as_secs()) } else { text }
    }

    /// Waits until a notification is due, and sends it. Without progress it waits for ever.
    pub(crate) async fn tell(progress: &mut Option<Self>) {
        let Some(progress) = progress else { return std::future::pending().await };
        if let Some(sending) = &mut progress.sending {
            sending.await;
            progress.sending = None;
            return;
        }
        let wait = if progress.unsent.is_empty() { HEARTBEAT_INTERVAL } else { OUTPUT_INTERVAL };
        tokio::time::sleep_until(progress.last + wait).await;
        let message = progress.message();
        progress.last = Instant::now();
        // Milliseconds: the number must grow each time.
        #[expect(clippy::cast_precision_loss, reason = "a call that runs for 285,000 years")]
        let so_far = progress.begun.elapsed().as_millis().max(1) as f64;
        let param = ProgressNotificationParam::new(progress.token.clone(), so_far).with_message(message);
        let peer = progress.peer.clone();
        progress.sending = Some(Box::pin(async move {
            // An error is a client that has gone: it needs no notification.
            let _ = peer.notify_progress(param).await;
        }));
    }

    /// Lets the last notification be sent before the answer.
    pub(crate) async fn finish(progress: &mut Option<Self>) {
        if let Some(sending) = progress.as_mut().and_then(|progress| progress.sending.take()) {
            // The answer doesn't wait longer for a slow client.
            let _ = tokio::time::timeout(LAST_SEND_TIMEOUT, sending).await;
        }
    }
}
