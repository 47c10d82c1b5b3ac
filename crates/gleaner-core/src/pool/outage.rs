//! Whose fault it is when nobody answers: if nearly all instances fall silent at once, it is our own network (A11).

use std::collections::VecDeque;
use std::time::Duration;

use crate::instant::Instant;

/// How far back is looked.
pub(super) const WINDOW: Duration = Duration::from_secs(10);

/// Fewest silent instances that mean something.
const INSTANCES: usize = 4;

/// The share of those asked that must be silent.
const SHARE: f64 = 0.8;

/// Most reports remembered; a busy pool has more within the window, and the newest tell enough.
const REPORTS: usize = 1024;

/// Who answered and who did not, lately.
#[derive(Debug, Default)]
pub(super) struct OutageGuard {
    reports: VecDeque<(Instant, usize, bool)>,
}

impl OutageGuard {
    /// Takes in whether the instance in `slot` was silent. True if our own network is down by what is known now.
    pub(super) fn report(&mut self, slot: usize, silent: bool, now: Instant) -> bool {
        self.reports.retain(|(at, ..)| now.saturating_since(*at) <= WINDOW);
        if self.reports.len() == REPORTS {
            self.reports.pop_front();
        }
        self.reports.push_back((now, slot, silent));
        if !silent {
            return false;
        }
        // The last word of each instance counts.
        let mut asked: Vec<(usize, bool)> = Vec::new();
        for &(_, slot, silent) in self.reports.iter().rev() {
            if !asked.iter().any(|(other, _)| *other == slot) {
                asked.push((slot, silent));
            }
        }
        let silent = asked.iter().filter(|(_, silent)| *silent).count();
        silent >= INSTANCES && silent as f64 >= SHARE * asked.len() as f64
    }

    /// The instances that fell silent within the window.
    pub(super) fn silent(&self) -> impl Iterator<Item = usize> + '_ {
        self.reports.iter().filter(|(.., silent)| *silent).map(|(_, slot, _)| *slot)
    }
}
