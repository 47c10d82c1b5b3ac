//! The way out against origins that misbehave, over real sockets on loopback.

mod egress_origin;

use std::io::Write as _;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use egress_origin::{Origin, read_request};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use gleaner_core::instant::Instant;
use gleaner_engine::clock::Clock;
use gleaner_engine::egress::direct::{Direct, DirectSettings};
use gleaner_engine::egress::guard::{Guard, Pass, Reach, Resolver};
use gleaner_engine::egress::{Egress, EgressError, FailureKind, Incoming, Limits, Outgoing, Sent};
use http::header::{AUTHORIZATION, CONTENT_ENCODING, LOCATION};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

#[tokio::test]
async fn a_reply_comes_back_whole_whatever_its_status() {
    let origin =
        Origin::replying(b"HTTP/1.1 418 I'm a teapot\r\nRetry-After: 7\r\nContent-Length: 5\r\n\r\nshort")
            .await;
    let reply = send(&egress(&origin.url), &origin.url).await.expect("a reply");
    assert_eq!(reply.status, StatusCode::IM_A_TEAPOT);
    assert_eq!(reply.headers["retry-after"], "7");
    assert_eq!(reply.body, "short");
}

#[tokio::test]
async fn a_body_is_sent_with_its_method_and_headers() {
    let mut origin = Origin::replying(&ok("")).await;
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", HeaderValue::from_static("k"));
    let body = Bytes::from_static(b"{\"q\":1}");
    let request = Outgoing { method: Method::POST, url: origin.url.clone(), headers, body };
    egress(&origin.url).send(request, soon()).await.expect("a reply");
    let seen = origin.request().await;
    assert!(seen.starts_with("POST / HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains("x-api-key: k\r\n"), "{seen}");
    assert!(seen.contains("content-length: 7\r\n"), "{seen}");
    assert!(seen.contains("accept-encoding: gzip, deflate\r\n"), "{seen}");
    assert!(seen.ends_with("{\"q\":1}"), "{seen}");
}

#[tokio::test]
async fn a_hundred_requests_in_a_row_share_their_connection() {
    let origin = Origin::replying(&ok("{}")).await;
    let egress = egress(&origin.url);
    for _ in 0..100 {
        send(&egress, &origin.url).await.expect("a reply");
    }
    assert!(origin.connections() <= 2, "{} connections", origin.connections());
}

#[tokio::test]
async fn sixty_four_at_once_keep_their_connections() {
    let origin = Origin::replying(&ok("{}")).await;
    let egress = egress(&origin.url);
    for _ in 0..10 {
        let replies = join_all((0..64).map(|_| send(&egress, &origin.url))).await;
        assert!(replies.iter().all(Result::is_ok));
    }
    assert!(origin.connections() <= 96, "{} connections for 640 requests", origin.connections());
}

#[tokio::test]
async fn a_redirect_is_a_reply_and_its_target_is_never_asked() {
    let target = Origin::replying(&ok("secret")).await;
    let head = format!("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", target.url);
    let origin = Origin::replying(head.as_bytes()).await;
    let guard = own(&origin.url).allow(&target.url, Pass { reach: Reach::Anywhere, ..Pass::default() });
    let egress = Direct::new(&DirectSettings::default(), Clock::new(), guard);
    let reply = send(&egress, &origin.url).await.expect("a reply");
    assert_eq!(reply.status, StatusCode::FOUND);
    assert_eq!(reply.headers[LOCATION], target.url.as_str());
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn an_empty_reply_is_a_reply() {
    let origin = Origin::replying(&ok("")).await;
    assert!(send(&egress(&origin.url), &origin.url).await.expect("a reply").body.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_hang_ends_exactly_at_the_deadline() {
    let origin = Origin::silent().await;
    let clock = Clock::scripted(1, 0);
    let egress = Direct::new(&DirectSettings::default(), clock.clone(), own(&origin.url));
    let deadline = Instant::from_duration(Duration::from_millis(4500));
    let limits = Limits { connect: Duration::from_mins(1), ..Limits::until(deadline) };
    let error = egress.send(get(&origin.url), limits).await.expect_err("nobody answers");
    assert_eq!(error.kind, FailureKind::Timeout);
    assert_eq!(clock.now(), deadline);
}

#[tokio::test]
async fn a_hang_after_the_request_may_have_been_charged() {
    let origin = Origin::silent().await;
    let error = send_within(&egress(&origin.url), &origin.url, 150).await.expect_err("nobody answers");
    assert_eq!((error.kind, error.sent), (FailureKind::Timeout, Sent::Maybe));
}

#[tokio::test]
async fn a_drip_does_not_outlive_the_deadline() {
    let origin = Origin::start(|mut stream, _| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n").await;
        while stream.write_all(b" ").await.is_ok() {
            tokio::task::yield_now().await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let clock = Clock::new();
    let error = send_within(&egress(&origin.url), &origin.url, 200).await.expect_err("too slow");
    assert_eq!((error.kind, error.sent), (FailureKind::Timeout, Sent::Maybe));
    assert!(clock.now() < Instant::from_duration(Duration::from_secs(5)));
}

#[tokio::test]
async fn an_announced_huge_body_is_refused_unread() {
    let origin = Origin::replying(b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n").await;
    let error = send(&egress(&origin.url), &origin.url).await.expect_err("too large");
    assert_eq!((error.kind, error.sent), (FailureKind::BodyTooLarge, Sent::Maybe));
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_cap() {
    let origin = Origin::start(|mut stream, _| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 0x1_0000], b"\r\n"].concat();
        while stream.write_all(&chunk).await.is_ok() {}
    })
    .await;
    let error = send(&egress(&origin.url), &origin.url).await.expect_err("too large");
    assert_eq!(error.kind, FailureKind::BodyTooLarge);
}

#[tokio::test]
async fn a_body_of_exactly_the_cap_is_taken() {
    let body = "x".repeat(1000);
    let origin = Origin::replying(&ok(&body)).await;
    let egress = egress(&origin.url);
    let reply = egress.send(get(&origin.url), Limits { body: 1000, ..soon() }).await.expect("fits");
    assert_eq!(reply.body, body);
    let error =
        egress.send(get(&origin.url), Limits { body: 999, ..soon() }).await.expect_err("does not fit");
    assert_eq!(error.kind, FailureKind::BodyTooLarge);

    let origin = Origin::replying(&encoded("gzip", &gzip(body.as_bytes()))).await;
    egress.set_guard(own(&origin.url));
    egress.send(get(&origin.url), Limits { body: 1000, ..soon() }).await.expect("fits");
    let error =
        egress.send(get(&origin.url), Limits { body: 999, ..soon() }).await.expect_err("does not fit");
    assert_eq!(error.kind, FailureKind::BodyTooLarge);
}

#[tokio::test]
async fn a_gzip_bomb_is_cut_at_the_cap() {
    let bomb = gzip(&vec![0; 64 * 1024 * 1024]);
    assert!(bomb.len() < 100_000);
    for (name, body) in [("gzip", bomb.clone()), ("gzip, gzip", gzip(&bomb))] {
        let origin = Origin::replying(&encoded(name, &body)).await;
        let error = send(&egress(&origin.url), &origin.url).await.expect_err("too large");
        assert_eq!(error.kind, FailureKind::BodyTooLarge, "{name}");
    }
}

#[tokio::test]
async fn what_was_compressed_comes_back_plain() {
    let text = "{\"results\": []}".repeat(100);
    let plain = text.as_bytes();
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(plain).expect("memory");
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
    raw.write_all(plain).expect("memory");
    let (half, rest) = plain.split_at(700);
    let cases = [
        ("gzip", gzip(plain)),
        ("X-GZIP", gzip(plain)),
        ("gzip", [gzip(half), gzip(rest)].concat()),
        ("gzip", [gzip(plain), vec![0; 3]].concat()),
        ("deflate", zlib.finish().expect("memory")),
        ("deflate", raw.finish().expect("memory")),
        ("identity", plain.to_vec()),
        ("gzip, identity, gzip", gzip(&gzip(plain))),
    ];
    for (name, body) in cases {
        let origin = Origin::replying(&encoded(name, &body)).await;
        let reply = send(&egress(&origin.url), &origin.url).await.expect(name);
        assert_eq!(reply.body, text, "{name}");
        assert!(!reply.headers.contains_key(CONTENT_ENCODING));
    }
    let origin = Origin::replying(&encoded("gzip", b"")).await;
    assert!(send(&egress(&origin.url), &origin.url).await.expect("empty").body.is_empty());
}

#[tokio::test]
async fn broken_or_unknown_compression_is_told() {
    let whole = gzip("a body".repeat(100).as_bytes());
    let mut wrong_sum = whole.clone();
    let at = whole.len() - 6;
    wrong_sum[at] ^= 0xff;
    let cases = [
        ("gzip", whole[..whole.len() / 2].to_vec()),
        ("gzip", wrong_sum),
        ("gzip", b"{\"plain\": 1}".to_vec()),
        ("deflate", vec![0xff; 20]),
        ("br", whole.clone()),
        ("gzip, gzip, gzip", gzip(&gzip(&whole))),
    ];
    for (name, body) in cases {
        let origin = Origin::replying(&encoded(name, &body)).await;
        let error = send(&egress(&origin.url), &origin.url).await.expect_err(name);
        assert_eq!((error.kind, error.sent), (FailureKind::Decode, Sent::Maybe), "{name}");
    }
}

#[tokio::test]
async fn a_reset_before_the_reply_is_told_as_one() {
    let origin = Origin::start(|mut stream, _| async move {
        let _ = stream.read(&mut [0; 1]).await; // what is left unread makes the close a reset
    })
    .await;
    let error = send(&egress(&origin.url), &origin.url).await.expect_err("reset");
    assert_eq!((error.kind, error.sent), (FailureKind::Reset, Sent::Maybe), "{error:?}");
}

#[tokio::test]
async fn a_reply_cut_short_is_a_reset() {
    for head in ["HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", CHUNKED] {
        let origin = Origin::start(move |mut stream, _| async move {
            read_request(&mut stream).await;
            let _ = stream.write_all(head.as_bytes()).await;
        })
        .await;
        let error = send(&egress(&origin.url), &origin.url).await.expect_err("cut");
        assert_eq!((error.kind, error.sent), (FailureKind::Reset, Sent::Maybe), "{head}: {error:?}");
    }
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n";

#[tokio::test]
async fn what_is_not_http_is_told() {
    let long = format!("HTTP/1.1 200 OK\r\nX-Long: {}\r\n\r\n", "x".repeat(200_000));
    for reply in ["SSH-2.0-OpenSSH_9.9\r\n\r\n", long.as_str()] {
        let origin = Origin::replying(reply.as_bytes()).await;
        let error = send(&egress(&origin.url), &origin.url).await.expect_err("no http");
        assert_eq!((error.kind, error.sent), (FailureKind::Protocol, Sent::Maybe), "{error:?}");
    }
}

#[tokio::test]
async fn a_refused_connection_sent_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
    let url = Url::parse(&format!("http://{}/", listener.local_addr().expect("bound"))).expect("a URL");
    drop(listener);
    let error = send(&egress(&url), &url).await.expect_err("refused");
    assert_eq!((error.kind, error.sent), (FailureKind::Connect, Sent::No));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_takes_too_long_sent_nothing() {
    let clock = Clock::scripted(1, 0);
    let url = Url::parse("http://slow.test/").expect("a URL");
    let egress = resolving(&clock, own(&url), |_| std::future::pending().boxed());
    let limits = Limits { connect: Duration::from_millis(50), ..soon() };
    let error = egress.send(get(&url), limits).await.expect_err("no address");
    assert_eq!((error.kind, error.sent), (FailureKind::Timeout, Sent::No));
    assert_eq!(clock.now(), Instant::from_duration(limits.connect));
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_told() {
    let url = Url::parse("http://none.test/").expect("a URL");
    let egress =
        resolving(&Clock::new(), own(&url), |_| async { Err(std::io::Error::other("no such name")) }.boxed());
    let error = send(&egress, &url).await.expect_err("no name");
    assert_eq!((error.kind, error.sent), (FailureKind::Resolve, Sent::No));

    let egress = resolving(&Clock::new(), own(&url), |_| async { Ok(Vec::new()) }.boxed());
    let error = send(&egress, &url).await.expect_err("no address");
    assert_eq!((error.kind, error.sent), (FailureKind::Resolve, Sent::No));
}

#[tokio::test]
async fn plain_text_where_tls_was_expected_is_a_tls_failure() {
    let origin = Origin::start(|mut stream, _| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(&ok("plain")).await;
        let _ = stream.read(&mut [0; 4096]).await;
    })
    .await;
    let url = Url::parse(&origin.url.as_str().replace("http:", "https:")).expect("a URL");
    let error = send(&egress(&url), &url).await.expect_err("no tls");
    assert_eq!((error.kind, error.sent), (FailureKind::Tls, Sent::No), "{error:?}");
}

#[tokio::test]
async fn what_was_not_named_is_not_asked() {
    let other = Origin::replying(&ok("")).await;
    let egress = egress(&Url::parse("http://127.0.0.1:1/").expect("a URL"));
    let error = send(&egress, &other.url).await.expect_err("not allowed");
    assert_eq!((error.kind, error.sent), (FailureKind::Blocked, Sent::No));
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_new_guard_is_obeyed_at_once() {
    let one = Origin::replying(&ok("one")).await;
    let two = Origin::replying(&ok("two")).await;
    let egress = egress(&one.url);
    send(&egress, &one.url).await.expect("allowed");
    egress.set_guard(own(&two.url));
    assert_eq!(send(&egress, &two.url).await.expect("allowed now").body, "two");
    assert_eq!(send(&egress, &one.url).await.expect_err("no longer").kind, FailureKind::Blocked);
}

#[tokio::test]
async fn a_public_name_that_leads_home_is_refused_when_connecting() {
    let home = Origin::replying(&ok("secret")).await;
    let url = at_port_of(&home, "rebind.test");
    let egress = resolving(&Clock::new(), public(&url), |_| async { Ok(vec![LOOPBACK]) }.boxed());
    let error = send(&egress, &url).await.expect_err("leads home");
    assert_eq!((error.kind, error.sent), (FailureKind::Blocked, Sent::No), "{error:?}");
    assert_eq!(home.connections(), 0);

    egress.set_guard(own(&url));
    assert_eq!(send(&egress, &url).await.expect("a name of ours").body, "secret");
}

#[tokio::test(start_paused = true)]
async fn a_second_answer_of_the_name_server_does_not_lead_home() {
    let home = Origin::replying(&ok("secret")).await;
    let url = at_port_of(&home, "rebind.test");
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let clock = Clock::scripted(1, 0);
    // The first answer is public but comes too late to be connected to.
    let egress = resolving(&clock, public(&url), move |_| match counter.fetch_add(1, Ordering::SeqCst) {
        0 => std::future::pending().boxed(),
        _ => async { Ok(vec![LOOPBACK]) }.boxed(),
    });
    let error = egress.send(get(&url), soon()).await.expect_err("no answer");
    assert_eq!(error.kind, FailureKind::Timeout);
    let error = egress.send(get(&url), soon()).await.expect_err("leads home");
    assert_eq!((error.kind, error.sent), (FailureKind::Blocked, Sent::No));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert_eq!(home.connections(), 0);
}

#[tokio::test]
async fn credentials_reach_their_origin_only() {
    let mut first = Origin::replying(&ok("")).await;
    let mut second = Origin::replying(&ok("")).await;
    let mut credentials = HeaderMap::new();
    credentials.insert(AUTHORIZATION, HeaderValue::from_static("Bearer one"));
    let guard = Guard::new()
        .allow(&first.url, Pass { reach: Reach::Anywhere, credentials, ..Pass::default() })
        .allow(&second.url, Pass { reach: Reach::Anywhere, ..Pass::default() });
    let egress = Direct::new(&DirectSettings::default(), Clock::new(), guard);
    send(&egress, &first.url).await.expect("a reply");
    send(&egress, &second.url).await.expect("a reply");
    assert!(first.request().await.contains("authorization: Bearer one\r\n"));
    assert!(!second.request().await.contains("authorization"));
}

#[tokio::test]
async fn userinfo_becomes_credentials_and_nothing_private_is_shown() {
    let mut origin = Origin::replying(&ok("")).await;
    let mut url = origin.url.join("/search?q=private#part").expect("a URL");
    url.set_username("us%20er").expect("http");
    url.set_password(Some("pass")).expect("http");
    let egress = egress(&origin.url);
    send(&egress, &url).await.expect("a reply");
    let seen = origin.request().await;
    assert!(seen.starts_with("GET /search?q=private HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains("authorization: Basic dXMgZXI6cGFzcw==\r\n"), "{seen}");
    assert!(!seen.contains('@'), "{seen}");

    egress.set_guard(Guard::new());
    let error = send(&egress, &url).await.expect_err("not allowed");
    let told = format!("{error} {error:?}");
    for private in ["private", "pass", "us%20er", "us er"] {
        assert!(!told.contains(private), "{told}");
    }
}

#[tokio::test]
async fn an_abandoned_request_closes_its_connection_and_harms_no_other() {
    let origin = Origin::start(|mut stream, number| async move {
        read_request(&mut stream).await;
        if number > 0 {
            let _ = stream.write_all(&ok("next")).await;
        }
        let _ = stream.read(&mut [0; 1]).await;
    })
    .await;
    let egress = egress(&origin.url);
    let abandoned = tokio::time::timeout(Duration::from_millis(100), send(&egress, &origin.url)).await;
    assert!(abandoned.is_err());
    assert_eq!(origin.connections(), 1);
    tokio::time::timeout(Duration::from_secs(5), origin.all_closed()).await.expect("the connection ends");
    assert_eq!(send(&egress, &origin.url).await.expect("a reply").body, "next");
}

/// Answers the first request of each connection, reads the second and hangs up: the lost keep-alive race, every time.
async fn hangs_up_on_the_second() -> Origin {
    Origin::start(|mut stream, _| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(&ok("once")).await;
        read_request(&mut stream).await;
    })
    .await
}

#[tokio::test]
async fn a_lost_keep_alive_race_is_run_again_where_that_costs_nothing() {
    let origin = hangs_up_on_the_second().await;
    let egress = egress(&origin.url);
    for _ in 0..5 {
        assert_eq!(send(&egress, &origin.url).await.expect("a reply").body, "once");
    }
    assert_eq!(origin.connections(), 5);
}

#[tokio::test]
async fn what_may_cost_is_never_sent_twice() {
    let origin = hangs_up_on_the_second().await;
    let charging = Pass { reach: Reach::Anywhere, ..Pass::default() };
    let guards =
        [Guard::new().allow(&origin.url, charging.clone()), own(&origin.url).allow(&origin.url, charging)];
    for guard in guards {
        let egress = Direct::new(&DirectSettings::default(), Clock::new(), guard);
        send(&egress, &origin.url).await.expect("a reply");
        let error = send(&egress, &origin.url).await.expect_err("hung up");
        assert_eq!((error.kind, error.sent), (FailureKind::Reset, Sent::Maybe));
    }
    let egress = egress(&origin.url);
    send(&egress, &origin.url).await.expect("a reply");
    let post = Outgoing { method: Method::POST, ..get(&origin.url) };
    let error = egress.send(post, soon()).await.expect_err("hung up");
    assert_eq!((error.kind, error.sent), (FailureKind::Reset, Sent::Maybe));
    assert_eq!(origin.connections(), 3);
}

#[tokio::test]
async fn a_new_connection_that_ends_is_not_tried_again() {
    let origin = Origin::start(|mut stream, _| async move {
        read_request(&mut stream).await;
    })
    .await;
    let error = send(&egress(&origin.url), &origin.url).await.expect_err("hung up");
    assert_eq!((error.kind, error.sent), (FailureKind::Reset, Sent::Maybe));
    assert_eq!(origin.connections(), 1);
}

#[tokio::test]
async fn after_the_deadline_nothing_is_sent() {
    let origin = Origin::replying(&ok("")).await;
    let error = send_within(&egress(&origin.url), &origin.url, 0).await.expect_err("too late");
    assert_eq!((error.kind, error.sent), (FailureKind::Timeout, Sent::No));
    assert_eq!(origin.connections(), 0);
}

#[tokio::test]
async fn an_odd_head_does_not_cost_the_page() {
    let odd =
        "HTTP/1.1 200 OK\r\nX-Folded: a;\r\n b\r\nX Bad: 1\r\nX-Space : 2\r\nContent-Length: 4\r\n\r\npage";
    let origin = Origin::replying(odd.as_bytes()).await;
    assert_eq!(send(&egress(&origin.url), &origin.url).await.expect("a reply").body, "page");
}

// What the tests speak with.

const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// Far enough for a busy machine; each test's clock starts with it.
fn soon() -> Limits {
    Limits::until(Instant::from_duration(Duration::from_secs(20)))
}

fn get(url: &Url) -> Outgoing {
    Outgoing { method: Method::GET, url: url.clone(), headers: HeaderMap::new(), body: Bytes::new() }
}

async fn send(egress: &Direct, url: &Url) -> Result<Incoming, EgressError> {
    egress.send(get(url), soon()).await
}

async fn send_within(egress: &Direct, url: &Url, milliseconds: u64) -> Result<Incoming, EgressError> {
    egress.send(get(url), Limits::until(Instant::from_duration(Duration::from_millis(milliseconds)))).await
}

fn own(url: &Url) -> Guard {
    Guard::new().allow(url, Pass { reach: Reach::Anywhere, resend: true, ..Pass::default() })
}

fn public(url: &Url) -> Guard {
    Guard::new().allow(url, Pass::default())
}

fn at_port_of(origin: &Origin, name: &str) -> Url {
    Url::parse(&format!("http://{name}:{}/", origin.url.port().expect("a port"))).expect("a URL")
}

fn egress(url: &Url) -> Direct {
    Direct::new(&DirectSettings::default(), Clock::new(), own(url))
}

struct Scripted<F>(F);

impl<F> Resolver for Scripted<F>
where
    F: Fn(String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> + Send + Sync,
{
    fn resolve(&self, name: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        self.0(name)
    }
}

fn resolving<F>(clock: &Clock, guard: Guard, answer: F) -> Direct
where
    F: Fn(String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> + Send + Sync + 'static,
{
    let resolver: Arc<dyn Resolver> = Arc::new(Scripted(answer));
    Direct::with_resolver(&DirectSettings::default(), clock.clone(), guard, &resolver)
}

fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn encoded(encoding: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).expect("memory");
    encoder.finish().expect("memory")
}
