//! `gleaner pool`: the instances of a running gateway.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use gleaner_core::base_url::BaseUrl;
use gleaner_engine::clock::Clock;
use gleaner_engine::egress::direct::{Direct, DirectSettings};
use gleaner_engine::egress::guard::{Guard, Pass, Reach};
use gleaner_engine::egress::{Egress as _, Limits, Outgoing};
use serde_json::Value;

/// How long the gateway may take to tell.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn pool(url: &str, json: bool) -> anyhow::Result<ExitCode> {
    let base = BaseUrl::parse(url).context("--url")?;
    let body = super::runtime()?.block_on(fetch(&base))?;
    if json {
        anstream::println!("{}", String::from_utf8_lossy(&body));
        return Ok(ExitCode::SUCCESS);
    }
    let view: Value =
        serde_json::from_slice(&body).with_context(|| format!("{base} did not tell in JSON"))?;
    let instances = view["instances"].as_array().with_context(|| format!("{base} named no instances"))?;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let dash = |value: &Value, unit: &str| {
        value.as_f64().map_or("-".to_owned(), |number| format!("{number:.0}{unit}"))
    };
    anstream::println!(
        "{:<44} {:<10} {:>9} {:>8} {:>6} {:>6} {:>9}  note",
        "instance",
        "circuit",
        "latency",
        "failure",
        "good",
        "bad",
        "in flight"
    );
    for instance in instances {
        anstream::println!(
            "{:<44} {:<10} {:>9} {:>7.0}% {:>6} {:>6} {:>9}  {}",
            text(&instance["url"]),
            text(&instance["circuit"]),
            dash(&instance["latency_ms"], " ms"),
            100.0 * instance["failure"].as_f64().unwrap_or(0.0),
            text(&instance["successes"]),
            text(&instance["failures"]),
            text(&instance["in_flight"]),
            instance["note"].as_str().unwrap_or_default(),
        );
    }
    Ok(ExitCode::SUCCESS)
}

async fn fetch(base: &BaseUrl) -> anyhow::Result<bytes::Bytes> {
    let clock = Clock::new();
    let guard = Guard::new().allow(base.as_url(), Pass { reach: Reach::Anywhere, ..Pass::default() });
    let egress = Direct::new(&DirectSettings::default(), clock.clone(), guard);
    let request = Outgoing {
        method: http::Method::GET,
        url: base.page("api/v1/pool"),
        headers: http::HeaderMap::new(),
        body: bytes::Bytes::new(),
    };
    let reply = egress.send(request, Limits::until(clock.now() + PATIENCE)).await?;
    if !reply.status.is_success() {
        bail!("{base} answered {}", reply.status);
    }
    Ok(reply.body)
}
