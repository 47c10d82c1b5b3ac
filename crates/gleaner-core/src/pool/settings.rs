//! What can be set of a pool. The defaults are the bare contract; [`PoolSettings::gateway`] is what the gateway uses.

use std::time::Duration;

use crate::circuit::{Cause, Refusal};

/// How searches that run at the same time spread over the instances (R23).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Spread {
    /// Idle instances come before busy ones.
    #[default]
    IdleFirst,
    /// The score is multiplied by 1 + the leases out (Peak-EWMA's rule).
    Cost,
    /// By the score alone.
    Score,
}

/// A cooldown before doubling, and its cap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReasonCooldown {
    /// The first one.
    pub base: Duration,
    /// The longest one, a server's wait included.
    pub max: Duration,
}

/// Cooldowns by what an instance did (A6); where there is none, the pool's own apply.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CooldownByReason {
    /// It did not answer in time.
    pub timeout: Option<ReasonCooldown>,
    /// It could not be reached.
    pub transport: Option<ReasonCooldown>,
    /// It answered 429.
    pub rate_limited: Option<ReasonCooldown>,
    /// It answered 503.
    pub unavailable: Option<ReasonCooldown>,
    /// It wanted to see a human.
    pub challenge: Option<ReasonCooldown>,
    /// It answered 401, 403 or 418.
    pub forbidden: Option<ReasonCooldown>,
    /// Its limiter sent us to the start page.
    pub limiter: Option<ReasonCooldown>,
}

/// The settings of a pool.
#[derive(Clone, PartialEq, Debug)]
pub struct PoolSettings {
    /// The first cooldown of an instance that refused; doubled with each refusal in a row.
    pub cooldown: Duration,
    /// The longest cooldown, a server's own wait included.
    pub max_cooldown: Duration,
    /// An instance idle for longer is forgotten.
    pub forget_after: Duration,
    /// How often idle instances are looked for.
    pub sweep_every: Duration,
    /// Soft answers in a row that count as a refusal; at least 1.
    pub soft_strikes: u32,
    /// The weight of the newest sample in both averages, above 0 and up to 1 (R1).
    pub ewma_alpha: f64,
    /// The score's random factor lies within 1 ± this; from 0 to 1.
    pub jitter: f64,
    /// An instance used more recently comes after every rested one.
    pub min_interval: Duration,
    /// The response time assumed of an unmeasured, unseeded instance.
    pub prior: Duration,
    /// How much failures weigh in the score; at least 0.
    pub failure_penalty: f64,
    /// The time in which a failure average shrinks to 1/e; none: it does not age (A1).
    pub failure_fade: Option<Duration>,
    /// The time in which the distance of a response time to the prior shrinks to 1/e; none: it does not age (A2).
    pub latency_fade: Option<Duration>,
    /// The share of checkouts in which one place goes to the instance unused longest; from 0 to 1 (A3).
    pub explore: f64,
    /// How leases that are out count (A4).
    pub spread: Spread,
    /// Cooldowns by reason (A6).
    pub cooldown_by_reason: CooldownByReason,
    /// A cooldown is longer by up to this share of it; from 0 to 1 (A7).
    pub cooldown_jitter: f64,
    /// For this long after a trial closed a circuit one lease at a time is out (A10).
    pub slow_start: Duration,
    /// Whether failures of nearly all instances at once are taken for our own network's (A11).
    pub self_outage_guard: bool,
    /// Whether, when every circuit is open, one that only we opened is tried early (A12).
    pub last_resort: bool,
    /// A lease held longer is void; zero: never (A14).
    pub lease_ttl: Duration,
    /// Whether soft answers never open the circuit of the last instance that is not open (A17).
    pub keep_last: bool,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self {
            cooldown: Duration::from_mins(1),
            max_cooldown: Duration::from_mins(30),
            forget_after: Duration::from_hours(6),
            sweep_every: Duration::from_mins(10),
            soft_strikes: 3,
            ewma_alpha: 0.3,
            jitter: 0.0,
            min_interval: Duration::ZERO,
            prior: Duration::from_millis(2500),
            failure_penalty: 3.0,
            failure_fade: None,
            latency_fade: None,
            explore: 0.0,
            spread: Spread::IdleFirst,
            cooldown_by_reason: CooldownByReason::default(),
            cooldown_jitter: 0.0,
            slow_start: Duration::ZERO,
            self_outage_guard: false,
            last_resort: false,
            lease_ttl: Duration::from_mins(5),
            keep_last: false,
        }
    }
}

/// A setting out of its range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{option} must be {range}")]
pub struct SettingError {
    /// The setting.
    pub option: &'static str,
    /// Its range.
    pub range: &'static str,
}

impl PoolSettings {
    /// The gateway's own settings: ageing, exploration, cooldowns by reason and the guards switched on. `last_resort` is
    /// for a gateway with a single instance.
    pub fn gateway() -> Self {
        let cooldown = |base, max| Some(ReasonCooldown { base, max });
        let half_hour = Duration::from_mins(30);
        let short = cooldown(Duration::from_secs(15), half_hour);
        let minute = cooldown(Duration::from_mins(1), half_hour);
        let quarter = cooldown(Duration::from_mins(15), Duration::from_hours(12));
        Self {
            failure_fade: Some(Duration::from_mins(15)),
            latency_fade: Some(Duration::from_hours(2)),
            explore: 0.03,
            cooldown_by_reason: CooldownByReason {
                timeout: short,
                transport: short,
                rate_limited: minute,
                unavailable: minute,
                challenge: quarter,
                forbidden: quarter,
                limiter: cooldown(Duration::from_hours(6), Duration::from_hours(24 * 7)),
            },
            cooldown_jitter: 0.1,
            self_outage_guard: true,
            keep_last: true,
            ..Self::default()
        }
    }

    /// Checks the ranges (R37).
    pub(super) fn check(&self) -> Result<(), SettingError> {
        let within = |value: f64| (0.0..=1.0).contains(&value);
        let checks = [
            (within(self.jitter), "jitter", "from 0 to 1"),
            (within(self.explore), "explore", "from 0 to 1"),
            (within(self.cooldown_jitter), "cooldown_jitter", "from 0 to 1"),
            (
                self.failure_penalty >= 0.0 && self.failure_penalty.is_finite(),
                "failure_penalty",
                "at least 0",
            ),
            (self.ewma_alpha > 0.0 && self.ewma_alpha <= 1.0, "ewma_alpha", "above 0 and at most 1"),
            (self.soft_strikes >= 1, "soft_strikes", "at least 1"),
            (!self.cooldown.is_zero(), "cooldown", "above 0"),
            (!self.max_cooldown.is_zero(), "max_cooldown", "above 0"),
            (!self.forget_after.is_zero(), "forget_after", "above 0"),
            (!self.sweep_every.is_zero(), "sweep_every", "above 0"),
            (!self.prior.is_zero(), "prior", "above 0"),
            (self.failure_fade.is_none_or(|time| !time.is_zero()), "failure_fade", "above 0"),
            (self.latency_fade.is_none_or(|time| !time.is_zero()), "latency_fade", "above 0"),
        ];
        match checks.into_iter().find(|(holds, ..)| !holds) {
            Some((_, option, range)) => Err(SettingError { option, range }),
            None => Ok(()),
        }
    }

    /// The cooldown and its cap for what opened a circuit.
    pub(super) fn cooldown_for(&self, cause: Cause) -> ReasonCooldown {
        let by_reason = &self.cooldown_by_reason;
        let own = match cause {
            Cause::Refused(Refusal::Timeout) => by_reason.timeout,
            Cause::Refused(Refusal::Transport) => by_reason.transport,
            Cause::Refused(Refusal::RateLimited) => by_reason.rate_limited,
            Cause::Refused(Refusal::Unavailable) => by_reason.unavailable,
            Cause::Refused(Refusal::Challenge) => by_reason.challenge,
            Cause::Refused(Refusal::Forbidden) => by_reason.forbidden,
            Cause::Refused(Refusal::Limiter) => by_reason.limiter,
            Cause::Refused(Refusal::Other) | Cause::SoftStrikes => None,
        };
        own.unwrap_or(ReasonCooldown { base: self.cooldown, max: self.max_cooldown })
    }
}
