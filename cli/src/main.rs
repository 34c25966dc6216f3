//! `cuzk`: the command line of the proving engine's tools.

use std::process::ExitCode;

use clap::Parser;

use cli::args::Args;
use cli::exit::Exit;
use cli::{left_out, output};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(refused) => return not_parsed(&refused),
    };
    match cli::run(&args) {
        Ok(exit) => exit.into(),
        Err(error) => output::report_error(&error).into(),
    }
}

/// Help and version, a usage error in clap's own words, or a verb that this build lacks.
fn not_parsed(refused: &clap::Error) -> ExitCode {
    if let Some(error) = left_out::said(refused) {
        return output::report_error(&error).into();
    }
    // A standard output that is closed while help is printed is nobody's concern.
    drop(refused.print());
    match refused.exit_code() {
        0 => Exit::Clean.into(),
        _ => Exit::Usage.into(),
    }
}
