//! The only reader of clocks and the only source of chance.
//!
//! Everything below takes `now` and dice as arguments. A [`Clock`] reads tokio's time, so a test that pauses tokio's
//! clock has paused the engine; a scripted one also has dice that repeat and a calendar that follows the paused clock.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use gleaner_core::instant::Instant;
use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Tells the time since it was made, and throws dice. Clones are the same clock.
#[derive(Clone, Debug)]
pub struct Clock {
    start: tokio::time::Instant,
    calendar: Calendar,
    dice: Arc<Mutex<SmallRng>>,
}

#[derive(Clone, Copy, Debug)]
enum Calendar {
    System,
    /// The seconds since 1970 at the clock's start.
    Scripted(i64),
}

impl Clock {
    /// Starts a clock on the system's time and chance.
    #[expect(clippy::disallowed_methods, reason = "this is the door through which chance enters")]
    pub fn new() -> Self {
        Self::start(Calendar::System, rand::random())
    }

    /// Starts a clock for tests: `seed` decides every throw, and the calendar says `unix_seconds` at the start and
    /// moves with tokio's clock.
    pub fn scripted(seed: u64, unix_seconds: i64) -> Self {
        Self::start(Calendar::Scripted(unix_seconds), seed)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door through which time enters")]
    fn start(calendar: Calendar, seed: u64) -> Self {
        let dice = Arc::new(Mutex::new(SmallRng::seed_from_u64(seed)));
        Self { start: tokio::time::Instant::now(), calendar, dice }
    }

    /// Returns the time since the clock was made. Never goes back.
    #[expect(clippy::disallowed_methods, reason = "this is the door through which time enters")]
    pub fn now(&self) -> Instant {
        Instant::from_duration(tokio::time::Instant::now().saturating_duration_since(self.start))
    }

    /// Returns the seconds since 1970; for HTTP dates and files, never for measuring.
    #[expect(clippy::disallowed_methods, reason = "this is the door through which time enters")]
    pub fn unix_seconds(&self) -> i64 {
        match self.calendar {
            Calendar::System => match std::time::SystemTime::now().duration_since(UNIX_EPOCH) {
                Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
                Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
            },
            Calendar::Scripted(start) => start.saturating_add_unsigned(self.now().as_duration().as_secs()),
        }
    }

    /// Waits until `instant`; returns at once if it is past.
    pub fn sleep_until(&self, instant: Instant) -> tokio::time::Sleep {
        tokio::time::sleep_until(self.on_tokio(instant))
    }

    /// Runs `future` until `deadline`, then drops it and returns `None`. What is ready at the deadline counts.
    pub async fn before<F: Future>(&self, deadline: Instant, future: F) -> Option<F::Output> {
        tokio::time::timeout_at(self.on_tokio(deadline), future).await.ok()
    }

    /// Throws the dice: uniform in `[0, 1)`.
    pub fn dice(&self) -> f64 {
        self.dice.lock().random()
    }

    /// Draws a number that names something.
    pub fn id(&self) -> u64 {
        self.dice.lock().random()
    }

    /// Instants beyond what the platform can express become a day too far to matter.
    fn on_tokio(&self, instant: Instant) -> tokio::time::Instant {
        const FAR: Duration = Duration::from_hours(24 * 365 * 30);
        self.start + instant.as_duration().min(FAR)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_clock_moves_with_tokios() {
        let clock = Clock::scripted(1, 1_700_000_000);
        assert_eq!(clock.now(), Instant::ZERO);
        let at = Instant::from_duration(Duration::from_millis(2500));
        clock.sleep_until(at).await;
        assert_eq!(clock.now(), at);
        assert_eq!(clock.clone().now(), at);
        assert_eq!(clock.unix_seconds(), 1_700_000_002);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_at_the_deadline_counts() {
        let clock = Clock::scripted(1, 0);
        let at = Instant::from_duration(Duration::from_millis(100));
        assert_eq!(clock.before(at, clock.sleep_until(at)).await, Some(()));
        assert_eq!(clock.before(at, std::future::pending::<()>()).await, None);
        assert_eq!(clock.now(), at);
    }

    #[test]
    fn one_seed_throws_the_same_dice_within_the_unit() {
        let throws = |seed| {
            let clock = Clock::scripted(seed, 0);
            (0..100).map(|_| clock.dice()).collect::<Vec<_>>()
        };
        assert_eq!(throws(7), throws(7));
        assert_ne!(throws(7), throws(8));
        assert!(throws(7).iter().all(|throw| (0.0..1.0).contains(throw)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_instant_beyond_all_time_is_waited_for_without_panic() {
        let clock = Clock::new();
        let never = clock.sleep_until(Instant::from_duration(Duration::MAX));
        let soon = Instant::from_duration(Duration::from_secs(1));
        assert!(clock.before(soon, never).await.is_none());
        assert!(clock.unix_seconds() > 1_600_000_000);
    }
}
