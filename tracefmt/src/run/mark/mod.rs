//! Timing lines with their owners, packed: a run of a million partitions has ten million of them,
//! so a [`MarkStore`] keeps 20 bytes of each and 5 of its owner, windows and long value lists
//! beside them, and gives a [`Mark`] out whole.
//!
//! Deciding who owns a line is not done here but in `run::attribute`.

mod kind;
mod owner;
mod pack;
mod slot;

use super::LineRef;
use crate::finding::Confidence;
use crate::timing::TimingWhat;
pub(in crate::run) use owner::Owners;
pub(crate) use pack::PlainMark;
use slot::{Slot, Windows};

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
    input: u32,
    kind: MarkKind,
    confidence: Confidence,
    call: u32,
    /// Its index and one more where other calls could own it, else 0.
    shared: u32,
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
        LineRef::new(self.input, self.line)
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
}

/// The timing lines of a run in file order, with their long value lists and owners.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkStore {
    slots: Vec<Slot>,
    /// The input of all lines: a run lies in one.
    input: u32,
    windows: Windows,
    extras: Vec<i64>,
    names: Vec<String>,
    owners: Owners,
}

impl MarkStore {
    /// All marks, in file order.
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            store: self,
            next: 0,
            slots: self.slots.iter(),
        }
    }

    /// The mark at an index.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Mark> {
        self.slots.get(index).map(|slot| self.whole(index, slot))
    }

    /// The line of the mark at an index.
    pub(super) fn line(&self, index: usize) -> Option<u32> {
        self.slots.get(index).map(|slot| slot.line)
    }

    /// Whether the lines rise.
    pub(super) fn is_sorted(&self) -> bool {
        self.slots.is_sorted_by_key(|slot| slot.line)
    }

    /// The indices of the marks grouped by call, in file order, and where those of each call
    /// begin; one more entry than calls.
    pub(super) fn by_call(&self, calls: usize) -> (Vec<u32>, Vec<u32>) {
        let mut starts = vec![0_u32; calls + 1];
        let owners = self.owners.calls();
        for call in owners {
            if *call != NONE
                && let Some(count) = starts.get_mut(*call as usize + 1)
            {
                *count += 1;
            }
        }
        let mut total = 0;
        for count in &mut starts {
            total += *count;
            *count = total;
        }
        let mut order = vec![0_u32; total as usize];
        let mut next = starts.clone();
        for (index, call) in (0_u32..).zip(owners) {
            if (*call as usize) < calls
                && let Some(cursor) = next.get_mut(*call as usize)
            {
                if let Some(entry) = order.get_mut(*cursor as usize) {
                    *entry = index;
                }
                *cursor += 1;
            }
        }
        (starts, order)
    }

    /// Inlined, so that nothing is looked up of what the caller does not ask for.
    #[inline]
    fn whole(&self, index: usize, slot: &Slot) -> Mark {
        let (after_us, window_us) = self.windows.get(slot.window);
        let (values, extra) = slot.values();
        let owner = self.owners.get(index);
        let shared = if owner.has_candidates() { index + 1 } else { 0 };
        Mark {
            after_us,
            window_us,
            line: slot.line,
            input: self.input,
            kind: slot.kind,
            confidence: owner.confidence(),
            call: owner.call,
            // A store never has as many: their lines are numbered in 32 bits.
            shared: u32::try_from(shared).unwrap_or(0),
            extra,
            values,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes out every second line, if each says the same as the one before it.
    pub(super) fn halve(&mut self) {
        let (pairs, rest) = self.slots.as_chunks::<2>();
        let what = |slot: &Slot| self.whole(0, slot);
        let same = |[a, b]: &[Slot; 2]| {
            let (a, b) = (what(a), what(b));
            a.kind == b.kind && self.what(&a) == self.what(&b)
        };
        if rest.is_empty() && pairs.iter().all(same) {
            self.owners.halve(self.slots.len());
            super::copies::halve(&mut self.slots, |_, _| true);
        }
    }

    /// Appends a line without an owner and returns its index. All lines are of one input.
    pub fn push(&mut self, what: &TimingWhat<'_>, line: LineRef, window_us: (i64, i64)) -> usize {
        let (kind, values, extra) = self.pack(what);
        let plain = PlainMark {
            kind,
            values,
            extra,
        };
        let index = self.push_plain(plain, line);
        let (after, before) = window_us;
        let before = (before != i64::MAX).then_some(before);
        self.set_windows(index..index + 1, after, before);
        index
    }

    /// Appends a line whose window nobody knows yet and returns its index.
    pub(super) fn push_plain(&mut self, mark: PlainMark, line: LineRef) -> usize {
        self.input = line.input();
        let slot = Slot::new(line.line, mark.kind, mark.values, mark.extra);
        self.slots.push(slot);
        self.slots.len() - 1
    }

    /// Gives a mark its owner; `candidates` is empty when there is no other.
    pub fn assign(
        &mut self,
        index: usize,
        call: Option<u32>,
        confidence: Confidence,
        candidates: &[u32],
    ) {
        if index < self.slots.len() {
            self.owners.assign(index, call, confidence, candidates);
        }
    }

    /// Gives marks the owners that were found for them.
    pub(super) fn own(&mut self, found: Owners) {
        self.owners.append(found);
    }

    /// Gives some marks the window in which they were printed.
    pub(super) fn set_windows(
        &mut self,
        marks: std::ops::Range<usize>,
        after_us: i64,
        before_us: Option<i64>,
    ) {
        let window = self.windows.add(after_us, before_us);
        for slot in self.slots.get_mut(marks).into_iter().flatten() {
            slot.window = window;
        }
    }

    /// All calls that could own a mark when there are several, sorted, the chosen one included.
    pub fn candidates(&self, mark: &Mark) -> &[u32] {
        match mark.shared.checked_sub(1) {
            Some(index) => self.owners.candidates(index as usize),
            None => &[],
        }
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

/// All marks of a store, in file order.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    store: &'a MarkStore,
    /// Index of the first slot left.
    next: usize,
    slots: std::slice::Iter<'a, Slot>,
}

impl Iterator for Iter<'_> {
    type Item = Mark;

    #[inline]
    fn next(&mut self) -> Option<Mark> {
        let slot = self.slots.next()?;
        let index = self.next;
        self.next += 1;
        Some(self.store.whole(index, slot))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.slots.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Mark> {
        // The index of the last slot left, from where the first one left stands.
        let index = self.next + self.slots.len();
        let slot = self.slots.next_back()?;
        Some(self.store.whole(index - 1, slot))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a MarkStore {
    type Item = Mark;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

#[cfg(test)]
mod tests;
