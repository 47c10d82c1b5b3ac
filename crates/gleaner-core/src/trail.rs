//! The audit trail of one search: who was asked, why, how long it took, what came.
//!
//! A trail is data. Metrics, the log line, response headers and the status page are drawn from it and derive
//! nothing anew, so that they can never disagree.

use std::sync::Arc;
use std::time::Duration;

use crate::error::Reason;

/// How a search ended. Every search has exactly one (`failover.md` 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Results from free members only.
    Free,
    /// A true zero: everyone asked answered, nothing was found.
    Zero,
    /// No results, because sources failed.
    Degraded,
    /// An error was returned.
    Failed,
    /// The query could not be understood; nobody was asked.
    Invalid,
    /// The caller left before the answer.
    Canceled,
}

impl Outcome {
    /// Every outcome, in the order of the reference table.
    pub const ALL: [Self; 6] =
        [Self::Free, Self::Zero, Self::Degraded, Self::Failed, Self::Invalid, Self::Canceled];

    /// The name in the `X-Gleaner-Outcome` header and in metric labels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Zero => "zero",
            Self::Degraded => "degraded",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Canceled => "canceled",
        }
    }
}

/// Why an instance was asked within a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The best one the pool had.
    First,
    /// One of several asked side by side.
    FanOut,
    /// An earlier attempt was refused or brought nothing usable.
    Retry,
}

/// How one attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A page with this many hits.
    Answered(usize),
    /// A page without hits.
    Empty,
    /// A page whose hits have nothing to do with the query.
    OffTopic(usize),
    /// No page, for this reason.
    Failed(Reason),
    /// Not waited for any longer.
    Canceled,
}

/// One request to one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The instance as configured, without credentials.
    pub instance: Arc<str>,
    /// What made the search ask it.
    pub why: Why,
    /// From the start of the search to the start of the attempt.
    pub started: Duration,
    /// From the start of the attempt to its end.
    pub elapsed: Duration,
    /// How it ended.
    pub end: End,
}

impl Trail {
    /// The instances whose pages are in the answer.
    pub fn instances(&self) -> impl Iterator<Item = &str> {
        let answered = |attempt: &&Attempt| matches!(attempt.end, End::Answered(_) | End::OffTopic(_));
        self.attempts.iter().filter(answered).map(|attempt| &*attempt.instance)
    }
}

/// What happened within one search, in the order in which it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// The requests made.
    pub attempts: Vec<Attempt>,
    /// Names the search in headers and logs.
    pub id: u64,
    /// The members whose hits are in the answer, in line order.
    pub sources: Vec<&'static str>,
    /// From the first to the last moment of the search.
    pub elapsed: Duration,
}
