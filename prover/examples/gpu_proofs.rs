//! Proofs on a card against those of the processor: the same circuits, witnesses and blinding give
//! the same bytes, whatever the card's memory. Every proof is verified by the engine too.
//!
//! Words are `NAME:LOG2:PARTITIONS[:VRAM_MIB]`, such as `mimc:14:4` or `sha256:18:2:700`; with
//! memory given the card behaves as one of so many MiB. `PARTITIONS` of 1000 small ones is a test
//! of its own.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example prints and reads the clock"
)]

use std::sync::Arc;
use std::time::Instant;

use prover::bench::Jobs;
use prover::circuits::by_name;
use prover::clock::SystemClock;
use prover::device::groth16::Parameters;
use prover::device::{Backend, Devices, Wanted};
use prover::engine::{Config, Engine, Injection, JobEnd, Limits, Shutdown};
use prover::groth16::Shape;
use prover::srs::Ceremony;
use prover::trace::Tracer;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let mut failed = 0;
    for word in std::env::args().skip(1) {
        match compare(&word) {
            Ok(said) => println!("{word}: {said}"),
            Err(error) => {
                println!("{word}: FAILED: {error}");
                failed += 1;
            }
        }
    }
    if failed > 0 {
        return Err(format!("{failed} comparisons failed").into());
    }
    Ok(())
}

fn compare(word: &str) -> Outcome<String> {
    let mut parts = word.split(':');
    let name = parts.next().unwrap_or_default();
    let numbers: Vec<u32> = parts.map(str::parse).collect::<Result<_, _>>()?;
    let [log2, partitions, ..] = numbers[..] else {
        return Err("expected NAME:LOG2:PARTITIONS[:VRAM_MIB]".into());
    };
    let family = by_name(name, log2)?;
    let (shape, _) = Shape::record(family.example().circuit)?;
    let srs = Ceremony::insecure(1).parameters(&shape, &mut |_| ())?;
    let mut seed = [0_u8; 8];
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut seed)?;
    let jobs = Jobs {
        family,
        parameters: Arc::new(Parameters::new(shape, Box::new(srs))?),
        partitions: partitions as usize,
        seed: u64::from_le_bytes(seed),
    };
    let vram = numbers.get(2).map(|mib| u64::from(*mib) << 20);
    let wanted = |backend, vram| Wanted {
        backend,
        vram,
        cards: Some(1),
    };
    let (on_card, card_ms) = proofs(&jobs, &wanted(Backend::Cuda, vram))?;
    let (on_processor, processor_ms) = proofs(&jobs, &wanted(Backend::Cpu, Some(1 << 40)))?;
    let different = on_card.iter().zip(&on_processor);
    let different = different.filter(|(card, cpu)| card != cpu).count();
    if different > 0 || on_card.len() != partitions as usize {
        return Err(format!("{different} of {} proofs differ", on_card.len()).into());
    }
    Ok(format!(
        "{partitions} proofs verified, byte for byte the processor's; {card_ms:.0} ms on the card, \
         {processor_ms:.0} ms on the processor, synthesis and first use included; seed {:#x}",
        jobs.seed
    ))
}

/// The proofs of the first job, as bytes, and how long it took.
fn proofs(jobs: &Jobs, wanted: &Wanted) -> Outcome<(Vec<[u8; 192]>, f64)> {
    let devices = Devices::open(wanted)?;
    let config = Config {
        synth_workers: 2,
        device_workers: 2,
        finishers: 2,
        // As many as make multiples of points pay: they are compared too.
        expected: prover::plan::MULTIPLES_PAY_FROM,
        limits: Limits {
            host_bytes: 1 << 40,
            waiting: jobs.partitions,
            reports: 1,
        },
        injection: Injection::default(),
    };
    let tracer = Arc::new(Tracer::silent(Arc::new(SystemClock::new())));
    let engine = Engine::start(devices.work, devices.all, tracer, &config)?;
    let start = Instant::now();
    let ticket = engine.submit(jobs.job(0))?;
    let report = engine.wait(ticket).ok_or("the report is gone")?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    engine.shutdown(Shutdown::Drain);
    match report.end {
        JobEnd::Verified => Ok((
            report.proofs.iter().map(|proof| proof.to_bytes()).collect(),
            ms,
        )),
        other => Err(format!("{other:?}").into()),
    }
}
