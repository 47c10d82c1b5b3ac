//! One scripted server.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::page::{degraded_empty, empty, html_page, page};

/// How an upstream behaves to searches.
#[derive(Clone, Debug)]
pub enum Mood {
    /// SearXNG's JSON with this many hits about the question.
    Healthy(usize),
    /// The same, after a while.
    Slow(Duration, usize),
    /// Takes the request and never answers.
    Hang,
    /// Sends a head and then one byte every 20 ms for ever.
    Drip,
    /// This status, these headers, this body.
    Respond(u16, Vec<(&'static str, String)>, String),
    /// A true zero.
    Empty,
    /// No results, and engines that failed.
    DegradedEmpty,
    /// 403 for JSON, HTML with this many hits otherwise.
    HtmlOnly(usize),
    /// A body of this many bytes of JSON string.
    Huge(usize),
    /// Closes the connection without an answer.
    Close,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The verb.
    pub method: Method,
    /// The path.
    pub path: String,
    /// The query string, as sent.
    pub query: String,
    /// The headers.
    pub headers: HeaderMap,
}

impl Seen {
    /// The decoded value of a parameter of the query string.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let url = url::Url::parse(&format!("http://x/?{}", self.query)).ok()?;
        url.query_pairs().find(|(other, _)| other == name).map(|(_, value)| value.into_owned())
    }
}

#[derive(Debug)]
struct Shared {
    mood: Mutex<Mood>,
    script: Mutex<Vec<Mood>>,
    seen: Mutex<Vec<Seen>>,
    /// Searches being answered, and the most there were at once.
    busy: Mutex<(usize, usize)>,
}

/// One search being answered.
struct Busy<'a>(&'a Shared);

impl<'a> Busy<'a> {
    fn enter(shared: &'a Shared) -> Self {
        let mut busy = shared.busy.lock();
        busy.0 += 1;
        busy.1 = busy.1.max(busy.0);
        Self(shared)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.lock().0 -= 1;
    }
}

/// A real HTTP server on a free loopback port. Dropping it stops it at once, connections included.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Upstream {
    /// Starts a server in a mood.
    ///
    /// # Panics
    ///
    /// When no loopback port can be had.
    pub async fn start(mood: Mood) -> Self {
        Self::start_at(mood, 0).await
    }

    /// Starts a server at a given port.
    ///
    /// # Panics
    ///
    /// When the port is taken.
    #[expect(clippy::disallowed_methods, reason = "a test's server ends with the test")]
    pub async fn start_at(mood: Mood, port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("a loopback port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            mood: Mutex::new(mood),
            script: Mutex::default(),
            seen: Mutex::default(),
            busy: Mutex::default(),
        });
        let task = tokio::task::spawn(serve(listener, Arc::clone(&shared)));
        Self { address, shared, task }
    }

    /// Its base address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Stops it and waits until its port is free again.
    pub async fn stop(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }

    /// Changes how it behaves from the next request on.
    pub fn set(&self, mood: Mood) {
        *self.shared.mood.lock() = mood;
    }

    /// Moods for the next searches, one each, before the lasting mood goes on.
    pub fn script(&self, moods: impl IntoIterator<Item = Mood>) {
        let mut moods: Vec<Mood> = moods.into_iter().collect();
        moods.reverse();
        *self.shared.script.lock() = moods;
    }

    /// The searches it has seen, in order.
    pub fn searches(&self) -> Vec<Seen> {
        self.shared.seen.lock().iter().filter(|seen| seen.path.ends_with("/search")).cloned().collect()
    }

    /// The most searches it was answering at once.
    pub fn peak(&self) -> usize {
        self.shared.busy.lock().1
    }

    /// Every request it has seen, in order.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.seen.lock().clone()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this future, and with it every connection.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        let service = service_fn(move |request| {
            let shared = Arc::clone(&shared);
            async move { answer(&shared, &request).await }
        });
        connections.spawn(async move {
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

type Reply = Response<BoxBody<Bytes, Infallible>>;

/// An error closes the connection without an answer.
async fn answer(shared: &Shared, request: &Request<Incoming>) -> Result<Reply, std::io::Error> {
    let uri = request.uri();
    let seen = Seen {
        method: request.method().clone(),
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        headers: request.headers().clone(),
    };
    shared.seen.lock().push(seen.clone());
    if seen.path.ends_with("/config") {
        return Ok(respond(200, &[], CONFIG.to_owned()));
    }
    if !seen.path.ends_with("/search") {
        return Ok(respond(404, &[], String::new()));
    }
    let _busy = Busy::enter(shared);
    let mood = shared.script.lock().pop().unwrap_or_else(|| shared.mood.lock().clone());
    let words = seen.parameter("q").unwrap_or_default();
    let wants_json = seen.parameter("format").as_deref() == Some("json");
    Ok(match mood {
        Mood::Healthy(hits) => respond(200, &[], page(&words, hits)),
        Mood::Slow(wait, hits) => {
            tokio::time::sleep(wait).await;
            respond(200, &[], page(&words, hits))
        }
        Mood::Hang => std::future::pending().await,
        Mood::Drip => drip(),
        Mood::Respond(status, headers, body) => respond(status, &headers, body),
        Mood::Empty => respond(200, &[], empty(&words)),
        Mood::DegradedEmpty => respond(200, &[], degraded_empty(&words)),
        Mood::HtmlOnly(_) if wants_json => respond(403, &[], "<html>403 Forbidden</html>".to_owned()),
        Mood::HtmlOnly(hits) => respond(200, &[], html_page(&words, hits)),
        Mood::Huge(bytes) => {
            respond(200, &[], format!(r#"{{"query": "{}", "results": []}}"#, "x".repeat(bytes)))
        }
        Mood::Close => return Err(std::io::Error::other("closed by the mood")),
    })
}

fn respond(status: u16, headers: &[(&'static str, String)], body: String) -> Reply {
    let is_html = body.starts_with('<');
    let mut reply = Response::new(Full::new(Bytes::from(body)).boxed());
    *reply.status_mut() = StatusCode::from_u16(status).expect("a test gives a real status");
    let content_type = if is_html { "text/html; charset=utf-8" } else { "application/json" };
    reply.headers_mut().insert("content-type", content_type.parse().expect("a constant"));
    for (name, value) in headers {
        reply.headers_mut().insert(*name, value.parse().expect("a test gives a real header"));
    }
    reply
}

fn drip() -> Reply {
    let drops = futures_util::stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Some((Ok(Frame::data(Bytes::from_static(b" "))), ()))
    });
    Response::new(StreamBody::new(drops).boxed())
}

const CONFIG: &str = r#"{"categories": ["general"], "engines": [{"name": "stub", "categories": ["general", "web"],
"enabled": true, "shortcut": "st", "timeout": 3.0, "paging": true}], "limiter": {"enabled": false}, "version": "stub"}"#;
