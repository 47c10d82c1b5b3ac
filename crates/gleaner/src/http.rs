//! The routes, in one place.
//!
//! `/search` is answered before anything else is looked at. Paths are read as people type them: a doubled or trailing
//! slash, a doubled `/search/search` and the configured path prefix all lead to the same place.

pub mod ops;
pub mod page;
pub mod parameters;
pub mod reply;
pub mod search;
pub mod server;

use std::sync::Arc;

use bytes::Bytes;
use gleaner_engine::Engine;
use http::{HeaderValue, Method, Request, StatusCode, header};
use hyper::body::Incoming;

use self::reply::Reply;
use self::search::SearchDoor;

/// Every way in over HTTP.
pub struct Routes {
    search: SearchDoor,
    engine: Arc<Engine>,
    /// A path prefix under which the gateway is published, without a trailing slash; often empty.
    prefix: String,
    /// The address clients know us by, if configured.
    public_url: Option<String>,
}

impl Routes {
    /// Routes into `engine`. `public_url` is the address of the gateway as its clients see it.
    pub fn new(search: SearchDoor, engine: Arc<Engine>, public_url: Option<&url::Url>) -> Self {
        let prefix = public_url.map(|url| url.path().trim_end_matches('/').to_owned()).unwrap_or_default();
        let public_url = public_url.map(|url| url.as_str().trim_end_matches('/').to_owned());
        Self { search, engine, prefix, public_url }
    }

    async fn route(&self, request: Request<Incoming>) -> Reply {
        let path = normal_path(request.uri().path(), &self.prefix);
        let method = request.method().clone();
        match (path.as_str(), &method) {
            ("/search", &Method::GET | &Method::POST) => self.search.search(request).await,
            ("/search", &Method::HEAD) => reply::json(StatusCode::OK, ""),
            ("/", &Method::GET | &Method::POST) => self.root(request).await,
            ("/", &Method::HEAD) => reply::html(StatusCode::OK, String::new()),
            ("/healthz", &Method::GET | &Method::HEAD) => {
                reply::reply(StatusCode::OK, "text/plain; charset=utf-8", "OK")
            }
            ("/readyz", &Method::GET | &Method::HEAD) => ops::readiness(&self.engine),
            ("/config", &Method::GET) => ops::config(&self.engine),
            ("/api/v1/pool", &Method::GET) => ops::pool(&self.engine),
            ("/autocompleter", &Method::GET) => ops::autocompleter(&self.engine, request).await,
            ("/opensearch.xml", &Method::GET) => {
                ops::opensearch(self.public_url.as_deref(), request.headers())
            }
            ("/robots.txt", &Method::GET) => {
                reply::reply(StatusCode::OK, "text/plain; charset=utf-8", "User-agent: *\nDisallow: /\n")
            }
            ("/search" | "/", &Method::OPTIONS) => allowed(StatusCode::OK, "GET, POST, HEAD, OPTIONS"),
            ("/search" | "/", _) => allowed(StatusCode::METHOD_NOT_ALLOWED, "GET, POST, HEAD, OPTIONS"),
            (
                "/healthz" | "/readyz" | "/config" | "/autocompleter" | "/opensearch.xml" | "/robots.txt",
                _,
            ) => allowed(StatusCode::METHOD_NOT_ALLOWED, "GET, HEAD"),
            _ => reply::html(StatusCode::NOT_FOUND, page::error("", "There is no such page.")),
        }
    }

    /// `/` with a query is answered as SearXNG does, by a 308 to `/search` that keeps method and body.
    async fn root(&self, request: Request<Incoming>) -> Reply {
        let query = request.uri().query().map(str::to_owned);
        let pairs = match self.search.parameters(request).await {
            Ok(pairs) => pairs,
            Err(reply) => return reply,
        };
        if pairs.iter().any(|(name, value)| name == "q" && !value.is_empty()) {
            let query = query.map(|query| format!("?{query}")).unwrap_or_default();
            return reply::redirect(
                StatusCode::PERMANENT_REDIRECT,
                &format!("{}/search{query}", self.prefix),
            );
        }
        reply::html(StatusCode::OK, page::index())
    }
}

impl server::Answer for Routes {
    async fn answer(&self, request: Request<Incoming>) -> http::Response<http_body_util::Full<Bytes>> {
        let head = request.method() == Method::HEAD;
        let mut reply = self.route(request).await;
        if head {
            *reply.body_mut() = http_body_util::Full::default();
        }
        reply
    }
}

fn allowed(status: StatusCode, methods: &'static str) -> Reply {
    let mut reply = reply::html(status, String::new());
    reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    reply
}

/// The path as the routes know it: without the prefix, doubled slashes, a trailing slash or a doubled `/search`.
fn normal_path(path: &str, prefix: &str) -> String {
    let joined: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let path = format!("/{}", joined.join("/"));
    let path = match path.strip_prefix(prefix) {
        Some(rest) if !prefix.is_empty() && (rest.is_empty() || rest.starts_with('/')) => rest,
        _ => &path,
    };
    match path {
        "" => "/".to_owned(),
        "/search/search" => "/search".to_owned(),
        path => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_people_type_them() {
        for (path, prefix, expected) in [
            ("/search", "", "/search"),
            ("//search", "", "/search"),
            ("/search/", "", "/search"),
            ("/search/search", "", "/search"),
            ("/sx/search", "/sx", "/search"),
            ("/search", "/sx", "/search"),
            ("/sx", "/sx", "/"),
            ("/sx/", "/sx", "/"),
            ("/sxsearch", "/sx", "/sxsearch"),
            ("/", "", "/"),
            ("/nosuch", "", "/nosuch"),
        ] {
            assert_eq!(normal_path(path, prefix), expected, "{path} under {prefix:?}");
        }
    }
}
