//! Asks the pool's instances: one after another until one answers well, inside the search's deadline.
//!
//! Which instance, and whether it may be asked, is the pool's business (`gleaner_core::pool`); what a reply means is the
//! reader's (`gleaner_core::providers::searxng`). This file only drives: check out, send, read, record, go on.
//!
//! A refusal or a soft answer starts the next attempt at once. If no attempt is good, the soft page with the most hits is
//! the answer; if there is none, the last error is. Dropping a search gives its lease back and records nothing.

mod catalogs;
mod instance;

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use gleaner_core::circuit::Outcome;
use gleaner_core::error::{Reason, SearchError};
use gleaner_core::instant::Instant;
use gleaner_core::merge;
use gleaner_core::pool::{Candidate, InstanceStats, Lease, Pool, Transition};
use gleaner_core::providers::searxng::{self, Catalog, Dialect, Reading, Reply};
use gleaner_core::query::Query;
use gleaner_core::relevance::{self, Relevance};
use gleaner_core::report::{Answer, SearchReport};
use gleaner_core::results::ResultPage;
use gleaner_core::trail::{Attempt, End, Trail, Why};
use http::Method;
use tokio::sync::Notify;

use self::instance::Member;
pub use self::instance::{Format, Instance};
use crate::background::Background;
use crate::clock::Clock;
use crate::egress::{Egress, EgressError, FailureKind, Limits, Outgoing};
use crate::searcher::{Call, Searcher};

/// The pool's name in the line of members.
const NAME: &str = "searxng";

/// With less than this left of a search nobody is asked any more.
const WORTH_TRYING: Duration = Duration::from_millis(50);

/// What an attempt keeps for itself of the time given to the engines (`failover.md` 2.13).
const OVERHEAD: Duration = Duration::from_millis(300);

/// How long a page in hand waits for those of instances asked at the same time.
const TOP_UP: Duration = Duration::from_secs(1);

/// How long an instance may take to suggest words.
const SUGGESTING: Duration = Duration::from_secs(2);

/// Settings of the searcher, beside those of the pool.
#[derive(Clone, Copy, Debug)]
pub struct AskSettings {
    /// Instances asked within one search, inside its deadline; at least 1.
    pub attempts: usize,
    /// Instances asked side by side, their pages fused; 1 for one after another. Never public ones.
    pub fan_out: usize,
    /// The largest answer read, in bytes after decompression.
    pub max_body: usize,
}

/// The pool as a searcher.
pub struct PoolSearcher {
    pool: Pool,
    members: Vec<Member>,
    egress: Arc<dyn Egress>,
    clock: Clock,
    settings: AskSettings,
    /// Rung when a lease came back, for those who wait for a free place at an instance.
    returned: Notify,
}

/// An instance as operators see it.
#[derive(Clone, Debug)]
pub struct InstanceView {
    /// What the pool knows.
    pub stats: InstanceStats,
    /// What should be changed about it, if anything is known.
    pub note: Option<&'static str>,
}

/// How one attempt ended, with what it brought.
enum Asked {
    Good(ResultPage),
    Soft(ResultPage),
    Redirect(String),
    /// The query is at fault: nobody else would understand it.
    Invalid(SearchError),
    Failed(SearchError),
    /// The instance gives no JSON: to be asked for HTML at once.
    FormatOff(SearchError),
}

impl PoolSearcher {
    /// A searcher over `instances`, which must not repeat.
    pub fn new(
        pool: Pool,
        instances: Vec<Instance>,
        egress: Arc<dyn Egress>,
        clock: Clock,
        settings: AskSettings,
    ) -> Self {
        let members = instances.into_iter().map(Member::new).collect();
        Self { pool, members, egress, clock, settings, returned: Notify::new() }
    }

    /// Starts what runs beside the searches: the pool's timers and the instances' own word about themselves.
    pub fn start(self: &Arc<Self>, background: &Background) {
        background.round("pool timers", Arc::clone(self).run_timers());
        for member in &self.members {
            let request = Self::request(member, member.instance.base.page("config"), None);
            let round = catalogs::keep_asking(
                Arc::clone(&member.told),
                request,
                member.instance.public,
                Arc::clone(&self.egress),
                self.clock.clone(),
            );
            background.round("instance configuration", round);
        }
    }

    async fn run_timers(self: Arc<Self>) {
        loop {
            let now = self.clock.now();
            for transition in self.pool.tick(now) {
                announce(&transition);
            }
            self.returned.notify_waiters();
            // Looks up at least every second: a circuit that opens meanwhile may end sooner than all that is known now.
            let soon = now + Duration::from_secs(1);
            let wakeup = self.pool.next_wakeup(now).map_or(soon, |wakeup| wakeup.min(soon));
            self.clock.sleep_until(wakeup.max(now + Duration::from_millis(10))).await;
        }
    }

    /// The instances, in the order of the pool's snapshot; those never asked last.
    pub fn instances(&self) -> Vec<InstanceView> {
        let now = self.clock.now();
        let mut known = self.pool.snapshot(now);
        for member in &self.members {
            if !known.iter().any(|stats| *stats.instance == *member.id) {
                known.push(self.pool.stats(&member.id, now));
            }
        }
        let note = |stats: &InstanceStats| {
            self.members.iter().find(|member| *member.id == *stats.instance)?.note(now)
        };
        known.into_iter().map(|stats| InstanceView { note: note(&stats), stats }).collect()
    }

    /// Whether a search could be sent to somebody now, and if not, when.
    pub fn next_available(&self) -> Option<Duration> {
        let now = self.clock.now();
        let candidates: Vec<_> = self.members.iter().filter_map(|member| member.candidate(now)).collect();
        Some(self.pool.next_available(&candidates, now)?.saturating_since(now))
    }

    /// What the instances told about themselves.
    pub fn catalogs(&self) -> Vec<Arc<Catalog>> {
        self.members.iter().filter_map(|member| member.told.get()).collect()
    }

    /// Words that continue `words`, from the best instance; empty if it has none or does not tell in time.
    pub async fn suggest(&self, words: &str) -> Vec<String> {
        let now = self.clock.now();
        let candidates: Vec<_> = self.members.iter().filter_map(|member| member.candidate(now)).collect();
        let ranked = self.pool.rank(&candidates, now, &mut || self.clock.dice());
        let Some(best) = ranked.first().and_then(|id| self.members.iter().find(|member| member.id == *id))
        else {
            return Vec::new();
        };
        let mut url = best.instance.base.page("autocompleter");
        url.query_pairs_mut().append_pair("q", words);
        let request = Self::request(best, url, None);
        match self.egress.send(request, Limits::until(now + SUGGESTING)).await {
            Ok(reply) if reply.status.is_success() => searxng::read_suggestions(&reply.body),
            _ => Vec::new(),
        }
    }

    async fn run(&self, query: &Query, call: Call) -> SearchReport {
        let mut trail = Trail::default();
        let mut left: Vec<&Member> = self.members.iter().collect();
        let mut soft: Option<ResultPage> = None;
        let mut failed: Option<SearchError> = None;
        let mut first = true;
        while trail.attempts.len() < self.settings.attempts {
            let round = if first && self.settings.fan_out > 1 {
                self.side_by_side(query, call, &mut left, &mut trail).await
            } else {
                let Some((lease, member)) = self.check_out(&left, call).await else { break };
                left.retain(|other| other.id != member.id);
                let why = if trail.attempts.is_empty() { Why::First } else { Why::Retry };
                let (asked, attempt) = self.attempt(lease, member, query, call, why).await;
                trail.attempts.push(attempt);
                vec![asked]
            };
            first = false;
            let mut good = Vec::new();
            for asked in round {
                match asked {
                    Asked::Good(page) => good.push(page),
                    Asked::Soft(page) => {
                        if soft.as_ref().is_none_or(|best| best.hits().len() < page.hits().len()) {
                            soft = Some(page);
                        }
                    }
                    Asked::Redirect(target) => return self.finish(Ok(Answer::Redirect(target)), trail, call),
                    Asked::Invalid(error) => return self.finish(Err(error), trail, call),
                    Asked::Failed(error) | Asked::FormatOff(error) => failed = Some(error),
                }
            }
            if let Some(page) = merge::fuse(good) {
                return self.answered(page, trail, call);
            }
        }
        if let Some(page) = soft {
            return self.answered(page, trail, call);
        }
        let error = failed.unwrap_or_else(|| self.nobody(call));
        self.finish(Err(error), trail, call)
    }

    /// Several of the user's own instances at once, in order of rank. Once a good page is there, the others get [`TOP_UP`]
    /// more; who is not back by then is let go without a record.
    async fn side_by_side<'a>(
        &'a self,
        query: &Query,
        call: Call,
        left: &mut Vec<&'a Member>,
        trail: &mut Trail,
    ) -> Vec<Asked> {
        let now = self.clock.now();
        let own = left.iter().filter(|member| !member.instance.public);
        let candidates: Vec<Candidate<'_>> = own.filter_map(|member| member.candidate(now)).collect();
        let checkout = self.pool.checkout(&candidates, self.settings.fan_out, now, &mut || self.clock.dice());
        checkout.transitions.iter().for_each(announce);
        let mut asking = FuturesUnordered::new();
        for (rank, lease) in checkout.leases.into_iter().enumerate() {
            let Some(place) = left.iter().position(|member| *member.id == *lease.instance()) else {
                continue;
            };
            let member = left.remove(place);
            asking.push(async move { (rank, self.attempt(lease, member, query, call, Why::FanOut).await) });
        }
        let mut round = Vec::new();
        let mut until = call.deadline;
        while let Some(Some((rank, (asked, attempt)))) = self.clock.before(until, asking.next()).await {
            trail.attempts.push(attempt);
            if let Asked::Good(_) = asked {
                until = until.min(self.clock.now() + TOP_UP);
            }
            round.push((rank, asked));
        }
        round.sort_by_key(|(rank, _)| *rank);
        round.into_iter().map(|(_, asked)| asked).collect()
    }

    fn answered(&self, page: ResultPage, mut trail: Trail, call: Call) -> SearchReport {
        if !page.is_empty() {
            trail.sources.push(NAME);
        }
        self.finish(Ok(Answer::Page(page)), trail, call)
    }

    fn finish(&self, result: Result<Answer, SearchError>, mut trail: Trail, call: Call) -> SearchReport {
        trail.elapsed = self.clock.now().saturating_since(call.started);
        SearchReport { result, trail }
    }

    /// Why nobody was asked: out of time while waiting for a place, or nobody may be asked.
    fn nobody(&self, call: Call) -> SearchError {
        if call.deadline <= self.clock.now() + WORTH_TRYING {
            return SearchError::new(Reason::Deadline, "no instance had a free place in time");
        }
        if self.members.is_empty() {
            return SearchError::new(Reason::NobodyToAsk, "no instance is configured: set searxng.instances");
        }
        SearchError::new(Reason::NobodyToAsk, "no instance may be asked now").after(self.next_available())
    }

    /// A lease on the best of `left`; waits for a free place as long as the deadline allows, not for circuits.
    async fn check_out<'a>(&'a self, left: &[&'a Member], call: Call) -> Option<(Lease, &'a Member)> {
        loop {
            let returned = self.returned.notified();
            let now = self.clock.now();
            if call.deadline <= now + WORTH_TRYING {
                return None;
            }
            let candidates: Vec<Candidate<'_>> =
                left.iter().filter_map(|member| member.candidate(now)).collect();
            let checkout = self.pool.checkout(&candidates, 1, now, &mut || self.clock.dice());
            checkout.transitions.iter().for_each(announce);
            if let Some(lease) = checkout.leases.into_iter().next() {
                let member = left.iter().find(|member| *member.id == *lease.instance())?;
                return Some((lease, member));
            }
            // Only a busy instance is worth waiting for: it is available, yet at its limit.
            if self.pool.next_available(&candidates, now).is_none_or(|instant| now < instant) {
                return None;
            }
            self.clock.before(call.deadline, returned).await?;
        }
    }

    /// One instance asked, for HTML as well if it turns out to give no JSON, and recorded at the pool.
    async fn attempt(
        &self,
        lease: Lease,
        member: &Member,
        query: &Query,
        call: Call,
        why: Why,
    ) -> (Asked, Attempt) {
        let place = Place { lease: Some(lease), returned: &self.returned };
        let started = self.clock.now();
        let own_limit = started + member.instance.timeout;
        let limits = Limits { body: self.settings.max_body, ..Limits::until(own_limit.min(call.deadline)) };
        let mut asked =
            self.ask(member, query, member.dialect(started), limits, call.deadline < own_limit).await;
        if let (Asked::FormatOff(_), _) = asked {
            let now = self.clock.now();
            member.gives_no_json(now);
            if member.instance.format == Format::Auto {
                asked = self.ask(member, query, Dialect::Html, limits, call.deadline < own_limit).await;
            }
        }
        let (asked, outcome) = asked;
        let now = self.clock.now();
        let elapsed = now.saturating_since(started);
        place.record(outcome, elapsed, now, &self.clock);
        let attempt = Attempt {
            instance: Arc::clone(&member.id),
            why,
            started: started.saturating_since(call.started),
            elapsed,
            end: end(&asked, outcome),
        };
        (asked, attempt)
    }

    /// One request and its reading, with what it means for the instance.
    async fn ask(
        &self,
        member: &Member,
        query: &Query,
        dialect: Dialect,
        limits: Limits,
        search_ends_first: bool,
    ) -> (Asked, Outcome) {
        let time = limits.deadline.saturating_since(self.clock.now());
        let url =
            searxng::search_url(&member.instance.base, query, dialect, timeout_limit(member, query, time));
        let request = Self::request(member, url, Some(query));
        let reply = match self.egress.send(request, limits).await {
            Ok(reply) => reply,
            Err(error) => return failed(&error, search_ends_first),
        };
        let unix_seconds = self.clock.unix_seconds();
        let view = Reply { status: reply.status, headers: &reply.headers, body: &reply.body, unix_seconds };
        match searxng::read(view, &member.instance.base, query, dialect) {
            Reading::Page(page, came_in) => {
                if dialect == Dialect::Json && came_in == Dialect::Html {
                    member.gives_no_json(self.clock.now());
                }
                judge(page, member, query)
            }
            Reading::Redirect(target) => (Asked::Redirect(target), Outcome::Neutral),
            Reading::Failure(failure) => {
                let outcome = failure.outcome();
                let asked = match failure.error.reason {
                    Reason::FormatOff => Asked::FormatOff(failure.error),
                    Reason::InvalidQuery => Asked::Invalid(failure.error),
                    _ => Asked::Failed(failure.error),
                };
                (asked, outcome)
            }
        }
    }

    fn request(member: &Member, url: url::Url, query: Option<&Query>) -> Outgoing {
        let mut headers = searxng::headers(query);
        headers.extend(member.instance.headers.clone());
        Outgoing { method: Method::GET, url, headers, body: bytes::Bytes::new() }
    }
}

impl Searcher for PoolSearcher {
    fn name(&self) -> &'static str {
        NAME
    }

    fn search<'a>(&'a self, query: &'a Query, call: Call) -> BoxFuture<'a, SearchReport> {
        self.run(query, call).boxed()
    }
}

/// A lease in use. Dropping it, recorded or not, tells those who wait that a place is free.
struct Place<'a> {
    lease: Option<Lease>,
    returned: &'a Notify,
}

impl Place<'_> {
    fn record(mut self, outcome: Outcome, elapsed: Duration, now: Instant, clock: &Clock) {
        if let Some(lease) = self.lease.take() {
            let recorded = lease.record(outcome, elapsed, now, &mut || clock.dice());
            recorded.transition.iter().for_each(announce);
            if recorded.network_down {
                tracing::warn!("nearly all instances are silent: our own network seems to be down");
            }
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        drop(self.lease.take());
        self.returned.notify_waiters();
    }
}

/// A page and what it says of its instance; public instances are also judged by whether it has to do with the question.
fn judge(mut page: ResultPage, member: &Member, query: &Query) -> (Asked, Outcome) {
    let outcome = searxng::page_outcome(&page);
    if outcome != Outcome::Good {
        let soft = matches!(outcome, Outcome::Empty { .. });
        return if soft { (Asked::Soft(page), outcome) } else { (Asked::Good(page), outcome) };
    }
    if !member.instance.judged {
        return (Asked::Good(page), outcome);
    }
    let texts: Vec<[String; 3]> = page
        .hits()
        .iter()
        .map(|hit| [hit.title().into(), hit.url().unwrap_or_default().into(), hit.content().into()])
        .collect();
    let rows = texts.iter().map(|[title, url, content]| [title.as_str(), url.as_str(), content.as_str()]);
    match relevance::judge(&query.terms(), rows) {
        Relevance::NotJudged | Relevance::OnTopic => (Asked::Good(page), outcome),
        Relevance::Partly(places) => {
            page.keep(&places);
            (Asked::Good(page), outcome)
        }
        Relevance::OffTopic => (Asked::Soft(page), Outcome::OffTopic { wait: None }),
    }
}

/// What a request without a reply means. A search that ran out of time says nothing of an instance that still had some.
fn failed(error: &EgressError, search_ends_first: bool) -> (Asked, Outcome) {
    tracing::debug!(%error, "an instance did not answer");
    let reason = match error.kind {
        FailureKind::Timeout if search_ends_first => Reason::Deadline,
        FailureKind::Timeout => Reason::Timeout,
        FailureKind::BodyTooLarge => Reason::TooLarge,
        FailureKind::Decode => Reason::Unreadable,
        FailureKind::Blocked | FailureKind::BadRequest => Reason::Internal,
        FailureKind::Resolve
        | FailureKind::Connect
        | FailureKind::Tls
        | FailureKind::Reset
        | FailureKind::Protocol => Reason::Transport,
    };
    let message = match reason {
        Reason::Deadline => "the search ran out of time",
        Reason::Timeout => "the instance did not answer in time",
        Reason::TooLarge => "the instance's answer is too large",
        Reason::Unreadable => "the instance's answer cannot be decompressed",
        Reason::Internal => "the request could not be sent",
        _ => "the instance cannot be reached",
    };
    let outcome = searxng::refusal(reason).map_or(Outcome::Neutral, Outcome::refused);
    (Asked::Failed(SearchError::new(reason, message)), outcome)
}

/// What goes upstream as `timeout_limit`, in seconds: so that one slow engine does not cost the answers of the others.
/// Nothing where all engines asked are known to be quick enough; to public instances never one of ours.
fn timeout_limit(member: &Member, query: &Query, time: Duration) -> Option<f64> {
    let client = query.timeout_limit();
    if member.instance.public {
        return client;
    }
    let ours = time.saturating_sub(OVERHEAD).as_secs_f64();
    let slowest = member.told.get().and_then(|catalog| catalog.slowest(query));
    let ours = (ours > 0.0 && slowest.is_none_or(|slowest| ours < slowest)).then_some(ours);
    match (client, ours) {
        (Some(client), Some(ours)) => Some(client.min(ours)),
        (client, ours) => client.or(ours),
    }
}

fn end(asked: &Asked, outcome: Outcome) -> End {
    match asked {
        Asked::Good(page) | Asked::Soft(page) if matches!(outcome, Outcome::OffTopic { .. }) => {
            End::OffTopic(page.hits().len())
        }
        Asked::Good(page) | Asked::Soft(page) if page.is_empty() => End::Empty,
        Asked::Good(page) | Asked::Soft(page) => End::Answered(page.hits().len()),
        Asked::Redirect(_) => End::Answered(0),
        Asked::Invalid(error) | Asked::Failed(error) | Asked::FormatOff(error) => End::Failed(error.reason),
    }
}

fn announce(transition: &Transition) {
    let change = &transition.change;
    tracing::info!(
        instance = %transition.instance,
        from = change.from.as_str(),
        to = change.to.as_str(),
        cause = change.cause.map(gleaner_core::circuit::Cause::as_str),
        cooldown_seconds = change.cooldown.map(|cooldown| cooldown.as_secs_f64()),
        "circuit",
    );
}
