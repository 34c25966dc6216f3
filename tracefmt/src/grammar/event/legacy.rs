//! The details of the old dialects, read from the right: the closed set of shapes that one
//! format string has printed in all versions.
//!
//! This is the hot path of a log of events. It is written over bytes, gives back small values,
//! and leaves it to the caller to build the event once.

use super::number;
use crate::event::{Place, What};
use crate::grammar::text;

/// One line's job id and detail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split<'a> {
    /// The job id; never empty, since the old engine made one up for that.
    pub(super) job: &'a [u8],
    worker: Option<u32>,
    partition: Option<u32>,
    detail: Detail<'a>,
}

/// An event of the old dialects with its own fields.
#[derive(Clone, Copy, Debug)]
enum Detail<'a> {
    SynthStart(Option<&'a [u8]>),
    SynthStartSnap,
    SynthEnd(u64),
    SynthEndSnap(u64),
    ChanSend,
    ChanSendSnap,
    GpuQueue,
    GpuQueueMonolithic,
    GpuPickup,
    GpuStart,
    GpuEnd(u64),
}

impl<'a> Split<'a> {
    /// Where it happened.
    #[inline]
    pub(super) fn place(&self) -> Place {
        Place {
            gpu: None,
            worker: self.worker,
            partition: self.partition,
        }
    }

    /// What happened.
    #[inline]
    pub(super) fn what(&self) -> What<'a> {
        match self.detail {
            Detail::SynthStart(kind) => What::SynthStart {
                kind: kind.map(text::lossy),
                snap: false,
            },
            Detail::SynthStartSnap => What::SynthStart {
                kind: None,
                snap: true,
            },
            Detail::SynthEnd(ms) => What::SynthEnd {
                synth_ms: Some(ms),
                snap: false,
            },
            Detail::SynthEndSnap(ms) => What::SynthEnd {
                synth_ms: Some(ms),
                snap: true,
            },
            Detail::ChanSend => What::ChanSend { snap: false },
            Detail::ChanSendSnap => What::ChanSend { snap: true },
            Detail::GpuQueue => What::GpuQueue { monolithic: false },
            Detail::GpuQueueMonolithic => What::GpuQueue { monolithic: true },
            Detail::GpuPickup => What::GpuPickup,
            Detail::GpuStart => What::GpuStart,
            Detail::GpuEnd(ms) => What::GpuEnd { gpu_ms: Some(ms) },
        }
    }
}

/// Splits `<event>,<job>,<detail>`; none if the event is not one of the old dialects or no suffix
/// is one of its details.
#[inline]
pub(super) fn split(text: &[u8]) -> Option<Split<'_>> {
    let split = if let Some(rest) = text.strip_prefix(b"GPU_") {
        if let Some(rest) = rest.strip_prefix(b"PICKUP,") {
            worker(rest, Detail::GpuPickup)
        } else if let Some(rest) = rest.strip_prefix(b"START,") {
            worker(rest, Detail::GpuStart)
        } else if let Some(rest) = rest.strip_prefix(b"END,") {
            let (rest, ms) = field(rest, b",gpu_ms=")?;
            worker(rest, Detail::GpuEnd(ms))
        } else {
            gpu_queue(rest.strip_prefix(b"QUEUE,")?)
        }
    } else if let Some(rest) = text.strip_prefix(b"SYNTH_") {
        match rest.strip_prefix(b"START,") {
            Some(rest) => synth_start(rest),
            None => synth_end(rest.strip_prefix(b"END,")?),
        }
    } else {
        chan_send(text.strip_prefix(b"CHAN_SEND,")?)
    }?;
    (!split.job.is_empty()).then_some(split)
}

/// `worker=<w>` or `worker=<w>,partition=<n>`
#[inline]
fn worker<'a>(rest: &'a [u8], detail: Detail<'a>) -> Option<Split<'a>> {
    let (head, last) = number::back(rest)?;
    let last = u32::try_from(last).ok()?;
    if let Some((job, worker)) = head
        .strip_suffix(b",partition=")
        .and_then(|head| field(head, b",worker="))
    {
        let (worker, partition) = (Some(worker), Some(last));
        return Some(Split {
            job,
            worker,
            partition,
            detail,
        });
    }
    let job = head.strip_suffix(b",worker=")?;
    Some(Split {
        job,
        worker: Some(last),
        partition: None,
        detail,
    })
}

/// `partition=<n>`, `snap_partition=<n>` or `kind=<word>`
#[inline]
fn synth_start(rest: &[u8]) -> Option<Split<'_>> {
    if let Some((job, partition, snap)) = any_partition(rest) {
        let detail = if snap {
            Detail::SynthStartSnap
        } else {
            Detail::SynthStart(None)
        };
        return Some(of_partition(job, Some(partition), detail));
    }
    let comma = memchr::memrchr(b',', rest)?;
    let (job, kind) = rest.split_at_checked(comma)?;
    let kind = kind.strip_prefix(b",kind=")?;
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let whole = !kind.is_empty() && kind.iter().all(word);
    whole.then(|| of_partition(job, None, Detail::SynthStart(Some(kind))))
}

/// `synth_ms=<m>`, alone or behind one of the partition forms
#[inline]
fn synth_end(rest: &[u8]) -> Option<Split<'_>> {
    let (rest, ms) = field(rest, b",synth_ms=")?;
    Some(match any_partition(rest) {
        Some((job, partition, true)) => {
            of_partition(job, Some(partition), Detail::SynthEndSnap(ms))
        }
        Some((job, partition, false)) => of_partition(job, Some(partition), Detail::SynthEnd(ms)),
        None => of_partition(rest, None, Detail::SynthEnd(ms)),
    })
}

/// Nothing, or one of the partition forms
#[inline]
fn chan_send(rest: &[u8]) -> Option<Split<'_>> {
    Some(match any_partition(rest) {
        Some((job, partition, true)) => of_partition(job, Some(partition), Detail::ChanSendSnap),
        Some((job, partition, false)) => of_partition(job, Some(partition), Detail::ChanSend),
        None => of_partition(rest.strip_suffix(b",")?, None, Detail::ChanSend),
    })
}

/// `partition=<n>` or the bare word `monolithic`
#[inline]
fn gpu_queue(rest: &[u8]) -> Option<Split<'_>> {
    if let Some((job, partition)) = field(rest, b",partition=") {
        return Some(of_partition(job, Some(partition), Detail::GpuQueue));
    }
    let job = rest.strip_suffix(b",monolithic")?;
    Some(of_partition(job, None, Detail::GpuQueueMonolithic))
}

#[inline]
const fn of_partition<'a>(job: &'a [u8], partition: Option<u32>, detail: Detail<'a>) -> Split<'a> {
    Split {
        job,
        worker: None,
        partition,
        detail,
    }
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

/// `<key><number>` at the end.
#[inline]
fn field<'a, T: TryFrom<u64>>(rest: &'a [u8], key: &[u8]) -> Option<(&'a [u8], T)> {
    let (rest, value) = number::back(rest)?;
    Some((rest.strip_suffix(key)?, T::try_from(value).ok()?))
}
