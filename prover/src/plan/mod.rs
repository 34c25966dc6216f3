//! The device work of a partition as a list of ops, before any of it has happened.
//!
//! A [`Plan`] says what is allocated, copied, launched, synchronised and freed, in which order and
//! under which lock. It is a function of the partition's [`Sizes`] and of the device memory at hand
//! ([`Room`]): where there is room, the points of the key, the matrices and the tables of the
//! transforms stay on the device from the first partition to the last, and the witness of the next
//! partition is uploaded while one is proved; where there is not, points and matrices stream
//! through two buffers. The engine's workers interpret it over a device; `replay` interprets it
//! over simulated memory ([`Plan::schedule`]); a fault is a change to it. What a launch computes is
//! the business of the device; the order of `reads` and `writes` is that of a kernel's arguments.
//!
//! ```
//! use prover::plan::{Plan, Room, Sizes};
//! let sizes = Sizes::like_a_sector(1 << 27);
//! let roomy = Plan::new(&sizes, Room::of(140 << 30))?;
//! let tight = Plan::new(&sizes, Room::of(16 << 30))?;
//! assert!(roomy.is_resident() && !tight.is_resident());
//! assert!(tight.peak_bytes() <= 16 << 30);
//! # Ok::<(), prover::plan::PlanError>(())
//! ```

pub mod arena;
pub mod constants;
pub mod passes;
pub mod rows;
pub mod sums;
pub mod tables;

mod build;
mod fit;
mod schedule;
mod sizes;

use tracefmt::ops::Op;

use fit::{Cut, Stays};
use sums::SumShape;

pub use fit::{HEADROOM_BYTES, PlanError};
pub use sizes::{BLOCK_BYTES, Layout, Sizes};

/// The device memory that partitions can have, and how many workers share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Free bytes.
    pub bytes: u64,
    /// Workers on the device: one is in it while the others prepare.
    pub workers: u32,
    /// Whether the device takes its time to allocate: where there is room, the vectors and the
    /// scratch memory of a partition then stay for the next.
    pub keep: bool,
    /// Whether so many partitions come that multiples of points pay, see [`MULTIPLES_PAY_FROM`].
    pub repeats: bool,
}

/// Partitions of a size from which on multiples of points pay. A sum saves a seventh of its
/// additions by them, and they cost twice as many additions as a sum has, once.
pub const MULTIPLES_PAY_FROM: u64 = 100;

impl Room {
    /// So many bytes for two workers.
    pub const fn of(bytes: u64) -> Self {
        Self {
            bytes,
            workers: 2,
            keep: false,
            repeats: false,
        }
    }
}

/// A kernel phase, in the order of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Transforms: from the vectors a, b, c to the coefficients of the quotient H.
    Quotient,
    /// MSM of the quotient.
    MsmH,
    /// MSM of the auxiliary variables.
    MsmL,
    /// MSM of A.
    MsmA,
    /// MSM of B in G1.
    MsmBG1,
    /// MSM of B in G2.
    MsmBG2,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 6] = [
        Self::Quotient,
        Self::MsmH,
        Self::MsmL,
        Self::MsmA,
        Self::MsmBG1,
        Self::MsmBG2,
    ];

    /// The name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quotient => "quotient",
            Self::MsmH => "msm_h",
            Self::MsmL => "msm_l",
            Self::MsmA => "msm_a",
            Self::MsmBG1 => "msm_b_g1",
            Self::MsmBG2 => "msm_b_g2",
        }
    }
}

/// One launch of a phase; a phase may take several, each over a part of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The phase.
    pub phase: Phase,
    /// Which part, from 0.
    pub part: u64,
    /// How many parts there are.
    pub parts: u64,
}

impl Kernel {
    /// Whether the phase is complete after this launch.
    pub const fn is_last(self) -> bool {
        self.part + 1 == self.parts
    }
}

/// What an upload brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Load {
    /// The variables of the partition, inputs first.
    Witness,
    /// The tables of the domain; made on the device, not copied.
    Tables,
    /// The matrices and the densities ([`Sizes::shape_layout`]).
    Shape,
    /// The points of all sums ([`Plan::key_layout`]).
    Key,
    /// Multiples of the points of H behind those; made on the device, not copied.
    Multiples,
    /// The points of a part of a sum, and the indices of their scalars.
    Points(Kernel),
}

/// One op of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanStep {
    /// The op; ids are local to the plan.
    pub op: Op,
    /// The buffer it is about, or the phase of a launch; empty for neither.
    pub about: &'static str,
    /// What a launch computes.
    pub kernel: Option<Kernel>,
    /// What an upload brings.
    pub load: Option<Load>,
}

/// The device work of the partitions of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The ops that bring what all partitions share, done once before the first.
    pub residents: Vec<PlanStep>,
    /// The ops of one partition, in order.
    pub steps: Vec<PlanStep>,
    sizes: Sizes,
    cut: Cut,
    peak_bytes: u64,
}

/// The id, in a plan, of the buffer that each worker has for itself; that of a worker is so many
/// higher as workers on the device come before it.
pub const OWN_SLOT: u64 = build::FIRST_SLOT;

impl Plan {
    /// The fastest plan that fits.
    ///
    /// # Errors
    /// [`PlanError`] when the device is too small, or the domain is none.
    pub fn new(sizes: &Sizes, room: Room) -> Result<Self, PlanError> {
        fit::fit(sizes, room)
    }

    /// The sizes it was made for.
    pub const fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The most device memory that all workers hold at once, residents and the page tables of
    /// pinned host memory included.
    pub const fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// Bytes that stay allocated between partitions.
    pub fn resident_bytes(&self) -> u64 {
        let bytes = |step: &PlanStep| match step.op {
            Op::Malloc { bytes, .. } => bytes,
            _ => 0,
        };
        self.residents.iter().map(bytes).sum()
    }

    /// Device memory that the page tables of pinned host memory take, at most: of what streams.
    pub fn pinning_bytes(&self) -> u64 {
        if self.is_resident() {
            0
        } else {
            self.sizes.pinning_bytes()
        }
    }

    /// The most that one worker holds at once by the steps as they are, residents and page tables
    /// included.
    pub(crate) fn held_bytes(&self) -> u64 {
        let held = build::peak(&self.steps).saturating_add(self.resident_bytes());
        held.saturating_add(self.pinning_bytes())
    }

    /// The most bytes that a partition holds beside what stays.
    pub fn passing_bytes(&self) -> u64 {
        self.peak_bytes.saturating_sub(self.resident_bytes())
    }

    /// The next plan after this one that takes less and fits; none after the smallest. `room` has
    /// the workers and the kind of device that this plan was made for.
    pub fn smaller(&self, room: Room) -> Option<Self> {
        fit::smaller(self, room)
    }

    /// What stays on the device, as traces name it: `multiples:TABLES` with the tables of points
    /// for H, `all`, `key`, or `tables:POINTS` with the points of G1 that stream at once; `+ahead`
    /// where a witness is uploaded ahead.
    pub fn name(&self) -> String {
        let stays = match self.cut.stays {
            Stays::Tables => format!("tables:{}", self.cut.chunk),
            Stays::Key => "key".to_owned(),
            Stays::All => "all".to_owned(),
            Stays::Multiples => format!("multiples:{}", self.cut.multiples),
        };
        let ahead = if self.cut.ahead { "+ahead" } else { "" };
        stays + ahead
    }

    /// Whether points and matrices stay on the device.
    pub const fn is_resident(&self) -> bool {
        self.chunk().is_none()
    }

    /// Points of G1 that stream through the device at once, if they do.
    pub const fn chunk(&self) -> Option<u64> {
        match self.cut.stays {
            Stays::Tables => Some(self.cut.chunk),
            Stays::Key | Stays::All | Stays::Multiples => None,
        }
    }

    /// How the sum of so many points of a phase is cut.
    pub fn sum_shape(&self, phase: Phase, points: u64) -> SumShape {
        SumShape::new(points, self.cut.tables(phase))
    }

    /// Where the points of the sums lie in `d_srs`: H with its multiples, L, A, B in G1, B in G2.
    pub fn key_layout(&self) -> Layout<5> {
        self.sizes
            .key_layout_with(self.cut.tables(Phase::MsmH).into())
    }

    /// Tables of transforms with at most 2^`whole` entries are kept whole.
    pub const fn whole(&self) -> u32 {
        self.cut.whole
    }
}

/// The lock under which a partition has the device to itself.
pub const DEVICE_LOCK: &str = "gpu";

#[cfg(test)]
mod tests;
