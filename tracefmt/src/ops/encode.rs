//! From a step to its JSON line: the op and its own keys first, then whose it is, then truth.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{OnError, Op, Step, Stream, Work};

impl Serialize for Stream {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Legacy => serializer.serialize_str("legacy"),
            Self::Id(number) => serializer.serialize_u64(*number),
        }
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("op", self.op.name())?;
        own_keys(&self.op, &mut map)?;
        optional(&mut map, "worker", self.worker.as_ref())?;
        optional(&mut map, "thread", self.thread().as_ref())?;
        optional(&mut map, "job", self.job().as_ref())?;
        optional(&mut map, "partition", self.partition().as_ref())?;
        optional(&mut map, "buf", self.buf().as_ref())?;
        optional(&mut map, "gpu", self.gpu.as_ref())?;
        if *self.on_error() != OnError::Abort {
            map.serialize_entry("on_error", &self.on_error().to_string())?;
        }
        let truth = self.truth();
        optional(&mut map, "rc", truth.rc.as_ref())?;
        optional(&mut map, "free", truth.free.as_ref())?;
        optional(&mut map, "pool_reserved", truth.pool_reserved.as_ref())?;
        optional(&mut map, "pool_used", truth.pool_used.as_ref())?;
        for (key, value) in self.extra() {
            // A key of the format cannot be smuggled in beside the field that carries it.
            if !self.defines(key) {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

fn optional<M: SerializeMap, T: Serialize>(
    map: &mut M,
    key: &'static str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(key, value))
}

fn own_keys<M: SerializeMap>(op: &Op, map: &mut M) -> Result<(), M::Error> {
    match op {
        Op::Malloc { id, bytes } => {
            map.serialize_entry("id", id)?;
            map.serialize_entry("bytes", bytes)
        }
        Op::MallocAsync { id, bytes, stream } => {
            map.serialize_entry("id", id)?;
            map.serialize_entry("bytes", bytes)?;
            map.serialize_entry("stream", stream)
        }
        Op::Free { id } => map.serialize_entry("id", id),
        Op::FreeAsync { id, stream } => {
            map.serialize_entry("id", id)?;
            map.serialize_entry("stream", stream)
        }
        Op::StreamSync { stream } => map.serialize_entry("stream", stream),
        Op::EventRecord { event, stream } | Op::StreamWait { stream, event } => {
            map.serialize_entry("event", event)?;
            map.serialize_entry("stream", stream)
        }
        Op::EventSync { event } => map.serialize_entry("event", event),
        Op::Trim { keep } => map.serialize_entry("keep", keep),
        Op::SetThreshold { bytes } => map.serialize_entry("bytes", bytes),
        Op::MemGetInfo { need, margin } => {
            optional(map, "need", need.as_ref())?;
            optional(map, "margin", margin.as_ref())
        }
        Op::HostMap { addr, bytes }
        | Op::HostUnmap { addr, bytes }
        | Op::HostRegister { addr, bytes } => {
            map.serialize_entry("addr", addr)?;
            map.serialize_entry("bytes", bytes)
        }
        Op::HostUnregister { addr } => map.serialize_entry("addr", addr),
        Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work) => work_keys(work, map),
        Op::Lock { name } | Op::Unlock { name } | Op::Label { name } => {
            map.serialize_entry("name", name)
        }
        Op::Barrier { name, n } => {
            map.serialize_entry("name", name)?;
            map.serialize_entry("n", n)
        }
        Op::Panic { unwind: true } => map.serialize_entry("unwind", &true),
        Op::CtxSync | Op::GetLastError | Op::PeekLastError | Op::Panic { unwind: false } => Ok(()),
    }
}

fn work_keys<M: SerializeMap>(work: &Work, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry("stream", &work.stream)?;
    if !work.reads().is_empty() {
        map.serialize_entry("reads", work.reads())?;
    }
    if !work.writes().is_empty() {
        map.serialize_entry("writes", work.writes())?;
    }
    optional(map, "ms", work.ms().as_ref())
}
