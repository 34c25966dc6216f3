//! Torn lines: at every boundary, with every kind of line written in, several in a row.

use tracefmt::scan::Class;

use super::{of_class, scan};

const JOB: &str = "8fdded90-cfde-49a5-9deb-b970d1c2f781";

/// The writes of one line, without the line end.
fn writes(event: &str, job: &str, detail: &str) -> Vec<String> {
    let mut writes: Vec<String> = ["TIMELINE,", "245689", ",", event, ",", job, ","]
        .map(str::to_owned)
        .to_vec();
    writes.push(detail.to_owned());
    writes
}

fn events() -> Vec<(&'static str, &'static str, &'static str)> {
    vec![
        ("GPU_END", JOB, "worker=1,partition=2,gpu_ms=6732"),
        (
            "SYNTH_START",
            "wdpost-2113939-3-[194 67 224 232]",
            "kind=window-post",
        ),
        ("SYNTH_END", JOB, "snap_partition=3,synth_ms=31444"),
        ("CHAN_SEND", "winpost-2113939-589251c81bea24d5", ""),
        ("GPU_QUEUE", JOB, "monolithic"),
        ("GPU_PICKUP", "a,b=c", "worker=0"),
    ]
}

const INSERTED: [(Class, &str); 7] = [
    (Class::Timing, "CUZK_TIMING: gpu_tid=1 ntt_msm_h_ms=7589"),
    (Class::Timing, "CUZK_NTT_H: d_b_alloc=1ms total=690ms"),
    (
        Class::Tracing,
        "\x1b[2m2026-02-22T02:31:21.242028Z\x1b[0m \x1b[32m INFO\x1b[0m x",
    ),
    (
        Class::Tracing,
        "[2m2026-02-22T02:31:21.242028Z[0m [32m INFO[0m x",
    ),
    (
        Class::Tracing,
        "2026-02-22T02:31:21.242028Z  INFO cuzk_core::engine: x",
    ),
    (
        Class::Panic,
        "thread 'tokio-runtime-worker' panicked at src/lib.rs:151:9:",
    ),
    (
        Class::EngineOther,
        "2026-02-22T02:31:21.242 INFO bellperson::gpu > x",
    ),
];

/// The line torn: behind each of the given numbers of writes, a whole line is written in.
fn tear(writes: &[String], at: &[(usize, &str)]) -> String {
    let mut log = String::new();
    for (i, write) in writes.iter().enumerate() {
        log.push_str(write);
        for (_, line) in at.iter().filter(|(behind, _)| *behind == i + 1) {
            log.push_str(line);
            log.push('\n');
        }
    }
    log.push('\n');
    log
}

#[test]
fn every_boundary_and_every_kind_is_repaired() {
    for (event, job, detail) in events() {
        let writes = writes(event, job, detail);
        for boundary in 1..=8 {
            for (class, line) in INSERTED {
                let log = tear(&writes, &[(boundary, line)]);
                let (lines, scan) = scan(log.as_bytes());
                assert_eq!(
                    of_class(&lines, Class::Timeline),
                    [writes.concat()],
                    "{log:?}"
                );
                assert_eq!(of_class(&lines, class), [line], "{log:?}");
                assert_eq!(
                    (lines.len(), scan.repaired.lines()),
                    (2, &[1][..]),
                    "{log:?}"
                );
                assert_eq!(scan.lost.count(), 0, "{log:?}");
                assert_eq!(scan.ledger.bytes(), log.len() as u64);
                assert_eq!(scan.ledger.lines(), 2);
                assert_eq!(scan.ledger.of(class).bytes, line.len() as u64 + 1);
                assert_eq!(
                    scan.ledger.of(Class::Torn).bytes,
                    writes.concat().len() as u64 + 1
                );
                let timeline = lines.iter().find(|l| l.repaired).expect("repaired");
                assert_eq!((timeline.number, timeline.offset), (1, 0));
                assert_eq!(timeline.raw, format!("{}\n", writes.concat()).into_bytes());
            }
        }
    }
}

#[test]
fn two_boundaries_of_one_line_are_repaired() {
    let writes = writes("GPU_END", JOB, "worker=1,gpu_ms=6732");
    for first in 1..8 {
        for second in first + 1..=8 {
            let log = tear(&writes, &[(first, INSERTED[0].1), (second, INSERTED[2].1)]);
            let (lines, scan) = scan(log.as_bytes());
            assert_eq!(
                of_class(&lines, Class::Timeline),
                [writes.concat()],
                "{log:?}"
            );
            assert_eq!(scan.ledger.of(Class::Timing).lines, 1);
            assert_eq!(scan.ledger.of(Class::Tracing).lines, 1);
            assert_eq!(scan.lost.count(), 0);
        }
    }
}

#[test]
fn several_lines_at_one_boundary_are_delivered_whole() {
    let writes = writes("GPU_END", JOB, "worker=1,gpu_ms=6732");
    for boundary in 1..=8 {
        let at: Vec<_> = INSERTED.iter().map(|(_, line)| (boundary, *line)).collect();
        let log = tear(&writes, &at);
        let (lines, scan) = scan(log.as_bytes());
        assert_eq!(
            of_class(&lines, Class::Timeline),
            [writes.concat()],
            "{log:?}"
        );
        assert_eq!((scan.ledger.lines(), lines.len()), (8, 8), "{log:?}");
        assert_eq!(scan.lost.count(), 0);
    }
}

#[test]
fn a_prefix_on_every_line_does_not_hinder_repair() {
    let log = "17:TIMELINE,61372,CUZK_TIMING: prep_msm_ms=5\n\
        18:GPU_END,job-1,CUZK_TIMING: prep_msm_ms=6\n\
        19:worker=0,gpu_ms=2933CUZK_TIMING: prep_msm_ms=7\n20:\n";
    let log = format!("16:CUZK_TIMING: a=1\n{log}");
    let (lines, scan) = scan(log.as_bytes());
    let whole = "TIMELINE,61372,GPU_END,job-1,worker=0,gpu_ms=2933";
    assert_eq!(of_class(&lines, Class::Timeline), [whole]);
    assert_eq!(scan.ledger.of(Class::Timing).lines, 4);
    assert_eq!(
        lines.iter().find(|l| l.repaired).and_then(|l| l.listed),
        Some(17)
    );
    assert_eq!(scan.ledger.bytes(), log.len() as u64);
}

#[test]
fn nothing_is_invented_when_the_rest_never_comes() {
    let next = "TIMELINE,300000,CHAN_SEND,job-2,partition=0\n";
    let writes = writes("GPU_END", JOB, "worker=1,gpu_ms=6732");
    for boundary in 1..8 {
        let first: String = writes[..boundary].concat();
        let log = format!("{first}CUZK_TIMING: prep_msm_ms=5\n{next}");
        let (lines, scan) = scan(log.as_bytes());
        assert_eq!(
            of_class(&lines, Class::Timeline),
            [next.trim_end()],
            "{log:?}"
        );
        assert_eq!(of_class(&lines, Class::Torn), [first.as_str()], "{log:?}");
        assert_eq!((scan.repaired.count(), scan.lost.lines()), (0, &[1][..]));
        assert_eq!(scan.ledger.of(Class::Torn).bytes, first.len() as u64);
    }
}

#[test]
fn a_line_of_another_program_is_not_taken_for_the_rest() {
    let log = "TIMELINE,61372,GPU_END,CUZK_TIMING: prep_msm_ms=5\n\
        hello world\n\nindex out of bounds: 3\n{\"worker\": 0}\n\
        job-1,worker=0,gpu_ms=2933\n";
    let (lines, scan) = scan(log.as_bytes());
    let whole = "TIMELINE,61372,GPU_END,job-1,worker=0,gpu_ms=2933";
    assert_eq!(of_class(&lines, Class::Timeline), [whole]);
    assert_eq!(scan.ledger.of(Class::Foreign).lines, 4);
}

#[test]
fn the_end_of_a_line_whose_beginning_is_missing_is_torn() {
    let log = ",8fdded90CUZK_TIMING: prep_msm_ms=5\n\
        ,worker=1,partition=1,gpu_ms=6731CUZK_TIMING: prep_msm_ms=6\n\nhello\n\n";
    let (lines, scan) = scan(log.as_bytes());
    assert_eq!(scan.ledger.of(Class::Timing).lines, 2);
    let torn = of_class(&lines, Class::Torn);
    assert_eq!(torn, [",8fdded90", ",worker=1,partition=1,gpu_ms=6731", ""]);
    assert_eq!(scan.ledger.of(Class::Foreign).lines, 2);
    assert_eq!(scan.lost.lines(), [1]);
}

#[test]
fn a_restart_glued_to_a_cut_line_of_any_kind_is_found() {
    let restart = "\x1b[2m2026-02-25T00:32:37.246000Z\x1b[0m \x1b[32m INFO\x1b[0m starting";
    let cut = [
        "CUZK_TIMING: prestage",
        "CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=8",
        "CUZK_TIM",
        "TIMELINE,24568",
        "TIMELINE,245689,GPU_EN",
        "TIMELINE,245689,GPU_END,8fdded90-",
        "\x1b[2m2026-02-25T00:31:37.246000Z\x1b[0m \x1b[32m INFO\x1b[0m job enq",
        "\x1b[2m2026-02-25T00:31:3",
        "2026-02-25T00:31:37.246 INFO bellperson::groth16 > synth",
        "2026-02-25T00:31:37.246Z\tINFO\tcurio/tasks\tpiece/task_park.go:1\tcompl",
        "10.4.0.17 - - [2026-03-01T05:16:09 +0000] \"GET /sta",
    ];
    for piece in cut {
        let log = format!("{piece}{restart}\n{restart}\nTIMELINE,1,GPU_START,j,worker=0\n");
        let (lines, scan) = scan(log.as_bytes());
        assert_eq!(
            of_class(&lines, Class::Tracing),
            [restart, restart],
            "{log:?}"
        );
        assert_eq!(of_class(&lines, Class::Torn), [piece], "{log:?}");
        assert_eq!(scan.ledger.of(Class::Torn).bytes, piece.len() as u64);
        assert_eq!(
            (scan.ledger.lines(), scan.lost.lines()),
            (3, &[1][..]),
            "{log:?}"
        );
    }
}

#[test]
fn a_line_glued_to_a_cut_event_is_not_taken_for_its_job() {
    let log = "TIMELINE,5,GPU_END,8fdd-TIMELINE,0,SYNTH_START,job-1,partition=1\n";
    let (lines, scan) = scan(log.as_bytes());
    assert_eq!(
        of_class(&lines, Class::Timeline),
        ["TIMELINE,0,SYNTH_START,job-1,partition=1"]
    );
    assert_eq!(scan.lost.count(), 1);
}

#[test]
fn a_last_line_without_end_is_cut() {
    let cases = [
        ("TIMELINE,5,GPU_END,8fdd", Class::Torn),
        ("TIMELINE,5,GPU_END,8fdd,worker=0,gpu_ms=5", Class::Timeline),
        ("CUZK_TIMING: prestage", Class::Torn),
        ("CUZK_TIMING: async_dealloc_ms=52", Class::Timing),
        (
            "2026-02-22T02:31:21.242028Z  INFO cuzk_core::eng",
            Class::Tracing,
        ),
        ("hello", Class::Foreign),
    ];
    for (text, class) in cases {
        let (lines, scan) = scan(format!("hello\n{text}").as_bytes());
        assert_eq!((lines[1].class, lines[1].cut), (class, true), "{text:?}");
        assert!(scan.cut_end && !lines[0].cut);
        assert_eq!(
            scan.ledger.of(class).bytes,
            text.len() as u64 + if class == Class::Foreign { 6 } else { 0 }
        );
    }
}

#[test]
fn a_line_behind_a_cut_head_is_found() {
    let bench = "  [2/5] FAILED \u{2014} 3.0s (prove=0 ms, queue=5 ms)";
    let start = "2026-02-19T04:24:22.996374Z  INFO cuzk_daemon: cuzk-daemon starting listen=x";
    for (before, line, class) in [
        (
            "178:CU",
            "TIMELINE,1,SYNTH_START,a,partition=0",
            Class::Timeline,
        ),
        ("CU", start, Class::Tracing),
        (
            "2026-02-19T04:20:17.000000Z  INFO cuzk_core::engine: job enq",
            start,
            Class::Tracing,
        ),
        ("CUZK_TIMING: gpu_tid=0 ntt_msm", start, Class::Tracing),
        ("CU", bench, Class::Bench),
        ("0 ms, queue=5 ms)", bench, Class::Bench),
        ("CUZK_TIMING: gpu_tid=0 ntt_msm", bench, Class::Bench),
        ("TIMELINE,99,GPU_EN", bench, Class::Bench),
        ("CU", "=== Batch Summary ===", Class::Bench),
    ] {
        let log = format!("{before}{line}\n");
        let (lines, scan) = scan(log.as_bytes());
        let found = lines.last().map(|l| (l.class, l.text()));
        assert_eq!(found, Some((class, line.to_owned())), "{log}");
        assert_eq!(
            scan.ledger.of(Class::Torn).bytes,
            before.len() as u64,
            "{log}"
        );
        assert_eq!(scan.ledger.bytes(), log.len() as u64);
    }
}

#[test]
fn a_head_that_was_cut_is_a_fragment() {
    for log in [
        "177:CUZK_TIMING: a=1\n178:CU...\n",
        "TIMELINE,1,CHAN_SEND,j,\nCUZK_TIM",
        "1:CUZK_TIMING: a=1\n2:TIM...",
    ] {
        let (_, scan) = scan(log.as_bytes());
        assert_eq!(scan.lost.count(), 1, "{log}");
        assert_eq!(scan.ledger.bytes(), log.len() as u64);
    }
}

#[test]
fn a_line_feed_inside_a_job_id_is_joined() {
    for (event, detail) in [
        ("SYNTH_START", "kind=porep-c2"),
        ("SYNTH_END", "partition=3,synth_ms=30811"),
        ("CHAN_SEND", "partition=0"),
        ("GPU_QUEUE", "monolithic"),
        ("GPU_PICKUP", "worker=1"),
        ("GPU_END", "worker=1,partition=9,gpu_ms=3542"),
    ] {
        for prefix in ["", "cuzk-1  | "] {
            let whole = format!("TIMELINE,7,{event},order 5\nof May,{detail}");
            let (first, second) = whole.split_once('\n').unwrap();
            let log = format!(
                "{prefix}TIMELINE,6,CHAN_SEND,j,\n{prefix}{first}\n{prefix}{second}\n\
                 {prefix}CUZK_TIMING: prep_msm_ms=1\n"
            );
            let (lines, scan) = scan(log.as_bytes());
            let found = of_class(&lines, Class::Timeline);
            assert!(found.contains(&whole), "{found:?}");
            assert_eq!((scan.repaired.count(), scan.lost.count()), (1, 0), "{log}");
            assert_eq!(scan.ledger.of(Class::Torn).lines, 2);
            assert_eq!(scan.ledger.bytes(), log.len() as u64);
            assert_eq!(scan.ledger.lines(), 4);
        }
    }
}

#[test]
fn a_line_that_ends_inside_its_id_is_not_joined_to_what_does_not_fit() {
    for (first, second) in [
        // A detail that is empty, cut, of another event, or of a program's own words.
        ("TIMELINE,7,CHAN_SEND,order", "hello,"),
        ("TIMELINE,7,GPU_END,order", "of May,worker=1"),
        ("TIMELINE,7,GPU_END,order", "of May,partition=1"),
        ("TIMELINE,7,SYNTH_START,order", "Hello, world"),
        // No id before or behind the line feed.
        ("TIMELINE,7,SYNTH_START,", "order,partition=1"),
        ("TIMELINE,7,SYNTH_START,order", ",partition=1"),
        ("TIMELINE,7,SYNTH_START,order", "partition=1"),
        // Ids of our own writer hold no line feed.
        ("TIMELINE,7,VRAM_FREE,order", "5,gpu=0,t_us=7,id=1"),
        // Another line, or none.
        ("TIMELINE,7,SYNTH_START,order", "CUZK_TIMING: prep_msm_ms=1"),
        ("TIMELINE,7,SYNTH_START,order", "TIMELINE,8,CHAN_SEND,a,"),
        ("TIMELINE,7,SYNTH_START,order", ""),
    ] {
        let log = format!("{first}\n{second}\n");
        let (lines, scan) = scan(log.as_bytes());
        assert_eq!(scan.repaired.count(), 0, "{log}");
        assert!(scan.lost.count() >= 1, "{log}");
        assert!(lines.iter().all(|line| !line.text().contains('\n')));
        assert_eq!(scan.ledger.bytes(), log.len() as u64);
        assert_eq!(scan.ledger.lines(), 2);
    }
}

#[test]
fn a_bench_line_behind_a_cut_log_line_is_found_once_the_bench_has_spoken() {
    let bench = "  [2/5] FAILED \u{2014} 3.0s (prove=0 ms, queue=5 ms)";
    for cut in [
        "2026-02-19T04:20:17.000000Z  INFO cuzk_core::engine: partition 3 synth",
        "2026-02-19T04:20:17.123 INFO bellperson::groth16::prover > Bellper",
        "2026-02-19T04:20:17.123Z\tINFO\tsealing\tsome/file.go:12\tsector se",
    ] {
        // Far behind the title, where no report is open any more.
        let between = "2026-02-19T04:20:17.123Z\tINFO\tnet\tconnected\n".repeat(100);
        let log = format!("=== Batch Benchmark ===\n{between}{cut}{bench}\n");
        let (lines, scan) = scan(log.as_bytes());
        let found = lines.last().map(|line| (line.class, line.text()));
        assert_eq!(found, Some((Class::Bench, bench.to_owned())), "{cut}");
        assert_eq!(scan.ledger.of(Class::Torn).bytes, cut.len() as u64);
        assert_eq!(scan.ledger.bytes(), log.len() as u64);
    }
}
