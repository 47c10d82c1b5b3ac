//! A moving average that is read at an instant.
//!
//! Each sample moves the average by a fixed share of the difference (`pool.md` R1). Between samples the average may
//! fade toward a resting value, so that old news loses weight (A1, A2). The fade is worked out when somebody reads:
//! nothing has to run in between, and a value that nobody reads costs nothing.

use std::time::Duration;

use crate::instant::Instant;

/// An exponentially weighted moving average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ewma {
    value: f64,
    at: Instant,
}

/// How an average ages between samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fade {
    /// The value it rests at in the end.
    pub toward: f64,
    /// The time in which the distance to that value shrinks to 1/e; `None`: it does not age.
    pub time: Option<Duration>,
}

impl Ewma {
    /// Starts an average at its first value, unblended.
    pub const fn new(value: f64, at: Instant) -> Self {
        Self { value, at }
    }

    /// The average as it stands at `now`.
    pub fn read(&self, fade: Fade, now: Instant) -> f64 {
        let Some(time) = fade.time else { return self.value };
        let age = now.saturating_since(self.at);
        if age.is_zero() || self.value.total_cmp(&fade.toward).is_eq() {
            return self.value;
        }
        fade.toward + (self.value - fade.toward) * (-age.as_secs_f64() / time.as_secs_f64()).exp()
    }

    /// Takes a sample with weight `alpha`, onto the aged value.
    pub fn blend(&mut self, sample: f64, alpha: f64, fade: Fade, now: Instant) {
        let old = self.read(fade, now);
        self.value = old + alpha * (sample - old);
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEADY: Fade = Fade { toward: 0.0, time: None };

    fn at(seconds: u64) -> Instant {
        Instant::from_duration(Duration::from_secs(seconds))
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn a_sample_moves_the_average_by_its_weight() {
        let mut average = Ewma::new(100.0, at(0));
        average.blend(200.0, 0.3, STEADY, at(0));
        assert!(close(average.read(STEADY, at(9)), 130.0));
        average.blend(50.0, 0.3, STEADY, at(0));
        assert!(close(average.read(STEADY, at(9)), 106.0));
    }

    #[test]
    fn an_average_fades_toward_its_resting_value_and_takes_samples_there() {
        let fade = Fade { toward: 1000.0, time: Some(Duration::from_mins(1)) };
        let mut average = Ewma::new(100.0, at(0));
        let aged = 1000.0 - 900.0 * (-1.0_f64).exp();
        assert!(close(average.read(fade, at(60)), aged));
        average.blend(500.0, 0.5, fade, at(60));
        assert!(close(average.read(fade, at(60)), f64::midpoint(aged, 500.0)));
    }

    #[test]
    fn a_reading_before_the_last_sample_is_not_aged() {
        let fade = Fade { toward: 0.0, time: Some(Duration::from_secs(1)) };
        assert!(close(Ewma::new(5.0, at(10)).read(fade, at(3)), 5.0));
    }
}
