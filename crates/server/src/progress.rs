//! Telling a client how its call goes on: what is printed, at most some times a second, and a sign of life when nothing is.
//!
//! Two agents give a call more time whenever they hear something.

use std::pin::Pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use shellgate::text;
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
    /// Printed and not yet told.
    printed: Vec<u8>,
    /// One that is on its way: the client may be slow.
    sending: Option<Sending>,
}

/// Adds to what was printed, and keeps as much of the end as is told.
pub(crate) fn keep_end(printed: &mut Vec<u8>, bytes: &[u8]) {
    let kept = bytes.get(bytes.len().saturating_sub(SHOWN)..).unwrap_or_default();
    printed.extend_from_slice(kept);
    let excess = printed.len().saturating_sub(SHOWN);
    printed.drain(..excess);
}

impl Progress {
    pub(crate) fn new(peer: Peer<RoleServer>, token: ProgressToken) -> Self {
        let now = Instant::now();
        Self { peer, token, begun: now, last: now, printed: Vec::new(), sending: None }
    }

    /// The command printed something. Only the end is kept: it may be much.
    pub(crate) fn printed(&mut self, bytes: &[u8]) {
        keep_end(&mut self.printed, bytes);
    }

    /// What is to be told: the end of what was printed, from a whole character on, or that nothing was.
    fn message(&mut self) -> String {
        let printed = std::mem::take(&mut self.printed);
        let start = printed.iter().position(|byte| byte & 0xc0 != 0x80).unwrap_or(0);
        let printed = printed.get(start..).unwrap_or_default();
        if printed.contains(&0) {
            return "binary output".to_owned();
        }
        let text = text::rendered(printed);
        if text.is_empty() { format!("waiting for {} s", self.begun.elapsed().as_secs()) } else { text }
    }

    /// Sends what is due, waiting until something is. Without progress, it waits for ever.
    pub(crate) async fn tell(progress: &mut Option<Self>) {
        let Some(progress) = progress else { return std::future::pending().await };
        if let Some(sending) = &mut progress.sending {
            sending.await;
            progress.sending = None;
            return;
        }
        let wait = if progress.printed.is_empty() { SILENCE } else { PACE };
        tokio::time::sleep_until(progress.last + wait).await;
        let message = progress.message();
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
