//! Any bytes as a log, in blocks of any size: every byte in one class, the same result however
//! the blocks are cut, and a model of it without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracefmt::Source;
use tracefmt::scan::{Line, Scanner, Sink, scan_slice};

/// What was delivered, to compare two scans.
#[derive(Default, PartialEq, Debug)]
struct Lines(Vec<(u64, usize, Vec<u8>)>);

impl Sink for Lines {
    fn line(&mut self, line: &Line<'_>) {
        self.0.push((line.number, line.class.index(), line.text.to_vec()));
    }
}

fuzz_target!(|data: &[u8]| {
    let (cut, log) = data.split_first().map_or((0, data), |(cut, log)| (usize::from(*cut), log));
    let mut whole = Lines::default();
    let scan = scan_slice(log, &mut whole);
    assert_eq!(scan.ledger.bytes(), log.len() as u64, "the ledger loses bytes");

    let mut pieces = Lines::default();
    let mut scanner = Scanner::new();
    for block in log.chunks(cut + 1) {
        scanner.feed(block, &mut pieces);
    }
    let again = scanner.finish(&mut pieces);
    assert_eq!(again.ledger, scan.ledger);
    assert_eq!(pieces, whole);

    let (trace, _) = tracefmt::read(&[Source::Bytes("fuzz".to_owned(), log.to_vec())])
        .expect("bytes in memory are always read");
    for run in &trace.runs {
        assert_eq!(run.mark_starts.len(), run.calls.len() + 1);
        assert!(run.tasks.iter().all(|task| (task.job as usize) < run.jobs.len()));
    }
});
