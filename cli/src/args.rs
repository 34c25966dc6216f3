//! The arguments of `cuzk`; each verb's own are in its file.

use clap::{Parser, Subcommand};

use crate::verb;

/// Tools for people who run a Groth16 proving engine: read its log, say what happened, and why.
#[derive(Debug, Parser)]
#[command(name = "cuzk", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  cuzk diagnose daemon.log bench.txt          what happened, the root cause, what to do
  cuzk diagnose daemon.log --html report.html the same as one self-contained page
  cuzk replay daemon.log --vram 24GiB         would it have passed on a larger card?
  cuzk analyze daemon.log                     where the GPU sat idle, phase by phase
  cuzk compare before.log after.log           did the last change make proofs faster?
  cuzk golden check run1.log run2.log         did a phase become slower than its golden?
  cuzk trace stat daemon.log.gz               what is in a log, byte for byte
  cuzk trace cat --trouble -C 3 daemon.log    what grep would miss

Exit codes: 0 nothing wrong, 1 findings of severity error, 2 wrong usage or unreadable input,
3 inconclusive, 4 not comparable, 70 internal error.";

/// The verbs.
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "words here would hide the help of the arguments' type"
)]
pub enum Verb {
    #[cfg(feature = "logs")]
    Diagnose(verb::diagnose::Diagnose),
    #[cfg(feature = "logs")]
    Replay(verb::replay::Replay),
    #[cfg(feature = "logs")]
    Analyze(verb::analyze::Analyze),
    #[cfg(feature = "logs")]
    Compare(verb::compare::Compare),
    /// Look at a log itself: what is in it, its events, its anomalies
    #[cfg(feature = "logs")]
    #[command(subcommand)]
    Trace(verb::trace::Trace),
    /// Golden timing snapshots, and the gate that holds merges to them
    #[cfg(feature = "gate")]
    #[command(subcommand)]
    Golden(Box<verb::golden::Golden>),
    #[cfg(feature = "prove")]
    Setup(verb::setup::Setup),
    #[cfg(feature = "prove")]
    Prove(verb::prove::Prove),
    #[cfg(feature = "prove")]
    Verify(verb::verify::Verify),
    #[cfg(feature = "prove")]
    Preflight(verb::preflight::Preflight),
    #[cfg(feature = "prove")]
    Bench(verb::bench::Bench),
    #[cfg(feature = "serve")]
    Serve(verb::serve::Serve),
    Completions(verb::completions::Completions),
    Man(verb::man::Man),
}
