//! Prefixes of other tools: found, taken off, and not invented.

use tracefmt::scan::{Class, Wrapping};

use super::scan;

const LINES: [(Class, &str); 5] = [
    (
        Class::Timeline,
        "TIMELINE,245689,GPU_PICKUP,8fdded90-cfde-49a5,worker=0,partition=3",
    ),
    (Class::Timing, "CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=845"),
    (
        Class::Tracing,
        "\x1b[2m2026-02-19T04:24:22.996374Z\x1b[0m \x1b[32m INFO\x1b[0m x",
    ),
    (
        Class::EngineOther,
        "2026-03-01T05:16:09.278 INFO bellperson::groth16::prover > start",
    ),
    (Class::Foreign, "hello world"),
];

/// A prefix for the line of a number.
type Prefix = fn(u64) -> String;

fn prefixes() -> Vec<(Wrapping, Prefix)> {
    vec![
        (Wrapping::GrepNumber, |n| format!("{n}:")),
        (Wrapping::GrepNumber, |n| format!("{n}-")),
        (Wrapping::GrepFile, |n| format!("cuzk.log:{n}:")),
        (Wrapping::GrepFile, |n| {
            format!("/var/log/cuzk-1/run.log-{n}-")
        }),
        (Wrapping::GrepFile, |_| "run.log:".to_owned()),
        (Wrapping::Listing, |n| format!("{n:>6}\t")),
        (Wrapping::Journal, |_| {
            "Feb 19 04:24:22 host cuzk-daemon[123]: ".to_owned()
        }),
        (Wrapping::Journal, |_| {
            "Feb  9 04:24:22.123456 host cuzk-daemon[123]: ".to_owned()
        }),
        (Wrapping::Journal, |_| {
            "2026-02-19T04:24:22+0000 host cuzk-daemon[123]: ".to_owned()
        }),
        (Wrapping::Journal, |_| {
            "2026-02-19T04:24:22.996374+01:00 host cuzk[1]: ".to_owned()
        }),
        (Wrapping::Compose, |_| "cuzk-1  | ".to_owned()),
        (Wrapping::Compose, |_| {
            "\x1b[36mcuzk-1  |\x1b[0m ".to_owned()
        }),
        (Wrapping::Compose, |_| {
            "\x1b[36mcuzk-1  | \x1b[0m".to_owned()
        }),
        (Wrapping::Stamp, |_| {
            "2026-02-19T04:24:22.996374Z ".to_owned()
        }),
        (Wrapping::Stamp, |_| {
            "2026-02-19T04:24:22.996374123Z ".to_owned()
        }),
        (Wrapping::Stamp, |_| {
            "2026-02-19T04:24:22.996374123Z stderr F ".to_owned()
        }),
        (Wrapping::Stamp, |_| {
            "2026-02-19T04:24:22.99637+01:00 ".to_owned()
        }),
        (Wrapping::Pod, |_| "[pod/cuzk-0/daemon] ".to_owned()),
    ]
}

#[test]
fn every_prefix_is_taken_off_every_line() {
    for (wrapping, prefix) in prefixes() {
        for end in ["\n", "\r\n"] {
            let mut log = String::new();
            for (i, (_, text)) in LINES.iter().enumerate() {
                log += &format!("{}{text}{end}", prefix(i as u64 + 95));
            }
            let (lines, scan) = scan(log.as_bytes());
            let got: Vec<_> = lines.iter().map(|l| (l.class, l.text())).collect();
            let want: Vec<_> = LINES.iter().map(|(c, t)| (*c, (*t).to_owned())).collect();
            assert_eq!(got, want, "{log:?}");
            assert_eq!(scan.wrappings, [wrapping], "{log:?}");
            assert_eq!(scan.ledger.bytes(), log.len() as u64);
            let numbered = prefix(1) != prefix(2);
            for (i, line) in lines.iter().enumerate() {
                assert_eq!(line.number, i as u64 + 1);
                assert_eq!(line.listed, numbered.then_some(i as u64 + 95), "{log:?}");
            }
        }
    }
}

#[test]
fn a_line_without_the_prefix_is_still_read() {
    for (_, prefix) in prefixes() {
        let log: String = LINES
            .iter()
            .enumerate()
            .map(|(i, (_, text))| format!("{}{text}\n{text}\n", prefix(i as u64 + 95)))
            .collect();
        let (lines, _) = scan(log.as_bytes());
        for (i, line) in lines.iter().enumerate() {
            assert_eq!((line.class, line.text().as_str()), LINES[i / 2], "{log:?}");
        }
    }
}

#[test]
fn prefixes_stand_one_in_another() {
    let log = "12:cuzk-1  | 2026-02-19T04:24:22.996374123Z TIMELINE,7,CHAN_SEND,job-1,\n";
    let (lines, scan) = scan(log.as_bytes());
    assert_eq!(lines[0].text(), "TIMELINE,7,CHAN_SEND,job-1,");
    assert_eq!(lines[0].listed, Some(12));
    assert_eq!(
        scan.wrappings,
        [Wrapping::GrepNumber, Wrapping::Compose, Wrapping::Stamp]
    );
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let (lines, _) = scan(b"\xef\xbb\xbfCUZK_TIMING: a=1\n\xef\xbb\xbf1:CUZK_TIMING: a=2\n");
    assert_eq!(lines[0].text(), "CUZK_TIMING: a=1");
    assert_eq!(lines[1].text(), "CUZK_TIMING: a=2");
}

#[test]
fn no_prefix_is_seen_where_none_is() {
    let log = "12:34:56 hello\nkey: value\n10-20: x\nFeb 19 04:24:22 host sshd[1]: hello\n\
        a | b\n2026-02-19T04:24:22Z hello\nCUZK_TIMING: a=1\n12:34:56 hello\n";
    let (lines, scan) = scan(log.as_bytes());
    assert!(scan.wrappings.is_empty());
    assert!(lines.iter().all(|l| l.listed.is_none()));
    assert_eq!(
        lines.iter().filter(|l| l.class == Class::Foreign).count(),
        7
    );
}

#[test]
fn records_of_a_container_runtime_give_their_text() {
    let mut log = String::new();
    for (at, (_, text)) in LINES.iter().enumerate() {
        let text = text.replace('\u{1b}', "\\u001b");
        let stream = ["stderr", "stdout"][at % 2];
        log += &format!("{{\"log\":\"{text}\\n\",\"stream\":\"{stream}\",\"time\":\"t\"}}\n");
    }
    let (lines, scan) = scan(log.as_bytes());
    let got: Vec<_> = lines.iter().map(|l| (l.class, l.text())).collect();
    let want: Vec<_> = LINES.iter().map(|(c, t)| (*c, (*t).to_owned())).collect();
    assert_eq!(got, want);
    assert_eq!(scan.wrappings, [Wrapping::Json]);
    assert_eq!(scan.ledger.bytes(), log.len() as u64);
    assert_eq!(scan.ledger.lines(), LINES.len() as u64);
}

#[test]
fn a_torn_line_in_records_is_put_together() {
    let record =
        |text: &str| format!("{{\"log\":\"{text}\\n\",\"stream\":\"stderr\",\"time\":\"t\"}}\n");
    let log = [
        record("TIMELINE,245689CUZK_TIMING: prep_msm_ms=2734"),
        record(",GPU_PICKUP,job-1,worker=0,partition=3"),
    ];
    let log = log.concat();
    let (lines, scan) = scan(log.as_bytes());
    let texts: Vec<_> = lines.iter().map(|l| (l.class, l.text())).collect();
    let whole = "TIMELINE,245689,GPU_PICKUP,job-1,worker=0,partition=3".to_owned();
    assert!(texts.contains(&(Class::Timeline, whole)), "{texts:?}");
    assert_eq!(scan.repaired.count(), 1);
    assert_eq!(scan.ledger.bytes(), log.len() as u64);
}

/// A line of 40 KB in parts of 16 KiB, with another stream's line and a whole line around them.
fn parted(part: impl Fn(&str, &str, bool) -> String) -> (String, String) {
    let long = format!(
        "TIMELINE,7,PARTITION_FAILED,job-1,partition=3,t_us=7000,error={}",
        "x".repeat(40_000)
    );
    let mut log = part("stderr", "TIMELINE,6,CHAN_SEND,job-1,partition=0", true);
    let pieces: Vec<&[u8]> = long.as_bytes().chunks(16 << 10).collect();
    for (at, piece) in pieces.iter().enumerate() {
        let piece = String::from_utf8_lossy(piece);
        log += &part("stderr", &piece, at + 1 == pieces.len());
        if at == 0 {
            log += &part("stdout", "CUZK_TIMING: prep_msm_ms=1", true);
        }
    }
    log += &part("stderr", "TIMELINE,8,CHAN_SEND,job-1,partition=1", true);
    (log, long)
}

#[test]
fn lines_that_a_container_runtime_parted_are_put_together() {
    let record = |stream: &str, text: &str, last: bool| {
        let end = if last { "\\n" } else { "" };
        format!("{{\"log\":\"{text}{end}\",\"stream\":\"{stream}\",\"time\":\"t\"}}\n")
    };
    let cri = |stream: &str, text: &str, last: bool| {
        let tag = if last { 'F' } else { 'P' };
        format!("2026-02-19T04:24:22.996374Z {stream} {tag} {text}\n")
    };
    for (log, long) in [parted(record), parted(cri)] {
        let (lines, scan) = scan(log.as_bytes());
        let found: Vec<_> = lines.iter().map(|line| (line.number, line.class)).collect();
        let all = [
            (1, Class::Timeline),
            (3, Class::Timing),
            (2, Class::Timeline),
            (6, Class::Timeline),
        ];
        let got: Vec<_> = found
            .iter()
            .map(|(number, class)| (*number, *class))
            .collect();
        assert_eq!(got, all);
        assert_eq!(lines[2].text(), long);
        assert!(!lines[2].cut && !scan.cut_end);
        assert_eq!(scan.ledger.bytes(), log.len() as u64);
        assert_eq!(scan.ledger.lines(), 6);
        assert_eq!(scan.ledger.of(Class::Timeline).lines, 5);
        // Blocks of any size, also inside a part.
        assert_eq!(super::scan_blocks(log.as_bytes(), &[700, 1]).1, scan);
    }
}

#[test]
fn a_parted_line_without_its_last_part_is_cut() {
    let first = "2026-02-19T04:24:22.1Z stderr F TIMELINE,6,CHAN_SEND,job-1,partition=0\n";
    let log = format!("{first}2026-02-19T04:24:22.1Z stderr P TIMELINE,7,CHAN_SEND,job-1,parti\n");
    let (lines, scan) = scan(log.as_bytes());
    assert!(scan.cut_end);
    assert_eq!(lines.len(), 2);
    assert!(lines[1].cut);
    assert_eq!(
        (scan.ledger.bytes(), scan.ledger.lines()),
        (log.len() as u64, 2)
    );
}

#[test]
fn parts_beyond_the_longest_line_are_bounded() {
    let part = format!(
        "{{\"log\":\"{}\",\"stream\":\"stderr\",\"time\":\"t\"}}\n",
        "x".repeat(16 << 10)
    );
    let log = part.repeat(200);
    let (lines, scan) = scan(log.as_bytes());
    assert!(
        lines
            .iter()
            .all(|line| line.raw.len() <= tracefmt::scan::LINE_MAX)
    );
    assert!(lines.len() > 1);
    assert_eq!(
        (scan.ledger.bytes(), scan.ledger.lines()),
        (log.len() as u64, 200)
    );
}
