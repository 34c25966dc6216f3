//! From sizes to steps.

use tracefmt::ops::{Op, Stream, Work as Touched};

use super::fit::{Cut, PlanError, Work, cut, peak};
use super::{DEVICE_LOCK, Kernel, Phase, Plan, PlanStep, Sizes};

/// The stream that everything of a partition is ordered on.
const STREAM: Stream = Stream::Id(1);

/// The buffers of a partition; their number is their id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Buf {
    A = 1,
    Bc,
    Points,
    Buckets,
    Digits,
    Witness,
}

impl Buf {
    const fn name(self) -> &'static str {
        match self {
            Self::A => "d_a",
            Self::Bc => "d_bc",
            Self::Points => "d_points",
            Self::Buckets => "d_buckets",
            Self::Digits => "d_digits",
            Self::Witness => "d_witness",
        }
    }

    const fn id(self) -> u64 {
        self as u64
    }
}

impl Plan {
    /// The plan of a partition on a device with so many free bytes, the coarsest that fits.
    ///
    /// # Errors
    /// [`PlanError`] when the device is too small, or the domain is none.
    pub fn new(sizes: &Sizes, available: u64) -> Result<Self, PlanError> {
        let cut = cut(sizes, available)?;
        let mut build = Build {
            sizes,
            cut,
            steps: Vec::new(),
        };
        build.partition();
        Ok(Self {
            steps: build.steps,
            sizes: *sizes,
            peak_bytes: peak(sizes, cut),
        })
    }
}

struct Build<'a> {
    sizes: &'a Sizes,
    cut: Cut,
    steps: Vec<PlanStep>,
}

impl Build<'_> {
    fn partition(&mut self) {
        let name = || DEVICE_LOCK.to_owned();
        self.push("", Op::Lock { name: name() });
        let (need, margin) = (None, None);
        self.push("", Op::MemGetInfo { need, margin });
        self.transform();
        let work = Work::of(self.sizes, self.cut.chunk);
        self.malloc(Buf::Points, work.points);
        self.malloc(Buf::Buckets, work.buckets);
        self.malloc(Buf::Digits, work.digits);
        self.msm(Phase::MsmH, Buf::A);
        self.free(Buf::A);
        self.malloc(Buf::Witness, self.sizes.witness_bytes());
        self.upload(Buf::Witness);
        for phase in [Phase::MsmL, Phase::MsmA, Phase::MsmBG1, Phase::MsmBG2] {
            self.msm(phase, Buf::Witness);
        }
        for buf in [Buf::Witness, Buf::Digits, Buf::Buckets, Buf::Points] {
            self.free(buf);
        }
        self.push("", Op::Unlock { name: name() });
    }

    /// a, b and c go in, the quotient's coefficients stay in `d_a`; `d_bc` goes at once.
    fn transform(&mut self) {
        let vector = self.sizes.vector_bytes();
        self.malloc(Buf::A, vector);
        self.malloc(Buf::Bc, vector * self.cut.beside);
        self.upload(Buf::A);
        let parts = 3 - self.cut.beside;
        for part in 0..parts {
            self.upload(Buf::Bc);
            let kernel = Kernel {
                phase: Phase::Quotient,
                part,
                parts,
            };
            self.launch(kernel, &[Buf::Bc], &[Buf::A, Buf::Bc]);
        }
        self.sync();
        self.free(Buf::Bc);
    }

    /// Points stream through; the buckets' sum comes back.
    fn msm(&mut self, phase: Phase, scalars: Buf) {
        let parts = self.sizes.points(phase).div_ceil(self.cut.chunk).max(1);
        for part in 0..parts {
            self.upload(Buf::Points);
            let kernel = Kernel { phase, part, parts };
            let reads = [scalars, Buf::Points, Buf::Digits];
            self.launch(kernel, &reads, &[Buf::Digits, Buf::Buckets]);
        }
        let download = touched(&[Buf::Buckets], &[]);
        self.push(Buf::Buckets.name(), Op::CopyDtoH(download));
        self.sync();
    }

    fn malloc(&mut self, buf: Buf, bytes: u64) {
        let id = buf.id();
        self.push(buf.name(), Op::Malloc { id, bytes });
    }

    fn free(&mut self, buf: Buf) {
        self.push(buf.name(), Op::Free { id: buf.id() });
    }

    fn upload(&mut self, buf: Buf) {
        self.push(buf.name(), Op::CopyHtoD(touched(&[], &[buf])));
    }

    fn sync(&mut self) {
        self.push("", Op::StreamSync { stream: STREAM });
    }

    fn launch(&mut self, kernel: Kernel, reads: &[Buf], writes: &[Buf]) {
        self.push(kernel.phase.name(), Op::Launch(touched(reads, writes)));
        if let Some(step) = self.steps.last_mut() {
            step.kernel = Some(kernel);
        }
    }

    fn push(&mut self, about: &'static str, op: Op) {
        let kernel = None;
        self.steps.push(PlanStep { op, about, kernel });
    }
}

fn touched(reads: &[Buf], writes: &[Buf]) -> Touched {
    let ids = |bufs: &[Buf]| bufs.iter().map(|buf| buf.id()).collect();
    Touched {
        stream: STREAM,
        reads: ids(reads),
        writes: ids(writes),
        ms: None,
    }
}
