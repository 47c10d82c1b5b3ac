//! The rules of Gleaner.

pub mod error;
pub mod instant;
pub mod query;
