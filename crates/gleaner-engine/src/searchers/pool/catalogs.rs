//! What the instances tell about themselves, fetched in the background and kept.
//!
//! No search waits for it: until an instance has told, it is unknown.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use gleaner_core::providers::searxng::Catalog;

use crate::clock::Clock;
use crate::egress::{Egress, Limits, Outgoing};

/// How long an own instance's word is believed.
const OWN: Duration = Duration::from_mins(10);

/// How long a public instance's word is believed: asking costs it something.
const PUBLIC: Duration = Duration::from_hours(6);

/// How soon an instance that did not tell is asked again.
const AGAIN: Duration = Duration::from_secs(30);

/// How long an instance may take to tell.
const PATIENCE: Duration = Duration::from_secs(5);

/// Room for the engines of the largest instances.
const BODY: usize = 2 * 1024 * 1024;

/// One instance's word about itself.
#[derive(Debug, Default)]
pub(super) struct Told {
    catalog: ArcSwapOption<Catalog>,
}

impl Told {
    /// What it said last.
    pub(super) fn get(&self) -> Option<Arc<Catalog>> {
        self.catalog.load_full()
    }
}

/// Asks one instance again and again; never ends.
pub(super) async fn keep_asking(
    told: Arc<Told>,
    request: Outgoing,
    public: bool,
    egress: Arc<dyn Egress>,
    clock: Clock,
) {
    loop {
        let limits = Limits { body: BODY, ..Limits::until(clock.now() + PATIENCE) };
        let reply = egress.send(request.clone(), limits).await.ok().filter(|reply| reply.status.is_success());
        let pause = match reply.and_then(|reply| Catalog::parse(&reply.body)) {
            Some(catalog) => {
                told.catalog.store(Some(Arc::new(catalog)));
                if public { PUBLIC } else { OWN }
            }
            None => AGAIN,
        };
        // A tenth of spread keeps many gateways from asking in step.
        clock.sleep_until(clock.now() + pause.mul_f64(0.95 + 0.1 * clock.dice())).await;
    }
}
