//! The extensions A1 to A17 of `pool.md`, each switched on alone.

use std::time::Duration;

use gleaner_core::circuit::{Outcome, Refusal};
use gleaner_core::pool::{Candidate, CooldownByReason, PoolSettings, ReasonCooldown, Spread};

use super::support::*;

fn base() -> PoolSettings {
    PoolSettings::default()
}

#[test]
fn a1_an_old_failure_average_fades() {
    let mut world = World::new(PoolSettings { failure_fade: Some(Duration::from_mins(15)), ..base() });
    world.search("a", REFUSED, 1);
    world.pass(900_000);
    assert!(near(world.stats("a").failure, 0.3 * (-1.0_f64).exp()));
}

#[test]
fn a2_an_old_response_time_fades_toward_the_prior() {
    let mut world = World::new(PoolSettings { latency_fade: Some(Duration::from_hours(2)), ..base() });
    world.search("a", GOOD, 100);
    world.pass(7_200_000);
    assert!(near(world.stats("a").latency.unwrap(), 2500.0 - 2400.0 * (-1.0_f64).exp()));
}

#[test]
fn a3_exploration_goes_to_the_half_open_then_to_the_longest_unused() {
    let mut world = World::new(PoolSettings { explore: 0.03, ..base() });
    let now = world.instant();
    world.pool.seed([("fast", 10.0), ("slow", 9000.0), ("sick", 9000.0)], now);
    world.search("fast", GOOD, 10);
    world.dice = vec![0.029];
    assert_eq!(world.names(&["fast", "slow"], 1), ["slow"]);
    world.search("sick", REFUSED, 1);
    world.cool("sick");
    assert_eq!(world.names(&["fast", "slow", "sick"], 1), ["sick"]);
    world.dice = vec![0.031];
    assert_eq!(world.names(&["fast", "slow", "sick"], 1), ["fast"]);
}

#[test]
fn a4_cost_multiplies_by_the_leases_out() {
    let mut world = World::new(PoolSettings { spread: Spread::Cost, ..base() });
    let now = world.instant();
    world.pool.seed([("fast", 100.0), ("slow", 250.0)], now);
    let held: Vec<_> = (0..4).filter_map(|_| world.lease(&["fast", "slow"])).collect();
    let names: Vec<_> = held.iter().map(gleaner_core::pool::Lease::instance).collect();
    assert_eq!(names, ["fast", "fast", "slow", "fast"]);
    let mut bare = World::new(PoolSettings { spread: Spread::Score, ..base() });
    let now = bare.instant();
    bare.pool.seed([("fast", 100.0), ("slow", 250.0)], now);
    let held: Vec<_> = (0..3).filter_map(|_| bare.lease(&["fast", "slow"])).collect();
    assert!(held.iter().all(|lease| lease.instance() == "fast"));
}

#[test]
fn a5_hard_pacing_excludes_by_lane() {
    let mut world = World::base();
    let json = Candidate { min_interval_hard: Duration::from_mins(15), ..Candidate::new("a") };
    let html = Candidate { min_interval_hard: Duration::from_secs(20), lane: 1, ..Candidate::new("a") };
    drop(world.take(&[json], 1));
    assert!(world.take(&[json], 1).is_empty());
    assert_eq!(world.take(&[html], 1).len(), 1);
    world.pass(20_000);
    assert!(world.take(&[json], 1).is_empty());
    assert_eq!(world.take(&[html], 1).len(), 1);
    world.pass(880_000);
    assert_eq!(world.take(&[json], 1).len(), 1);
}

#[test]
fn a6_a_cooldown_follows_its_reason_and_its_own_cap() {
    let limiter = ReasonCooldown { base: Duration::from_hours(6), max: Duration::from_hours(24 * 7) };
    let by_reason = CooldownByReason { limiter: Some(limiter), ..CooldownByReason::default() };
    let mut world = World::new(PoolSettings { cooldown_by_reason: by_reason, ..base() });
    world.search("a", Outcome::refused(Refusal::Limiter), 1);
    world.search("b", TIMEOUT, 1);
    assert_eq!(world.cooldowns(), [21_600_000, 60_000]);
    world.cool("a");
    world.search("a", Outcome::refused(Refusal::Limiter), 1);
    assert_eq!(world.cooldowns().last(), Some(&43_200_000));
}

#[test]
fn a7_cooldown_jitter_only_makes_longer() {
    let mut world = World::new(PoolSettings { cooldown_jitter: 0.1, ..base() });
    // The dice of a report show 0.5.
    world.search("a", REFUSED, 1);
    world.search("b", refused_for(100), 1);
    assert_eq!(world.cooldowns(), [63_000, 105_000]);
}

#[test]
fn a8_forgiveness_goes_one_step_at_a_time() {
    let mut world = World::base();
    let candidate = Candidate { stepwise_forgiveness: true, ..Candidate::new("a") };
    let mut search = |outcome| {
        let lease = world.take(&[candidate], 1).pop().unwrap();
        world.record(lease, outcome, 1);
        if world.state("a") == Open {
            world.cool("a");
        }
        world.stats("a").consecutive_failures
    };
    let streaks = [REFUSED, REFUSED, GOOD, REFUSED, GOOD, GOOD, GOOD].map(&mut search);
    assert_eq!(streaks, [1, 2, 1, 2, 1, 0, 0]);
}

#[test]
fn a9_a_full_instance_is_not_eligible() {
    let mut world = World::base();
    let candidate = Candidate { max_in_flight: Some(2), ..Candidate::new("a") };
    let held = [world.take(&[candidate], 1), world.take(&[candidate], 1)];
    assert!(world.take(&[candidate], 1).is_empty());
    drop(held);
    assert_eq!(world.take(&[candidate], 1).len(), 1);
}

#[test]
fn a10_a_recovered_instance_starts_slowly() {
    let mut world = World::new(PoolSettings { slow_start: Duration::from_mins(1), ..base() });
    world.search("a", REFUSED, 1);
    world.cool("a");
    world.search("a", GOOD, 1);
    let one = world.lease(&["a"]).unwrap();
    assert!(world.lease(&["a"]).is_none());
    world.pass(60_000);
    assert!(world.lease(&["a"]).is_some());
    drop(one);
}

#[test]
fn a11_silence_of_nearly_all_is_our_own() {
    let mut world = World::new(PoolSettings { self_outage_guard: true, ..base() });
    let names = ["a", "b", "c", "d", "e"];
    let leases: Vec<_> = names.iter().map(|name| world.lease(&[name]).unwrap()).collect();
    let down: Vec<_> = leases.into_iter().map(|lease| world.record(lease, TIMEOUT, 1).network_down).collect();
    assert_eq!(down, [false, false, false, true, true]);
    // What had opened before it was clear ends at once, and nobody is worse off.
    world.pass(0);
    for name in names {
        assert_ne!(world.state(name), Open, "{name}");
        assert_eq!(world.stats(name).consecutive_failures, 0, "{name}");
    }
}

#[test]
fn a11_refusals_over_http_are_never_our_own() {
    let mut world = World::new(PoolSettings { self_outage_guard: true, ..base() });
    for name in ["a", "b", "c", "d", "e"] {
        assert!(!world.search(name, REFUSED, 1).network_down);
    }
}

#[test]
fn a12_the_last_resort_is_what_only_we_opened() {
    let mut world = World::new(PoolSettings { last_resort: true, ..base() });
    world.search("limited", REFUSED, 1);
    world.search("told", Outcome::Refused { why: Refusal::Timeout, wait: Some(Duration::from_secs(1)) }, 1);
    world.pass(10);
    assert!(world.lease(&["limited"]).is_none());
    world.search("late", TIMEOUT, 1);
    let trial = world.lease(&["limited", "late"]).unwrap();
    assert_eq!(trial.instance(), "late");
    // Once per cooldown: while the trial is out, and after it failed, nothing more.
    assert!(world.lease(&["limited", "late"]).is_none());
    world.record(trial, TIMEOUT, 1);
    assert_eq!(world.state("late"), Open);
}

#[test]
fn a14_a_lease_held_too_long_is_void() {
    let mut world = World::base();
    world.search("a", REFUSED, 1);
    world.cool("a");
    let stuck = world.lease(&["a"]).unwrap();
    world.pass(299_999);
    assert!(world.lease(&["a"]).is_none());
    world.pass(1);
    assert_eq!(world.stats("a").in_flight, 0);
    let next = world.lease(&["a"]).unwrap();
    world.record(stuck, REFUSED, 1);
    assert_eq!((world.state("a"), world.stats("a").in_flight), (HalfOpen, 1));
    drop(next);
    let mut forever = World::new(PoolSettings { lease_ttl: Duration::ZERO, ..base() });
    let _held = forever.lease(&["a"]).unwrap();
    forever.pass(86_400_000);
    assert_eq!(forever.stats("a").in_flight, 1);
}

#[test]
fn a16_the_next_available_instant_is_known() {
    let mut world = World::base();
    world.search("a", refused_for(100), 1);
    world.search("b", refused_for(30), 1);
    let now = world.instant();
    let candidates = plain(&["a", "b"]);
    assert_eq!(world.pool.next_available(&candidates, now), Some(now + Duration::from_secs(30)));
    assert_eq!(world.pool.next_available(&plain(&["a", "fresh"]), now), Some(now));
    assert_eq!(world.pool.next_available(&[], now), None);
    let paced = Candidate { min_interval_hard: Duration::from_mins(1), ..Candidate::new("p") };
    drop(world.take(&[paced], 1));
    assert_eq!(world.pool.next_available(&[paced], now), Some(now + Duration::from_mins(1)));
}

#[test]
fn a17_soft_answers_never_close_the_last_door() {
    let mut world = World::new(PoolSettings { keep_last: true, ..base() });
    world.search("b", REFUSED, 1);
    for _ in 0..5 {
        world.search("a", SOFT, 1);
    }
    assert_eq!(world.state("a"), Closed);
    assert!(world.stats("a").failure > 0.8);
    world.cool("b");
    world.search("a", SOFT, 1);
    assert_eq!(world.state("a"), Open);
    let mut alone = World::new(PoolSettings { keep_last: true, ..base() });
    alone.search("a", REFUSED, 1);
    assert_eq!(alone.state("a"), Open);
}

#[test]
fn a_circuit_can_be_closed_by_hand() {
    let mut world = World::base();
    world.search("a", REFUSED, 1);
    let now = world.instant();
    assert_eq!(world.pool.close("a", now).unwrap().change.to, Closed);
    assert!(world.pool.close("a", now).is_none());
    assert_eq!(world.stats("a").consecutive_failures, 0);
}
