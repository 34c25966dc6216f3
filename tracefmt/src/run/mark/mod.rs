//! Timing lines with their owners, packed: a run of a million partitions has ten million of them,
//! so a [`Mark`] takes 40 bytes and the few long value lists lie beside it in [`MarkStore`].
//!
//! Deciding who owns a line is not done here but in `run::attribute`.

mod kind;
mod pack;

use super::LineRef;
use crate::finding::Confidence;
use crate::timing::TimingWhat;

macro_rules! mark_kinds {
    ($($variant:ident => $name:literal, $meaning:literal;)+) => {
        /// The kind of a timing line, without its values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum MarkKind {
            $(#[doc = $meaning] $variant,)+
        }

        impl MarkKind {
            /// Every kind, in the order of a prove call.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Short name, as in counts and tables; a phase of our own has one of its own.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

mark_kinds! {
    SplitVectors => "split_vectors", "Splitting the assignment, on the calling thread.";
    HostRegister => "host_register", "Pinning of host memory failed and was passed over.";
    PreLock => "pre_lock", "First line under the lock.";
    PrestageVram => "prestage_vram", "Free and wanted device memory.";
    PrestageSkip => "prestage_skip", "Buffers not staged ahead for want of memory.";
    PrestageOk => "prestage_ok", "Buffers staged ahead.";
    PrestageFallback => "prestage_fallback", "Staging ahead failed and was passed over.";
    PoolThreshold => "pool_threshold", "The allocation pool was told to keep its pages.";
    DaCache => "d_a_cache", "The cached buffer was allocated.";
    NttH => "CUZK_NTT_H", "Parts of the transform and H MSM.";
    NttMsmH => "ntt_msm_h", "Upload, transforms and H MSM.";
    BarrierWait => "barrier_wait", "The GPU thread waited for the CPU's preparation.";
    BatchAdd => "batch_add", "Batch additions.";
    TailMsm => "tail_msm", "Tail MSMs, and the whole GPU thread.";
    MutexHeld => "mutex_held", "Last line under the lock.";
    PrepMsm => "prep_msm", "CPU preparation of the MSMs.";
    BG2Msm => "b_g2_msm", "The G2 MSM on the CPU.";
    Epilogue => "epilogue", "Assembly of the proof, and the whole call.";
    AsyncDealloc => "async_dealloc", "Freeing of host memory in a thread of its own.";
    Phase => "phase", "A phase of our own traces, named by `MarkStore::what`.";
    Other => "other", "A shape that this version does not know.";
}

/// One timing line with its owner and the time window in which it must have been printed.
///
/// Times are microseconds since the run's epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    after_us: i64,
    window_us: u32,
    line: u32,
    input: u16,
    kind: MarkKind,
    confidence: Confidence,
    call: u32,
    candidates: u32,
    extra: u32,
    values: [i32; 2],
}

/// Stands for "no call" and for "no later time stamp".
const NONE: u32 = u32::MAX;

impl Mark {
    /// What kind of line it is.
    pub const fn kind(&self) -> MarkKind {
        self.kind
    }

    /// The line.
    pub fn line(&self) -> LineRef {
        LineRef {
            input: u32::from(self.input),
            line: self.line,
        }
    }

    /// The phase's duration in milliseconds: the first value of the line, but `total=` of
    /// `CUZK_NTT_H` and `prestage`, and 0 where the line gives none.
    pub fn ms(&self) -> i64 {
        match self.kind {
            MarkKind::Phase => self.us() / 1000,
            _ => i64::from(self.values[0]),
        }
    }

    /// The phase's duration in microseconds; old dialects print whole milliseconds.
    pub fn us(&self) -> i64 {
        let [low, high] = self.values;
        match self.kind {
            MarkKind::Phase => (i64::from(high) << 32) | i64::from(low.cast_unsigned()),
            _ => i64::from(low) * 1000,
        }
    }

    /// The second value: `setup_to_split_ms`, `mutex_wait_ms`, `gpu_total_ms`,
    /// `total_start_fn_ms`, `pre_destructor_ms`, `num_circuits`; 0 where there is none.
    pub fn second(&self) -> i64 {
        match self.kind {
            MarkKind::Phase => 0,
            _ => i64::from(self.values[1]),
        }
    }

    /// The GPU thread of a line that names one, or the GPU that the line names; else 0.
    pub fn gpu_tid(&self) -> u32 {
        match self.kind {
            MarkKind::NttMsmH | MarkKind::BarrierWait | MarkKind::BatchAdd => {
                u32::try_from(self.values[1]).unwrap_or(0)
            }
            MarkKind::TailMsm | MarkKind::PoolThreshold | MarkKind::DaCache => self.extra,
            _ => 0,
        }
    }

    /// Index into [`Run::calls`](super::Run::calls); none when no call can own it.
    pub const fn call(&self) -> Option<u32> {
        match self.call {
            NONE => None,
            call => Some(call),
        }
    }

    /// How sure the owner is.
    pub const fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// Not printed before this time: the last time stamp at or before its line, over all stamped
    /// lines; or its own `t_us`. 0 when no line before it has a time.
    pub const fn after_us(&self) -> i64 {
        self.after_us
    }

    /// Not printed after this time: the first time stamp behind its line; or its own `t_us`.
    /// `i64::MAX` when no line behind it has a time, or only one more than an hour later.
    pub fn before_us(&self) -> i64 {
        match self.window_us {
            NONE => i64::MAX,
            window => self.after_us.saturating_add(i64::from(window)),
        }
    }

    /// Sets the window.
    fn set_window(&mut self, after_us: i64, before_us: Option<i64>) {
        self.after_us = after_us;
        self.window_us = before_us.map_or(NONE, |before| {
            u32::try_from(before.saturating_sub(after_us).max(0)).unwrap_or(NONE)
        });
    }

    /// Moves the line to another input; inputs beyond the 65536th share the last number.
    fn set_input(&mut self, input: u32) {
        self.input = u16::try_from(input).unwrap_or(u16::MAX);
    }
}

/// The timing lines of a run in file order, with their long value lists and candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkStore {
    marks: Vec<Mark>,
    extras: Vec<i64>,
    names: Vec<String>,
    candidates: Vec<u32>,
}

impl MarkStore {
    /// All marks, in file order.
    pub fn as_slice(&self) -> &[Mark] {
        &self.marks
    }

    /// All marks, in file order.
    pub fn iter(&self) -> std::slice::Iter<'_, Mark> {
        self.marks.iter()
    }

    /// The mark at an index.
    pub fn get(&self, index: usize) -> Option<&Mark> {
        self.marks.get(index)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Appends a line without an owner and returns its index.
    pub fn push(&mut self, what: &TimingWhat<'_>, line: LineRef, window_us: (i64, i64)) -> usize {
        let (kind, values, extra) = self.pack(what);
        let mut mark = Mark {
            after_us: 0,
            window_us: 0,
            line: line.line,
            input: 0,
            kind,
            confidence: Confidence::Ambiguous,
            call: NONE,
            candidates: 0,
            extra,
            values,
        };
        mark.set_input(line.input);
        let (after, before) = window_us;
        mark.set_window(after, (before != i64::MAX).then_some(before));
        self.marks.push(mark);
        self.marks.len() - 1
    }

    /// Gives a mark its owner; `candidates` is empty when there is no other.
    pub fn assign(
        &mut self,
        index: usize,
        call: Option<u32>,
        confidence: Confidence,
        candidates: &[u32],
    ) {
        let at = self.store_candidates(candidates);
        if let Some(mark) = self.marks.get_mut(index) {
            mark.call = call.unwrap_or(NONE);
            mark.confidence = confidence;
            mark.candidates = at;
        }
    }

    /// Gives some marks the window in which they were printed.
    pub(super) fn set_windows(
        &mut self,
        marks: std::ops::Range<usize>,
        after_us: i64,
        before_us: Option<i64>,
    ) {
        for mark in self.marks.get_mut(marks).into_iter().flatten() {
            mark.set_window(after_us, before_us);
        }
    }

    /// All calls that could own a mark when there are several, sorted, the chosen one included.
    pub fn candidates(&self, mark: &Mark) -> &[u32] {
        let at = mark.candidates as usize;
        if at == 0 {
            return &[];
        }
        let len = self.candidates.get(at - 1).map_or(0, |len| *len as usize);
        self.candidates.get(at..at + len).unwrap_or_default()
    }

    /// What a mark reports, all values.
    pub fn what(&self, mark: &Mark) -> TimingWhat<'_> {
        pack::unpack(self, mark)
    }

    /// The name of the phase: the kind's, or its own for a phase of our traces.
    pub fn name(&self, mark: &Mark) -> &str {
        match mark.kind {
            MarkKind::Phase => self.text(mark),
            kind => kind.as_str(),
        }
    }

    fn text(&self, mark: &Mark) -> &str {
        self.names
            .get(mark.extra as usize)
            .map_or("", String::as_str)
    }

    fn extras(&self, mark: &Mark, len: usize) -> &[i64] {
        let at = mark.extra as usize;
        self.extras.get(at..at + len).unwrap_or_default()
    }

    fn store_candidates(&mut self, calls: &[u32]) -> u32 {
        if calls.len() < 2 {
            return 0;
        }
        self.candidates
            .push(u32::try_from(calls.len()).unwrap_or(NONE));
        let at = u32::try_from(self.candidates.len()).unwrap_or(0);
        self.candidates.extend_from_slice(calls);
        at
    }

    fn store_extras(&mut self, values: &[i64]) -> u32 {
        let at = u32::try_from(self.extras.len()).unwrap_or(NONE);
        self.extras.extend_from_slice(values);
        at
    }

    /// Names of phases are few; unknown lines are rare, and equal ones next to each other.
    fn store_name(&mut self, name: &str) -> u32 {
        let recent = self.names.len().saturating_sub(64);
        let found = self.names.iter().skip(recent).position(|n| n == name);
        let at = found.map_or(self.names.len(), |at| at + recent);
        if found.is_none() {
            self.names.push(name.to_owned());
        }
        u32::try_from(at).unwrap_or(NONE)
    }
}

impl<'a> IntoIterator for &'a MarkStore {
    type Item = &'a Mark;
    type IntoIter = std::slice::Iter<'a, Mark>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests;
