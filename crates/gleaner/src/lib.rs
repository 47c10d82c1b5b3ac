//! The doors of Gleaner: HTTP, the command line, the configuration and the wiring.

pub mod cli;
pub mod config;
pub mod demo;
pub mod http;
pub mod telemetry;
pub mod wiring;

mod commands;

pub use commands::run;
