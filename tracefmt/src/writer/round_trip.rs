//! What is written is read back, and what was read is written back.

use crate::event::strategy::{event, legacy_event};
use crate::event::{EventKind, What};
use crate::grammar::{parse, parse_event, parse_timing};
use crate::record::Record;
use crate::scan::Class;
use crate::timing::strategy::timing;
use crate::writer::{write_event, write_timing};
use proptest::prelude::*;

proptest! {
    #[test]
    fn our_events(event in event()) {
        let mut line = Vec::new();
        write_event(&mut line, &event);
        prop_assert!(!line.iter().any(u8::is_ascii_control));
        let read = parse_event(&line);
        prop_assert_eq!(read.as_ref(), Some(&event), "{}", String::from_utf8_lossy(&line));
        let mut again = Vec::new();
        write_event(&mut again, &event);
        prop_assert_eq!(line, again);
    }

    #[test]
    fn old_events(event in legacy_event()) {
        let mut line = Vec::new();
        write_event(&mut line, &event);
        let read = parse_event(&line);
        prop_assert_eq!(read.as_ref(), Some(&event), "{}", String::from_utf8_lossy(&line));
    }

    #[test]
    fn timings(timing in timing()) {
        let mut line = Vec::new();
        write_timing(&mut line, &timing);
        prop_assert_eq!(parse_timing(&line), timing, "{}", String::from_utf8_lossy(&line));
    }

    #[test]
    fn a_line_of_ours_cut_anywhere_is_never_another_event(event in event(), cut in 0.0..1.0) {
        let mut line = Vec::new();
        write_event(&mut line, &event);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in the line"
        )]
        line.truncate((line.len() as f64 * cut) as usize);
        if let Some(read) = parse_event(&line) {
            prop_assert_eq!(read.what.kind(), event.what.kind());
            prop_assert_eq!(read.ms, event.ms);
        }
    }

    #[test]
    fn no_bytes_break_the_grammar(
        text in proptest::collection::vec(any::<u8>(), 0..200),
        prefix in proptest::sample::select(vec![
            "", "TIMELINE,", "TIMELINE,5,GPU_END,", "CUZK_TIMING: ", "CUZK_NTT_H: ",
            "2026-02-19T04:24:22.996374Z  INFO a{b=", "\x1b[2m2026-02-19T04:24:22Z\x1b[0m ",
            "thread 'a' panicked at ", "[1/5] ", "2026-02-19T04:24:22Z\tWARN\t",
        ]),
    ) {
        let mut line = prefix.as_bytes().to_vec();
        line.extend(text);
        for class in Class::ALL {
            if let Record::Event(event) = parse(class, &line) {
                prop_assert_eq!(class, Class::Timeline);
                let mut written = Vec::new();
                write_event(&mut written, &event);
                prop_assert!(written.starts_with(b"TIMELINE,"));
            }
        }
    }
}

/// Lines as our writer writes them: reading and writing changes no byte.
const OURS: &str = include_str!("../../testdata/own.log");

#[test]
fn our_lines_come_back_to_the_byte_and_every_kind_is_among_them() {
    let mut kinds = Vec::new();
    for line in OURS.lines() {
        let mut written = Vec::new();
        if line.starts_with("TIMELINE,") {
            let event = parse_event(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
            kinds.push(event.what.kind());
            write_event(&mut written, &event);
        } else {
            write_timing(&mut written, &parse_timing(line.as_bytes()));
        }
        assert_eq!(String::from_utf8(written).unwrap(), line);
    }
    for kind in EventKind::ALL {
        assert!(kinds.contains(kind), "no {kind} among the lines");
    }
}

/// Lines of all old dialects.
const OLD: &str = include_str!("../../testdata/old.log");

#[test]
fn old_lines_come_back_to_the_byte() {
    for line in OLD.lines() {
        let mut written = Vec::new();
        if line.starts_with("TIMELINE,") {
            let event = parse_event(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
            assert!(!matches!(event.what, What::Other { .. }), "{line}");
            write_event(&mut written, &event);
        } else {
            write_timing(&mut written, &parse_timing(line.as_bytes()));
        }
        assert_eq!(String::from_utf8(written).unwrap(), line);
    }
}
