//! The promise of every way out: carry one bounded request to its origin and bring the whole reply back before a
//! deadline.
//!
//! Egress carries, it does not judge: any status is a reply, a redirect is a reply (none is ever followed), and whether
//! to try again is for the caller. What it does promise is that nothing about the far side can hurt: time, size and
//! destination are bounded here and nowhere else.
//!
//! An error says whether the request may have left ([`Sent`]): a paid call that may have been charged is settled in
//! full, one that certainly was not is released.

pub mod direct;
pub mod guard;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use gleaner_core::instant::Instant;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

/// Carries one request out and brings its reply back.
pub trait Egress: Send + Sync {
    /// Sends `request` and resolves with the complete reply, or an error, no later than `limits.deadline`.
    ///
    /// At most one request is written for one call, unless the origin's pass allows more after a lost keep-alive race
    /// ([`guard::Pass::resend`]); none after the deadline. Dropping the future abandons the exchange: the connection is
    /// closed if the reply was still out, and goes back to the pool if nothing had been written on it.
    fn send(&self, request: Outgoing, limits: Limits) -> BoxFuture<'_, Result<Incoming, EgressError>>;
}

/// A request as it should leave.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The verb.
    pub method: Method,
    /// Where to; the fragment stays here and userinfo becomes basic credentials.
    pub url: Url,
    /// Headers to send. `Accept-Encoding` is replaced by what egress can decode.
    pub headers: HeaderMap,
    /// The body; empty for none.
    pub body: Bytes,
}

/// What one exchange may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// When the reply must be complete. A reply that is complete at the deadline counts.
    pub deadline: Instant,
    /// The longest wait for a connection: name, TCP and TLS together.
    pub connect: Duration,
    /// The largest body in bytes, counted before and after decompression.
    pub body: usize,
}

impl Limits {
    /// The default of `body`: 4 MiB.
    pub const BODY: usize = 4 * 1024 * 1024;
    /// The default of `connect`: 2 s.
    pub const CONNECT: Duration = Duration::from_secs(2);

    /// Returns the default limits up to a deadline.
    pub const fn until(deadline: Instant) -> Self {
        Self { deadline, connect: Self::CONNECT, body: Self::BODY }
    }
}

/// A complete reply, whatever its status.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The status as it came.
    pub status: StatusCode,
    /// The headers, without those that described the encoded body (`Content-Encoding`, `Content-Length`).
    pub headers: HeaderMap,
    /// The whole body, decoded.
    pub body: Bytes,
}

/// Whether the far side may have seen the request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sent {
    /// Not one byte of it left.
    No,
    /// It may have arrived, and may have been charged.
    Maybe,
}

/// What went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FailureKind {
    /// The destination is not allowed; ours to fix, never the far side's fault.
    Blocked,
    /// The request cannot be written as HTTP; ours to fix.
    BadRequest,
    /// The name did not resolve.
    Resolve,
    /// No TCP connection: refused, unreachable, reset at once.
    Connect,
    /// The TLS handshake or session failed.
    Tls,
    /// The deadline, or the limit for connecting, came first.
    Timeout,
    /// The connection ended before the reply was complete.
    Reset,
    /// The reply is not HTTP.
    Protocol,
    /// The body is larger than the limit, on the wire or decoded.
    BodyTooLarge,
    /// The body's compression is broken, cut short or unknown.
    Decode,
}

impl FailureKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "destination not allowed",
            Self::BadRequest => "request cannot be sent",
            Self::Resolve => "name does not resolve",
            Self::Connect => "cannot connect",
            Self::Tls => "tls failed",
            Self::Timeout => "timed out",
            Self::Reset => "connection ended before the reply was complete",
            Self::Protocol => "reply is not http",
            Self::BodyTooLarge => "reply is too large",
            Self::Decode => "reply cannot be decompressed",
        }
    }
}

/// A request that brought no complete reply.
///
/// Its text names the origin only: no path, query, userinfo or header is ever in it.
#[derive(Debug)]
pub struct EgressError {
    /// What went wrong.
    pub kind: FailureKind,
    /// Whether the request may have left.
    pub sent: Sent,
    /// Scheme, host and port that were asked.
    pub origin: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl EgressError {
    /// Describes a failure at the origin of `url`.
    pub fn new(kind: FailureKind, sent: Sent, url: &Url) -> Self {
        Self { kind, sent, origin: url.origin().ascii_serialization(), source: None }
    }

    /// Keeps what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for EgressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.kind.as_str())?;
        match (self.kind, self.sent) {
            (FailureKind::Timeout, Sent::No) => f.write_str(" while connecting"),
            (FailureKind::Timeout, Sent::Maybe) => f.write_str(" waiting for the reply"),
            _ => Ok(()),
        }
    }
}

impl Error for EgressError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
