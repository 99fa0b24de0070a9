//! Streamable HTTP: the same server for clients that are not our parent.
//!
//! rmcp answers at `/mcp`. In front of it stands what it leaves to others: who has no key is let in nowhere, and nobody gets
//! at a session that another key opened. `Host` and `Origin` are checked, so that a page in a browser can't reach us under
//! some other name.

mod guard;
mod listener;
mod underway;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::Offer;
use crate::handler::Handler;
use crate::limits::{IDLE_SESSION, LONGEST_MESSAGE, MOST_CONNECTIONS, SLOWEST_HEAD};
use crate::token::{Keys, KeysError};
use guard::Guard;
pub use listener::Address;

/// Why there is no server.
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

/// A server that listens, and what a client needs to know about it.
#[derive(Debug)]
pub struct Listening {
    /// Where it is.
    pub url: String,
    /// The file with the keys to it.
    pub keys: PathBuf,
}

/// Serves whoever has a key, until a signal ends it. `begun` is called when clients can come.
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
    let guard = Arc::new(guard(handler, keys, address, ended.clone()));
    begun(&Listening { url: format!("http://{address}/mcp"), keys: file });
    let (mut terminated, mut interrupted) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        () = accept(listener, guard) => {}
        _ = terminated.recv() => {}
        _ = interrupted.recv() => {}
    }
    ended.cancel();
    Ok(())
}

fn guard(handler: Handler, keys: Keys, address: SocketAddr, ended: CancellationToken) -> Guard {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(IDLE_SESSION);
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
        .with_max_request_body_bytes(LONGEST_MESSAGE)
        .with_cancellation_token(ended);
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions.clone(), config);
    Guard::new(service, sessions, keys, SocketAddr::from(([127, 0, 0, 1], address.port())))
}

async fn accept(listener: tokio::net::TcpListener, guard: Arc<Guard>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        // Who comes when all places are taken waits in the system's queue.
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // No descriptor left, most likely: some will be given back.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (guard, at) = (guard.clone(), stream.local_addr().ok());
        tokio::spawn(async move {
            let answer = |request| {
                let guard = guard.clone();
                async move { Ok::<_, std::convert::Infallible>(guard.answer(request, at).await) }
            };
            // A client that breaks off is no trouble of ours.
            let _ = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(SLOWEST_HEAD)
                .serve_connection(TokioIo::new(stream), hyper::service::service_fn(answer))
                .await;
            drop(place);
        });
    }
}
