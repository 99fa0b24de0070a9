//! Standard input and output, a message a line.
//!
//! This is our own transport because rmcp's drops unreadable messages without an error, keeps reading from a client that
//! doesn't read, ends when a message arrives before `initialize`, and waits five seconds for running commands at the end of
//! its input. The flags of the descriptors stay as they are: other processes may share them.

mod output;
mod standard_stream;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetExtensions as _, GetMeta as _, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ErrorData, ServiceExt as _};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::Offer;
use crate::handler::Handler;
use crate::limits::{MAX_MESSAGE_BYTES, SHUTDOWN_GRACE};
use crate::message::{self, MessageError, PlainCall};
use output::Output;
use standard_stream::StandardStream;

/// How often we check whether a client that doesn't read has gone: we don't see the end of its input.
const HANG_UP_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The error for a request before `initialize`.
const NOT_INITIALIZED: &str =
    "send `initialize` first, or name the protocol version in the `_meta` of every request";

/// How far into a message that is too long we look for its id.
const ID_SEARCH_BYTES: usize = 1024;

/// Bytes read at once.
const READ_CHUNK_BYTES: usize = 64 << 10;

/// Serves the program at the other end of standard input and output, until it closes them or a signal ends us.
///
/// # Errors
/// When the runtime can't start.
pub fn serve_stdio(offer: Offer) -> io::Result<()> {
    let runtime = crate::runtime()?;
    info!("serves on standard input and output");
    runtime.block_on(serve(Handler::new(offer)))?;
    // Calls under way are dropped: the keeper ends their foreground commands.
    runtime.shutdown_background();
    Ok(())
}

async fn serve(handler: Handler) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // A Ctrl-C in the agent's terminal reaches us too. The agent ends us itself.
    let _ignored = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    crate::tidy_soon(handler.gate());
    let ended = CancellationToken::new();
    let transport = Stdio::new(handler.clone(), ended.clone())?;
    let serving = async {
        // An error is a client that left before its first message.
        if let Ok(service) = handler.clone().serve(transport).await {
            // However it ended, there is no client left to tell.
            let _ = service.waiting().await;
        }
    };
    tokio::select! {
        () = serving => info!("the client is gone"),
        () = ended.cancelled() => info!("the client closed its end"),
        _ = terminated.recv() => info!("asked to exit"),
    }
    handler.wind_down().await;
    Ok(())
}

/// The client, as rmcp sees it. Plain tool calls don't reach rmcp, once it has learned what the client supports: its way from a message to a
/// handler and back takes longer than the rest of the server.
struct Stdio {
    handler: Handler,
    input: StandardStream,
    output: Arc<Output>,
    /// Bytes of lines that are not complete.
    buffer: Vec<u8>,
    /// The length of the buffer's beginning that has no newline.
    searched: usize,
    /// Whether to skip the rest of a line that was too long.
    skipping: bool,
    /// Whether the input has ended or failed. What could be read later might be the rest of a message.
    input_ended: bool,
    /// Messages for rmcp.
    ready: VecDeque<ClientJsonRpcMessage>,
    /// Whether the client has named its protocol version: rmcp wants that first.
    begun: bool,
    /// Canceled when our input has ended and the calls under way had their grace time, or when output can't be written.
    ended: CancellationToken,
}

impl Stdio {
    fn new(handler: Handler, ended: CancellationToken) -> io::Result<Self> {
        Ok(Self {
            handler,
            input: StandardStream::input()?,
            output: Arc::new(Output::new()?),
            buffer: Vec::new(),
            searched: 0,
            skipping: false,
            input_ended: false,
            ready: VecDeque::new(),
            begun: false,
            ended,
        })
    }

    /// Takes the complete lines out of the buffer.
    fn take_lines(&mut self) {
        while let Some(length) = self.newline() {
            let line: Vec<u8> = self.buffer.drain(..=length).collect();
            self.searched = 0;
            if !std::mem::take(&mut self.skipping) {
                self.take_line(&line);
            }
        }
        if self.buffer.is_empty() {
            // Free the memory of a long message.
            self.buffer.shrink_to(2 * READ_CHUNK_BYTES);
        }
        if self.buffer.len() > MAX_MESSAGE_BYTES || self.skipping {
            if !std::mem::replace(&mut self.skipping, true) {
                let message = format!("a message is longer than {MAX_MESSAGE_BYTES} bytes");
                let id = id_at_start(&self.buffer);
                let error = Box::new(ErrorData::invalid_request(message, None));
                self.send_error(MessageError { id, error });
            }
            self.buffer = Vec::new();
            self.searched = 0;
        }
    }

    /// Takes the last line, which may lack its newline.
    fn end_input(&mut self) {
        self.input_ended = true;
        let line = std::mem::take(&mut self.buffer);
        if !self.skipping {
            self.take_line(&line);
        }
    }

    /// Waits until the client has read enough of our output. `false`: it has gone.
    async fn wait_for_room(&self) -> bool {
        loop {
            tokio::select! {
                biased;
                () = self.output.has_room() => return true,
                () = tokio::time::sleep(HANG_UP_POLL_INTERVAL) => {}
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
        if self.handler.has_plain_client()
            && let Some(call) = message::plain_call(line)
        {
            return self.take_call(call);
        }
        match message::read(line) {
            Ok(messages) => messages.into_iter().for_each(|message| self.take(message)),
            Err(error) => self.send_error(error),
        }
    }

    /// Answers a call without rmcp.
    fn take_call(&self, call: PlainCall) {
        let PlainCall { id, tool, arguments } = call;
        let begun = self.output.begin(&id).map_err(|why| ErrorData::invalid_request(why, None));
        let client = match begun {
            Ok(completion) => self.handler.plain_client(completion, arguments),
            Err(error) => return self.send_error(MessageError { id: Some(id), error: Box::new(error) }),
        };
        let (handler, output, ended) = (self.handler.clone(), self.output.clone(), self.ended.clone());
        tokio::spawn(async move {
            let answered = match client {
                Some(client) => handler.answer(tool, client).await,
                None => Err(ErrorData::internal_error("the client is not known any more", None)),
            };
            let message = match answered {
                Ok(result) => TxJsonRpcMessage::<RoleServer>::response(result, id),
                Err(error) => TxJsonRpcMessage::<RoleServer>::error(error, Some(id)),
            };
            end_after_error(output.send(&message).await, &ended);
        });
    }

    fn take(&mut self, mut message: ClientJsonRpcMessage) {
        match &mut message {
            ClientJsonRpcMessage::Request(request) => {
                if !self.begun && !may_come_first(&request.request) {
                    let error = Box::new(ErrorData::invalid_params(NOT_INITIALIZED, None));
                    return self.send_error(MessageError { id: Some(request.id.clone()), error });
                }
                match self.output.begin(&request.id) {
                    Ok(completion) => drop(request.request.extensions_mut().insert(completion)),
                    Err(why) => {
                        let error = Box::new(ErrorData::invalid_request(why, None));
                        return self.send_error(MessageError { id: Some(request.id.clone()), error });
                    }
                }
                self.begun |= begins(&request.request);
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    self.handler.forget_client();
                }
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let rmcp::model::ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.output.cancel(id);
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

    /// Sends an error about a message that never became a request, so it finishes none.
    fn send_error(&self, error: MessageError) {
        let MessageError { id, error } = error;
        let send = self.output.clone().write(&TxJsonRpcMessage::<RoleServer>::error(*error, id), None);
        let ended = self.ended.clone();
        tokio::spawn(async move {
            end_after_error(send.await, &ended);
        });
    }
}

/// Ends the server when a message can't be written: the client would wait for it for ever.
fn end_after_error(written: io::Result<()>, ended: &CancellationToken) {
    if let Err(error) = written {
        warn!(%error, "a message can't be written");
        ended.cancel();
    }
}

/// Whether this request tells rmcp the client's protocol version.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        other => other.get_meta().protocol_version().is_some(),
    }
}

/// Whether a client may send this before it has named its protocol version.
fn may_come_first(request: &ClientRequest) -> bool {
    begins(request) || matches!(request, ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_))
}

/// The id of a message that is too long to read, if it is near the beginning.
fn id_at_start(bytes: &[u8]) -> Option<RequestId> {
    let start = bytes.get(..bytes.len().min(ID_SEARCH_BYTES))?;
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
        let ended = self.ended.clone();
        async move {
            end_after_error(sent.await, &ended);
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.input_ended || !self.wait_for_room().await {
                break;
            }
            match self.input.read(&mut self.buffer, READ_CHUNK_BYTES).await {
                Ok(1..) => self.take_lines(),
                Ok(0) | Err(_) => self.end_input(),
            }
        }
        // Calls that take longer are dropped.
        let _ = tokio::time::timeout(SHUTDOWN_GRACE, self.output.all_answered()).await;
        self.ended.cancel();
        None
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
