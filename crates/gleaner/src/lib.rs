//! The doors of Gleaner: HTTP, the command line, the configuration and the wiring.

pub mod config;
