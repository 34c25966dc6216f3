//! One small log per anomaly that lines alone show.

use super::*;
use crate::scan::scan_slice;

fn lint(log: &[u8]) -> Vec<(Anomaly, u64, Vec<u64>)> {
    let mut lint = Lint::new();
    let scan = scan_slice(log, &mut lint);
    lint.scan(&scan);
    lint.finish()
        .into_iter()
        .map(|found| (found.kind, found.count, found.lines))
        .collect()
}

#[test]
fn a_sound_log_has_none() {
    let log =
        b"TIMELINE,1,SYNTH_START,j,partition=0\nTIMELINE,2,SYNTH_END,j,partition=0,synth_ms=1\n";
    assert_eq!(lint(log), []);
}

#[test]
fn a_cut_end_is_located() {
    let found = lint(b"TIMELINE,1,SYNTH_START,j,partition=0\nCUZK_TIMING: batch_add");
    assert!(found.contains(&(Anomaly::CutLine, 1, vec![2])), "{found:?}");
}

#[test]
fn an_unknown_event_is_named() {
    let mut lint = Lint::new();
    scan_slice(b"TIMELINE,1,GPU_NAP,j,worker=0,partition=0\n", &mut lint);
    let found = lint.finish();
    let nap = found
        .iter()
        .find(|found| found.kind == Anomaly::UnknownEvent)
        .unwrap();
    assert_eq!(nap.example.as_deref(), Some("GPU_NAP"));
}

#[test]
fn a_lock_given_back_that_nobody_took_is_counted() {
    let line = |what: &str| {
        format!("2020-11-01T07:24:52.054 DEBUG bellperson::gpu::locks > GPU lock {what}!\n")
    };
    let log = ["released", "acquired", "released", "released"].map(line);
    let found = lint(log.concat().as_bytes());
    assert_eq!(found, [(Anomaly::UnbalancedLock, 2, vec![1, 4])]);
    let own = |event: &str| {
        format!("TIMELINE,1,{event},j,gpu=0,worker=0,partition=0,t_us=1000,lock=gpu0\n")
    };
    let own = ["LOCK_ACQ", "LOCK_REL", "LOCK_REL"].map(own);
    let found = lint(own.concat().as_bytes());
    assert_eq!(found, [(Anomaly::UnbalancedLock, 1, vec![3])]);
}

#[test]
fn padding_behind_the_last_line_is_no_cut_line() {
    let log = b"TIMELINE,5,SYNTH_START,j,partition=0\n\0\0\0\0";
    assert_eq!(lint(log), [(Anomaly::NulBytes, 1, vec![2])]);
}

#[test]
fn time_that_steps_back_is_counted() {
    let log = b"TIMELINE,5,SYNTH_START,j,partition=0\nTIMELINE,4,SYNTH_START,j,partition=1\n";
    assert_eq!(lint(log), [(Anomaly::TimeStepsBack, 1, vec![2])]);
}

#[test]
fn bytes_that_are_no_text_are_located() {
    let found = lint(b"ok\n\xff\xfe broken\na\0b\n");
    assert!(
        found.contains(&(Anomaly::InvalidUtf8, 1, vec![2])),
        "{found:?}"
    );
    assert!(
        found.contains(&(Anomaly::NulBytes, 1, vec![3])),
        "{found:?}"
    );
}

#[test]
fn a_repaired_line_is_no_error() {
    let log = b"TIMELINE,5CUZK_TIMING: prep_msm_ms=3\n,GPU_START,j,worker=0,partition=1\n";
    let found = lint(log);
    assert!(found.contains(&(Anomaly::Torn, 1, vec![1])), "{found:?}");
    assert!(
        found
            .iter()
            .all(|(kind, ..)| kind.severity() == crate::finding::Severity::Info)
    );
}

#[test]
fn only_the_first_lines_are_kept_and_all_are_counted() {
    let mut log = Vec::new();
    for ms in (0..500).rev() {
        log.extend_from_slice(format!("TIMELINE,{ms},GPU_START,j,worker=0\n").as_bytes());
    }
    let found = lint(&log);
    let (_, count, lines) = found
        .iter()
        .find(|(kind, ..)| *kind == Anomaly::TimeStepsBack)
        .unwrap();
    assert_eq!((*count, lines.len()), (499, LINES_MAX));
}

#[test]
fn a_trace_holds_what_its_end_counts() {
    use crate::event::{Event, Place, TraceStart, What};
    let writer = crate::writer::Writer::start(Vec::new(), &TraceStart::default()).unwrap();
    for partition in 0..3 {
        let place = Place {
            partition: Some(partition),
            ..Place::default()
        };
        let event = Event {
            ms: 1,
            t_us: Some(1000),
            job: "j".into(),
            place,
            what: What::ChanSend { snap: false },
        };
        writer.event(&event).unwrap();
    }
    let whole = String::from_utf8(writer.finish(2000).unwrap()).unwrap();
    assert_eq!(lint(whole.as_bytes()), []);
    let filtered: Vec<&str> = whole
        .lines()
        .filter(|l| !l.contains("partition=1"))
        .collect();
    let mut lint = Lint::new();
    scan_slice((filtered.join("\n") + "\n").as_bytes(), &mut lint);
    let found = lint.finish();
    let missing = found.iter().find(|one| one.kind == Anomaly::MissingEvents);
    let missing = missing.unwrap();
    assert_eq!(missing.lines, [4]);
    let said = missing.example.as_deref();
    assert_eq!(said, Some("CHAN_SEND: 3 written, 2 here"));
}

#[test]
fn another_version_of_the_format_is_named() {
    let mut start = Vec::new();
    let event = crate::event::TraceStart {
        version: 9,
        ..crate::event::TraceStart::default()
    };
    let writer = crate::writer::Writer::start(&mut start, &event).unwrap();
    writer.finish(1).unwrap();
    let mut lint = Lint::new();
    scan_slice(&start, &mut lint);
    let found = lint.finish();
    let [one] = found.as_slice() else {
        panic!("one anomaly, not {found:?}")
    };
    assert_eq!(one.kind, Anomaly::UnknownVersion);
    assert_eq!(one.example.as_deref(), Some("9, known is 1"));
}

#[test]
fn a_negative_offset_is_a_bad_event_and_no_fragment() {
    let log = b"TIMELINE,5,SYNTH_START,j,partition=0\nTIMELINE,-5,GPU_START,j,worker=0\n";
    assert_eq!(lint(log), [(Anomaly::BadEvent, 1, vec![2])]);
}

#[test]
fn a_trace_without_its_first_or_last_line_is_told() {
    use crate::run::{LineRef, Run};
    let mut lint = Lint::new();
    let run = Run {
        first: LineRef::new(0, 1),
        last: LineRef::new(0, 9),
        lacks_start: true,
        lacks_end: true,
        ..Run::default()
    };
    lint.run(&run, 0);
    lint.run(&run, 1);
    let found = lint.finish();
    let found: Vec<_> = found.iter().map(|f| (f.kind, f.lines.as_slice())).collect();
    let expected: [(Anomaly, &[u64]); 2] =
        [(Anomaly::NoTraceStart, &[1]), (Anomaly::NoTraceEnd, &[9])];
    assert_eq!(found, expected);
}
