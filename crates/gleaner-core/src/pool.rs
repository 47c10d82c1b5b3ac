//! Ranks instances by what was learned from the searches made through them, reserves them with leases, and keeps the
//! unhealthy ones out (`pool.md`).
//!
//! The pool knows nothing of HTTP: an instance is a text, an answer an [`Outcome`]. It reads no clock and throws no
//! dice: `now` and the dice are arguments, so two runs with the same ones are identical.
//!
//! [`Pool::checkout`] ranks and reserves in one step; a [`Lease`] is reported with [`Lease::record`] or gives itself back
//! when dropped. What changed state is returned, once, by whoever brought it about. Everything stands under one short
//! lock that is never held while anything waits: a reader waits at most for one pass over the instances.
//!
//! ```
//! use std::time::Duration;
//!
//! use gleaner_core::circuit::{Outcome, Refusal};
//! use gleaner_core::instant::Instant;
//! use gleaner_core::pool::{Candidate, Pool, PoolSettings};
//!
//! let pool = Pool::new(PoolSettings::default()).expect("the defaults are valid");
//! let instances = [Candidate::new("https://a.example"), Candidate::new("https://b.example")];
//! let mut dice = || 0.5;
//! let now = Instant::ZERO;
//!
//! let mut leases = pool.checkout(&instances, 1, now, &mut dice).leases;
//! let lease = leases.pop().expect("both are healthy");
//! assert_eq!(lease.instance(), "https://a.example");
//! lease.record(Outcome::refused(Refusal::RateLimited), Duration::from_millis(80), now, &mut dice);
//!
//! // The refusal opened the circuit: only the other one is handed out now.
//! let leases = pool.checkout(&instances, 2, now, &mut dice).leases;
//! assert_eq!(leases.iter().map(|lease| lease.instance()).collect::<Vec<_>>(), ["https://b.example"]);
//! ```

mod entry;
mod outage;
mod settings;
mod state;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::circuit::{Change, CircuitState, Outcome};
use crate::instant::Instant;

pub use self::settings::{CooldownByReason, PoolSettings, ReasonCooldown, SettingError, Spread};
use self::state::State;

/// A source of randomness: uniform in `[0, 1)`.
pub type Dice<'a> = &'a mut dyn FnMut() -> f64;

/// An instance that may be asked, and how carefully.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Candidate<'a> {
    /// The instance. Compared byte for byte.
    pub instance: &'a str,
    /// The most leases out at once; none for no limit (A9).
    pub max_in_flight: Option<u32>,
    /// Not asked again in this lane before this time has passed; zero for no pacing (A5).
    pub min_interval_hard: Duration,
    /// What `min_interval_hard` counts apart, such as the formats of an answer; below [`LANES`].
    pub lane: usize,
    /// Whether a good answer takes one refusal back instead of all (A8).
    pub stepwise_forgiveness: bool,
}

/// How many lanes a candidate's pacing may tell apart.
pub const LANES: usize = 2;

impl<'a> Candidate<'a> {
    /// An instance without limits of its own.
    pub const fn new(instance: &'a str) -> Self {
        Self {
            instance,
            max_in_flight: None,
            min_interval_hard: Duration::ZERO,
            lane: 0,
            stepwise_forgiveness: false,
        }
    }
}

/// A change of an instance's state. Each is reported once.
#[derive(Clone, PartialEq, Debug)]
pub struct Transition {
    /// The instance.
    pub instance: Arc<str>,
    /// What changed.
    pub change: Change,
}

/// What a checkout gave.
#[derive(Debug, Default)]
pub struct Checkout {
    /// The leases, best first; at most as many as asked for.
    pub leases: Vec<Lease>,
    /// Cooldowns that were found to have ended.
    pub transitions: Vec<Transition>,
}

/// What a report brought about.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Recorded {
    /// The change of state, if there was one.
    pub transition: Option<Transition>,
    /// The failure was taken for one of our own network and held against nobody (A11).
    pub network_down: bool,
}

/// What is known of an instance.
#[derive(Clone, PartialEq, Debug)]
pub struct InstanceStats {
    /// The instance.
    pub instance: Arc<str>,
    /// Its circuit.
    pub state: CircuitState,
    /// The response-time average in milliseconds; none while unmeasured.
    pub latency: Option<f64>,
    /// The failure average, from 0 to 1.
    pub failure: f64,
    /// Good answers.
    pub successes: u64,
    /// Soft answers and refusals.
    pub failures: u64,
    /// Refusals in a row: the exponent of the doubling.
    pub consecutive_failures: u32,
    /// Soft answers since the last good one.
    pub consecutive_soft: u32,
    /// When the cooldown ends, while open.
    pub open_until: Option<Instant>,
    /// Leases out.
    pub in_flight: u32,
    /// What came of the last lease.
    pub last_outcome: Option<Outcome>,
    /// When it was last checked out.
    pub last_use: Option<Instant>,
    /// The response time it was said to have, in milliseconds.
    pub prior: Option<f64>,
    /// When that was said.
    pub seeded: Option<Instant>,
}

/// The pool. Clones are the same pool.
#[derive(Clone, Debug)]
pub struct Pool {
    state: Arc<Mutex<State>>,
}

impl Pool {
    /// An empty pool.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range; the error names it.
    pub fn new(settings: PoolSettings) -> Result<Self, SettingError> {
        settings.check()?;
        Ok(Self { state: Arc::new(Mutex::new(State::new(settings))) })
    }

    /// Ranks `candidates` and reserves up to `count` of them in one step.
    ///
    /// Never waits; gives what is eligible, best first, possibly nothing. Of a repeated candidate the first counts. One
    /// draw of the dice per ranked candidate if there is jitter, one more if there is exploration.
    pub fn checkout(
        &self,
        candidates: &[Candidate<'_>],
        count: usize,
        now: Instant,
        dice: Dice<'_>,
    ) -> Checkout {
        let mut state = self.state.lock();
        let mut transitions = Vec::new();
        let issued = state.checkout(candidates, count, now, dice, &mut transitions);
        let leases = issued
            .into_iter()
            .map(|(id, instance)| Lease { pool: Arc::clone(&self.state), id, instance })
            .collect();
        Checkout { leases, transitions }
    }

    /// What [`Pool::checkout`] would hand out, best first, without reserving anything.
    pub fn rank(&self, candidates: &[Candidate<'_>], now: Instant, dice: Dice<'_>) -> Vec<Arc<str>> {
        self.state.lock().rank(candidates, now, dice)
    }

    /// When the first of `candidates` may be asked: `now` if one may be, or is merely busy; none without candidates (A16).
    pub fn next_available(&self, candidates: &[Candidate<'_>], now: Instant) -> Option<Instant> {
        self.state.lock().next_available(candidates, now)
    }

    /// Says what response time, in milliseconds, instances are expected to have until they are measured. Values that
    /// are not finite and positive are ignored.
    pub fn seed<'a>(&self, priors: impl IntoIterator<Item = (&'a str, f64)>, now: Instant) {
        let mut state = self.state.lock();
        for (instance, prior) in priors {
            state.seed(instance, prior, now);
        }
    }

    /// What is known of one instance; of an unknown one, what is known of a fresh one.
    pub fn stats(&self, instance: &str, now: Instant) -> InstanceStats {
        self.state.lock().stats(instance, now)
    }

    /// Everything known, best first: what may be handed out, then what is busy, then what is open by the end of its
    /// cooldown (R35).
    pub fn snapshot(&self, now: Instant) -> Vec<InstanceStats> {
        self.state.lock().snapshot(now)
    }

    /// Applies what is due: cooldowns that ended, leases that were held too long, instances that were idle too long.
    pub fn tick(&self, now: Instant) -> Vec<Transition> {
        self.state.lock().tick(now)
    }

    /// When [`Pool::tick`] next has something to do.
    pub fn next_wakeup(&self, now: Instant) -> Option<Instant> {
        self.state.lock().next_wakeup(now)
    }

    /// Closes the circuit of an instance, whatever it was open for.
    pub fn close(&self, instance: &str, now: Instant) -> Option<Transition> {
        self.state.lock().close(instance, now)
    }

    /// Forgets everything. Leases that are out are void; nothing is reported (R30).
    pub fn reset(&self) {
        self.state.lock().reset();
    }
}

/// The right to one request to one instance.
///
/// Dropping it gives the place back and records nothing: the caller left, or nobody waited for the answer.
#[derive(Debug)]
#[must_use = "a lease that is dropped at once reserves nothing"]
pub struct Lease {
    pool: Arc<Mutex<State>>,
    id: u64,
    instance: Arc<str>,
}

impl Lease {
    /// The instance to ask.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// Reports what came of the request and how long it took, and gives the place back.
    ///
    /// Of a lease that was held beyond its time, or from before a reset, nothing is recorded (R16).
    pub fn record(self, outcome: Outcome, elapsed: Duration, now: Instant, dice: Dice<'_>) -> Recorded {
        self.pool.lock().record(self.id, outcome, elapsed, now, dice)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.pool.lock().release(self.id);
    }
}
