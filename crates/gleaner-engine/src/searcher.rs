//! The promise of everything that answers searches.

use futures_util::future::BoxFuture;
use gleaner_core::instant::Instant;
use gleaner_core::query::Query;
use gleaner_core::report::SearchReport;

/// The frame of one search: when it began and when it must end. Handed down, never restarted.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// When the search entered.
    pub started: Instant,
    /// When its answer is due; what is there by then is the answer.
    pub deadline: Instant,
}

/// Answers a query within a call.
///
/// Dropping the future abandons the search: leases and requests give themselves back.
pub trait Searcher: Send + Sync {
    /// The name used in labels, headers and the trail.
    fn name(&self) -> &str;

    /// Answers `query` before `call.deadline`.
    fn search<'a>(&'a self, query: &'a Query, call: Call) -> BoxFuture<'a, SearchReport>;
}
