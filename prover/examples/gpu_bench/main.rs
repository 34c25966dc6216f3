//! Checks and times the CUDA backend on a machine with a GPU: every result is compared with the
//! CPU's on fresh random data before it is timed. `bench/gpu.sh` runs it.
//!
//! Words are tasks: `check`, `pieces`, `small`, `msm:LOG[:BITS[:TABLES]]`, `msm2:LOG[:BITS]`,
//! `skew:LOG[:BITS]`, `indices:LOG`, `ntt:LOG[:WHOLE]`, `quotient:LOG[:WHOLE]`, `rows:LOG`,
//! `ahead[:LOG]`, `fixed:LOG`, `setup:LOG`; `compile` only fills the cache; `-DNAME=VALUE` sets a
//! constant of the kernels; `--json FILE`.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark prints and reads the clock"
)]

mod data;
mod floors;
mod lanes;
mod rows;
mod setup;
mod sums;
mod transforms;

use std::fmt::Write as _;
use std::time::Instant;

use prover::cuda::{Device, UNITS, default_cache};

/// What every task needs.
#[derive(Debug)]
pub(crate) struct Bench {
    /// The device under test.
    pub(crate) device: Device,
    /// Where random data starts, different in every run.
    pub(crate) seed: u64,
    rows: Vec<String>,
}

/// The crate's errors and the example's own, as text.
pub(crate) type Outcome = Result<(), Box<dyn std::error::Error>>;

impl Bench {
    /// One line of the table: what, size, settings, time, floor.
    pub(crate) fn row(
        &mut self,
        (what, log2): (&str, u32),
        detail: &str,
        times: [f64; 3],
        floor: f64,
    ) {
        let [median, least, most] = times;
        println!(
            "{what:<22} 2^{log2:<3} {median:>9.3} ms  [{least:.3}, {most:.3}]  floor {floor:>8.3}  \
             ratio {:>5.2}  {detail}",
            median / floor
        );
        let mut row = String::new();
        let written = write!(
            row,
            "{{\"work\":\"{what}\",\"log2\":{log2},\"ms\":{median:.4},\"min_ms\":{least:.4},\
             \"max_ms\":{most:.4},\"floor_ms\":{floor:.4},\"detail\":\"{detail}\"}}"
        );
        if written.is_ok() {
            self.rows.push(row);
        }
    }
}

/// Median, least and most of seven runs after two warm-ups, in milliseconds.
pub(crate) fn median(
    mut run: impl FnMut() -> Result<f64, prover::ProverError>,
) -> Result<[f64; 3], prover::ProverError> {
    for _ in 0..2 {
        run()?;
    }
    let mut times = Vec::new();
    for _ in 0..7 {
        times.push(run()?);
    }
    times.sort_by(f64::total_cmp);
    Ok([times[3], times[0], times[6]])
}

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let defines: Vec<String> = words
        .iter()
        .filter_map(|word| word.strip_prefix("-D").map(str::to_owned))
        .collect();
    if words.iter().any(|word| word == "compile") {
        return compile(&defines, words.iter().any(|word| word == "report"));
    }
    let start = Instant::now();
    let device = Device::open(0, &defines, default_cache().as_deref())?;
    let mut seed = [0_u8; 8];
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut seed)?;
    let mut bench = Bench {
        device,
        seed: u64::from_le_bytes(seed),
        rows: Vec::new(),
    };
    let (free, total) = bench.device.memory()?;
    println!(
        "{}; {} of {} MiB free; kernels ready in {:.2} s; seed {:#x}; {defines:?}",
        bench.device.name()?,
        free >> 20,
        total >> 20,
        start.elapsed().as_secs_f64(),
        bench.seed
    );
    let mut json = None;
    let mut words = words.iter().filter(|word| !word.starts_with("-D"));
    let mut failed = 0;
    while let Some(word) = words.next() {
        if word == "--json" {
            json = words.next();
            continue;
        }
        if let Err(error) = task(&mut bench, word) {
            println!("{word}: FAILED: {error}");
            failed += 1;
        }
    }
    if let Some(path) = json {
        std::fs::write(path, format!("[\n{}\n]\n", bench.rows.join(",\n")))?;
    }
    if failed > 0 {
        return Err(format!("{failed} tasks failed").into());
    }
    Ok(())
}

/// Fills the cache for compute capability 9.0 and, if asked, prints the assembler's report; needs
/// no GPU.
fn compile(defines: &[String], report: bool) -> Outcome {
    for unit in UNITS {
        unit.cubin((9, 0), defines, default_cache().as_deref())?;
        if !report {
            continue;
        }
        let report = unit.report((9, 0), defines)?;
        let mut name = "";
        for line in report.lines() {
            if let Some((_, rest)) = line.split_once("entry function '") {
                name = rest.split('\'').next().unwrap_or_default();
            }
            if line.contains("Used")
                || (line.contains("spill") && !line.contains(" 0 bytes spill st"))
            {
                println!("{name:<24} {}", line.trim());
            }
        }
    }
    Ok(())
}

fn task(bench: &mut Bench, word: &str) -> Outcome {
    let mut parts = word.split(':');
    let name = parts.next().unwrap_or_default();
    let numbers: Vec<u32> = parts.map(str::parse).collect::<Result<_, _>>()?;
    let at = |place: usize| numbers.get(place).copied();
    let log2 = at(0).unwrap_or(20);
    match name {
        "check" => {
            sums::check(bench)?;
            transforms::check(bench)
        }
        "msm" => sums::g1(bench, log2, at(1), at(2).unwrap_or(1)),
        "msm2" => sums::g2(bench, log2, at(1)),
        "skew" => sums::skewed(bench, log2, at(1)),
        "ntt" => transforms::ntt(bench, log2, at(1).unwrap_or(27)),
        "quotient" => transforms::quotient(bench, log2, at(1).unwrap_or(27)),
        "pieces" => sums::pieces(bench),
        "small" => sums::small(bench),
        "indices" => sums::indices(bench, log2),
        "rows" => rows::rows(bench, log2),
        "ahead" => lanes::ahead(bench, at(0).unwrap_or(25)),
        "fixed" => setup::fixed(bench, log2),
        "setup" => setup::setup(bench, log2),
        _ => Err(format!("no task is called {name}").into()),
    }
}
