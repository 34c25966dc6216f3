//! The writer against sinks that count calls and against threads that share a file.

use std::fs::{File, OpenOptions};
use std::sync::Arc;

use super::*;
use crate::grammar::{parse_event, parse_timing};
use crate::timing::{Tag, TimingWhat};

/// Counts the calls and keeps what each of them wrote.
#[derive(Debug, Default)]
struct Calls(Vec<Vec<u8>>);

impl Write for Calls {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn event(worker: u32, index: u64) -> Event<'static> {
    Event {
        ms: index,
        t_us: Some(index * 1000),
        job: format!(
            "job,{worker} {}",
            "x".repeat(usize::try_from(index % 50).unwrap())
        )
        .into(),
        place: Place {
            gpu: Some(0),
            worker: Some(worker),
            partition: Some(3),
        },
        what: What::GpuStart,
    }
}

fn timing(index: u64) -> Timing<'static> {
    let tag = Tag {
        job: "a b".into(),
        place: Place::default(),
        t_us: index,
    };
    Timing {
        what: TimingWhat::PrepMsm { ms: 5 },
        tag: Some(tag),
    }
}

#[test]
fn one_call_a_line_and_counts_at_the_end() {
    let writer = Writer::start(Calls::default(), &TraceStart::default()).unwrap();
    for index in 0..10 {
        writer.event(&event(1, index)).unwrap();
        writer.timing(&timing(index)).unwrap();
    }
    let calls = writer.finish(77_123).unwrap().0;
    assert_eq!(calls.len(), 22);
    for call in &calls {
        assert_eq!(memchr::memchr(b'\n', call), Some(call.len() - 1));
    }
    let first = parse_event(calls[0].trim_ascii()).unwrap();
    assert_eq!(first.what.kind(), EventKind::TraceStart);
    let last = parse_event(calls[21].trim_ascii()).unwrap();
    assert_eq!((last.ms, last.t_us), (77, Some(77_123)));
    let counts = vec![(EventKind::TraceStart, 1), (EventKind::GpuStart, 10)];
    assert_eq!(last.what, What::TraceEnd { counts });
}

/// Every line of a file is one of those written, and each was written as often as it is there.
fn check(text: &[u8], threads: u32, lines: u64) {
    let mut seen = vec![0; usize::try_from(threads).unwrap()];
    let mut timings = 0;
    for line in text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        if line.starts_with(b"CUZK_") {
            assert!(matches!(
                parse_timing(line).what,
                TimingWhat::PrepMsm { .. }
            ));
            timings += 1;
            continue;
        }
        let read = parse_event(line).unwrap_or_else(|| panic!("torn: {line:?}"));
        if read.what == What::GpuStart {
            let worker = read.place.worker.unwrap();
            assert_eq!(read, event(worker, read.ms));
            seen[usize::try_from(worker).unwrap()] += 1;
        }
    }
    assert_eq!(seen, vec![lines; seen.len()]);
    assert_eq!(timings, u64::from(threads) * lines);
}

fn file(path: &std::path::Path) -> File {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap()
}

#[test]
fn threads_share_one_writer() {
    let path = std::env::temp_dir().join(format!("tracefmt-shared-{}", std::process::id()));
    let writer = Arc::new(Writer::start(file(&path), &TraceStart::default()).unwrap());
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let writer = Arc::clone(&writer);
            scope.spawn(move || {
                for index in 0..500 {
                    writer.event(&event(worker, index)).unwrap();
                    writer.timing(&timing(index)).unwrap();
                }
            });
        }
    });
    Arc::into_inner(writer).unwrap().finish(5).unwrap();
    let text = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    check(&text, 4, 500);
    let end = text
        .trim_ascii_end()
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap();
    let counts = vec![(EventKind::TraceStart, 1), (EventKind::GpuStart, 2000)];
    assert_eq!(parse_event(end).unwrap().what, What::TraceEnd { counts });
}

#[test]
fn writers_share_one_file_that_appends() {
    let path = std::env::temp_dir().join(format!("tracefmt-append-{}", std::process::id()));
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let sink = file(&path);
            scope.spawn(move || {
                let writer = Writer::start(sink, &TraceStart::default()).unwrap();
                for index in 0..500 {
                    writer.event(&event(worker, index)).unwrap();
                    writer.timing(&timing(index)).unwrap();
                }
                writer.finish(5).unwrap();
            });
        }
    });
    let text = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    check(&text, 4, 500);
}

#[test]
fn an_event_that_was_not_written_is_not_counted() {
    /// Takes so many lines, then fails once.
    struct Full(usize, Calls);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.wrapping_sub(1);
            if self.0 == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let writer = Writer::start(Full(3, Calls::default()), &TraceStart::default()).unwrap();
    writer.event(&event(1, 1)).unwrap();
    let error = writer.event(&event(1, 2)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    writer.event(&event(1, 3)).unwrap();
    let calls = writer.finish(5).unwrap().1.0;
    let counts = vec![(EventKind::TraceStart, 1), (EventKind::GpuStart, 2)];
    assert_eq!(
        parse_event(calls[3].trim_ascii()).unwrap().what,
        What::TraceEnd { counts }
    );
}
