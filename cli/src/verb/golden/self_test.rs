//! `cuzk golden self-test`: does the gate work on this machine's own runs?

use clap::{Args, value_parser};
use golden::evidence::Evidence;
use golden::verbs::{self, SelfTest as Tested, SelfTestOptions};
use serde_json::json;

use super::limits::{Limits, percent};
use super::measured::Measured;
use super::{Goldens, told};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Format, put};

/// Test the gate on runs of one state of the code: does it cry wolf, does it see a slow-down?
///
/// The runs are split in halves at random: a regression among halves is a false alarm. Then a
/// known slow-down is planted in one phase after the other, and must be found. Without inputs the
/// runs of each golden are taken.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk golden self-test
  cuzk golden self-test run1.log run2.log run3.log run4.log run5.log run6.log

Exits with 1 when the gate cries or sleeps on these runs, with 3 when they are too few, with 4 when
there is no golden.")]
pub struct SelfTest {
    #[command(flatten)]
    measured: Measured,
    #[command(flatten)]
    goldens: Goldens,
    #[command(flatten)]
    limits: Limits,
    /// Random splits
    #[arg(
        long,
        value_name = "N",
        default_value_t = 200,
        value_parser = value_parser!(u32).range(1..=100_000)
    )]
    splits: u32,
    /// The planted slow-down that must be caught
    #[arg(long, value_name = "PERCENT", default_value = "10", value_parser = percent)]
    canary: f64,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the test on the inputs, or on every golden.
///
/// # Errors
///
/// An input or golden that cannot be read, or an output that cannot be written.
pub(super) fn run(verb: &SelfTest) -> Result<Exit, CliError> {
    let gate = verb.limits.options(verb.measured.rules());
    let options = SelfTestOptions {
        splits: verb.splits,
        canary: verb.canary,
        ..SelfTestOptions::default()
    };
    let subjects = subjects(verb)?;
    let tested: Vec<(String, Tested)> = subjects
        .into_iter()
        .map(|(name, evidence)| (name, verbs::self_test(&evidence, &gate, &options)))
        .collect();
    match verb.format {
        Format::Json => {
            let of = |(name, tested): &(String, Tested)| {
                let problems: Vec<_> = tested.problems.iter().map(|p| p.finding().title).collect();
                json!({"of": name, "result": tested, "problems": problems})
            };
            let all: Vec<_> = tested.iter().map(of).collect();
            output::json(&json!({ "tested": all }))?;
        }
        Format::Text => {
            let texts: Vec<String> = tested
                .iter()
                .map(|(name, tested)| as_text(name, tested, verb.canary))
                .collect();
            output::text(&texts.join("\n"))?;
        }
    }
    Ok(if tested.is_empty() {
        output::note("there is no golden to test the gate on: record and accept one");
        Exit::NotComparable
    } else if tested
        .iter()
        .any(|(_, tested)| !tested.ok && tested.splits > 0)
    {
        Exit::Findings
    } else if tested.iter().any(|(_, tested)| !tested.ok) {
        Exit::Inconclusive
    } else {
        Exit::Clean
    })
}

fn subjects(verb: &SelfTest) -> Result<Vec<(String, Evidence)>, CliError> {
    if !verb.measured.inputs.is_empty() {
        let evidence = Evidence::of(&verb.measured.read()?, verb.measured.rules());
        return Ok(vec![("the inputs".to_owned(), evidence)]);
    }
    let goldens = verb.goldens.store().goldens().map_err(told)?;
    Ok(goldens
        .into_iter()
        .map(|(path, golden)| (path.display().to_string(), golden.evidence()))
        .collect())
}

fn as_text(name: &str, tested: &Tested, canary: f64) -> String {
    let mut text = String::new();
    let word = match (tested.ok, tested.splits) {
        (true, _) => "the gate works here",
        (false, 0) => "too few usable runs to test with: four or more",
        (false, _) => "THE GATE DOES NOT WORK HERE",
    };
    put(
        &mut text,
        format_args!("{name}, {} runs: {word}\n", tested.runs),
    );
    for problem in &tested.problems {
        put(
            &mut text,
            format_args!("  look: {}\n", problem.finding().title),
        );
    }
    if tested.splits == 0 {
        put(&mut text, format_args!("  next: {}\n", too_few(tested)));
        return text;
    }
    let (alarms, splits, passed) = (tested.false_alarms, tested.splits, tested.passed);
    put(
        &mut text,
        format_args!(
            "  nothing planted: {alarms} of {splits} called a regression, {passed} pass\n"
        ),
    );
    for power in &tested.power {
        let (percent, found, trials) = (power.effect * 100.0, power.found, power.trials);
        let passed = power.passed;
        put(
            &mut text,
            format_args!(
                "  planted {percent:+.0} %: found in {found} of {trials}, {passed} passed\n"
            ),
        );
    }
    let percent = canary * 100.0;
    if tested.canary_missed.is_empty() {
        put(
            &mut text,
            format_args!("  canary {percent:+.0} %: caught in every phase\n"),
        );
    } else {
        let missed = tested.canary_missed.join(", ");
        put(
            &mut text,
            format_args!("  canary {percent:+.0} %: MISSED in {missed}\n"),
        );
    }
    if !tested.ok {
        put(&mut text, format_args!("  next: {}\n", next(tested)));
    }
    text
}

/// What to do about runs that cannot be split.
fn too_few(tested: &Tested) -> String {
    let more = RUNS_USUAL.saturating_sub(tested.runs);
    format!("record {more} more runs; each start of the benchmark is one")
}

/// Runs with which most machines see what they should.
const RUNS_USUAL: usize = 12;

/// What to do about a test that failed.
fn next(tested: &Tested) -> String {
    let missed = &tested.canary_missed;
    let more = RUNS_USUAL
        .saturating_sub(tested.runs)
        .max(tested.runs.div_ceil(2));
    if tested.problems.iter().any(|problem| problem.blocks) {
        "mend what stands above, then test again".to_owned()
    } else if !missed.is_empty() {
        let flags: Vec<String> = missed
            .iter()
            .map(|phase| format!("--ungated {phase}"))
            .collect();
        format!(
            "record {more} more runs, or longer ones; or leave what is too restless out of the \
             gate, in every call: {}",
            flags.join(" ")
        )
    } else {
        format!(
            "the runs differ among themselves: lock the clocks, let nothing else run, and record \
             {more} more"
        )
    }
}
