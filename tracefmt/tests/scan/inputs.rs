//! Real excerpts and simulated runs, read from the folder that `CUZK_INPUTS` names.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tracefmt::scan::{Class, Wrapping};

use super::{Kept, of_class, scan};

fn folder(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CUZK_INPUTS").map(|root| PathBuf::from(root).join(name));
    if folder.is_none() {
        println!("skipped: CUZK_INPUTS is not set");
    }
    folder
}

fn files(name: &str, suffix: &str) -> Vec<PathBuf> {
    let Some(folder) = folder(name) else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder).expect("the inputs folder can be read");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry can be read").path())
        .filter(|path| path.to_string_lossy().ends_with(suffix))
        .collect();
    files.sort();
    files
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Lines by class as the simulation knows them. Its log lines of other libraries are `foreign`, it
/// counts panics by reports, and a torn line by what it was.
#[test]
fn runs_have_the_classes_that_the_simulation_wrote() {
    for path in files("runs", ".truth.json") {
        let truth: Value = serde_json::from_slice(&fs::read(&path).expect("truth")).expect("JSON");
        let log = path.with_file_name(truth["log"].as_str().expect("a log"));
        let bytes = fs::read(&log).expect("a log");
        let (lines, scan) = scan(&bytes);
        let of = |class| scan.ledger.of(class).lines;
        let name = log.display();
        assert_eq!(scan.ledger.bytes(), count(&truth["bytes"]), "{name}");
        assert_eq!(scan.ledger.lines(), count(&truth["lines"]), "{name}");
        assert_eq!(scan.cut_end, truth["cut"]["truncated"] == true, "{name}");

        let kept = if truth["kept_by_grep"].is_null() {
            &truth["line_classes"]
        } else {
            &truth["kept_by_grep"]
        };
        let torn = count(&truth["torn"]["timeline_lines_torn"]);
        let glued = scan.lost.count();
        assert_eq!(
            of(Class::Timeline) + torn,
            count(&kept["timeline"]),
            "{name}"
        );
        assert_eq!(of(Class::Timing) + glued, count(&kept["timing"]), "{name}");
        let noise = count(&truth["foreign_kinds"]["tracing_other"]);
        assert_eq!(
            of(Class::Tracing),
            count(&kept["tracing"]) + noise,
            "{name}"
        );
        let others = of(Class::Foreign) + of(Class::EngineOther) + noise;
        assert_eq!(others, count(&kept["foreign"]), "{name}");
        let panics = count(&kept["panic"]);
        let reports = lines
            .iter()
            .filter(|l| l.text.starts_with(b"thread '"))
            .count();
        assert_eq!(
            (reports as u64, of(Class::CudaError)),
            (panics, panics),
            "{name}"
        );
        check_repairs(&truth, &lines, torn);
    }
}

fn check_repairs(truth: &Value, lines: &[Kept], torn: u64) {
    let list = truth["torn"]["list"].as_array().expect("a list");
    let repaired: Vec<_> = lines.iter().filter(|l| l.repaired).collect();
    assert_eq!(repaired.len() as u64, torn);
    for entry in list {
        let at = count(&entry["timeline_line"]);
        let line = repaired
            .iter()
            .find(|l| l.number == at)
            .expect("a repaired line");
        let event = line.text().split(',').nth(2).map(str::to_owned);
        assert_eq!(event.as_deref(), entry["event"].as_str());
        let wanted = count(&entry["inserted_line"]);
        assert!(
            lines
                .iter()
                .any(|l| l.number == wanted && l.class != Class::Timeline),
            "{entry}"
        );
    }
}

#[test]
fn bench_reports_are_bench() {
    for path in files("runs", ".bench.txt") {
        let bytes = fs::read(&path).expect("a report");
        let (_, scan) = scan(&bytes);
        assert_eq!(
            scan.ledger.of(Class::Bench).bytes,
            bytes.len() as u64,
            "{}",
            path.display()
        );
    }
}

/// Of the stress log: five lines began, four of them have all their bytes; of a sixth only the end
/// is there.
#[test]
fn the_stress_log_gives_every_line_whose_bytes_are_there() {
    for path in files("logs", "X01-SYNTH-torn-lines-real-formats.log") {
        let (lines, scan) = scan(&fs::read(&path).expect("a log"));
        let job = "8fdded90-cfde-49a5-9deb-b970d1c2f781";
        let want: Vec<String> = (2..=5)
            .map(|p| {
                format!(
                    "TIMELINE,{},GPU_END,{job},worker=1,partition={p},gpu_ms={}",
                    243_030 + p,
                    6730 + p
                )
            })
            .collect();
        assert_eq!(of_class(&lines, Class::Timeline), want);
        assert_eq!(scan.lost.lines(), [1, 25]);
        assert_eq!(scan.ledger.of(Class::Timing).lines, 55);
        assert_eq!(scan.ledger.lines(), 60);
    }
}

#[test]
fn excerpts_have_the_classes_of_their_writers() {
    let table: &[(&str, &[(Class, u64)])] = &[
        ("C01", &[(Class::Timing, 10), (Class::Torn, 1)]),
        ("C02", &[(Class::Timeline, 1), (Class::Tracing, 1)]),
        ("C03", &[(Class::EngineOther, 7)]),
        (
            "F01",
            &[
                (Class::Panic, 1),
                (Class::CudaError, 1),
                (Class::EngineOther, 7),
            ],
        ),
        ("F03", &[(Class::EngineOther, 10)]),
        (
            "F04",
            &[
                (Class::EngineOther, 12),
                (Class::CudaError, 3),
                (Class::Foreign, 11),
            ],
        ),
        ("F11", &[(Class::Panic, 6)]),
        ("F19", &[(Class::EngineOther, 12), (Class::Foreign, 1)]),
        ("F21", &[(Class::EngineOther, 1)]),
        (
            "O02",
            &[
                (Class::Panic, 3),
                (Class::CudaError, 4),
                (Class::Foreign, 7),
            ],
        ),
        ("O04", &[(Class::Panic, 4), (Class::Foreign, 1)]),
        ("O05", &[(Class::Panic, 11), (Class::CudaError, 1)]),
        ("O09", &[(Class::CudaError, 1)]),
        ("O10", &[(Class::Foreign, 12)]),
        ("O12", &[(Class::Foreign, 8)]),
        ("R01", &[(Class::Tracing, 6)]),
        ("R02", &[(Class::Panic, 1), (Class::CudaError, 1)]),
    ];
    for path in files("logs", "") {
        let bytes = fs::read(&path).expect("a log");
        let (_, scan) = scan(&bytes);
        assert_eq!(scan.ledger.bytes(), bytes.len() as u64);
        let name = path.file_name().expect("a name").to_string_lossy();
        let Some((_, want)) = table.iter().find(|(prefix, _)| name.starts_with(prefix)) else {
            continue;
        };
        for class in Class::ALL {
            let lines = want
                .iter()
                .find(|(c, _)| *c == class)
                .map_or(0, |(_, n)| *n);
            assert_eq!(scan.ledger.of(class).lines, lines, "{name} {class}");
        }
    }
}

#[test]
fn listed_excerpts_keep_both_numbers() {
    for path in files("logs", "C01-cuzk-phase9-grepn-first-partition.log") {
        let (lines, scan) = scan(&fs::read(&path).expect("a log"));
        assert_eq!(scan.wrappings, [Wrapping::GrepNumber]);
        let numbers: Vec<_> = lines.iter().map(|l| (l.number, l.listed)).collect();
        assert_eq!(numbers[2], (3, Some(170)));
        assert_eq!(numbers[10], (11, Some(178)));
    }
}
