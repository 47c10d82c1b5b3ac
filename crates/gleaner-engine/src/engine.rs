//! The whole of the moving parts, as the doors see it.

use std::sync::Arc;
use std::time::Duration;

use gleaner_core::providers::searxng;
use gleaner_core::query::Query;
use gleaner_core::report::{Answer, SearchReport};

use crate::background::Background;
use crate::clock::Clock;
use crate::searcher::{Call, Searcher};
use crate::searchers::pool::{InstanceView, PoolSearcher};

/// Settings of the search as a whole.
#[derive(Clone, Copy, Debug)]
pub struct EngineSettings {
    /// How long one search may take; a client's own limit may shorten it.
    pub deadline: Duration,
    /// The most hits in an answer; 0 for no cap.
    pub max_results: usize,
}

/// Answers searches until it is shut down.
pub struct Engine {
    pool: Arc<PoolSearcher>,
    clock: Clock,
    background: Background,
    settings: EngineSettings,
}

impl Engine {
    /// An engine over a pool. Starts what runs beside the searches, so it needs a runtime.
    pub fn start(pool: PoolSearcher, clock: Clock, settings: EngineSettings) -> Self {
        let pool = Arc::new(pool);
        let background = Background::new();
        pool.start(&background);
        Self { pool, clock, background, settings }
    }

    /// Answers a question. Dropping the future abandons it: nothing is recorded against anybody.
    pub async fn search(&self, query: &Query) -> SearchReport {
        let started = self.clock.now();
        let limit = query.timeout_limit().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        // The client's limit is for the engines; an instance needs a moment more to answer.
        let limit = limit.map_or(self.settings.deadline, |limit| limit + Duration::from_millis(500));
        let call = Call { started, deadline: started + limit.min(self.settings.deadline) };
        let mut report = self.pool.search(query, call).await;
        report.trail.id = self.clock.id();
        if let Ok(Answer::Page(page)) = &mut report.result {
            page.cut(self.settings.max_results);
        }
        report
    }

    /// The instances, best first.
    pub fn instances(&self) -> Vec<InstanceView> {
        self.pool.instances()
    }

    /// How long until somebody may be asked: zero for at once, none if nobody is configured or may ever be.
    pub fn next_available(&self) -> Option<Duration> {
        self.pool.next_available()
    }

    /// What the pool offers, in the shape of SearXNG's `/config`; `None` while no instance has told.
    pub fn config(&self) -> Option<serde_json::Value> {
        let catalogs = self.pool.catalogs();
        searxng::union(catalogs.iter().map(AsRef::as_ref))
    }

    /// Words that continue `words`.
    pub async fn suggest(&self, words: &str) -> Vec<String> {
        self.pool.suggest(words).await
    }

    /// Ends what runs beside the searches; what needs longer than `grace` is cut off.
    pub async fn shutdown(&self, grace: Duration) {
        let deadline = self.clock.now() + grace;
        for task in self.background.shutdown(&self.clock, deadline).await {
            tracing::warn!(task, "was cut off at the end");
        }
    }
}
