//! From bytes to a message of the protocol, or to the error that its sender gets.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolRequest, ClientJsonRpcMessage, ClientRequest, RequestId};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The arguments of a tool call as they came, for a reader that is stricter than rmcp's: a repeated key is an error.
#[derive(Clone, Debug)]
pub(crate) struct RawArguments(pub(crate) Arc<str>);

/// Methods that are in the protocol. What rmcp can't read of one, it takes for a method of somebody's own.
pub(crate) const KNOWN: &[&str] = &[
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

/// What can't be understood, with the name of the request if it has one.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) id: Option<RequestId>,
    pub(crate) error: Box<ErrorData>,
}

impl Trouble {
    fn nameless(error: ErrorData) -> Self {
        Self { id: None, error: Box::new(error) }
    }
}

/// What every message has.
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

/// The arguments of a tool call, among its parameters.
#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// One message, or several in a list, as one generation of the protocol allows.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ClientJsonRpcMessage>, Trouble> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Trouble::nameless(ErrorData::parse_error("a message must be UTF-8", None)))?;
    if !text.trim_start().starts_with('[') {
        return Ok(vec![one(text)?]);
    }
    let list: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    if list.is_empty() {
        return Err(Trouble::nameless(ErrorData::invalid_request("the list is empty", None)));
    }
    list.into_iter().map(|message| one(message.get())).collect()
}

fn one(text: &str) -> Result<ClientJsonRpcMessage, Trouble> {
    let head: Head<'_> = serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => {
            let error = ErrorData::invalid_request(format!("not a JSON-RPC message: {error}"), None);
            Trouble { id: id_alone(text), error: Box::new(error) }
        }
        _ => not_json(&error),
    })?;
    if head.jsonrpc.as_deref() != Some("2.0") {
        let error = ErrorData::invalid_request("not a JSON-RPC message: `jsonrpc` must be \"2.0\"", None);
        return Err(Trouble { id: id_alone(text), error: Box::new(error) });
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
        Trouble { id, error: Box::new(error) }
    })?;
    if let ClientJsonRpcMessage::Request(request) = &message
        && let ClientRequest::CustomRequest(custom) = &request.request
        && KNOWN.contains(&custom.method.as_str())
    {
        return Err(Trouble { id: Some(request.id.clone()), error: Box::new(unreadable(&custom.method)) });
    }
    Ok(message)
}

/// The id of a message of which nothing else can be read.
fn id_alone(text: &str) -> Option<RequestId> {
    let whole: serde_json::Value = serde_json::from_str(text).ok()?;
    serde_json::from_value(whole.get("id")?.clone()).ok()
}

/// A tool call, when it is one. rmcp would try one kind of message after the other; this is the kind that hurries.
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

pub(crate) fn unreadable(method: &str) -> ErrorData {
    ErrorData::invalid_params(format!("the parameters of `{method}` can't be read"), None)
}

fn not_json(error: &serde_json::Error) -> Trouble {
    Trouble::nameless(ErrorData::parse_error(format!("not JSON: {error}"), None))
}

/// What a message means for the answers that its sender waits for.
pub(crate) enum Said {
    /// One more.
    Asks(RequestId),
    /// One less.
    TakesBack(RequestId),
    /// None of that.
    Else,
}

/// Whether the body of an HTTP request is one message: rmcp would take what is no JSON for another type of content.
///
/// # Errors
/// What its sender is told.
pub(crate) fn is_one(body: &[u8]) -> Result<(), Trouble> {
    let text = std::str::from_utf8(body)
        .map_err(|_| Trouble::nameless(ErrorData::parse_error("a message must be UTF-8", None)))?;
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    if whole.get().starts_with('[') {
        let error = "a list of messages isn't taken over HTTP: send one at a time";
        return Err(Trouble::nameless(ErrorData::invalid_request(error, None)));
    }
    Ok(())
}

/// What the body of an HTTP request says. What can't be read is rmcp's to complain about.
pub(crate) fn said(body: &[u8]) -> Said {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled {
        request_id: RequestId,
    }
    let Ok(head) = serde_json::from_slice::<Head<'_>>(body) else { return Said::Else };
    let said = if head.method.as_deref() == Some("notifications/cancelled") {
        let cancelled = head.params.and_then(|params| serde_json::from_str(params.get()).ok());
        cancelled.map(|Cancelled { request_id }| Said::TakesBack(request_id))
    } else {
        // Answers to our questions have an id too.
        let id = head.id.filter(|_| head.method.is_some());
        id.and_then(|id| serde_json::from_str(id.get()).ok()).map(Said::Asks)
    };
    said.unwrap_or(Said::Else)
}

/// The arguments of the tool call in the body of an HTTP request.
pub(crate) fn arguments_in(body: &[u8]) -> Option<RawArguments> {
    let head: Head<'_> = serde_json::from_slice(body).ok()?;
    arguments(head.params?.get())
}
