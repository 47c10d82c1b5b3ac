//! `gleaner check`: whether the configuration can be used.

use std::process::ExitCode;

use crate::cli::SourceArgs;
use crate::config;
use crate::wiring;

pub(super) fn check(source: SourceArgs) -> anyhow::Result<ExitCode> {
    let loaded = super::load(source)?;
    // Building the engine shows what reading alone does not; nothing is asked.
    super::runtime()?.block_on(async {
        let engine = wiring::engine(&loaded.config)?;
        engine.shutdown(std::time::Duration::ZERO).await;
        anyhow::Ok(())
    })?;
    match &loaded.file {
        Some(file) => anstream::println!("{} is fine", file.display()),
        None => anstream::println!("no configuration file; defaults and the environment are fine"),
    }
    for warning in &loaded.warnings {
        anstream::println!("warning: {warning}");
    }
    for instance in &loaded.config.searxng.instances {
        anstream::println!("instance {}", instance.url);
    }
    if loaded.config.searxng.instances.is_empty() {
        anstream::println!("warning: no instance is configured: set searxng.instances");
    }
    if let Err(error) = config::refuse_open_listen(&loaded.config) {
        anstream::println!("warning: serve will refuse to start: {error}");
    }
    Ok(ExitCode::SUCCESS)
}
