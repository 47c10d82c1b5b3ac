//! The rules of Gleaner.

pub mod instant;
