//! `cuzk`: the command line of the proving engine's tools.

use std::process::ExitCode;

use clap::Parser;

use cli::args::Args;

fn main() -> ExitCode {
    let args = Args::parse();
    match cli::run(&args) {
        Ok(exit) => exit.into(),
        Err(error) => cli::output::report_error(&error).into(),
    }
}
