//! `cuzk compare`: two runs phase by phase.

use analyze::compare::{Comparison, Throughput};
use clap::Args;

use crate::error::CliError;
use crate::exit::Exit;
use crate::joining;
use crate::output::{self, Format, put};
use crate::reading;

/// Compare two runs phase by phase, with intervals.
///
/// Shown are the ratio B over A of each phase and the two configurations side by side. The ratio of
/// single runs is the middle of all ratios of a time of B to one of A (Hodges and Lehmann), that of
/// several runs a side the ratio of their geometric means: neither is the ratio of the medians that
/// stand beside it.
///
/// Runs of another shape (kind of proof, partitions, domain, GPUs) are refused, with what differs.
/// Intervals of single runs say how far the partitions of these two runs differ; whether a change
/// is real takes several runs a side.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk compare before.log after.log
  cuzk compare --a a1.log --a a2.log --a a3.log --b b1.log --b b2.log --b b3.log
  cuzk compare before.log after.log --format json | jq '.phases[] | select(.low > 1)'

Exits with 4 when the two are not comparable, else with 0.")]
pub struct Compare {
    /// The reference run
    #[arg(value_name = "A", required_unless_present = "more_a")]
    a: Option<String>,
    /// The run in question
    #[arg(value_name = "B", required_unless_present = "more_b")]
    b: Option<String>,
    /// Further logs of the reference side
    #[arg(long = "a", value_name = "LOG")]
    more_a: Vec<String>,
    /// Further logs of the side in question
    #[arg(long = "b", value_name = "LOG")]
    more_b: Vec<String>,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Reads both sides and prints the comparison.
///
/// # Errors
///
/// An input that cannot be read, or an output that cannot be written.
pub fn run(verb: &Compare) -> Result<Exit, CliError> {
    let side = |first: &Option<String>, more: &[String]| {
        let names: Vec<String> = first.iter().chain(more).cloned().collect();
        reading::read(&joining::open_all(&names)?)
    };
    let (a, b) = (side(&verb.a, &verb.more_a)?, side(&verb.b, &verb.more_b)?);
    let comparison = analyze::compare(&a.trace, &b.trace);
    match verb.format {
        Format::Json => output::json(&comparison)?,
        Format::Text => output::text(&as_text(&comparison))?,
    }
    Ok(if comparison.comparable {
        Exit::Clean
    } else {
        Exit::NotComparable
    })
}

fn as_text(comparison: &Comparison) -> String {
    let mut text = String::new();
    let [a, b] = &comparison.inputs;
    put(
        &mut text,
        format_args!("A  {}\nB  {}\n\n", a.join(", "), b.join(", ")),
    );
    for setting in &comparison.settings {
        let value = |side: &Option<String>| side.clone().unwrap_or_else(|| "-".to_owned());
        let mark = if setting.conflicts() { "  differs" } else { "" };
        let (a, b) = (value(&setting.a), value(&setting.b));
        put(
            &mut text,
            format_args!("{:<22} {a:>18} {b:>18}{mark}\n", setting.name),
        );
    }
    if !comparison.comparable {
        text.push_str("\nnot comparable:\n");
        for reason in &comparison.reasons {
            put(&mut text, format_args!("  {reason}\n"));
        }
        return text;
    }
    text.push_str(&phases(comparison));
    text.push_str("\nA and B are medians; B/A is estimated by itself (cuzk compare --help)\n");
    text.push_str(&throughput(&comparison.throughput));
    text
}

/// Proofs a minute; what they cost is in the phases, but a side that failed shows only here.
fn throughput(of: &Throughput) -> String {
    let rate = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}"));
    let ratio = of
        .ratio
        .map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
    format!(
        "\n{:<22} {:>12} {:>12}\n{:<22} {:>12} {:>12} {ratio:>8}\n",
        "proofs completed",
        of.a_proofs,
        of.b_proofs,
        "proofs a minute",
        rate(of.a_per_minute),
        rate(of.b_per_minute),
    )
}

fn phases(comparison: &Comparison) -> String {
    let mut text = format!(
        "\n{:<22} {:>12} {:>12} {:>8}   interval\n",
        "phase", "A ms", "B ms", "B/A"
    );
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.1}"));
    for row in &comparison.phases {
        let ratio = match (row.ratio, row.low, row.high) {
            (Some(ratio), Some(low), Some(high)) => {
                let mark = match (row.differs(), ratio > 1.0) {
                    (true, true) => "  slower",
                    (true, false) => "  faster",
                    (false, _) => "",
                };
                format!("{ratio:>8.3}   {low:.3} to {high:.3}{mark}")
            }
            (Some(ratio), ..) => format!("{ratio:>8.3}   no interval: too few or too correlated"),
            (None, ..) if row.a_n > 0 && row.b_n > 0 => {
                format!("{:>8}   below the clock's tick", "-")
            }
            (None, ..) => format!("{:>8}   on one side only", "-"),
        };
        let (a, b) = (number(row.a_ms), number(row.b_ms));
        put(
            &mut text,
            format_args!("{:<22} {a:>12} {b:>12} {ratio}\n", row.phase),
        );
    }
    text
}
