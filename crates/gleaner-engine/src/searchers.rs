//! The keepers of [`Searcher`](crate::searcher::Searcher).

pub mod pool;
