//! The generated pages of docs/reference: made from the arguments and the exit codes themselves,
//! so that they cannot drift. `cli/tests/reference.rs` holds the files against this.

use clap::{Command, CommandFactory};

use crate::args::Args;
use crate::exit::Exit;
use crate::output::put;

const MADE: &str =
    "<!-- made from the program: UPDATE_REFERENCE=1 cargo test -p cli --test reference -->\n";

/// docs/reference/exit-codes.md
pub fn exit_codes() -> String {
    let mut page = format!("{MADE}# Exit codes\n\nThe same for all verbs.\n\n");
    page.push_str("| code | meaning |\n|---|---|\n");
    for exit in Exit::ALL {
        put(
            &mut page,
            format_args!("| {} | {} |\n", exit.code(), exit.meaning()),
        );
    }
    page.push_str("\nA check that measured nothing never ends with 0.\n");
    page
}

/// docs/reference/cli.md
pub fn command_line() -> String {
    let mut page = format!("{MADE}# Command line\n");
    section(&mut page, "cuzk", Args::command());
    page
}

fn section(page: &mut String, name: &str, command: Command) {
    let below: Vec<Command> = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .cloned()
        .collect();
    let mut shown = command.bin_name(name).term_width(100);
    let help = shown.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    put(
        page,
        format_args!("\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim()),
    );
    for verb in below {
        let name = format!("{name} {}", verb.get_name());
        if verb.get_name() != "help" {
            section(page, &name, verb);
        }
    }
}
