//! How fast one line is typed, and written: lines a second on one core.

use std::hint::black_box;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use tracefmt::grammar::{parse, parse_event, parse_log, parse_timing};
use tracefmt::record::Record;
use tracefmt::scan::{Class, Classes, Line, Sink, scan_slice};
use tracefmt::writer::write_event;

fn main() {
    divan::main();
}

const LINES: usize = 60_000;

/// Events of a log of partitions, in the shapes and proportions of the newer dialects.
fn old_events() -> Vec<String> {
    let job = |n: usize| format!("898e53e0-c517-435a-b1f9-65b916bf{:04}", n % 97);
    (0..LINES)
        .map(|n| {
            let (ms, job, worker, partition) = (23_821 + n * 7, job(n), n % 2, n % 10);
            match n % 6 {
                0 => format!("TIMELINE,{ms},SYNTH_START,{job},partition={partition}"),
                1 => format!("TIMELINE,{ms},SYNTH_END,{job},partition={partition},synth_ms=25195"),
                2 => format!("TIMELINE,{ms},CHAN_SEND,{job},partition={partition}"),
                3 => {
                    format!("TIMELINE,{ms},GPU_PICKUP,{job},worker={worker},partition={partition}")
                }
                4 => format!("TIMELINE,{ms},GPU_START,{job},worker={worker},partition={partition}"),
                _ => format!(
                    "TIMELINE,{ms},GPU_END,{job},worker={worker},partition={partition},gpu_ms=3700"
                ),
            }
        })
        .collect()
}

/// The fixture of our own lines, repeated.
fn own(prefix: &str) -> Vec<String> {
    let all = include_str!("../testdata/own.log").lines();
    let some: Vec<_> = all.filter(|line| line.starts_with(prefix)).collect();
    some.iter()
        .cycle()
        .take(LINES)
        .map(ToString::to_string)
        .collect()
}

fn timings() -> Vec<String> {
    let all = include_str!("../testdata/old.log").lines();
    let some: Vec<_> = all.filter(|line| line.starts_with("CUZK_")).collect();
    some.iter()
        .cycle()
        .take(LINES)
        .map(ToString::to_string)
        .collect()
}

fn bench(bencher: Bencher<'_, '_>, lines: &[String], each: impl Fn(&[u8]) + Sync) {
    let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
    bencher
        .counter(ItemsCount::new(lines.len()))
        .counter(BytesCount::new(bytes))
        .bench(|| {
            for line in lines {
                each(black_box(line.as_bytes()));
            }
        });
}

#[divan::bench]
fn event_old(bencher: Bencher<'_, '_>) {
    bench(bencher, &old_events(), |line| {
        black_box(parse_event(line));
    });
}

#[divan::bench]
fn event_own(bencher: Bencher<'_, '_>) {
    bench(bencher, &own("TIMELINE"), |line| {
        black_box(parse_event(line));
    });
}

#[divan::bench]
fn timing_old(bencher: Bencher<'_, '_>) {
    bench(bencher, &timings(), |line| {
        black_box(parse_timing(line));
    });
}

#[divan::bench]
fn log_with_escapes(bencher: Bencher<'_, '_>) {
    let line = "\u{1b}[2m2026-02-26T05:37:29.191437Z\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m \
        \u{1b}[2mcuzk_core::engine\u{1b}[0m\u{1b}[2m:\u{1b}[0m partition synthesis complete, \
        sending \
        to GPU \u{1b}[3mjob_id\u{1b}[0m\u{1b}[2m=\u{1b}[0m898e53e0-c517-435a-b1f9-65b916bfc355 \
        \u{1b}[3mpartition\u{1b}[0m\u{1b}[2m=\u{1b}[0m8 \
        \u{1b}[3msynth_ms\u{1b}[0m\u{1b}[2m=\u{1b}[0m25195";
    bench(bencher, &vec![line.to_owned(); LINES / 10], |line| {
        black_box(parse_log(line));
    });
}

#[divan::bench]
fn log_plain(bencher: Bencher<'_, '_>) {
    let line = "2026-02-26T05:37:29.191437Z  INFO cuzk_core::engine: partition synthesis complete, \
        sending to GPU job_id=898e53e0-c517-435a-b1f9-65b916bfc355 partition=8 synth_ms=25195";
    bench(bencher, &vec![line.to_owned(); LINES / 10], |line| {
        black_box(parse_log(line));
    });
}

/// Types what the scanner delivers.
struct Typing(u64);

impl Sink for Typing {
    fn line(&mut self, line: &Line<'_>) {
        if let Record::Event(event) = parse(line.class, line.text) {
            self.0 += event.ms;
        }
    }

    fn wants(&self) -> Classes {
        Classes::NONE.with(Class::Timeline)
    }
}

/// Scanner and grammar together over a log of events only.
#[divan::bench]
fn scan_and_type(bencher: Bencher<'_, '_>) {
    let log = old_events().join("\n") + "\n";
    bencher
        .counter(ItemsCount::new(LINES))
        .counter(BytesCount::new(log.len()))
        .bench(|| {
            let mut sink = Typing(0);
            black_box(scan_slice(black_box(log.as_bytes()), &mut sink));
            sink.0
        });
}

#[divan::bench]
fn write_own(bencher: Bencher<'_, '_>) {
    let lines = own("TIMELINE");
    let events: Vec<_> = lines
        .iter()
        .filter_map(|line| parse_event(line.as_bytes()))
        .collect();
    let mut line = Vec::with_capacity(512);
    bencher
        .counter(ItemsCount::new(events.len()))
        .bench_local(|| {
            for event in &events {
                line.clear();
                write_event(&mut line, black_box(event));
            }
            line.len()
        });
}
