//! Streamable HTTP: the same server for clients that are not our parent process.
//!
//! rmcp answers at `/mcp`. The [`Guard`] in front of it checks what rmcp doesn't: every request needs a key, and a session
//! is open only to the key that made it. rmcp checks `Host` and `Origin`, so that a page in a browser can't reach the
//! server under another name.

mod address;
mod guard;
mod key_use;
mod open_calls;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::Offer;
use crate::handler::Handler;
use crate::keys::{Keys, KeysError};
use crate::limits::{HTTP_HEAD_TIMEOUT, HTTP_SESSION_IDLE_TIMEOUT, MAX_HTTP_CONNECTIONS, MAX_MESSAGE_BYTES};
pub use address::Address;
use guard::Guard;

/// Pause after a connection could not be accepted.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Why the server can't start.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each says it itself")]
pub enum HttpError {
    #[error("`{address}` can't be listened on: {error}")]
    Address { address: SocketAddr, error: io::Error },
    #[error(transparent)]
    Keys(#[from] KeysError),
    #[error("the server can't start: {0}")]
    Runtime(#[from] io::Error),
}

/// A listening server, and what its clients need.
#[derive(Debug)]
pub struct Listening {
    /// Its address.
    pub url: String,
    /// The file with its keys.
    pub keys: PathBuf,
}

/// Serves every client with a key, until a signal ends it. Calls `begun` when clients can connect.
///
/// # Errors
/// When the address is taken, or the keys can't be read or written.
pub fn serve_http(offer: Offer, address: Address, begun: impl FnOnce(&Listening)) -> Result<(), HttpError> {
    let runtime = crate::runtime()?;
    let served = runtime.block_on(serve(offer, address.0, begun));
    runtime.shutdown_background();
    served
}

async fn serve(offer: Offer, address: SocketAddr, begun: impl FnOnce(&Listening)) -> Result<(), HttpError> {
    use tokio::signal::unix::{SignalKind, signal};
    let keys = Keys::open(offer.gate.state_folder())?;
    let file = keys.file().to_owned();
    let listener = tokio::net::TcpListener::bind(address).await;
    let listener = listener.map_err(|error| HttpError::Address { address, error })?;
    let address = listener.local_addr()?;
    let ended = CancellationToken::new();
    let handler = Handler::new(offer);
    crate::tidy_soon(handler.gate());
    let guard = Arc::new(guard(handler.clone(), keys, address, ended.clone()));
    info!(%address, "listens");
    begun(&Listening { url: format!("http://{address}/mcp"), keys: file });
    let (mut terminated, mut interrupted) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        () = accept(listener, guard) => {}
        _ = terminated.recv() => info!("asked to exit"),
        _ = interrupted.recv() => info!("interrupted"),
    }
    ended.cancel();
    handler.wind_down().await;
    Ok(())
}

fn guard(handler: Handler, keys: Keys, address: SocketAddr, ended: CancellationToken) -> Guard {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(HTTP_SESSION_IDLE_TIMEOUT);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = config;
    let sessions = Arc::new(sessions);
    let names =
        ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned(), address.ip().to_string()];
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(names.iter().map(|name| format!("{name}:{}", address.port())))
        .with_allowed_origins(names.iter().map(|name| format!("http://{name}:{}", address.port())))
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_MESSAGE_BYTES)
        .with_cancellation_token(ended);
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions.clone(), config);
    Guard::new(service, sessions, keys, SocketAddr::from(([127, 0, 0, 1], address.port())))
}

async fn accept(listener: tokio::net::TcpListener, guard: Arc<Guard>) {
    let permits = Arc::new(Semaphore::new(MAX_HTTP_CONNECTIONS));
    loop {
        // While there are too many connections, new ones wait in the system's queue.
        let Ok(permit) = permits.clone().acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Most likely no descriptor is free. Other connections will close theirs.
                warn!(%error, "a connection can't be accepted");
                tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await;
                continue;
            }
        };
        // Without it answers are only later.
        let _ = stream.set_nodelay(true);
        let (guard, local) = (guard.clone(), stream.local_addr().ok());
        tokio::spawn(async move {
            let answer = |request| {
                let guard = guard.clone();
                async move { Ok::<_, std::convert::Infallible>(guard.answer(request, local).await) }
            };
            // An error is a client that closes the connection early.
            let _ = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HTTP_HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(stream), hyper::service::service_fn(answer))
                .await;
            drop(permit);
        });
    }
}
