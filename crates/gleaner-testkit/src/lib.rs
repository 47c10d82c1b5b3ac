//! Upstreams for tests: real HTTP on loopback, with moods that a test switches while it runs.

mod page;
mod upstream;

pub use page::{degraded_empty, empty, html_page, page};
pub use upstream::{Mood, Seen, Upstream};
