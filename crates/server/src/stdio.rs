//! Standard input and output, a message a line.
//!
//! A transport of our own, because rmcp's drops what it can't read without a word, reads a client that doesn't read us
//! without end, ends when something comes before `initialize`, and waits five seconds for running commands when its input
//! ends. Nothing here changes the flags of the descriptors: others may hold them too.

mod descriptor;
mod output;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetExtensions as _, GetMeta as _, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ErrorData, ServiceExt as _};
use tokio_util::sync::CancellationToken;

use crate::Offer;
use crate::handler::Handler;
use crate::limits::{LAST_ANSWERS, LONGEST_MESSAGE};
use crate::message::{self, Trouble};
use descriptor::Descriptor;
use output::Output;

/// How often a client that doesn't read us is looked at: it may have gone, and what it sent before isn't read.
const LOOK: std::time::Duration = std::time::Duration::from_millis(500);

/// What a client hears that has not said who it is.
const STRANGER: &str =
    "`initialize` must come first, or every request must say its protocol version in `_meta`";

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Serves the program at the other end of standard input and output, until it goes away or tells us to.
///
/// # Errors
/// When there is no runtime to be had.
pub fn serve_stdio(offer: Offer) -> io::Result<()> {
    let runtime = crate::runtime()?;
    runtime.block_on(serve(Handler::new(offer)))?;
    // Whoever still waits for a command isn't waited for: the keeper ends what we leave in the foreground.
    runtime.shutdown_background();
    Ok(())
}

async fn serve(handler: Handler) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // An agent's terminal sends it to us too; the agent says itself when it is done.
    let _ignored = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    crate::tidy_soon(handler.gate());
    let ended = CancellationToken::new();
    let transport = Stdio::new(ended.clone())?;
    let serving = async {
        // An error is a client that left before it said anything.
        if let Ok(service) = handler.serve(transport).await {
            let _ = service.waiting().await;
        }
    };
    tokio::select! {
        () = serving => {}
        () = ended.cancelled() => {}
        _ = terminated.recv() => {}
    }
    Ok(())
}

/// The client, as rmcp sees it.
struct Stdio {
    input: Descriptor,
    output: Arc<Output>,
    /// Read and not yet taken.
    buffer: Vec<u8>,
    /// The part of the buffer that has no newline.
    searched: usize,
    /// The rest of a line that was too long is passed over.
    skipping: bool,
    /// Taken and not yet given to rmcp.
    ready: VecDeque<ClientJsonRpcMessage>,
    /// Whether the client has said who it is: rmcp takes nothing else before.
    begun: bool,
    /// Our input has ended, and all calls had their time.
    ended: CancellationToken,
}

impl Stdio {
    fn new(ended: CancellationToken) -> io::Result<Self> {
        Ok(Self {
            input: Descriptor::standard_input()?,
            output: Arc::new(Output::new()?),
            buffer: Vec::new(),
            searched: 0,
            skipping: false,
            ready: VecDeque::new(),
            begun: false,
            ended,
        })
    }

    /// Takes the lines that are whole.
    fn take_lines(&mut self) {
        while let Some(length) = self.newline() {
            let line: Vec<u8> = self.buffer.drain(..=length).collect();
            self.searched = 0;
            if !std::mem::take(&mut self.skipping) {
                self.take_line(&line);
            }
        }
        if self.buffer.is_empty() {
            // What a long message took is given back.
            self.buffer.shrink_to(2 * CHUNK);
        }
        if self.buffer.len() > LONGEST_MESSAGE || self.skipping {
            if !std::mem::replace(&mut self.skipping, true) {
                let message = format!("a message is longer than {LONGEST_MESSAGE} bytes");
                let id = id_at_start(&self.buffer);
                self.answer(Trouble { id, error: Box::new(ErrorData::invalid_request(message, None)) });
            }
            self.buffer = Vec::new();
            self.searched = 0;
        }
    }

    /// Waits until the client has read enough of what it got. `false`: it has gone meanwhile.
    async fn has_room(&self) -> bool {
        loop {
            tokio::select! {
                biased;
                () = self.output.has_room() => return true,
                () = tokio::time::sleep(LOOK) => {}
            }
            if self.input.has_hung_up() {
                return false;
            }
        }
    }

    fn newline(&mut self) -> Option<usize> {
        let unsearched = self.buffer.get(self.searched..)?;
        match unsearched.iter().position(|byte| *byte == b'\n') {
            Some(at) => Some(self.searched + at),
            None => {
                self.searched = self.buffer.len();
                None
            }
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match message::read(line) {
            Ok(messages) => messages.into_iter().for_each(|message| self.take(message)),
            Err(trouble) => self.answer(trouble),
        }
    }

    fn take(&mut self, mut message: ClientJsonRpcMessage) {
        match &mut message {
            ClientJsonRpcMessage::Request(request) => {
                if !self.begun && !may_come_first(&request.request) {
                    let error = Box::new(ErrorData::invalid_params(STRANGER, None));
                    return self.answer(Trouble { id: Some(request.id.clone()), error });
                }
                let Some(fate) = self.output.begin(&request.id) else {
                    let error = ErrorData::invalid_request("a request with this id is under way", None);
                    return self.answer(Trouble { id: Some(request.id.clone()), error: Box::new(error) });
                };
                request.request.extensions_mut().insert(fate);
                self.begun |= begins(&request.request);
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let rmcp::model::ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.output.take_back(id);
                }
                if !self.begun {
                    return;
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) if !self.begun => return,
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
        self.ready.push_back(message);
    }

    /// Tells the client what is wrong, in its turn. That finishes nothing: what it answers was never begun.
    fn answer(&self, trouble: Trouble) {
        let Trouble { id, error } = trouble;
        let send = self.output.clone().write(&TxJsonRpcMessage::<RoleServer>::error(*error, id), None);
        tokio::spawn(async move {
            let _ = send.await;
        });
    }
}

/// Whether rmcp knows after this request which generation the client is of.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        other => other.get_meta().protocol_version().is_some(),
    }
}

/// Whether a client that has not said who it is may ask this.
fn may_come_first(request: &ClientRequest) -> bool {
    begins(request) || matches!(request, ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_))
}

/// The id of a message that is too long to be read, if it stands before all that is long.
fn id_at_start(bytes: &[u8]) -> Option<RequestId> {
    let start = bytes.get(..bytes.len().min(1024))?;
    let text = std::str::from_utf8(start).ok()?;
    let (_, after) = text.split_once("\"id\"")?;
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let value = value.get(..value.find([',', '}'])?)?;
    serde_json::from_str(value.trim_end()).ok()
}

impl Transport<RoleServer> for Stdio {
    type Error = Infallible;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let sent = self.output.clone().send(&message);
        async move {
            // Nobody reads us: our input will end too.
            let _ = sent.await;
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if !self.has_room().await {
                break;
            }
            match self.input.read(&mut self.buffer, CHUNK).await {
                Ok(1..) => self.take_lines(),
                Ok(0) | Err(_) if !self.buffer.is_empty() && !self.skipping => {
                    let line = std::mem::take(&mut self.buffer);
                    self.take_line(&line);
                }
                Ok(0) | Err(_) => break,
            }
        }
        let _ = tokio::time::timeout(LAST_ANSWERS, self.output.all_answered()).await;
        self.ended.cancel();
        None
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
