//! One instance of the pool: its averages, counts and circuit, and its score.

use std::sync::Arc;
use std::time::Duration;

use super::settings::PoolSettings;
use super::{Candidate, InstanceStats, LANES};
use crate::circuit::{Circuit, CircuitState, Outcome};
use crate::ewma::{Ewma, Fade};
use crate::instant::Instant;

/// No response time counts for less, or an instance that once answered at once could not be beaten (R28).
const FLOOR: f64 = 1.0;

/// No response time counts for more (R36).
const CEILING: f64 = 600_000.0;

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) instance: Arc<str>,
    pub(super) circuit: Circuit,
    pub(super) in_flight: u32,
    pub(super) last_use: Option<Instant>,
    /// The checkout that has seen this entry last: how repeated candidates are told.
    pub(super) seen: u64,
    lane_use: [Option<Instant>; LANES],
    latency: Option<Ewma>,
    failure: Ewma,
    successes: u64,
    failures: u64,
    last_outcome: Option<Outcome>,
    prior: Option<f64>,
    seeded: Option<Instant>,
    created: Instant,
}

impl Entry {
    pub(super) fn new(instance: Arc<str>, now: Instant) -> Self {
        Self {
            instance,
            circuit: Circuit::new(),
            in_flight: 0,
            last_use: None,
            seen: 0,
            lane_use: [None; LANES],
            latency: None,
            failure: Ewma::new(0.0, now),
            successes: 0,
            failures: 0,
            last_outcome: None,
            prior: None,
            seeded: None,
            created: now,
        }
    }

    /// `L × (1 + penalty × F)`, in milliseconds; lowest is best.
    pub(super) fn score(&self, settings: &PoolSettings, now: Instant) -> f64 {
        let latency = match &self.latency {
            Some(latency) => latency.read(self.latency_fade(settings), now),
            None => self.rest(settings),
        };
        latency.max(FLOOR) * (1.0 + settings.failure_penalty * self.failure(settings, now))
    }

    fn failure(&self, settings: &PoolSettings, now: Instant) -> f64 {
        self.failure.read(failure_fade(settings), now)
    }

    /// The response time while nothing was measured: the prior, else the pool's.
    fn rest(&self, settings: &PoolSettings) -> f64 {
        self.prior.unwrap_or(settings.prior.as_secs_f64() * 1000.0)
    }

    fn latency_fade(&self, settings: &PoolSettings) -> Fade {
        Fade { toward: self.rest(settings), time: settings.latency_fade }
    }

    /// Whether it was used more recently than the ranking likes (R26).
    pub(super) fn is_recent(&self, settings: &PoolSettings, now: Instant) -> bool {
        self.last_use.is_some_and(|used| now.saturating_since(used) < settings.min_interval)
    }

    /// When the pacing of the candidate's lane lets it be asked; now or earlier if at once.
    pub(super) fn paced_until(&self, candidate: &Candidate<'_>) -> Instant {
        match self.lane_use[candidate.lane] {
            Some(used) => used + candidate.min_interval_hard,
            None => Instant::ZERO,
        }
    }

    /// Whether a request may go out now.
    pub(super) fn is_eligible(&self, candidate: &Candidate<'_>, now: Instant) -> bool {
        candidate.max_in_flight.is_none_or(|limit| self.in_flight < limit)
            && self.circuit.admits(self.in_flight, now)
            && self.is_paced(candidate, now)
    }

    /// Whether the pacing lets a request out now.
    pub(super) fn is_paced(&self, candidate: &Candidate<'_>, now: Instant) -> bool {
        candidate.min_interval_hard.is_zero() || self.paced_until(candidate) <= now
    }

    pub(super) fn stamp(&mut self, lane: usize, now: Instant) {
        self.last_use = self.last_use.max(Some(now));
        self.lane_use[lane] = self.lane_use[lane].max(Some(now));
    }

    pub(super) fn seed(&mut self, prior: f64, now: Instant) {
        if prior.is_finite() && prior > 0.0 {
            self.prior = Some(prior);
            self.seeded = Some(now);
        }
    }

    /// Takes in averages and counts of an outcome; the circuit is another matter.
    pub(super) fn learn(
        &mut self,
        outcome: Outcome,
        elapsed: Duration,
        settings: &PoolSettings,
        now: Instant,
    ) {
        let failed = match outcome {
            Outcome::Neutral => return,
            Outcome::Good => false,
            Outcome::Empty { .. } | Outcome::OffTopic { .. } | Outcome::Refused { .. } => true,
        };
        self.last_outcome = Some(outcome);
        self.failure.blend(f64::from(u8::from(failed)), settings.ewma_alpha, failure_fade(settings), now);
        if failed {
            self.failures += 1;
            return;
        }
        self.successes += 1;
        let sample = (elapsed.as_secs_f64() * 1000.0).min(CEILING);
        let fade = self.latency_fade(settings);
        match &mut self.latency {
            Some(latency) => latency.blend(sample, settings.ewma_alpha, fade, now),
            None => self.latency = Some(Ewma::new(sample, now)),
        }
    }

    /// Whether nobody would miss it (R17, R18).
    pub(super) fn is_forgettable(&self, settings: &PoolSettings, now: Instant) -> bool {
        let since = self.last_use.or(self.seeded).unwrap_or(self.created);
        self.in_flight == 0
            && self.circuit.state(now) != CircuitState::Open
            && now.saturating_since(since) > settings.forget_after
    }

    pub(super) fn stats(&self, settings: &PoolSettings, now: Instant) -> InstanceStats {
        InstanceStats {
            instance: Arc::clone(&self.instance),
            state: self.circuit.state(now),
            latency: self.latency.map(|latency| latency.read(self.latency_fade(settings), now)),
            failure: self.failure(settings, now),
            successes: self.successes,
            failures: self.failures,
            consecutive_failures: self.circuit.refusals(),
            consecutive_soft: self.circuit.soft(),
            open_until: self.circuit.open_until().filter(|end| now < *end),
            in_flight: self.in_flight,
            last_outcome: self.last_outcome,
            last_use: self.last_use,
            prior: self.prior,
            seeded: self.seeded,
        }
    }
}

fn failure_fade(settings: &PoolSettings) -> Fade {
    Fade { toward: 0.0, time: settings.failure_fade }
}
