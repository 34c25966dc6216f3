//! Reads logs and says how long the parts took: `assemble FILE...`, or `assemble --make N FILE`
//! to write a log of N partitions of the `head` dialect for it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use tracefmt::run::{self, Source};

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example talks"
)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, count, path] = arguments.as_slice()
        && flag == "--make"
    {
        let made = count
            .parse()
            .map_err(std::io::Error::other)
            .and_then(|count| make(count, path));
        return made.map_or(ExitCode::from(2), |()| ExitCode::SUCCESS);
    }
    let sources: Vec<Source> = arguments
        .iter()
        .map(|path| Source::Path(path.into()))
        .collect();
    match run::read(&sources) {
        Ok((trace, _)) => {
            for run in &trace.runs {
                println!(
                    "{} ({:?}): {} jobs, {} partitions, {} calls, {} timing lines",
                    run.dialect.name,
                    run.dialect.confidence,
                    run.jobs.len(),
                    run.tasks.len(),
                    run.calls.len(),
                    run.marks.len()
                );
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Lines that wait for their time.
type Pending = BinaryHeap<Reverse<(u64, u64, String)>>;

/// Two workers on one GPU, ten partitions a job, a call every 1.6 s, two open at a time.
fn make(count: u64, path: &str) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    let mut pending = Pending::new();
    for index in 0..count {
        let start = 30_000 + index * 1600;
        for (at, line) in call(index, start) {
            pending.push(Reverse((at, index, line)));
        }
        while let Some(Reverse((at, ..))) = pending.peek()
            && at + 30_000 < start
            && let Some(Reverse((.., line))) = pending.pop()
        {
            writeln!(out, "{line}")?;
        }
    }
    while let Some(Reverse((.., line))) = pending.pop() {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// The lines of one call with the milliseconds at which they are printed. The lock is free 1600
/// ms after the call has started.
fn call(index: u64, start: u64) -> Vec<(u64, String)> {
    let job = format!("porep-1000-{}", index / 10);
    let (partition, worker) = (index % 10, index % 2);
    let gpu_ms = 3_190;
    let place = format!("worker={worker},partition={partition}");
    let events = [
        (
            start - 29_000,
            "SYNTH_START",
            format!("partition={partition}"),
        ),
        (
            start - 1_000,
            "SYNTH_END",
            format!("partition={partition},synth_ms=27990"),
        ),
        (start - 999, "CHAN_SEND", format!("partition={partition}")),
        (start - 1, "GPU_PICKUP", place.clone()),
        (start, "GPU_START", place.clone()),
        (
            start + gpu_ms,
            "GPU_END",
            format!("{place},gpu_ms={gpu_ms}"),
        ),
    ];
    let timings = [
        (101, "split_vectors_ms=100 setup_to_split_ms=101"),
        (1102, "prep_msm_ms=1000"),
        (1403, "b_g2_msm_ms=300 num_circuits=1"),
        (1620, "prestage_setup=ok domain=134217728 lot_of_memory=1"),
        (2422, "gpu_tid=0 ntt_msm_h_ms=800"),
        (3073, "gpu_tid=0 batch_add_ms=650"),
        (3154, "gpu_tid=0 tail_msm_ms=80 gpu_total_ms=1531"),
        (3189, "epilogue_ms=1 pre_destructor_ms=3189"),
        (3700, "async_dealloc_ms=510"),
    ];
    let events = events.into_iter();
    let events =
        events.map(|(ms, event, detail)| (ms, format!("TIMELINE,{ms},{event},{job},{detail}")));
    let timings = timings.into_iter();
    let timings = timings.map(|(ms, text)| (start + ms, format!("CUZK_TIMING: {text}")));
    events.chain(timings).collect()
}
