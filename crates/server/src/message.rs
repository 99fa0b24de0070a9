//! Reading bytes as a message of the protocol, or as the error that its sender gets.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolRequest, ClientJsonRpcMessage, ClientRequest, RequestId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::limits::MAX_MESSAGE_VALUES;

/// The arguments of a tool call as they arrived. The dialect's reader is stricter than rmcp's: a repeated key is an error.
#[derive(Clone, Debug)]
pub(crate) struct RawArguments(pub(crate) Arc<str>);

/// The methods of the protocol. rmcp reports a known method with bad parameters as a custom method.
pub(crate) const KNOWN_METHODS: &[&str] = &[
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// Why a message can't be read, with the id of its request if it has one.
#[derive(Debug)]
pub(crate) struct MessageError {
    pub(crate) id: Option<RequestId>,
    pub(crate) error: Box<ErrorData>,
}

impl MessageError {
    fn without_id(error: ErrorData) -> Self {
        Self { id: None, error: Box::new(error) }
    }
}

/// The fields that every message may have.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Head<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// A tool call that has a name and arguments, and nothing else.
pub(crate) struct PlainCall {
    pub(crate) id: RequestId,
    pub(crate) tool: String,
    pub(crate) arguments: RawArguments,
}

/// The parameters of a plain call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainParameters<'a> {
    name: String,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

/// The message as a plain call, if it is one. It is read once, without a tree of values. [`read`] reports what is wrong with others.
pub(crate) fn plain_call(bytes: &[u8]) -> Option<PlainCall> {
    let text = std::str::from_utf8(bytes).ok()?;
    check_values(text).ok()?;
    let head: Head<'_> = serde_json::from_str(text).ok()?;
    if head.jsonrpc.as_deref() != Some("2.0") || head.method.as_deref() != Some("tools/call") {
        return None;
    }
    let PlainParameters { name, arguments } = serde_json::from_str(head.params?.get()).ok()?;
    if !arguments.get().starts_with('{') {
        return None;
    }
    let id = serde_json::from_str(head.id?.get()).ok()?;
    Some(PlainCall { id, tool: name, arguments: RawArguments(arguments.get().into()) })
}

/// The arguments of a tool call, among its parameters.
#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// One message, or several in a list: one version of the protocol allows that.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ClientJsonRpcMessage>, MessageError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| not_utf8())?;
    check_values(text)?;
    if !text.trim_start().starts_with('[') {
        return Ok(vec![read_one(text)?]);
    }
    let list: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    if list.is_empty() {
        return Err(MessageError::without_id(ErrorData::invalid_request("the list is empty", None)));
    }
    list.into_iter().map(|message| read_one(message.get())).collect()
}

fn read_one(text: &str) -> Result<ClientJsonRpcMessage, MessageError> {
    let head: Head<'_> = serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => {
            let error = ErrorData::invalid_request(format!("not a JSON-RPC message: {error}"), None);
            MessageError { id: id_in(text), error: Box::new(error) }
        }
        _ => not_json(&error),
    })?;
    if head.jsonrpc.as_deref() != Some("2.0") {
        let error = ErrorData::invalid_request("not a JSON-RPC message: `jsonrpc` must be \"2.0\"", None);
        return Err(MessageError { id: id_in(text), error: Box::new(error) });
    }
    if let Some(call) = tool_call(text, &head) {
        return Ok(call);
    }
    let message: ClientJsonRpcMessage = serde_json::from_str(text).map_err(|error| {
        let id = head.id.and_then(|id| serde_json::from_str(id.get()).ok());
        let error = match &head.method {
            Some(method) if id.is_some() => ErrorData::invalid_params(
                format!("the parameters of `{method}` can't be read: {error}"),
                None,
            ),
            _ => ErrorData::invalid_request(format!("not a JSON-RPC message: {error}"), None),
        };
        MessageError { id, error: Box::new(error) }
    })?;
    if let ClientJsonRpcMessage::Request(request) = &message
        && let ClientRequest::CustomRequest(custom) = &request.request
        && KNOWN_METHODS.contains(&custom.method.as_str())
    {
        let error = Box::new(unreadable_parameters(&custom.method));
        return Err(MessageError { id: Some(request.id.clone()), error });
    }
    Ok(message)
}

/// The id of a message that can't be read otherwise.
fn id_in(text: &str) -> Option<RequestId> {
    let whole: serde_json::Value = serde_json::from_str(text).ok()?;
    serde_json::from_value(whole.get("id")?.clone()).ok()
}

/// The message, if it is a tool call. rmcp would try every kind of message in turn; tool calls have to be quick.
fn tool_call(text: &str, head: &Head<'_>) -> Option<ClientJsonRpcMessage> {
    if head.method.as_deref() != Some("tools/call") {
        return None;
    }
    let id: RequestId = serde_json::from_str(head.id?.get()).ok()?;
    let mut call: CallToolRequest = serde_json::from_str(text).ok()?;
    if let Some(arguments) = head.params.and_then(|params| arguments(params.get())) {
        call.extensions.insert(arguments);
    }
    Some(ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(call), id))
}

fn arguments(params: &str) -> Option<RawArguments> {
    let params: Arguments<'_> = serde_json::from_str(params).ok()?;
    params.arguments.map(|arguments| RawArguments(arguments.get().into()))
}

pub(crate) fn unreadable_parameters(method: &str) -> ErrorData {
    ErrorData::invalid_params(format!("the parameters of `{method}` can't be read"), None)
}

fn not_utf8() -> MessageError {
    MessageError::without_id(ErrorData::parse_error("a message must be UTF-8", None))
}

fn not_json(error: &serde_json::Error) -> MessageError {
    MessageError::without_id(ErrorData::parse_error(format!("not JSON: {error}"), None))
}

/// What a message does to the requests that its sender waits for.
pub(crate) enum MessageKind {
    /// It makes one.
    Request(RequestId),
    /// It cancels one.
    Cancellation(RequestId),
    /// Neither.
    Other,
}

/// Checks that the body of an HTTP request is one message. rmcp would report text that isn't JSON as a wrong content type.
///
/// # Errors
/// What its sender is told.
pub(crate) fn check_single(body: &[u8]) -> Result<(), MessageError> {
    let text = std::str::from_utf8(body).map_err(|_| not_utf8())?;
    check_values(text)?;
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    if whole.get().starts_with('[') {
        let error = "over HTTP, send one message at a time, not a list";
        return Err(MessageError::without_id(ErrorData::invalid_request(error, None)));
    }
    Ok(())
}

/// Refuses a message of very many values: as a tree, each costs a hundred times its bytes. Commas and brackets outside
/// strings are counted, without reading the message.
fn check_values(text: &str) -> Result<(), MessageError> {
    let mut values = 0;
    let mut in_string = false;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match (byte, in_string) {
            (b'\\', true) => drop(bytes.next()),
            (b'"', _) => in_string = !in_string,
            (b',' | b'[' | b'{', false) => values += 1,
            _ => {}
        }
    }
    if values <= MAX_MESSAGE_VALUES {
        return Ok(());
    }
    let error = format!("the message has more than {MAX_MESSAGE_VALUES} values");
    Err(MessageError::without_id(ErrorData::invalid_request(error, None)))
}

/// The kind of the message in the body of an HTTP request. rmcp reports what can't be read.
pub(crate) fn kind_of(body: &[u8]) -> MessageKind {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled {
        request_id: RequestId,
    }
    let Ok(head) = serde_json::from_slice::<Head<'_>>(body) else { return MessageKind::Other };
    let kind = if head.method.as_deref() == Some("notifications/cancelled") {
        let cancelled = head.params.and_then(|params| serde_json::from_str(params.get()).ok());
        cancelled.map(|Cancelled { request_id }| MessageKind::Cancellation(request_id))
    } else {
        // A response to a request of ours has an id too, but no method.
        let id = head.id.filter(|_| head.method.is_some());
        id.and_then(|id| serde_json::from_str(id.get()).ok()).map(MessageKind::Request)
    };
    kind.unwrap_or(MessageKind::Other)
}

/// The arguments of the tool call in the body of an HTTP request.
pub(crate) fn arguments_in(body: &[u8]) -> Option<RawArguments> {
    let head: Head<'_> = serde_json::from_slice(body).ok()?;
    arguments(head.params?.get())
}
