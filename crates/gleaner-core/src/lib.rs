//! The rules of Gleaner.

pub mod base_url;
pub mod canonical_url;
pub mod circuit;
pub mod error;
pub mod ewma;
pub mod instant;
pub mod merge;
pub mod pool;
pub mod providers;
pub mod query;
pub mod relevance;
pub mod report;
pub mod results;
pub mod trail;
