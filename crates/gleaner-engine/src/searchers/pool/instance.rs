//! One configured instance, and the little that is remembered of it beside the pool.

use std::sync::Arc;
use std::time::Duration;

use gleaner_core::base_url::BaseUrl;
use gleaner_core::instant::Instant;
use gleaner_core::pool::Candidate;
use gleaner_core::providers::searxng::Dialect;
use http::HeaderMap;
use parking_lot::Mutex;

use super::catalogs::Told;

/// How long it is remembered that an instance gives no JSON.
const REMEMBERED: Duration = Duration::from_hours(6);

/// In which form an instance is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// JSON; HTML for six hours once the instance has refused JSON.
    Auto,
    /// JSON only: an instance that refuses it is not asked for six hours.
    Json,
    /// HTML only.
    Html,
}

/// One configured instance.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Where it is.
    pub base: BaseUrl,
    /// How it is asked.
    pub format: Format,
    /// Sent to this instance with every request.
    pub headers: HeaderMap,
    /// The longest wait for one answer. Above the engines' own limit, or slow engines look like a dead instance.
    pub timeout: Duration,
    /// Searches there at the same time.
    pub max_in_flight: u32,
    /// Belongs to others and is open to all.
    pub public: bool,
    /// The pause kept between two JSON searches; zero for none.
    pub json_interval: Duration,
    /// The pause kept between two HTML searches; zero for none.
    pub html_interval: Duration,
    /// A good answer takes back one refusal instead of all.
    pub stepwise_forgiveness: bool,
    /// Its answers are judged for having to do with the question.
    pub judged: bool,
}

/// An instance in use.
pub(super) struct Member {
    pub(super) id: Arc<str>,
    pub(super) instance: Instance,
    pub(super) told: Arc<Told>,
    json_off_until: Mutex<Option<Instant>>,
}

impl Member {
    pub(super) fn new(instance: Instance) -> Self {
        let id = instance.base.name().into();
        Self { id, instance, told: Arc::default(), json_off_until: Mutex::new(None) }
    }

    /// What it is asked for now.
    pub(super) fn dialect(&self, now: Instant) -> Dialect {
        match self.instance.format {
            Format::Html => Dialect::Html,
            Format::Auto if self.json_is_off(now) => Dialect::Html,
            Format::Auto | Format::Json => Dialect::Json,
        }
    }

    /// The instance as a candidate; `None` while it must be asked for JSON and gives none.
    pub(super) fn candidate(&self, now: Instant) -> Option<Candidate<'_>> {
        if self.instance.format == Format::Json && self.json_is_off(now) {
            return None;
        }
        let dialect = self.dialect(now);
        Some(Candidate {
            instance: &self.id,
            max_in_flight: Some(self.instance.max_in_flight),
            min_interval_hard: match dialect {
                Dialect::Json => self.instance.json_interval,
                Dialect::Html => self.instance.html_interval,
            },
            lane: match dialect {
                Dialect::Json => 0,
                Dialect::Html => 1,
            },
            stepwise_forgiveness: self.instance.stepwise_forgiveness,
        })
    }

    /// It refused JSON, or gave HTML for it.
    pub(super) fn gives_no_json(&self, now: Instant) {
        let first = self.json_off_until.lock().replace(now + REMEMBERED).is_none();
        if first && self.instance.format == Format::Auto {
            tracing::info!(instance = %self.id, "gives no JSON: it is asked for HTML from now on");
        } else if first {
            tracing::warn!(instance = %self.id, "gives no JSON and is left alone: add json to search.formats in its settings");
        }
    }

    /// What should be changed about it.
    pub(super) fn note(&self, now: Instant) -> Option<&'static str> {
        self.json_is_off(now).then_some("json format is off: add json to search.formats in its settings")
    }

    fn json_is_off(&self, now: Instant) -> bool {
        self.json_off_until.lock().is_some_and(|until| now < until)
    }
}
