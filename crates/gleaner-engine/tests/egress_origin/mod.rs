//! A raw origin: what it writes is what the tests say, HTTP or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use url::Url;

/// Serves on a loopback port until dropped; then its connections end.
pub(crate) struct Origin {
    pub(crate) url: Url,
    connections: Arc<AtomicUsize>,
    open: watch::Receiver<usize>,
    requests: mpsc::UnboundedReceiver<String>,
    _serving: JoinSet<()>,
}

impl Origin {
    /// Gives each connection, with its number, to `serve`.
    pub(crate) async fn start<F, S>(serve: F) -> Self
    where
        F: Fn(TcpStream, usize) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        Self::serving(move |stream, number, _| serve(stream, number)).await
    }

    /// Answers every request on every connection with the same bytes.
    pub(crate) async fn replying(reply: &[u8]) -> Self {
        let reply: Arc<[u8]> = reply.into();
        Self::serving(move |mut stream, _, seen| {
            let reply = Arc::clone(&reply);
            async move {
                while let Some(request) = read_request(&mut stream).await {
                    let _ = seen.send(request);
                    if stream.write_all(&reply).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    /// Reads and never answers.
    pub(crate) async fn silent() -> Self {
        Self::start(|mut stream, _| async move { while read_request(&mut stream).await.is_some() {} }).await
    }

    async fn serving<F, S>(serve: F) -> Self
    where
        F: Fn(TcpStream, usize, mpsc::UnboundedSender<String>) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let address = listener.local_addr().expect("bound");
        let connections = Arc::new(AtomicUsize::new(0));
        let (is_open, open) = watch::channel(0);
        let (seen, requests) = mpsc::unbounded_channel();
        let counter = Arc::clone(&connections);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut streams = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let served = serve(stream, counter.fetch_add(1, Ordering::SeqCst), seen.clone());
                is_open.send_modify(|open| *open += 1);
                let is_open = is_open.clone();
                streams.spawn(async move {
                    served.await;
                    is_open.send_modify(|open| *open -= 1);
                });
            }
        });
        let url = Url::parse(&format!("http://{address}/")).expect("a URL");
        Self { url, connections, open, requests, _serving: serving }
    }

    /// How many connections have been accepted.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The next request as it came over the wire.
    pub(crate) async fn request(&mut self) -> String {
        self.requests.recv().await.expect("the origin serves")
    }

    /// Waits until every connection has been closed by the origin.
    pub(crate) async fn all_closed(&self) {
        self.open.clone().wait_for(|open| *open == 0).await.expect("the origin serves");
    }
}

/// Reads one request, body included; `None` if the peer hung up.
pub(crate) async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&read[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if read.len() >= end + 4 + length.unwrap_or(0) {
                return String::from_utf8(read).ok();
            }
        }
        if stream.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    }
}
