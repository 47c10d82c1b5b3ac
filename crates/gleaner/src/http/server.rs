//! The listening side: accepts connections, bounds them, and drains them at the end.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Bounds of the listening side.
#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// Bytes of a request's head.
    pub head: usize,
    /// Connections served at once; further ones wait in the kernel's queue.
    pub connections: usize,
    /// How long a client may take to send a request's head.
    pub head_timeout: Duration,
    /// How long a connection without a request is kept open.
    pub idle_timeout: Duration,
    /// How long what runs may take to finish once the gateway is told to stop.
    pub drain: Duration,
}

/// Answers one request. Implemented by the routes.
pub trait Answer: Send + Sync + 'static {
    /// The answer to `request`; every failure is a response.
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Response<Full<Bytes>>> + Send;
}

/// Serves `door` on `listener` until `stop` is cancelled, then finishes what runs for at most `limits.drain`.
///
/// Dropping the future closes the listener and abandons the connections.
pub async fn serve<A: Answer>(
    listener: TcpListener,
    door: Arc<A>,
    limits: ServerLimits,
    stop: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let connections = TaskTracker::new();
    while let Some((stream, place)) = next(&listener, &places, &stop).await {
        // Answers are written whole; waiting for more to send with them would only delay them.
        let _ = stream.set_nodelay(true);
        connections.spawn(connection(stream, Arc::clone(&door), limits.clone(), stop.clone(), place));
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(limits.drain, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "connections were still open after the drain time");
    }
}

/// The next connection and its place; `None` once it is time to stop.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    stop: &CancellationToken,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    loop {
        let place = stop.run_until_cancelled(Arc::clone(places).acquire_owned()).await?.ok()?;
        match stop.run_until_cancelled(listener.accept()).await? {
            Ok((stream, _peer)) => return Some((stream, place)),
            Err(error) => {
                // Out of descriptors, or a connection that was gone before we took it: let others finish, then go on.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn connection<A: Answer>(
    stream: TcpStream,
    door: Arc<A>,
    limits: ServerLimits,
    stop: CancellationToken,
    _place: OwnedSemaphorePermit,
) {
    let service = service_fn(move |request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(limits.head.max(8 * 1024))
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended early");
    }
}
