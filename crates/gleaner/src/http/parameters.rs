//! The parameters of a request: the query string and an urlencoded or multipart form, form first.
//!
//! SearXNG reads both and lets the form win; of a repeated name the first value counts. A body of another type is
//! ignored, as SearXNG ignores it. Bodies are bounded; a form that is cut off or broken is a client error, never a
//! search for half a question.

use bytes::Bytes;
use gleaner_core::query::decode_query_string;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, Limited};

/// Most fields a form or query string may have. Clients send about ten; SearXNG's preferences have forty.
const MAX_FIELDS: usize = 256;

/// Why the parameters could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ParametersError {
    /// The body is larger than `limits.body`.
    #[error("request body is larger than {0} bytes")]
    BodyTooLarge(usize),
    /// The body ended early or is not the form it says it is.
    #[error("request body is not a readable form")]
    Unreadable,
    /// A form whose length is not told: what follows cannot be told from the next request.
    #[error("a form needs a content-length")]
    LengthRequired,
    /// More names than any client sends.
    #[error("more than {MAX_FIELDS} parameters")]
    TooMany,
}

impl ParametersError {
    /// The status this is answered with.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::BodyTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::LengthRequired => StatusCode::LENGTH_REQUIRED,
            Self::Unreadable | Self::TooMany => StatusCode::BAD_REQUEST,
        }
    }
}

/// Reads the parameters of `request`, form fields before those of the query string.
pub async fn read<B>(request: Request<B>, body_limit: usize) -> Result<Vec<(String, String)>, ParametersError>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (head, body) = request.into_parts();
    let mut pairs = match form_kind(&head.headers) {
        None => Vec::new(),
        Some(_) if !has_length(&head.headers) => return Err(ParametersError::LengthRequired),
        Some(kind) => {
            let body = collect(body, body_limit).await?;
            match kind {
                FormKind::UrlEncoded => decode_query_string(&String::from_utf8_lossy(&body)),
                FormKind::Multipart(boundary) => multipart(body, boundary).await?,
            }
        }
    };
    pairs.extend(decode_query_string(head.uri.query().unwrap_or_default()));
    if pairs.len() > MAX_FIELDS {
        return Err(ParametersError::TooMany);
    }
    Ok(pairs)
}

enum FormKind {
    UrlEncoded,
    Multipart(String),
}

fn form_kind(headers: &HeaderMap) -> Option<FormKind> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    if let Ok(boundary) = multer::parse_boundary(content_type) {
        return Some(FormKind::Multipart(boundary));
    }
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/x-www-form-urlencoded").then_some(FormKind::UrlEncoded)
}

fn has_length(headers: &HeaderMap) -> bool {
    headers.contains_key(header::CONTENT_LENGTH) || headers.contains_key(header::TRANSFER_ENCODING)
}

async fn collect<B>(body: B, limit: usize) -> Result<Bytes, ParametersError>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(ParametersError::BodyTooLarge(limit))
        }
        Err(_) => Err(ParametersError::Unreadable),
    }
}

async fn multipart(body: Bytes, boundary: String) -> Result<Vec<(String, String)>, ParametersError> {
    let stream = futures_util::stream::once(async move { Ok::<_, std::convert::Infallible>(body) });
    let mut form = multer::Multipart::new(stream, boundary);
    let mut pairs = Vec::new();
    while let Some(field) = form.next_field().await.map_err(|_| ParametersError::Unreadable)? {
        let name = field.name().map(str::to_owned);
        let is_file = field.file_name().is_some();
        let value = field.bytes().await.map_err(|_| ParametersError::Unreadable)?;
        if let (Some(name), false) = (name, is_file) {
            pairs.push((name, String::from_utf8_lossy(&value).into_owned()));
        }
        if pairs.len() > MAX_FIELDS {
            return Err(ParametersError::TooMany);
        }
    }
    Ok(pairs)
}
