//! Upstreams for tests.
