//! Where requests may go, and with whose credentials.
//!
//! Nothing is allowed that was not named: a request to any other origin is refused before a name is looked up. An origin
//! of the user's own choice may be anywhere; one that came from a public directory must not lead into the private net
//! ([`Reach::Public`]). That is checked on the very addresses about to be connected to, not on an earlier look-up that a
//! second answer of the name server could contradict.
//!
//! Credentials belong to one origin and are added for that origin only. As redirects are never followed, there is no
//! other way for them to travel.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;
use url::{Host, Origin, Url};

/// How far an origin's addresses may lead.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Reach {
    /// Only to addresses that are public on the internet.
    #[default]
    Public,
    /// Also to this machine and the private nets around it.
    Anywhere,
}

/// What one origin may be reached with.
#[derive(Clone, Default, Debug)]
pub struct Pass {
    /// How far its addresses may lead.
    pub reach: Reach,
    /// Headers added to every request to this origin unless the request has them already; marked sensitive.
    pub credentials: HeaderMap,
    /// Whether an idempotent request whose kept connection ended before the head of a reply may go out again at once: it may
    /// have met a server that was just hanging up. Never for an origin that charges by the request.
    pub resend: bool,
}

/// The table of allowed origins. Empty at first: nothing may leave.
#[derive(Clone, Default, Debug)]
pub struct Guard {
    passes: HashMap<Origin, Pass>,
}

/// Why a request or a connection was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// Neither http nor https.
    Scheme,
    /// The origin was never named.
    Origin,
    /// The address lies in a private, local or reserved net.
    Address,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "only http and https are spoken",
            Self::Origin => "the origin is not configured",
            Self::Address => "the address is not public",
        })
    }
}

impl std::error::Error for Blocked {}

impl Guard {
    /// Makes a guard that lets nothing out.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows the origin of `url`. Named again, it has the wider reach, the credentials of both (the later one's
    /// where they differ), and resends only if both passes say so.
    #[must_use]
    pub fn allow(mut self, url: &Url, pass: Pass) -> Self {
        let Pass { reach, mut credentials, resend } = pass;
        for value in credentials.values_mut() {
            value.set_sensitive(true);
        }
        let known = self.passes.entry(url.origin()).or_insert(Pass { resend, ..Pass::default() });
        known.resend &= resend;
        if reach == Reach::Anywhere {
            known.reach = reach;
        }
        known.credentials.extend(credentials);
        self
    }

    /// Returns what a request to `url` may be sent with.
    pub fn pass(&self, url: &Url) -> Result<&Pass, Blocked> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Blocked::Scheme);
        }
        let pass = self.passes.get(&url.origin()).ok_or(Blocked::Origin)?;
        let literal = match url.host() {
            Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
            Some(Host::Domain(_)) | None => None,
        };
        match literal {
            Some(ip) if pass.reach == Reach::Public && !is_public(ip) => Err(Blocked::Address),
            _ => Ok(pass),
        }
    }
}

/// Returns whether an address is public on the internet: not of this machine, a private or shared net, a link, a group,
/// documentation or a reserved range. An IPv6 address that carries an IPv4 one is judged by that.
///
/// Source: the IANA special-purpose address registries (RFC 6890 and its updates).
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let special = a == 0
        || ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || (a == 100 && (64..128).contains(&b)) // shared by carriers, RFC 6598
        || (a == 192 && b == 0 && c == 0) // protocol assignments
        || (a == 192 && b == 88 && c == 99) // 6to4 relays, retired
        || (a == 198 && (b == 18 || b == 19)) // benchmarks, RFC 2544
        || ip.is_documentation()
        || a >= 224; // groups, reserved, broadcast
    !special
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match ip.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low]         // mapped
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]    // translated, RFC 6052
        | [0x2002, high, low, ..] => embedded(high, low), // 6to4
        [0x2001, second, ..] => second >= 0x200 && second != 0xdb8, // protocol assignments, documentation
        [0x3fff, second, ..] => second >= 0x1000, // documentation, RFC 9637
        [first, ..] => (0x2000..0x4000).contains(&first), // what is given out as global unicast
    }
}

/// Looks names up. The system's resolver in the product; a scripted one in tests.
pub trait Resolver: Send + Sync {
    /// Returns the addresses of `name`, the preferred first.
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// Asks the system.
#[derive(Clone, Copy, Default, Debug)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|found| found.ip()).collect()) }.boxed()
    }
}

/// A name that could not be looked up.
#[derive(Debug)]
pub(crate) struct Unresolved(io::Error);

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("name look-up failed")
    }
}

impl std::error::Error for Unresolved {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Looks a name up and keeps the addresses its reach allows.
#[derive(Clone)]
struct Lookup {
    resolver: Arc<dyn Resolver>,
    reach: Reach,
}

impl Service<Name> for Lookup {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let found = self.resolver.resolve(name.as_str().to_owned());
        let reach = self.reach;
        async move {
            let found = found.await.map_err(Unresolved)?;
            if found.is_empty() {
                return Err(Unresolved(io::Error::new(io::ErrorKind::NotFound, "no address")).into());
            }
            let mut addresses = Vec::with_capacity(found.len());
            for ip in found {
                if reach == Reach::Anywhere || is_public(ip) {
                    addresses.push(SocketAddr::new(ip, 0));
                }
            }
            if addresses.is_empty() {
                return Err(Blocked::Address.into());
            }
            Ok(addresses.into_iter())
        }
        .boxed()
    }
}

/// Opens TCP connections to allowed origins, at addresses within their reach.
#[derive(Clone)]
pub(crate) struct GuardedConnector {
    guard: Arc<ArcSwap<Guard>>,
    public: HttpConnector<Lookup>,
    anywhere: HttpConnector<Lookup>,
}

impl GuardedConnector {
    pub(crate) fn new(guard: Arc<ArcSwap<Guard>>, resolver: &Arc<dyn Resolver>, timeout: Duration) -> Self {
        let tcp = |reach| {
            let mut tcp = HttpConnector::new_with_resolver(Lookup { resolver: Arc::clone(resolver), reach });
            tcp.enforce_http(false);
            tcp.set_nodelay(true);
            tcp.set_connect_timeout(Some(timeout));
            tcp
        };
        Self { guard, public: tcp(Reach::Public), anywhere: tcp(Reach::Anywhere) }
    }

    fn reach(&self, to: &Uri) -> Result<Reach, Blocked> {
        let url = Url::parse(&to.to_string()).map_err(|_| Blocked::Origin)?;
        Ok(self.guard.load().pass(&url)?.reach)
    }
}

impl Service<Uri> for GuardedConnector {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(())) // both connectors and the look-up are always ready
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let connecting = match self.reach(&to) {
            Ok(Reach::Public) => self.public.call(to),
            Ok(Reach::Anywhere) => self.anywhere.call(to),
            Err(blocked) => return async move { Err(blocked.into()) }.boxed(),
        };
        async move { Ok(connecting.await?) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::AUTHORIZATION;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn only_named_origins_pass() {
        let guard = Guard::new().allow(&url("https://one.example/searx/"), Pass::default());
        assert!(guard.pass(&url("https://one.example/other?q=1")).is_ok());
        assert!(guard.pass(&url("https://one.example:443/")).is_ok());
        for other in [
            "http://one.example/",
            "https://one.example:8443/",
            "https://two.example/",
            "https://a.one.example/",
        ] {
            assert_eq!(guard.pass(&url(other)).expect_err(other), Blocked::Origin);
        }
        for odd in ["ftp://one.example/", "file:///etc/passwd", "data:,x", "unix:/run/x"] {
            assert_eq!(guard.pass(&url(odd)).expect_err(odd), Blocked::Scheme);
        }
    }

    #[test]
    fn credentials_stay_with_their_origin_and_are_never_printed() {
        let mut credentials = HeaderMap::new();
        credentials.insert(AUTHORIZATION, HeaderValue::from_static("Bearer hush"));
        let guard = Guard::new()
            .allow(&url("https://one.example/"), Pass { credentials, ..Pass::default() })
            .allow(&url("https://two.example/"), Pass::default());
        assert_eq!(guard.pass(&url("https://one.example/x")).expect("allowed").credentials.len(), 1);
        assert!(guard.pass(&url("https://two.example/x")).expect("allowed").credentials.is_empty());
        assert!(!format!("{guard:?}").contains("hush"));
    }

    #[test]
    fn a_literal_private_address_needs_the_wide_reach() {
        for text in [
            "http://127.0.0.1:8888/",
            "http://[::1]/",
            "http://169.254.169.254/",
            "http://0x7f.1/",
            "http://2130706433/",
        ] {
            let careful = Guard::new().allow(&url(text), Pass::default());
            assert_eq!(careful.pass(&url(text)).expect_err(text), Blocked::Address);
            let own = Guard::new().allow(&url(text), Pass { reach: Reach::Anywhere, ..Pass::default() });
            assert!(own.pass(&url(text)).is_ok());
        }
    }

    #[test]
    fn special_addresses_are_not_public() {
        let special = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "3fff::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
            "5f00::1",
        ];
        for text in special {
            assert!(!is_public(text.parse().expect("an address")), "{text}");
        }
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2001:4860:4860::8888",
            "2002:808:808::1",
            "2606:4700::1111",
            "2a01:4f8::1",
        ];
        for text in public {
            assert!(is_public(text.parse().expect("an address")), "{text}");
        }
    }
}
