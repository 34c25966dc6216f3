//! Any bytes as a log, through all that a diagnosis, a replay, a comparison and a conversion do
//! with it: no panic, whatever its numbers are, and times that add up to what is idle.
#![no_main]

use std::io::{Cursor, Read};

use analyze::diagnose::{Question, ReadAgain, Reading, diagnose, render};
use analyze::export::{self, Format};
use analyze::{Options, analyze, compare, lanes, vram};
use libfuzzer_sys::fuzz_target;
use replay::lifecycle::Given;
use replay::log::{replay_of, schedule_of};
use tracefmt::Source;
use tracefmt::finding::Finding;
use tracefmt::lint::Lint;
use tracefmt::run::{Run, Trace};

/// The smallest card and a picture are looked for in schedules of at most as many steps.
const SHORT: usize = 64;

/// What replay finds in a run, and where its buffers stand in a picture.
fn replayed(run: &Run) -> Vec<Finding> {
    let Some(of) = schedule_of(run, &Given::default()) else { return Vec::new() };
    let short = of.schedule.steps.len() <= SHORT;
    assert_eq!(vram::times(run, &of.refs).len(), of.refs.len());
    // A driver that nobody knows cannot be replayed.
    let Ok(report) = replay_of(run, &of, "fuzz", None, short) else { return Vec::new() };
    report.findings
}

/// Writes it in every form, and the parts of a picture.
fn converted(trace: &Trace, analysis: &analyze::model::Analysis) {
    for format in Format::ALL {
        export::write(format, trace, analysis, Vec::new()).expect("memory takes what is written");
    }
    for run in &trace.runs {
        let lanes = lanes::lanes(run, analysis);
        assert!(lanes.len() <= 4 * (run.tasks.len() + run.calls.len() + 4));
    }
}

/// All work on the fuzzer's own thread: what other threads do and when is no two runs' the same.
fn alone() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("the first pool of the process");
}

fuzz_target!(init: alone(), |data: &[u8]| {
    let source = Source::Bytes("fuzz".to_owned(), data.to_vec());
    let (trace, scans) = tracefmt::read(&[source]).expect("bytes in memory are always read");
    let mut lint = Lint::new();
    scans.iter().for_each(|scan| lint.scan(scan));
    trace.runs.iter().for_each(|run| lint.run(run, 0));
    lint.finish();

    let analysis = analyze(&trace, &Options::default());
    for gpu in &analysis.gpus {
        let idle = gpu.span_ms - gpu.busy_kernel_ms;
        let wide = 1e-6 + gpu.span_ms.abs() * 1e-12;
        assert!((gpu.idle_by_cause_ms.total() - idle).abs() <= wide, "{gpu:?}");
    }
    let reading = Reading { trace: &trace, analysis: &analysis };
    let log = data.to_vec();
    let lines = ReadAgain(|_| Some(Box::new(Cursor::new(log.clone())) as Box<dyn Read>));
    let diagnosis = diagnose(&Question {
        subject: reading,
        baseline: Some(reading),
        replay: trace.runs.iter().flat_map(replayed).collect(),
        lines: &lines,
    });
    assert!(!render(&diagnosis, &analysis).is_empty());
    compare(&trace, &trace);
    converted(&trace, &analysis);
});
