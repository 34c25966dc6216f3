//! The names of the events: one list, from which parser, writer, counts and documentation come.

use std::fmt;

use super::{Event, What};

macro_rules! kinds {
    ($($variant:ident => $name:literal, $own:literal, $meaning:literal;)+) => {
        /// The kind of an event, without its fields.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum EventKind {
            $(#[doc = $meaning] $variant,)+
            /// A kind that this version does not know.
            Other,
        }

        impl EventKind {
            /// Every known kind, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in field 3.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Other => "OTHER",
                }
            }

            /// Whether only our own traces have it.
            pub const fn is_own(self) -> bool {
                match self {
                    $(Self::$variant => $own,)+
                    Self::Other => false,
                }
            }

            /// What it means, in a sentence.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                    Self::Other => "A kind that this version does not know.",
                }
            }

            /// The kind of a name, if it is known.
            pub fn from_name(name: &[u8]) -> Option<Self> {
                $(if name == $name.as_bytes() { return Some(Self::$variant); })+
                None
            }
        }
    };
}

kinds! {
    TraceStart => "TRACE_START", true, "First line: format version, run, build, device, configuration.";
    JobSubmit => "JOB_SUBMIT", true, "A job was accepted.";
    SynthStart => "SYNTH_START", false, "Synthesis began.";
    SynthEnd => "SYNTH_END", false, "Synthesis succeeded.";
    ChanSend => "CHAN_SEND", false, "About to send to the bounded GPU channel.";
    GpuQueue => "GPU_QUEUE", false, "About to enter the GPU priority queue.";
    GpuPickup => "GPU_PICKUP", false, "A GPU worker took it, before the check for a failed job.";
    GpuStart => "GPU_START", false, "The worker is about to prove.";
    GpuEnd => "GPU_END", false, "The prove call came back with success.";
    PartitionFailed => "PARTITION_FAILED", true, "A partition failed with its own reason.";
    LockWait => "LOCK_WAIT", true, "A worker asks for a lock.";
    LockAcq => "LOCK_ACQ", true, "A worker has a lock.";
    LockRel => "LOCK_REL", true, "A worker gave a lock back.";
    VramAlloc => "VRAM_ALLOC", true, "Device memory was asked for; rc says whether it was given.";
    VramFree => "VRAM_FREE", true, "Device memory was given back.";
    HostReg => "HOST_REG", true, "A host range was pinned.";
    HostUnreg => "HOST_UNREG", true, "A host range was unpinned.";
    Launch => "LAUNCH", true, "A kernel or copy was put on a stream.";
    EventRecord => "EVENT_RECORD", true, "An event was recorded on a stream.";
    StreamWait => "STREAM_WAIT", true, "A stream was made to wait for an event.";
    Sync => "SYNC", true, "The host waited for a stream, an event or the device.";
    PoolTrim => "POOL_TRIM", true, "The pool was told to give idle pages back.";
    MemInfo => "MEM_INFO", true, "Free and total device memory as the driver says.";
    PlanFallback => "PLAN_FALLBACK", true, "An allocation failed; its partition begins anew with a smaller plan.";
    ProofOk => "PROOF_OK", true, "A proof was verified.";
    ProofBad => "PROOF_BAD", true, "A proof was checked and does not hold.";
    JobEnd => "JOB_END", true, "A job came to its end.";
    TraceEnd => "TRACE_END", true, "Last line: how many events of each kind were written.";
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Event<'_> {
    /// The name in field 3, as it stands there.
    pub fn name(&self) -> &str {
        match &self.what {
            What::Other { name, .. } => name,
            what => what.kind().as_str(),
        }
    }
}

impl What<'_> {
    /// The kind of this event.
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::TraceStart(_) => EventKind::TraceStart,
            Self::TraceEnd { .. } => EventKind::TraceEnd,
            Self::JobSubmit { .. } => EventKind::JobSubmit,
            Self::JobEnd { .. } => EventKind::JobEnd,
            Self::SynthStart { .. } => EventKind::SynthStart,
            Self::SynthEnd { .. } => EventKind::SynthEnd,
            Self::ChanSend { .. } => EventKind::ChanSend,
            Self::GpuQueue { .. } => EventKind::GpuQueue,
            Self::GpuPickup => EventKind::GpuPickup,
            Self::GpuStart => EventKind::GpuStart,
            Self::GpuEnd { .. } => EventKind::GpuEnd,
            Self::PartitionFailed { .. } => EventKind::PartitionFailed,
            Self::VramAlloc(_) => EventKind::VramAlloc,
            Self::VramFree { .. } => EventKind::VramFree,
            Self::HostReg { .. } => EventKind::HostReg,
            Self::HostUnreg { .. } => EventKind::HostUnreg,
            Self::LockWait { .. } => EventKind::LockWait,
            Self::LockAcq { .. } => EventKind::LockAcq,
            Self::LockRel { .. } => EventKind::LockRel,
            Self::Sync { .. } => EventKind::Sync,
            Self::EventRecord { .. } => EventKind::EventRecord,
            Self::StreamWait { .. } => EventKind::StreamWait,
            Self::Launch { .. } => EventKind::Launch,
            Self::PoolTrim { .. } => EventKind::PoolTrim,
            Self::MemInfo { .. } => EventKind::MemInfo,
            Self::PlanFallback { .. } => EventKind::PlanFallback,
            Self::ProofOk { .. } => EventKind::ProofOk,
            Self::ProofBad { .. } => EventKind::ProofBad,
            Self::Other { .. } => EventKind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        let mut names: Vec<_> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), EventKind::ALL.len());
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_name(kind.as_str().as_bytes()), Some(*kind));
        }
        assert_eq!(EventKind::from_name(b"GPU_STOP"), None);
    }

    #[test]
    fn the_old_dialects_know_seven_events() {
        assert_eq!(
            EventKind::ALL.iter().filter(|kind| !kind.is_own()).count(),
            7
        );
    }
}
