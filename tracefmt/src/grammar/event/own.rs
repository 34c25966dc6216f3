//! The details of our own writer: `key=value` joined by commas, percent-escaped, in any order,
//! unknown keys ignored.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::number;
use crate::event::{Alloc, Event, EventKind, Place, Stream, TraceStart, What};
use crate::grammar::text;

/// Reads `<job>,<detail>` of one of our own lines; none if a key that the event needs is missing
/// or is not what it should be, or if an event of the old dialects lacks `t_us=`.
///
/// Nearly all lines have their keys in the order in which our writer puts them and no others. So
/// that order is tried first, without ever looking elsewhere for a key; only if it does not use
/// the whole detail up are the keys searched for.
pub(super) fn parse(kind: EventKind, ms: u64, rest: &[u8]) -> Option<Event<'_>> {
    let (job, all) = split_job(rest)?;
    let mut ordered = Detail {
        all,
        next: all,
        search: false,
    };
    if let Some(event) = read(kind, ms, job, &mut ordered)
        && ordered.next.is_empty()
    {
        return Some(event);
    }
    read(
        kind,
        ms,
        job,
        &mut Detail {
            all,
            next: all,
            search: true,
        },
    )
}

fn read<'a>(kind: EventKind, ms: u64, job: &'a [u8], detail: &mut Detail<'a>) -> Option<Event<'a>> {
    let gpu = detail.optional(b"gpu")?;
    let worker = detail.optional(b"worker")?;
    let verdict = matches!(kind, EventKind::ProofOk | EventKind::ProofBad);
    let mut snap = false;
    let (all, mut partition) = match detail.raw(b"partition") {
        Some(b"all") if verdict => (true, None),
        Some(value) => (false, Some(number::whole(value)?)),
        None => (false, None),
    };
    if partition.is_none() && may_be_snap(kind) {
        partition = detail.optional(b"snap_partition")?;
        snap = partition.is_some();
    }
    let t_us = detail.optional(b"t_us")?;
    if t_us.is_none() && !kind.is_own() {
        return None;
    }
    let what = match kind {
        EventKind::TraceStart => trace_start(detail)?,
        EventKind::TraceEnd => trace_end(detail)?,
        EventKind::ProofOk => What::ProofOk { all },
        EventKind::ProofBad => What::ProofBad { all },
        EventKind::SynthStart | EventKind::SynthEnd | EventKind::ChanSend => {
            synthesis(kind, snap, detail)?
        }
        EventKind::VramAlloc | EventKind::VramFree => memory(kind, detail)?,
        EventKind::Launch => launch(detail)?,
        EventKind::Sync | EventKind::EventRecord | EventKind::StreamWait => order(kind, detail)?,
        _ => plain(kind, detail)?,
    };
    let place = Place {
        gpu,
        worker,
        partition,
    };
    Some(Event {
        ms,
        t_us,
        job: text::unescape(job),
        place,
        what,
    })
}

/// An unknown event with our common keys in front: they are taken, the rest is kept as written.
pub(super) fn unknown<'a>(name: &'a [u8], ms: u64, rest: &'a [u8]) -> Option<Event<'a>> {
    let (job, all) = split_job(rest)?;
    let mut detail = Detail {
        all,
        next: all,
        search: false,
    };
    let gpu = detail.optional(b"gpu")?;
    let worker = detail.optional(b"worker")?;
    let partition = detail.optional(b"partition")?;
    let t_us = Some(detail.optional(b"t_us")??);
    let what = What::Other {
        name: text::lossy(name),
        detail: text::lossy(detail.next),
    };
    let place = Place {
        gpu,
        worker,
        partition,
    };
    Some(Event {
        ms,
        t_us,
        job: text::unescape(job),
        place,
        what,
    })
}

const fn may_be_snap(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::SynthStart | EventKind::SynthEnd | EventKind::ChanSend
    )
}

fn split_job(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let comma = memchr::memchr(b',', rest)?;
    let (job, detail) = rest.split_at_checked(comma)?;
    Some((job, detail.get(1..)?))
}

/// The pairs of a detail, read by key.
struct Detail<'a> {
    all: &'a [u8],
    /// What the keys asked for so far have left, as long as they came in order.
    next: &'a [u8],
    /// Whether a key that is not next is looked for everywhere.
    search: bool,
}

impl<'a> Detail<'a> {
    /// The raw value of a key.
    #[inline]
    fn raw(&mut self, key: &[u8]) -> Option<&'a [u8]> {
        if let Some(value) = value_of(self.next, key) {
            let end = memchr::memchr(b',', value).unwrap_or(value.len());
            let (value, rest) = value.split_at_checked(end)?;
            self.next = rest.get(1..).unwrap_or_default();
            return Some(value);
        }
        if !self.search {
            return None;
        }
        self.pairs()
            .find_map(|(name, value)| (name == key).then_some(value))
    }

    /// All pairs; a bare word has an empty value.
    fn pairs(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        self.all.split(|byte| *byte == b',').map(|pair| {
            let end = memchr::memchr(b'=', pair).unwrap_or(pair.len());
            let (key, value) = pair.split_at(end);
            (key, value.get(1..).unwrap_or_default())
        })
    }

    /// A number that may be missing. The outer option is none for a bad number.
    #[expect(
        clippy::option_option,
        reason = "bad and missing are different answers"
    )]
    #[inline]
    fn optional<T: TryFrom<u64>>(&mut self, key: &[u8]) -> Option<Option<T>> {
        match self.raw(key) {
            Some(value) => number::whole(value).map(Some),
            None => Some(None),
        }
    }

    #[inline]
    fn number<T: TryFrom<u64>>(&mut self, key: &[u8]) -> Option<T> {
        number::whole(self.raw(key)?)
    }

    /// A result code.
    #[inline]
    fn rc(&mut self) -> Option<i32> {
        number::signed(self.raw(b"rc")?)
    }

    #[inline]
    fn text(&mut self, key: &[u8]) -> Option<Cow<'a, str>> {
        self.raw(key).map(text::unescape)
    }

    #[expect(
        clippy::option_option,
        reason = "bad and missing are different answers"
    )]
    #[inline]
    fn stream(&mut self) -> Option<Option<Stream>> {
        match self.raw(b"stream") {
            None => Some(None),
            Some(b"legacy") => Some(Some(Stream::Legacy)),
            Some(value) => number::whole(value).map(|id| Some(Stream::Id(id))),
        }
    }

    /// Ids joined by `+`; an empty value is an empty list.
    fn ids(&mut self, key: &[u8]) -> Option<Vec<u64>> {
        match self.raw(key)? {
            [] => Some(Vec::new()),
            value => value
                .split(|byte| *byte == b'+')
                .map(number::whole)
                .collect(),
        }
    }
}

/// What follows `<key>=` at the front.
#[inline]
fn value_of<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    text.strip_prefix(key)?.strip_prefix(b"=")
}

fn trace_start<'a>(detail: &mut Detail<'a>) -> Option<What<'a>> {
    let mut start = TraceStart {
        version: detail.number(b"version")?,
        run: detail.text(b"run")?,
        epoch_unix_us: detail.number(b"epoch_unix_us")?,
        build: detail.text(b"build")?,
        device: detail.text(b"device")?,
        vram_total: detail.number(b"vram_total")?,
        vram_free: detail.number(b"vram_free")?,
        config: Vec::new(),
    };
    let mut known = BTreeSet::new();
    for (key, value) in detail.pairs() {
        if let Some(key) = key.strip_prefix(b"cfg.").filter(|key| known.insert(*key)) {
            start
                .config
                .push((text::unescape(key), text::unescape(value)));
        }
    }
    Some(What::TraceStart(Box::new(start)))
}

/// Counts by kind, of a key that is there again the first. Kinds that this version does not know
/// are counted together.
fn trace_end<'a>(detail: &Detail<'a>) -> Option<What<'a>> {
    let mut counts = Vec::new();
    let mut others: Option<u64> = None;
    let mut known = BTreeSet::new();
    for (key, value) in detail.pairs() {
        if matches!(key, b"" | b"t_us" | b"gpu" | b"worker" | b"partition") {
            continue;
        }
        let count = number::whole(value)?;
        if !known.insert(key) {
            continue;
        }
        match EventKind::from_name(key) {
            Some(kind) => counts.push((kind, count)),
            None => others = Some(others.unwrap_or(0).checked_add(count)?),
        }
    }
    counts.extend(others.map(|count| (EventKind::Other, count)));
    Some(What::TraceEnd { counts })
}

fn synthesis<'a>(kind: EventKind, snap: bool, detail: &mut Detail<'a>) -> Option<What<'a>> {
    Some(match kind {
        EventKind::SynthStart => What::SynthStart {
            kind: detail.text(b"kind"),
            snap,
        },
        EventKind::SynthEnd => What::SynthEnd {
            synth_ms: detail.optional(b"synth_ms")?,
            snap,
        },
        _ => What::ChanSend { snap },
    })
}

fn memory<'a>(kind: EventKind, detail: &mut Detail<'a>) -> Option<What<'a>> {
    let id = detail.number(b"id")?;
    let buf = detail.text(b"buf")?;
    let bytes = detail.number(b"bytes")?;
    let api = detail.text(b"api")?;
    let stream = detail.stream()?;
    let rc = detail.rc()?;
    Some(if kind == EventKind::VramAlloc {
        What::VramAlloc(Alloc {
            id,
            buf,
            bytes,
            api,
            stream,
            rc,
        })
    } else {
        What::VramFree {
            id,
            buf,
            bytes,
            api,
            stream,
            rc,
        }
    })
}

fn launch<'a>(detail: &mut Detail<'a>) -> Option<What<'a>> {
    Some(What::Launch {
        op: detail.text(b"op")?,
        phase: detail.text(b"phase")?,
        stream: detail.stream()??,
        reads: detail.ids(b"reads")?,
        writes: detail.ids(b"writes")?,
        rc: detail.rc()?,
    })
}

fn order<'a>(kind: EventKind, detail: &mut Detail<'a>) -> Option<What<'a>> {
    if kind == EventKind::Sync {
        return Some(What::Sync {
            scope: detail.text(b"scope")?,
            stream: detail.stream()?,
            event: detail.optional(b"event")?,
            rc: detail.rc()?,
        });
    }
    let event = detail.number(b"event")?;
    let stream = detail.stream()??;
    let rc = detail.rc()?;
    Some(if kind == EventKind::EventRecord {
        What::EventRecord { event, stream, rc }
    } else {
        What::StreamWait { event, stream, rc }
    })
}

fn plain<'a>(kind: EventKind, detail: &mut Detail<'a>) -> Option<What<'a>> {
    Some(match kind {
        EventKind::JobSubmit => What::JobSubmit {
            kind: detail.text(b"kind")?,
            partitions: detail.number(b"partitions")?,
        },
        EventKind::JobEnd => What::JobEnd {
            status: detail.text(b"status")?,
            error: detail.text(b"error"),
        },
        EventKind::GpuQueue => What::GpuQueue {
            monolithic: detail.pairs().any(|(key, _)| key == b"monolithic"),
        },
        EventKind::GpuPickup => What::GpuPickup,
        EventKind::GpuStart => What::GpuStart,
        EventKind::GpuEnd => What::GpuEnd {
            gpu_ms: detail.optional(b"gpu_ms")?,
        },
        EventKind::PartitionFailed => What::PartitionFailed {
            error: detail.text(b"error")?,
        },
        EventKind::LockWait => What::LockWait {
            lock: detail.text(b"lock")?,
        },
        EventKind::LockAcq => What::LockAcq {
            lock: detail.text(b"lock")?,
        },
        EventKind::LockRel => What::LockRel {
            lock: detail.text(b"lock")?,
        },
        EventKind::HostReg => What::HostReg {
            addr: detail.number(b"addr")?,
            bytes: detail.number(b"bytes")?,
            rc: detail.rc()?,
        },
        EventKind::HostUnreg => What::HostUnreg {
            addr: detail.number(b"addr")?,
            rc: detail.rc()?,
        },
        EventKind::PoolTrim => What::PoolTrim {
            keep: detail.number(b"keep")?,
            rc: detail.rc()?,
        },
        EventKind::MemInfo => What::MemInfo {
            free: detail.number(b"free")?,
            total: detail.number(b"total")?,
        },
        EventKind::PlanFallback => What::PlanFallback {
            id: detail.number(b"id")?,
            free: detail.number(b"free")?,
            need: detail.number(b"need")?,
            plan: detail.text(b"plan")?,
        },
        _ => return None,
    })
}
