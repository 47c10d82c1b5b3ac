//! The pool, by the vectors, rulings and extensions of its contract, and by properties over any sequence of calls.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod extensions;
mod faults;
mod properties;
mod rulings;
mod support;
mod vectors;
