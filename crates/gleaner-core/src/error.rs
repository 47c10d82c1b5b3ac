//! Why a search or a request did not bring an answer: one fine [`Reason`], one coarse [`Code`].
//!
//! A reason is for operators: a metric label, a trail entry. A code is for callers and never changes its meaning. What
//! follows from a reason stands in one exhaustive table each; a new reason does not compile until every table knows it.

use std::time::Duration;

use http::StatusCode;

/// What went wrong, finely. Also the label in metrics, so the set is closed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// The far side did not answer within its own limit.
    Timeout,
    /// No HTTP answer: the connection, TLS or protocol failed.
    Transport,
    /// 429 from the far side.
    RateLimited,
    /// 503 from the far side.
    Unavailable,
    /// A page that wants to see a human.
    Challenge,
    /// 401, 403 or 418.
    Forbidden,
    /// SearXNG's limiter sent us to its start page.
    Limiter,
    /// A redirect to another site that nobody asked for.
    Redirected,
    /// A redirect within the site: the configured address is not the instance's own.
    Moved,
    /// The instance does not give JSON.
    FormatOff,
    /// Another status that is no answer.
    Status,
    /// A reply that is neither results nor a known page.
    Unreadable,
    /// A reply larger than we read.
    TooLarge,
    /// The far side calls the request invalid.
    InvalidQuery,
    /// The search's deadline came first.
    Deadline,
    /// The caller left.
    Canceled,
    /// Nobody may be asked now.
    NobodyToAsk,
    /// A fault of our own.
    Internal,
}

impl Reason {
    /// Every reason, in the order of the reference table.
    pub const ALL: [Self; 18] = [
        Self::Timeout,
        Self::Transport,
        Self::RateLimited,
        Self::Unavailable,
        Self::Challenge,
        Self::Forbidden,
        Self::Limiter,
        Self::Redirected,
        Self::Moved,
        Self::FormatOff,
        Self::Status,
        Self::Unreadable,
        Self::TooLarge,
        Self::InvalidQuery,
        Self::Deadline,
        Self::Canceled,
        Self::NobodyToAsk,
        Self::Internal,
    ];

    /// The name in metric labels and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Transport => "transport",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::Challenge => "challenge",
            Self::Forbidden => "forbidden",
            Self::Limiter => "limiter",
            Self::Redirected => "redirected",
            Self::Moved => "moved",
            Self::FormatOff => "format_off",
            Self::Status => "status",
            Self::Unreadable => "unreadable",
            Self::TooLarge => "too_large",
            Self::InvalidQuery => "invalid_query",
            Self::Deadline => "deadline",
            Self::Canceled => "canceled",
            Self::NobodyToAsk => "nobody_to_ask",
            Self::Internal => "internal",
        }
    }

    /// What a caller is told.
    pub const fn code(self) -> Code {
        match self {
            Self::Timeout | Self::Deadline => Code::Timeout,
            Self::Transport
            | Self::RateLimited
            | Self::Unavailable
            | Self::Challenge
            | Self::Forbidden
            | Self::Limiter
            | Self::Redirected
            | Self::Moved
            | Self::FormatOff
            | Self::Status
            | Self::Unreadable
            | Self::TooLarge => Code::UpstreamFailed,
            Self::InvalidQuery => Code::InvalidQuery,
            Self::NobodyToAsk => Code::Unavailable,
            Self::Canceled | Self::Internal => Code::Internal,
        }
    }
}

/// What went wrong, as callers are told: stable names (`failover.md` 5).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Code {
    /// The query cannot be understood; asking again does not help.
    InvalidQuery,
    /// Upstream trouble.
    UpstreamFailed,
    /// Out of time.
    Timeout,
    /// Nothing may be asked now.
    Unavailable,
    /// A fault of the gateway.
    Internal,
}

impl Code {
    /// The name in JSON errors.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidQuery => "invalid_query",
            Self::UpstreamFailed => "upstream_failed",
            Self::Timeout => "timeout",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }

    /// The status it is answered with over HTTP.
    pub const fn http_status(self) -> StatusCode {
        match self {
            Self::InvalidQuery => StatusCode::BAD_REQUEST,
            Self::UpstreamFailed => StatusCode::BAD_GATEWAY,
            Self::Timeout => StatusCode::GATEWAY_TIMEOUT,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Whether the same question may be answered later.
    pub const fn retryable(self) -> bool {
        !matches!(self, Self::InvalidQuery)
    }
}

/// Why a search has no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct SearchError {
    /// The fine reason.
    pub reason: Reason,
    /// For people: lower case, without secrets, bodies or addresses.
    pub message: String,
    /// When asking again may help, if known.
    pub retry_after: Option<Duration>,
}

impl SearchError {
    /// An error without a known wait.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), retry_after: None }
    }

    /// The same error, with the wait after which asking again may help.
    #[must_use]
    pub fn after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// What the caller is told.
    pub fn code(&self) -> Code {
        self.reason.code()
    }

    /// Whether asking again may help.
    pub fn retryable(&self) -> bool {
        self.code().retryable()
    }

    /// Whether the caller left before the answer.
    pub fn is_canceled(&self) -> bool {
        self.reason == Reason::Canceled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(names.len(), Reason::ALL.len());
    }

    #[test]
    fn what_a_caller_gets_is_the_contracts_table() {
        for (reason, code, status, retryable) in [
            (Reason::InvalidQuery, "invalid_query", 400, false),
            (Reason::Transport, "upstream_failed", 502, true),
            (Reason::RateLimited, "upstream_failed", 502, true),
            (Reason::Deadline, "timeout", 504, true),
            (Reason::NobodyToAsk, "unavailable", 503, true),
            (Reason::Internal, "internal", 500, true),
        ] {
            let error = SearchError::new(reason, "x");
            assert_eq!(error.code().as_str(), code);
            assert_eq!(error.code().http_status().as_u16(), status);
            assert_eq!(error.retryable(), retryable);
        }
    }
}
