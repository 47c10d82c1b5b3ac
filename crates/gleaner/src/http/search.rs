//! SearXNG's face: `/search` and `/`, GET and POST, as JSON, CSV, RSS or HTML (`searxng.md` 1 to 4).
//!
//! Order of checks as SearXNG's: the query, then the page number, safe search, and so on; what cannot be understood is
//! answered before anyone is asked. The response headers tell how the answer came to be.

use std::sync::Arc;

use gleaner_core::providers::searxng;
use gleaner_core::query::{InvalidQuery, Query, QueryLimits};
use gleaner_core::report::{Answer, SearchReport};
use gleaner_core::results::{JsonStyle, ResultPage};
use gleaner_core::trail::Outcome;
use gleaner_engine::Engine;
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};

use super::page;
use super::parameters;
use super::reply::{self, Reply};

/// What this door needs to know.
pub struct SearchDoor {
    engine: Arc<Engine>,
    style: JsonStyle,
    query_limits: QueryLimits,
    body_limit: usize,
}

/// The formats of an answer; anything else is HTML, as at SearXNG.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Html,
    Json,
    Csv,
    Rss,
}

impl Format {
    fn of(pairs: &[(String, String)]) -> Self {
        match value(pairs, "format") {
            Some("json") => Self::Json,
            Some("csv") => Self::Csv,
            Some("rss") => Self::Rss,
            _ => Self::Html,
        }
    }
}

impl SearchDoor {
    /// A door into `engine`.
    pub fn new(engine: Arc<Engine>, style: JsonStyle, query_limits: QueryLimits, body_limit: usize) -> Self {
        Self { engine, style, query_limits, body_limit }
    }

    /// The parameters of a request, or the answer to one that cannot be read.
    pub async fn parameters<B>(&self, request: Request<B>) -> Result<Vec<(String, String)>, Reply>
    where
        B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        parameters::read(request, self.body_limit).await.map_err(|error| {
            reply::json(error.status(), serde_json::json!({ "error": error.to_string() }).to_string())
        })
    }

    /// Answers a search.
    pub async fn search<B>(&self, request: Request<B>) -> Reply
    where
        B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let accept_language = request.headers().get(header::ACCEPT_LANGUAGE).cloned();
        let pairs = match self.parameters(request).await {
            Ok(pairs) => pairs,
            Err(reply) => return reply,
        };
        let format = Format::of(&pairs);
        let query =
            Query::from_pairs(pairs.iter().map(|(n, v)| (n.as_str(), v.as_str())), &self.query_limits);
        let query = match query {
            Ok(query) => query,
            Err(error) => return invalid(format, &pairs, &error),
        };
        let query = match accept_language.as_ref().and_then(|value| value.to_str().ok()) {
            Some(header) => query.with_accept_language(header),
            None => query,
        };
        let report = self.engine.search(&query).await;
        self.answer(format, &pairs, &query, &report)
    }

    fn answer(
        &self,
        format: Format,
        pairs: &[(String, String)],
        query: &Query,
        report: &SearchReport,
    ) -> Reply {
        let mut reply = match &report.result {
            Ok(Answer::Redirect(target)) => reply::redirect(StatusCode::FOUND, target),
            Ok(Answer::Page(page)) => self.page(format, pairs, query, page, report),
            Err(error) if format == Format::Html => {
                let mut reply =
                    reply::html(error.code().http_status(), page::error(query.text(), &error.to_string()));
                if let Some(wait) = reply::failure(error).headers().get(header::RETRY_AFTER) {
                    reply.headers_mut().insert(header::RETRY_AFTER, wait.clone());
                }
                reply
            }
            Err(error) => reply::failure(error),
        };
        tell(reply.headers_mut(), report);
        reply
    }

    fn page(
        &self,
        format: Format,
        pairs: &[(String, String)],
        query: &Query,
        page: &ResultPage,
        report: &SearchReport,
    ) -> Reply {
        match format {
            Format::Json => reply::json(StatusCode::OK, page.to_json(self.style)),
            Format::Csv => {
                let mut reply = reply::reply(StatusCode::OK, "application/csv", searxng::to_csv(page));
                let name = format!("attachment;Filename=searx_-_{}.csv", page.query());
                if let Ok(name) = HeaderValue::from_bytes(name.as_bytes()) {
                    reply.headers_mut().insert(header::CONTENT_DISPOSITION, name);
                }
                reply
            }
            Format::Rss => {
                reply::reply(StatusCode::OK, "text/xml; charset=utf-8", searxng::to_rss(page, &link(pairs)))
            }
            Format::Html => {
                let rest = rest(pairs);
                let sources = report.trail.instances().collect::<Vec<_>>().join(", ");
                let asked =
                    page::Asked { text: query.text(), page: query.page(), rest: &rest, sources: &sources };
                reply::html(StatusCode::OK, page::results(&asked, page))
            }
        }
    }
}

fn invalid(format: Format, pairs: &[(String, String)], error: &InvalidQuery) -> Reply {
    let mut reply = match format {
        Format::Html if error.is_missing_query() => reply::html(StatusCode::OK, page::index()),
        Format::Html => {
            let text = value(pairs, "q").unwrap_or_default();
            reply::html(StatusCode::BAD_REQUEST, page::error(text, &error.to_string()))
        }
        Format::Csv if error.is_missing_query() => {
            let mut reply = reply::reply(StatusCode::BAD_REQUEST, "application/csv", "");
            reply.headers_mut().insert(
                header::CONTENT_DISPOSITION,
                HeaderValue::from_static("attachment;Filename=searx.csv"),
            );
            reply
        }
        _ => reply::bad_request(&error.to_string()),
    };
    if !(format == Format::Html && error.is_missing_query()) {
        reply.headers_mut().insert("x-gleaner-outcome", HeaderValue::from_static(Outcome::Invalid.as_str()));
    }
    reply
}

fn tell(headers: &mut HeaderMap, report: &SearchReport) {
    headers.insert("x-gleaner-outcome", HeaderValue::from_static(report.outcome().as_str()));
    headers.insert("x-gleaner-cost", HeaderValue::from_static("0"));
    if let Ok(sources) = HeaderValue::from_str(&report.trail.sources.join(",")) {
        headers.insert("x-gleaner-sources", sources);
    }
    if let Ok(id) = HeaderValue::from_str(&format!("{:016x}", report.trail.id)) {
        headers.insert("x-gleaner-id", id);
    }
    let total = report.trail.elapsed.as_secs_f64() * 1000.0;
    if let Ok(timing) = HeaderValue::from_str(&format!("total;dur={total:.1}")) {
        headers.insert("server-timing", timing);
    }
}

/// The address of this search on our own page, for feeds.
fn link(pairs: &[(String, String)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs.iter().filter(|(name, _)| name != "format") {
        query.append_pair(name, value);
    }
    format!("/search?{}", query.finish())
}

fn value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

fn rest(pairs: &[(String, String)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs.iter().filter(|(name, _)| name != "q" && name != "pageno") {
        query.append_pair(name, value);
    }
    query.finish()
}
