//! The ranges of the values, and what several of them mean together.

use std::fmt::Display;

use http::{HeaderName, HeaderValue};
use tracing_subscriber::EnvFilter;

use super::{Config, DurationOrOff, DurationText, Instance, ListenAddress, SizeText};

/// The levels of the log, the quietest first.
pub(super) const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Every value that is out of its range, with its path.
pub(super) fn out_of_range(config: &Config) -> Vec<(String, String)> {
    let mut check = Check(Vec::new());
    let searxng = &config.searxng;
    for (index, instance) in searxng.instances.iter().enumerate() {
        check.instance(index, instance);
    }
    check.some_time("searxng.timeout", searxng.timeout);
    check.at_least_one("searxng.attempts", searxng.attempts);
    check.at_least_one("searxng.fan_out", searxng.fan_out);
    check.some_size("searxng.max_body", searxng.max_body);

    let pool = &config.pool;
    check.times_of_reasons(config);
    check.some_time("pool.max_cooldown", pool.max_cooldown);
    check.some_time("pool.forget_after", pool.forget_after);
    check.some_time("pool.sweep_every", pool.sweep_every);
    check.at_least_one("pool.soft_strikes", pool.soft_strikes as usize);
    check.share("pool.jitter", pool.jitter);
    check.some_time("pool.prior", pool.prior);
    if !(pool.failure_penalty.is_finite() && pool.failure_penalty >= 0.0) {
        check.wrong("pool.failure_penalty", pool.failure_penalty, "0 or more");
    }
    if !(pool.ewma_alpha > 0.0 && pool.ewma_alpha <= 1.0) {
        check.wrong("pool.ewma_alpha", pool.ewma_alpha, "a number above 0 and up to 1");
    }
    check.fade("pool.failure_fade", pool.failure_fade);
    check.fade("pool.latency_fade", pool.latency_fade);
    check.share("pool.explore", pool.explore);
    check.share("pool.cooldown_jitter", pool.cooldown_jitter);
    if let Some(places) = pool.max_in_flight {
        check.at_least_one("pool.max_in_flight", places);
    }

    check.some_time("failover.deadline", config.failover.deadline);

    let limits = &config.limits;
    check.at_least_one("limits.query", limits.query);
    if limits.head.bytes() < 1024 {
        check.wrong("limits.head", limits.head, r#""1KiB" or more"#);
    }
    check.some_size("limits.body", limits.body);
    check.at_least_one("limits.connections", limits.connections);
    check.some_time("limits.head_timeout", limits.head_timeout);
    check.some_time("limits.idle_timeout", limits.idle_timeout);

    check.log(&config.telemetry.log);
    check.0
}

struct Check(Vec<(String, String)>);

impl Check {
    fn wrong(&mut self, path: &str, found: impl Display, expected: &str) {
        self.0.push((path.to_owned(), format!("`{path}` is {found}, expected {expected}")));
    }

    fn at_least_one(&mut self, path: &str, value: usize) {
        if value == 0 {
            self.wrong(path, value, "1 or more");
        }
    }

    fn some_time(&mut self, path: &str, value: DurationText) {
        if value.is_zero() {
            self.wrong(path, value, "more than 0");
        }
    }

    fn fade(&mut self, path: &str, value: DurationOrOff) {
        if value.get().is_some_and(|time| time.is_zero()) {
            self.wrong(path, "0s", r#"more than 0, or "off""#);
        }
    }

    fn some_size(&mut self, path: &str, value: SizeText) {
        if value.bytes() == 0 {
            self.wrong(path, value, "more than 0");
        }
    }

    fn share(&mut self, path: &str, value: f64) {
        if !(0.0..=1.0).contains(&value) {
            self.wrong(path, value, "a number from 0 to 1");
        }
    }

    fn instance(&mut self, index: usize, instance: &Instance) {
        let path = format!("searxng.instances.{index}");
        if let Some(timeout) = instance.timeout {
            self.some_time(&format!("{path}.timeout"), timeout);
        }
        if let Some(places) = instance.max_in_flight {
            self.at_least_one(&format!("{path}.max_in_flight"), places);
        }
        for (name, value) in &instance.headers {
            let path = format!("{path}.headers.{name}");
            if HeaderName::try_from(name.as_str()).is_err() {
                self.0.push((path, format!("`{name}` is not the name of a header")));
            } else if HeaderValue::try_from(value.expose()).is_err() {
                self.0.push((
                    path,
                    format!("the value of the header `{name}` holds a character that no header may have"),
                ));
            }
        }
    }

    fn times_of_reasons(&mut self, config: &Config) {
        let pool = &config.pool;
        let (base, max) = (&pool.cooldown_by_reason, &pool.max_cooldown_by_reason);
        let times = [
            ("pool.cooldown", pool.cooldown),
            ("pool.cooldown_by_reason.timeout", base.timeout),
            ("pool.cooldown_by_reason.transport", base.transport),
            ("pool.cooldown_by_reason.rate_limited", base.rate_limited),
            ("pool.cooldown_by_reason.unavailable", base.unavailable),
            ("pool.cooldown_by_reason.challenge", base.challenge),
            ("pool.cooldown_by_reason.forbidden", base.forbidden),
            ("pool.cooldown_by_reason.limiter", base.limiter),
            ("pool.max_cooldown_by_reason.timeout", max.timeout),
            ("pool.max_cooldown_by_reason.transport", max.transport),
            ("pool.max_cooldown_by_reason.rate_limited", max.rate_limited),
            ("pool.max_cooldown_by_reason.unavailable", max.unavailable),
            ("pool.max_cooldown_by_reason.challenge", max.challenge),
            ("pool.max_cooldown_by_reason.forbidden", max.forbidden),
            ("pool.max_cooldown_by_reason.limiter", max.limiter),
        ];
        for (path, time) in times {
            if let Some(time) = time {
                self.some_time(path, time);
            }
        }
    }

    fn log(&mut self, log: &str) {
        // A single unknown word would be read as the name of a crate, and silence everything else.
        let single_word = !log.contains(['=', ',', '[']);
        let known = LEVELS.iter().any(|level| level.eq_ignore_ascii_case(log.trim()));
        if single_word && !known || EnvFilter::try_new(log).is_err() {
            let expected =
                "off, error, warn, info, debug or trace, or directives such as `info,gleaner=debug`";
            self.wrong("telemetry.log", format_args!("`{log}`"), expected);
        }
    }
}

/// Listening where other machines can reach the gateway, without keys and without having said so.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "listening on {0} would let anyone who can reach it search; if that is meant, add `open = true` under `[auth]` \
     in gleaner.toml, or GLEANER_OPEN=true, or --open; else set `listen = \"127.0.0.1:{port}\"`",
    port = .0.port()
)]
pub struct OpenListen(ListenAddress);

/// Refuses an address that other machines can reach unless the configuration says that anyone may search.
pub fn refuse_open_listen(config: &Config) -> Result<(), OpenListen> {
    if config.listen.is_loopback() || config.auth.open {
        return Ok(());
    }
    Err(OpenListen(config.listen.clone()))
}
