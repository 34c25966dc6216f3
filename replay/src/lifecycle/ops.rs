//! What each version of the engine asks of the card for one partition, phase by phase.
//!
//! Stream 1 is the GPU's own ordered stream (`Dmalloc`), stream 2 the MSM's, stream 3 the
//! transform's. An H MSM that runs out of memory is not noticed by any version: its request is
//! marked so.

use tracefmt::ops::{OnError, Op, Step, Stream, Work};

use super::Sizes;

const OWN: Stream = Stream::Id(1);
const MSM: Stream = Stream::Id(2);
const NTT: Stream = Stream::Id(3);

/// A version of the engine, as far as memory is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `phase4` to `phase8`: nothing staged ahead.
    Phase8,
    /// `phase9-v0`: staged before the lock.
    Phase9V0,
    /// `phase9-v1`: staged inside, `d_bc` freed after the unlock.
    Phase9V1,
    /// `phase9-v2`: `d_bc` freed before the unlock.
    Phase9V2,
    /// `phase9`, `phase9-fine`, `phase11`, `phase12`: synchronised, trimmed, asked first.
    Phase9,
    /// `cache`, `head`: `d_a` cached for good, `d_b` from a pool that keeps its pages.
    Cache,
}

impl Version {
    /// The version whose dialect has this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "phase4" | "phase5" | "phase6" | "phase7" | "phase8" => Self::Phase8,
            "phase9-v0" => Self::Phase9V0,
            "phase9-v1" => Self::Phase9V1,
            "phase9-v2" => Self::Phase9V2,
            "phase9" | "phase9-fine" | "phase11" | "phase12" => Self::Phase9,
            "cache" | "head" => Self::Cache,
            _ => return None,
        })
    }

    /// The name of its lifecycle profile.
    pub fn name(self) -> &'static str {
        match self {
            Self::Phase8 => "phase8",
            Self::Phase9V0 => "phase9-v0",
            Self::Phase9V1 => "phase9-v1",
            Self::Phase9V2 => "phase9-v2",
            Self::Phase9 => "phase9",
            Self::Cache => "cache",
        }
    }

    /// Whether it stages `d_a` and `d_bc` ahead.
    pub(super) fn stages(self) -> bool {
        !matches!(self, Self::Phase8 | Self::Cache)
    }
}

/// Writes the ops of one partition.
#[derive(Debug)]
pub(super) struct Partition<'a> {
    pub(super) sizes: &'a Sizes,
    /// A number of its own, from which the names of its buffers are made.
    pub(super) number: u64,
    /// Worker, job, partition and card, for every step.
    pub(super) like: &'a Step,
    pub(super) steps: Vec<Step>,
}

/// The buffers of a partition, by the last digit of their id.
#[derive(Debug, Clone, Copy)]
pub(super) enum Buf {
    DA = 1,
    DBc = 2,
    HBlob = 3,
    HTemp = 4,
    Batch = 5,
    TailBlob = 9,
    TailTemp = 12,
    /// `d_a` of the original path, where staging failed.
    SlowDA = 13,
    /// `d_b` of the original path.
    SlowDB = 14,
}

impl Buf {
    fn name(self) -> &'static str {
        match self {
            Self::DA | Self::SlowDA => "d_a",
            Self::DBc => "d_bc",
            Self::HBlob => "h_blob",
            Self::HTemp => "h_temp",
            Self::Batch => "batch",
            Self::TailBlob => "tail_blob",
            Self::TailTemp => "tail_temp",
            Self::SlowDB => "d_b",
        }
    }
}

impl Partition<'_> {
    pub(super) fn id(&self, buf: Buf) -> u64 {
        self.number * 16 + buf as u64
    }

    /// One step; the caller may add what was recorded of it.
    pub(super) fn push(&mut self, op: Op) -> &mut Step {
        let mut step = self.like.clone();
        step.op = op;
        self.steps.push_mut(step)
    }

    pub(super) fn malloc(&mut self, buf: Buf, bytes: u64) -> &mut Step {
        let id = self.id(buf);
        let step = self.push(Op::Malloc { id, bytes });
        step.set_buf(Some(buf.name()));
        step
    }

    pub(super) fn pool(&mut self, buf: Buf, bytes: u64, stream: Stream) -> &mut Step {
        let id = self.id(buf);
        let step = self.push(Op::MallocAsync { id, bytes, stream });
        step.set_buf(Some(buf.name()));
        step
    }

    pub(super) fn free(&mut self, buf: Buf) {
        let id = self.id(buf);
        self.push(Op::Free { id }).set_buf(Some(buf.name()));
    }

    pub(super) fn free_async(&mut self, buf: Buf, stream: Stream) {
        let id = self.id(buf);
        self.push(Op::FreeAsync { id, stream })
            .set_buf(Some(buf.name()));
    }

    fn launch(&mut self, name: &str, stream: Stream, uses: &[u64]) {
        let work = Work::new(stream, Vec::new(), uses.to_vec(), None);
        self.push(Op::Launch(work)).set_buf(Some(name));
    }

    fn sync(&mut self, stream: Stream) {
        self.push(Op::StreamSync { stream });
    }

    /// Frees on the GPU's own stream, and waits for it, as `Dfree` does.
    fn own_free(&mut self, buf: Buf) {
        self.free_async(buf, OWN);
        self.sync(OWN);
    }

    /// Synchronise, trim, ask: before `d_a` and `d_bc` are staged.
    pub(super) fn ask_first(&mut self) {
        self.push(Op::CtxSync);
        self.push(Op::Trim { keep: 0 });
    }

    /// The transform over two buffers.
    pub(super) fn transform(&mut self, d_a: Buf, d_bc: Buf) {
        let uses = [self.id(d_a), self.id(d_bc)];
        self.launch("ntt", NTT, &uses);
        self.sync(NTT);
    }

    /// The H MSM; that it runs out of memory goes unnoticed.
    pub(super) fn h_msm(&mut self, d_a: u64) {
        let sizes = *self.sizes;
        self.pool(Buf::HBlob, sizes.h_blob, OWN)
            .set_on_error(OnError::Ignore);
        self.sync(OWN);
        self.pool(Buf::HTemp, sizes.h_temp, MSM)
            .set_on_error(OnError::Ignore);
        let (blob, temp) = (self.id(Buf::HBlob), self.id(Buf::HTemp));
        self.launch("msm_h", MSM, &[d_a, blob, temp]);
        self.free_async(Buf::HTemp, MSM);
        self.sync(MSM);
        self.own_free(Buf::HBlob);
    }

    /// The transform and H MSM without staging, once `d_a` is there: `d_b` goes before the MSM.
    pub(super) fn unstaged(&mut self) {
        self.transform(Buf::SlowDA, Buf::SlowDB);
        self.free(Buf::SlowDB);
        let d_a = self.id(Buf::SlowDA);
        self.h_msm(d_a);
        self.free_async(Buf::SlowDA, Stream::Legacy);
    }

    /// The staged transform and H MSM.
    pub(super) fn staged(&mut self, frees_d_bc: bool) {
        self.transform(Buf::DA, Buf::DBc);
        let d_a = self.id(Buf::DA);
        self.h_msm(d_a);
        if frees_d_bc {
            self.free(Buf::DBc);
        }
        self.free_async(Buf::DA, Stream::Legacy);
        // Assumed: see the head of this module's parent.
        self.push(Op::CtxSync);
    }

    /// Goes on at a label whatever happens: no card has this much.
    pub(super) fn jump(&mut self, label: &str) {
        let guard = Op::MemGetInfo {
            need: Some(u64::MAX),
            margin: None,
        };
        self.push(guard)
            .set_on_error(OnError::Fallback(label.into()));
    }

    pub(super) fn label(&mut self, name: &str) {
        let name = name.into();
        self.push(Op::Label { name });
    }

    /// The four batch additions, one after the other.
    pub(super) fn batch_add(&mut self) {
        for bytes in self.sizes.batch {
            // The line that follows says that it went well.
            self.malloc(Buf::Batch, bytes).rc = Some(0);
            let id = self.id(Buf::Batch);
            self.launch("batch_add", MSM, &[id]);
            self.sync(MSM);
            self.free(Buf::Batch);
        }
    }

    /// The tail MSMs, and the GPU thread's last synchronisation.
    pub(super) fn tail(&mut self) {
        let sizes = *self.sizes;
        self.pool(Buf::TailBlob, sizes.tail_blob * 3, OWN)
            .set_on_error(OnError::Ignore);
        self.sync(OWN);
        self.pool(Buf::TailTemp, sizes.tail_temp, MSM)
            .set_on_error(OnError::Ignore);
        let uses = [self.id(Buf::TailBlob), self.id(Buf::TailTemp)];
        self.launch("tail_msm", MSM, &uses);
        self.free_async(Buf::TailTemp, MSM);
        self.sync(MSM);
        self.own_free(Buf::TailBlob);
        self.push(Op::CtxSync);
    }

    /// `d_b` from the pool, freed on the transform's stream, which is synchronised.
    pub(super) fn pooled_transform(&mut self, d_a: u64) {
        let bytes = self.sizes.d_bc;
        self.pool(Buf::DBc, bytes, OWN);
        self.sync(OWN);
        let d_b = self.id(Buf::DBc);
        self.launch("ntt", NTT, &[d_a, d_b]);
        self.free_async(Buf::DBc, NTT);
        self.sync(NTT);
    }
}
