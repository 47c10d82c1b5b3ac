//! Straight to the origin over pooled HTTP/1.1, plain or TLS.
//!
//! Connections are kept as generously as searches come in parallel, so that a busy pool of instances costs no new
//! handshakes. The idle time stays below what common servers and proxies allow (60 s and more): we hang up first, and a
//! request seldom meets a connection that is being closed at the other end. Where it does, and the origin's pass says that
//! a second request costs nobody anything, it goes out once more.
//!
//! The whole exchange lies between one deadline and two caps: no reply, however slow or large, holds more than its limit
//! of memory or lives longer than its search.

use std::cell::Cell;
use std::error::Error;
use std::io::{self, Read};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, select};
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH};
use http::uri::Scheme;
use http::{HeaderMap, HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
#[expect(clippy::disallowed_types, reason = "this is the door through which requests leave")]
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use percent_encoding::percent_decode_str;
use tokio::net::TcpStream;
use tower_service::Service;
use url::Url;

use super::guard::{Blocked, BoxError, Guard, GuardedConnector, Pass, Resolver, SystemResolver, Unresolved};
use super::{Egress, EgressError, FailureKind, Incoming, Limits, Outgoing, Sent};
use crate::clock::Clock;

/// What we can decode. The instances' limiter asks for one of the two as well (`pool.md`, the limiter in numbers).
const ENCODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate");

/// The largest head of a reply; also how much of a body is read at once.
const HEAD: usize = 64 * 1024;

/// More encodings than this, one around the other, are nobody's honest reply.
const ENCODING_LAYERS: usize = 2;

/// How often one request may meet a kept connection that was just being closed.
const RESENDS: usize = 2;

tokio::task_local! {
    /// Whether a connection was opened for the request at hand: then what fails is no stale connection.
    static DIALLED: Cell<bool>;
}

/// How connections are kept.
#[derive(Clone, Copy, Debug)]
pub struct DirectSettings {
    /// Idle connections kept for each origin.
    pub idle_per_origin: usize,
    /// How long a connection may be idle before it is closed.
    pub idle_timeout: Duration,
    /// The longest wait for TCP over all addresses of a name, in equal parts, so that one dead address leaves time for
    /// the next. A request's own limit for connecting applies as well.
    pub connect_timeout: Duration,
}

impl Default for DirectSettings {
    fn default() -> Self {
        Self { idle_per_origin: 256, idle_timeout: Duration::from_secs(50), connect_timeout: Limits::CONNECT }
    }
}

/// The way out over the network. Clones share the connections and the guard.
#[derive(Clone)]
pub struct Direct {
    #[expect(clippy::disallowed_types, reason = "this is the door through which requests leave")]
    client: Client<Dialler, Full<Bytes>>,
    guard: Arc<ArcSwap<Guard>>,
    clock: Clock,
}

impl Direct {
    /// Opens the way out for what `guard` allows.
    pub fn new(settings: &DirectSettings, clock: Clock, guard: Guard) -> Self {
        Self::with_resolver(settings, clock, guard, &(Arc::new(SystemResolver) as Arc<dyn Resolver>))
    }

    /// As [`Direct::new`], with names looked up by `resolver`.
    #[expect(clippy::disallowed_types, reason = "this is the door through which requests leave")]
    pub fn with_resolver(
        settings: &DirectSettings,
        clock: Clock,
        guard: Guard,
        resolver: &Arc<dyn Resolver>,
    ) -> Self {
        let guard = Arc::new(ArcSwap::from_pointee(guard));
        let tcp = GuardedConnector::new(Arc::clone(&guard), resolver, settings.connect_timeout);
        // The executor drives connections only; each ends with its client or its peer.
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(settings.idle_per_origin)
            .pool_idle_timeout(settings.idle_timeout)
            .http1_max_buf_size(HEAD)
            // Foreign heads are read as browsers read them; a line we cannot use is not a reason to lose the page.
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .build(Dialler { tcp, tls: Arc::default() });
        Self { client, guard, clock }
    }

    /// Replaces the guard: requests and connections from now on obey the new one.
    pub fn set_guard(&self, guard: Guard) {
        self.guard.store(Arc::new(guard));
    }

    async fn exchange(&self, request: Outgoing, limits: Limits) -> Result<Incoming, EgressError> {
        let url = request.url.clone();
        let fail = |kind, sent| EgressError::new(kind, sent, &url);

        if self.clock.now() >= limits.deadline {
            return Err(fail(FailureKind::Timeout, Sent::No));
        }
        let (request, resends) = {
            let guard = self.guard.load();
            let pass =
                guard.pass(&url).map_err(|blocked| fail(FailureKind::Blocked, Sent::No).because(blocked))?;
            let resends = if pass.resend && request.method.is_idempotent() { RESENDS } else { 0 };
            let request = write(request, pass)
                .map_err(|error| fail(FailureKind::BadRequest, Sent::No).because(error))?;
            (request, resends)
        };
        let response = self.respond_at_last(request, resends, &limits, &url).await?;

        let (head, body) = response.into_parts();
        let reading = collect(body, limits.body);
        let body = match self.clock.before(limits.deadline, reading).await {
            None => return Err(fail(FailureKind::Timeout, Sent::Maybe)),
            Some(Err(Unread::TooLarge)) => return Err(fail(FailureKind::BodyTooLarge, Sent::Maybe)),
            Some(Err(Unread::Broken(error))) => {
                return Err(fail(kind_of(&error, FailureKind::Reset), Sent::Maybe).because(error));
            }
            Some(Ok(body)) => body,
        };

        let mut headers = head.headers;
        let body = decode(body, &headers, limits.body).map_err(|error| match error {
            Undecoded::TooLarge => fail(FailureKind::BodyTooLarge, Sent::Maybe),
            Undecoded::Broken(error) => fail(FailureKind::Decode, Sent::Maybe).because(error),
        })?;
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
        Ok(Incoming { status: head.status, headers, body })
    }

    /// Waits for the head of the reply; if a kept connection ends before it, once more on another.
    async fn respond_at_last(
        &self,
        request: Request<Full<Bytes>>,
        resends: usize,
        limits: &Limits,
        url: &Url,
    ) -> Result<Response<hyper::body::Incoming>, EgressError> {
        let mut left = resends;
        loop {
            let attempt = async {
                let response = self.respond(request.clone(), limits, url).await;
                (response, DIALLED.with(Cell::get))
            };
            match DIALLED.scope(Cell::new(false), attempt).await {
                (Err(error), false) if left > 0 && error.kind == FailureKind::Reset => left -= 1,
                (Err(mut error), _) => {
                    if left < resends {
                        error.sent = Sent::Maybe; // the one before
                    }
                    return Err(error);
                }
                (response, _) => return response,
            }
        }
    }

    /// Finds a connection within its own limit, then waits for the head of the reply.
    async fn respond(
        &self,
        mut request: Request<Full<Bytes>>,
        limits: &Limits,
        url: &Url,
    ) -> Result<Response<hyper::body::Incoming>, EgressError> {
        let fail = |kind, sent| EgressError::new(kind, sent, url);
        let mut connection = capture_connection(&mut request);
        let watch = connection.clone();
        let sent = || if watch.connection_metadata().is_some() { Sent::Maybe } else { Sent::No };
        let mut response = pin!(self.client.request(request));

        let connect_by = limits.deadline.min(self.clock.now() + limits.connect);
        let connected = pin!(async { drop(connection.wait_for_connection_metadata().await) });
        let early = match self.clock.before(connect_by, select(response.as_mut(), connected)).await {
            Some(Either::Left((response, _))) => Some(response),
            Some(Either::Right(_)) => None,
            None if sent() == Sent::Maybe => None,
            None => return Err(fail(FailureKind::Timeout, Sent::No)),
        };
        let response = match early {
            Some(response) => response,
            None => match self.clock.before(limits.deadline, response).await {
                Some(response) => response,
                None => return Err(fail(FailureKind::Timeout, sent())),
            },
        };
        response.map_err(|error| {
            if error.is_connect() {
                fail(kind_of(&error, FailureKind::Connect), Sent::No).because(error)
            } else {
                fail(kind_of(&error, FailureKind::Protocol), sent()).because(error)
            }
        })
    }
}

impl Egress for Direct {
    fn send(&self, request: Outgoing, limits: Limits) -> BoxFuture<'_, Result<Incoming, EgressError>> {
        self.exchange(request, limits).boxed()
    }
}

/// Opens plain and TLS connections. TLS is set up with the first that needs it: reading the roots takes milliseconds and
/// megabytes, and a gateway before instances of its own house needs none.
#[derive(Clone)]
struct Dialler {
    tcp: GuardedConnector,
    tls: Arc<OnceLock<HttpsConnector<GuardedConnector>>>,
}

impl Service<Uri> for Dialler {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(())) // as is the connector below
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let _ = DIALLED.try_with(|dialled| dialled.set(true)); // outside a scope nobody asks
        if to.scheme() == Some(&Scheme::HTTPS) {
            self.tls.get_or_init(|| with_tls(self.tcp.clone())).clone().call(to)
        } else {
            let connecting = self.tcp.call(to);
            async move { Ok(MaybeHttpsStream::Http(connecting.await?)) }.boxed()
        }
    }
}

/// TLS 1.2 and 1.3 with the system's roots, so that a private authority works as everywhere on the machine; with the
/// built-in ones where the system has none (a bare container).
fn with_tls(tcp: GuardedConnector) -> HttpsConnector<GuardedConnector> {
    let provider = rustls::crypto::ring::default_provider;
    let builder = match HttpsConnectorBuilder::new().with_provider_and_native_roots(provider()) {
        Ok(builder) => builder,
        Err(error) => {
            tracing::info!(%error, "no system roots, using the built-in ones");
            HttpsConnectorBuilder::new()
                .with_provider_and_webpki_roots(provider())
                .expect("ring supports the default protocol versions")
        }
    };
    builder.https_only().enable_http1().wrap_connector(tcp)
}

fn write(request: Outgoing, pass: &Pass) -> Result<Request<Full<Bytes>>, http::Error> {
    let Outgoing { method, mut url, mut headers, body } = request;
    if let Some(basic) = basic_credentials(&url) {
        headers.entry(AUTHORIZATION).or_insert(basic);
    }
    for (name, value) in &pass.credentials {
        headers.entry(name).or_insert_with(|| value.clone());
    }
    headers.insert(ACCEPT_ENCODING, ENCODINGS);
    // Neither fails for http and https, the only schemes the guard lets through.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    let uri: Uri = url.as_str().parse()?;
    let mut request = Request::builder().method(method).uri(uri).body(Full::new(body))?;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Userinfo as RFC 7617 credentials.
fn basic_credentials(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut pair: Vec<u8> = percent_decode_str(url.username()).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(url.password().unwrap_or_default()));
    let mut value = HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

enum Unread {
    TooLarge,
    Broken(hyper::Error),
}

/// Reads a body to its end into one buffer of its own, so that what is kept of it later pins no read buffers.
async fn collect(mut body: hyper::body::Incoming, cap: usize) -> Result<Bytes, Unread> {
    // A length that does not fit our words does not fit the cap either.
    let announced = body.size_hint().exact().map(|length| usize::try_from(length).unwrap_or(usize::MAX));
    if announced.is_some_and(|length| length > cap) {
        return Err(Unread::TooLarge);
    }
    // Memory follows what arrives, not what is announced.
    let mut whole = Vec::with_capacity(announced.unwrap_or(0).min(HEAD));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(Unread::Broken)?.into_data() else { continue };
        if data.len() > cap - whole.len() {
            return Err(Unread::TooLarge);
        }
        whole.extend_from_slice(&data);
    }
    whole.shrink_to_fit();
    Ok(whole.into())
}

#[derive(Debug)]
enum Undecoded {
    TooLarge,
    Broken(io::Error),
}

/// Takes the content encodings off, the last applied first. An empty body is empty in every encoding.
fn decode(body: Bytes, headers: &HeaderMap, cap: usize) -> Result<Bytes, Undecoded> {
    if body.is_empty() || !headers.contains_key(CONTENT_ENCODING) {
        return Ok(body);
    }
    let mut names = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        let value = value.to_str().map_err(|_| unknown("not text"))?;
        names.extend(value.split(',').map(|name| name.trim().to_ascii_lowercase()));
    }
    names.retain(|name| !name.is_empty() && name != "identity");
    if names.len() > ENCODING_LAYERS {
        return Err(unknown("too many"));
    }
    let mut body = body;
    for name in names.iter().rev() {
        let mut plain = Vec::new();
        match name.as_str() {
            "gzip" | "x-gzip" => gunzip(&body, &mut plain, cap)?,
            "deflate" if is_zlib(&body) => read_capped(&mut ZlibDecoder::new(&body[..]), &mut plain, cap)?,
            "deflate" => read_capped(&mut DeflateDecoder::new(&body[..]), &mut plain, cap)?,
            _ => return Err(unknown("never asked for")),
        }
        plain.shrink_to_fit();
        body = plain.into();
    }
    Ok(body)
}

/// Decodes one gzip member after another; what follows the last and is none is padding, as every browser sees it.
fn gunzip(mut rest: &[u8], plain: &mut Vec<u8>, cap: usize) -> Result<(), Undecoded> {
    loop {
        let mut member = GzDecoder::new(rest);
        read_capped(&mut member, plain, cap)?;
        rest = member.into_inner();
        if !rest.starts_with(&[0x1f, 0x8b]) {
            return Ok(());
        }
    }
}

fn read_capped(from: &mut impl Read, plain: &mut Vec<u8>, cap: usize) -> Result<(), Undecoded> {
    let room = (cap - plain.len()) as u64;
    from.take(room + 1).read_to_end(plain).map_err(Undecoded::Broken)?;
    if plain.len() > cap { Err(Undecoded::TooLarge) } else { Ok(()) }
}

/// Servers disagree on what `deflate` means; the two bytes of a zlib header tell (RFC 1950, 2.2).
fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [a, b, ..] if a & 0x0f == 8 && u16::from_be_bytes([*a, *b]).is_multiple_of(31))
}

fn unknown(what: &str) -> Undecoded {
    Undecoded::Broken(io::Error::new(io::ErrorKind::InvalidData, format!("content encoding: {what}")))
}

/// Finds the most telling cause in an error's chain.
fn kind_of(error: &(dyn Error + 'static), otherwise: FailureKind) -> FailureKind {
    let mut kind = otherwise;
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<Blocked>() {
            return FailureKind::Blocked;
        }
        if error.is::<Unresolved>() {
            return FailureKind::Resolve;
        }
        if error.is::<rustls::Error>() {
            return FailureKind::Tls;
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            if error.is_parse() {
                return FailureKind::Protocol;
            }
            if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
                kind = FailureKind::Reset;
            }
        }
        // An I/O error hides the error inside it from its chain; TLS failures come that way.
        let inside = error.downcast_ref::<io::Error>().and_then(|error| {
            if error.kind() == io::ErrorKind::TimedOut {
                kind = FailureKind::Timeout;
            } else if otherwise != FailureKind::Connect {
                kind = FailureKind::Reset;
            }
            error.get_ref()
        });
        cause = match inside {
            Some(inside) => Some(inside),
            None => error.source(),
        };
    }
    kind
}
