//! One typed configuration: the file, then the environment, then the flags.
//!
//! Every key is optional, has a default that works and a sentence that explains it; those sentences are the reference page
//! (`docs/configuration.md`, written by [`reference`]). A key that is not known is an error that shows the line and the
//! nearest known key. [`load`] reads and checks everything before it hands out anything, so a broken file changes nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

pub mod addresses;
mod check;
pub mod durations;
pub mod environment;
mod instances;
mod load;
mod nearest;
mod problem;
pub mod reference;
mod schema;
pub mod sizes;

pub use addresses::{InstanceUrl, ListenAddress, Network, PublicUrl};
pub use check::{OpenListen, refuse_open_listen};
pub use durations::{DurationOrOff, DurationText};
pub use environment::{Environment, process_environment};
pub use instances::Instance;
pub use load::{Loaded, Overrides, load};
pub use problem::{ConfigError, Place, Problem};
pub use sizes::SizeText;

/// Everything a person can set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Gleaner")]
pub struct Config {
    /// Where to listen, as `HOST:PORT`. Port 0 picks a free one, `:PORT` means every address of this machine. An address
    /// that other machines can reach is refused unless `auth.open` says that anyone may search.
    pub listen: ListenAddress,
    /// Where what was learned is kept over a restart. Unset: in memory only, which is said at start.
    pub data_dir: Option<PathBuf>,
    /// The address clients know the gateway by: for `/opensearch.xml`, and for the path prefix if it has a path.
    pub public_url: Option<PublicUrl>,
    /// The proxies whose `X-Forwarded-For` is believed: addresses or nets.
    pub trusted_proxies: Vec<Network>,
    /// The SearXNG instances, and how they are asked.
    pub searxng: SearxngConfig,
    /// How instances are ranked, and when one that fails is left alone.
    pub pool: PoolConfig,
    /// The search as a whole.
    pub failover: FailoverConfig,
    /// What an answer may hold.
    pub results: ResultsConfig,
    /// Who may search.
    pub auth: AuthConfig,
    /// What a client may send.
    pub limits: LimitsConfig,
    /// What the gateway tells about itself.
    pub telemetry: TelemetryConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".parse().expect("a constant that a test parses"),
            data_dir: None,
            public_url: None,
            trusted_proxies: Vec::new(),
            searxng: SearxngConfig::default(),
            pool: PoolConfig::default(),
            failover: FailoverConfig::default(),
            results: ResultsConfig::default(),
            auth: AuthConfig::default(),
            limits: LimitsConfig::default(),
            telemetry: TelemetryConfig::default(),
        }
    }
}

/// `[searxng]`: the instances, and how they are asked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearxngConfig {
    /// The instances: each its URL, or a table `{ url, format, headers, max_in_flight, timeout, public }`.
    #[serde(deserialize_with = "instances::read")]
    #[schemars(with = "Vec<instances::Entry>")]
    pub instances: Vec<Instance>,
    /// How long one instance may take to answer one search.
    pub timeout: DurationText,
    /// How many instances are tried within one search, inside its deadline.
    pub attempts: usize,
    /// How many instances are asked side by side, their answers fused. Never public ones.
    pub fan_out: usize,
    /// The engines without which an answer counts as degraded.
    pub relied_on: Vec<String>,
    /// The largest answer that is read from an instance, after decompression.
    pub max_body: SizeText,
}

impl Default for SearxngConfig {
    fn default() -> Self {
        Self {
            instances: Vec::new(),
            timeout: DurationText::seconds(4),
            attempts: 3,
            fan_out: 1,
            relied_on: Vec::new(),
            max_body: SizeText::mebibytes(4),
        }
    }
}

/// In which form an instance is asked.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON; HTML for six hours once the instance has refused JSON.
    #[default]
    Auto,
    /// JSON only: an instance that refuses it is not asked for six hours.
    Json,
    /// HTML only.
    Html,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("***")
    }
}

/// `[pool]`: how instances are ranked, and when one that fails is left alone.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PoolConfig {
    /// How long an instance that refused is left alone at first; doubled with each refusal in a row. If set, it replaces
    /// every value of `cooldown_by_reason` that is not itself set.
    #[schemars(extend("x-unset" = "60s"))]
    pub cooldown: Option<DurationText>,
    /// The longest an instance is left alone, whatever it asks for, unless `max_cooldown_by_reason` says otherwise.
    pub max_cooldown: DurationText,
    /// An instance not used for this long is forgotten.
    pub forget_after: DurationText,
    /// How often forgotten instances are swept out.
    pub sweep_every: DurationText,
    /// How many empty or off-topic answers in a row count as a refusal.
    pub soft_strikes: u32,
    /// A random factor of 1 ± this in the ranking, from 0 to 1.
    pub jitter: f64,
    /// An instance used more recently than this comes after every rested one.
    pub min_interval: DurationText,
    /// The response time assumed of an instance that was not measured yet.
    pub prior: DurationText,
    /// How much failures weigh in the ranking: the score is the response time x (1 + this x the share of failures).
    pub failure_penalty: f64,
    /// The weight of the newest answer in the moving averages, above 0 and up to 1.
    pub ewma_alpha: f64,
    /// How fast old failures fade: after this time they weigh about a third.
    pub failure_fade: DurationOrOff,
    /// How fast an old response time fades towards what is assumed of an unmeasured instance.
    pub latency_fade: DurationOrOff,
    /// The share of searches, from 0 to 1, that go to the instance left unused longest.
    pub explore: f64,
    /// How searches that run at the same time spread over the instances.
    pub spread: Spread,
    /// The pause between two searches at one instance that is kept even if no other is left.
    pub min_interval_hard: HardIntervals,
    /// How long an instance is left alone at first, by what it did. What is unset has the default shown, or `cooldown` where
    /// that is set.
    pub cooldown_by_reason: CooldownByReason,
    /// The longest an instance is left alone, by what it did. What is unset has the default shown.
    pub max_cooldown_by_reason: MaxCooldownByReason,
    /// A cooldown is made longer by up to this share of it, at random, from 0 to 1.
    pub cooldown_jitter: f64,
    /// For which instances a good answer takes back one refusal instead of all.
    pub stepwise_forgiveness: Scope,
    /// How many searches may be at one instance at the same time. Unset: 4 at your own, 2 at public ones.
    #[schemars(extend("x-unset" = "4; public 2"))]
    pub max_in_flight: Option<usize>,
    /// For this long after an instance has recovered it gets one search at a time.
    pub slow_start: DurationText,
    /// Whether failures of nearly all instances at once are taken for an outage of our own network.
    pub self_outage_guard: bool,
    /// Whether, when no instance may be asked, the one that is ready soonest is tried early.
    pub last_resort: LastResort,
    /// A search that did not report back after this long gives up its place at the instance; `"0s"` means never.
    pub lease_ttl: DurationText,
    /// Whether the last instance left is kept although it answers empty or off-topic.
    pub keep_last: bool,
    /// Of which instances the answers are judged for having nothing to do with the query.
    pub off_topic: Scope,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            cooldown: None,
            max_cooldown: DurationText::seconds(30 * 60),
            forget_after: DurationText::seconds(6 * 60 * 60),
            sweep_every: DurationText::seconds(10 * 60),
            soft_strikes: 3,
            jitter: 0.0,
            min_interval: DurationText::seconds(0),
            prior: DurationText::millis(2500),
            failure_penalty: 3.0,
            ewma_alpha: 0.3,
            failure_fade: DurationOrOff::seconds(15 * 60),
            latency_fade: DurationOrOff::seconds(2 * 60 * 60),
            explore: 0.03,
            spread: Spread::default(),
            min_interval_hard: HardIntervals::default(),
            cooldown_by_reason: CooldownByReason::default(),
            max_cooldown_by_reason: MaxCooldownByReason::default(),
            cooldown_jitter: 0.1,
            stepwise_forgiveness: Scope::Public,
            max_in_flight: None,
            slow_start: DurationText::seconds(0),
            self_outage_guard: true,
            last_resort: LastResort::default(),
            lease_ttl: DurationText::seconds(300),
            keep_last: true,
            off_topic: Scope::Public,
        }
    }
}

/// Which instances a rule is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Public instances only.
    Public,
    /// All instances.
    All,
    /// None.
    Off,
}

impl Scope {
    /// Whether the rule is for an instance that is, or is not, public.
    pub fn covers(self, public: bool) -> bool {
        match self {
            Self::Public => public,
            Self::All => true,
            Self::Off => false,
        }
    }
}

/// How searches that run at the same time spread over the instances.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Idle instances come before busy ones.
    #[default]
    IdleFirst,
    /// The score is multiplied by 1 + the searches there.
    Cost,
    /// By the score alone.
    Score,
}

/// Whether an instance may be tried before its cooldown ends.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LastResort {
    /// When exactly one instance is configured.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl LastResort {
    /// Whether it applies with this many instances configured.
    pub fn applies(self, instances: usize) -> bool {
        match self {
            Self::Auto => instances == 1,
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// `[pool.min_interval_hard]`: pauses that are kept even if no other instance is left.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HardIntervals {
    /// Between two JSON searches at a public instance: SearXNG's limiter lets 4 an hour pass.
    pub json: DurationText,
    /// Between two HTML searches at a public instance.
    pub html: DurationText,
    /// Between two searches at one of your own instances.
    pub own: DurationText,
}

impl Default for HardIntervals {
    fn default() -> Self {
        Self {
            json: DurationText::seconds(900),
            html: DurationText::seconds(20),
            own: DurationText::seconds(0),
        }
    }
}

/// `[pool.cooldown_by_reason]`: how long an instance is left alone at first, by what it did.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CooldownByReason {
    /// It did not answer in time.
    #[schemars(extend("x-unset" = "15s"))]
    pub timeout: Option<DurationText>,
    /// It could not be reached.
    #[schemars(extend("x-unset" = "15s"))]
    pub transport: Option<DurationText>,
    /// It said 429: too many requests.
    #[schemars(extend("x-unset" = "60s"))]
    pub rate_limited: Option<DurationText>,
    /// It said 503: not available.
    #[schemars(extend("x-unset" = "60s"))]
    pub unavailable: Option<DurationText>,
    /// It showed a page that tells people from programs.
    #[schemars(extend("x-unset" = "15m"))]
    pub challenge: Option<DurationText>,
    /// It said 401, 403 or 418.
    #[schemars(extend("x-unset" = "15m"))]
    pub forbidden: Option<DurationText>,
    /// SearXNG's limiter led to the start page.
    #[schemars(extend("x-unset" = "6h"))]
    pub limiter: Option<DurationText>,
}

/// `[pool.max_cooldown_by_reason]`: the longest an instance is left alone, by what it did.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MaxCooldownByReason {
    /// It did not answer in time.
    #[schemars(extend("x-unset" = "max_cooldown"))]
    pub timeout: Option<DurationText>,
    /// It could not be reached.
    #[schemars(extend("x-unset" = "max_cooldown"))]
    pub transport: Option<DurationText>,
    /// It said 429: too many requests.
    #[schemars(extend("x-unset" = "max_cooldown"))]
    pub rate_limited: Option<DurationText>,
    /// It said 503: not available.
    #[schemars(extend("x-unset" = "max_cooldown"))]
    pub unavailable: Option<DurationText>,
    /// It showed a page that tells people from programs.
    #[schemars(extend("x-unset" = "12h"))]
    pub challenge: Option<DurationText>,
    /// It said 401, 403 or 418.
    #[schemars(extend("x-unset" = "12h"))]
    pub forbidden: Option<DurationText>,
    /// SearXNG's limiter led to the start page.
    #[schemars(extend("x-unset" = "7d"))]
    pub limiter: Option<DurationText>,
}

/// A cooldown and its cap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cooldown {
    /// The first one, before doubling.
    pub base: std::time::Duration,
    /// The longest one.
    pub max: std::time::Duration,
}

/// The cooldowns in force, what is unset filled in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cooldowns {
    /// For every reason that is not named here.
    pub other: Cooldown,
    /// It did not answer in time.
    pub timeout: Cooldown,
    /// It could not be reached.
    pub transport: Cooldown,
    /// It said 429.
    pub rate_limited: Cooldown,
    /// It said 503.
    pub unavailable: Cooldown,
    /// It showed a page that tells people from programs.
    pub challenge: Cooldown,
    /// It said 401, 403 or 418.
    pub forbidden: Cooldown,
    /// SearXNG's limiter led to the start page.
    pub limiter: Cooldown,
}

impl PoolConfig {
    /// The cooldowns in force: what is set, else an explicit `cooldown`, else the default of the reason (contract of the
    /// pool, A6).
    pub fn cooldowns(&self) -> Cooldowns {
        let minutes = |minutes: u64| DurationText::seconds(minutes * 60);
        let hours = |hours: u64| DurationText::seconds(hours * 3600);
        let cooldown =
            |base: Option<DurationText>, usual, max: Option<DurationText>, longest: Option<DurationText>| {
                let base = base.or(self.cooldown).unwrap_or(usual).get();
                let max = max.or(longest).unwrap_or(self.max_cooldown).get();
                Cooldown { base, max }
            };
        let (base, max) = (&self.cooldown_by_reason, &self.max_cooldown_by_reason);
        Cooldowns {
            other: cooldown(None, minutes(1), None, None),
            timeout: cooldown(base.timeout, DurationText::seconds(15), max.timeout, None),
            transport: cooldown(base.transport, DurationText::seconds(15), max.transport, None),
            rate_limited: cooldown(base.rate_limited, minutes(1), max.rate_limited, None),
            unavailable: cooldown(base.unavailable, minutes(1), max.unavailable, None),
            challenge: cooldown(base.challenge, minutes(15), max.challenge, Some(hours(12))),
            forbidden: cooldown(base.forbidden, minutes(15), max.forbidden, Some(hours(12))),
            limiter: cooldown(base.limiter, hours(6), max.limiter, Some(hours(24 * 7))),
        }
    }

    /// How many searches may be at one instance at the same time, where the instance says nothing itself.
    pub fn max_in_flight(&self, public: bool) -> usize {
        self.max_in_flight.unwrap_or(if public { 2 } else { 4 })
    }
}

/// `[failover]`: the search as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FailoverConfig {
    /// How long one search may take as a whole. A client's `timeout_limit` may shorten it.
    pub deadline: DurationText,
}

impl Default for FailoverConfig {
    fn default() -> Self {
        Self { deadline: DurationText::millis(4500) }
    }
}

/// `[results]`: what an answer may hold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResultsConfig {
    /// The most results in one answer; 0 means no cap.
    pub max: usize,
    /// Whether an answer has the member `number_of_results`, which SearXNG has removed and some clients still read.
    pub number_of_results: bool,
}

impl Default for ResultsConfig {
    fn default() -> Self {
        Self { max: 0, number_of_results: true }
    }
}

/// `[auth]`: who may search.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuthConfig {
    /// Whether anyone who can reach the address may search, without a key. The same as `--open` and `GLEANER_OPEN=true`.
    pub open: bool,
}

/// `[limits]`: what a client may send.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// The longest query in characters; a longer one is answered by 400.
    pub query: usize,
    /// The largest request head: the request line and all headers.
    pub head: SizeText,
    /// The largest request body.
    pub body: SizeText,
    /// How many connections may be open at the same time.
    pub connections: usize,
    /// How long a client may take to send the head of a request.
    pub head_timeout: DurationText,
    /// How long a connection without a request is kept open.
    pub idle_timeout: DurationText,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            query: 2048,
            head: SizeText::kibibytes(64),
            body: SizeText::mebibytes(1),
            connections: 10_000,
            head_timeout: DurationText::seconds(10),
            idle_timeout: DurationText::seconds(75),
        }
    }
}

/// `[telemetry]`: what the gateway tells about itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// What is logged: `off`, `error`, `warn`, `info`, `debug` or `trace`, or directives such as `info,gleaner=debug`.
    pub log: String,
    /// How log lines are written.
    pub log_format: LogFormat,
    /// Whether queries may stand in the logs. They are private: even then at `debug` only.
    pub show_queries: bool,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self { log: "info".to_owned(), log_format: LogFormat::default(), show_queries: false }
    }
}

/// How log lines are written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Headers by name, their values never shown.
pub type Headers = BTreeMap<String, Secret>;
