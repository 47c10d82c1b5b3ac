//! How each source of results is asked and read.

pub mod searxng;
