//! A pool with a clock in milliseconds that the test moves, and dice that the test throws.

use std::time::Duration;

use gleaner_core::circuit::{CircuitState, Outcome, Refusal};
use gleaner_core::instant::Instant;
use gleaner_core::pool::{Candidate, InstanceStats, Lease, Pool, PoolSettings, Recorded, Transition};

pub(crate) use gleaner_core::circuit::CircuitState::{Closed, HalfOpen, Open};

pub(crate) const GOOD: Outcome = Outcome::Good;
pub(crate) const SOFT: Outcome = Outcome::Empty { wait: None };
pub(crate) const REFUSED: Outcome = Outcome::refused(Refusal::RateLimited);
pub(crate) const TIMEOUT: Outcome = Outcome::refused(Refusal::Timeout);

pub(crate) fn refused_for(seconds: u64) -> Outcome {
    Outcome::Refused { why: Refusal::RateLimited, wait: Some(Duration::from_secs(seconds)) }
}

pub(crate) struct World {
    pub(crate) pool: Pool,
    pub(crate) now: u64,
    pub(crate) dice: Vec<f64>,
    pub(crate) draws: usize,
    pub(crate) events: Vec<Transition>,
}

impl World {
    pub(crate) fn new(settings: PoolSettings) -> Self {
        let pool = Pool::new(settings).unwrap();
        Self { pool, now: 1_000_000, dice: vec![0.5], draws: 0, events: Vec::new() }
    }

    pub(crate) fn base() -> Self {
        Self::new(PoolSettings::default())
    }

    pub(crate) fn instant(&self) -> Instant {
        Instant::from_duration(Duration::from_millis(self.now))
    }

    pub(crate) fn pass(&mut self, milliseconds: u64) {
        self.now += milliseconds;
        let events = self.pool.tick(self.instant());
        self.events.extend(events);
    }

    pub(crate) fn take(&mut self, candidates: &[Candidate<'_>], count: usize) -> Vec<Lease> {
        let (now, mut draws, faces) = (self.instant(), self.draws, self.dice.clone());
        let mut dice = || {
            draws += 1;
            faces[(draws - 1) % faces.len()]
        };
        let checkout = self.pool.checkout(candidates, count, now, &mut dice);
        self.draws = draws;
        self.events.extend(checkout.transitions);
        checkout.leases
    }

    pub(crate) fn lease(&mut self, instances: &[&str]) -> Option<Lease> {
        self.take(&plain(instances), 1).pop()
    }

    pub(crate) fn names(&mut self, instances: &[&str], count: usize) -> Vec<String> {
        self.take(&plain(instances), count).iter().map(|lease| lease.instance().to_owned()).collect()
    }

    pub(crate) fn record(&mut self, lease: Lease, outcome: Outcome, elapsed: u64) -> Recorded {
        let mut dice = || 0.5;
        let recorded = lease.record(outcome, Duration::from_millis(elapsed), self.instant(), &mut dice);
        self.events.extend(recorded.transition.clone());
        recorded
    }

    /// One whole search at one instance.
    pub(crate) fn search(&mut self, instance: &str, outcome: Outcome, elapsed: u64) -> Recorded {
        let lease = self.lease(&[instance]).expect("the instance may be asked");
        self.record(lease, outcome, elapsed)
    }

    pub(crate) fn stats(&self, instance: &str) -> InstanceStats {
        self.pool.stats(instance, self.instant())
    }

    pub(crate) fn state(&self, instance: &str) -> CircuitState {
        self.stats(instance).state
    }

    /// The cooldowns of the events toward open, in milliseconds.
    pub(crate) fn cooldowns(&self) -> Vec<u64> {
        let cooldowns = self.events.iter().filter_map(|event| event.change.cooldown);
        cooldowns.map(|cooldown| u64::try_from(cooldown.as_millis()).unwrap()).collect()
    }

    /// Waits for the end of the cooldown.
    pub(crate) fn cool(&mut self, instance: &str) {
        let until = self.stats(instance).open_until.expect("it is open");
        let wait = until.saturating_since(self.instant()).as_millis();
        self.pass(u64::try_from(wait).unwrap());
    }
}

pub(crate) fn plain<'a>(instances: &[&'a str]) -> Vec<Candidate<'a>> {
    instances.iter().map(|instance| Candidate::new(instance)).collect()
}

pub(crate) fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-9
}
