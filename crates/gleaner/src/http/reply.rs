//! Responses, built in one place.

use bytes::Bytes;
use gleaner_core::error::{Code, SearchError};
use gleaner_core::results::json_string;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

/// A whole response in memory.
pub type Reply = Response<Full<Bytes>>;

/// A response of one content type.
pub fn reply(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A JSON response.
pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    reply(status, "application/json", body)
}

/// An HTML response.
pub fn html(status: StatusCode, body: String) -> Reply {
    reply(status, "text/html; charset=utf-8", body)
}

/// A redirect. A target that is no header value becomes a 502: it came from outside.
pub fn redirect(status: StatusCode, target: &str) -> Reply {
    match HeaderValue::from_str(target) {
        Ok(location) => {
            let mut response = html(status, String::new());
            response.headers_mut().insert(header::LOCATION, location);
            response
        }
        Err(_) => {
            json(StatusCode::BAD_GATEWAY, r#"{"error": "unusable redirect", "code": "upstream_failed"}"#)
        }
    }
}

/// SearXNG's own body for a bad request: only `error`.
pub fn bad_request(message: &str) -> Reply {
    json(StatusCode::BAD_REQUEST, format!("{{\"error\": {}}}", json_string(message)))
}

/// Every other failure of a search (`failover.md` 5): `error`, `code`, `retryable` and, where known, `retry_after`.
pub fn failure(error: &SearchError) -> Reply {
    if error.code() == Code::InvalidQuery {
        return bad_request(&error.message);
    }
    let wait = error.retry_after.map(|wait| wait.as_secs() + u64::from(wait.subsec_nanos() > 0));
    let mut body = serde_json::json!({
        "error": error.to_string(), "code": error.code().as_str(), "retryable": error.retryable(),
    });
    if let Some(seconds) = wait {
        body["retry_after"] = seconds.into();
    }
    let mut response = json(error.code().http_status(), body.to_string());
    if let Some(seconds) = wait {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}
