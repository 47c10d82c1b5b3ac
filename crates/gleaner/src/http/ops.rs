//! The small doors beside the search: readiness, the pool's `/config`, suggestions, the OpenSearch description.

use gleaner_core::circuit::{CircuitState, Outcome};
use gleaner_core::error::Code;
use gleaner_core::query::decode_query_string;
use gleaner_engine::Engine;
use gleaner_engine::searchers::pool::InstanceView;
use http::{HeaderMap, Request, StatusCode, header};
use serde_json::{Value, json};

use super::reply::{self, Reply};

/// Whether a search could be answered now, with what stands against it. 503 when nobody may be asked.
pub fn readiness(engine: &Engine) -> Reply {
    let ready = engine.next_available().is_some_and(|wait| wait.is_zero());
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let instances = engine.instances();
    let reasons: Vec<Value> = instances
        .iter()
        .filter(|instance| instance.stats.state != CircuitState::Closed || instance.note.is_some())
        .map(|instance| {
            json!({
                "url": &*instance.stats.instance,
                "circuit": instance.stats.state.as_str(),
                "last_outcome": instance.stats.last_outcome.map(Outcome::as_str),
                "note": instance.note,
            })
        })
        .collect();
    let body = json!({ "ready": ready, "instances": instances.len(), "reasons": reasons });
    reply::json(status, body.to_string())
}

/// The instances, best first, with what the pool knows of them.
pub fn pool(engine: &Engine) -> Reply {
    let instances: Vec<Value> = engine
        .instances()
        .iter()
        .map(|InstanceView { stats, note }| {
            json!({
                "url": &*stats.instance,
                "circuit": stats.state.as_str(),
                "latency_ms": stats.latency,
                "failure": stats.failure,
                "successes": stats.successes,
                "failures": stats.failures,
                "consecutive_failures": stats.consecutive_failures,
                "consecutive_soft": stats.consecutive_soft,
                "in_flight": stats.in_flight,
                "last_outcome": stats.last_outcome.map(Outcome::as_str),
                "note": note,
            })
        })
        .collect();
    reply::json(StatusCode::OK, json!({ "instances": instances }).to_string())
}

/// SearXNG's `/config`, from the pool.
pub fn config(engine: &Engine) -> Reply {
    match engine.config() {
        Some(config) => reply::json(StatusCode::OK, config.to_string()),
        None => {
            let error = "no instance has told its configuration yet";
            let body = json!({ "error": error, "code": Code::Unavailable.as_str(), "retryable": true });
            reply::json(StatusCode::SERVICE_UNAVAILABLE, body.to_string())
        }
    }
}

/// Suggestions: the OpenSearch form, or a plain list for scripts that say so.
pub async fn autocompleter<B>(engine: &Engine, request: Request<B>) -> Reply {
    let pairs = decode_query_string(request.uri().query().unwrap_or_default());
    let words = pairs.into_iter().find(|(name, _)| name == "q").map(|(_, value)| value).unwrap_or_default();
    let suggestions = if words.trim().is_empty() { Vec::new() } else { engine.suggest(&words).await };
    let plain = request.headers().get("x-requested-with").is_some_and(|value| value == "XMLHttpRequest");
    if plain {
        return reply::json(StatusCode::OK, json!(suggestions).to_string());
    }
    let relevance: Vec<usize> = (0..suggestions.len()).map(|place| 600_usize.saturating_sub(place)).collect();
    let body = json!([words, suggestions, [], [], { "google:suggestrelevance": relevance }]);
    reply::reply(StatusCode::OK, "application/x-suggestions+json", body.to_string())
}

/// The OpenSearch description, with our own address: the configured one, else what the client called us.
pub fn opensearch(public_url: Option<&str>, headers: &HeaderMap) -> Reply {
    let base = match public_url {
        Some(url) => url.to_owned(),
        None => {
            let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
            format!("http://{host}")
        }
    };
    let base = escape(&base);
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <OpenSearchDescription xmlns=\"http://a9.com/-/spec/opensearch/1.1/\">\n\
         <ShortName>Gleaner</ShortName>\n<Description>Web search</Description>\n\
         <InputEncoding>UTF-8</InputEncoding>\n\
         <Url rel=\"results\" type=\"text/html\" method=\"get\" template=\"{base}/search?q={{searchTerms}}\"/>\n\
         <Url rel=\"suggestions\" type=\"application/x-suggestions+json\" method=\"get\" \
         template=\"{base}/autocompleter?q={{searchTerms}}\"/>\n\
         <Url rel=\"self\" type=\"application/opensearchdescription+xml\" template=\"{base}/opensearch.xml\"/>\n\
         </OpenSearchDescription>\n"
    );
    reply::reply(StatusCode::OK, "application/opensearchdescription+xml; charset=utf-8", body)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
