//! The moving parts of Gleaner: what waits, sends, remembers and runs beside the searches.

pub mod background;
pub mod clock;
pub mod egress;
mod engine;
pub mod searcher;
pub mod searchers;

pub use engine::{Engine, EngineSettings};
