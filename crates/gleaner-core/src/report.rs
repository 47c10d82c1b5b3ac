//! What a searcher brings back: an answer or an error, and the trail of how it came to be.

use crate::error::SearchError;
use crate::results::ResultPage;
use crate::trail::{Outcome, Trail};

/// What a search found.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A page of results; possibly empty.
    Page(ResultPage),
    /// The client's own `!!` bang: a redirect to another site, never followed, handed over as it is.
    Redirect(String),
}

/// One search, finished.
#[derive(Clone, Debug)]
pub struct SearchReport {
    /// The answer, or why there is none.
    pub result: Result<Answer, SearchError>,
    /// How it came to be.
    pub trail: Trail,
}

impl SearchReport {
    /// The one outcome this search is booked under (`failover.md` 6).
    pub fn outcome(&self) -> Outcome {
        match &self.result {
            Err(error) if error.is_canceled() => Outcome::Canceled,
            Err(_) => Outcome::Failed,
            Ok(Answer::Redirect(_)) => Outcome::Free,
            Ok(Answer::Page(page)) if !page.is_empty() => Outcome::Free,
            Ok(Answer::Page(page)) if page.unresponsive().is_empty() => Outcome::Zero,
            Ok(Answer::Page(_)) => Outcome::Degraded,
        }
    }
}
