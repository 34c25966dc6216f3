//! Properties: the cut into blocks does not matter, sums are exact, tearing is undone.

use proptest::prelude::*;
use tracefmt::scan::Class;

use super::{of_class, scan, scan_blocks};

/// Lines of all kinds, whole and broken.
fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => event().prop_map(|e| e.concat().into_bytes()),
        4 => inserted().prop_map(String::into_bytes),
        2 => "[ -~]{0,60}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => (event(), 0_usize..9).prop_map(|(e, n)| e[..n.min(e.len())].concat().into_bytes()),
        1 => Just(b"thread 'x' panicked at a.rs:1:1:".to_vec()),
        1 => Just(b"=== Batch Benchmark ===".to_vec()),
        1 => (1_u32..999, inserted()).prop_map(|(n, l)| format!("{n}:{l}").into_bytes()),
        1 => (event(), inserted(), 1_usize..9).prop_map(|(e, l, n)| {
            format!("{}{l}\n{}", e[..n.min(8)].concat(), e[n.min(8)..].concat()).into_bytes()
        }),
    ]
}

fn log() -> impl Strategy<Value = Vec<u8>> {
    (proptest::collection::vec(
        (line(), prop_oneof![9 => Just("\n"), 1 => Just("\r\n")]),
        0..40,
    ))
    .prop_map(|lines| {
        let mut log = Vec::new();
        for (line, end) in lines {
            log.extend_from_slice(&line);
            log.extend_from_slice(end.as_bytes());
        }
        log
    })
}

/// The eight writes of an event before its line end.
fn event() -> impl Strategy<Value = Vec<String>> {
    let job = prop_oneof![
        "[a-f0-9]{8}-[a-f0-9]{4}",
        "porep-[0-9]{4}-[0-9]{1,6}",
        "wdpost-[0-9]{4}-[0-9]-\\[[0-9 ]{8}\\]"
    ];
    let what = prop_oneof![
        (0_u32..20).prop_map(|p| ("SYNTH_START", format!("partition={p}"))),
        (0_u32..20).prop_map(|p| ("SYNTH_END", format!("partition={p},synth_ms={}", p * 977))),
        Just(("CHAN_SEND", String::new())),
        (0_u32..20).prop_map(|p| ("GPU_QUEUE", format!("partition={p}"))),
        (0_u32..20).prop_map(|p| ("GPU_START", format!("worker={},partition={p}", p % 2))),
        (0_u32..20).prop_map(|p| (
            "GPU_END",
            format!("worker=0,partition={p},gpu_ms={}", p * 7)
        )),
    ];
    (any::<u32>(), what, job).prop_map(|(ms, (event, detail), job)| {
        [
            "TIMELINE,",
            &ms.to_string(),
            ",",
            event,
            ",",
            &job,
            ",",
            &detail,
        ]
        .map(str::to_owned)
        .to_vec()
    })
}

/// Whole lines that a C library or the stdout of the daemon writes in one go.
fn inserted() -> impl Strategy<Value = String> {
    prop_oneof![
        (0_u32..9999).prop_map(|ms| format!("CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms={ms}")),
        (0_u32..9999).prop_map(|ms| format!("CUZK_TIMING: prep_msm_ms={ms}")),
        (0_u32..9999).prop_map(|ms| format!("CUZK_NTT_H: d_b_alloc={ms}ms total=690ms")),
        (0_u32..9999, "[a-z =,]{0,30}").prop_map(|(us, text)| format!(
            "\x1b[2m2026-02-22T02:31:21.24{us:04}Z\x1b[0m \x1b[32m INFO\x1b[0m \x1b[2mx\x1b[0m: {text}"
        )),
        "[a-z =,]{0,30}".prop_map(|text| format!("2026-02-22T02:31:21.242028Z  INFO a: {text}")),
    ]
}

proptest! {
    #[test]
    fn the_cut_into_blocks_does_not_matter(
        log in log(),
        lengths in proptest::collection::vec(1_usize..50, 1..8),
    ) {
        let (whole, result) = scan(&log);
        let (blocks, same) = scan_blocks(&log, &lengths);
        prop_assert_eq!(&whole, &blocks);
        prop_assert_eq!(result, same);
    }

    #[test]
    fn every_byte_and_line_is_counted_once(log in log(), tail in "[ -~]{0,20}") {
        let mut log = log;
        log.extend_from_slice(tail.as_bytes());
        let (_, scan) = scan(&log);
        let ends = log.split(|&b| b == b'\n').count() as u64 - 1;
        prop_assert_eq!(scan.ledger.bytes(), log.len() as u64);
        prop_assert_eq!(scan.ledger.lines(), ends + u64::from(!tail.is_empty()));
        prop_assert_eq!(scan.cut_end, !tail.is_empty());
    }

    #[test]
    fn any_bytes_are_counted(log in proptest::collection::vec(any::<u8>(), 0..400)) {
        let (lines, scan) = scan(&log);
        prop_assert_eq!(scan.ledger.bytes(), log.len() as u64);
        let ends = log.split(|&b| b == b'\n').count() as u64 - 1;
        prop_assert!(scan.ledger.lines() - ends <= 1);
        prop_assert!(lines.iter().all(|l| l.number <= scan.ledger.lines()));
    }

    /// The raw bytes of what is delivered are the input, fragments and all.
    #[test]
    fn what_is_delivered_is_the_input(log in log()) {
        let (lines, scan) = scan(&log);
        let raw: usize = lines.iter().map(|l| l.raw.len()).sum();
        prop_assert_eq!(raw as u64, scan.ledger.bytes());
        for line in lines.iter().filter(|l| !l.repaired && l.class != Class::Torn) {
            let at = usize::try_from(line.offset).expect("small");
            prop_assert_eq!(&log[at..at + line.raw.len()], &line.raw[..]);
        }
    }

    /// Lines written into each other at random boundaries come out as they went in.
    #[test]
    fn tearing_is_undone(
        events in proptest::collection::vec(
            (event(), proptest::collection::vec((1_usize..9, inserted()), 0..4)), 1..12),
    ) {
        let mut log = String::new();
        for (writes, inserts) in &events {
            for (i, write) in writes.iter().enumerate() {
                log += write;
                for (_, line) in inserts.iter().filter(|(behind, _)| *behind == i + 1) {
                    log += line;
                    log.push('\n');
                }
            }
            log.push('\n');
        }
        let (lines, scan) = scan(log.as_bytes());
        let want: Vec<String> = events.iter().map(|(writes, _)| writes.concat()).collect();
        prop_assert_eq!(of_class(&lines, Class::Timeline), want, "{}", log);
        let torn = events.iter().filter(|(_, inserts)| !inserts.is_empty()).count() as u64;
        prop_assert_eq!((scan.repaired.count(), scan.lost.count()), (torn, 0));
        let inserted: usize = events.iter().map(|(_, inserts)| inserts.len()).sum();
        let others = lines.iter().filter(|l| l.class != Class::Timeline).count();
        prop_assert_eq!(others, inserted);
    }
}
