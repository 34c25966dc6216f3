//! The details of the old dialects, read from the right: the closed set of shapes that one
//! format string has printed in all versions.

use super::number;
use crate::event::{Place, What};
use crate::grammar::text;

/// What a line says behind its job id.
type Split<'a> = (&'a [u8], Place, What<'a>);

/// Splits `<job>,<detail>` for an event of the old dialects; none if the name is not theirs or
/// no suffix is one of its details. The job id is never empty: the old engine made one up then.
#[inline]
pub(super) fn split<'a>(name: &[u8], rest: &'a [u8]) -> Option<Split<'a>> {
    let found = match name {
        b"GPU_PICKUP" => worker(rest, What::GpuPickup),
        b"GPU_START" => worker(rest, What::GpuStart),
        b"GPU_END" => gpu_end(rest),
        b"SYNTH_START" => synth_start(rest),
        b"SYNTH_END" => synth_end(rest),
        b"CHAN_SEND" => chan_send(rest),
        b"GPU_QUEUE" => gpu_queue(rest),
        _ => None,
    };
    found.filter(|(job, ..)| !job.is_empty())
}

/// `worker=<w>` or `worker=<w>,partition=<n>`
#[inline]
fn worker<'a>(rest: &'a [u8], what: What<'a>) -> Option<Split<'a>> {
    let (rest, partition) = optional(rest, b",partition=");
    let (job, worker) = field(rest, b",worker=")?;
    Some((job, place(Some(worker), partition), what))
}

/// `worker=<w>,gpu_ms=<m>` or `worker=<w>,partition=<n>,gpu_ms=<m>`
#[inline]
fn gpu_end(rest: &[u8]) -> Option<Split<'_>> {
    let (rest, gpu_ms) = field(rest, b",gpu_ms=")?;
    worker(
        rest,
        What::GpuEnd {
            gpu_ms: Some(gpu_ms),
        },
    )
}

/// `partition=<n>`, `snap_partition=<n>` or `kind=<word>`
#[inline]
fn synth_start(rest: &[u8]) -> Option<Split<'_>> {
    if let Some((job, partition, snap)) = any_partition(rest) {
        let what = What::SynthStart { kind: None, snap };
        return Some((job, place(None, Some(partition)), what));
    }
    let comma = memchr::memrchr(b',', rest)?;
    let (job, kind) = rest.split_at_checked(comma)?;
    let kind = kind.strip_prefix(b",kind=")?;
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    if kind.is_empty() || !kind.iter().all(word) {
        return None;
    }
    let kind = Some(text::lossy(kind));
    Some((
        job,
        Place::default(),
        What::SynthStart { kind, snap: false },
    ))
}

/// `synth_ms=<m>`, alone or behind one of the partition forms
#[inline]
fn synth_end(rest: &[u8]) -> Option<Split<'_>> {
    let (rest, synth_ms) = field(rest, b",synth_ms=")?;
    let synth_ms = Some(synth_ms);
    let (job, partition, snap) = match any_partition(rest) {
        Some((job, partition, snap)) => (job, Some(partition), snap),
        None => (rest, None, false),
    };
    Some((
        job,
        place(None, partition),
        What::SynthEnd { synth_ms, snap },
    ))
}

/// Nothing, or one of the partition forms
#[inline]
fn chan_send(rest: &[u8]) -> Option<Split<'_>> {
    if let Some((job, partition, snap)) = any_partition(rest) {
        return Some((job, place(None, Some(partition)), What::ChanSend { snap }));
    }
    let job = rest.strip_suffix(b",")?;
    Some((job, Place::default(), What::ChanSend { snap: false }))
}

/// `partition=<n>` or the bare word `monolithic`
#[inline]
fn gpu_queue(rest: &[u8]) -> Option<Split<'_>> {
    if let Some((job, partition)) = field(rest, b",partition=") {
        let what = What::GpuQueue { monolithic: false };
        return Some((job, place(None, Some(partition)), what));
    }
    let job = rest.strip_suffix(b",monolithic")?;
    let what = What::GpuQueue { monolithic: true };
    Some((job, Place::default(), what))
}

/// Either of the two names of a partition, and whether it was the Snap one.
#[inline]
fn any_partition(rest: &[u8]) -> Option<(&[u8], u32, bool)> {
    let (rest, value) = number::back(rest)?;
    let partition = u32::try_from(value).ok()?;
    if let Some(job) = rest.strip_suffix(b",partition=") {
        return Some((job, partition, false));
    }
    let job = rest.strip_suffix(b",snap_partition=")?;
    Some((job, partition, true))
}

#[inline]
fn optional<'a>(rest: &'a [u8], key: &[u8]) -> (&'a [u8], Option<u32>) {
    match field(rest, key) {
        Some((head, value)) => (head, Some(value)),
        None => (rest, None),
    }
}

/// `<key><number>` at the end.
#[inline]
fn field<'a, T: TryFrom<u64>>(rest: &'a [u8], key: &[u8]) -> Option<(&'a [u8], T)> {
    let (rest, value) = number::back(rest)?;
    Some((rest.strip_suffix(key)?, T::try_from(value).ok()?))
}

#[inline]
fn place(worker: Option<u32>, partition: Option<u32>) -> Place {
    Place {
        gpu: None,
        worker,
        partition,
    }
}
