//! Checks in front of rmcp: the key, the host, the session's owner, the size of the body.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use rmcp::RoleServer;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::key_use::{KeyUses, TooMuchUnread};
use super::open_calls::{OpenCall, OpenCalls};
use crate::client::{Body, Principal};
use crate::handler::Handler;
use crate::keys::Keys;
use crate::limits::{HTTP_BODY_TIMEOUT, MAX_HTTP_SESSIONS, MAX_HTTP_SESSIONS_PER_KEY, MAX_MESSAGE_BYTES};
use crate::message::{MessageError, MessageKind, check_single, kind_of};

/// The header that names the session of an older client.
const SESSION_HEADER: &str = "mcp-session-id";

pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Checks every request before rmcp gets it.
pub(super) struct Guard {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    keys: Keys,
    /// An address that rmcp accepts as our host name.
    known_address: SocketAddr,
    /// The sessions of older clients.
    owned_sessions: Mutex<HashMap<String, Session>>,
    /// What each key uses.
    uses: KeyUses,
}

/// A session of an older client.
struct Session {
    owner: Principal,
    calls: OpenCalls,
}

impl Guard {
    pub(super) fn new(
        service: StreamableHttpService<Handler, LocalSessionManager>,
        sessions: Arc<LocalSessionManager>,
        keys: Keys,
        known_address: SocketAddr,
    ) -> Self {
        Self {
            service,
            sessions,
            keys,
            known_address,
            owned_sessions: Mutex::default(),
            uses: KeyUses::default(),
        }
    }

    /// Answers a request that arrived at our address `local`.
    pub(super) async fn answer(&self, mut request: Request<Incoming>, local: Option<SocketAddr>) -> Answer {
        if let Some(local) = local.filter(|local| *local != self.known_address) {
            self.rewrite_host(request.headers_mut(), local);
        }
        self.admit(request).await.unwrap_or_else(|refused| *refused)
    }

    async fn admit(&self, request: Request<Incoming>) -> Result<Answer, Box<Answer>> {
        let refuse = |status, why| Err(Box::new(refused(status, why)));
        let Some(principal) = self.principal(request.headers()) else {
            let mut answer =
                refused(StatusCode::UNAUTHORIZED, "send the key to this server as a bearer token");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
            return Err(Box::new(answer));
        };
        if request.uri().path() != "/mcp" {
            return refuse(StatusCode::NOT_FOUND, "the server is at /mcp");
        }
        if !names_one_host(&request) {
            return refuse(StatusCode::BAD_REQUEST, "the request names more than one host or origin");
        }
        let Some(permit) = self.uses.begin(&principal) else {
            return refuse(StatusCode::SERVICE_UNAVAILABLE, "this key has too many requests under way");
        };
        let session = session(request.headers());
        let calls = match session
            .as_ref()
            .and_then(|session| self.owned_sessions().get(session).map(Session::owner_and_calls))
        {
            Some((owner, _)) if owner != principal => {
                return refuse(StatusCode::NOT_FOUND, "there is no such session");
            }
            known => known.map(|(_, calls)| calls),
        };
        if session.is_none() && request.method() == Method::POST && self.sessions_full(&principal).await {
            return refuse(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions: end one");
        }
        let is_delete = request.method() == Method::DELETE;
        let is_post = request.method() == Method::POST;
        let mut request = with_body(request, &principal).await?;
        let checked = request.extensions().get().map(|Body(body)| check_single(body));
        if let (true, Some(Err(error))) = (is_post, checked) {
            return Err(Box::new(unreadable(error)));
        }
        let mut open_call = None;
        match request.extensions().get().map_or(MessageKind::Other, |Body(body)| kind_of(body)) {
            MessageKind::Request(id) => {
                let call = match OpenCall::new(id, calls.as_ref()) {
                    Ok(call) => open_call.insert(call),
                    Err(why) => return refuse(StatusCode::BAD_REQUEST, why),
                };
                request.extensions_mut().insert(call.completion.clone());
            }
            MessageKind::Cancellation(id) => calls.iter().for_each(|calls| calls.cancel(&id)),
            MessageKind::Other => {}
        }
        let mut answer = self.service.handle(request).await;
        if is_delete && answer.status() == StatusCode::ACCEPTED {
            // The session has ended already, so the status is not "accepted" but "OK": clients check it.
            *answer.status_mut() = StatusCode::OK;
            calls.iter().for_each(OpenCalls::cancel_all);
        }
        if let Some(session) = self::session(answer.headers()) {
            let new = || Session { owner: principal, calls: OpenCalls::default() };
            self.owned_sessions().entry(session).or_insert_with(new);
        }
        let answer = permit.until_read(answer).or_else(|TooMuchUnread| {
            refuse(StatusCode::SERVICE_UNAVAILABLE, "read the answers to your other requests first")
        })?;
        Ok(match open_call {
            Some(call) => call.watch(answer),
            None => answer,
        })
    }

    /// Replaces our address `local` in `Host` and `Origin` by one that rmcp accepts. A machine has several addresses, and
    /// rmcp has a fixed list of names; the address that the connection arrived at is right too. A page in a browser can't
    /// send it in the name of another site.
    fn rewrite_host(&self, headers: &mut HeaderMap, local: SocketAddr) {
        for (name, scheme) in [(header::HOST, ""), (header::ORIGIN, "http://")] {
            let is_ours = headers
                .get(&name)
                .is_some_and(|value| value.as_bytes() == format!("{scheme}{local}").as_bytes());
            let only = headers.get_all(&name).iter().count() == 1;
            if let (true, Ok(ours)) = (is_ours && only, format!("{scheme}{}", self.known_address).parse()) {
                headers.insert(name, ours);
            }
        }
    }

    fn principal(&self, headers: &HeaderMap) -> Option<Principal> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(only), None) = (given.next(), given.next()) else { return None };
        let (scheme, key) = only.to_str().ok()?.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        self.keys.holder(key.trim())
    }

    /// Whether a client can't have another session.
    async fn sessions_full(&self, principal: &Principal) -> bool {
        let sessions = self.sessions.sessions.read().await;
        let mut owned = self.owned_sessions();
        // Forget the owners of sessions that have ended.
        owned.retain(|session, _| sessions.contains_key(session.as_str()));
        let own = owned.values().filter(|session| session.owner == *principal).count();
        own >= MAX_HTTP_SESSIONS_PER_KEY || sessions.len() >= MAX_HTTP_SESSIONS
    }

    fn owned_sessions(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.owned_sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn owner_and_calls(&self) -> (Principal, OpenCalls) {
        (self.owner.clone(), self.calls.clone())
    }
}

/// Whether the request names one host and at most one origin: rmcp checks just one of the places, and takes what follows an
/// `@` for the host.
fn names_one_host<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (first, second) = (hosts.next(), hosts.next());
    let target = request.uri().authority().map(|target| target.as_str().as_bytes());
    let has_user =
        [first.map(|host| host.as_bytes()), target].into_iter().flatten().any(|host| host.contains(&b'@'));
    second.is_none()
        && !has_user
        && request.headers().get_all(header::ORIGIN).iter().count() <= 1
        && target.is_none_or(|target| first.is_some_and(|host| host.as_bytes() == target))
}

/// The request with its body read, for us and for rmcp.
async fn with_body(
    request: Request<Incoming>,
    principal: &Principal,
) -> Result<Request<Full<Bytes>>, Box<Answer>> {
    let refuse = |status, why: &str| Box::new(refused(status, why));
    let (mut parts, body) = request.into_parts();
    let read = tokio::time::timeout(HTTP_BODY_TIMEOUT, Limited::new(body, MAX_MESSAGE_BYTES).collect()).await;
    let read = read.map_err(|_| refuse(StatusCode::REQUEST_TIMEOUT, "the message arrived too slowly"))?;
    let body = read.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
        Some(_) => refuse(StatusCode::PAYLOAD_TOO_LARGE, "the message is too long"),
        None => refuse(StatusCode::BAD_REQUEST, "the message ended early"),
    })?;
    let body = body.to_bytes();
    parts.extensions.insert(principal.clone());
    parts.extensions.insert(Body(body.clone()));
    Ok(Request::from_parts(parts, Full::new(body)))
}

fn session(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION_HEADER)?.to_str().ok().map(str::to_owned)
}

fn refused(status: StatusCode, why: &str) -> Answer {
    answer(status, "text/plain", format!("{why}\n"))
}

/// The answer to a body that is no message, in the form of the protocol.
fn unreadable(error: MessageError) -> Answer {
    let MessageError { id, error } = error;
    let message = serde_json::to_string(&TxJsonRpcMessage::<RoleServer>::error(*error, id));
    answer(StatusCode::BAD_REQUEST, "application/json", message.unwrap_or_default())
}

fn answer(status: StatusCode, kind: &'static str, body: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    answer
}
