//! Telling a client how its call goes on: what is printed, at most some times a second, and a sign of life when nothing is.
//!
//! Two agents give a call more time whenever they hear something.

use std::pin::Pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use shellgate::Stream;
use shellgate::text::Decoder;
use tokio::time::Instant;

/// The shortest time between two.
const PACE: Duration = Duration::from_millis(250);
/// The longest.
const SILENCE: Duration = Duration::from_secs(10);
/// So much of what was printed since the last time is shown: the end of it.
const SHOWN: usize = 4096;
/// How long the last one may take before the answer goes out anyway.
const LAST: Duration = Duration::from_secs(1);

type Sending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One call's.
pub(crate) struct Progress {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    begun: Instant,
    last: Instant,
    decoders: [Decoder; 2],
    /// Printed and not yet told.
    text: String,
    /// One that is on its way: the client may be slow.
    sending: Option<Sending>,
}

impl Progress {
    pub(crate) fn new(peer: Peer<RoleServer>, token: ProgressToken) -> Self {
        let now = Instant::now();
        Self {
            peer,
            token,
            begun: now,
            last: now,
            decoders: [Decoder::new(), Decoder::new()],
            text: String::new(),
            sending: None,
        }
    }

    /// The command printed something.
    pub(crate) fn printed(&mut self, stream: Stream, bytes: &[u8]) {
        let [stdout, stderr] = &mut self.decoders;
        let decoder = if stream == Stream::Stdout { stdout } else { stderr };
        let Some(piece) = decoder.push(bytes) else { return };
        self.text.extend(piece.text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')));
        if self.text.len() > 2 * SHOWN {
            let start = self.text.ceil_char_boundary(self.text.len() - SHOWN);
            self.text.drain(..start);
        }
    }

    /// Sends what is due, waiting until something is. Without progress, it waits for ever.
    pub(crate) async fn tell(progress: &mut Option<Self>) {
        let Some(progress) = progress else { return std::future::pending().await };
        if let Some(sending) = &mut progress.sending {
            sending.await;
            progress.sending = None;
            return;
        }
        let wait = if progress.text.is_empty() { SILENCE } else { PACE };
        tokio::time::sleep_until(progress.last + wait).await;
        let message = match std::mem::take(&mut progress.text) {
            text if text.is_empty() => format!("waiting for {} s", progress.begun.elapsed().as_secs()),
            text => text,
        };
        progress.last = Instant::now();
        // Milliseconds: the number must grow each time.
        #[expect(clippy::cast_precision_loss, reason = "a call that runs for 285,000 years")]
        let so_far = progress.begun.elapsed().as_millis().max(1) as f64;
        let param = ProgressNotificationParam::new(progress.token.clone(), so_far).with_message(message);
        let peer = progress.peer.clone();
        progress.sending = Some(Box::pin(async move {
            // A client that is gone is told nothing more.
            let _ = peer.notify_progress(param).await;
        }));
    }

    /// Lets the last one go out before the answer does.
    pub(crate) async fn finish(progress: &mut Option<Self>) {
        if let Some(sending) = progress.as_mut().and_then(|progress| progress.sending.take()) {
            let _ = tokio::time::timeout(LAST, sending).await;
        }
    }
}
