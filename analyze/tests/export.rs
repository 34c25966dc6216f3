//! The exports: valid for their readers, complete, nested, and faithful to odd job ids.

mod sim;

use std::collections::BTreeMap;

use analyze::export::{Format, samples, write};
use analyze::lanes::{Owner, Stage, extent, lanes};
use analyze::model::Region;
use proptest::prelude::*;
use serde_json::Value;
use sim::{ODD_ID, Size};
use tracefmt::event::{Alloc, Place, What};
use tracefmt::run::{At, DeviceEvent, LineRef, Trace};

#[expect(clippy::expect_used, reason = "a helper of tests")]
fn export(format: Format, trace: &Trace, analysis: &analyze::model::Analysis) -> Vec<u8> {
    let mut out = Vec::new();
    write(format, trace, analysis, &mut out).expect("memory takes everything");
    out
}

#[expect(clippy::expect_used, reason = "a helper of tests")]
fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("JSON Lines are UTF-8");
    let parsed = text
        .lines()
        .map(|line| serde_json::from_str(line).expect(line));
    parsed.collect()
}

#[test]
fn an_event_keeps_its_name_beside_the_number_of_a_cuda_event() {
    let (mut trace, analysis) = sim::run(Size::SMALL);
    trace.runs[0].device_events = vec![DeviceEvent {
        at: At {
            us: 1,
            line: LineRef::new(0, 1),
        },
        job: None,
        place: Place::default(),
        what: What::EventRecord {
            event: 4,
            stream: tracefmt::event::Stream::Legacy,
            rc: 0,
        },
    }];
    let rows = lines(&export(Format::JsonLines, &trace, &analysis));
    let event = rows.iter().find(|row| row["type"] == "event").unwrap();
    assert_eq!(event["event"], "EVENT_RECORD");
    assert_eq!(event["cuda_event"], 4);
}

#[test]
fn chrome_events_nest_in_their_threads() {
    let (mut trace, analysis) = sim::run(Size::SMALL);
    sim::with_panic(&mut trace);
    let bytes = export(Format::Chrome, &trace, &analysis);
    let document: Value = serde_json::from_slice(&bytes).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let count = |ph: &str| events.iter().filter(|event| event["ph"] == ph).count();
    // Synthesis, queue and call; the tenure and its two stretches of kernels; these on the GPU.
    let spans = trace.runs[0].tasks.len() * (3 + 3 + 2) + analysis.gpus[0].idle.len();
    assert_eq!(count("X"), spans);
    assert_eq!(count("i"), trace.runs[0].jobs.len() + 1);
    let mut threads: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let (start, length) = (
            event["ts"].as_f64().unwrap(),
            event["dur"].as_f64().unwrap(),
        );
        let thread = threads.entry(event["tid"].as_u64().unwrap()).or_default();
        thread.push((start, start + length));
    }
    for (thread, spans) in threads {
        let mut open: Vec<f64> = Vec::new();
        for (start, end) in spans {
            while open.pop_if(|end| *end <= start + 1e-6).is_some() {}
            let parent = open.last().copied().unwrap_or(f64::INFINITY);
            assert!(
                end <= parent + 1e-6,
                "thread {thread}: {start}..{end} leaves {parent}"
            );
            open.push(end);
        }
    }
    assert!(events.iter().any(|event| event["args"]["job"] == ODD_ID));
}

#[test]
fn perfetto_is_written_packet_by_packet() {
    let (trace, analysis) = sim::run(Size::SMALL);
    let bytes = export(Format::Perfetto, &trace, &analysis);
    // Every packet is field 1 of the trace message, length-delimited.
    let (mut at, mut packets) = (0, 0);
    while at < bytes.len() {
        assert_eq!(bytes[at], 0x0A, "at byte {at}");
        let (mut length, mut shift) = (0_usize, 0);
        loop {
            at += 1;
            length |= usize::from(bytes[at] & 0x7F) << shift;
            shift += 7;
            if bytes[at] < 0x80 {
                break;
            }
        }
        at += 1 + length;
        packets += 1;
    }
    assert_eq!(at, bytes.len());
    let spans: usize = lanes(&trace.runs[0], &analysis)
        .iter()
        .map(|l| l.spans.len())
        .sum();
    let tracks = lanes(&trace.runs[0], &analysis).len() + 2;
    assert_eq!(packets, 1 + tracks + 2 * spans + trace.runs[0].jobs.len());
}

#[test]
fn json_lines_name_every_object() {
    let (mut trace, analysis) = sim::run(Size::SMALL);
    sim::with_panic(&mut trace);
    trace.runs[0].device_events.push(DeviceEvent {
        at: At {
            us: 5,
            line: LineRef::new(0, 3),
        },
        job: Some(1),
        place: Place {
            gpu: Some(0),
            worker: Some(1),
            partition: None,
        },
        what: What::VramAlloc(Alloc {
            id: 17,
            buf: "d_bc".into(),
            bytes: 1 << 33,
            api: "cudaMalloc".into(),
            stream: None,
            rc: 2,
        }),
    });
    let objects = lines(&export(Format::JsonLines, &trace, &analysis));
    let count = |kind: &str| objects.iter().filter(|o| o["type"] == kind).count();
    for (kind, expected) in [
        ("run", 1),
        ("job", 5),
        ("task", 50),
        ("call", 50),
        ("mark", 50),
        ("region", 50),
        ("event", 1),
        ("trouble", 1),
    ] {
        assert_eq!(count(kind), expected, "{kind}");
    }
    let alloc = objects.iter().find(|o| o["type"] == "event").unwrap();
    assert_eq!(alloc["event"], "VRAM_ALLOC");
    assert_eq!((&alloc["job"], &alloc["rc"]), (&ODD_ID.into(), &2.into()));
    assert!(
        alloc.get("partition").is_none(),
        "unknown is absent: {alloc}"
    );
}

#[test]
fn the_gate_reads_the_samples_back() {
    let (trace, _) = sim::run(Size::SMALL);
    let bytes = export(Format::Samples, &trace, &sim::run(Size::SMALL).1);
    let back = golden::samples::read_jsonl(bytes.as_slice()).unwrap();
    assert_eq!(back.anomaly_count, 0, "{:?}", back.anomalies);
    assert_eq!(back, samples(&trace));
    let run = &back.runs[0];
    assert_eq!(run.id, "run & <one>.log.gz");
    assert!(run.complete);
    assert_eq!(run.phases["ntt_msm_h"].ms.len(), 50);
    let verified = run.phases["synth"].verified.iter().filter(|v| **v).count();
    assert_eq!(verified, 30, "jobs 0, 2 and 4 were verified");
    assert_eq!(back.key.domain, Some(1 << 27));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn lanes_are_trees_whatever_the_regions_claim(
        moves in prop::collection::vec((0_usize..50, -9e3..9e3_f64, -9e3..9e3_f64), 0..40)
    ) {
        let (trace, mut analysis) = sim::run(Size::SMALL);
        for (index, start, end) in moves {
            let region: &mut Region = &mut analysis.regions[index];
            region.start_ms += start;
            region.end_ms += end;
            for kernel in &mut region.kernels {
                kernel[0] += end;
            }
        }
        let run = &trace.runs[0];
        let (first, last) = extent(run, &analysis).unwrap();
        for lane in lanes(run, &analysis) {
            let mut open: Vec<f64> = Vec::new();
            for span in &lane.spans {
                prop_assert!(span.start_ms <= span.end_ms);
                prop_assert!(span.start_ms >= first - 2e4 && span.end_ms <= last + 2e4);
                while open.pop_if(|end| *end <= span.start_ms).is_some() {}
                prop_assert!(open.last().is_none_or(|end| span.end_ms <= *end), "{span:?}");
                open.push(span.end_ms);
                if matches!(lane.owner, Owner::Gpu(_)) {
                    let known = matches!(span.stage, Stage::Kernel | Stage::Idle(_));
                    prop_assert!(known && open.len() == 1);
                }
            }
        }
    }
}

/// Writes all exports where other tools can be pointed at them.
#[test]
fn all_exports_can_be_written() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("export");
    std::fs::create_dir_all(&folder).unwrap();
    let (mut trace, analysis) = sim::run(Size::SMALL);
    sim::with_panic(&mut trace);
    for format in Format::ALL {
        let bytes = export(format, &trace, &analysis);
        assert!(!bytes.is_empty());
        std::fs::write(folder.join(format!("small.{}", format.as_str())), bytes).unwrap();
    }
}
