//! One circuit breaker as a value: closed, open, half-open.
//!
//! *Closed* lets requests through, *open* none, *half-open* one at a time: the trial that decides. The words are those
//! of an electric circuit, so open means broken.
//!
//! Late news is the trap of every breaker: an answer to a question asked before the circuit opened says nothing about
//! the state it is in now. So each admission carries a [`Ticket`] with the circuit's epoch, which rises whenever it
//! opens; a ticket of another epoch never moves the circuit nor its streaks (`pool.md` R11 to R14). Nothing here waits:
//! a cooldown that ended is applied by whoever looks next (R32).

use std::time::Duration;

use crate::instant::Instant;

/// The three states.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CircuitState {
    /// Requests go through.
    Closed,
    /// Nothing goes through before the cooldown ends.
    Open,
    /// One trial at a time goes through.
    HalfOpen,
}

impl CircuitState {
    /// The name in logs, metrics and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

/// Why an instance did not serve us. Cooldowns may differ by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Refusal {
    /// It did not answer within its own limit.
    Timeout,
    /// No HTTP answer at all: connection, TLS or protocol failed.
    Transport,
    /// 429.
    RateLimited,
    /// 503.
    Unavailable,
    /// A page that wants to see a human.
    Challenge,
    /// 401, 403 or 418.
    Forbidden,
    /// The limiter's redirect to the start page.
    Limiter,
    /// Everything else that is its fault.
    Other,
}

impl Refusal {
    /// The name in logs, metrics and settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Transport => "transport",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::Challenge => "challenge",
            Self::Forbidden => "forbidden",
            Self::Limiter => "limiter",
            Self::Other => "other",
        }
    }

    /// Whether nothing came back, so that our own network may be at fault.
    pub const fn is_silence(self) -> bool {
        matches!(self, Self::Timeout | Self::Transport)
    }
}

/// What came of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// At least one hit, and on topic.
    Good,
    /// An answer that is of no use: no hits.
    Empty {
        /// The wait the server asked for. Counts only if this answer opens the circuit.
        wait: Option<Duration>,
    },
    /// An answer that is of no use: hits that have nothing to do with the query.
    OffTopic {
        /// As with [`Outcome::Empty`].
        wait: Option<Duration>,
    },
    /// No answer worth the name.
    Refused {
        /// What kind.
        why: Refusal,
        /// The wait the server asked for; zero counts as none (R9).
        wait: Option<Duration>,
    },
    /// Says nothing about the instance: our own fault, or nobody waited for the answer (R10).
    Neutral,
}

impl Outcome {
    /// The outcome of an answer with this many hits, all taken to be on topic.
    pub const fn hits(count: usize) -> Self {
        if count == 0 { Self::Empty { wait: None } } else { Self::Good }
    }

    /// A refusal without a wait.
    pub const fn refused(why: Refusal) -> Self {
        Self::Refused { why, wait: None }
    }

    /// The name in logs and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Empty { .. } => "empty",
            Self::OffTopic { .. } => "off_topic",
            Self::Refused { why, .. } => why.as_str(),
            Self::Neutral => "neutral",
        }
    }

    /// Whether nothing came back, so that our own network may be at fault.
    pub(crate) const fn is_silence(self) -> bool {
        matches!(self, Self::Refused { why, .. } if why.is_silence())
    }

    /// What this outcome would open a circuit for.
    pub(crate) const fn cause(self) -> Option<Cause> {
        match self {
            Self::Good | Self::Neutral => None,
            Self::Empty { .. } | Self::OffTopic { .. } => Some(Cause::SoftStrikes),
            Self::Refused { why, .. } => Some(Cause::Refused(why)),
        }
    }

    /// The server's wait, if it says anything.
    const fn wait(self) -> Option<Duration> {
        match self {
            Self::Good | Self::Neutral => None,
            Self::Empty { wait } | Self::OffTopic { wait } | Self::Refused { wait, .. } => match wait {
                Some(wait) if !wait.is_zero() => Some(wait),
                _ => None,
            },
        }
    }
}

/// What opened a circuit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// A refusal.
    Refused(Refusal),
    /// Too many soft answers without a good one.
    SoftStrikes,
}

impl Cause {
    /// The name in logs, metrics and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused(why) => why.as_str(),
            Self::SoftStrikes => "soft_strikes",
        }
    }
}

/// A change of state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The state before.
    pub from: CircuitState,
    /// The state after.
    pub to: CircuitState,
    /// How long it stays open; only toward open.
    pub cooldown: Option<Duration>,
    /// What opened it; only toward open.
    pub cause: Option<Cause>,
}

/// What one report is judged by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CircuitRules {
    /// Soft answers in a row that count as a refusal.
    pub soft_strikes: u32,
    /// The first cooldown for the cause at hand.
    pub cooldown: Duration,
    /// The longest cooldown for the cause at hand, a server's wait included.
    pub max_cooldown: Duration,
    /// What a cooldown is multiplied with before it is capped; at least 1 (A7).
    pub stretch: f64,
    /// Whether an answer takes one refusal back instead of all (A8).
    pub stepwise_forgiveness: bool,
    /// Whether soft answers may open the circuit (A17 says when they may not).
    pub soft_may_open: bool,
    /// How long a circuit that was just closed is used by one at a time (A10).
    pub slow_start: Duration,
}

/// The right to one request, bound to the state it was given in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    epoch: u64,
    trial: bool,
}

impl Ticket {
    /// Whether the request decides a half-open circuit.
    pub const fn is_trial(self) -> bool {
        self.trial
    }
}

/// One circuit breaker.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Circuit {
    phase: Phase,
    epoch: u64,
    refusals: u32,
    soft: u32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// Used by one at a time until then.
    Closed {
        slow_until: Instant,
    },
    Open {
        since: Instant,
        until: Instant,
        cause: Cause,
        server_said: bool,
    },
    HalfOpen {
        trial_out: bool,
    },
}

impl Circuit {
    /// A closed circuit without a past.
    pub const fn new() -> Self {
        Self { phase: Phase::Closed { slow_until: Instant::ZERO }, epoch: 0, refusals: 0, soft: 0 }
    }

    /// The state at `now`: an open circuit is half-open from the end of its cooldown on.
    pub fn state(&self, now: Instant) -> CircuitState {
        match self.phase {
            Phase::Closed { .. } => CircuitState::Closed,
            Phase::Open { until, .. } if now < until => CircuitState::Open,
            Phase::Open { .. } | Phase::HalfOpen { .. } => CircuitState::HalfOpen,
        }
    }

    /// The end of the cooldown, until somebody has applied it.
    pub const fn open_until(&self) -> Option<Instant> {
        match self.phase {
            Phase::Open { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Whether requests go through without limit.
    pub const fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed { .. })
    }

    /// Closes it by hand: whatever it was open for is forgotten.
    pub fn close(&mut self, now: Instant) -> Option<Change> {
        let from = self.state(now);
        (self.refusals, self.soft) = (0, 0);
        if self.is_closed() {
            return None;
        }
        self.phase = Phase::Closed { slow_until: Instant::ZERO };
        Some(Change { from, to: CircuitState::Closed, cooldown: None, cause: None })
    }

    /// The refusals in a row: the exponent of the doubling.
    pub const fn refusals(&self) -> u32 {
        self.refusals
    }

    /// The soft answers since the last good one.
    pub const fn soft(&self) -> u32 {
        self.soft
    }

    /// Whether a request may go through at `now`, with `in_flight` others out.
    pub fn admits(&self, in_flight: u32, now: Instant) -> bool {
        match self.phase {
            Phase::Closed { slow_until } => in_flight == 0 || slow_until <= now,
            Phase::Open { until, .. } => until <= now,
            Phase::HalfOpen { trial_out } => !trial_out,
        }
    }

    /// Whether an early trial is reasonable: nobody told us to stay away, we only concluded it (A12).
    pub const fn may_resort(&self) -> bool {
        match self.phase {
            Phase::Open { cause, server_said, .. } => {
                !server_said
                    && match cause {
                        Cause::Refused(why) => why.is_silence(),
                        Cause::SoftStrikes => true,
                    }
            }
            _ => false,
        }
    }

    /// Goes from open to half-open if the cooldown has ended.
    pub fn fall_due(&mut self, now: Instant) -> Option<Change> {
        match self.phase {
            Phase::Open { until, .. } if until <= now => Some(self.half_open()),
            _ => None,
        }
    }

    /// Goes from open to half-open before the cooldown has ended.
    pub fn resort(&mut self) -> Option<Change> {
        self.may_resort().then(|| self.half_open())
    }

    /// Ends the cooldown at `now` and takes its refusal back, if silence opened the circuit within the `window` before:
    /// it was our own network (A11).
    pub fn forgive_silence(&mut self, window: Duration, now: Instant) {
        let Phase::Open { since, until, cause: Cause::Refused(why), .. } = &mut self.phase else { return };
        if why.is_silence() && now.saturating_since(*since) <= window && now < *until {
            *until = now;
            self.refusals = self.refusals.saturating_sub(1);
        }
    }

    /// Lets a request through. Ask [`Circuit::admits`] first, and let what is due fall due.
    pub fn admit(&mut self) -> Ticket {
        let trial = if let Phase::HalfOpen { trial_out } = &mut self.phase {
            debug_assert!(!*trial_out, "one trial at a time");
            *trial_out = true;
            true
        } else {
            debug_assert!(matches!(self.phase, Phase::Closed { .. }), "an open circuit admits nothing");
            false
        };
        Ticket { epoch: self.epoch, trial }
    }

    /// Takes back a ticket whose request came to nothing: a lost trial frees the place, nothing else changes (R15).
    pub fn give_back(&mut self, ticket: Ticket) {
        if let Phase::HalfOpen { trial_out } = &mut self.phase
            && ticket.trial
            && ticket.epoch == self.epoch
        {
            *trial_out = false;
        }
    }

    /// Takes in what came of the ticket's request.
    pub fn report(
        &mut self,
        ticket: Ticket,
        outcome: Outcome,
        rules: &CircuitRules,
        now: Instant,
    ) -> Option<Change> {
        if ticket.epoch != self.epoch {
            self.extend(outcome, rules, now);
            return None;
        }
        match outcome {
            Outcome::Neutral => {
                self.give_back(ticket);
                None
            }
            Outcome::Good => {
                self.soft = 0;
                self.answered(rules, now)
            }
            Outcome::Empty { .. } | Outcome::OffTopic { .. } => {
                self.soft = self.soft.saturating_add(1);
                if self.soft >= rules.soft_strikes && rules.soft_may_open {
                    Some(self.open(Cause::SoftStrikes, outcome.wait(), rules, now))
                } else {
                    self.answered(rules, now)
                }
            }
            Outcome::Refused { why, .. } => Some(self.open(Cause::Refused(why), outcome.wait(), rules, now)),
        }
    }

    /// Three parallel refusals are one incident; yet the longest wait the server asked for counts (R12).
    fn extend(&mut self, outcome: Outcome, rules: &CircuitRules, now: Instant) {
        let Phase::Open { until, server_said, .. } = &mut self.phase else { return };
        if let (Outcome::Refused { .. }, Some(wait)) = (outcome, outcome.wait())
            && now < *until
        {
            let end = now + stretched(wait, rules);
            if *until < end {
                *until = end;
                *server_said = true;
            }
        }
    }

    fn half_open(&mut self) -> Change {
        self.phase = Phase::HalfOpen { trial_out: false };
        Change { from: CircuitState::Open, to: CircuitState::HalfOpen, cooldown: None, cause: None }
    }

    /// It is reachable: the doubling relaxes, and a trial that was answered closes.
    fn answered(&mut self, rules: &CircuitRules, now: Instant) -> Option<Change> {
        self.refusals = if rules.stepwise_forgiveness { self.refusals.saturating_sub(1) } else { 0 };
        let Phase::HalfOpen { .. } = self.phase else { return None };
        self.phase = Phase::Closed { slow_until: now + rules.slow_start };
        Some(Change { from: CircuitState::HalfOpen, to: CircuitState::Closed, cooldown: None, cause: None })
    }

    fn open(&mut self, cause: Cause, wait: Option<Duration>, rules: &CircuitRules, now: Instant) -> Change {
        let from = self.state(now);
        self.refusals = self.refusals.saturating_add(1);
        let cooldown = stretched(wait.unwrap_or_else(|| doubled(rules.cooldown, self.refusals)), rules);
        let until = now + cooldown;
        self.phase = Phase::Open { since: now, until, cause, server_said: wait.is_some() };
        self.epoch += 1;
        Change { from, to: CircuitState::Open, cooldown: Some(cooldown), cause: Some(cause) }
    }
}

impl Default for Circuit {
    fn default() -> Self {
        Self::new()
    }
}

/// The first cooldown doubled for every further refusal in a row (R8).
fn doubled(first: Duration, refusals: u32) -> Duration {
    first.saturating_mul(1 << refusals.saturating_sub(1).min(31))
}

fn stretched(cooldown: Duration, rules: &CircuitRules) -> Duration {
    let longer = if rules.stretch > 1.0 {
        Duration::try_from_secs_f64(cooldown.as_secs_f64() * rules.stretch).unwrap_or(Duration::MAX)
    } else {
        cooldown
    };
    longer.min(rules.max_cooldown)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: CircuitRules = CircuitRules {
        soft_strikes: 3,
        cooldown: Duration::from_mins(1),
        max_cooldown: Duration::from_mins(30),
        stretch: 1.0,
        stepwise_forgiveness: false,
        soft_may_open: true,
        slow_start: Duration::ZERO,
    };

    fn at(seconds: u64) -> Instant {
        Instant::from_duration(Duration::from_secs(seconds))
    }

    #[test]
    fn the_exponent_saturates_and_the_cap_wins() {
        assert_eq!(
            doubled(Duration::from_mins(1), u32::MAX).min(RULES.max_cooldown),
            Duration::from_mins(30)
        );
        assert_eq!(doubled(Duration::MAX, 40), Duration::MAX);
        let capped = CircuitRules { max_cooldown: Duration::from_secs(5), ..RULES };
        let mut circuit = Circuit::new();
        let ticket = circuit.admit();
        let change = circuit.report(ticket, Outcome::refused(Refusal::Timeout), &capped, at(0));
        assert_eq!(change.unwrap().cooldown, Some(Duration::from_secs(5)));
    }

    #[test]
    fn an_old_ticket_moves_nothing() {
        let mut circuit = Circuit::new();
        let old = circuit.admit();
        let refused = circuit.admit();
        circuit.report(refused, Outcome::refused(Refusal::Forbidden), &RULES, at(0));
        circuit.fall_due(at(60));
        let trial = circuit.admit();
        let before = circuit;
        assert_eq!(circuit.report(old, Outcome::Good, &RULES, at(61)), None);
        circuit.give_back(old);
        assert_eq!(circuit, before);
        assert_eq!(circuit.report(trial, Outcome::Good, &RULES, at(62)).unwrap().to, CircuitState::Closed);
    }

    #[test]
    fn a_stretched_wait_is_never_shorter_and_still_capped() {
        let rules = CircuitRules { stretch: 1.1, ..RULES };
        assert!(stretched(Duration::from_secs(100), &rules) > Duration::from_secs(109));
        assert_eq!(stretched(Duration::MAX, &rules), RULES.max_cooldown);
    }
}
