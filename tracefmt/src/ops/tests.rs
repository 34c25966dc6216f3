//! The text form: every op by table, every refusal by table, and the round trips.

use std::io::{BufReader, Read};

use proptest::prelude::*;

use super::strategy;
use super::*;

const HEADER: &str = r#"{"schema":"cuzk.ops/1","capacity":1000,"baseline":7}"#;

fn read(lines: &str) -> Schedule {
    Schedule::read(format!("{HEADER}\n{lines}").as_bytes()).expect("the header is good")
}

fn text_of(schedule: &Schedule) -> String {
    String::from_utf8(schedule.write(Vec::new()).expect("memory takes all")).expect("JSON is text")
}

fn work(stream: Stream) -> Work {
    Work::new(stream, vec![1, 2], vec![3], Some(1.5))
}

/// One line per op, as the specification writes it, with the op that it means.
#[expect(clippy::too_many_lines, reason = "a table, one row an op")]
fn every_op() -> Vec<(&'static str, Op)> {
    let name = || "l".into();
    vec![
        (
            r#"{"op":"malloc","id":1,"bytes":18446744073709551615}"#,
            Op::Malloc {
                id: 1,
                bytes: u64::MAX,
            },
        ),
        (
            r#"{"op":"mallocAsync","id":1,"bytes":5,"stream":0}"#,
            Op::MallocAsync {
                id: 1,
                bytes: 5,
                stream: Stream::Id(0),
            },
        ),
        (r#"{"op":"free","id":0}"#, Op::Free { id: 0 }),
        (
            r#"{"op":"freeAsync","id":9,"stream":"legacy"}"#,
            Op::FreeAsync {
                id: 9,
                stream: Stream::Legacy,
            },
        ),
        (
            r#"{"op":"streamSync","stream":"legacy"}"#,
            Op::StreamSync {
                stream: Stream::Legacy,
            },
        ),
        (r#"{"op":"ctxSync"}"#, Op::CtxSync),
        (
            r#"{"op":"eventRecord","event":4,"stream":1}"#,
            Op::EventRecord {
                event: 4,
                stream: Stream::Id(1),
            },
        ),
        (
            r#"{"op":"streamWait","event":4,"stream":2}"#,
            Op::StreamWait {
                stream: Stream::Id(2),
                event: 4,
            },
        ),
        (
            r#"{"op":"eventSync","event":4}"#,
            Op::EventSync { event: 4 },
        ),
        (r#"{"op":"trim","keep":0}"#, Op::Trim { keep: 0 }),
        (
            r#"{"op":"setThreshold","bytes":0}"#,
            Op::SetThreshold { bytes: 0 },
        ),
        (
            r#"{"op":"memGetInfo","need":12,"margin":3}"#,
            Op::MemGetInfo {
                need: Some(12),
                margin: Some(Box::new(3)),
            },
        ),
        (r#"{"op":"getLastError"}"#, Op::GetLastError),
        (r#"{"op":"peekLastError"}"#, Op::PeekLastError),
        (
            r#"{"op":"hostMap","addr":4096,"bytes":10}"#,
            Op::HostMap {
                addr: 4096,
                bytes: 10,
            },
        ),
        (
            r#"{"op":"hostUnmap","addr":4096,"bytes":10}"#,
            Op::HostUnmap {
                addr: 4096,
                bytes: 10,
            },
        ),
        (
            r#"{"op":"hostRegister","addr":4096,"bytes":10}"#,
            Op::HostRegister {
                addr: 4096,
                bytes: 10,
            },
        ),
        (
            r#"{"op":"hostUnregister","addr":4096}"#,
            Op::HostUnregister { addr: 4096 },
        ),
        (
            r#"{"op":"launch","stream":1,"reads":[1,2],"writes":[3],"ms":1.5}"#,
            Op::Launch(work(Stream::Id(1))),
        ),
        (
            r#"{"op":"copyHtoD","stream":"legacy","reads":[1,2],"writes":[3],"ms":1.5}"#,
            Op::CopyHtoD(work(Stream::Legacy)),
        ),
        (
            r#"{"op":"copyDtoH","stream":1,"reads":[1,2],"writes":[3],"ms":1.5}"#,
            Op::CopyDtoH(work(Stream::Id(1))),
        ),
        (r#"{"op":"lock","name":"l"}"#, Op::Lock { name: name() }),
        (r#"{"op":"unlock","name":"l"}"#, Op::Unlock { name: name() }),
        (
            r#"{"op":"barrier","name":"l","n":2}"#,
            Op::Barrier { name: name(), n: 2 },
        ),
        (r#"{"op":"label","name":"l"}"#, Op::Label { name: name() }),
        (
            r#"{"op":"panic","unwind":true}"#,
            Op::Panic { unwind: true },
        ),
    ]
}

#[test]
fn every_op_reads_and_writes_as_specified() {
    let table = every_op();
    let names: Vec<&str> = table.iter().map(|(_, op)| op.name()).collect();
    assert_eq!(
        names,
        Op::names().collect::<Vec<_>>(),
        "the table covers each op once, in order"
    );
    for (line, op) in table {
        let step = read_step(2, line.as_bytes()).expect(line);
        assert_eq!(step, Step::new(op), "{line}");
        assert_eq!(serde_json::to_string(&step).expect("writes"), line);
    }
}

#[test]
fn what_may_stand_on_any_op_is_read_and_kept() {
    let line = concat!(
        r#"{"op":"ctxSync","worker":1,"thread":77,"job":"a,b %","partition":3,"buf":"d_bc","#,
        r#""gpu":1,"on_error":"fallback:slow","rc":2,"free":10,"pool_reserved":11,"#,
        r#""pool_used":18446744073709551615,"note":"kept","step":4}"#
    );
    let step = read_step(1, line.as_bytes()).expect("a good line");
    assert_eq!(step.worker, Some(1));
    assert_eq!(step.thread(), Some(77));
    assert_eq!(step.job(), Some("a,b %"));
    assert_eq!(step.partition(), Some(3));
    assert_eq!(step.buf(), Some("d_bc"));
    assert_eq!(step.gpu, Some(1));
    assert_eq!(*step.on_error(), OnError::Fallback("slow".into()));
    let truth = Truth {
        rc: Some(2),
        free: Some(10),
        pool_reserved: Some(11),
        pool_used: Some(u64::MAX),
    };
    assert_eq!(step.truth(), truth);
    assert_eq!(step.extra().get("note"), Some(&"kept".into()));
    assert_eq!(serde_json::to_string(&step).expect("writes"), line);
}

#[test]
fn null_counts_as_absent() {
    let step = read_step(1, br#"{"op":"ctxSync","worker":null,"rc":null,"x":null}"#).expect("ok");
    assert_eq!(step.worker, None);
    assert_eq!(step.rc, None);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, one row a refusal")]
fn a_refusal_says_where_what_and_instead_of_what() {
    let cases = [
        (
            r#"{"op":"mallok","id":1}"#,
            "op: expected one of malloc, mallocAsync",
            "\"mallok\"",
        ),
        (r#"{"id":1}"#, "op: expected a text", "no such key"),
        (
            r#"{"op":"malloc","id":1}"#,
            "bytes: expected an integer from 0 to 1844",
            "no such key",
        ),
        (
            r#"{"op":"malloc","id":1,"bytes":-5}"#,
            "bytes: expected an integer from 0",
            "-5",
        ),
        (
            r#"{"op":"malloc","id":1,"bytes":1.5}"#,
            "bytes: expected an integer from 0",
            "1.5",
        ),
        (
            r#"{"op":"malloc","id":1,"bytes":18446744073709551616}"#,
            "bytes: expected",
            "1.844",
        ),
        (
            r#"{"op":"malloc","id":"1","bytes":1}"#,
            "id: expected an integer",
            "\"1\"",
        ),
        (
            r#"{"op":"freeAsync","id":1}"#,
            "stream: expected a stream",
            "no such key",
        ),
        (
            r#"{"op":"freeAsync","id":1,"stream":"default"}"#,
            "\"legacy\", found",
            "\"default\"",
        ),
        (
            r#"{"op":"launch","stream":1,"reads":[-1]}"#,
            "reads: expected a list",
            "-1",
        ),
        (
            r#"{"op":"launch","stream":1,"ms":-1}"#,
            "ms: expected milliseconds",
            "-1",
        ),
        (
            r#"{"op":"ctxSync","worker":4294967296}"#,
            "worker: expected an integer",
            "4294967296",
        ),
        (
            r#"{"op":"ctxSync","on_error":"fallback:"}"#,
            "abort, ignore or fallback",
            "fallback:",
        ),
        (
            r#"{"op":"panic","unwind":1}"#,
            "unwind: expected true or false",
            "1",
        ),
        (
            r#"{"op":"free","id":1,"id":2}"#,
            "each key once",
            "stands twice",
        ),
        (
            r#"{"op":"ctxSync"} {"#,
            "the line: expected one JSON object",
            "trailing",
        ),
        (r"[1]", "the line: expected one JSON object", "[1]"),
        (
            r#"{"op":"ctxS"#,
            "the line: expected one JSON object",
            "EOF",
        ),
    ];
    for (line, expected, found) in cases {
        let error = read_step(41, line.as_bytes()).expect_err(line);
        let message = error.to_string();
        assert!(message.starts_with("line 41: "), "{message}");
        assert!(message.contains(expected), "{line}: {message}");
        assert!(error.found.contains(found), "{line}: {message}");
    }
}

#[test]
fn bad_lines_are_counted_and_located_and_the_rest_is_read() {
    let schedule =
        read("{\"op\":\"ctxSync\"}\r\nnonsense\n\n  \n\u{feff}x\n{\"op\":\"free\",\"id\":3}");
    assert_eq!(schedule.steps.len(), 2);
    assert_eq!(schedule.lines, [2, 7]);
    assert_eq!(schedule.line_of(1), Some(7));
    assert_eq!(schedule.errors_total, 2);
    let lines: Vec<u64> = schedule.errors.iter().map(|error| error.line).collect();
    assert_eq!(lines, [3, 6]);
}

#[test]
fn a_million_bad_lines_keep_a_hundred_errors() {
    let schedule = read(&"?\n".repeat(100_000));
    assert_eq!(schedule.errors_total, 100_000);
    assert_eq!(schedule.errors.len(), 100);
}

#[test]
fn an_endless_line_is_passed_over_in_bounded_memory() {
    let text = format!("{HEADER}\n");
    let long = std::io::repeat(b'x').take(8 << 20);
    let rest: &[u8] = b"\n{\"op\":\"ctxSync\"}\n";
    let input = BufReader::new(text.as_bytes().chain(long).chain(rest));
    let schedule = Schedule::read(input).expect("reads");
    assert_eq!(schedule.steps, [Step::new(Op::CtxSync)]);
    assert_eq!(schedule.lines, [3]);
    assert_eq!(schedule.errors[0].found, "8388608 bytes");
}

#[test]
fn a_header_is_read_with_its_defaults() {
    let header = Header::parse(1, HEADER.as_bytes()).expect("good");
    assert_eq!(header.gpus, [GpuSpec::new(1000, 7)]);
    assert_eq!(header.driver, DEFAULT_DRIVER);
    assert_eq!(header.workers, 1);
    let two = concat!(
        r#"{"schema":"cuzk.ops/1","gpus":[{"capacity":5},"#,
        r#"{"capacity":6,"baseline":1}],"workers":3}"#
    );
    let header = Header::parse(1, two.as_bytes()).expect("good");
    assert_eq!(header.gpus, [GpuSpec::new(5, 0), GpuSpec::new(6, 1)]);
    assert_eq!(header.workers, 3);
}

#[test]
fn a_header_that_does_not_serve_is_refused_by_name() {
    let cases = [
        ("", "empty input"),
        ("\n\n", "empty input"),
        (
            "{\"op\":\"ctxSync\"}",
            "schema: expected \"cuzk.ops/1\", found no such key",
        ),
        (
            r#"{"schema":"cuzk.ops/2","capacity":1}"#,
            "found \"cuzk.ops/2\"",
        ),
        (r#"{"schema":"cuzk.diagnosis/1"}"#, "found cuzk.diagnosis/1"),
        (
            r#"{"schema":"cuzk.ops/1"}"#,
            "capacity: expected an integer",
        ),
        (r#"{"schema":"cuzk.ops/1","capacity":-1}"#, "found -1"),
        (
            r#"{"schema":"cuzk.ops/1","gpus":[]}"#,
            "gpus: expected a list of at least one",
        ),
        (
            r#"{"schema":"cuzk.ops/1","gpus":[3]}"#,
            "gpus: expected an object",
        ),
        (
            "TIMELINE,0,SYNTH_START,j,partition=0",
            "line 1: the line: expected one JSON object",
        ),
    ];
    for (text, message) in cases {
        let error = Schedule::read(text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn a_byte_order_mark_does_no_harm() {
    let text = format!("\u{feff}{HEADER}\r\n");
    let schedule = Schedule::read(text.as_bytes()).expect("good");
    assert_eq!(schedule.header.gpus[0].capacity, 1000);
}

#[test]
fn an_input_that_fails_ends_the_reading_with_its_place() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("pulled out"))
        }
    }
    let text = format!("{HEADER}\n{{\"op\":\"ctxSync\"}}\n");
    let mut reader = Reader::open(BufReader::new(text.as_bytes().chain(Broken))).expect("header");
    assert!(matches!(reader.next(), Some(Ok(Entry { line: 2, .. }))));
    assert!(matches!(
        reader.next(),
        Some(Err(OpsError::Io { line: 2, .. }))
    ));
    assert!(reader.next().is_none(), "a failed reader stays ended");
}

#[test]
fn a_key_of_the_format_cannot_be_smuggled_in_as_unknown() {
    let mut step = Step::new(Op::Free { id: 1 });
    step.add_extra("id", 2.into());
    step.add_extra("worker", 2.into());
    step.add_extra("bytes", 2.into());
    let line = serde_json::to_string(&step).expect("writes");
    assert_eq!(
        line, r#"{"op":"free","id":1,"bytes":2}"#,
        "only `bytes` is no key of a free"
    );
}

#[test]
fn what_is_taken_back_leaves_no_trace_and_copies_do_not_change_each_other() {
    let plain = Step::new(Op::Launch(work(Stream::Legacy)));
    let mut step = plain.clone();
    step.set_thread(Some(0));
    step.set_job(Some(""));
    step.set_partition(Some(0));
    step.set_buf(Some("d_a"));
    step.set_on_error(OnError::Ignore);
    step.set_truth(Truth {
        pool_used: Some(0),
        ..Truth::default()
    });
    step.add_extra("note", 1.into());
    let full = step.clone();
    assert_eq!((full.thread(), full.partition()), (Some(0), Some(0)));
    assert_eq!((full.job(), full.buf()), (Some(""), Some("d_a")));
    step.set_thread(None);
    step.set_job(None);
    step.set_partition(None);
    step.set_buf(None);
    step.set_on_error(OnError::Abort);
    step.set_truth(Truth::default());
    step.set_extra(Extra::new());
    assert_eq!(step, plain);
    assert_eq!(full.truth().pool_used, Some(0));
    assert_eq!(full.extra().len(), 1);
}

proptest! {
    #[test]
    fn reading_what_was_written_gives_the_same_schedule(schedule in strategy::schedule(20)) {
        let text = text_of(&schedule);
        let mut back = Schedule::read(text.as_bytes()).expect("own output reads");
        prop_assert_eq!(back.errors_total, 0, "{:?}", back.errors);
        prop_assert_eq!(back.lines.len(), schedule.steps.len());
        back.lines.clear();
        prop_assert_eq!(back, schedule);
    }

    #[test]
    fn writing_what_was_read_gives_the_same_text(schedule in strategy::schedule(20)) {
        let text = text_of(&schedule);
        let back = Schedule::read(text.as_bytes()).expect("own output reads");
        prop_assert_eq!(text_of(&back), text);
    }

    #[test]
    fn any_bytes_after_the_header_are_read_or_counted(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut input = format!("{HEADER}\n").into_bytes();
        input.extend_from_slice(&bytes);
        let schedule = Schedule::read(input.as_slice()).expect("the header is good");
        let lines = bytes.split(|byte| *byte == b'\n');
        let full = lines.filter(|line| !line.trim_ascii().is_empty()).count();
        prop_assert_eq!(schedule.steps.len() as u64 + schedule.errors_total, full as u64);
    }

    #[test]
    fn any_bytes_as_a_whole_file_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        drop(Schedule::read(bytes.as_slice()));
    }
}
