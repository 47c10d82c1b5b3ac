//! The test vectors of `pool.md`.

use std::time::Duration;

use gleaner_core::pool::{Candidate, PoolSettings};

use super::support::*;

#[test]
fn good_100_200_50_average_to_100_130_106() {
    let mut world = World::base();
    for (elapsed, average) in [(100, 100.0), (200, 130.0), (50, 106.0)] {
        world.search("a", GOOD, elapsed);
        assert!(near(world.stats("a").latency.unwrap(), average));
    }
}

#[test]
fn refusal_soft_good_fail_by_03_051_0357() {
    let mut world = World::base();
    world.search("a", REFUSED, 1);
    assert!(near(world.stats("a").failure, 0.3));
    world.cool("a");
    world.search("a", SOFT, 1);
    assert!(near(world.stats("a").failure, 0.51));
    world.search("a", GOOD, 1);
    assert!(near(world.stats("a").failure, 0.357));
}

/// Scores are seen through the order: `a` stands before a rival whose score is just above, and after one just below.
fn assert_score(world: &mut World, instance: &str, score: f64) {
    let now = world.instant();
    world.pool.seed([("just below", score - 0.01), ("just above", score + 0.01)], now);
    assert_eq!(
        world.names(&["just above", instance, "just below"], 3),
        ["just below", instance, "just above"]
    );
}

#[test]
fn a_latency_of_200_and_a_failure_of_051_score_506() {
    let mut world = World::base();
    world.search("a", GOOD, 200);
    world.search("a", REFUSED, 1);
    world.cool("a");
    world.search("a", SOFT, 1);
    assert!(near(world.stats("a").failure, 0.51));
    assert_score(&mut world, "a", 506.0);
}

#[test]
fn unmeasured_and_refused_once_scores_4750() {
    let mut world = World::base();
    world.search("a", REFUSED, 1);
    world.cool("a");
    assert_eq!(world.state("a"), HalfOpen);
    assert_score(&mut world, "a", 4750.0);
}

#[test]
fn a_prior_counts_until_something_was_measured() {
    let mut world = World::base();
    let now = world.instant();
    world.pool.seed([("a", 800.0)], now);
    assert_score(&mut world, "a", 800.0);
    world.search("a", GOOD, 300);
    assert_score(&mut world, "a", 300.0);
}

#[test]
fn jitter_02_is_a_factor_of_08_10_11() {
    for (face, factor) in [(0.0, 0.8), (0.5, 1.0), (0.75, 1.1)] {
        let mut world = World::new(PoolSettings { jitter: 0.2, ..PoolSettings::default() });
        let now = world.instant();
        // The rivals draw 0.5, a factor of 1.
        world.dice = vec![face, 0.5, 0.5];
        world
            .pool
            .seed([("a", 1000.0), ("below", 1000.0 * factor - 0.1), ("above", 1000.0 * factor + 0.1)], now);
        assert_eq!(world.names(&["a", "below", "above"], 3), ["below", "a", "above"], "{face}");
        assert_eq!(world.draws, 3);
    }
}

#[test]
fn without_jitter_the_dice_are_never_thrown() {
    let mut world = World::base();
    world.names(&["a", "b", "c"], 2);
    world.search("a", REFUSED, 1);
    assert_eq!(world.draws, 0);
}

#[test]
fn refusals_in_a_row_double_the_cooldown_to_the_cap() {
    let mut world = World::base();
    for _ in 0..7 {
        world.search("a", REFUSED, 1);
        world.cool("a");
    }
    assert_eq!(world.cooldowns(), [60_000, 120_000, 240_000, 480_000, 960_000, 1_800_000, 1_800_000]);
}

#[test]
fn a_servers_wait_replaces_the_computed_one_and_counts_on() {
    let mut world = World::base();
    for outcome in [REFUSED, REFUSED, refused_for(5), REFUSED] {
        world.search("a", outcome, 1);
        world.cool("a");
    }
    assert_eq!(world.cooldowns(), [60_000, 120_000, 5_000, 480_000]);
}

#[test]
fn a_servers_wait_is_capped_and_zero_is_none() {
    let mut world = World::base();
    world.search("a", refused_for(7200), 1);
    world.search("b", refused_for(0), 1);
    assert_eq!(world.cooldowns(), [1_800_000, 60_000]);
}

#[test]
fn three_soft_answers_open_a_soft_trial_reopens_a_good_one_ends_it() {
    let mut world = World::base();
    for expected in [Closed, Closed, Open] {
        world.search("a", SOFT, 1);
        assert_eq!(world.state("a"), expected);
    }
    world.cool("a");
    world.search("a", SOFT, 1);
    assert_eq!(world.state("a"), Open);
    assert_eq!(world.cooldowns(), [60_000, 120_000]);
    world.cool("a");
    world.search("a", GOOD, 1);
    let stats = world.stats("a");
    assert_eq!((stats.state, stats.consecutive_soft, stats.consecutive_failures), (Closed, 0, 0));
}

#[test]
fn soft_refusal_soft_trial_soft() {
    let mut world = World::base();
    world.search("a", SOFT, 1);
    assert_eq!(world.state("a"), Closed);
    world.search("a", REFUSED, 1);
    world.cool("a");
    world.search("a", SOFT, 1);
    let stats = world.stats("a");
    assert_eq!((stats.state, stats.consecutive_soft, stats.consecutive_failures), (Closed, 2, 0));
    world.search("a", SOFT, 1);
    let stats = world.stats("a");
    assert_eq!((stats.state, stats.consecutive_soft), (Open, 3));
    assert_eq!(world.cooldowns(), [60_000, 60_000]);
}

#[test]
fn three_leases_with_three_429s_are_one_incident() {
    let mut world = World::base();
    let leases: Vec<_> = (0..3).map(|_| world.lease(&["a"]).unwrap()).collect();
    for lease in leases {
        world.record(lease, REFUSED, 1);
    }
    let stats = world.stats("a");
    assert_eq!((stats.state, stats.consecutive_failures, stats.failures), (Open, 1, 3));
    assert!(near(stats.failure, 0.657));
    assert_eq!(world.cooldowns(), [60_000]);
    assert_eq!(world.events.len(), 1);
}

#[test]
fn a_late_good_answer_counts_and_leaves_the_circuit_open() {
    let mut world = World::base();
    let (one, other) = (world.lease(&["a"]).unwrap(), world.lease(&["a"]).unwrap());
    world.record(one, REFUSED, 1);
    world.record(other, GOOD, 70);
    let stats = world.stats("a");
    assert_eq!((stats.state, stats.successes, stats.consecutive_failures), (Open, 1, 1));
    assert_eq!(stats.latency, Some(70.0));
    world.pass(59_999);
    assert_eq!(world.state("a"), Open);
    world.pass(1);
    assert_eq!(world.state("a"), HalfOpen);
}

#[test]
fn rested_instances_come_before_recent_ones() {
    let mut world =
        World::new(PoolSettings { min_interval: Duration::from_secs(5), ..PoolSettings::default() });
    let now = world.instant();
    world.pool.seed([("a", 100.0), ("b", 200.0), ("c", 9000.0)], now);
    world.search("a", GOOD, 100);
    world.pass(2000);
    world.search("b", GOOD, 200);
    world.pass(1000);
    assert_eq!(world.names(&["b", "a", "c"], 3), ["c", "a", "b"]);
}

#[test]
fn of_a_repeated_candidate_the_first_counts_and_all_eligible_are_given() {
    let mut world = World::base();
    assert_eq!(world.names(&["a", "a", "b"], 9), ["a", "b"]);
}

#[test]
fn equal_unmeasured_instances_take_turns() {
    let mut world = World::base();
    let mut leases = Vec::new();
    for _ in 0..3 {
        leases.extend(world.lease(&["a", "b", "c"]));
    }
    let mut names: Vec<_> = leases.iter().map(gleaner_core::pool::Lease::instance).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn a_half_open_instance_gives_one_lease_at_a_time() {
    let mut world = World::base();
    world.search("a", REFUSED, 1);
    world.cool("a");
    let events = world.events.len();
    let trial = world.lease(&["a"]).unwrap();
    assert!(world.lease(&["a"]).is_none());
    drop(trial);
    assert!(world.lease(&["a"]).is_some());
    assert_eq!(world.events.len(), events);
}

#[test]
fn a_lease_from_before_a_reset_changes_nothing() {
    let mut world = World::base();
    let (recorded, dropped) = (world.lease(&["a"]).unwrap(), world.lease(&["a"]).unwrap());
    world.pool.reset();
    assert_eq!(world.record(recorded, REFUSED, 1), gleaner_core::pool::Recorded::default());
    drop(dropped);
    assert!(world.pool.snapshot(world.instant()).is_empty());
    let fresh = world.lease(&["a"]).unwrap();
    assert_eq!(world.stats("a").in_flight, 1);
    drop(fresh);
    assert_eq!(world.stats("a").in_flight, 0);
}

#[test]
fn an_instance_with_a_lease_out_is_not_swept() {
    let mut world = World::new(PoolSettings { lease_ttl: Duration::ZERO, ..PoolSettings::default() });
    let lease = world.lease(&["a"]).unwrap();
    world.pass(21_600_001);
    assert_eq!(world.pool.snapshot(world.instant()).len(), 1);
    world.record(lease, GOOD, 1);
    world.pass(600_000);
    assert!(world.pool.snapshot(world.instant()).is_empty());
}

#[test]
fn a_clock_that_steps_back_changes_nothing() {
    let mut world = World::base();
    world.search("a", GOOD, 100);
    let before = world.stats("a");
    world.now -= 3600;
    assert_eq!(world.stats("a"), before);
    world.search("a", GOOD, 100);
    assert_eq!(world.stats("a").latency, Some(100.0));
}

#[test]
fn seeding_an_open_instance_leaves_its_circuit_alone() {
    let mut world = World::base();
    world.search("a", REFUSED, 1);
    world.pass(30_000);
    let now = world.instant();
    world.pool.seed([("a", 500.0)], now);
    assert_eq!((world.state("a"), world.stats("a").prior), (Open, Some(500.0)));
    world.pass(30_000);
    assert_eq!(world.state("a"), HalfOpen);
}

#[test]
fn candidates_that_are_none_or_a_count_of_none_give_none() {
    let mut world = World::base();
    assert!(world.take(&[], 5).is_empty());
    assert!(world.take(&[Candidate::new("a")], 0).is_empty());
    assert!(world.pool.snapshot(world.instant()).is_empty());
}
