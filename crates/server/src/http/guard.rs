//! Who is let in, and how much of it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use rmcp::RoleServer;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::underway::{Calls, Underway};
use crate::client::{Body, Principal};
use crate::handler::Handler;
use crate::limits::{LONGEST_MESSAGE, MOST_SESSIONS};
use crate::message::{Said, Trouble, is_one, said};
use crate::token::Keys;

/// The header that names a session of an older client.
const SESSION: &str = "mcp-session-id";
/// A message must have come by then.
const SLOWEST_BODY: Duration = Duration::from_secs(30);

pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// CallState in front of rmcp.
pub(super) struct Guard {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    keys: Keys,
    /// What rmcp takes for our name.
    known: SocketAddr,
    /// The sessions of older clients.
    held: Mutex<HashMap<String, Session>>,
}

/// A session of an older client.
struct Session {
    owner: Principal,
    calls: Calls,
}

impl Guard {
    pub(super) fn new(
        service: StreamableHttpService<Handler, LocalSessionManager>,
        sessions: Arc<LocalSessionManager>,
        keys: Keys,
        known: SocketAddr,
    ) -> Self {
        Self { service, sessions, keys, known, held: Mutex::default() }
    }

    /// Answers a request that came to this address of ours.
    pub(super) async fn answer(&self, mut request: Request<Incoming>, at: Option<SocketAddr>) -> Answer {
        if let Some(at) = at.filter(|at| *at != self.known) {
            self.call_by_known_name(request.headers_mut(), at);
        }
        self.admitted(request).await.unwrap_or_else(|refused| *refused)
    }

    async fn admitted(&self, request: Request<Incoming>) -> Result<Answer, Box<Answer>> {
        let no = |status, why| Err(Box::new(refused(status, why)));
        let Some(principal) = self.principal(request.headers()) else {
            let mut answer =
                refused(StatusCode::UNAUTHORIZED, "send the key to this server as a bearer token");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
            return Err(Box::new(answer));
        };
        if request.uri().path() != "/mcp" {
            return no(StatusCode::NOT_FOUND, "the server is at /mcp");
        }
        if !names_one_host(&request) {
            return no(StatusCode::BAD_REQUEST, "the request names more than one host");
        }
        let session = session(request.headers());
        let calls = match session.as_ref().and_then(|session| self.held().get(session).map(Session::both)) {
            Some((owner, _)) if owner != principal => {
                return no(StatusCode::NOT_FOUND, "there is no such session");
            }
            known => known.map(|(_, calls)| calls),
        };
        if session.is_none() && request.method() == Method::POST && self.sessions_full().await {
            return no(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions");
        }
        let ends = request.method() == Method::DELETE;
        let posts = request.method() == Method::POST;
        let mut request = with_body(request, &principal).await?;
        if let (true, Some(Err(trouble))) = (posts, request.extensions().get().map(|Body(body)| is_one(body)))
        {
            return Err(Box::new(unreadable(trouble)));
        }
        let mut underway = None;
        match request.extensions().get().map_or(Said::Else, |Body(body)| said(body)) {
            Said::Asks(id) => {
                let call = underway.insert(Underway::new(id, calls.as_ref()));
                request.extensions_mut().insert(call.fate.clone());
            }
            Said::TakesBack(id) => calls.iter().for_each(|calls| calls.take_back(&id)),
            Said::Else => {}
        }
        let mut answer = self.service.handle(request).await;
        if ends && answer.status() == StatusCode::ACCEPTED {
            // The session is gone by now, and clients look for that. So is whoever waited for its calls.
            *answer.status_mut() = StatusCode::OK;
            calls.iter().for_each(Calls::take_all_back);
        }
        if let Some(session) = self::session(answer.headers()) {
            let made = || Session { owner: principal, calls: Calls::default() };
            self.held().entry(session).or_insert_with(made);
        }
        Ok(match underway {
            Some(call) => call.watching(answer),
            None => answer,
        })
    }

    /// A machine has several addresses, and rmcp is told one list of names at the start: whoever calls us by the address that
    /// they reached us at is right too. No page in a browser can do that under another site's name.
    fn call_by_known_name(&self, headers: &mut HeaderMap, at: SocketAddr) {
        for (name, scheme) in [(header::HOST, ""), (header::ORIGIN, "http://")] {
            let is_ours = headers
                .get(&name)
                .is_some_and(|value| value.as_bytes() == format!("{scheme}{at}").as_bytes());
            let only = headers.get_all(&name).iter().count() == 1;
            if let (true, Ok(ours)) = (is_ours && only, format!("{scheme}{}", self.known).parse()) {
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

    async fn sessions_full(&self) -> bool {
        let sessions = self.sessions.sessions.read().await;
        // Whose session is gone owns nothing.
        self.held().retain(|session, _| sessions.contains_key(session.as_str()));
        sessions.len() >= MOST_SESSIONS
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn both(&self) -> (Principal, Calls) {
        (self.owner.clone(), self.calls.clone())
    }
}

/// Whether all that names a host names the same one: rmcp looks at one of them.
fn names_one_host<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (first, second) = (hosts.next(), hosts.next());
    let target = request.uri().authority().map(|target| target.as_str().as_bytes());
    second.is_none() && target.is_none_or(|target| first.is_some_and(|host| host.as_bytes() == target))
}

/// The same request with its body read, for us and for rmcp.
async fn with_body(
    request: Request<Incoming>,
    principal: &Principal,
) -> Result<Request<Full<Bytes>>, Box<Answer>> {
    let no = |status, why: &str| Box::new(refused(status, why));
    let (mut parts, body) = request.into_parts();
    let read = tokio::time::timeout(SLOWEST_BODY, Limited::new(body, LONGEST_MESSAGE).collect()).await;
    let read = read.map_err(|_| no(StatusCode::REQUEST_TIMEOUT, "the message came too slowly"))?;
    let body = read.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
        Some(_) => no(StatusCode::PAYLOAD_TOO_LARGE, "the message is too long"),
        None => no(StatusCode::BAD_REQUEST, "the message broke off"),
    })?;
    let body = body.to_bytes();
    parts.extensions.insert(principal.clone());
    parts.extensions.insert(Body(body.clone()));
    Ok(Request::from_parts(parts, Full::new(body)))
}

fn session(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION)?.to_str().ok().map(str::to_owned)
}

fn refused(status: StatusCode, why: &str) -> Answer {
    answer(status, "text/plain", format!("{why}\n"))
}

/// The answer to what is no message, as one of the protocol.
fn unreadable(trouble: Trouble) -> Answer {
    let Trouble { id, error } = trouble;
    let message = serde_json::to_string(&TxJsonRpcMessage::<RoleServer>::error(*error, id));
    answer(StatusCode::BAD_REQUEST, "application/json", message.unwrap_or_default())
}

fn answer(status: StatusCode, kind: &'static str, body: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    answer
}
