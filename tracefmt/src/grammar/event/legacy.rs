//! The details of the old dialects, read from the right: the closed set of shapes that one
//! format string has printed in all versions.
//!
//! This is the hot path of a log of events. It is written over bytes, gives back small values,
//! and leaves it to the caller to build the event once.

use super::number;
use crate::event::{EventKind, Place, What};
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
    /// `kind=<word>`
    SynthStartKind(&'a [u8]),
    /// All others.
    Plain(Step),
}

/// An event of the old dialects that holds no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    SynthStart,
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

/// Worker and partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlainPlace {
    worker: Option<u32>,
    partition: Option<u32>,
}

impl PlainPlace {
    #[inline]
    pub(super) fn place(self) -> Place {
        Place {
            gpu: None,
            worker: self.worker,
            partition: self.partition,
        }
    }
}

impl Step {
    /// Its kind.
    #[inline]
    pub(super) const fn kind(self) -> EventKind {
        match self {
            Self::SynthStart | Self::SynthStartSnap => EventKind::SynthStart,
            Self::SynthEnd(_) | Self::SynthEndSnap(_) => EventKind::SynthEnd,
            Self::ChanSend | Self::ChanSendSnap => EventKind::ChanSend,
            Self::GpuQueue | Self::GpuQueueMonolithic => EventKind::GpuQueue,
            Self::GpuPickup => EventKind::GpuPickup,
            Self::GpuStart => EventKind::GpuStart,
            Self::GpuEnd(_) => EventKind::GpuEnd,
        }
    }

    /// What happened.
    #[inline]
    pub(super) fn what<'a>(self) -> What<'a> {
        match self {
            Self::SynthStart => What::SynthStart {
                kind: None,
                snap: false,
            },
            Self::SynthStartSnap => What::SynthStart {
                kind: None,
                snap: true,
            },
            Self::SynthEnd(ms) => What::SynthEnd {
                synth_ms: Some(ms),
                snap: false,
            },
            Self::SynthEndSnap(ms) => What::SynthEnd {
                synth_ms: Some(ms),
                snap: true,
            },
            Self::ChanSend => What::ChanSend { snap: false },
            Self::ChanSendSnap => What::ChanSend { snap: true },
            Self::GpuQueue => What::GpuQueue { monolithic: false },
            Self::GpuQueueMonolithic => What::GpuQueue { monolithic: true },
            Self::GpuPickup => What::GpuPickup,
            Self::GpuStart => What::GpuStart,
            Self::GpuEnd(ms) => What::GpuEnd { gpu_ms: Some(ms) },
        }
    }
}

impl<'a> Split<'a> {
    /// Worker and partition.
    #[inline]
    pub(super) fn plain_place(&self) -> PlainPlace {
        PlainPlace {
            worker: self.worker,
            partition: self.partition,
        }
    }

    /// The event, if it holds no text.
    #[inline]
    pub(super) fn step(&self) -> Option<Step> {
        match self.detail {
            Detail::Plain(step) => Some(step),
            Detail::SynthStartKind(_) => None,
        }
    }

    /// What happened.
    #[inline]
    pub(super) fn what(&self) -> What<'a> {
        match self.detail {
            Detail::Plain(step) => step.what(),
            Detail::SynthStartKind(kind) => What::SynthStart {
                kind: Some(text::lossy(kind)),
                snap: false,
            },
        }
    }
}

/// Splits `<event>,<job>,<detail>`; none if the event is not one of the old dialects or no suffix
/// is one of its details.
#[inline]
pub(super) fn split(text: &[u8]) -> Option<Split<'_>> {
    let split = if let Some(rest) = text.strip_prefix(b"GPU_") {
        if let Some(rest) = rest.strip_prefix(b"PICKUP,") {
            worker(rest, Step::GpuPickup)
        } else if let Some(rest) = rest.strip_prefix(b"START,") {
            worker(rest, Step::GpuStart)
        } else if let Some(rest) = rest.strip_prefix(b"END,") {
            let (rest, ms) = field(rest, b",gpu_ms=")?;
            worker(rest, Step::GpuEnd(ms))
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
fn worker(rest: &[u8], step: Step) -> Option<Split<'_>> {
    let detail = Detail::Plain(step);
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
        let step = if snap {
            Step::SynthStartSnap
        } else {
            Step::SynthStart
        };
        return Some(of_partition(job, Some(partition), step));
    }
    let comma = memchr::memrchr(b',', rest)?;
    let (job, kind) = rest.split_at_checked(comma)?;
    let kind = kind.strip_prefix(b",kind=")?;
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let whole = !kind.is_empty() && kind.iter().all(word);
    whole.then_some(Split {
        job,
        worker: None,
        partition: None,
        detail: Detail::SynthStartKind(kind),
    })
}

/// `synth_ms=<m>`, alone or behind one of the partition forms
#[inline]
fn synth_end(rest: &[u8]) -> Option<Split<'_>> {
    let (rest, ms) = field(rest, b",synth_ms=")?;
    Some(match any_partition(rest) {
        Some((job, partition, true)) => of_partition(job, Some(partition), Step::SynthEndSnap(ms)),
        Some((job, partition, false)) => of_partition(job, Some(partition), Step::SynthEnd(ms)),
        None => of_partition(rest, None, Step::SynthEnd(ms)),
    })
}

/// Nothing, or one of the partition forms
#[inline]
fn chan_send(rest: &[u8]) -> Option<Split<'_>> {
    Some(match any_partition(rest) {
        Some((job, partition, true)) => of_partition(job, Some(partition), Step::ChanSendSnap),
        Some((job, partition, false)) => of_partition(job, Some(partition), Step::ChanSend),
        None => of_partition(rest.strip_suffix(b",")?, None, Step::ChanSend),
    })
}

/// `partition=<n>` or the bare word `monolithic`
#[inline]
fn gpu_queue(rest: &[u8]) -> Option<Split<'_>> {
    if let Some((job, partition)) = field(rest, b",partition=") {
        return Some(of_partition(job, Some(partition), Step::GpuQueue));
    }
    let job = rest.strip_suffix(b",monolithic")?;
    Some(of_partition(job, None, Step::GpuQueueMonolithic))
}

#[inline]
const fn of_partition(job: &[u8], partition: Option<u32>, step: Step) -> Split<'_> {
    Split {
        job,
        worker: None,
        partition,
        detail: Detail::Plain(step),
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
