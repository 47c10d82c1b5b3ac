//! Every task that outlives the call that started it is started here and awaited here.
//!
//! Work and rounds differ in how they end. Work (a free call that runs on after its search was answered, a write to the
//! ledger) has an end of its own and is given the shutdown's grace to reach it. A round (sweep, refresh, exchange) has
//! none and is dropped at an await as soon as the shutdown begins.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use gleaner_core::instant::Instant;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;

/// The set of tasks of one engine. Clones are the same set.
///
/// Dropping it stops nothing; [`Background::shutdown`] does.
#[derive(Clone, Debug, Default)]
pub struct Background {
    tasks: TaskTracker,
    stopping: CancellationToken,
    cut: CancellationToken,
    running: Arc<Mutex<BTreeMap<&'static str, usize>>>,
}

impl Background {
    /// Makes an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts work that ends by itself. A shutdown waits for it until its deadline, then drops it.
    ///
    /// A panic ends this task only and is logged under `name`. After a shutdown nothing starts any more.
    pub fn spawn<F>(&self, name: &'static str, work: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let cut = self.cut.clone();
        let running = Running::enter(name, Arc::clone(&self.running));
        self.tasks.spawn(async move {
            let _running = running;
            let work = AssertUnwindSafe(work).catch_unwind();
            if let Some(Err(_)) = cut.run_until_cancelled_owned(work).await {
                tracing::error!(task = name, "background task panicked");
            }
        });
    }

    /// Starts a round: a task without end, dropped when the shutdown begins.
    pub fn round<F>(&self, name: &'static str, round: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let stopping = self.stopping.clone();
        self.spawn(name, async move {
            stopping.run_until_cancelled_owned(round).await;
        });
    }

    /// Returns the token that is cancelled when the shutdown begins.
    pub fn stopping(&self) -> CancellationToken {
        self.stopping.clone()
    }

    /// Ends the rounds, waits for the work until `deadline`, drops what is left and returns its names in order.
    ///
    /// Returns when every task has been dropped; a task that never awaits holds it back.
    pub async fn shutdown(&self, clock: &Clock, deadline: Instant) -> Vec<&'static str> {
        self.stopping.cancel();
        self.tasks.close();
        if clock.before(deadline, self.tasks.wait()).await.is_some() {
            self.cut.cancel();
            return Vec::new();
        }
        let late = self.running.lock().keys().copied().collect();
        self.cut.cancel();
        self.tasks.wait().await;
        late
    }
}

/// One running task, counted under its name until dropped.
struct Running {
    name: &'static str,
    counts: Arc<Mutex<BTreeMap<&'static str, usize>>>,
}

impl Running {
    fn enter(name: &'static str, counts: Arc<Mutex<BTreeMap<&'static str, usize>>>) -> Self {
        *counts.lock().entry(name).or_default() += 1;
        Self { name, counts }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(self.name) {
            *count -= 1;
            if *count == 0 {
                counts.remove(self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;

    fn after(clock: &Clock, time: Duration) -> Instant {
        clock.now() + time
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_waited_for_and_rounds_are_dropped() {
        let clock = Clock::scripted(1, 0);
        let background = Background::new();
        let done = Arc::new(AtomicBool::new(false));
        let sleep = clock.sleep_until(after(&clock, Duration::from_secs(2)));
        let seen = Arc::clone(&done);
        background.spawn("work", async move {
            sleep.await;
            seen.store(true, Ordering::SeqCst);
        });
        background.round("round", std::future::pending());
        let late = background.shutdown(&clock, after(&clock, Duration::from_secs(5))).await;
        assert!(late.is_empty());
        assert!(done.load(Ordering::SeqCst));
        assert_eq!(clock.now(), Instant::from_duration(Duration::from_secs(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn work_past_the_deadline_is_dropped_and_named() {
        let clock = Clock::scripted(1, 0);
        let background = Background::new();
        background.spawn("writes", std::future::pending());
        background.spawn("calls", std::future::pending());
        background.spawn("calls", std::future::pending());
        let deadline = after(&clock, Duration::from_secs(5));
        assert_eq!(background.shutdown(&clock, deadline).await, ["calls", "writes"]);
        assert_eq!(clock.now(), deadline);
        assert!(background.running.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_ends_its_task_only() {
        let clock = Clock::scripted(1, 0);
        let background = Background::new();
        background.spawn("broken", async { panic!("on purpose") });
        background.spawn("whole", async {});
        assert!(background.shutdown(&clock, after(&clock, Duration::from_secs(1))).await.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_starts_after_the_shutdown() {
        let clock = Clock::scripted(1, 0);
        let background = Background::new();
        assert!(background.shutdown(&clock, clock.now()).await.is_empty());
        let ran = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ran);
        background.spawn("too late", async move { seen.store(true, Ordering::SeqCst) });
        background.tasks.wait().await;
        assert!(!ran.load(Ordering::SeqCst));
    }
}
