//! What holds after any sequence of calls, drops and panics.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use gleaner_core::circuit::{CircuitState, Outcome, Refusal};
use gleaner_core::instant::Instant;
use gleaner_core::pool::{Candidate, InstanceStats, Lease, Pool, PoolSettings, Transition};
use proptest::prelude::*;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

#[derive(Clone, Debug)]
enum Step {
    Checkout { count: usize },
    Record { which: usize, outcome: Outcome, elapsed: u64 },
    Drop { which: usize },
    PanicWithLease,
    Pass { milliseconds: u64 },
    Tick,
    Seed { which: usize, prior: f64 },
    Rank,
    Reset,
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let wait = prop::option::of((0_u64..5000).prop_map(Duration::from_secs));
    let why = prop::sample::select(vec![
        Refusal::Timeout,
        Refusal::Transport,
        Refusal::RateLimited,
        Refusal::Limiter,
    ]);
    prop_oneof![
        4 => Just(Outcome::Good),
        2 => wait.clone().prop_map(|wait| Outcome::Empty { wait }),
        1 => Just(Outcome::OffTopic { wait: None }),
        3 => (why, wait).prop_map(|(why, wait)| Outcome::Refused { why, wait }),
        1 => Just(Outcome::Neutral),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0_usize..4).prop_map(|count| Step::Checkout { count }),
        8 => (any::<usize>(), outcome(), 0_u64..10_000).prop_map(|(which, outcome, elapsed)| Step::Record { which, outcome, elapsed }),
        3 => any::<usize>().prop_map(|which| Step::Drop { which }),
        1 => Just(Step::PanicWithLease),
        4 => (0_u64..400_000).prop_map(|milliseconds| Step::Pass { milliseconds }),
        2 => Just(Step::Tick),
        1 => (0_usize..5, 1.0_f64..5000.0).prop_map(|(which, prior)| Step::Seed { which, prior }),
        1 => Just(Step::Rank),
        1 => Just(Step::Reset),
    ]
}

fn settings() -> impl Strategy<Value = PoolSettings> {
    prop_oneof![
        Just(PoolSettings::default()),
        Just(PoolSettings::gateway()),
        Just(PoolSettings {
            jitter: 0.4,
            last_resort: true,
            slow_start: Duration::from_mins(1),
            min_interval: Duration::from_secs(5),
            ..PoolSettings::gateway()
        }),
    ]
}

/// Runs the steps, checks after each, and returns all that could be seen.
fn run(settings: &PoolSettings, steps: &[Step]) -> (Vec<Transition>, Vec<InstanceStats>, Vec<String>) {
    let pool = Pool::new(settings.clone()).unwrap();
    let candidates: Vec<Candidate<'_>> =
        NAMES.iter().map(|name| Candidate { max_in_flight: Some(3), ..Candidate::new(name) }).collect();
    let mut now = 0_u64;
    let mut seed = 42_u64;
    let mut dice = move || {
        // A linear congruential generator is random enough to be repeatable.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut leases: Vec<(u64, Lease)> = Vec::new();
    let mut events = Vec::new();
    let mut handed_out = Vec::new();
    for step in steps {
        let instant = Instant::from_duration(Duration::from_millis(now));
        match step {
            Step::Checkout { count } => {
                let before = pool.snapshot(instant);
                let checkout = pool.checkout(&candidates, *count, instant, &mut dice);
                assert!(checkout.leases.len() <= *count);
                for lease in &checkout.leases {
                    let open = before.iter().find(|stats| {
                        *stats.instance == *lease.instance() && stats.state == CircuitState::Open
                    });
                    // Only the last resort asks an open instance, after moving it to half-open.
                    assert!(open.is_none() || settings.last_resort, "an open instance was handed out");
                    handed_out.push(lease.instance().to_owned());
                }
                events.extend(checkout.transitions);
                leases.extend(checkout.leases.into_iter().map(|lease| (now, lease)));
            }
            Step::Record { which, outcome, elapsed } if !leases.is_empty() => {
                let (_, lease) = leases.swap_remove(which % leases.len());
                let recorded = lease.record(*outcome, Duration::from_millis(*elapsed), instant, &mut dice);
                events.extend(recorded.transition);
            }
            Step::Drop { which } if !leases.is_empty() => drop(leases.swap_remove(which % leases.len())),
            Step::PanicWithLease => {
                let panicked = catch_unwind(AssertUnwindSafe(|| {
                    let _held = pool.checkout(&candidates, 1, instant, &mut || 0.5);
                    std::panic::resume_unwind(Box::new("the holder panics"));
                }));
                assert!(panicked.is_err());
            }
            Step::Pass { milliseconds } => now += milliseconds,
            Step::Tick => events.extend(pool.tick(instant)),
            Step::Seed { which, prior } => pool.seed([(NAMES[*which], *prior)], instant),
            Step::Rank => {
                let before = pool.snapshot(instant);
                pool.rank(&candidates, instant, &mut || 0.5);
                assert_eq!(pool.snapshot(instant), before, "rank changed something");
            }
            Step::Reset => {
                pool.reset();
                leases.clear();
                events.clear();
            }
            Step::Record { .. } | Step::Drop { .. } => {}
        }
        let instant = Instant::from_duration(Duration::from_millis(now));
        events.extend(pool.tick(instant));
        let ttl = u64::try_from(settings.lease_ttl.as_millis()).unwrap();
        for stats in pool.snapshot(instant) {
            let live = leases
                .iter()
                .filter(|(given, lease)| lease.instance() == &*stats.instance && now - given < ttl);
            assert_eq!(stats.in_flight as usize, live.count(), "in_flight of {}", stats.instance);
        }
    }
    let end = Instant::from_duration(Duration::from_millis(now));
    (events, pool.snapshot(end), handed_out)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn in_flight_equals_the_live_leases_and_no_open_instance_is_handed_out(
        settings in settings(),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        run(&settings, &steps);
    }

    #[test]
    fn two_runs_with_one_seed_are_identical(settings in settings(), steps in prop::collection::vec(step(), 1..80)) {
        prop_assert_eq!(run(&settings, &steps), run(&settings, &steps));
    }

    #[test]
    fn every_chain_of_events_is_a_path_of_the_diagram(
        settings in settings(),
        steps in prop::collection::vec(step().prop_filter("a reset starts anew", |step| !matches!(step, Step::Reset)), 1..120),
    ) {
        let (events, ..) = run(&settings, &steps);
        let mut states = BTreeMap::new();
        for event in events {
            let before = states.insert(event.instance.clone(), event.change.to);
            prop_assert_eq!(event.change.from, before.unwrap_or(CircuitState::Closed));
            let allowed = matches!(
                (event.change.from, event.change.to),
                (CircuitState::Closed | CircuitState::HalfOpen, CircuitState::Open)
                    | (CircuitState::Open, CircuitState::HalfOpen)
                    | (CircuitState::HalfOpen, CircuitState::Closed)
            );
            prop_assert!(allowed, "{:?}", event.change);
            prop_assert_eq!(event.change.cooldown.is_some(), event.change.to == CircuitState::Open);
        }
    }
}

#[test]
fn a_hundred_at_once_spread_evenly_over_equal_idle_instances() {
    let pool = Pool::new(PoolSettings::gateway()).unwrap();
    let candidates = ["a", "b", "c"].map(Candidate::new);
    let mut face = 0.5;
    let mut counts = BTreeMap::new();
    let mut held = Vec::new();
    for _ in 0..100 {
        let mut dice = || {
            face = (face * 7.13 + 0.137) % 1.0;
            face
        };
        let lease = pool.checkout(&candidates, 1, Instant::ZERO, &mut dice).leases.pop().unwrap();
        *counts.entry(lease.instance().to_owned()).or_insert(0_u32) += 1;
        held.push(lease);
    }
    assert!(counts.values().all(|count| (27..=40).contains(count)), "{counts:?}");
}
