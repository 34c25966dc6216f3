//! Bad input: long lines, NUL bytes, no text at all. Memory stays bounded, sums stay exact.

use std::io::{self, Read};

use tracefmt::scan::{Class, CountOnly, LINE_MAX, scan_reader, scan_slice};

use super::{scan, scan_blocks};

/// Gives one byte for ever, up to a count.
struct Same(u8, u64);

impl Read for Same {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let n = block
            .len()
            .min(usize::try_from(self.1).unwrap_or(usize::MAX));
        block[..n].fill(self.0);
        self.1 -= n as u64;
        Ok(n)
    }
}

#[test]
fn a_line_longer_than_memory_is_counted() {
    for byte in [0, b'a', b'T', 0xff] {
        let scan = scan_reader(Same(byte, 6 << 20), &mut CountOnly).expect("no errors");
        assert_eq!(scan.ledger.of(Class::Foreign).bytes, 6 << 20);
        assert_eq!(scan.ledger.lines(), 1);
        assert_eq!(scan.overlong.count(), u64::from(byte != 0));
        // Padding with NUL bytes is no line that could be cut.
        assert_eq!(scan.cut_end, byte != 0);
    }
}

#[test]
fn lines_around_a_long_one_keep_their_places() {
    let long = "x".repeat(LINE_MAX + 5);
    let log = format!("CUZK_TIMING: a=1\n{long}\nCUZK_TIMING: a=2\n");
    for lengths in [&[log.len()][..], &[1000], &[LINE_MAX], &[65_536, 3]] {
        let (lines, scan) = scan_blocks(log.as_bytes(), lengths);
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[1].class, lines[1].raw.len()), (Class::Foreign, 0));
        assert_eq!(
            (lines[2].number, lines[2].offset),
            (3, 17 + long.len() as u64 + 1)
        );
        assert_eq!(scan.ledger.bytes(), log.len() as u64);
        assert_eq!(scan.overlong.lines(), [2]);
    }
}

#[test]
fn a_line_of_the_greatest_length_is_kept() {
    let line = format!("CUZK_TIMING: a={}\n", "1".repeat(LINE_MAX - 16));
    assert_eq!(line.len(), LINE_MAX);
    let (lines, scan) = scan_blocks(line.as_bytes(), &[4096]);
    assert_eq!((lines[0].class, scan.overlong.count()), (Class::Timing, 0));
}

/// A log that was truncated while its writer went on begins with a hole.
#[test]
fn the_line_behind_a_hole_is_read() {
    for hole in [1, 5000, LINE_MAX + 1, 3 * LINE_MAX] {
        let mut log = vec![0; hole];
        log.extend_from_slice(b"TIMELINE,7,CHAN_SEND,job-1,\nCUZK_TIMING: a=1\n");
        for lengths in [&[log.len()][..], &[65_536], &[100_001, 7]] {
            let (lines, scan) = scan_blocks(&log, lengths);
            assert_eq!(
                lines[0].text(),
                "TIMELINE,7,CHAN_SEND,job-1,",
                "{hole} {lengths:?}"
            );
            assert_eq!(scan.ledger.of(Class::Timeline).bytes, hole as u64 + 28);
            assert_eq!(scan.ledger.bytes(), log.len() as u64);
            assert_eq!(lines[1].offset, hole as u64 + 28);
        }
    }
}

#[test]
fn nul_bytes_are_no_part_of_the_text() {
    let (lines, _) = scan(b"\0CUZK_TIM\0ING: a=1\0\nTIMELINE,7,CHAN_SEND,jo\0b-1,\0\n");
    assert_eq!(lines[0].text(), "CUZK_TIMING: a=1");
    assert_eq!(lines[1].text(), "TIMELINE,7,CHAN_SEND,job-1,");
    assert_eq!(lines[0].raw.len(), 20);
}

#[test]
fn bytes_that_are_no_text_are_carried() {
    let (lines, scan) = scan(b"TIMELINE,7,CHAN_SEND,j\xff\xfe,\n\xc3\x28\n");
    assert_eq!(
        (lines[0].class, lines[1].class),
        (Class::Timeline, Class::Foreign)
    );
    assert_eq!(scan.ledger.bytes(), 29);
}

#[test]
fn an_empty_input_is_empty() {
    let (lines, result) = scan(b"");
    assert!(lines.is_empty() && !result.cut_end);
    assert_eq!((result.ledger.lines(), result.ledger.bytes()), (0, 0));
}

/// Many beginnings of lines in one line: no recursion, no quadratic time.
#[test]
fn a_line_of_many_beginnings_ends() {
    for piece in [
        "TIMELINE,",
        "CUZK_TIMING: ",
        "TIMELINE,1,GPU_END,j",
        "[2m20",
        "thread '",
    ] {
        let mut log = piece.repeat(LINE_MAX / piece.len() - 1);
        log.push('\n');
        let scan = scan_slice(log.as_bytes(), &mut CountOnly);
        assert_eq!(
            (scan.ledger.lines(), scan.ledger.bytes()),
            (1, log.len() as u64)
        );
    }
}

#[test]
fn a_read_error_is_passed_on() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk gone"))
        }
    }
    let error = scan_reader(Broken, &mut CountOnly).expect_err("an error");
    assert_eq!(error.to_string(), "disk gone");
}
