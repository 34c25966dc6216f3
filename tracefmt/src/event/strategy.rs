//! Random events for property tests and fuzz seeds (feature `proptest`).
//!
//! They are well-formed, not sensible: a GPU ends what it never started. Times, ids and texts
//! take their extremes; texts hold everything that needs an escape.

use std::borrow::Cow;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use super::{Alloc, Event, EventKind, Place, Stream, TraceStart, What};

/// Text with everything in it that a line is made of.
pub fn text() -> impl Strategy<Value = Cow<'static, str>> {
    prop_oneof![
        4 => "[a-z_]{1,8}",
        1 => any::<String>(),
        1 => "[a-z,=% \\[\\]]{0,12}",
        1 => Just("%2C, =\r\n\t\"\\\u{0}\u{1b}[2m\u{1F980}".to_owned()),
        1 => Just(String::new()),
    ]
    .prop_map(Cow::Owned)
}

/// Where an event may have happened.
pub fn place() -> impl Strategy<Value = Place> {
    let index = || option::of(prop_oneof![8 => 0_u32..16, 1 => any::<u32>()]);
    (index(), index(), index()).prop_map(|(gpu, worker, partition)| Place {
        gpu,
        worker,
        partition,
    })
}

/// Any event as our own writer writes it.
pub fn event() -> impl Strategy<Value = Event<'static>> {
    (any::<u64>(), any::<u64>(), text(), place(), what()).prop_map(
        |(ms, t_us, job, place, what)| {
            let place = fitting(&what, place);
            Event {
                ms,
                t_us: Some(t_us),
                job,
                place,
                what,
            }
        },
    )
}

/// Any event as the old engine wrote it, with any job id that it could carry on one line.
pub fn legacy_event() -> impl Strategy<Value = Event<'static>> {
    let job = prop_oneof![
        "[0-9a-f]{8}-[0-9a-f]{4}",
        "[a-z,= \\[\\]%]{1,12}",
        "\\PC{1,12}",
    ];
    (
        any::<u64>(),
        job,
        any::<u32>(),
        option::of(any::<u32>()),
        any::<u64>(),
        0..12_usize,
    )
        .prop_map(|(ms, job, worker, partition, value, shape)| {
            let (what, worker, partition) = legacy_shape(shape, worker, partition, value);
            let place = Place {
                gpu: None,
                worker,
                partition,
            };
            Event {
                ms,
                t_us: None,
                job: Cow::Owned(job),
                place,
                what,
            }
        })
        .prop_filter("the job id reads as a part of the detail", |event| {
            // `x,worker=3` before `partition=4` would be the longer detail.
            !event.job.contains([',', '='])
                || !["worker", "partition", "kind", "_ms"]
                    .iter()
                    .any(|key| event.job.contains(key))
        })
}

fn legacy_shape(
    shape: usize,
    worker: u32,
    partition: Option<u32>,
    value: u64,
) -> (What<'static>, Option<u32>, Option<u32>) {
    let some = partition.or(Some(0));
    let kind = Some("porep-c2".into());
    match shape {
        0 => (What::SynthStart { kind, snap: false }, None, None),
        1 => (
            What::SynthStart {
                kind: None,
                snap: false,
            },
            None,
            some,
        ),
        2 => (
            What::SynthStart {
                kind: None,
                snap: true,
            },
            None,
            some,
        ),
        3 => (
            What::SynthEnd {
                synth_ms: Some(value),
                snap: false,
            },
            None,
            partition,
        ),
        4 => (
            What::SynthEnd {
                synth_ms: Some(value),
                snap: true,
            },
            None,
            some,
        ),
        5 => (What::ChanSend { snap: false }, None, partition),
        6 => (What::ChanSend { snap: true }, None, some),
        7 => (What::GpuQueue { monolithic: false }, None, some),
        8 => (What::GpuQueue { monolithic: true }, None, None),
        9 => (What::GpuPickup, Some(worker), partition),
        10 => (What::GpuStart, Some(worker), partition),
        _ => (
            What::GpuEnd {
                gpu_ms: Some(value),
            },
            Some(worker),
            partition,
        ),
    }
}

/// What happened, every kind about equally often.
pub fn what() -> impl Strategy<Value = What<'static>> {
    prop_oneof![8 => pipeline(), 8 => device(), 4 => order(), 1 => trace()]
}

/// The way of jobs and partitions.
fn pipeline() -> impl Strategy<Value = What<'static>> {
    prop_oneof![
        (text(), any::<u32>()).prop_map(|(kind, partitions)| What::JobSubmit { kind, partitions }),
        (text(), option::of(text())).prop_map(|(status, error)| What::JobEnd { status, error }),
        (option::of(text()), any::<bool>())
            .prop_map(|(kind, snap)| What::SynthStart { kind, snap }),
        (option::of(any::<u64>()), any::<bool>())
            .prop_map(|(synth_ms, snap)| What::SynthEnd { synth_ms, snap }),
        any::<bool>().prop_map(|snap| What::ChanSend { snap }),
        any::<bool>().prop_map(|monolithic| What::GpuQueue { monolithic }),
        Just(What::GpuPickup),
        Just(What::GpuStart),
        option::of(any::<u64>()).prop_map(|gpu_ms| What::GpuEnd { gpu_ms }),
        text().prop_map(|error| What::PartitionFailed { error }),
        any::<bool>().prop_map(|all| What::ProofOk { all }),
        any::<bool>().prop_map(|all| What::ProofBad { all }),
    ]
}

/// Memory of the device and of the host.
fn device() -> impl Strategy<Value = What<'static>> {
    prop_oneof![
        alloc().prop_map(What::VramAlloc),
        alloc().prop_map(
            |Alloc {
                 id,
                 buf,
                 bytes,
                 api,
                 stream,
                 rc,
             }| What::VramFree {
                id,
                buf,
                bytes,
                api,
                stream,
                rc
            }
        ),
        (any::<u64>(), any::<u64>(), any::<i32>()).prop_map(|(addr, bytes, rc)| What::HostReg {
            addr,
            bytes,
            rc
        }),
        (any::<u64>(), any::<i32>()).prop_map(|(addr, rc)| What::HostUnreg { addr, rc }),
        (any::<u64>(), any::<i32>()).prop_map(|(keep, rc)| What::PoolTrim { keep, rc }),
        (any::<u64>(), any::<u64>()).prop_map(|(free, total)| What::MemInfo { free, total }),
        (any::<u64>(), any::<u64>(), any::<u64>(), text()).prop_map(|(id, free, need, plan)| {
            What::PlanFallback {
                id,
                free,
                need,
                plan,
            }
        }),
    ]
}

/// Locks, streams and launches.
fn order() -> impl Strategy<Value = What<'static>> {
    let ids = || vec(any::<u64>(), 0..4);
    let sync = (
        text(),
        option::of(stream()),
        option::of(any::<u64>()),
        any::<i32>(),
    );
    let pair = || (any::<u64>(), stream(), any::<i32>());
    let launch = (text(), text(), stream(), ids(), ids(), any::<i32>());
    prop_oneof![
        text().prop_map(|lock| What::LockWait { lock }),
        text().prop_map(|lock| What::LockAcq { lock }),
        text().prop_map(|lock| What::LockRel { lock }),
        sync.prop_map(|(scope, stream, event, rc)| What::Sync {
            scope,
            stream,
            event,
            rc
        }),
        pair().prop_map(|(event, stream, rc)| What::EventRecord { event, stream, rc }),
        pair().prop_map(|(event, stream, rc)| What::StreamWait { event, stream, rc }),
        launch.prop_map(|(op, phase, stream, reads, writes, rc)| What::Launch {
            op,
            phase,
            stream,
            reads,
            writes,
            rc
        }),
    ]
}

/// Begin and end of a trace, and an event of a later version.
fn trace() -> impl Strategy<Value = What<'static>> {
    let start = (
        (any::<u32>(), text(), any::<u64>(), text(), text()),
        (any::<u64>(), any::<u64>(), btree_map(text(), text(), 0..4)),
    );
    let counts = proptest::sample::subsequence(EventKind::ALL, 0..EventKind::ALL.len());
    prop_oneof![
        start.prop_map(
            |((version, run, epoch_unix_us, build, device), (vram_total, vram_free, config))| {
                What::TraceStart(Box::new(TraceStart {
                    version,
                    run,
                    epoch_unix_us,
                    build,
                    device,
                    vram_total,
                    vram_free,
                    config: config.into_iter().collect(),
                }))
            }
        ),
        (counts, any::<u64>()).prop_map(|(kinds, count)| What::TraceEnd {
            counts: kinds.into_iter().map(|kind| (kind, count)).collect(),
        }),
        (
            "NEW_[A-Z0-9_]{1,8}",
            "([a-z]{1,5}=[a-z0-9%]{0,5}(,[a-z]{1,5}){0,3})?"
        )
            .prop_map(|(name, detail)| What::Other {
                name: name.into(),
                detail: detail.into()
            }),
    ]
}

fn alloc() -> impl Strategy<Value = Alloc<'static>> {
    (
        (any::<u64>(), text(), any::<u64>()),
        (text(), option::of(stream()), any::<i32>()),
    )
        .prop_map(|((id, buf, bytes), (api, stream, rc))| Alloc {
            id,
            buf,
            bytes,
            api,
            stream,
            rc,
        })
}

/// Any stream; the legacy one often enough to matter.
pub fn stream() -> impl Strategy<Value = Stream> {
    prop_oneof![1 => Just(Stream::Legacy), 4 => any::<u32>().prop_map(Stream::Id)]
}

/// The place that a line can carry for this event.
fn fitting(what: &What<'_>, place: Place) -> Place {
    match what {
        What::ProofOk { all: true } | What::ProofBad { all: true } => Place {
            partition: None,
            ..place
        },
        What::SynthStart { snap: true, .. }
        | What::SynthEnd { snap: true, .. }
        | What::ChanSend { snap: true } => Place {
            partition: place.partition.or(Some(0)),
            ..place
        },
        _ => place,
    }
}
