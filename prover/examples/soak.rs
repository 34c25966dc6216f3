//! A soak: an engine under random faults for as long as asked. No job may be lost, every job ends
//! verified or failed with its reason, memory stays flat.
//!
//! ```text
//! cargo run --release -p prover --example soak -- [SECONDS] [SEED] [SHARE]
//! ```
//!
//! SHARE is the percentage of the time that it works, 100 unless said; it sleeps between jobs for
//! the rest, so that a machine that does other things can be soaked too.
//! Exits with 1 when anything of that does not hold. Panics on the way are injected; their
//! messages are kept off the screen.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use prover::ProverError;
use prover::bench::Jobs;
use prover::circuits::by_name;
use prover::clock::{Clock, SystemClock};
use prover::device::groth16::{Groth16, Parameters};
use prover::device::{CpuDevice, Device};
use prover::engine::{
    Config, Engine, Fault, Injection, JobEnd, Limits, Shutdown, StartError, SubmitError, Ticket,
};
use prover::groth16::Shape;
use prover::srs::Ceremony;
use prover::trace::Tracer;

/// Each of these strikes now and then, as the seed has it.
const FAULTS: [&str; 10] = [
    "alloc-fail:1/900",
    "alloc-once:1/300",
    "launch-fail:1/900",
    "double-free:1/300",
    "early-free:1/300",
    "synth-fail:1/200",
    "bad-proof:1/200",
    "panic:synthesis:1/200",
    "panic:worker:1/900",
    "panic:finisher:1/200",
];

/// Jobs that are open at a time.
const OPEN: usize = 6;

/// Partitions a job.
const PARTITIONS: usize = 4;

/// How far resident memory may grow after the warm-up, bytes.
const GROWTH_MAX: u64 = 64 << 20;

#[derive(Debug, Default)]
struct Tally {
    verified: u64,
    failed: u64,
    cancelled: u64,
    lost: u64,
    nameless: u64,
}

#[derive(Debug, thiserror::Error)]
enum SoakError {
    #[error(transparent)]
    Prover(#[from] ProverError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Submit(#[from] SubmitError),
    #[error("cannot write: {0}")]
    Output(#[from] std::io::Error),
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let seconds = args.next().and_then(Result::ok).unwrap_or(60);
    let seed = args.next().and_then(Result::ok).unwrap_or(1);
    let share = args.next().and_then(Result::ok).unwrap_or(100);
    std::panic::set_hook(Box::new(|_| ()));
    match soak(seconds, seed, share.clamp(1, 100)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "soak: {error}"));
            ExitCode::from(2)
        }
    }
}

fn soak(seconds: u64, seed: u64, share: u64) -> Result<bool, SoakError> {
    let mut out = std::io::stdout();
    writeln!(out, "{}", head(seconds, seed, share))?;
    let clock = Arc::new(SystemClock::new());
    let tracer = Tracer::start(
        Arc::<SystemClock>::clone(&clock),
        Box::new(std::io::sink()),
        &tracefmt::event::TraceStart::default(),
    );
    let jobs = jobs(seed)?;
    let work = Arc::new(Groth16::on_processor());
    let device = Arc::new(CpuDevice::new(Arc::clone(&work), 1 << 30, 0));
    let devices: Vec<Arc<dyn Device<Groth16>>> = vec![Arc::<CpuDevice<_>>::clone(&device)];
    let engine = Engine::start(work, devices, Arc::new(tracer?), &config(seed))?;
    let mut open: Vec<(usize, Ticket)> = Vec::new();
    let mut tally = Tally::default();
    let (mut next, mut warm, mut said_us, mut since_us) = (0, None, 0, clock.now_us());
    while clock.now_us() < seconds * 1_000_000 {
        while open.len() < OPEN {
            open.push((next, engine.submit(jobs.job(next))?));
            if next % 17 == 16 {
                engine.cancel(&jobs.job(next).id);
            }
            next += 1;
        }
        let (_, ticket) = open.remove(0);
        count(&mut tally, &engine, ticket);
        since_us = rest(&clock, since_us, share);
        if clock.now_us() > said_us {
            said_us = clock.now_us() + (seconds * 1_000_000 / 20).max(1_000_000);
            let resident = resident_bytes();
            if clock.now_us() > seconds * 100_000 {
                warm = warm.or(Some(resident));
            }
            let (at, mib) = (
                Duration::from_micros(clock.now_us()).as_secs(),
                resident >> 20,
            );
            writeln!(out, "{at:6} s  {tally:?}  resident {mib} MiB")?;
        }
    }
    for (_, ticket) in open {
        count(&mut tally, &engine, ticket);
    }
    let host_used = engine.shutdown(Shutdown::Drain).host_used;
    let grown = resident_bytes().saturating_sub(warm.unwrap_or(0));
    let ended = tally.verified + tally.failed + tally.cancelled;
    let flat = warm.is_none() || grown <= GROWTH_MAX;
    writeln!(
        out,
        "{next} jobs, {} partitions: {tally:?}",
        next * PARTITIONS
    )?;
    writeln!(
        out,
        "resident grew by {} MiB after the warm-up",
        grown >> 20
    )?;
    let whole = ended == next as u64 && tally.lost == 0;
    let both = tally.verified > 0 && tally.failed > 0;
    verdict(&[
        ("every job ended once", whole),
        ("every failure has a reason", tally.nameless == 0),
        ("some were verified and some failed", both),
        ("no host memory is reserved", host_used == 0),
        ("no device memory is held", device.held_bytes() == 0),
        ("no host range is pinned", device.pinned_ranges() == 0),
        ("resident memory is flat", flat),
    ])
}

fn head(seconds: u64, seed: u64, share: u64) -> String {
    let faults = FAULTS.join(" ");
    format!("seed {seed}, {seconds} s, at work {share} % of it, faults {faults}")
}

/// Sleeps so that the work since then was `share` percent of the time; the time after it.
fn rest(clock: &SystemClock, since_us: u64, share: u64) -> u64 {
    let worked_us = clock.now_us() - since_us;
    std::thread::sleep(Duration::from_micros(worked_us * (100 - share) / share));
    clock.now_us()
}

/// Prints what holds and what does not; whether all holds.
fn verdict(well: &[(&str, bool)]) -> Result<bool, SoakError> {
    let mut out = std::io::stdout();
    for (what, holds) in well {
        writeln!(out, "{}  {what}", if *holds { "ok" } else { "NOT" })?;
    }
    Ok(well.iter().all(|(_, holds)| *holds))
}

fn jobs(seed: u64) -> Result<Jobs, SoakError> {
    let family = by_name("mimc", 7)?;
    let (shape, _) = Shape::record(family.example().circuit)?;
    let srs = Ceremony::insecure(seed).parameters(&shape, &mut |_| ())?;
    Ok(Jobs {
        family,
        parameters: Arc::new(Parameters::new(shape, Box::new(srs))?),
        partitions: PARTITIONS,
        seed,
    })
}

fn config(seed: u64) -> Config {
    let faults = FAULTS.iter().filter_map(|text| text.parse::<Fault>().ok());
    Config {
        synth_workers: 2,
        device_workers: 2,
        finishers: 1,
        expected: 0,
        limits: Limits {
            host_bytes: 256 << 10,
            waiting: 1000,
            reports: OPEN * 2,
        },
        injection: Injection {
            faults: faults.collect(),
            seed,
        },
    }
}

fn count(tally: &mut Tally, engine: &Engine<Groth16>, ticket: Ticket) {
    match engine.wait(ticket).map(|report| report.end) {
        Some(JobEnd::Verified) => tally.verified += 1,
        Some(JobEnd::Failed(why)) => {
            tally.failed += 1;
            tally.nameless += u64::from(why.is_empty());
        }
        Some(JobEnd::Cancelled) => tally.cancelled += 1,
        None => tally.lost += 1,
    }
}

/// Resident memory, where the system says so.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
