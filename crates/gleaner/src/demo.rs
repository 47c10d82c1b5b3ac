//! Embedded upstreams for `gleaner demo`: four SearXNG-shaped servers on loopback over a small built-in corpus.
//!
//! The gateway in front of them is the true one; only the web is small. One upstream is healthy, one is slow, one
//! fails every other request and one answers 429, so that ranking, retries and circuits can be watched at work
//! without network or keys.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use gleaner_core::query::decode_query_string;
use http::{Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Address, title and text of each document, separated by tabs.
const CORPUS: &str = include_str!("demo/corpus.tsv");

/// Hits on a page.
const PAGE: usize = 10;

/// How an embedded upstream behaves.
#[derive(Clone, Copy, Debug)]
pub enum Mood {
    /// Answers in some milliseconds.
    Healthy,
    /// Answers well, after 700 ms.
    Slow,
    /// Answers every other request with 500.
    Flaky,
    /// Answers every request with 429, as a limited instance does.
    Limited,
}

impl Mood {
    /// The upstreams of the demo, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Healthy, Self::Slow, Self::Flaky, Self::Limited];
}

/// Starts one upstream of each mood; they stop with `stop`. Returns their addresses.
pub async fn start(stop: &CancellationToken) -> std::io::Result<Vec<(Mood, SocketAddr)>> {
    let mut upstreams = Vec::new();
    for mood in Mood::ALL {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        upstreams.push((mood, listener.local_addr()?));
        tokio_util::task::TaskTracker::new().spawn(serve(listener, mood, stop.clone()));
    }
    Ok(upstreams)
}

async fn serve(listener: TcpListener, mood: Mood, stop: CancellationToken) {
    let requests = Arc::new(AtomicU64::new(0));
    let connections = tokio_util::task::TaskTracker::new();
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => match accepted { Ok((stream, _)) => stream, Err(_) => continue },
        };
        let requests = Arc::clone(&requests);
        let service = service_fn(move |request| {
            let number = requests.fetch_add(1, Ordering::Relaxed);
            async move { Ok::<_, Infallible>(answer(mood, number, &request).await) }
        });
        let connection =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let stop = stop.clone();
        connections.spawn(async move {
            tokio::select! { _ = connection => {}, () = stop.cancelled() => {} }
        });
    }
}

async fn answer(mood: Mood, number: u64, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    match (request.uri().path(), mood) {
        ("/healthz", _) => respond(StatusCode::OK, "text/plain", "OK".into()),
        ("/config", _) => respond(StatusCode::OK, "application/json", config().to_string()),
        ("/search", Mood::Limited) => {
            respond(StatusCode::TOO_MANY_REQUESTS, "text/html", "Too Many Requests".into())
        }
        ("/search", Mood::Flaky) if number % 2 == 1 => {
            respond(StatusCode::INTERNAL_SERVER_ERROR, "text/html", "Internal Server Error".into())
        }
        ("/search", _) => {
            tokio::time::sleep(match mood {
                Mood::Slow => Duration::from_millis(700),
                _ => Duration::from_millis(15),
            })
            .await;
            let pairs = decode_query_string(request.uri().query().unwrap_or_default());
            let value = |name: &str| pairs.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
            let page = value("pageno").and_then(|page| page.parse().ok()).unwrap_or(1);
            respond(
                StatusCode::OK,
                "application/json",
                search(value("q").unwrap_or_default(), page).to_string(),
            )
        }
        _ => respond(StatusCode::NOT_FOUND, "text/html", "Not Found".into()),
    }
}

fn respond(status: StatusCode, content_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response
}

fn config() -> Value {
    json!({
        "categories": ["general"],
        "engines": [{
            "name": "demo corpus", "shortcut": "dc", "categories": ["general", "web"], "enabled": true,
            "paging": true, "language_support": false, "languages": [], "regions": [], "safesearch": false,
            "time_range_support": false, "timeout": 3.0
        }],
        "instance_name": "Gleaner demo", "limiter": {"enabled": false}, "locales": {"en": "English"},
        "plugins": [], "public_instance": false, "safe_search": 0, "version": "demo"
    })
}

/// Documents that hold a word of the query, those with more of them, and in the title, first.
fn search(query: &str, page: usize) -> Value {
    let words: Vec<String> = words(query).collect();
    let mut found: Vec<(usize, usize, [&str; 3])> = CORPUS
        .lines()
        .enumerate()
        .filter_map(|(place, line)| {
            let mut fields = line.splitn(3, '\t');
            let document = [fields.next()?, fields.next()?, fields.next()?];
            let weight: usize = words.iter().map(|word| weight(word, document)).sum();
            (weight > 0).then_some((weight, place, document))
        })
        .collect();
    found.sort_by_key(|&(weight, place, _)| (std::cmp::Reverse(weight), place));
    let results: Vec<Value> = found
        .iter()
        .skip(PAGE * page.saturating_sub(1))
        .take(PAGE)
        .enumerate()
        .map(|(place, &(_, _, [url, title, content]))| {
            let rank = place + 1;
            let host_and_path = url.trim_start_matches("https://");
            let (host, path) = host_and_path.split_once('/').unwrap_or((host_and_path, ""));
            json!({
                "url": url, "title": title, "content": content, "thumbnail": "", "engine": "demo corpus",
                "template": "default.html", "parsed_url": ["https", host, format!("/{path}"), "", "", ""],
                "img_src": "", "priority": "", "engines": ["demo corpus"], "positions": [rank],
                "score": 1.0 / rank as f64, "category": "general", "publishedDate": null
            })
        })
        .collect();
    json!({
        "query": query.split_whitespace().collect::<Vec<_>>().join(" "), "results": results, "answers": [],
        "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": []
    })
}

fn weight(word: &str, [_, title, content]: [&str; 3]) -> usize {
    let count = |text: &str| words(text).filter(|other| other == word).count();
    3 * count(title) + count(content)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 1).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corpus_is_searched_for_real() {
        let page = search("rust async", 1);
        let titles: Vec<&str> =
            page["results"].as_array().unwrap().iter().map(|hit| hit["title"].as_str().unwrap()).collect();
        assert_eq!(titles.first(), Some(&"Cancel safety in async Rust"));
        assert!(titles.contains(&"Asynchronous programming in Rust"));
        assert!(!titles.contains(&"How tides work"));
        assert_eq!(search("xylophonist", 1)["results"], json!([]));
    }

    #[test]
    fn pages_do_not_overlap_and_end() {
        let urls = |page| {
            let page = search("the and", page);
            page["results"].as_array().unwrap().iter().map(|hit| hit["url"].to_string()).collect::<Vec<_>>()
        };
        assert_eq!(urls(1).len(), PAGE);
        assert!(urls(1).iter().all(|url| !urls(2).contains(url)));
        assert!(urls(9).is_empty());
    }
}
