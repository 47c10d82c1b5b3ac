//! What stands under the pool's lock.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::entry::Entry;
use super::outage::{OutageGuard, WINDOW};
use super::settings::{PoolSettings, Spread};
use super::{Candidate, Dice, InstanceStats, Recorded, Transition};
use crate::circuit::{Cause, CircuitRules, CircuitState, Outcome, Ticket};
use crate::instant::Instant;

#[derive(Debug)]
pub(super) struct State {
    settings: PoolSettings,
    /// Instances by slot; a slot is freed by the sweep only, never while a lease is out.
    entries: Vec<Option<Entry>>,
    free: Vec<usize>,
    slots: HashMap<Arc<str>, usize>,
    leases: HashMap<u64, Issued>,
    /// Leases in the order in which they were given, for those that are never reported.
    ages: VecDeque<(Instant, u64)>,
    next_lease: u64,
    checkouts: u64,
    next_sweep: Option<Instant>,
    outage: OutageGuard,
    /// Kept between checkouts so that ranking allocates nothing.
    ranking: Vec<Ranked>,
}

#[derive(Clone, Copy, Debug)]
struct Issued {
    slot: usize,
    ticket: Ticket,
    stepwise_forgiveness: bool,
}

/// A candidate's place in the order: smallest first.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    /// 0 rested and idle, 1 rested and busy, 2 used recently.
    class: u8,
    in_flight: u32,
    score: f64,
    last_use: Option<Instant>,
    /// The place among the candidates, and where it is kept.
    place: usize,
    slot: usize,
}

impl Ranked {
    fn order(&self, other: &Self) -> Ordering {
        self.class
            .cmp(&other.class)
            .then(self.in_flight.cmp(&other.in_flight))
            .then(self.score.total_cmp(&other.score))
            .then(self.last_use.cmp(&other.last_use))
            .then(self.place.cmp(&other.place))
    }
}

impl State {
    pub(super) fn new(settings: PoolSettings) -> Self {
        Self {
            settings,
            entries: Vec::new(),
            free: Vec::new(),
            slots: HashMap::new(),
            leases: HashMap::new(),
            ages: VecDeque::new(),
            next_lease: 0,
            checkouts: 0,
            next_sweep: None,
            outage: OutageGuard::default(),
            ranking: Vec::new(),
        }
    }

    pub(super) fn checkout(
        &mut self,
        candidates: &[Candidate<'_>],
        count: usize,
        now: Instant,
        dice: Dice<'_>,
        transitions: &mut Vec<Transition>,
    ) -> Vec<(u64, Arc<str>)> {
        self.expire(now);
        if count == 0 || candidates.is_empty() {
            return Vec::new();
        }
        self.checkouts += 1;
        let mut ranking = std::mem::take(&mut self.ranking);
        ranking.clear();
        let mut all_open = true;
        for (place, candidate) in candidates.iter().enumerate() {
            let slot = self.slot(candidate.instance, now);
            let entry = self.entries[slot].as_mut().expect("a slot that is looked up is filled");
            if entry.seen == self.checkouts {
                continue;
            }
            entry.seen = self.checkouts;
            if let Some(change) = entry.circuit.fall_due(now) {
                transitions.push(Transition { instance: Arc::clone(&entry.instance), change });
            }
            all_open &= entry.circuit.state(now) == CircuitState::Open;
            if entry.is_eligible(candidate, now) {
                ranking.push(ranked(entry, &self.settings, place, slot, now, dice));
            }
        }
        if ranking.is_empty() && all_open && self.settings.last_resort {
            ranking.extend(self.resort(candidates, now, transitions));
        }
        self.choose(&mut ranking, count, dice);
        let issued =
            ranking.iter().map(|ranked| self.issue(ranked, &candidates[ranked.place], now)).collect();
        self.ranking = ranking;
        issued
    }

    /// Leaves the best `count` in order; with exploration, one place may go to the instance unused longest (A3).
    fn choose(&self, ranking: &mut Vec<Ranked>, count: usize, dice: Dice<'_>) {
        if self.settings.explore > 0.0 && !ranking.is_empty() && dice() < self.settings.explore {
            let neglected = |ranked: &Ranked| {
                let entry = self.entries[ranked.slot].as_ref().expect("ranked entries are filled");
                (entry.circuit.is_closed(), ranked.last_use, ranked.place)
            };
            let explored = *ranking.iter().min_by_key(|ranked| neglected(ranked)).expect("it is not empty");
            cut(ranking, count);
            if !ranking.iter().any(|ranked| ranked.slot == explored.slot) {
                ranking.pop();
                ranking.push(explored);
            }
            return;
        }
        cut(ranking, count);
    }

    /// Early, one trial of the circuit that ends soonest, if only we opened it (A12).
    fn resort(
        &mut self,
        candidates: &[Candidate<'_>],
        now: Instant,
        transitions: &mut Vec<Transition>,
    ) -> Option<Ranked> {
        let soonest = candidates
            .iter()
            .enumerate()
            .filter_map(|(place, candidate)| {
                let slot = *self.slots.get(candidate.instance)?;
                let entry = self.entries[slot].as_ref()?;
                let may = entry.circuit.may_resort() && entry.is_paced(candidate, now);
                Some((entry.circuit.open_until().filter(|_| may)?, place, slot))
            })
            .min()?;
        let (_, place, slot) = soonest;
        let entry = self.entries[slot].as_mut()?;
        let change = entry.circuit.resort()?;
        transitions.push(Transition { instance: Arc::clone(&entry.instance), change });
        let last_use = entry.last_use;
        Some(Ranked { class: 0, in_flight: entry.in_flight, score: 0.0, last_use, place, slot })
    }

    fn issue(&mut self, ranked: &Ranked, candidate: &Candidate<'_>, now: Instant) -> (u64, Arc<str>) {
        let entry = self.entries[ranked.slot].as_mut().expect("ranked entries are filled");
        let ticket = entry.circuit.admit();
        entry.in_flight += 1;
        entry.stamp(candidate.lane, now);
        let id = self.next_lease;
        self.next_lease += 1;
        let stepwise_forgiveness = candidate.stepwise_forgiveness;
        self.leases.insert(id, Issued { slot: ranked.slot, ticket, stepwise_forgiveness });
        if !self.settings.lease_ttl.is_zero() {
            self.ages.push_back((now, id));
        }
        (id, Arc::clone(&entry.instance))
    }

    pub(super) fn rank(&self, candidates: &[Candidate<'_>], now: Instant, dice: Dice<'_>) -> Vec<Arc<str>> {
        let mut seen = HashSet::new();
        let mut names: Vec<Arc<str>> = Vec::new();
        let mut ranking = Vec::new();
        for candidate in candidates.iter().filter(|candidate| seen.insert(candidate.instance)) {
            let fresh;
            let entry = if let Some(entry) = self.get(candidate.instance) {
                entry
            } else {
                fresh = Entry::new(candidate.instance.into(), now);
                &fresh
            };
            if entry.is_eligible(candidate, now) {
                ranking.push(ranked(entry, &self.settings, names.len(), 0, now, dice));
                names.push(Arc::clone(&entry.instance));
            }
        }
        ranking.sort_unstable_by(Ranked::order);
        ranking.into_iter().map(|ranked| Arc::clone(&names[ranked.place])).collect()
    }

    pub(super) fn next_available(&self, candidates: &[Candidate<'_>], now: Instant) -> Option<Instant> {
        let when = |candidate: &Candidate<'_>| {
            let Some(entry) = self.get(candidate.instance) else { return now };
            let paced =
                if candidate.min_interval_hard.is_zero() { now } else { entry.paced_until(candidate) };
            entry.circuit.open_until().unwrap_or(now).max(paced).max(now)
        };
        candidates.iter().map(when).min()
    }

    pub(super) fn record(
        &mut self,
        id: u64,
        outcome: Outcome,
        elapsed: Duration,
        now: Instant,
        dice: Dice<'_>,
    ) -> Recorded {
        let Some(Issued { slot, ticket, stepwise_forgiveness }) = self.leases.remove(&id) else {
            return Recorded::default();
        };
        self.drop_stale_ages();
        let cause = outcome.cause();
        let network_down = self.settings.self_outage_guard
            && outcome != Outcome::Neutral
            && self.outage.report(slot, outcome.is_silence(), now);
        if network_down {
            self.forgive_silence(now);
        }
        let soft_may_open = !self.settings.keep_last || self.others_are_up(slot, now);
        let rules = self.rules(cause, stepwise_forgiveness, soft_may_open, dice);
        let entry = self.entries[slot].as_mut().expect("a slot with a lease is filled");
        entry.in_flight -= 1;
        let outcome = if network_down { Outcome::Neutral } else { outcome };
        entry.learn(outcome, elapsed, &self.settings, now);
        let change = entry.circuit.report(ticket, outcome, &rules, now);
        let transition = change.map(|change| Transition { instance: Arc::clone(&entry.instance), change });
        Recorded { transition, network_down }
    }

    /// Our own network is down: what it did to the instances lately is taken back.
    fn forgive_silence(&mut self, now: Instant) {
        let Self { outage, entries, .. } = self;
        for slot in outage.silent() {
            if let Some(entry) = &mut entries[slot] {
                entry.circuit.forgive_silence(WINDOW, now);
            }
        }
    }

    fn others_are_up(&self, slot: usize, now: Instant) -> bool {
        let up = |entry: &Entry| entry.circuit.state(now) != CircuitState::Open;
        self.entries.iter().enumerate().any(|(other, entry)| other != slot && entry.as_ref().is_some_and(up))
    }

    fn rules(
        &self,
        cause: Option<Cause>,
        stepwise_forgiveness: bool,
        soft_may_open: bool,
        dice: Dice<'_>,
    ) -> CircuitRules {
        let settings = &self.settings;
        let cooldown = settings.cooldown_for(cause.unwrap_or(Cause::SoftStrikes));
        let jitter = if settings.cooldown_jitter > 0.0 && cause.is_some() { dice() } else { 0.0 };
        CircuitRules {
            soft_strikes: settings.soft_strikes,
            cooldown: cooldown.base,
            max_cooldown: cooldown.max,
            stretch: 1.0 + settings.cooldown_jitter * jitter,
            stepwise_forgiveness,
            soft_may_open,
            slow_start: settings.slow_start,
        }
    }

    /// A lease came back without a report.
    pub(super) fn release(&mut self, id: u64) {
        let Some(Issued { slot, ticket, .. }) = self.leases.remove(&id) else { return };
        let entry = self.entries[slot].as_mut().expect("a slot with a lease is filled");
        entry.in_flight -= 1;
        entry.circuit.give_back(ticket);
    }

    /// Takes back the leases that were held too long.
    fn expire(&mut self, now: Instant) {
        while let Some(&(given, id)) = self.ages.front() {
            if now.saturating_since(given) < self.settings.lease_ttl {
                break;
            }
            self.ages.pop_front();
            self.release(id);
        }
    }

    /// Forgets the ages of leases that were reported, from the oldest on, so that the list stays as short as the leases.
    fn drop_stale_ages(&mut self) {
        while self.ages.front().is_some_and(|(_, id)| !self.leases.contains_key(id)) {
            self.ages.pop_front();
        }
    }

    pub(super) fn seed(&mut self, instance: &str, prior: f64, now: Instant) {
        if prior.is_finite() && prior > 0.0 {
            let slot = self.slot(instance, now);
            self.entries[slot].as_mut().expect("a slot that is looked up is filled").seed(prior, now);
        }
    }

    pub(super) fn stats(&self, instance: &str, now: Instant) -> InstanceStats {
        match self.get(instance) {
            Some(entry) => entry.stats(&self.settings, now),
            None => Entry::new(instance.into(), now).stats(&self.settings, now),
        }
    }

    pub(super) fn snapshot(&self, now: Instant) -> Vec<InstanceStats> {
        let group = |entry: &Entry| match entry.circuit.state(now) {
            CircuitState::Open => 2,
            _ if entry.circuit.admits(entry.in_flight, now) => 0,
            _ => 1,
        };
        let mut entries: Vec<&Entry> = self.entries.iter().flatten().collect();
        entries.sort_by(|one, other| {
            let by_score = || one.score(&self.settings, now).total_cmp(&other.score(&self.settings, now));
            group(one)
                .cmp(&group(other))
                .then_with(|| if group(one) == 2 { Ordering::Equal } else { by_score() })
                .then_with(|| one.circuit.open_until().cmp(&other.circuit.open_until()))
                .then_with(|| one.instance.cmp(&other.instance))
        });
        entries.into_iter().map(|entry| entry.stats(&self.settings, now)).collect()
    }

    pub(super) fn tick(&mut self, now: Instant) -> Vec<Transition> {
        self.expire(now);
        let mut transitions = Vec::new();
        for entry in self.entries.iter_mut().flatten() {
            if let Some(change) = entry.circuit.fall_due(now) {
                transitions.push(Transition { instance: Arc::clone(&entry.instance), change });
            }
        }
        if self.next_sweep.is_some_and(|due| due <= now) {
            self.sweep(now);
        }
        transitions
    }

    fn sweep(&mut self, now: Instant) {
        self.next_sweep = None;
        for slot in 0..self.entries.len() {
            let Some(entry) = &self.entries[slot] else { continue };
            if entry.is_forgettable(&self.settings, now) {
                self.slots.remove(&entry.instance);
                self.entries[slot] = None;
                self.free.push(slot);
            } else {
                self.next_sweep = Some(now + self.settings.sweep_every);
            }
        }
    }

    pub(super) fn next_wakeup(&self, now: Instant) -> Option<Instant> {
        let cooldowns = self.entries.iter().flatten().filter_map(|entry| entry.circuit.open_until());
        let lease = self.ages.front().map(|(given, _)| *given + self.settings.lease_ttl);
        cooldowns.chain(lease).chain(self.next_sweep).min().map(|due| due.max(now))
    }

    pub(super) fn close(&mut self, instance: &str, now: Instant) -> Option<Transition> {
        let slot = *self.slots.get(instance)?;
        let entry = self.entries[slot].as_mut()?;
        let change = entry.circuit.close(now)?;
        Some(Transition { instance: Arc::clone(&entry.instance), change })
    }

    pub(super) fn reset(&mut self) {
        // Lease ids go on, so that a lease from before can never be taken for a new one.
        let next_lease = self.next_lease;
        *self = Self { next_lease, ..Self::new(self.settings.clone()) };
    }

    fn get(&self, instance: &str) -> Option<&Entry> {
        self.entries[*self.slots.get(instance)?].as_ref()
    }

    /// The slot of an instance, made if it is unknown.
    fn slot(&mut self, instance: &str, now: Instant) -> usize {
        if let Some(&slot) = self.slots.get(instance) {
            return slot;
        }
        let name: Arc<str> = instance.into();
        let entry = Some(Entry::new(Arc::clone(&name), now));
        let slot = if let Some(slot) = self.free.pop() {
            self.entries[slot] = entry;
            slot
        } else {
            self.entries.push(entry);
            self.entries.len() - 1
        };
        self.slots.insert(name, slot);
        self.next_sweep.get_or_insert(now + self.settings.sweep_every);
        slot
    }
}

/// Where an entry stands in the order. Draws once if there is jitter and the entry is not recent (R25).
fn ranked(
    entry: &Entry,
    settings: &PoolSettings,
    place: usize,
    slot: usize,
    now: Instant,
    dice: Dice<'_>,
) -> Ranked {
    let last_use = entry.last_use;
    if entry.is_recent(settings, now) {
        return Ranked { class: 2, in_flight: 0, score: 0.0, last_use, place, slot };
    }
    let jitter = if settings.jitter > 0.0 { 1.0 + settings.jitter * (2.0 * dice() - 1.0) } else { 1.0 };
    let score = entry.score(settings, now) * jitter;
    match settings.spread {
        Spread::IdleFirst => {
            let class = u8::from(entry.in_flight > 0);
            Ranked { class, in_flight: entry.in_flight, score, last_use, place, slot }
        }
        Spread::Cost => {
            let score = score * (1.0 + f64::from(entry.in_flight));
            Ranked { class: 0, in_flight: 0, score, last_use, place, slot }
        }
        Spread::Score => Ranked { class: 0, in_flight: 0, score, last_use, place, slot },
    }
}

fn cut(ranking: &mut Vec<Ranked>, count: usize) {
    if count < ranking.len() {
        ranking.select_nth_unstable_by(count - 1, Ranked::order);
        ranking.truncate(count);
    }
    ranking.sort_unstable_by(Ranked::order);
}
