//! A moment on a monotonic clock, as an argument.
//!
//! The rules read no clock: whoever drives them passes `now`. An [`Instant`] counts from the start of the driver's
//! clock, so tests and simulations make their own. All arithmetic saturates; a moment before another is no time away.

use std::ops::{Add, Sub};
use std::time::Duration;

/// A moment, as the time since the clock's start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Instant(Duration);

impl Instant {
    /// The clock's start.
    pub const ZERO: Self = Self(Duration::ZERO);

    /// The moment `since_start` after the clock's start.
    pub const fn from_duration(since_start: Duration) -> Self {
        Self(since_start)
    }

    /// The time since the clock's start.
    pub const fn as_duration(self) -> Duration {
        self.0
    }

    /// The time from `earlier` to this moment; zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_runs_backwards_or_over() {
        let early = Instant::from_duration(Duration::from_secs(1));
        let late = early + Duration::from_secs(2);
        assert_eq!(late.saturating_since(early), Duration::from_secs(2));
        assert_eq!(early.saturating_since(late), Duration::ZERO);
        assert_eq!(early - Duration::from_secs(9), Instant::ZERO);
        assert_eq!(late + Duration::MAX, Instant::from_duration(Duration::MAX));
    }
}
