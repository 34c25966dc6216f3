//! The details of the old dialects, read from the right: the closed set of shapes that one
//! format string has printed in all versions.
//!
//! This is the hot path of a log of events. It is written over bytes, gives back small values,
//! and leaves it to the caller to build the event once.

#![expect(
    clippy::inline_always,
    reason = "a call gives a split back through memory, and it is read in other pieces than written"
)]

use super::number;
use crate::event::{EventKind, Place, What};
use crate::grammar::text;

/// One line's job id and detail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split<'a> {
    /// The job id; never empty, since the old engine made one up for that.
    pub(super) job: &'a [u8],
    pub(super) worker: Option<u32>,
    pub(super) partition: Option<u32>,
    step: Step,
    /// How long it took, milliseconds; 0 where no such thing is said.
    ms: u64,
    /// `kind=<word>`
    kind: Option<&'a [u8]>,
}

/// An event of the old dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    SynthStart,
    SynthStartSnap,
    SynthEnd,
    SynthEndSnap,
    ChanSend,
    ChanSendSnap,
    GpuQueue,
    GpuQueueMonolithic,
    GpuPickup,
    GpuStart,
    GpuEnd,
}

impl Step {
    /// Its kind.
    #[inline]
    pub(super) const fn kind(self) -> EventKind {
        match self {
            Self::SynthStart | Self::SynthStartSnap => EventKind::SynthStart,
            Self::SynthEnd | Self::SynthEndSnap => EventKind::SynthEnd,
            Self::ChanSend | Self::ChanSendSnap => EventKind::ChanSend,
            Self::GpuQueue | Self::GpuQueueMonolithic => EventKind::GpuQueue,
            Self::GpuPickup => EventKind::GpuPickup,
            Self::GpuStart => EventKind::GpuStart,
            Self::GpuEnd => EventKind::GpuEnd,
        }
    }

    /// What happened, and how long it took.
    #[inline]
    pub(super) const fn what<'a>(self, ms: u64) -> What<'a> {
        match self {
            Self::SynthStart => What::SynthStart {
                kind: None,
                snap: false,
            },
            Self::SynthStartSnap => What::SynthStart {
                kind: None,
                snap: true,
            },
            Self::SynthEnd => What::SynthEnd {
                synth_ms: Some(ms),
                snap: false,
            },
            Self::SynthEndSnap => What::SynthEnd {
                synth_ms: Some(ms),
                snap: true,
            },
            Self::ChanSend => What::ChanSend { snap: false },
            Self::ChanSendSnap => What::ChanSend { snap: true },
            Self::GpuQueue => What::GpuQueue { monolithic: false },
            Self::GpuQueueMonolithic => What::GpuQueue { monolithic: true },
            Self::GpuPickup => What::GpuPickup,
            Self::GpuStart => What::GpuStart,
            Self::GpuEnd => What::GpuEnd { gpu_ms: Some(ms) },
        }
    }
}

impl<'a> Split<'a> {
    /// The event and how long it took, if it holds no text and no number that is too large.
    #[inline(always)]
    pub(super) fn plain(&self) -> Option<(Step, u32)> {
        let ms = u32::try_from(self.ms).ok()?;
        self.kind.is_none().then_some((self.step, ms))
    }

    /// What happened.
    #[inline]
    pub(super) fn what(&self) -> What<'a> {
        match self.kind {
            None => self.step.what(self.ms),
            Some(kind) => What::SynthStart {
                kind: Some(text::lossy(kind)),
                snap: false,
            },
        }
    }

    /// Where it happened.
    #[inline]
    pub(super) const fn place(&self) -> Place {
        Place {
            gpu: None,
            worker: self.worker,
            partition: self.partition,
        }
    }
}

/// Splits `<event>,<job>,<detail>`; none if the event is not one of the old dialects or no suffix
/// is one of its details.
#[inline(always)]
pub(super) fn split(text: &[u8]) -> Option<Split<'_>> {
    let split = if let Some(rest) = text.strip_prefix(b"GPU_") {
        if let Some(rest) = rest.strip_prefix(b"PICKUP,") {
            worker(rest, Step::GpuPickup, 0)
        } else if let Some(rest) = rest.strip_prefix(b"START,") {
            worker(rest, Step::GpuStart, 0)
        } else if let Some(rest) = rest.strip_prefix(b"END,") {
            let (rest, ms) = field(rest, b",gpu_ms=")?;
            worker(rest, Step::GpuEnd, ms)
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
#[inline(always)]
fn worker(rest: &[u8], step: Step, ms: u64) -> Option<Split<'_>> {
    let (head, last) = number::back(rest)?;
    let last = u32::try_from(last).ok()?;
    let both = head
        .strip_suffix(b",partition=")
        .and_then(|head| field(head, b",worker="));
    let (job, worker, partition) = match both {
        Some((job, worker)) => (job, worker, Some(last)),
        None => (head.strip_suffix(b",worker=")?, last, None),
    };
    Some(Split {
        worker: Some(worker),
        ..of_partition(job, partition, step, ms)
    })
}

/// `partition=<n>`, `snap_partition=<n>` or `kind=<word>`
#[inline(always)]
fn synth_start(rest: &[u8]) -> Option<Split<'_>> {
    if let Some((job, partition, snap)) = any_partition(rest) {
        let step = if snap {
            Step::SynthStartSnap
        } else {
            Step::SynthStart
        };
        return Some(of_partition(job, Some(partition), step, 0));
    }
    let comma = memchr::memrchr(b',', rest)?;
    let (job, kind) = rest.split_at_checked(comma)?;
    let kind = kind.strip_prefix(b",kind=")?;
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let whole = !kind.is_empty() && kind.iter().all(word);
    whole.then_some(Split {
        kind: Some(kind),
        ..of_partition(job, None, Step::SynthStart, 0)
    })
}

/// `synth_ms=<m>`, alone or behind one of the partition forms
#[inline(always)]
fn synth_end(rest: &[u8]) -> Option<Split<'_>> {
    let (rest, ms) = field(rest, b",synth_ms=")?;
    Some(match any_partition(rest) {
        Some((job, partition, snap)) => {
            let step = if snap {
                Step::SynthEndSnap
            } else {
                Step::SynthEnd
            };
            of_partition(job, Some(partition), step, ms)
        }
        None => of_partition(rest, None, Step::SynthEnd, ms),
    })
}

/// Nothing, or one of the partition forms
#[inline(always)]
fn chan_send(rest: &[u8]) -> Option<Split<'_>> {
    Some(match any_partition(rest) {
        Some((job, partition, true)) => of_partition(job, Some(partition), Step::ChanSendSnap, 0),
        Some((job, partition, false)) => of_partition(job, Some(partition), Step::ChanSend, 0),
        None => of_partition(rest.strip_suffix(b",")?, None, Step::ChanSend, 0),
    })
}

/// `partition=<n>` or the bare word `monolithic`
#[inline(always)]
fn gpu_queue(rest: &[u8]) -> Option<Split<'_>> {
    if let Some((job, partition)) = field(rest, b",partition=") {
        return Some(of_partition(job, Some(partition), Step::GpuQueue, 0));
    }
    let job = rest.strip_suffix(b",monolithic")?;
    Some(of_partition(job, None, Step::GpuQueueMonolithic, 0))
}

#[inline(always)]
const fn of_partition(job: &[u8], partition: Option<u32>, step: Step, ms: u64) -> Split<'_> {
    Split {
        job,
        worker: None,
        partition,
        step,
        ms,
        kind: None,
    }
}

/// Either of the two names of a partition, and whether it was the Snap one.
#[inline(always)]
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
#[inline(always)]
fn field<'a, T: TryFrom<u64>>(rest: &'a [u8], key: &[u8]) -> Option<(&'a [u8], T)> {
    let (rest, value) = number::back(rest)?;
    Some((rest.strip_suffix(key)?, T::try_from(value).ok()?))
}
