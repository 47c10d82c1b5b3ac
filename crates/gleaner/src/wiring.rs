//! Builds the engine from the configuration. Read from top to bottom it is the wiring diagram.

use std::sync::Arc;

use anyhow::{Context, bail};
use gleaner_core::base_url::BaseUrl;
use gleaner_core::pool::{CooldownByReason, Pool, PoolSettings, ReasonCooldown, Spread};
use gleaner_core::query::QueryLimits;
use gleaner_core::results::JsonStyle;
use gleaner_engine::clock::Clock;
use gleaner_engine::egress::direct::{Direct, DirectSettings};
use gleaner_engine::egress::guard::{Guard, Pass, Reach};
use gleaner_engine::searchers::pool::{AskSettings, Format, Instance, PoolSearcher};
use gleaner_engine::{Engine, EngineSettings};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::config::{self, Config, Cooldown, PoolConfig, SearxngConfig};
use crate::http::search::SearchDoor;
use crate::http::{Routes, server::ServerLimits};

/// The engine that the configuration describes, running.
pub fn engine(config: &Config) -> anyhow::Result<Engine> {
    let clock = Clock::new();
    let searxng = &config.searxng;
    let instances = searxng
        .instances
        .iter()
        .map(|entry| instance(entry, searxng, &config.pool))
        .collect::<Result<Vec<_>, _>>()?;
    for (place, instance) in instances.iter().enumerate() {
        if instances[..place].iter().any(|other| other.base.name() == instance.base.name()) {
            bail!("searxng.instances names {} twice", instance.base);
        }
    }
    let pool = Pool::new(pool_settings(&config.pool, instances.len())).context("[pool]")?;
    let egress = Direct::new(&DirectSettings::default(), clock.clone(), guard(&instances));
    let settings = AskSettings {
        attempts: searxng.attempts,
        fan_out: searxng.fan_out,
        max_body: searxng.max_body.bytes(),
    };
    let searcher = PoolSearcher::new(pool, instances, Arc::new(egress), clock.clone(), settings);
    let settings =
        EngineSettings { deadline: config.failover.deadline.get(), max_results: config.results.max };
    Ok(Engine::start(searcher, clock, settings))
}

/// The doors into `engine`.
pub fn routes(config: &Config, engine: &Arc<Engine>) -> Routes {
    let style = JsonStyle { number_of_results: config.results.number_of_results };
    let limits = QueryLimits { query: config.limits.query };
    let search = SearchDoor::new(Arc::clone(engine), style, limits, config.limits.body.bytes());
    Routes::new(search, Arc::clone(engine), config.public_url.as_ref().map(config::PublicUrl::url))
}

/// The bounds of the listening side.
pub fn server_limits(config: &Config) -> ServerLimits {
    ServerLimits {
        head: config.limits.head.bytes(),
        connections: config.limits.connections,
        head_timeout: config.limits.head_timeout.get(),
        idle_timeout: config.limits.idle_timeout.get(),
        drain: std::time::Duration::from_secs(10),
    }
}

fn instance(
    entry: &config::Instance,
    searxng: &SearxngConfig,
    pool: &PoolConfig,
) -> anyhow::Result<Instance> {
    let base = BaseUrl::parse(entry.url.url().as_str())
        .with_context(|| format!("searxng.instances: {}", entry.url))?;
    let mut headers = HeaderMap::new();
    for (name, value) in &entry.headers {
        let name = HeaderName::from_bytes(name.as_bytes())
            .with_context(|| format!("searxng.instances: {base}: {name} is no header name"))?;
        let mut value = HeaderValue::from_str(value.expose())
            .with_context(|| format!("searxng.instances: {base}: the value of {name} is no header value"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let public = entry.public;
    let max_in_flight = entry.max_in_flight.unwrap_or_else(|| pool.max_in_flight(public));
    let own = pool.min_interval_hard.own.get();
    Ok(Instance {
        base,
        format: match entry.format {
            config::Format::Auto => Format::Auto,
            config::Format::Json => Format::Json,
            config::Format::Html => Format::Html,
        },
        headers,
        timeout: entry.timeout.unwrap_or(searxng.timeout).get(),
        max_in_flight: u32::try_from(max_in_flight).unwrap_or(u32::MAX),
        public,
        json_interval: if public { pool.min_interval_hard.json.get() } else { own },
        html_interval: if public { pool.min_interval_hard.html.get() } else { own },
        stepwise_forgiveness: pool.stepwise_forgiveness.covers(public),
        judged: pool.off_topic.covers(public),
    })
}

/// Nothing but the configured instances may be reached; a public one never leads into the private net.
fn guard(instances: &[Instance]) -> Guard {
    instances.iter().fold(Guard::new(), |guard, instance| {
        let reach = if instance.public { Reach::Public } else { Reach::Anywhere };
        let mut credentials = HeaderMap::new();
        if let Some((user, password)) = instance.base.credentials() {
            credentials.insert(http::header::AUTHORIZATION, basic(user, password));
        }
        guard.allow(instance.base.as_url(), Pass { reach, credentials, resend: true })
    })
}

fn basic(user: &str, password: &str) -> HeaderValue {
    use base64::Engine as _;

    let text = base64::prelude::BASE64_STANDARD.encode(format!("{user}:{password}"));
    HeaderValue::from_str(&format!("Basic {text}")).expect("base64 is always a header value")
}

fn pool_settings(pool: &PoolConfig, instances: usize) -> PoolSettings {
    let cooldowns = pool.cooldowns();
    let reason = |cooldown: Cooldown| Some(ReasonCooldown { base: cooldown.base, max: cooldown.max });
    PoolSettings {
        cooldown: cooldowns.other.base,
        max_cooldown: cooldowns.other.max,
        forget_after: pool.forget_after.get(),
        sweep_every: pool.sweep_every.get(),
        soft_strikes: pool.soft_strikes,
        ewma_alpha: pool.ewma_alpha,
        jitter: pool.jitter,
        min_interval: pool.min_interval.get(),
        prior: pool.prior.get(),
        failure_penalty: pool.failure_penalty,
        failure_fade: pool.failure_fade.get(),
        latency_fade: pool.latency_fade.get(),
        explore: pool.explore,
        spread: match pool.spread {
            config::Spread::IdleFirst => Spread::IdleFirst,
            config::Spread::Cost => Spread::Cost,
            config::Spread::Score => Spread::Score,
        },
        cooldown_by_reason: CooldownByReason {
            timeout: reason(cooldowns.timeout),
            transport: reason(cooldowns.transport),
            rate_limited: reason(cooldowns.rate_limited),
            unavailable: reason(cooldowns.unavailable),
            challenge: reason(cooldowns.challenge),
            forbidden: reason(cooldowns.forbidden),
            limiter: reason(cooldowns.limiter),
        },
        cooldown_jitter: pool.cooldown_jitter,
        slow_start: pool.slow_start.get(),
        self_outage_guard: pool.self_outage_guard,
        last_resort: pool.last_resort.applies(instances),
        lease_ttl: pool.lease_ttl.get(),
        keep_last: pool.keep_last,
    }
}
