//! The verbs of the command line.

mod check;
mod pool;
mod search;
mod serve;

use std::process::ExitCode;

use crate::cli::{Cli, Command, SourceArgs};
use crate::config::{self, Loaded, Overrides};

/// Does what the command line says.
///
/// # Errors
///
/// What stopped it, for people; the process then ends with 1.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Serve(args) => serve::serve(args),
        Command::Demo { listen } => serve::demo(&listen),
        Command::Search { words, json, source } => search::search(&words.join(" "), json, source),
        Command::Check { source } => check::check(source),
        Command::Schema => {
            anstream::println!("{}", config::reference::json_schema());
            Ok(ExitCode::SUCCESS)
        }
        Command::Pool { url, json } => pool::pool(&url, json),
    }
}

fn load(source: SourceArgs) -> anyhow::Result<Loaded> {
    let overrides = Overrides { config: source.config, searxng: source.searxng, ..Overrides::default() };
    Ok(config::load(&overrides, &config::process_environment())?)
}

/// A runtime with a thread for each core.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
