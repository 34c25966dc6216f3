//! Writes the log of a long healthy run: as many partitions as asked for, one GPU, two workers,
//! the lines of the `phase8` dialect, each `SYNTH_START` printed late. For measuring how the
//! analyzer grows.
//!
//! ```sh
//! cargo run --release -p analyze --example long_run -- 1000000 > /tmp/long.log
//! ```

use std::io::{self, BufWriter, Write};

const PARTITIONS_PER_JOB: u64 = 10;
/// Lock tenure of one partition, milliseconds: 700 + 20 + 640 + 85 and set-up.
const TENURE_MS: u64 = 1_460;
const SYNTH_MS: u64 = 27_000;
const SYNTH_SLOTS: u64 = 20;

fn main() -> io::Result<()> {
    let count = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_u64);
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    for index in 0..count {
        partition(&mut out, index, count)?;
    }
    out.flush()
}

/// Job id of a partition, a UUID in form.
fn job(index: u64) -> String {
    let seq = index / PARTITIONS_PER_JOB;
    let mixed = seq.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
    format!("{seq:08x}-0000-4000-a000-{mixed:012x}")
}

/// One step of the run: the GPU ends partition `index`, takes the next, and synthesis goes on.
fn partition(out: &mut impl Write, index: u64, count: u64) -> io::Result<()> {
    let now = SYNTH_MS + index * TENURE_MS;
    let wave = |at: u64| (at.wrapping_mul(2_654_435_761) >> 7) % 40;
    for ahead in synthesized_at(index) {
        if ahead < count {
            let (id, part) = (job(ahead), ahead % PARTITIONS_PER_JOB);
            let begin = now.saturating_sub(SYNTH_MS);
            writeln!(out, "TIMELINE,{begin},SYNTH_START,{id},partition={part}")?;
        }
    }
    let (id, part, worker) = (job(index), index % PARTITIONS_PER_JOB, index % 2);
    writeln!(
        out,
        "TIMELINE,{now},SYNTH_END,{id},partition={part},synth_ms={}",
        SYNTH_MS - 9
    )?;
    writeln!(out, "TIMELINE,{now},CHAN_SEND,{id},partition={part}")?;
    writeln!(
        out,
        "TIMELINE,{now},GPU_PICKUP,{id},worker={worker},partition={part}"
    )?;
    writeln!(
        out,
        "TIMELINE,{now},GPU_START,{id},worker={worker},partition={part}"
    )?;
    let (ntt, batch, tail) = (
        690 + wave(index),
        620 + wave(index + 7),
        80 + wave(index + 3) / 8,
    );
    writeln!(out, "CUZK_TIMING: split_vectors_ms=0 setup_to_split_ms=0")?;
    writeln!(out, "CUZK_TIMING: prep_msm_ms={}", 400 + wave(index + 1))?;
    writeln!(out, "CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms={ntt}")?;
    writeln!(
        out,
        "CUZK_TIMING: b_g2_msm_ms={} num_circuits=1",
        300 + wave(index + 2)
    )?;
    writeln!(out, "CUZK_TIMING: gpu_tid=0 batch_add_ms={batch}")?;
    let total = ntt + batch + tail;
    writeln!(
        out,
        "CUZK_TIMING: gpu_tid=0 tail_msm_ms={tail} gpu_total_ms={total}"
    )?;
    writeln!(
        out,
        "CUZK_TIMING: epilogue_ms=0 pre_destructor_ms={}",
        total + 6
    )?;
    let end = now + total + 7;
    let gpu_ms = total + 6;
    writeln!(
        out,
        "TIMELINE,{end},GPU_END,{id},worker={worker},partition={part},gpu_ms={gpu_ms}"
    )?;
    writeln!(out, "CUZK_TIMING: async_dealloc_ms=410")
}

/// Partitions whose synthesis begins when the GPU takes partition `index`.
fn synthesized_at(index: u64) -> std::ops::Range<u64> {
    if index == 0 {
        0..SYNTH_SLOTS
    } else {
        index + SYNTH_SLOTS - 1..index + SYNTH_SLOTS
    }
}
