//! Random schedules for property tests and fuzz seeds (feature `proptest`).
//!
//! The ops are well-formed, not sensible: ids are freed that nobody allocated. A caller that
//! needs sensible schedules filters or builds its own on top.

use proptest::prelude::*;
use serde_json::Value;

use super::{Extra, GpuSpec, Header, OnError, Op, Schedule, Step, Stream, Truth, Work};

/// Any stream; the legacy one often enough to matter.
pub fn stream() -> impl Strategy<Value = Stream> {
    prop_oneof![
        1 => Just(Stream::Legacy),
        4 => (0_u64..4).prop_map(Stream::Id),
        1 => any::<u64>().prop_map(Stream::Id),
    ]
}

/// Sizes around the steps of the driver, and the extremes.
pub fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 1_u64..(8 << 30),
        2 => 1_u64..4096,
        2 => (0_u64..5, 0_u64..3).prop_map(|(steps, off)| (steps << 21) + off),
        1 => Just(u64::MAX),
        1 => Just(0),
    ]
}

fn id() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0_u64..32, 1 => any::<u64>()]
}

/// Text with everything in it that needs an escape.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z_]{1,8}",
        1 => any::<String>(),
        1 => Just("%, =\r\n\"\\\u{0}\u{1F980}".to_owned()),
    ]
}

fn work() -> impl Strategy<Value = Work> {
    let ids = || proptest::collection::vec(id(), 0..4);
    let ms = proptest::option::of(prop_oneof![
        (0_u32..100_000).prop_map(|tenths| f64::from(tenths) / 10.0),
        0.0..1e9,
    ]);
    (stream(), ids(), ids(), ms)
        .prop_map(|(stream, reads, writes, ms)| Work::new(stream, reads, writes, ms))
}

fn device_op() -> impl Strategy<Value = Op> {
    let some = || proptest::option::of(bytes());
    prop_oneof![
        3 => (id(), bytes()).prop_map(|(id, bytes)| Op::Malloc { id, bytes }),
        3 => (id(), bytes(), stream())
            .prop_map(|(id, bytes, stream)| Op::MallocAsync { id, bytes, stream }),
        3 => id().prop_map(|id| Op::Free { id }),
        3 => (id(), stream()).prop_map(|(id, stream)| Op::FreeAsync { id, stream }),
        2 => stream().prop_map(|stream| Op::StreamSync { stream }),
        1 => Just(Op::CtxSync),
        1 => (id(), stream()).prop_map(|(event, stream)| Op::EventRecord { event, stream }),
        1 => (id(), stream()).prop_map(|(event, stream)| Op::StreamWait { stream, event }),
        1 => id().prop_map(|event| Op::EventSync { event }),
        1 => bytes().prop_map(|keep| Op::Trim { keep }),
        1 => bytes().prop_map(|bytes| Op::SetThreshold { bytes }),
        1 => (some(), some()).prop_map(|(need, margin)| Op::MemGetInfo {
            need,
            margin: margin.map(Box::new),
        }),
        1 => Just(Op::GetLastError),
        1 => Just(Op::PeekLastError),
    ]
}

fn other_op() -> impl Strategy<Value = Op> {
    let range = || (any::<u64>(), bytes());
    let name = || text().prop_map(String::into_boxed_str);
    prop_oneof![
        range().prop_map(|(addr, bytes)| Op::HostMap { addr, bytes }),
        range().prop_map(|(addr, bytes)| Op::HostUnmap { addr, bytes }),
        range().prop_map(|(addr, bytes)| Op::HostRegister { addr, bytes }),
        any::<u64>().prop_map(|addr| Op::HostUnregister { addr }),
        work().prop_map(Op::Launch),
        work().prop_map(Op::CopyHtoD),
        work().prop_map(Op::CopyDtoH),
        name().prop_map(|name| Op::Lock { name }),
        name().prop_map(|name| Op::Unlock { name }),
        (name(), 0_u64..9).prop_map(|(name, n)| Op::Barrier { name, n }),
        name().prop_map(|name| Op::Label { name }),
        any::<bool>().prop_map(|unwind| Op::Panic { unwind }),
    ]
}

/// Any op.
pub fn op() -> impl Strategy<Value = Op> {
    prop_oneof![3 => device_op(), 1 => other_op()]
}

fn on_error() -> impl Strategy<Value = OnError> {
    prop_oneof![
        4 => Just(OnError::Abort),
        1 => Just(OnError::Ignore),
        1 => "[a-z:]{1,6}".prop_map(|label| OnError::Fallback(label.into())),
    ]
}

fn truth() -> impl Strategy<Value = Truth> {
    let some = || proptest::option::of(any::<u64>());
    let rc = proptest::option::of(prop_oneof![Just(0), Just(2), any::<u32>()]);
    (rc, some(), some(), some()).prop_map(|(rc, free, pool_reserved, pool_used)| Truth {
        rc,
        free,
        pool_reserved,
        pool_used,
    })
}

/// Keys that no version knows; their values are what JSON can carry without loss.
pub fn extra() -> impl Strategy<Value = Extra> {
    let value = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        text().prop_map(Value::from),
        proptest::collection::vec(any::<u8>(), 0..3).prop_map(Value::from),
    ];
    proptest::collection::btree_map("x_[a-z]{0,5}", value, 0..3)
}

/// Any step.
pub fn step() -> impl Strategy<Value = Step> {
    use proptest::option::of;
    let place = (
        of(0_u32..4),
        of(any::<u64>()),
        of(any::<u32>()),
        of(0_u32..3),
    );
    let names = (of(text()), of(text()));
    (op(), place, names, on_error(), truth(), extra()).prop_map(
        |(op, (worker, thread, partition, gpu), (job, buf), on_error, truth, extra)| {
            let mut step = Step::new(op).or_else(on_error);
            (step.worker, step.gpu) = (worker, gpu);
            step.set_thread(thread);
            step.set_partition(partition);
            step.set_job(job.as_deref());
            step.set_buf(buf.as_deref());
            step.set_truth(truth);
            step.set_extra(extra);
            step
        },
    )
}

/// Any header.
pub fn header() -> impl Strategy<Value = Header> {
    let gpu =
        (any::<u64>(), any::<u64>(), extra()).prop_map(|(capacity, baseline, extra)| GpuSpec {
            capacity,
            baseline,
            extra,
        });
    (
        proptest::collection::vec(gpu, 1..4),
        prop_oneof![
            Just("h200-580".to_owned()),
            Just("strict".to_owned()),
            text()
        ],
        any::<u64>(),
        extra(),
    )
        .prop_map(|(gpus, driver, workers, extra)| Header {
            gpus,
            driver,
            workers,
            extra,
        })
}

/// Any schedule of at most `steps_max` steps.
pub fn schedule(steps_max: usize) -> impl Strategy<Value = Schedule> {
    (header(), proptest::collection::vec(step(), 0..=steps_max))
        .prop_map(|(header, steps)| Schedule::new(header, steps))
}
