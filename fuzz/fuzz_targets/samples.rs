//! Any bytes as what the gate reads (times in four forms, a golden, a history): no panic, whatever
//! the numbers are; a golden that was read, written and read again is the same.
#![no_main]

use std::path::Path;

use golden::evidence::{Evidence, Rules};
use golden::gate::{Options, judge};
use golden::history::{self, TableColumns, trends};
use golden::render;
use golden::samples::{Format, Samples};
use golden::snapshot::Snapshot;
use golden::stats::ChangeOptions;
use libfuzzer_sys::fuzz_target;

const FORMATS: [Format; 4] = [Format::Samples, Format::Criterion, Format::Hyperfine, Format::Csv];

const RULES: Rules = Rules { warmup: 1, allow_unverified: true, injected: false };

/// Times as a golden and as the candidate beside it.
fn judged(samples: &Samples) {
    let evidence = Evidence::of(samples, RULES);
    let golden = Snapshot::candidate(&evidence);
    if let Ok(text) = golden.to_toml() {
        let again = Snapshot::from_toml(&text, Path::new("fuzz")).expect("own text");
        compared(&again, &evidence);
    }
}

fn compared(golden: &Snapshot, evidence: &Evidence) {
    let verdict = judge(Some(golden), evidence, &Options::default());
    assert!(!render::text(&verdict).is_empty());
}

fuzz_target!(|data: &[u8]| {
    for format in FORMATS {
        if let Ok(samples) = format.read(data, "fuzz") {
            judged(&samples);
        }
    }
    let text = String::from_utf8_lossy(data);
    if let Ok(golden) = Snapshot::from_toml(&text, Path::new("fuzz")) {
        compared(&golden, &golden.evidence());
    }
    let records = history::read(data);
    let table = history::read_table(data, &TableColumns::default());
    for (points, _) in [records, table].into_iter().flatten() {
        let _ = trends(&points, &ChangeOptions::default());
    }
});
