//! Logs, to stderr: stdout belongs to what a command was asked for.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use tracing_subscriber::EnvFilter;

use crate::config::{LogFormat, TelemetryConfig};

/// Starts logging as configured. Once per process.
pub fn start(config: &TelemetryConfig) -> anyhow::Result<()> {
    let filter =
        EnvFilter::try_new(&config.log).with_context(|| format!("telemetry.log: {:?}", config.log))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let result = match config.log_format {
        LogFormat::Text => builder.with_ansi(std::io::stderr().is_terminal()).with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    result.map_err(|error| anyhow::anyhow!("logging cannot be started: {error}"))
}
