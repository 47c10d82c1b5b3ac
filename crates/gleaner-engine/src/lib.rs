//! The moving parts of Gleaner.
