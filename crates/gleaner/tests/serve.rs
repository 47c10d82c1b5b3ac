//! The binary itself: `gleaner serve` and `gleaner demo` as processes, spoken to over raw HTTP.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gleaner_testkit::{Mood, Upstream};
use serde_json::Value;

/// A running gateway; killed when dropped.
struct Gateway {
    child: Child,
    address: String,
}

impl Gateway {
    fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("gleaner listening on http://").expect(&line).to_owned();
        Self { child, address }
    }

    fn over(upstream: &Upstream) -> Self {
        Self::start(&["serve", "--listen", "127.0.0.1:0", "--searxng", &upstream.url()])
    }

    fn get(&self, target: &str) -> Reply {
        self.send(&format!("GET {target} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n"))
    }

    fn post(&self, target: &str, content_type: &str, body: &str) -> Reply {
        let length = body.len();
        self.send(&format!(
            "POST {target} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    fn send(&self, request: &str) -> Reply {
        self.send_bytes(request.as_bytes())
    }

    fn send_bytes(&self, request: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(request);
        let mut raw = Vec::new();
        let _ = stream.read_to_end(&mut raw);
        Reply::parse(&raw)
    }

    fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    command.args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR")).env_clear();
    command
}

#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn parse(raw: &[u8]) -> Self {
        let text = String::from_utf8_lossy(raw);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_is_answered_in_searxngs_shape() {
    let upstream = Upstream::start(Mood::Healthy(3)).await;
    let gateway = Gateway::over(&upstream);
    let reply = gateway.get("/search?q=rust+async&format=json");
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    let page = reply.json();
    let keys: Vec<_> = page.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "query",
            "number_of_results",
            "results",
            "answers",
            "corrections",
            "infoboxes",
            "suggestions",
            "unresponsive_engines"
        ]
    );
    assert_eq!((&page["query"], page["results"].as_array().unwrap().len()), (&"rust async".into(), 3));
    assert_eq!(reply.header("x-gleaner-outcome"), Some("free"));
    assert_eq!(reply.header("x-gleaner-sources"), Some("searxng"));
    assert_eq!(reply.header("x-gleaner-cost"), Some("0"));
    assert_eq!(reply.header("x-gleaner-id").unwrap().len(), 16);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_clients_ask_leads_to_the_same_search() {
    let upstream = Upstream::start(Mood::Healthy(2)).await;
    let gateway = Gateway::over(&upstream);
    let multipart = "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nrust\r\n--x\r\nContent-Disposition: form-data; name=\"format\"\r\n\r\njson\r\n--x--\r\n";
    for reply in [
        gateway.get("/search?q=rust&format=json"),
        gateway.get("//search/?q=rust&format=json"),
        gateway.get("/search/search?q=rust&format=json"),
        gateway.post("/search", "application/x-www-form-urlencoded", "q=rust&format=json"),
        gateway.post("/search?q=other&format=json", "application/x-www-form-urlencoded", "q=rust"),
        gateway.post("/search?q=rust&format=json", "application/json", ""),
        gateway.post("/search", "multipart/form-data; boundary=x", multipart),
        // Accept never turns JSON into HTML.
        gateway.send("GET /search?q=rust&format=json HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n"),
    ] {
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")), "{reply:?}");
        assert_eq!(reply.json()["query"], "rust");
    }
    assert!(upstream.searches().iter().all(|seen| seen.parameter("q").as_deref() == Some("rust")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_root_redirects_a_search_and_is_a_page_without() {
    let upstream = Upstream::start(Mood::Healthy(2)).await;
    let gateway = Gateway::over(&upstream);
    for reply in [
        gateway.get("/?q=rust&format=json"),
        gateway.post("/?format=json", "application/x-www-form-urlencoded", "q=rust"),
    ] {
        assert_eq!(reply.status, 308);
        assert!(reply.header("location").unwrap().starts_with("/search?"), "{reply:?}");
    }
    let index = gateway.get("/");
    assert_eq!((index.status, index.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(upstream.searches().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_searxngs_statuses_and_bodies() {
    let upstream = Upstream::start(Mood::Healthy(2)).await;
    let gateway = Gateway::over(&upstream);
    for (target, status, body) in [
        ("/search?format=json", 400, r#"{"error": "No query"}"#),
        ("/search?q=&format=json", 400, r#"{"error": "No query"}"#),
        ("/search?q=x&pageno=0&format=json", 400, r#"{"error": "Invalid value 0 for parameter pageno"}"#),
        (
            "/search?q=x&language=en_US&format=rss",
            400,
            r#"{"error": "Invalid value en_US for parameter language"}"#,
        ),
        ("/search?format=csv", 400, ""),
    ] {
        let reply = gateway.get(target);
        assert_eq!((reply.status, reply.body.as_str()), (status, body), "{target}");
        assert_eq!(reply.header("x-gleaner-outcome"), Some("invalid"));
    }
    assert_eq!(gateway.get("/search").status, 200);
    assert_eq!(gateway.get("/nosuch").status, 404);
    let reply = gateway.send("PUT /search?q=x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_eq!((reply.status, reply.header("allow").is_some()), (405, true));
    assert!(upstream.searches().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn head_asks_nobody() {
    let upstream = Upstream::start(Mood::Healthy(2)).await;
    let gateway = Gateway::over(&upstream);
    let reply = gateway.send("HEAD /search?q=x&format=json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_eq!((reply.status, reply.body.as_str()), (200, ""));
    assert!(upstream.searches().is_empty());
}

/// A failure of the gateway is never an empty success, and never HTML with 200 for a JSON client.
#[tokio::test(flavor = "multi_thread")]
async fn total_failure_is_a_json_error() {
    let upstream = Upstream::start(Mood::Respond(500, vec![], String::new())).await;
    let gateway = Gateway::over(&upstream);
    let reply = gateway.get("/search?q=x&format=json");
    assert_eq!((reply.status, reply.header("content-type")), (502, Some("application/json")));
    assert_eq!(
        (&reply.json()["code"], &reply.json()["retryable"]),
        (&"upstream_failed".into(), &true.into())
    );
    let reply = gateway.get("/search?q=x&format=json");
    assert_eq!((reply.status, &reply.json()["code"]), (503, &"unavailable".into()));
    let seconds: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=70).contains(&seconds));
    assert_eq!(gateway.get("/search?q=x").header("content-type"), Some("text/html; charset=utf-8"));
}

/// `/healthz` said OK while no engine worked (<https://github.com/searxng/searxng/issues/4026>): it stays a sign of life,
/// and readiness tells the truth.
#[tokio::test(flavor = "multi_thread")]
async fn h2_liveness_and_readiness_are_two_things() {
    let upstream = Upstream::start(Mood::Respond(429, vec![], String::new())).await;
    let gateway = Gateway::over(&upstream);
    assert_eq!(gateway.get("/readyz").status, 200);
    gateway.get("/search?q=x&format=json");
    let ready = gateway.get("/readyz");
    assert_eq!((ready.status, &ready.json()["ready"]), (503, &false.into()));
    assert_eq!(ready.json()["reasons"][0]["circuit"], "open");
    let alive = gateway.get("/healthz");
    assert_eq!((alive.status, alive.body.as_str()), (200, "OK"));
}

/// The shape of SearXNG's API for tools (<https://github.com/neon-mmd/websurfx/issues/797>): pages beside the search.
#[tokio::test(flavor = "multi_thread")]
async fn b3_the_pages_beside_the_search_have_searxngs_shapes() {
    let upstream = Upstream::start(Mood::Healthy(2)).await;
    let gateway = Gateway::over(&upstream);
    let plain = gateway.send("GET /autocompleter?q= HTTP/1.1\r\nHost: x\r\nX-Requested-With: XMLHttpRequest\r\nConnection: close\r\n\r\n");
    assert_eq!((plain.header("content-type"), plain.body.as_str()), (Some("application/json"), "[]"));
    let form = gateway.get("/autocompleter?q=x");
    assert_eq!(form.header("content-type"), Some("application/x-suggestions+json"));
    assert_eq!((&form.json()[0], form.json().as_array().unwrap().len()), (&"x".into(), 5));
    let description = gateway.get("/opensearch.xml");
    assert!(description.body.contains("template=\"http://gateway/search?q={searchTerms}\""));
    // The instance is asked in the background; the gateway says 503 until it has told.
    let mut replies = std::iter::repeat_with(|| gateway.get("/config")).take(10_000);
    let config =
        replies.find(|reply| reply.status == 200).expect("the instance tells its configuration").json();
    let web = config["engines"]
        .as_array()
        .unwrap()
        .iter()
        .find(|engine| engine["categories"].as_array().unwrap().contains(&"web".into()));
    assert_eq!(web.unwrap()["enabled"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_formats_are_written() {
    let upstream = Upstream::start(Mood::Healthy(2)).await;
    let gateway = Gateway::over(&upstream);
    let csv = gateway.get("/search?q=rust&format=csv");
    assert_eq!((csv.status, csv.header("content-type")), (200, Some("application/csv")));
    assert_eq!(csv.header("content-disposition"), Some("attachment;filename=searx_-_rust.csv"));
    assert_eq!(csv.body.lines().count(), 3);
    let rss = gateway.get("/search?q=rust&format=rss");
    assert_eq!(rss.header("content-type"), Some("text/xml; charset=utf-8"));
    assert_eq!(rss.body.matches("<item>").count(), 2);
    let html = gateway.get("/search?q=%3Cscript%3Ealert(1)%3C/script%3E");
    assert_eq!(html.body.matches("<article class=\"result").count(), 2);
    assert!(html.body.contains("class=\"url_header\"") && html.body.contains("<p class=\"content\">"));
    assert!(!html.body.contains("<script>") && html.body.contains(&upstream.url()));
    assert_eq!(
        gateway.get("/search?q=x&format=JSON").header("content-type"),
        Some("text/html; charset=utf-8")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_a_clear_4xx_and_the_server_lives() {
    let upstream = Upstream::start(Mood::Healthy(1)).await;
    let gateway = Gateway::over(&upstream);
    let long = |bytes: usize| {
        format!(
            "GET /search?format=json&q={} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "a".repeat(bytes)
        )
    };
    let many = (0..300).map(|number| format!("&p{number}=1")).collect::<Vec<_>>().concat();
    let bomb = format!(
        "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n{}\r\n--x--\r\n",
        "a".repeat(2 << 20)
    );
    for (what, reply, statuses) in [
        ("10 MB query string", gateway.send(&long(10 << 20)), [414, 431]),
        ("70,000 byte request line", gateway.send(&long(70_000)), [414, 431]),
        ("long query", gateway.send(&long(3000)), [400, 400]),
        ("NUL", gateway.get("/search?q=a%00b&format=json"), [400, 400]),
        ("raw NUL in the head", gateway.send_bytes(b"GET /search?q=\0 HTTP/1.1\r\nHost: x\r\n\r\n"), [400, 400]),
        ("not HTTP", gateway.send("hello\r\n\r\n"), [400, 400]),
        ("too many parameters", gateway.get(&format!("/search?q=x&format=json{many}")), [400, 400]),
        ("large form", gateway.post("/search", "application/x-www-form-urlencoded", &"a".repeat(2 << 20)), [413, 413]),
        ("multipart bomb", gateway.post("/search", "multipart/form-data; boundary=x", &bomb), [413, 413]),
        ("broken multipart", gateway.post("/search", "multipart/form-data; boundary=x", "--x\r\nnonsense"), [400, 400]),
        (
            "POST without length",
            gateway.send("POST /search HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"),
            [411, 411],
        ),
    ] {
        assert!(statuses.contains(&reply.status), "{what}: {reply:?}");
    }
    for target in ["/search?q=100%&format=json", "/search?q=%zz&format=json", "/search?q=x&q=y&format=json"] {
        assert_eq!(gateway.get(target).status, 200, "{target}");
    }
    assert_eq!(upstream.searches().last().unwrap().parameter("q").as_deref(), Some("x"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_lets_what_runs_finish_and_exits_with_0() {
    let upstream = Upstream::start(Mood::Slow(Duration::from_millis(600), 2)).await;
    let mut gateway = Gateway::over(&upstream);
    let mut stream = TcpStream::connect(&gateway.address).unwrap();
    stream.write_all(b"GET /search?q=x&format=json HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    while upstream.searches().is_empty() {
        tokio::task::yield_now().await;
    }
    gateway.terminate();
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw).unwrap();
    assert_eq!(Reply::parse(&raw).status, 200);
    assert!(gateway.child.wait().unwrap().success());
    assert!(TcpStream::connect(&gateway.address).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn sighup_does_not_end_the_process() {
    let upstream = Upstream::start(Mood::Healthy(1)).await;
    let gateway = Gateway::over(&upstream);
    let pid = gateway.child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    assert_eq!(gateway.get("/healthz").status, 200);
}

/// An unauthenticated bind on a public address (<https://github.com/IBM/ibmi-mcp-server/issues/163>).
#[test]
fn j5_an_open_address_without_keys_is_refused_unless_told() {
    let output =
        command(&["serve", "--listen", "0.0.0.0:0", "--searxng", "http://127.0.0.1:1"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && told.contains("open"), "{told}");
    let gateway =
        Gateway::start(&["serve", "--listen", "0.0.0.0:0", "--searxng", "http://127.0.0.1:1", "--open"]);
    assert!(gateway.address.starts_with("0.0.0.0:"));
}

#[test]
fn the_demo_answers_without_network_or_keys() {
    let gateway = Gateway::start(&["demo", "--listen", "127.0.0.1:0"]);
    for _ in 0..12 {
        let reply = gateway.get("/search?q=rust+async&format=json");
        assert_eq!(reply.status, 200);
        let first = &reply.json()["results"][0];
        assert!(first["title"].as_str().unwrap().contains("Rust"), "{first}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_searches_and_shows_the_pool() {
    let upstream = Upstream::start(Mood::Healthy(2)).await;
    let output =
        command(&["search", "rust", "async", "--json", "--searxng", &upstream.url()]).output().unwrap();
    let page: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&page["query"], page["results"].as_array().unwrap().len()), (&"rust async".into(), 2));
    let output = command(&["search", "rust", "--searxng", &upstream.url()]).output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    assert!(list.contains("Result 1 about rust") && !list.contains('\x1b'), "{list}");
    let gateway = Gateway::over(&upstream);
    let output = command(&["pool", "--url", &format!("http://{}", gateway.address)]).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains(&upstream.url()));
    assert!(command(&["check", "--searxng", &upstream.url()]).output().unwrap().status.success());
    let schema = command(&["schema"]).output().unwrap();
    assert!(serde_json::from_slice::<Value>(&schema.stdout).is_ok());
}
