//! Faults of breakers in public projects, none of which may exist here (bug log D1 to D4).

use std::sync::Barrier;
use std::time::Duration;

use gleaner_core::circuit::Outcome;
use gleaner_core::instant::Instant;
use gleaner_core::pool::{Candidate, Pool, PoolSettings};

use super::support::*;

/// A half-open probe that never settled blocked its target for six days
/// (<https://github.com/diegosouzapw/OmniRoute/issues/13836>).
#[test]
fn d1_a_probe_that_never_settles_gives_way_when_its_lease_ends() {
    let mut world = World::base();
    world.search("a", REFUSED, 1);
    world.cool("a");
    std::mem::forget(world.lease(&["a"]).unwrap());
    assert!(world.lease(&["a"]).is_none());
    world.pass(300_000);
    let probe = world.lease(&["a"]).unwrap();
    assert!(world.lease(&["a"]).is_none(), "one new probe, not more");
    drop(probe);
}

/// The late answer of an old probe changed the state of a newer one
/// (<https://github.com/diegosouzapw/OmniRoute/pull/13849>).
#[test]
fn d2_the_late_answer_of_an_old_probe_moves_nothing() {
    let mut world = World::base();
    world.search("a", REFUSED, 1);
    world.cool("a");
    let first = world.lease(&["a"]).unwrap();
    world.pass(300_000);
    let second = world.lease(&["a"]).unwrap();
    world.record(second, REFUSED, 1);
    assert_eq!(world.state("a"), Open);
    world.record(first, GOOD, 1);
    assert_eq!(world.state("a"), Open);
}

/// Half-open let a burst through (<https://github.com/KanishJebaMathewM/Truxify/pull/11683>).
#[test]
fn d3_of_a_hundred_at_the_moment_of_half_open_one_gets_through() {
    let pool = Pool::new(PoolSettings::default()).unwrap();
    let candidates = [Candidate::new("a")];
    let at = |seconds| Instant::from_duration(Duration::from_secs(seconds));
    let lease = pool.checkout(&candidates, 1, at(0), &mut || 0.5).leases.pop().unwrap();
    lease.record(REFUSED, Duration::ZERO, at(0), &mut || 0.5);
    let barrier = Barrier::new(100);
    let admitted: usize = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..100)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let leases = pool.checkout(&candidates, 1, at(60), &mut || 0.5).leases;
                    barrier.wait();
                    leases.len()
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    });
    assert_eq!(admitted, 1);
}

/// Mistakes of clients opened the breaker (<https://github.com/sgl-project/sglang/issues/25811>).
#[test]
fn d4_twenty_mistakes_of_clients_open_nothing() {
    let mut world = World::base();
    for _ in 0..20 {
        world.search("a", Outcome::Neutral, 1);
    }
    assert_eq!(world.state("a"), Closed);
}
