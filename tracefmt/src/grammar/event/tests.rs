//! Tables of `TIMELINE` lines and what they say.

use std::borrow::Cow;

use super::*;

fn parse(line: &str) -> Option<Event<'_>> {
    parse_event(line.as_bytes())
}

const fn place(worker: Option<u32>, partition: Option<u32>) -> Place {
    Place {
        gpu: None,
        worker,
        partition,
    }
}

const JOB: &str = "8fdded90-cfde-49a5-9deb-b970d1c2f781";

const NONE: Place = Place {
    gpu: None,
    worker: None,
    partition: None,
};

/// Every shape of the old dialects, `J` standing for the job id.
const SHAPES: &[(&str, Place, What<'_>)] = &[
    (
        "SYNTH_START,J,kind=porep-c2",
        NONE,
        What::SynthStart {
            kind: Some(Cow::Borrowed("porep-c2")),
            snap: false,
        },
    ),
    (
        "SYNTH_START,J,partition=9",
        place(None, Some(9)),
        What::SynthStart {
            kind: None,
            snap: false,
        },
    ),
    (
        "SYNTH_START,J,snap_partition=9",
        place(None, Some(9)),
        What::SynthStart {
            kind: None,
            snap: true,
        },
    ),
    (
        "SYNTH_END,J,synth_ms=5",
        NONE,
        What::SynthEnd {
            synth_ms: Some(5),
            snap: false,
        },
    ),
    (
        "SYNTH_END,J,partition=1,synth_ms=5",
        place(None, Some(1)),
        What::SynthEnd {
            synth_ms: Some(5),
            snap: false,
        },
    ),
    (
        "SYNTH_END,J,snap_partition=1,synth_ms=5",
        place(None, Some(1)),
        What::SynthEnd {
            synth_ms: Some(5),
            snap: true,
        },
    ),
    ("CHAN_SEND,J,", NONE, What::ChanSend { snap: false }),
    (
        "CHAN_SEND,J,partition=3",
        place(None, Some(3)),
        What::ChanSend { snap: false },
    ),
    (
        "CHAN_SEND,J,snap_partition=3",
        place(None, Some(3)),
        What::ChanSend { snap: true },
    ),
    (
        "GPU_QUEUE,J,partition=3",
        place(None, Some(3)),
        What::GpuQueue { monolithic: false },
    ),
    (
        "GPU_QUEUE,J,monolithic",
        NONE,
        What::GpuQueue { monolithic: true },
    ),
    (
        "GPU_PICKUP,J,worker=1",
        place(Some(1), None),
        What::GpuPickup,
    ),
    (
        "GPU_PICKUP,J,worker=1,partition=2",
        place(Some(1), Some(2)),
        What::GpuPickup,
    ),
    ("GPU_START,J,worker=1", place(Some(1), None), What::GpuStart),
    (
        "GPU_START,J,worker=1,partition=2",
        place(Some(1), Some(2)),
        What::GpuStart,
    ),
    (
        "GPU_END,J,worker=1,gpu_ms=7",
        place(Some(1), None),
        What::GpuEnd { gpu_ms: Some(7) },
    ),
    (
        "GPU_END,J,worker=1,partition=2,gpu_ms=7",
        place(Some(1), Some(2)),
        What::GpuEnd { gpu_ms: Some(7) },
    ),
];

#[test]
fn every_old_shape_with_any_job_id() {
    for (shape, place, what) in SHAPES {
        for job in [
            JOB,
            "wdpost-1000-3-[1 2 3 4 5 6 7 8]",
            "a,b=c,,partition=x",
            "ends in a comma,",
            "100%2C",
            "ключ",
            "x,kind=porep-c2",
        ] {
            let line = format!("TIMELINE,245689,{}", shape.replace('J', job));
            let expected = Event {
                ms: 245_689,
                t_us: None,
                job: job.into(),
                place: *place,
                what: what.clone(),
            };
            assert_eq!(parse(&line), Some(expected), "{line}");
        }
    }
}

#[test]
fn a_job_id_that_looks_like_a_detail_keeps_what_cannot_be_one() {
    let event = parse("TIMELINE,1,GPU_START,x,worker=7,worker=2,partition=3").unwrap();
    assert_eq!(event.job, "x,worker=7");
    assert_eq!(event.place, place(Some(2), Some(3)));
    let event = parse("TIMELINE,1,SYNTH_START,x,partition=3,partition=4").unwrap();
    assert_eq!(event.job, "x,partition=3");
}

#[test]
fn bytes_that_are_not_utf8_survive_as_replacements() {
    let event = parse_event(b"TIMELINE,1,GPU_START,j\xff,worker=0,partition=3").unwrap();
    assert_eq!(event.job, "j\u{fffd}");
    assert_eq!(event.place, place(Some(0), Some(3)));
}

#[test]
fn half_a_line_is_no_event() {
    for line in [
        "",
        "TIMELINE",
        "TIMELINE,",
        "TIMELINE,5",
        "TIMELINE,5,",
        "TIMELINE,5,GPU_END",
        "TIMELINE,5,GPU_END,",
        "TIMELINE,5,GPU_END,J",
        "TIMELINE,5,GPU_END,J,",
        "TIMELINE,5,GPU_END,J,worker=1",
        "TIMELINE,5,GPU_END,J,worker=1,partition=2,gpu_ms=",
        "TIMELINE,5,GPU_START,,worker=1,partition=2",
        "TIMELINE,5,CHAN_SEND,J",
        "TIMELINE,5,CHAN_SEND,,",
        "TIMELINE,-5,CHAN_SEND,J,",
        "TIMELINE,x,CHAN_SEND,J,",
        "TIMELINE,99999999999999999999,CHAN_SEND,J,",
        "TIMELINE,5,GPU_START,J,worker=4294967296",
        "TIMELINE,5,SYNTH_START,J,kind=",
        "TIMELINE,5,lower,J,x",
        "TIMELINE,5,,J,x",
        " TIMELINE,5,CHAN_SEND,J,",
        "TIMELINE,243036,GPU_END,JCUZK_TIMING: gpu_tid=1 ntt_msm_h_ms=7607",
        "TIMELINE,5,VRAM_FREE,J,gpu=0,t_us=5,id=17,buf=d_a",
    ] {
        assert_eq!(parse(line), None, "{line}");
    }
}

#[test]
fn an_unknown_event_is_kept_as_written() {
    let event = parse("TIMELINE,5,GPU_STOP,j%2C,a=1,b").unwrap();
    assert_eq!((event.ms, &*event.job, event.t_us), (5, "j%2C", None));
    let what = What::Other {
        name: "GPU_STOP".into(),
        detail: "a=1,b".into(),
    };
    assert_eq!(event.what, what);
    let event = parse("TIMELINE,5,GPU_STOP,j%2C,gpu=1,partition=4,t_us=5001,a=1,b").unwrap();
    assert_eq!((&*event.job, event.t_us), ("j,", Some(5001)));
    assert_eq!(
        event.place,
        Place {
            gpu: Some(1),
            worker: None,
            partition: Some(4)
        }
    );
    let what = What::Other {
        name: "GPU_STOP".into(),
        detail: "a=1,b".into(),
    };
    assert_eq!(event.what, what);
}

#[test]
fn our_own_lines_of_the_old_events() {
    let event = parse("TIMELINE,5,SYNTH_END,a%2Cb,partition=3,t_us=5001,synth_ms=4").unwrap();
    assert_eq!((&*event.job, event.t_us), ("a,b", Some(5001)));
    assert_eq!(event.place, place(None, Some(3)));
    assert_eq!(
        event.what,
        What::SynthEnd {
            synth_ms: Some(4),
            snap: false
        }
    );

    let event = parse("TIMELINE,5,SYNTH_START,j,t_us=5001,kind=snap-update").unwrap();
    assert_eq!((&*event.job, event.t_us), ("j", Some(5001)));
    let event = parse("TIMELINE,5,GPU_QUEUE,j,t_us=5001,monolithic").unwrap();
    assert_eq!(
        (&*event.job, event.what),
        ("j", What::GpuQueue { monolithic: true })
    );
}

#[test]
fn keys_may_come_in_any_order_and_unknown_ones_are_ignored() {
    let line = "TIMELINE,5,VRAM_ALLOC,j,rc=2,new=x,id=17,t_us=5001,buf=d%5Fbc,bytes=8589934592,\
                worker=1,gpu=0,stream=legacy,api=cudaMallocAsync,partition=3";
    let event = parse(line).unwrap();
    assert_eq!(
        event.place,
        Place {
            gpu: Some(0),
            worker: Some(1),
            partition: Some(3)
        }
    );
    let alloc = crate::event::Alloc {
        id: 17,
        buf: "d_bc".into(),
        bytes: 8 << 30,
        api: "cudaMallocAsync".into(),
        stream: Some(crate::event::Stream::Legacy),
        rc: 2,
    };
    assert_eq!(event.what, What::VramAlloc(alloc));
}

#[test]
fn verdicts_of_a_partition_and_of_all() {
    let event = parse("TIMELINE,5,PROOF_OK,j,partition=all,t_us=5001").unwrap();
    assert_eq!(
        (event.place, event.what),
        (place(None, None), What::ProofOk { all: true })
    );
    let event = parse("TIMELINE,5,PROOF_BAD,j,partition=3,t_us=5001").unwrap();
    assert_eq!(
        (event.place, event.what),
        (place(None, Some(3)), What::ProofBad { all: false })
    );
    assert_eq!(
        parse("TIMELINE,5,GPU_START,j,partition=all,t_us=5001"),
        None
    );
}

#[test]
fn counts_of_kinds_that_are_not_known_are_added_up() {
    let event = parse("TIMELINE,5,TRACE_END,,t_us=5001,GPU_END=3,NEW_ONE=4,NEWER=5").unwrap();
    let counts = vec![(EventKind::GpuEnd, 3), (EventKind::Other, 9)];
    assert_eq!(event.what, What::TraceEnd { counts });
}

#[test]
fn of_two_counts_of_one_kind_the_first_counts() {
    let line = "TIMELINE,5,TRACE_END,,t_us=5001,GPU_END=3,NEW=4,GPU_END=90,NEW=5,NEWER=6";
    let counts = vec![(EventKind::GpuEnd, 3), (EventKind::Other, 10)];
    let event = parse(line).unwrap();
    assert_eq!(event.what, What::TraceEnd { counts });
    let line = "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=r,epoch_unix_us=1,build=b,device=d,\
                vram_total=1,vram_free=1,cfg.domain=7,cfg.k=1,cfg.domain=9,vram_free=8";
    let What::TraceStart(start) = parse(line).unwrap().what else {
        panic!("no TRACE_START")
    };
    let pair = |key: &str, value: &str| (key.to_owned().into(), value.to_owned().into());
    assert_eq!(start.config, [pair("domain", "7"), pair("k", "1")]);
    assert_eq!(start.vram_free, 1);
}

#[test]
fn a_plain_event_is_what_the_whole_grammar_reads() {
    let job = "8fdded90-cfde-49a5-9deb-b970d1c2f781";
    let details = [
        ("SYNTH_START", "partition=3"),
        ("SYNTH_START", "snap_partition=3"),
        ("SYNTH_END", "synth_ms=30811"),
        ("SYNTH_END", "partition=3,synth_ms=30811"),
        ("CHAN_SEND", ""),
        ("CHAN_SEND", "partition=0"),
        ("GPU_QUEUE", "monolithic"),
        ("GPU_PICKUP", "worker=1,partition=9"),
        ("GPU_START", "worker=1"),
        ("GPU_END", "worker=1,partition=9,gpu_ms=123456789"),
    ];
    for (event, detail) in details {
        for job in [job, "porep-1000-7", "j"] {
            for ms in ["0", "245689", "12345678", "1234567890123"] {
                let line = format!("TIMELINE,{ms},{event},{job},{detail}");
                let line = line.as_bytes();
                let (plain, id) = parse_plain_event(line).unwrap();
                assert_eq!(id, job.as_bytes());
                assert_eq!(Some(plain.of_job(job)), parse_event(line));
                assert_eq!(plain.of_job(job).what.kind(), plain.kind());
                for cut in 0..line.len() {
                    let (head, tail) = line.split_at(cut);
                    for text in [
                        [head, &tail[1..]].concat(),
                        [head, b"CUZK_TIMING: prep_msm_ms=1", tail].concat(),
                        [head, line].concat(),
                        [head, b"7", tail].concat(),
                    ] {
                        if let Some((plain, id)) = parse_plain_event(&text) {
                            let id = std::str::from_utf8(id).unwrap();
                            let whole = parse_event(&text);
                            assert_eq!(Some(plain.of_job(id)), whole, "{}", text.escape_ascii());
                            let inside = memchr::memmem::find(&text, b"CUZK");
                            assert_eq!(inside, None, "{}", text.escape_ascii());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_time_beyond_32_bits_is_not_plain_and_read_all_the_same() {
    for (event, what, ms) in [
        ("SYNTH_END", "partition=3,synth_ms", u64::from(u32::MAX)),
        ("SYNTH_END", "synth_ms", u64::from(u32::MAX) + 1),
        (
            "GPU_END",
            "worker=1,partition=9,gpu_ms",
            u64::from(u32::MAX),
        ),
        (
            "GPU_END",
            "worker=1,partition=9,gpu_ms",
            u64::from(u32::MAX) + 1,
        ),
        ("GPU_END", "worker=1,gpu_ms", u64::MAX),
    ] {
        let line = format!("TIMELINE,5,{event},j,{what}={ms}");
        let whole = parse_event(line.as_bytes());
        match parse_plain_event(line.as_bytes()) {
            Some((plain, _)) => {
                assert_eq!(ms, u64::from(u32::MAX), "{line}");
                assert_eq!(Some(plain.of_job("j")), whole);
            }
            None => assert!(ms > u64::from(u32::MAX), "{line}"),
        }
        let spent = match whole.map(|event| event.what) {
            Some(What::SynthEnd { synth_ms, .. }) => synth_ms,
            Some(What::GpuEnd { gpu_ms }) => gpu_ms,
            _ => None,
        };
        assert_eq!(spent, Some(ms), "{line}");
    }
}

#[test]
fn a_strange_job_is_not_plain() {
    for job in [
        "a,b",
        "a b",
        "a:b",
        "TIMELINE",
        "a%2C",
        "\u{e9}",
        "wdpost-1-[1 2]",
        "a\0",
        "",
    ] {
        let line = format!("TIMELINE,5,CHAN_SEND,{job},partition=1");
        assert!(parse_plain_event(line.as_bytes()).is_none(), "{job}");
    }
}
