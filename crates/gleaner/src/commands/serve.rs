//! `gleaner serve` and `gleaner demo`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::cli::ServeArgs;
use crate::config::{self, Config, Overrides};
use crate::{demo, http, telemetry, wiring};

/// How long what runs beside the searches may take to end.
const GRACE: Duration = Duration::from_secs(1);

pub(super) fn serve(args: ServeArgs) -> anyhow::Result<ExitCode> {
    let overrides = Overrides {
        config: args.source.config,
        searxng: args.source.searxng,
        listen: args.listen,
        open: args.open,
    };
    let loaded = config::load(&overrides, &config::process_environment())?;
    config::refuse_open_listen(&loaded.config)?;
    telemetry::start(&loaded.config.telemetry)?;
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    match &loaded.file {
        Some(file) => tracing::info!(file = %file.display(), "configuration"),
        None => tracing::info!("no configuration file: defaults and the environment"),
    }
    if loaded.config.searxng.instances.is_empty() {
        tracing::warn!("no instance is configured: set searxng.instances, SEARXNG_URL or --searxng URL");
    }
    super::runtime()?.block_on(run(&loaded.config))
}

pub(super) fn demo(listen: &str) -> anyhow::Result<ExitCode> {
    let overrides = Overrides { listen: Some(listen.to_owned()), ..Overrides::default() };
    let mut config = config::load(&overrides, &config::Environment::default())?.config;
    config::refuse_open_listen(&config)?;
    telemetry::start(&config.telemetry)?;
    super::runtime()?.block_on(async {
        let stop = CancellationToken::new();
        let upstreams = demo::start(&stop).await.context("the demo's upstreams cannot be started")?;
        let instances = upstreams.iter().map(|(mood, address)| {
            tracing::info!(%address, mood = ?mood, "demo upstream");
            format!("http://{address}")
        });
        let overrides = Overrides { searxng: instances.collect(), ..Overrides::default() };
        config.searxng = config::load(&overrides, &config::Environment::default())?.config.searxng;
        let code = run(&config).await;
        stop.cancel();
        code
    })
}

/// Serves until a signal says stop, then lets what runs finish.
async fn run(config: &Config) -> anyhow::Result<ExitCode> {
    let engine = Arc::new(wiring::engine(config)?);
    let routes = Arc::new(wiring::routes(config, &engine));
    let address = (config.listen.host(), config.listen.port());
    let listener =
        TcpListener::bind(address).await.with_context(|| format!("cannot listen on {}", config.listen))?;
    let address = listener.local_addr()?;
    let stop = CancellationToken::new();
    let server = http::server::serve(listener, routes, wiring::server_limits(config), stop.clone());
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // Reserved for a reload; until then it must not end the process.
    let mut hangup = signal(SignalKind::hangup())?;
    anstream::println!("gleaner listening on http://{address}");
    tokio::pin!(server);
    loop {
        tokio::select! {
            () = &mut server => break,
            _ = interrupt.recv() => stop.cancel(),
            _ = terminate.recv() => stop.cancel(),
            _ = hangup.recv() => tracing::info!("reloading the configuration is not possible yet"),
        }
    }
    engine.shutdown(GRACE).await;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}
