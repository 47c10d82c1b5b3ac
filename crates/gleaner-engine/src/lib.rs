//! The moving parts of Gleaner.

pub mod background;
pub mod clock;
pub mod egress;
