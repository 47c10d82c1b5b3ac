//! The rules of Gleaner.
