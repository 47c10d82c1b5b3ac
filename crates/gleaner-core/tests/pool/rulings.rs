//! The rulings of `pool.md` that no vector shows.

use std::time::Duration;

use gleaner_core::circuit::{Outcome, Refusal};
use gleaner_core::pool::{Pool, PoolSettings};

use super::support::*;

#[test]
fn r2_only_a_good_answer_is_measured() {
    let mut world = World::base();
    world.search("a", SOFT, 5);
    world.search("a", REFUSED, 5);
    assert_eq!(world.stats("a").latency, None);
}

#[test]
fn r10_neutral_outcomes_say_nothing() {
    let mut world = World::base();
    let before = world.stats("a");
    for _ in 0..20 {
        world.search("a", Outcome::Neutral, 5);
    }
    let after = world.stats("a");
    assert_eq!((after.failures, after.failure, after.state), (before.failures, before.failure, Closed));
    assert_eq!(after.last_outcome, None);
}

#[test]
fn r12_a_longer_wait_extends_a_running_cooldown_without_an_event() {
    let mut world = World::base();
    let leases: Vec<_> = (0..3).map(|_| world.lease(&["a"]).unwrap()).collect();
    let [one, two, three] = leases.try_into().unwrap();
    world.record(one, REFUSED, 1);
    world.record(two, refused_for(300), 1);
    world.record(three, refused_for(5), 1);
    assert_eq!(world.events.len(), 1);
    world.pass(299_999);
    assert_eq!(world.state("a"), Open);
    world.pass(1);
    assert_eq!(world.state("a"), HalfOpen);
}

#[test]
fn r18_re_seeding_keeps_an_unused_instance_but_not_a_used_one() {
    let mut world = World::base();
    let six_hours = 21_600_000;
    world.search("used", GOOD, 1);
    let now = world.instant();
    world.pool.seed([("unused", 1.0), ("used", 1.0)], now);
    world.pass(six_hours - 1000);
    let now = world.instant();
    world.pool.seed([("unused", 1.0), ("used", 1.0)], now);
    world.pass(600_000);
    let known: Vec<_> =
        world.pool.snapshot(world.instant()).iter().map(|stats| stats.instance.to_string()).collect();
    assert_eq!(known, ["unused"]);
}

#[test]
fn r23_idle_instances_come_before_busy_ones_however_slow() {
    let mut world = World::base();
    let now = world.instant();
    world.pool.seed([("fast", 10.0), ("slow", 9000.0)], now);
    let held: Vec<_> = (0..4).filter_map(|_| world.lease(&["fast", "slow"])).collect();
    let names: Vec<_> = held.iter().map(gleaner_core::pool::Lease::instance).collect();
    assert_eq!(names, ["fast", "slow", "fast", "slow"]);
}

#[test]
fn r24_equal_scores_go_to_the_longest_unused_then_by_candidate() {
    let mut world = World::base();
    for name in ["b", "a"] {
        drop(world.lease(&[name]));
        world.pass(10);
    }
    assert_eq!(world.names(&["a", "b", "d", "c"], 4), ["d", "c", "b", "a"]);
}

#[test]
fn r26_recent_instances_are_still_given_when_nothing_else_is_left() {
    let mut world =
        World::new(PoolSettings { min_interval: Duration::from_secs(5), ..PoolSettings::default() });
    drop(world.lease(&["a"]));
    assert!(world.lease(&["a"]).is_some());
}

#[test]
fn r28_a_response_time_of_zero_can_be_beaten() {
    let mut world = World::base();
    world.search("a", GOOD, 0);
    world.search("b", GOOD, 1);
    world.search("a", REFUSED, 1);
    world.cool("a");
    assert_eq!(world.names(&["a", "b"], 1), ["b"]);
    let now = world.instant();
    world.pool.seed([("c", f64::NAN), ("d", -1.0), ("e", 0.0), ("f", f64::INFINITY)], now);
    for name in ["c", "d", "e", "f"] {
        assert_eq!(world.stats(name).prior, None);
    }
}

#[test]
fn r31_one_event_a_transition_with_a_cooldown_only_toward_open() {
    let mut world = World::base();
    world.search("a", REFUSED, 1);
    world.cool("a");
    world.search("a", GOOD, 1);
    let path: Vec<_> =
        world.events.iter().map(|e| (e.change.from, e.change.to, e.change.cooldown.is_some())).collect();
    assert_eq!(path, [(Closed, Open, true), (Open, HalfOpen, false), (HalfOpen, Closed, false)]);
}

#[test]
fn r32_a_late_timer_hides_no_instance_and_the_event_comes_once() {
    let mut world = World::base();
    world.search("a", REFUSED, 1);
    world.now += 60_000;
    assert_eq!(world.state("a"), HalfOpen);
    assert_eq!(world.events.len(), 1);
    let trial = world.lease(&["a"]).unwrap();
    assert_eq!(world.events.len(), 2);
    world.pass(0);
    assert_eq!(world.events.len(), 2);
    drop(trial);
}

#[test]
fn r34_rank_tells_what_checkout_would_give_and_changes_nothing() {
    let mut world = World::base();
    let now = world.instant();
    world.pool.seed([("a", 30.0), ("b", 10.0), ("c", 20.0)], now);
    world.search("c", REFUSED, 1);
    let before = world.pool.snapshot(now);
    let ranked = world.pool.rank(&plain(&["a", "b", "c", "unknown", "a"]), now, &mut || 0.5);
    assert_eq!(ranked.iter().map(|name| &**name).collect::<Vec<_>>(), ["b", "a", "unknown"]);
    assert_eq!(world.pool.snapshot(now), before);
    assert_eq!(world.names(&["a", "b", "c", "unknown"], 9), ["b", "a", "unknown"]);
}

#[test]
fn r35_a_snapshot_lists_the_best_first_and_the_open_last() {
    let mut world = World::base();
    let now = world.instant();
    world.pool.seed([("slow", 900.0), ("fast", 10.0)], now);
    world.search("later", refused_for(900), 1);
    world.search("sooner", refused_for(30), 1);
    world.search("trial", refused_for(1), 1);
    world.pass(1000);
    let _trial = world.lease(&["trial"]).unwrap();
    let names: Vec<_> = world.pool.snapshot(world.instant()).iter().map(|s| s.instance.to_string()).collect();
    assert_eq!(names, ["fast", "slow", "trial", "sooner", "later"]);
}

#[test]
fn r36_no_response_time_counts_for_more_than_ten_minutes() {
    let mut world = World::base();
    world.search("a", GOOD, u64::MAX / 2_000_000);
    assert_eq!(world.stats("a").latency, Some(600_000.0));
}

#[test]
fn r37_a_setting_out_of_range_is_refused_by_name() {
    let base = PoolSettings::default;
    for (settings, option) in [
        (PoolSettings { jitter: 1.1, ..base() }, "jitter"),
        (PoolSettings { jitter: f64::NAN, ..base() }, "jitter"),
        (PoolSettings { failure_penalty: -0.1, ..base() }, "failure_penalty"),
        (PoolSettings { ewma_alpha: 0.0, ..base() }, "ewma_alpha"),
        (PoolSettings { soft_strikes: 0, ..base() }, "soft_strikes"),
        (PoolSettings { cooldown: Duration::ZERO, ..base() }, "cooldown"),
        (PoolSettings { failure_fade: Some(Duration::ZERO), ..base() }, "failure_fade"),
    ] {
        assert_eq!(Pool::new(settings).unwrap_err().option, option);
    }
    assert!(Pool::new(PoolSettings::gateway()).is_ok());
}

#[test]
fn r39_reading_goes_on_while_a_checkout_storm_runs() {
    let pool = Pool::new(PoolSettings::default()).unwrap();
    let names: Vec<String> = (0..200).map(|place| format!("instance {place}")).collect();
    let candidates: Vec<_> = names.iter().map(|name| gleaner_core::pool::Candidate::new(name)).collect();
    let now = gleaner_core::instant::Instant::ZERO;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..500 {
                    drop(pool.checkout(&candidates, 3, now, &mut || 0.5));
                }
            });
        }
        for _ in 0..500 {
            assert!(pool.snapshot(now).len() <= 200);
        }
    });
    assert!(pool.snapshot(now).iter().all(|stats| stats.in_flight == 0));
}

#[test]
fn a_wait_of_a_soft_answer_counts_only_if_it_opens() {
    let mut world = World::base();
    let soft = |seconds| Outcome::Empty { wait: Some(Duration::from_secs(seconds)) };
    for _ in 0..3 {
        world.search("a", soft(7), 1);
    }
    assert_eq!(world.cooldowns(), [7_000]);
}

#[test]
fn every_kind_of_refusal_opens() {
    for why in [
        Refusal::Timeout,
        Refusal::Transport,
        Refusal::Challenge,
        Refusal::Forbidden,
        Refusal::Limiter,
        Refusal::Other,
    ] {
        let mut world = World::base();
        world.search("a", Outcome::refused(why), 1);
        assert_eq!(world.state("a"), Open, "{why:?}");
    }
}
