//! SearXNG as an upstream: how a question is put to an instance, and what its reply means.
//!
//! The reply decides two things at once: what the search got, and what the pool should think of the instance
//! (`pool.md` 10.2). Both come from the same reading, so they cannot disagree. Redirects are read, never followed.

mod catalog;
mod formats;
mod html;
mod wait;

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, StatusCode};
use url::Url;

use self::html::HtmlPage;
use crate::base_url::BaseUrl;
use crate::circuit::{Outcome, Refusal};
use crate::error::{Reason, SearchError};
use crate::query::{Query, SafeSearch, TimeRange};
use crate::results::ResultPage;

pub use self::catalog::{Catalog, Engine, union};
pub use self::formats::{to_csv, to_rss};

/// What an instance is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// `format=json`.
    Json,
    /// The HTML page, read like a scraper would.
    Html,
}

/// The search page of `base` with `query` in it.
///
/// `timeout_limit` is what the engines are given at most, in seconds; `locale=en` keeps the reasons of failing engines
/// in English.
pub fn search_url(base: &BaseUrl, query: &Query, dialect: Dialect, timeout_limit: Option<f64>) -> Url {
    let mut url = base.page("search");
    let mut pairs = url.query_pairs_mut();
    pairs.append_pair("q", query.text());
    if dialect == Dialect::Json {
        pairs.append_pair("format", "json");
    }
    if query.page() > 1 {
        pairs.append_pair("pageno", &query.page().to_string());
    }
    for (name, value) in [
        ("language", query.language()),
        ("time_range", query.time_range().map(TimeRange::as_str)),
        ("safesearch", query.safe_search().map(SafeSearch::as_str)),
    ] {
        if let Some(value) = value {
            pairs.append_pair(name, value);
        }
    }
    for (name, values) in [("categories", query.categories()), ("engines", query.engines())] {
        if !values.is_empty() {
            pairs.append_pair(name, &values.join(","));
        }
    }
    for (name, value) in query.carried() {
        pairs.append_pair(name, value);
    }
    if let Some(limit) = timeout_limit {
        pairs.append_pair("timeout_limit", &format!("{limit:.3}"));
    }
    pairs.append_pair("locale", "en");
    drop(pairs);
    url
}

/// Headers that pass the limiter of an instance that has it on, honest about who asks.
///
/// Nothing of the client's goes along, but for the language tag that decides what is searched.
pub fn headers(query: Option<&Query>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let accept = "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8";
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("gleaner/", env!("CARGO_PKG_VERSION"))));
    let language = query
        .and_then(Query::accept_language)
        .filter(|tag| !tag.eq_ignore_ascii_case("en"))
        .and_then(|tag| HeaderValue::from_str(&format!("{tag},en;q=0.5")).ok());
    headers.insert(ACCEPT_LANGUAGE, language.unwrap_or(HeaderValue::from_static("en")));
    headers
}

/// A reply to be read.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body, decoded.
    pub body: &'a Bytes,
    /// Our wall clock, for a wait given as a date by a server that does not tell its own.
    pub unix_seconds: i64,
}

/// What a reply means.
#[derive(Clone, Debug)]
pub enum Reading {
    /// A page of results, possibly empty, and the dialect it came in.
    Page(ResultPage, Dialect),
    /// The query's own `!!` bang: to be handed to the client as it is.
    Redirect(String),
    /// No answer.
    Failure(Failure),
}

/// Why a reply is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What it means for the search.
    pub error: SearchError,
    /// The wait the server asked for.
    pub wait: Option<Duration>,
}

impl Failure {
    fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { error: SearchError::new(reason, message), wait: None }
    }

    /// What it means for the instance.
    pub fn outcome(&self) -> Outcome {
        match refusal(self.error.reason) {
            Some(why) => Outcome::Refused { why, wait: self.wait },
            None => Outcome::Neutral,
        }
    }
}

/// What a reason says of the instance; `None` if nothing.
pub fn refusal(reason: Reason) -> Option<Refusal> {
    match reason {
        Reason::Timeout => Some(Refusal::Timeout),
        Reason::Transport => Some(Refusal::Transport),
        Reason::RateLimited => Some(Refusal::RateLimited),
        Reason::Unavailable => Some(Refusal::Unavailable),
        Reason::Challenge => Some(Refusal::Challenge),
        Reason::Forbidden => Some(Refusal::Forbidden),
        Reason::Limiter => Some(Refusal::Limiter),
        Reason::Redirected | Reason::Moved | Reason::Status | Reason::Unreadable | Reason::TooLarge => {
            Some(Refusal::Other)
        }
        Reason::FormatOff
        | Reason::InvalidQuery
        | Reason::Deadline
        | Reason::Canceled
        | Reason::NobodyToAsk
        | Reason::Internal => None,
    }
}

/// What a page means for the instance: hits are good; none with engines that failed is soft; none at all says nothing
/// (`pool.md` R41).
pub fn page_outcome(page: &ResultPage) -> Outcome {
    if !page.is_empty() {
        Outcome::Good
    } else if page.unresponsive().is_empty() {
        Outcome::Neutral
    } else {
        Outcome::Empty { wait: None }
    }
}

/// Reads the reply of the instance at `base` to `query`.
pub fn read(reply: Reply<'_>, base: &BaseUrl, query: &Query, dialect: Dialect) -> Reading {
    let status = reply.status;
    if status.is_redirection() {
        return redirect(reply, base, query);
    }
    if status.is_success() {
        return success(reply, dialect);
    }
    let failure = match status.as_u16() {
        400 => Failure::new(Reason::InvalidQuery, error_text(reply.body)),
        403 if dialect == Dialect::Json => Failure::new(
            Reason::FormatOff,
            "the instance gives no json: add json to search.formats in its settings",
        ),
        401 | 403 | 418 => {
            Failure::new(Reason::Forbidden, format!("the instance answered {}", status.as_u16()))
        }
        429 => Failure::new(Reason::RateLimited, "the instance limits us"),
        503 => Failure::new(Reason::Unavailable, "the instance is unavailable"),
        code => Failure::new(Reason::Status, format!("the instance answered {code}")),
    };
    Reading::Failure(Failure { wait: wait::asked_for(reply.headers, reply.unix_seconds), ..failure })
}

fn success(reply: Reply<'_>, dialect: Dialect) -> Reading {
    let first = reply.body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'<') {
        return match ResultPage::from_json(reply.body) {
            Ok(page) => Reading::Page(page, Dialect::Json),
            Err(error) => Reading::Failure(Failure::new(Reason::Unreadable, error.to_string())),
        };
    }
    let is_challenge = reply.headers.get("cf-mitigated").is_some_and(|value| value == "challenge");
    match html::read(&String::from_utf8_lossy(reply.body)) {
        HtmlPage::Results(page) if dialect == Dialect::Html || !page.hits().is_empty() => {
            Reading::Page(page, Dialect::Html)
        }
        // An HTML page without results for a JSON request: the instance gives HTML, whatever it found.
        HtmlPage::Results(_) => {
            Reading::Failure(Failure::new(Reason::FormatOff, "the instance gives html for json"))
        }
        HtmlPage::Challenge => {
            Reading::Failure(Failure::new(Reason::Challenge, "the instance wants to see a human"))
        }
        HtmlPage::Other if is_challenge => {
            Reading::Failure(Failure::new(Reason::Challenge, "the instance wants to see a human"))
        }
        HtmlPage::Other => {
            Reading::Failure(Failure::new(Reason::Redirected, "the instance gave a page without results"))
        }
    }
}

fn redirect(reply: Reply<'_>, base: &BaseUrl, query: &Query) -> Reading {
    let location =
        reply.headers.get(LOCATION).and_then(|location| location.to_str().ok()).unwrap_or_default();
    let Ok(target) = base.page("search").join(location) else {
        return Reading::Failure(Failure::new(Reason::Redirected, "the instance redirects to no address"));
    };
    if target.host() != base.as_url().host() {
        if query.has_external_bang() {
            return Reading::Redirect(target.to_string());
        }
        return Reading::Failure(Failure::new(Reason::Redirected, "the instance redirects to another site"));
    }
    let root = |url: &Url| url.path().trim_end_matches('/').to_owned();
    if target.origin() == base.as_url().origin() && root(&target) == root(base.as_url()) {
        let mut failure = Failure::new(Reason::Limiter, "the instance's limiter sent us to its start page");
        failure.wait = wait::asked_for(reply.headers, reply.unix_seconds);
        return Reading::Failure(failure);
    }
    let moved = BaseUrl::parse(target.as_str()).map(|base| base.to_string()).unwrap_or_default();
    Reading::Failure(Failure::new(
        Reason::Moved,
        format!("the instance is at {moved}: configure that address"),
    ))
}

/// Reads what `/autocompleter` says: `[words, [suggestions], …]`, or a plain list. Empty if it is neither.
pub fn read_suggestions(body: &[u8]) -> Vec<String> {
    let Ok(serde_json::Value::Array(body)) = serde_json::from_slice(body) else { return Vec::new() };
    let list = body.iter().find_map(serde_json::Value::as_array).unwrap_or(&body);
    list.iter().filter_map(|word| word.as_str().map(str::to_owned)).take(100).collect()
}

/// SearXNG's own words for a bad request.
fn error_text(body: &Bytes) -> String {
    let error = serde_json::from_slice::<serde_json::Value>(body).ok();
    let error = error.as_ref().and_then(|body| body.get("error")).and_then(|error| error.as_str());
    error.unwrap_or("the instance calls the query invalid").chars().take(300).collect()
}
