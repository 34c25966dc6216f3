//! Writes a made-up daemon log of any size, for benchmarks: `gen_log PATH BYTES SHARE SEED`.
//!
//! `SHARE` is the share of `TIMELINE` and `CUZK_TIMING` lines in percent (100: nothing else); the
//! rest is what surrounds an engine in a storage miner's log: tracing lines with colour, proof
//! library lines, Go lines, HTTP access lines. The same arguments give the same bytes.

use std::fs::File;
use std::io::{self, BufWriter, Write};

/// `SplitMix64`: enough chance for a log, and no dependency.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// The clock of the made-up run, and what the lines need of it.
struct Clock {
    us: u64,
}

impl Clock {
    fn stamp(&self) -> String {
        let s = self.us / 1_000_000;
        let (h, m, s) = ((s / 3600) % 24, (s / 60) % 60, s % 60);
        format!("2026-03-01T{h:02}:{m:02}:{s:02}.{:06}", self.us % 1_000_000)
    }

    fn stamp_ms(&self) -> String {
        let mut stamp = self.stamp();
        stamp.truncate(23);
        stamp
    }
}

const DIM: &str = "\x1b[2m";
const OFF: &str = "\x1b[0m";
const KEY: &str = "\x1b[3m";

fn field(key: &str, value: impl std::fmt::Display) -> String {
    format!(" {KEY}{key}{OFF}{DIM}={OFF}{value}")
}

fn tracing(out: &mut String, clock: &Clock, level: &str, target: &str, rest: &str) {
    let colour = if level == "DEBUG" { 34 } else { 32 };
    *out = format!(
        "{DIM}{}Z{OFF} \x1b[{colour}m{level:>5}{OFF} {DIM}{target}{OFF}{DIM}:{OFF} {rest}\n",
        clock.stamp()
    );
}

fn timeline(out: &mut String, chance: &mut Chance, clock: &Clock) {
    let (p, ms) = (chance.below(10), chance.below(40_000));
    let (event, detail) = match chance.below(6) {
        0 => ("SYNTH_START", format!("partition={p}")),
        1 => ("SYNTH_END", format!("partition={p},synth_ms={ms}")),
        2 => ("CHAN_SEND", format!("partition={p}")),
        3 => ("GPU_PICKUP", format!("worker={},partition={p}", p % 2)),
        4 => ("GPU_START", format!("worker={},partition={p}", p % 2)),
        _ => (
            "GPU_END",
            format!("worker={},partition={p},gpu_ms={ms}", p % 2),
        ),
    };
    let job = chance.below(50) * 0x0123_4567_89ab_cdef;
    let ms = clock.us / 1000;
    *out = format!(
        "TIMELINE,{ms},{event},{:08x}-9ae1-4c02-b3f0-{:012x},{detail}\n",
        job >> 32,
        job & 0xffff_ffff_ffff
    );
}

fn timing(out: &mut String, chance: &mut Chance) {
    let ms = chance.below(3000);
    let body = match chance.below(8) {
        0 => format!("split_vectors_ms={ms} setup_to_split_ms={ms}"),
        1 => format!("prep_msm_ms={ms}"),
        2 => format!("b_g2_msm_ms={ms} num_circuits=1"),
        3 => format!("gpu_tid=0 ntt_msm_h_ms={ms}"),
        4 => format!("gpu_tid=0 batch_add_ms={ms}"),
        5 => format!("gpu_tid=0 tail_msm_ms={ms} gpu_total_ms={}", ms * 4),
        6 => format!("epilogue_ms=3 pre_destructor_ms={ms}"),
        _ => format!("async_dealloc_ms={ms}"),
    };
    *out = format!("CUZK_TIMING: {body}\n");
}

fn colour_noise(out: &mut String, chance: &mut Chance, clock: &Clock) {
    let n = chance.below(10_000);
    match chance.below(5) {
        0 => {
            let rest = format!(
                "finished request{}{}",
                field("latency", format!("{n} ms")),
                field("status", 200)
            );
            tracing(out, clock, "INFO", "tower_http::trace::on_response", &rest);
        }
        1 => tracing(
            out,
            clock,
            "DEBUG",
            "storage_proofs_porep::stacked::vanilla::proof",
            &format!("checking labels of challenge {} layer {}", n * 7919, n % 11),
        ),
        2 => {
            let frame = format!("Headers {{ stream_id: StreamId({n}), flags: (0x4) }}");
            tracing(
                out,
                clock,
                "DEBUG",
                "h2::codec::framed_read",
                &format!("received{}", field("frame", frame)),
            );
        }
        3 => tracing(
            out,
            clock,
            "DEBUG",
            "hyper::proto::h1::io",
            &format!("flushed {n} bytes"),
        ),
        _ => {
            let rest = format!(
                "summary=\"SELECT sp_id, sector FROM sectors \u{2026}\"{}{}{}",
                field("rows_affected", 0),
                field("rows_returned", n % 40),
                field("elapsed", format!("{n}.268\u{b5}s"))
            );
            tracing(out, clock, "DEBUG", "sqlx::query", &rest);
        }
    }
}

fn plain_noise(out: &mut String, chance: &mut Chance, clock: &Clock) {
    let n = chance.below(10_000);
    let at = clock.stamp_ms();
    let second: String = at.chars().take(19).collect();
    *out = match chance.below(8) {
        0 => format!("{at} DEBUG filecoin_proofs::caches > found params in memory cache\n"),
        1 => format!("{at} INFO storage_proofs_core::compound_proof > snark_proof:start {n}\n"),
        2 => format!("{at} INFO bellperson::groth16::prover::supraseal > synthesis time: {n}s\n"),
        3 => format!("{at} DEBUG bellperson::gpu::locks > GPU lock acquired! {n:x}\n"),
        4 => format!(
            "{at}Z\tINFO\tcurio/tasks\tpiece/task_park.go:{n}\tcompleted park \
            {{\"id\": {n}, \"took\": 7.62}}\n"
        ),
        5 => format!(
            "{at}Z\tWARN\tharmonytask\tharmonytask/harmonytask.go:116\tdid not claim \
            task \"PoRep\" {{\"reason\": \"at capacity\", \"max\": 10, \"note\": \"partition=3\"}}\n"
        ),
        6 => format!(
            "10.4.0.17 - - [{} +0000] \"POST /remote/storage/s-t0{n}-36 HTTP/1.1\" 204 \
            {} \"-\" \"Go-http-client/1.1\"\n",
            second,
            n * 19
        ),
        _ => format!(
            "10.4.0.17 - - [{second} +0000] \"GET /status HTTP/1.1\" 200 {n} \"-\" \
            \"Prometheus/2.55\" 0.005\n"
        ),
    };
}

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<u64>().ok());
    let (Some(path), Some(bytes), Some(share), Some(seed)) =
        (args.first(), number(1), number(2), number(3))
    else {
        return Err(io::Error::other(
            "expected: gen_log PATH BYTES SHARE_PERCENT SEED",
        ));
    };
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut chance = Chance(seed);
    let mut clock = Clock { us: 18_969_278_000 };
    let (mut line, mut written) = (String::new(), 0);
    while written < bytes {
        clock.us += chance.below(2000);
        if chance.below(100) < share {
            if chance.below(7) < 3 {
                timeline(&mut line, &mut chance, &clock);
            } else {
                timing(&mut line, &mut chance);
            }
        } else if chance.below(100) < 41 {
            colour_noise(&mut line, &mut chance, &clock);
        } else {
            plain_noise(&mut line, &mut chance, &clock);
        }
        file.write_all(line.as_bytes())?;
        written += line.len() as u64;
    }
    file.flush()
}
