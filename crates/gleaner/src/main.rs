//! The `gleaner` binary.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = gleaner::cli::Cli::parse();
    match gleaner::run(cli) {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("{}error:{} {error:#}", BOLD_RED.render(), BOLD_RED.render_reset());
            ExitCode::FAILURE
        }
    }
}

const BOLD_RED: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();
