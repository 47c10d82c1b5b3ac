//! What is wrong with a configuration, and where.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why no configuration could be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there, or was named, and cannot be read.
    #[error("{}: cannot be read", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What was written cannot be used. Every problem found, at least one; one line each.
    #[error("{}", lines(.0))]
    Problems(Vec<Problem>),
}

fn lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// One thing that is wrong, and the way out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where it was written.
    pub place: Place,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Where a value was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line of the file.
    Line(PathBuf, usize),
    /// A variable of the environment.
    Variable(String),
    /// A flag of the command line.
    Flag(&'static str),
    /// Nowhere: it follows from several values, or from a default.
    Configuration,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(file, line) => write!(f, "{}:{line}", file.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(flag) => f.write_str(flag),
            Self::Configuration => f.write_str("configuration"),
        }
    }
}
