//! The rules of Gleaner.

pub mod base_url;
pub mod error;
pub mod instant;
pub mod query;
pub mod relevance;
pub mod results;
