//! The command line.

#![expect(clippy::doc_markdown, reason = "these comments are the help that people read")]

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// A search gateway: one endpoint in front of a pool of SearXNG instances.
#[derive(Debug, Parser)]
#[command(name = "gleaner", version, about)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs of `gleaner`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs the gateway.
    Serve(ServeArgs),
    /// Runs the gateway over embedded upstreams on loopback: no network, no keys.
    Demo {
        /// Where to listen; port 0 picks a free one.
        #[arg(long, default_value = "127.0.0.1:8080")]
        listen: String,
    },
    /// Searches from the command line.
    Search {
        /// The words to search for.
        #[arg(required = true)]
        words: Vec<String>,
        /// Prints SearXNG's JSON instead of a list.
        #[arg(long)]
        json: bool,
        /// Where the answers come from.
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Reads and checks the configuration.
    Check {
        /// What is checked.
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Prints the JSON schema of the configuration.
    Schema,
    /// Shows the instances of a running gateway.
    Pool {
        /// The address of the gateway.
        #[arg(long, default_value = "http://127.0.0.1:8080")]
        url: String,
        /// Prints JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
}

/// Flags of `gleaner serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where the answers come from.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Where to listen, as HOST:PORT; port 0 picks a free one.
    #[arg(long)]
    pub listen: Option<String>,
    /// Lets anyone who can reach the address search, without keys.
    #[arg(long)]
    pub open: bool,
}

/// Where the configuration and the instances come from.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// The configuration file; else GLEANER_CONFIG, ./gleaner.toml, /etc/gleaner/gleaner.toml, defaults.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A SearXNG instance; may be given more than once.
    #[arg(long = "searxng", value_name = "URL")]
    pub searxng: Vec<String>,
}
