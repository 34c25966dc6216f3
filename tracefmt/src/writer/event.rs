//! One event as its `TIMELINE` line.

use super::buffer::{escaped, number, raw, signed};
use crate::event::{Alloc, Event, Stream, TraceStart, What};

/// Appends the line of an event, without a line end.
///
/// An event with `t_us`, or of a kind that only we have, becomes a line of our own format. Any
/// other becomes the line that the old engine wrote, to the byte: job ids unescaped, and what
/// the old format has no room for (the GPU) left out.
pub fn write_event(line: &mut Vec<u8>, event: &Event<'_>) {
    let what = &event.what;
    line.extend_from_slice(b"TIMELINE,");
    number(line, event.ms);
    line.push(b',');
    match what {
        What::Other { name, .. } => raw(line, name),
        _ => line.extend_from_slice(what.kind().as_str().as_bytes()),
    }
    line.push(b',');
    if event.t_us.is_none() && !what.kind().is_own() {
        raw(line, &event.job);
        line.push(b',');
        return legacy(line, event);
    }
    escaped(line, &event.job);
    line.push(b',');
    let mut pairs = Pairs { line, any: false };
    common(&mut pairs, event);
    if let What::Other { detail, .. } = what {
        if !detail.is_empty() {
            pairs.gap();
            raw(pairs.line, detail);
        }
        return;
    }
    fields(&mut pairs, what);
}

/// The detail of an old line.
fn legacy(line: &mut Vec<u8>, event: &Event<'_>) {
    let mut pairs = Pairs { line, any: false };
    let place = event.place;
    pairs.maybe("worker", place.worker);
    pairs.maybe(partition_key(&event.what), place.partition);
    match &event.what {
        What::SynthStart {
            kind: Some(kind), ..
        } => {
            pairs.key("kind");
            raw(pairs.line, kind);
        }
        What::SynthEnd { synth_ms, .. } => pairs.maybe("synth_ms", *synth_ms),
        What::GpuEnd { gpu_ms } => pairs.maybe("gpu_ms", *gpu_ms),
        What::GpuQueue { monolithic: true } => pairs.word("monolithic"),
        What::Other { detail, .. } => raw(pairs.line, detail),
        _ => {}
    }
}

/// Where and when, on every line of ours.
fn common(pairs: &mut Pairs<'_>, event: &Event<'_>) {
    pairs.maybe("gpu", event.place.gpu);
    pairs.maybe("worker", event.place.worker);
    match event.what {
        What::ProofOk { all: true } | What::ProofBad { all: true } => {
            pairs.text("partition", "all");
        }
        _ => pairs.maybe(partition_key(&event.what), event.place.partition),
    }
    pairs.maybe("t_us", event.t_us);
}

const fn partition_key(what: &What<'_>) -> &'static str {
    match what {
        What::SynthStart { snap: true, .. }
        | What::SynthEnd { snap: true, .. }
        | What::ChanSend { snap: true } => "snap_partition",
        _ => "partition",
    }
}

/// The fields of each event, in the order of the specification.
fn fields(pairs: &mut Pairs<'_>, what: &What<'_>) {
    match what {
        What::TraceStart(start) => trace_start(pairs, start),
        What::TraceEnd { counts } => {
            for (kind, count) in counts {
                pairs.number(kind.as_str(), *count);
            }
        }
        What::JobSubmit { kind, partitions } => {
            pairs.text("kind", kind);
            pairs.number("partitions", u64::from(*partitions));
        }
        What::JobEnd { status, error } => {
            pairs.text("status", status);
            if let Some(error) = error {
                pairs.text("error", error);
            }
        }
        What::SynthStart {
            kind: Some(kind), ..
        } => pairs.text("kind", kind),
        What::SynthEnd { synth_ms, .. } => pairs.maybe("synth_ms", *synth_ms),
        What::GpuQueue { monolithic: true } => pairs.word("monolithic"),
        What::GpuEnd { gpu_ms } => pairs.maybe("gpu_ms", *gpu_ms),
        What::PartitionFailed { error } => pairs.text("error", error),
        What::LockWait { lock } | What::LockAcq { lock } | What::LockRel { lock } => {
            pairs.text("lock", lock);
        }
        What::ProofOk { .. }
        | What::ProofBad { .. }
        | What::SynthStart { .. }
        | What::ChanSend { .. }
        | What::GpuQueue { .. }
        | What::GpuPickup
        | What::GpuStart
        | What::Other { .. } => {}
        _ => device(pairs, what),
    }
}

/// The fields of what is done to the device and to pinned memory.
fn device(pairs: &mut Pairs<'_>, what: &What<'_>) {
    match what {
        What::VramAlloc(alloc) => memory(pairs, alloc),
        What::VramFree {
            id,
            buf,
            bytes,
            api,
            stream,
            rc,
        } => memory(
            pairs,
            &Alloc {
                id: *id,
                buf: buf.as_ref().into(),
                bytes: *bytes,
                api: api.as_ref().into(),
                stream: *stream,
                rc: *rc,
            },
        ),
        What::HostReg { addr, bytes, rc } => {
            pairs.number("addr", *addr);
            pairs.number("bytes", *bytes);
            pairs.rc(*rc);
        }
        What::HostUnreg { addr, rc } => {
            pairs.number("addr", *addr);
            pairs.rc(*rc);
        }
        What::Sync {
            scope,
            stream,
            event,
            rc,
        } => {
            pairs.text("scope", scope);
            pairs.stream(*stream);
            pairs.maybe("event", *event);
            pairs.rc(*rc);
        }
        What::EventRecord { event, stream, rc } | What::StreamWait { event, stream, rc } => {
            pairs.number("event", *event);
            pairs.stream(Some(*stream));
            pairs.rc(*rc);
        }
        What::Launch {
            op,
            phase,
            stream,
            reads,
            writes,
            rc,
        } => {
            pairs.text("op", op);
            pairs.text("phase", phase);
            pairs.stream(Some(*stream));
            pairs.ids("reads", reads);
            pairs.ids("writes", writes);
            pairs.rc(*rc);
        }
        _ => room(pairs, what),
    }
}

/// The fields of what is said about how much memory there is.
fn room(pairs: &mut Pairs<'_>, what: &What<'_>) {
    match what {
        What::PoolTrim { keep, rc } => {
            pairs.number("keep", *keep);
            pairs.rc(*rc);
        }
        What::MemInfo { free, total } => {
            pairs.number("free", *free);
            pairs.number("total", *total);
        }
        What::PlanFallback {
            id,
            free,
            need,
            plan,
        } => {
            pairs.number("id", *id);
            pairs.number("free", *free);
            pairs.number("need", *need);
            pairs.text("plan", plan);
        }
        _ => {}
    }
}

fn memory(pairs: &mut Pairs<'_>, alloc: &Alloc<'_>) {
    pairs.number("id", alloc.id);
    pairs.text("buf", &alloc.buf);
    pairs.number("bytes", alloc.bytes);
    pairs.text("api", &alloc.api);
    pairs.stream(alloc.stream);
    pairs.rc(alloc.rc);
}

fn trace_start(pairs: &mut Pairs<'_>, start: &TraceStart<'_>) {
    pairs.number("version", u64::from(start.version));
    pairs.text("run", &start.run);
    pairs.number("epoch_unix_us", start.epoch_unix_us);
    pairs.text("build", &start.build);
    pairs.text("device", &start.device);
    pairs.number("vram_total", start.vram_total);
    pairs.number("vram_free", start.vram_free);
    for (key, value) in &start.config {
        pairs.gap();
        pairs.line.extend_from_slice(b"cfg.");
        escaped(pairs.line, key);
        pairs.line.push(b'=');
        escaped(pairs.line, value);
    }
}

/// A detail under construction: pairs with commas between them.
struct Pairs<'l> {
    line: &'l mut Vec<u8>,
    any: bool,
}

impl Pairs<'_> {
    fn gap(&mut self) {
        if self.any {
            self.line.push(b',');
        }
        self.any = true;
    }

    fn word(&mut self, word: &str) {
        self.gap();
        self.line.extend_from_slice(word.as_bytes());
    }

    fn key(&mut self, key: &str) {
        self.word(key);
        self.line.push(b'=');
    }

    fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        number(self.line, value);
    }

    fn maybe(&mut self, key: &str, value: Option<impl Into<u64>>) {
        if let Some(value) = value {
            self.number(key, value.into());
        }
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        escaped(self.line, value);
    }

    fn rc(&mut self, rc: i32) {
        self.key("rc");
        signed(self.line, i64::from(rc));
    }

    fn stream(&mut self, stream: Option<Stream>) {
        match stream {
            Some(Stream::Legacy) => self.text("stream", "legacy"),
            Some(Stream::Id(id)) => self.number("stream", u64::from(id)),
            None => {}
        }
    }

    fn ids(&mut self, key: &str, ids: &[u64]) {
        self.key(key);
        for (index, id) in ids.iter().enumerate() {
            if index > 0 {
                self.line.push(b'+');
            }
            number(self.line, *id);
        }
    }
}
