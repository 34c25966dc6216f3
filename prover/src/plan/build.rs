//! From sizes to steps.

use tracefmt::ops::{Op, Stream, Work as Touched};

use super::fit::{Cut, Stays};
use super::sizes::{blocks, stream_bytes};
use super::sums::SumShape;
use super::{DEVICE_LOCK, Kernel, Load, Phase, Plan, PlanStep, Sizes, tables};

/// The stream that the kernels of a partition are ordered on.
const COMPUTE: Stream = Stream::Id(1);
/// The stream of a witness that is uploaded ahead.
const AHEAD: Stream = Stream::Id(2);
/// The stream of the points that pass through.
const PASSING: Stream = Stream::Id(3);

/// The buffers; their number is their id. From [`Buf::Tables`] on they outlive a partition; from
/// [`Buf::Slot`] on each worker has one of its own. Those called `Kept` are the same as without,
/// where they stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Buf {
    Witness = 1,
    A,
    Bc,
    Scratch,
    Points0,
    Points1,
    Tables,
    Shape,
    Key,
    KeptA,
    KeptBc,
    KeptScratch,
    /// The witness, where there is one a worker.
    Slot,
}

impl Buf {
    const fn name(self) -> &'static str {
        match self {
            Self::Witness | Self::Slot => "d_witness",
            Self::A | Self::KeptA => "d_a",
            Self::Bc | Self::KeptBc => "d_bc",
            Self::Scratch | Self::KeptScratch => "d_scratch",
            Self::Points0 => "d_points_0",
            Self::Points1 => "d_points_1",
            Self::Tables => "d_tables",
            Self::Shape => "d_shape",
            Self::Key => "d_srs",
        }
    }

    const fn id(self) -> u64 {
        self as u64
    }

    /// The buffer that a part passes through.
    const fn passing(part: u64) -> Self {
        if part.is_multiple_of(2) {
            Self::Points0
        } else {
            Self::Points1
        }
    }
}

/// The first id that outlives a partition.
pub(super) const FIRST_RESIDENT: u64 = Buf::Tables as u64;
/// The id of the first worker's own buffer; the n-th worker's is so many higher.
pub(super) const FIRST_SLOT: u64 = Buf::Slot as u64;

pub(super) struct Build<'a> {
    sizes: &'a Sizes,
    cut: Cut,
    workers: u32,
    steps: Vec<PlanStep>,
}

impl<'a> Build<'a> {
    pub(super) fn plan(sizes: &'a Sizes, cut: Cut, workers: u32) -> Plan {
        let mut build = Self {
            sizes,
            cut,
            workers,
            steps: Vec::new(),
        };
        build.residents();
        let residents = std::mem::take(&mut build.steps);
        build.partition();
        let steps = build.steps;
        let peak = peak(&residents).saturating_add(peak(&steps));
        let mut plan = Plan {
            residents,
            steps,
            sizes: *sizes,
            cut,
            peak_bytes: peak,
        };
        plan.peak_bytes = peak.saturating_add(plan.pinning_bytes());
        plan
    }

    fn streams(&self) -> bool {
        self.cut.stays == Stays::Tables
    }

    fn keeps(&self) -> bool {
        self.cut.stays >= Stays::All
    }

    /// What stays on the device from the first partition to the last.
    fn residents(&mut self) {
        self.lock();
        let tables = tables::domain_bytes(self.sizes.domain.ilog2(), self.cut.whole);
        let mut residents = vec![(Buf::Tables, tables, Load::Tables)];
        if !self.streams() {
            residents.push((Buf::Shape, self.sizes.shape_layout().bytes(), Load::Shape));
            let tables = self.cut.tables(Phase::MsmH).into();
            let key = self.sizes.key_layout_with(tables).bytes();
            residents.push((Buf::Key, key, Load::Key));
        }
        if self.keeps() {
            let vector = self.sizes.vector_bytes();
            let scratch = self.scratch_bytes();
            for (buf, bytes) in [(Buf::A, vector), (Buf::Bc, vector), (Buf::Scratch, scratch)] {
                self.malloc(self.kept(buf), bytes);
            }
        }
        for (buf, bytes, load) in residents {
            self.malloc(buf, bytes);
            self.load(buf, load, COMPUTE);
        }
        if self.cut.stays == Stays::Multiples {
            self.multiples();
        }
        if self.cut.ahead {
            let bytes = blocks(self.sizes.witness_bytes());
            for worker in 0..u64::from(self.workers) {
                let id = FIRST_SLOT + worker;
                self.push(Buf::Slot.name(), Op::Malloc { id, bytes });
            }
        }
        self.sync(COMPUTE);
        self.mem_info();
        self.unlock();
    }

    /// The multiples are made of points that are there, through scratch memory that is as well.
    fn multiples(&mut self) {
        let touched = touched(COMPUTE, &[Buf::KeptScratch], &[Buf::Key]);
        self.push(Buf::Key.name(), Op::CopyHtoD(touched));
        if let Some(step) = self.steps.last_mut() {
            step.load = Some(Load::Multiples);
        }
    }

    fn partition(&mut self) {
        let witness = self.witness();
        if self.cut.ahead {
            self.load(witness, Load::Witness, AHEAD);
            self.sync(AHEAD);
        }
        self.lock();
        self.mem_info();
        if !self.cut.ahead {
            self.malloc(witness, self.sizes.witness_bytes());
            self.load(witness, Load::Witness, COMPUTE);
        }
        self.passing(Self::malloc);
        self.transform();
        self.take(Buf::Scratch, self.scratch_bytes());
        self.msm(Phase::MsmH, self.kept(Buf::A));
        self.give(Buf::A);
        for phase in [Phase::MsmL, Phase::MsmA, Phase::MsmBG1, Phase::MsmBG2] {
            self.msm(phase, witness);
        }
        self.give(Buf::Scratch);
        self.passing(|build, buf, _| build.free(buf));
        if !self.cut.ahead {
            self.free(witness);
        }
        self.mem_info();
        self.unlock();
    }

    const fn witness(&self) -> Buf {
        if self.cut.ahead {
            Buf::Slot
        } else {
            Buf::Witness
        }
    }

    /// Does something with the buffers that points stream through, if there are any.
    fn passing(&mut self, act: impl Fn(&mut Self, Buf, u64)) {
        if self.streams() {
            let bytes = stream_bytes(self.cut.chunk);
            act(self, Buf::Points0, bytes);
            act(self, Buf::Points1, bytes);
        }
    }

    /// A, B and C from the witness, and from them the quotient's coefficients in `d_a`; `d_bc` goes
    /// at once.
    fn transform(&mut self) {
        let vector = self.sizes.vector_bytes();
        self.take(Buf::A, vector);
        self.take(Buf::Bc, vector);
        let kernel = Kernel {
            phase: Phase::Quotient,
            part: 0,
            parts: 1,
        };
        // Without its own place on the device, the shape passes through the buffers of the points.
        let rows = if self.streams() {
            Buf::Points0
        } else {
            Buf::Shape
        };
        let reads = [self.witness(), rows, Buf::Tables];
        let writes = [Buf::A, Buf::Bc].map(|buf| self.kept(buf));
        self.launch(kernel, &reads, &writes);
        self.sync(COMPUTE);
        self.give(Buf::Bc);
    }

    /// A sum, in one part over points that are there, or in parts over points that stream through
    /// two buffers, one filled while the other is worked on.
    fn msm(&mut self, phase: Phase, scalars: Buf) {
        let parts = self.parts(phase);
        let part_of = |part| Kernel { phase, part, parts };
        if self.streams() {
            self.pass(part_of(0));
        }
        for part in 0..parts {
            if !self.streams() {
                let reads = [scalars, Buf::Key, Buf::Shape];
                self.launch(part_of(part), &reads, &[self.kept(Buf::Scratch)]);
                continue;
            }
            let (event, stream) = (part % 2, COMPUTE);
            self.push("", Op::StreamWait { event, stream });
            if part + 1 < parts {
                self.pass(part_of(part + 1));
            }
            let reads = [scalars, Buf::passing(part)];
            self.launch(part_of(part), &reads, &[self.kept(Buf::Scratch)]);
        }
        self.sync(COMPUTE);
    }

    /// The points of a part begin their way to the device.
    fn pass(&mut self, kernel: Kernel) {
        self.load(Buf::passing(kernel.part), Load::Points(kernel), PASSING);
        let (event, stream) = (kernel.part % 2, PASSING);
        self.push("", Op::EventRecord { event, stream });
    }

    fn parts(&self, phase: Phase) -> u64 {
        if !self.streams() {
            return 1;
        }
        let chunk = Sizes::streamed(phase, self.cut.chunk);
        self.sizes.points(phase).div_ceil(chunk).max(1)
    }

    /// Scratch memory that serves every part of every sum.
    fn scratch_bytes(&self) -> u64 {
        let sums = Phase::ALL.into_iter().skip(1).flat_map(|phase| {
            let points = self.sizes.points(phase);
            let chunk = if self.streams() {
                Sizes::streamed(phase, self.cut.chunk).min(points)
            } else {
                points
            };
            let rest = points.checked_rem(chunk).unwrap_or(0);
            [(phase, chunk), (phase, rest)]
        });
        let bytes = sums.map(|(phase, points)| {
            let shape = SumShape::new(points, self.cut.tables(phase));
            shape.scratch_bytes(if phase == Phase::MsmBG2 { 2 } else { 1 })
        });
        bytes.max().unwrap_or(0)
    }

    fn lock(&mut self) {
        let name = DEVICE_LOCK.into();
        self.push("", Op::Lock { name });
    }

    fn unlock(&mut self) {
        let name = DEVICE_LOCK.into();
        self.push("", Op::Unlock { name });
    }

    fn mem_info(&mut self) {
        let (need, margin) = (None, None);
        self.push("", Op::MemGetInfo { need, margin });
    }

    fn malloc(&mut self, buf: Buf, bytes: u64) {
        let (id, bytes) = (buf.id(), blocks(bytes));
        self.push(buf.name(), Op::Malloc { id, bytes });
    }

    fn free(&mut self, buf: Buf) {
        self.push(buf.name(), Op::Free { id: buf.id() });
    }

    /// Allocates for one partition what does not stay.
    fn take(&mut self, buf: Buf, bytes: u64) {
        if !self.keeps() {
            self.malloc(buf, bytes);
        }
    }

    /// Frees what does not stay.
    fn give(&mut self, buf: Buf) {
        if !self.keeps() {
            self.free(buf);
        }
    }

    /// The buffer that stays in the place of one that does not.
    fn kept(&self, buf: Buf) -> Buf {
        match buf {
            Buf::A if self.keeps() => Buf::KeptA,
            Buf::Bc if self.keeps() => Buf::KeptBc,
            Buf::Scratch if self.keeps() => Buf::KeptScratch,
            buf => buf,
        }
    }

    fn load(&mut self, buf: Buf, load: Load, stream: Stream) {
        let touched = touched(stream, &[], &[buf]);
        self.push(buf.name(), Op::CopyHtoD(touched));
        if let Some(step) = self.steps.last_mut() {
            step.load = Some(load);
        }
    }

    fn sync(&mut self, stream: Stream) {
        self.push("", Op::StreamSync { stream });
    }

    fn launch(&mut self, kernel: Kernel, reads: &[Buf], writes: &[Buf]) {
        let touched = touched(COMPUTE, reads, writes);
        self.push(kernel.phase.name(), Op::Launch(touched));
        if let Some(step) = self.steps.last_mut() {
            step.kernel = Some(kernel);
        }
    }

    fn push(&mut self, about: &'static str, op: Op) {
        self.steps.push(PlanStep {
            op,
            about,
            kernel: None,
            load: None,
        });
    }
}

/// The most that the steps hold at once.
pub(super) fn peak(steps: &[PlanStep]) -> u64 {
    let (mut held, mut peak) = (std::collections::BTreeMap::new(), 0_u64);
    for step in steps {
        match step.op {
            Op::Malloc { id, bytes } => {
                held.insert(id, bytes);
                peak = peak.max(held.values().sum());
            }
            Op::Free { id } => {
                held.remove(&id);
            }
            _ => {}
        }
    }
    peak
}

fn touched(stream: Stream, reads: &[Buf], writes: &[Buf]) -> Touched {
    let ids = |bufs: &[Buf]| bufs.iter().map(|buf| buf.id()).collect();
    Touched::new(stream, ids(reads), ids(writes), None)
}
